"""Actions of both front ends: what a watch hears of them, and what the ledger has."""

import os
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from gitdash.config.settings import FetchSettings, JobSettings, Settings
from gitdash.gitcmd.installed import find_git
from gitdash.history.store import History, open_history
from gitdash.maintenance.fetching.options import configured_options
from gitdash.model.ledger import LedgerEntry, Outcome, Reason, StoreFigures
from gitdash.model.repository import Repository
from gitdash.model.task import Task
from gitdash.survey.acting import Actions
from gitdash.survey.single import find_repository
from gitdash.units import human_bytes
from tests.support.repositories import GIT, GitRepository


class Watch:
    """Keeps what it hears."""

    shows_progress = True

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


def actions(history: History | None = None, root: Path | None = None) -> Actions:
    settings = Settings(roots=() if root is None else (os.fspath(root),))
    return Actions(settings=settings, program=find_git(GIT), history=history, clock=time.time)


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


def test_what_comes_after_a_cancelled_task_is_cancelled_too(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "1"})
    acting, is_queued = actions(), threading.Event()

    class Cancelling(Watch):
        def begins(self, before: StoreFigures) -> None:
            assert is_queued.wait(60)
            ticket.cancel()

    watch = Cancelling()
    ticket = acting.maintain(acting.plan(found(repository), (Task.PACK_REFS, Task.FULL_REPACK)), watch, run="r")
    is_queued.set()
    assert acting.wait(60)
    assert [(entry.task, entry.outcome, entry.reason) for entry in watch.entries] == [
        (Task.FULL_REPACK, Outcome.CANCELLED, Reason.CANCELLED),
        (Task.PACK_REFS, Outcome.CANCELLED, Reason.CANCELLED),
    ]
    assert watch.entries[1].sentence == "not begun, for full-repack was cancelled"


@pytest.mark.safety
def test_lock_that_a_job_of_its_own_left_is_not_taken_for_that_of_another_git(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "1"})
    lock = repository.git_dir / "objects/pack/multi-pack-index.lock"
    dying = tmp_path / "git"
    dying.write_text(
        f'#!/bin/sh\ncase " $* " in *" repack "*) : > "{lock}"; kill -SEGV $$;; esac\nexec "{shutil.which(GIT)}" "$@"\n'
    )
    dying.chmod(0o755)
    acting = Actions(settings=Settings(), program=find_git(os.fspath(dying)), history=None, clock=time.time)
    watch = Watch()
    acting.maintain(acting.plan(found(repository), (Task.FULL_REPACK,)), watch, run="r")
    assert acting.wait(60)
    (entry,) = watch.entries
    assert (entry.outcome, entry.leftovers) == (Outcome.FAILED, ("objects/pack/multi-pack-index.lock",))

    def reason() -> str:
        (refusal,) = acting.plan(found(repository), (Task.FULL_REPACK,)).plan.tasks[0].refusals
        assert refusal.rule == "live-lock"
        return refusal.reason

    at = time.strftime("%H:%M", time.localtime(entry.started_at_s))
    assert f": gitdash's full-repack of {at} left it behind; sweep keeps it for now: " in reason()
    assert "and it goes when it is 15m old; you may remove it if you know that no git runs here" in reason()
    assert "another git" not in reason()
    # one that came after that job is another's
    os.utime(lock, (time.time() + 5, time.time() + 5))
    assert reason().startswith("another git is at work: objects/pack/multi-pack-index.lock")


def test_plan_to_deduplicate_says_what_that_frees_also_if_nobody_has_measured_it(tmp_path: Path) -> None:
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"a": "1"})
    member = GitRepository.init(tmp_path / "member.git")
    member.git("fetch", "--quiet", lender.path, "+refs/*:refs/*")
    member.borrow_from(lender)
    (task,) = actions().plan(found(member), (Task.DEDUPLICATE,)).plan.tasks
    # a commit, its tree and a blob lie in both
    assert "3 objects" in task.gain
    assert not task.refusals


def test_plan_that_would_free_nothing_says_so_where_it_was_asked_for(tmp_path: Path) -> None:
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"a": "1"})
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.commit({"b": "another"})
    other = GitRepository.init(tmp_path / "other.git")
    other.commit({"a": "1"})
    with open_history(os.fspath(tmp_path / "state.db")) as history:
        for repository, task in ((member, Task.DEDUPLICATE), (other, Task.RECLAIM)):
            (planned,) = actions(history, tmp_path).plan(found(repository), (task,)).plan.tasks
            assert planned.gain.startswith("nothing is to be gained: ")


def test_plan_to_reclaim_says_how_many_objects_of_how_many_bytes_go(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    path = repository.blob(os.urandom(1_000))
    loose = repository.git_dir / "objects" / path[:2] / path[2:]
    repository.age(loose, 15 * 86_400.0, time.time())
    with open_history(os.fspath(tmp_path / "state.db")) as history:
        (planned,) = actions(history, tmp_path).plan(found(repository), (Task.RECLAIM,)).plan.tasks
    assert f"drops for good 1 object of {human_bytes(loose.stat().st_size)}, " in planned.gain


class HeldWatch(Watch):
    """Lets its action begin only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.has_begun = threading.Event()

    def begins(self, before: StoreFigures) -> None:
        self.has_begun.set()
        assert self.go.wait(30)


@pytest.mark.parametrize("runs_already", [True, False])
def test_same_maintenance_asked_for_once_more_is_skipped_and_cancels_nothing(
    tmp_path: Path, runs_already: bool
) -> None:
    repository, other = (GitRepository.init(tmp_path / name) for name in ("r.git", "other.git"))
    repository.commit({"a": "1"})
    settings = Settings(jobs=JobSettings(limit=1))
    acting = Actions(settings=settings, program=find_git(GIT), history=None, clock=time.time)
    held, first, second = HeldWatch(), HeldWatch(), Watch()
    planned = acting.plan(found(repository), (Task.PACK_REFS,))
    if not runs_already:
        acting.maintain(acting.plan(found(other), (Task.COMMIT_GRAPH,)), held, run="r")
        assert held.has_begun.wait(30)
    acting.maintain(planned, first, run="r")
    if runs_already:
        assert first.has_begun.wait(30)
    acting.maintain(planned, second, run="r")
    (skipped,) = second.entries
    assert (skipped.task, skipped.outcome, skipped.reason) == (Task.PACK_REFS, Outcome.SKIPPED, Reason.SAME_UNDER_WAY)
    held.go.set()
    first.go.set()
    assert acting.wait(60)
    assert [entry.outcome for entry in first.entries] == [Outcome.DONE]
    assert len(second.entries) == 1


def test_fetches_that_differ_in_one_option_are_both_made(tmp_path: Path) -> None:
    source, repository = (GitRepository.init(tmp_path / name) for name in ("source.git", "r.git"))
    source.commit({"a": "1"})
    repository.git("remote", "add", "origin", os.fspath(source.path))
    acting = actions()
    options = configured_options(FetchSettings(protocols=("file",)))
    report = acting.facts(found(repository))
    watches: list[HeldFetch] = []
    for prune in (False, True, True):
        watch = HeldFetch()
        watches.append(watch)
        plan = acting.plan_fetch(report, msgspec.structs.replace(options, prune=prune))
        acting.fetch(report, plan, lambda _, watch=watch: watch, run="r")
    for watch in watches:
        watch.go.set()
    assert acting.wait(60)
    outcomes = [[entry.outcome for entry in watch.entries] for watch in watches]
    assert outcomes == [[Outcome.DONE], [Outcome.NOTHING_TO_DO], [Outcome.SKIPPED]]


def test_fetch_that_nobody_watches_has_the_same_figures_in_the_ledger(tmp_path: Path) -> None:
    source = GitRepository.init(tmp_path / "source.git")
    source.commit({"a": "1"})
    acting, entries = actions(), []
    for name, shows_progress in (("watched.git", True), ("unwatched.git", False)):
        repository = GitRepository.init(tmp_path / name)
        repository.git("remote", "add", "origin", os.fspath(source.path))
        options = configured_options(FetchSettings(protocols=("file",)))
        options = msgspec.structs.replace(options, prune=True)
        report = acting.facts(found(repository))
        watch = FetchWatch()
        watch.shows_progress = shows_progress
        acting.fetch(report, acting.plan_fetch(report, options), lambda _, watch=watch: watch, run="r")
        assert acting.wait(60)
        assert bool(watch.steps) is shows_progress
        entries += watch.entries
    watched, unwatched = ((entry.outcome, entry.received_objects, entry.received_bytes) for entry in entries)
    assert watched == unwatched
    assert [entry.choices for entry in entries] == [("prune: asked for",)] * 2
    assert watched[:2] == (Outcome.DONE, 3)
    assert watched[2]


@pytest.mark.safety
@pytest.mark.parametrize("has_objects", [False, True])
def test_fetch_is_refused_where_a_loose_object_became_a_fifo_since_it_was_planned(
    tmp_path: Path, *, has_objects: bool
) -> None:
    source, repository = (GitRepository.init(tmp_path / name) for name in ("source.git", "r.git"))
    tip = source.commit({"a": "1"})
    if has_objects:
        repository.commit({"b": "another"})
    repository.git("remote", "add", "origin", os.fspath(source.path))
    options = configured_options(FetchSettings(protocols=("file",)))
    acting, watch = actions(), FetchWatch()
    report = acting.facts(found(repository))
    plan = acting.plan_fetch(report, options)
    # the first object that git looks for
    fifo = repository.git_dir / "objects" / tip[:2] / tip[2:]
    fifo.parent.mkdir(exist_ok=True)
    os.mkfifo(fifo)
    acting.fetch(report, plan, lambda _: watch, run="r")
    assert acting.wait(60)
    (entry,) = watch.entries
    assert entry.outcome is Outcome.REFUSED
    assert entry.sentence == f"objects/{tip[:2]}/{tip[2:]} is a FIFO, and git would open it"


class FetchWatch(Watch):
    """Takes what is told of received bytes, too."""

    def begins(self, before: StoreFigures) -> None:
        del before

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        del done_count, known_count, received_bytes
        self.steps.append(step)


class HeldFetch(HeldWatch):
    """The same of a fetch, which receives bytes."""

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        del step, done_count, known_count, received_bytes


def test_watch_of_an_action_that_breaks_hears_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    acting, ended = actions(), []
    planned = acting.plan(found(repository), (Task.COMMIT_GRAPH,))

    def broken(*_: object) -> Outcome:
        raise MemoryError

    monkeypatch.setattr("gitdash.survey.acting.maintain", broken)
    watch = Watch()
    monkeypatch.setattr(watch, "ends", ended.append)
    acting.maintain(planned, watch, run="r")
    assert acting.wait(60)
    assert ended == [[]]
