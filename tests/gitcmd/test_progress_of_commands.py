"""Progress of git commands: what git says to a terminal is heard, and not kept; what it complains of is kept."""

import os
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.terminal_stderr import ProgressFilter
from gitdash.model.progress import CommandProgress
from tests.support.repositories import GitRepository


def filtered(*pieces: bytes) -> tuple[list[CommandProgress], bytes]:
    heard: list[CommandProgress] = []
    progress = ProgressFilter(heard.append)
    kept = b"".join(map(progress.feed, pieces))
    return heard, kept + progress.end()


def test_percentages_and_counts_are_heard_and_the_rest_is_kept() -> None:
    heard, kept = filtered(
        b"Enumerating objects: 7, done.\n",
        b"Counting objects:  50% (1/2)\rCounting objects: 100% (2/2), done.\n",
        b"warning: bitmap: 3 of 4\nTotal 2 (delta 0), reused 0 (delta 0), pack-reused 0\n",
    )
    assert heard == [
        CommandProgress(phase="enumerating objects", done_count=7, total_count=None),
        CommandProgress(phase="counting objects", done_count=1, total_count=2),
        CommandProgress(phase="counting objects", done_count=2, total_count=2),
    ]
    assert kept == b"warning: bitmap: 3 of 4\n"


def test_lines_may_come_in_any_pieces() -> None:
    text = b"Writing objects:  25% (1/4), 3.00 MiB | 1.00 MiB/s\rWriting objects: 100% (4/4), done.\nerror: no\r\nx: 1"
    assert filtered(*(text[at : at + 1] for at in range(len(text)))) == filtered(text)
    assert filtered(text)[1] == b"error: no\r\nx: 1"


def test_complaint_that_looks_like_progress_in_the_middle_is_kept() -> None:
    assert filtered(b"fatal: Checking objects: 100% (1/1)\n") == ([], b"fatal: Checking objects: 100% (1/1)\n")


@pytest.mark.safety
def test_line_without_end_is_not_kept_waiting_for_ever() -> None:
    progress = ProgressFilter(lambda _: None)
    kept = sum(len(progress.feed(b"x" * 10_000)) for _ in range(100))
    assert kept > 900_000


@pytest.fixture
def git() -> GitProgram:
    return find_git(os.environ.get("GITDASH_TEST_GIT"))


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "r")
    for number in range(3):
        repository.commit({f"{number}.txt": f"{number}"})
    return repository


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arguments", "phase"),
    [
        (("repack", "-a", "-d"), "writing objects"),
        (("commit-graph", "write", "--reachable"), "expanding reachable commits in commit graph"),
        (("fsck", "--connectivity-only"), "checking connectivity"),
        (("multi-pack-index", "write"), "adding packfiles to multi-pack-index"),
    ],
)
def test_git_says_how_far_it_is(
    repository: GitRepository, git: GitProgram, arguments: tuple[str, ...], phase: str
) -> None:
    repository.git("repack", "-d")
    heard: list[CommandProgress] = []
    output = run_git(
        git,
        arguments,
        git_dir=os.fsencode(repository.git_dir),
        environment={"GIT_PROGRESS_DELAY": "0"},
        on_progress=heard.append,
        time_limit_s=30,
    )
    assert phase in {progress.phase for progress in heard}
    assert output.stderr == ""


def test_complaint_is_kept_and_the_exit_code_is_that_of_git(repository: GitRepository, git: GitProgram) -> None:
    with pytest.raises(GitError) as caught:
        run_git(
            git,
            ("commit-graph", "write", "--no-such-option"),
            git_dir=os.fsencode(repository.git_dir),
            on_progress=lambda _: None,
            time_limit_s=30,
        )
    assert caught.value.exit_code == 129
    assert "no-such-option" in caught.value.stderr


@pytest.mark.safety
def test_no_terminal_is_a_controlling_one(tmp_path: Path) -> None:
    program = tmp_path / "asks"
    program.write_text(
        "#!/bin/sh\n[ -t 2 ] && echo has a terminal >&2\n(: </dev/tty) 2>/dev/null && echo can ask >&2\nexit 0\n"
    )
    program.chmod(0o755)
    asking = GitProgram(path=str(program), version=(), version_text="", memory_limit_bytes=1 << 30)
    output = run_git(asking, [], on_progress=lambda _: None, time_limit_s=30)
    assert output.stderr == "has a terminal\n"


def test_descriptors_are_given_back(git: GitProgram) -> None:
    run_git(git, ["version"], on_progress=lambda _: None, time_limit_s=30)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run_git(git, ["version"], on_progress=lambda _: None, time_limit_s=30)
    assert len(os.listdir("/proc/self/fd")) == before
