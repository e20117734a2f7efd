"""What git says of the objects is told from how git was ended."""

import os
from pathlib import Path

import pytest

from gitdash.errors import ExitCode
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.maintenance.verifying import is_about_objects
from tests.cli.process import Gitdash
from tests.support.repositories import GIT, GitRepository


@pytest.mark.parametrize(
    ("kind", "exit_code", "expected"),
    [
        (GitFailure.FAILED, 1, True),
        (GitFailure.FAILED, 2, True),
        (GitFailure.FAILED, 128, True),
        (GitFailure.FAILED, 255, True),
        (GitFailure.FAILED, 137, False),
        (GitFailure.FAILED, 143, False),
        (GitFailure.FAILED, -15, False),
        (GitFailure.FAILED, None, False),
        (GitFailure.TIMED_OUT, 1, False),
    ],
)
def test_only_what_git_says_by_itself_is_about_objects(kind: GitFailure, exit_code: int | None, expected: bool) -> None:
    assert is_about_objects(GitError("git fsck failed", kind=kind, exit_code=exit_code)) is expected


@pytest.mark.parametrize("ending", ["kill -TERM $$", "exit 143"])
def test_check_that_was_ended_by_a_signal_finds_no_damage(tmp_path: Path, ending: str) -> None:
    gitdash = Gitdash.make(tmp_path / "run")
    (tmp_path / "git").write_text(f'#!/bin/sh\ncase "$*" in *" fsck "*) {ending};; esac\nexec {GIT} "$@"\n')
    (tmp_path / "git").chmod(0o755)
    repository = GitRepository.init(tmp_path / "x.git")
    repository.commit({"a": "1"})
    gitdash.options += ["--git", os.fspath(tmp_path / "git")]
    ended = gitdash.run("maintain", repository.path, "--task", "verify", "--yes")
    assert ended.returncode == ExitCode.FINDINGS
    said = ended.stdout + ended.stderr
    assert ("git fsck failed with signal 15" in said, "not everything" in said, "corrupt" in said) == (
        True,
        False,
        False,
    )
