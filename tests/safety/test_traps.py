"""The matrix of keys and files that make git run a program, key by key; each trap is first shown to be armed."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.lookup_times import measure_lookups
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.model.inspection import ObjectFormat
from tests.safety.hostile import TRAPS, Site, Trap, make_site, make_template
from tests.support.repositories import GIT, GitRepository, git_version

pytestmark = pytest.mark.safety

TIME_LIMIT_S = 60


@pytest.fixture(scope="module")
def program() -> GitProgram:
    return find_git(GIT)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "site"
    make_template(folder)
    return folder


def known_here(traps: Iterable[Trap]) -> list[ParameterSet]:
    """The traps as parameters; those that this git does not know yet are skipped."""
    return [
        pytest.param(trap, id=trap.name, marks=pytest.mark.skipif(git_version() < trap.oldest_git, reason="newer git"))
        for trap in traps
    ]


@pytest.fixture(scope="module")
def proven() -> set[str]:
    """Names of the traps that plain git was seen to run into."""
    return set()


@pytest.fixture(params=known_here(TRAPS))
def trap(request: pytest.FixtureRequest) -> Trap:
    trap: Trap = request.param
    return trap


@pytest.fixture
def armed(trap: Trap, template: Path, tmp_path: Path, proven: set[str]) -> Site:
    """A fresh copy of a trap that plain git was seen to run into."""
    if trap.name not in proven:
        proof = make_site(template, tmp_path / "proof")
        trap.plant(proof)
        proof.marker.unlink(missing_ok=True)
        complaint = proof.plain_git(*trap.command, stdin=trap.stdin)
        assert proof.marker.exists(), f"plain git did not run into it: {complaint}"
        proven.add(trap.name)
    site = make_site(template, tmp_path / "site")
    trap.plant(site)
    site.marker.unlink(missing_ok=True)
    return site


def resolved_git_dirs(site: Site) -> tuple[bytes, bytes]:
    """The git directory and the common directory, as discovery resolves them."""
    repository = GitRepository(site.work)
    paths = repository.git("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir").splitlines()
    return os.fsencode(paths[0]), os.fsencode(paths[1])


@pytest.mark.parametrize("trap", known_here(trap for trap in TRAPS if trap.overridden))
def test_the_table_of_overrides_disarms_the_command(trap: Trap, armed: Site, program: GitProgram) -> None:
    git_dir, _ = resolved_git_dirs(armed)
    work_tree = os.fsencode(b"--work-tree=" + os.fsencode(armed.work))
    run_git(program, [work_tree, *trap.command], git_dir=git_dir, stdin=trap.stdin, time_limit_s=60, check=False)
    assert not armed.marker.exists()


READ_ONLY_COMMANDS = (
    ("for-each-ref", "--format=%(objectname) %(refname)"),
    ("rev-parse", "--is-bare-repository"),
    ("symbolic-ref", "--quiet", "HEAD"),
    ("count-objects", "-v"),
    ("cat-file", "--batch-check", "--batch-all-objects", "--unordered"),
    ("config", "--list", "-z", "--show-scope", "--show-origin"),
    ("worktree", "list", "--porcelain"),
    ("multi-pack-index", "verify"),
    ("commit-graph", "verify"),
)


def test_commands_that_only_read_run_nothing(armed: Site, program: GitProgram) -> None:
    git_dir, _ = resolved_git_dirs(armed)
    for command in READ_ONLY_COMMANDS:
        run_git(program, command, git_dir=git_dir, time_limit_s=TIME_LIMIT_S, check=False)
        assert not armed.marker.exists(), command


def test_sizes_through_the_shadow_run_nothing(armed: Site, program: GitProgram) -> None:
    git_dir, common_dir = resolved_git_dirs(armed)
    tips = run_git(program, ["for-each-ref", "--format=%(objectname)"], git_dir=git_dir, time_limit_s=TIME_LIMIT_S)
    objects_dir = os.path.join(common_dir, b"objects")
    for more in ([], ["--use-bitmap-index"], ["--not", "--alternate-refs", "--not"]):
        with shadow_git_dir(object_format=ObjectFormat.SHA1, objects_dir=objects_dir) as shadow:
            output = run_git(
                program,
                ["rev-list", "--objects", "--disk-usage", "--missing=allow-any", *more, "--stdin"],
                environment=shadow.environment,
                stdin=tips.stdout,
                time_limit_s=TIME_LIMIT_S,
                check=False,
            )
        assert not armed.marker.exists(), more
        assert output.exit_code in {0, 128}


def test_timing_look_ups_runs_nothing(armed: Site, program: GitProgram) -> None:
    _, common_dir = resolved_git_dirs(armed)
    tip = GitRepository(armed.work).git("rev-parse", "HEAD")
    measure_lookups(common_dir, tip, time_limit_s=TIME_LIMIT_S, program=program)
    assert not armed.marker.exists()


def test_without_the_path_comment_the_override_of_alternate_refs_would_not_exclude(
    template: Path, tmp_path: Path, program: GitProgram
) -> None:
    site = make_site(template, tmp_path / "site")
    git_dir = os.fsencode(site.git_dir)
    query = ["rev-list", "--all", "--objects", "--disk-usage", "--not", "--alternate-refs"]
    expected = int(GitRepository(site.work).git(*query))
    for hostile in ("", ":", "exit 0 #", "true", site.evil):
        site.configure(core__alternateRefsCommand=hostile)
        assert int(run_git(program, query, git_dir=git_dir, time_limit_s=TIME_LIMIT_S).stdout) == expected
    site.configure(core__alternateRefsPrefixes="refs/none")
    assert int(run_git(program, query, git_dir=git_dir, time_limit_s=TIME_LIMIT_S).stdout) == expected
    spoiled = [("core.alternateRefsCommand", 'git --git-dir="$1" for-each-ref --format="%(objectname)"')]
    assert int(run_git(program, query, git_dir=git_dir, config=spoiled, time_limit_s=TIME_LIMIT_S).stdout) > expected
    with pytest.raises(GitError):
        run_git(program, ["no-such-command"], git_dir=git_dir, time_limit_s=TIME_LIMIT_S)
