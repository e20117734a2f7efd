"""What git itself makes is healthy, and what a remedy says git does, without losing an object."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from gitdash.assessment.rules import RULES, assess, state_of
from gitdash.assessment.subject import Subject
from gitdash.inspection.repository import inspect_repository
from gitdash.model.finding import Finding
from gitdash.model.policy import Policy
from gitdash.model.report import State
from gitdash.model.repository import Repository, RepositoryKind, Role
from tests.support.repositories import GIT, GitRepository, clean_environment, git_version


def clone(source: GitRepository, target: Path, *options: str) -> GitRepository:
    url = f"file://{source.path}"
    command = [GIT, "-c", "protocol.file.allow=always", "clone", "--quiet", "--template=", *options, url, str(target)]
    subprocess.run(command, check=True, env=clean_environment(), capture_output=True)
    return GitRepository(target)


def judged(repository: GitRepository, policy: Policy | None = None) -> tuple[State, tuple[Finding, ...]]:
    git_dir = os.fsencode(repository.git_dir)
    now_s = time.time()
    policy = policy or Policy()
    inspection = inspect_repository(git_dir, git_dir, now_s=now_s, loose_stale_age_s=policy.loose_stale_age_s)
    is_bare = repository.git_dir == repository.path
    subject = Subject(
        repository=Repository(
            path=os.fsencode(repository.path),
            git_dir=git_dir,
            common_dir=git_dir,
            kind=RepositoryKind.BARE if is_bare else RepositoryKind.WORKTREE,
            root=os.fsencode(repository.path.parent),
        ),
        roles=(Role.MEMBER if inspection.alternates else Role.PLAIN,),
        inspection=inspection,
    )
    findings = assess(subject, policy, now_s)
    return state_of(findings, subject.repository, inspection), findings


@pytest.fixture
def upstream(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "upstream.git")
    repository.git("config", "uploadpack.allowFilter", "true")
    for number in range(3):
        repository.commit({"a": f"{number}", "b/c": "same"}, message=f"commit {number}")
    repository.git("tag", "v1", "main")
    return repository


@pytest.mark.parametrize(
    ("options", "state", "rules"),
    [
        ((), State.OK, []),
        (("--bare",), State.OK, []),
        (("--mirror",), State.OK, []),
        (("--reference", "SOURCE"), State.OK, []),
        (("--shared",), State.OK, []),
        (("--depth=1",), State.OK, ["shallow"]),
        (("--filter=blob:none",), State.OK, ["partial-clone"]),
    ],
    ids=["working", "bare", "mirror", "reference", "shared", "shallow", "partial"],
)
def test_fresh_clone_is_healthy(
    upstream: GitRepository, tmp_path: Path, options: tuple[str, ...], state: State, rules: list[str]
) -> None:
    arguments = [str(upstream.path) if option == "SOURCE" else option for option in options]
    found_state, findings = judged(clone(upstream, tmp_path / "fresh", *arguments))
    assert [finding.rule for finding in findings] == rules
    assert found_state is state


@pytest.mark.parametrize("command", ["gc", "repack -a -d", "pack-refs --all", "commit-graph write --reachable"])
def test_repository_after_git_s_own_care_is_healthy(upstream: GitRepository, command: str) -> None:
    upstream.git(*command.split(), "--quiet" if command == "gc" else "--")
    assert judged(upstream) == (State.OK, ())


SCALAR = {
    "commitGraph.changedPaths": "true",
    "commitGraph.generationVersion": "1",
    "core.fsmonitor": "true",
    "core.untrackedCache": "true",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "index.version": "4",
    "log.excludeDecoration": "refs/prefetch/*",
    "pack.useBitmaps": "false",
    "pack.usePathWalk": "true",
    "receive.autoGC": "false",
}
"""Of what `scalar clone` of git 2.55 writes into the config, the keys that touch objects or run something."""


def test_fresh_enlistment_of_scalar_is_healthy(upstream: GitRepository, tmp_path: Path) -> None:
    enlistment = clone(upstream, tmp_path / "fresh")
    write = ("commit-graph", "write", "--reachable", "--changed-paths", "--split=replace")
    policy = Policy(large_object_count=1, commit_graph_minimum_objects=1)
    enlistment.git("-c", "commitGraph.generationVersion=1", *write)
    _, findings = judged(enlistment, policy)
    assert "commit-graph-without-generation-data" in {finding.rule for finding in findings}
    for key, value in SCALAR.items():
        enlistment.git("config", key, value)
    enlistment.git(*write)
    assert judged(enlistment, policy) == (State.OK, ())


@pytest.mark.skipif(git_version() < (2, 45), reason="reftable came with git 2.45")
@pytest.mark.parametrize("is_bare", [True, False], ids=["bare", "working"])
@pytest.mark.parametrize("commit_count", [0, 3])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_fresh_repository_with_reftable_is_healthy(
    tmp_path: Path, is_bare: bool, commit_count: int, object_format: str
) -> None:
    repository = GitRepository.init(
        tmp_path / "fresh", bare=is_bare, object_format=object_format, reference_backend="reftable"
    )
    for number in range(commit_count):
        repository.commit({"a": f"{number}"})
    repository.git("symbolic-ref", "HEAD", "refs/heads/other")
    assert judged(repository) == (State.OK, ())
    repository.git("gc", "--quiet")
    assert judged(repository) == (State.OK, ())


COMMANDS = sorted({command for rule in RULES for command in re.findall(r"`\{git\} ([^`<]+)`", rule.remedy)})
NOT_RUN = {
    "fetch --unshallow": "needs a remote",
    "replace --convert-graft-file": "needs grafts; test_remedies runs it",
    "reflog": "an empty bare repository has none",
}


def test_commands_of_remedies_are_found() -> None:
    assert len(COMMANDS) >= 10
    assert {*NOT_RUN} <= {*COMMANDS}


@pytest.mark.safety
@pytest.mark.oracle
@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in NOT_RUN])
def test_command_of_a_remedy_works_and_loses_no_unreachable_object(upstream: GitRepository, command: str) -> None:
    if command == "pack-refs --auto" and git_version() < (2, 45):
        pytest.skip("reftable, and this option with it, came with git 2.45")
    kept = [upstream.blob(b"unreachable and in the cruft pack")]
    upstream.git("repack", "-d", "-q", "--cruft", "--cruft-expiration=never")
    kept.append(upstream.blob(b"unreachable and loose"))
    two_months_ago_s = time.time() - 60 * 86_400
    for path in (upstream.git_dir / "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (two_months_ago_s, two_months_ago_s))
    upstream.git(*command.split())
    for object_id in kept:
        assert upstream.git("cat-file", "-t", object_id) == "blob"
