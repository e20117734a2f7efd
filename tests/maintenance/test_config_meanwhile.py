"""Keys that come into a repository's config while a task is under way: no later step runs git with them."""

import os
import time
from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support import task_runs
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import run

pytestmark = pytest.mark.safety


class Rewritten:
    """`one.git`, whose config gets more lines right after the first git command with a word."""

    def __init__(self, folder: Path, word: str, lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.repository = GitRepository.init(folder / "one.git")
        for number in range(3):
            self.repository.commit({"a": str(number)})
            self.repository.git("repack", "-d", "-q")
        self.repository.commit({"a": "loose"})
        self.repository.blob(b"unreachable")
        grow_old(self.repository)
        self.marker = folder / "ran"
        self.config = self.repository.git_dir / "config"
        self.before = self.config.read_bytes()
        more, done = folder / "more", folder / "done"
        more.write_text(lines)
        task_runs.run_through(
            folder / "git",
            f'#!/bin/sh\n{GIT} "$@"\nended=$?\ncase " $* " in *" {word} "*) [ -e {done} ] ||'
            f" {{ touch {done}; cat {more} >>{self.config}; }};; esac\nexit $ended\n",
            monkeypatch,
        )


def test_reclaim_runs_no_program_that_the_config_names_since_its_check_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    scene = Rewritten(tmp_path, "fsck", f"[gc]\n\trecentObjectsHook = {hook}\n", monkeypatch)
    objects = visible_objects(scene.repository)
    result = run(scene.repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert not scene.marker.exists()
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED), result.sentence
    assert "its config changed during the task: its config would run a program: gc.recentobjectshook" in result.sentence
    assert visible_objects(scene.repository) == objects
    assert not complaints(scene.repository)


@pytest.mark.parametrize(("task", "word"), [(Task.RECLAIM, "fsck"), (Task.LOOSE_OBJECTS, "pack-objects")])
def test_no_step_waits_for_a_fifo_that_the_config_came_to_include(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task, word: str
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    scene = Rewritten(tmp_path, word, f"[include]\n\tpath = {fifo}\n", monkeypatch)
    began_s = time.monotonic()
    result = run(scene.repository, task, confirmed_name=b"one.git")
    assert time.monotonic() - began_s < 30
    scene.config.write_bytes(scene.before)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED), result.sentence
    assert f"{fifo}, which its config includes, is not a regular file" in result.sentence
    assert not complaints(scene.repository)


def test_what_harms_nothing_may_come_into_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Rewritten(tmp_path, "fsck", "[user]\n\tname = a\n", monkeypatch)
    result = run(scene.repository, Task.RECLAIM, confirmed_name=b"one.git")
    assert result.outcome is Outcome.DONE, result.sentence
    assert scene.config.read_bytes() != scene.before
