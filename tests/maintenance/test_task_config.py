"""What a repository's config and hooks say decides neither what a task keeps, nor what it costs, nor what runs."""

import os
import shutil
from pathlib import Path

import pytest

from gitdash.gitcmd.runner import run_git
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.maintenance.planning import plan
from gitdash.maintenance.tasks import steps_of
from gitdash.model.task import Task
from tests.support.repositories import GitRepository, git_version
from tests.support.task_runs import program, report_of

NOW_S = 1_900_000_000.0
GIT_TASKS = [
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.GEOMETRIC_REPACK,
    Task.FULL_REPACK,
    Task.MULTI_PACK_BITMAP,
    Task.BITMAP,
    Task.PACK_REFS,
    Task.COMMIT_GRAPH,
    Task.VERIFY,
]


def facts_of(repository: GitRepository) -> ActionFacts:
    return read_facts(report_of(repository), program=program(), now_s=NOW_S)


def run_commands(repository: GitRepository, task: Task) -> None:
    """Run the git commands of a task as gitdash does, without asking whether it may run."""
    report = report_of(repository)
    for step in steps_of(task, report, facts_of(repository)):
        if step.act is None:
            run_git(
                program(),
                step.arguments,
                git_dir=report.repository.common_dir,
                config=step.config,
                time_limit_s=60,
            )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    repository = GitRepository.init(tmp_path_factory.mktemp("config") / "template.git")
    for number in range(3):
        repository.commit({"a": os.urandom(30_000).hex(), "n": str(number)})
        repository.git("repack", "-d", "-q", "--no-write-bitmap-index")
    repository.commit({"b": "1"})
    repository.commit({"gone": "1"}, reference="refs/heads/gone")
    repository.git("update-ref", "-d", "refs/heads/gone")
    for path in (repository.git_dir / "objects").rglob("*"):
        repository.age(path, 90 * 86_400, path.lstat().st_mtime)
    return repository


@pytest.fixture
def repository(tmp_path: Path, template: GitRepository) -> GitRepository:
    return GitRepository(Path(shutil.copytree(template.path, tmp_path / "a.git")))


def objects(repository: GitRepository) -> str:
    return repository.git("cat-file", "--batch-all-objects", "--batch-check")


HARMFUL = {
    "pack.packSizeLimit": "1m",
    "pack.compression": "0",
    "core.compression": "0",
    "core.bigFileThreshold": "1",
    "pack.indexVersion": "1",
    "pack.island": "refs/heads/",
    "repack.useDeltaIslands": "true",
    "repack.packKeptObjects": "true",
    "gc.pruneExpire": "now",
    "gc.reflogExpire": "now",
    "gc.reflogExpireUnreachable": "now",
    "gc.cruftPacks": "false",
    "gc.repackFilter": "blob:none",
    "gc.repackFilterTo": "/nonexistent/elsewhere",
    "core.multiPackIndex": "false",
    "core.commitGraph": "false",
    "core.fsync": "none",
    "gc.auto": "1",
    "maintenance.auto": "true",
}


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("task", GIT_TASKS)
def test_harmful_config_changes_neither_objects_nor_shape(
    tmp_path: Path, template: GitRepository, repository: GitRepository, task: Task
) -> None:
    plain = GitRepository(Path(shutil.copytree(template.path, tmp_path / "plain.git")))
    for key, value in HARMFUL.items():
        repository.git("config", key, value)
    before = objects(plain)
    for each in (plain, repository):
        run_commands(each, task)
    assert objects(repository) == objects(plain) == before
    shapes = [
        sorted((pack.object_count, pack.cruft, pack.kept) for pack in report_of(each).inspection.packs.packs)
        for each in (plain, repository)
    ]
    assert shapes[0] == shapes[1]
    sizes = [sum(path.stat().st_size for path in each.packs()) for each in (plain, repository)]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.05)


@pytest.mark.oracle
@pytest.mark.safety
def test_harmful_config_would_have_changed_them(repository: GitRepository) -> None:
    for key, value in HARMFUL.items():
        # what they carry out of the repository has nowhere to go, and then gc fails before it drops anything
        if not key.startswith("gc.repackFilter"):
            repository.git("config", key, value)
    before = objects(repository)
    repository.git("gc", "--quiet")
    assert objects(repository) != before


@pytest.mark.parametrize(("key", "value"), PINNED_CONFIG)
def test_git_accepts_every_pin(repository: GitRepository, key: str, value: str) -> None:
    repository.git("-c", f"{key}={value}", "pack-refs")
    repository.git("-c", f"{key}={value}", "repack", "-q", "-d", "--cruft", "--cruft-expiration=never")


def plant(repository: GitRepository, marker: Path) -> None:
    """Name the same program wherever git would look for one."""
    payload = repository.path.parent / "payload"
    payload.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\nexit 0\n")
    payload.chmod(0o755)
    hooks = repository.git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "pre-auto-gc", "post-index-change", "post-checkout"):
        (hooks / name).symlink_to(payload)
    for key in (
        "core.fsmonitor", "core.alternateRefsCommand", "core.sshCommand", "core.gitProxy", "core.askPass",
        "core.editor", "core.pager", "sequence.editor", "credential.helper", "gc.recentObjectsHook", "gpg.program",
        "diff.external", "uploadpack.packObjectsHook", "remote.origin.uploadpack",
    ):  # fmt: skip
        repository.git("config", key, os.fspath(payload))
    repository.git("config", "remote.origin.url", os.fspath(repository.path))
    if not (2, 54) <= git_version() < (2, 55):
        for event in ("reference-transaction", "pre-auto-gc", "post-index-change"):
            repository.git("config", f"hook.x-{event}.command", os.fspath(payload))
            repository.git("config", f"hook.x-{event}.event", event)


@pytest.mark.oracle
@pytest.mark.safety
def test_no_task_runs_a_program_of_the_repository(repository: GitRepository, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    plant(repository, marker)
    repository.git("update-ref", "refs/heads/fires", "main")
    assert marker.exists(), "the payload must fire under plain git, else this test shows nothing"
    marker.unlink()
    report = report_of(repository)
    made = plan(report, facts_of(repository), GIT_TASKS)
    assert [planned.task for planned in made.runnable] == [planned.task for planned in made.tasks]
    for task in GIT_TASKS:
        run_commands(repository, task)
    assert not marker.exists(), marker.read_text()


@pytest.mark.oracle
@pytest.mark.safety
def test_reclaim_is_refused_where_it_would_run_a_program(repository: GitRepository, tmp_path: Path) -> None:
    plant(repository, tmp_path / "marker")
    (planned,) = plan(report_of(repository), facts_of(repository), [Task.RECLAIM]).tasks
    assert "config-runs-program" in {refusal.rule for refusal in planned.refusals}


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize(
    ("key", "value"), [("core.bare", "maybe"), ("core.compression", "99"), ("pack.depth", "deep"), ("core.abbrev", "x")]
)
def test_value_that_git_refuses_is_a_reason_not_to_begin(repository: GitRepository, key: str, value: str) -> None:
    section, name = key.split(".")
    with (repository.git_dir / "config").open("a") as config:
        config.write(f"[{section}]\n\t{name} = {value}\n")
    made = plan(report_of(repository), facts_of(repository), [Task.FULL_REPACK])
    assert "config-stops-git" in {refusal.rule for refusal in made.tasks[0].refusals}


@pytest.mark.oracle
@pytest.mark.safety
def test_fsck_is_refused_a_list_that_never_ends(repository: GitRepository) -> None:
    os.mkfifo(repository.path / "fifo")
    repository.git("config", "fsck.skipList", os.fspath(repository.path / "fifo"))
    made = plan(report_of(repository), facts_of(repository), [Task.VERIFY])
    assert [refusal.rule for refusal in made.tasks[0].refusals] == ["config-reads-outside"]
