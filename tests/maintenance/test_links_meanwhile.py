"""Links put at git's names while a task is under way: no further step writes or deletes, and what one met is told."""

from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support import task_runs
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import run

pytestmark = pytest.mark.safety


class Swapped:
    """`one.git`, whose folder of packs becomes that of `theirs.git` right before git is called with a word."""

    def __init__(self, folder: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ours, self.theirs = (GitRepository.init(folder / name) for name in ("one.git", "theirs.git"))
        for number in range(3):
            self.ours.commit({"a": str(number)})
            self.ours.git("repack", "-d", "-q")
        self.ours.commit({"a": "loose"})
        self.theirs.commit({"theirs": "1"})
        self.theirs.git("repack", "-a", "-d", "-q")
        ours, theirs = self.ours.git_dir / "objects/pack", self.theirs.git_dir / "objects/pack"
        task_runs.run_through(
            folder / "git",
            f'#!/bin/sh\ncase " $* " in *" {word} "*) [ -L {ours} ] ||'
            f' {{ mv {ours} {folder}/packs; ln -s {theirs} {ours}; }};; esac\nexec {GIT} "$@"\n',
            monkeypatch,
        )

    def their_packs(self) -> list[str]:
        return sorted(path.name for path in (self.theirs.git_dir / "objects/pack").iterdir())


def test_no_own_copy_goes_because_another_store_has_it_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Swapped(tmp_path, "pack-objects", monkeypatch)
    before, loose = scene.their_packs(), scene.ours.git("count-objects")
    assert not loose.startswith("0 ")
    result = run(scene.ours, Task.LOOSE_OBJECTS)
    # git put a pack of ours there: the step had begun
    assert scene.their_packs() != before
    assert scene.ours.git("count-objects") == loose
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED)
    assert "objects/pack became a symbolic link during the task" in result.sentence


def test_what_the_last_step_may_have_written_through_a_link_is_told_and_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Swapped(tmp_path, "commit-graph", monkeypatch)
    result = run(scene.ours, Task.PACK_REFS)
    assert result.outcome.is_good
    result = run(scene.ours, Task.COMMIT_GRAPH)
    assert not result.outcome.is_good
    assert "objects/pack became a symbolic link during the task" in result.sentence
