"""Actions of both front ends: what a watch hears of them, and what the ledger has."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from gitdash.config.settings import Settings
from gitdash.gitcmd.runner import find_git
from gitdash.model.ledger import LedgerEntry, Outcome, StoreFigures
from gitdash.model.repository import Repository
from gitdash.model.task import Task
from gitdash.survey.acting import Actions
from gitdash.survey.single import find_repository
from tests.support.repositories import GIT, GitRepository


class Watch:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.counts: list[tuple[int, int | None]] = []
        self.entries: list[LedgerEntry] = []

    def begins(self, before: StoreFigures) -> None:
        assert before.finding_count is not None

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        assert received_bytes is None
        self.steps.append(step)
        self.counts.append((done_count, known_count))

    def ends(self, entries: Sequence[LedgerEntry]) -> None:
        self.entries += entries


def actions() -> Actions:
    return Actions(settings=Settings(), program=find_git(GIT), history=None, clock=time.time)


def found(repository: GitRepository) -> Repository:
    return find_repository(os.fsencode(repository.path), settings=Settings(), effective_uid=os.geteuid())


def test_watch_hears_which_task_runs_and_how_far_git_is_with_it(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "1"})
    acting, watch = actions(), Watch()
    planned = acting.plan(found(repository), (Task.PACK_REFS, Task.FULL_REPACK))
    acting.maintain(planned, watch, run="r")
    assert acting.wait(60)
    assert [entry.outcome for entry in watch.entries] == [Outcome.DONE, Outcome.DONE]
    assert watch.steps[0] == "full-repack (1 of 2): pack everything, and keep what is unreachable"
    assert watch.counts[0] == (0, None)
    # a commit, its tree and a blob
    told = zip(watch.steps, watch.counts, strict=True)
    assert ("full-repack (1 of 2): writing objects", (3, 3)) in told
    assert "pack-refs (2 of 2): pack loose references" in watch.steps


def test_plan_to_deduplicate_says_what_that_frees_also_if_nobody_has_measured_it(tmp_path: Path) -> None:
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"a": "1"})
    member = GitRepository.init(tmp_path / "member.git")
    member.git("fetch", "--quiet", lender.path, "+refs/*:refs/*")
    member.borrow_from(lender)
    (task,) = actions().plan(found(member), (Task.DEDUPLICATE,)).plan.tasks
    # a commit, its tree and a blob lie in both
    assert "3 objects" in task.gain
