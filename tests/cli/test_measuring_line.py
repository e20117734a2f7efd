"""What a terminal sees while git works out sizes, which may take minutes without a word."""

import os
import sys
import threading
from pathlib import Path

import pytest

from gitdash.cli.measuring_line import MeasuringLine
from gitdash.model.sizes import Question
from tests.cli.process import Gitdash
from tests.support.pty_session import PtySession
from tests.support.repositories import GIT, GitRepository
from tests.survey.test_sizing_queue import report


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_line_says_how_many_are_done_and_what_is_asked_since_when() -> None:
    clock, never = Clock(), threading.Event()
    with MeasuringLine(clock) as line:
        line.show("sizes measured 0/4")
        assert line.text() == "sizes measured 0/4"
        line.begun(report("a.git"), [*Question], never)
        clock.now_s += 3
        line.begun(report("b.git"), [*Question], never)
        clock.now_s += 2
        assert line.text() == "sizes measured 0/4: a.git 5 s | b.git 2 s"
        line.answered(report("a.git"), Question.REACHABLE, None)
        assert "a.git" in line.text()
        line.answered(report("a.git"), Question.REACHABLE_OWN, None)
        assert line.text() == "sizes measured 0/4: b.git 2 s"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scan", "--columns", "name,reachable"), b"sizes measured 0/1: r.git 1 s"),
        (("size",), b"measuring reachable: r.git 1 s"),
    ],
)
def test_terminal_sees_it_while_the_first_answer_is_still_to_come(
    tmp_path: Path, arguments: tuple[str, ...], said: bytes
) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "1"})
    go, slow = tmp_path / "go", tmp_path / "slow-git"
    slow.write_text(
        f'#!/bin/sh\ncase "$*" in *--disk-usage*) while ! [ -e "{go}" ]; do sleep 0.05; done;; esac\nexec {GIT} "$@"\n'
    )
    slow.chmod(0o755)
    command = [sys.executable, "-m", "gitdash", "--no-state", "--git", os.fspath(slow)]
    with PtySession([*command, *arguments, os.fspath(repository.path)]) as session:
        session.wait_for(lambda output: said in output)
        go.touch()
        assert session.wait_for_exit() == 0


def test_folder_without_repositories_is_said_to_have_none(gitdash: Gitdash, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    for command in ("scan", "check"):
        finished = gitdash.run(command, tmp_path / "nothing")
        assert finished.returncode == 0
        assert f"gitdash: no repositories below {tmp_path / 'nothing'}" in finished.stderr.splitlines()


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("scan", ".", "--no-state"), "before the command: gitdash --no-state scan ..."),
        (("bench", "size", "x", "--git=y"), "before the command: gitdash --git bench size ..."),
        ((".", "--ascii"), "before the first ROOT"),
    ],
)
def test_option_of_gitdash_behind_a_command_is_told_where_it_stands(
    gitdash: Gitdash, arguments: tuple[str, ...], place: str
) -> None:
    finished = gitdash.run(*arguments)
    assert finished.returncode == 2
    assert place in finished.stderr
    assert "No such option" in gitdash.run("scan", "--no-such").stderr
