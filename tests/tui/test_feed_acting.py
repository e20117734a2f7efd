"""Acting through the dashboard's source, over real repositories: plans, maintenance, fetches, and the ledger."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from gitdash.config.settings import FetchSettings, Settings
from gitdash.history.store import History, open_history
from gitdash.maintenance import running
from gitdash.maintenance.queue import Ticket
from gitdash.model.fetch import RemotePlan
from gitdash.model.job import Job, JobKind, JobState
from gitdash.model.ledger import LedgerEntry, Outcome, Reason
from gitdash.model.plan import Plan
from gitdash.model.task import Task
from gitdash.survey import acting
from gitdash.tui.feed.endings import how_it_ended
from gitdash.tui.source import Changes
from tests.support.repositories import GIT, GitRepository
from tests.tui.fixture_ledger import LOOSE
from tests.tui.watched_feed import WatchedFeed, watched_feed


@pytest.fixture
def source(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "source.git")
    repository.commit({"file": "content"})
    return repository


@pytest.fixture
def fleet(tmp_path: Path, source: GitRepository) -> Path:
    root = tmp_path / "fleet"
    repository = GitRepository.init(root / "a.git")
    repository.git("remote", "add", "origin", os.fspath(source.path))
    repository.commit({"file": "own content"}, reference="refs/heads/own")
    return root


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state" / "state.db")) as opened:
        yield opened


LOCAL = Settings(fetch=FetchSettings(protocols=("file",)))


def _run_planned(watched: WatchedFeed, path: bytes, task: Task) -> None:
    """Ask for the plan of one task, and run what comes."""
    watched.feed.request_plans([path], [task])
    watched.until(lambda seen: path in seen.plans)
    plan = watched.seen.plans[path]
    assert isinstance(plan, Plan)
    watched.feed.run_plans([plan])


def _ended(watched: WatchedFeed, kind: JobKind, state: JobState, path: bytes) -> Job:
    return watched.until_job(state, kind, path)


def _fetches(seen: Changes) -> list[Job]:
    return [job for _, job in sorted(seen.jobs.items()) if job.kind is JobKind.FETCH]


def _ended_fetch_count(seen: Changes) -> int:
    return sum(job.state.has_ended for job in _fetches(seen))


def test_plan_is_made_run_and_written_down(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        watched.feed.request_plans([path], [Task.FULL_REPACK, Task.COMMIT_GRAPH])
        watched.until(lambda seen: path in seen.plans)
        plan = watched.seen.plans[path]
        assert isinstance(plan, Plan)
        assert [task.task for task in plan.runnable] == [Task.FULL_REPACK, Task.COMMIT_GRAPH]
        shown = [msgspec.structs.replace(task, because=("a finding",)) for task in plan.tasks]
        watched.feed.run_plans([msgspec.structs.replace(plan, tasks=tuple(shown))])
        job = _ended(watched, JobKind.MAINTAIN, JobState.DONE, path)
        # planned anew when its turn comes, it keeps the reasons that a person saw
        assert [entry.choices for entry in job.entries] == [("a finding",), ("a finding",)]
        assert job.what == "full-repack, commit-graph"
        assert [entry.outcome for entry in job.entries] == [Outcome.DONE, Outcome.DONE]
        assert job.before is not None
        assert job.after is not None
        assert (job.before.pack_count, job.after.pack_count) == (0, 1)
        # what it did is looked at again, so that the row shows it
        watched.until_job(JobState.DONE, JobKind.RESCAN, path)
        watched.feed.request_entries(path)
        watched.until(lambda seen: path in seen.entries)
        assert [entry.task for entry in watched.seen.entries[path]] == [Task.COMMIT_GRAPH, Task.FULL_REPACK]
    git = GitRepository(fleet / "a.git")
    assert "packs: 1" in git.git("count-objects", "-v").splitlines()


def test_fetch_is_a_job_of_its_remote(fleet: Path, history: History, source: GitRepository) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        job = _ended(watched, JobKind.FETCH, JobState.DONE, path)
        assert job.what == "origin"
        (entry,) = job.entries
        assert [(change.kind, change.new) for change in entry.reference_changes] == [
            ("new", source.git("rev-parse", "main"))
        ]


def test_repository_and_its_worktrees_are_fetched_into_once(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    trees = [fleet / "first", fleet / "second"]
    for tree in trees:
        GitRepository(fleet / "a.git").git("worktree", "add", "-q", "--detach", tree, "own")
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([*map(os.fsencode, trees), path])
        watched.feed.fetch([*map(os.fsencode, trees)])
        watched.until(lambda seen: _ended_fetch_count(seen) == 2)
        # what is asked for later is queued behind it
        watched.feed.fetch([path])
        watched.until(lambda seen: _ended_fetch_count(seen) == 3)
        assert [job.path for job in _fetches(watched.seen)] == [path, os.fsencode(trees[0]), path]


def test_fetch_that_is_asked_for_again_is_of_its_remote_alone(
    fleet: Path, history: History, source: GitRepository
) -> None:
    path = os.fsencode(fleet / "a.git")
    GitRepository(fleet / "a.git").git("remote", "add", "second", os.fspath(source.path))
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        watched.until(lambda seen: _ended_fetch_count(seen) == 2)
        (second,) = [job for job in _fetches(watched.seen) if job.what == "second"]
        watched.feed.retry_job(second.number)
        watched.until(lambda seen: _ended_fetch_count(seen) > 2)
        # what is asked for later is queued behind it
        watched.feed.fetch([path])
        watched.until(lambda seen: _ended_fetch_count(seen) >= 5)
        assert [job.what for job in _fetches(watched.seen)] == ["origin", "second", "second", "origin", "second"]


def test_fetch_that_is_refused_says_why_and_can_be_asked_for_again(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        job = _ended(watched, JobKind.FETCH, JobState.REFUSED, path)
        assert job.entries[0].reason is Reason.REFUSED
        assert job.reason is not None
        assert "protocol file" in job.reason
        assert "'Fetch, and choose how'" in job.reason
        assert "--" not in job.reason
        watched.feed.retry_job(job.number)
        watched.until(
            lambda seen: len([one for one in seen.jobs.values() if one.kind is JobKind.FETCH and one.entries]) == 2
        )


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ((Outcome.DONE, Outcome.NOTHING_TO_DO), JobState.DONE),
        ((Outcome.DONE, Outcome.REFUSED), JobState.REFUSED),
        ((Outcome.SKIPPED, Outcome.SKIPPED), JobState.SKIPPED),
        ((Outcome.REFUSED, Outcome.FAILED, Outcome.SKIPPED), JobState.FAILED),
        ((Outcome.SKIPPED, Outcome.TIMED_OUT), JobState.FAILED),
        ((Outcome.FAILED, Outcome.CANCELLED), JobState.CANCELLED),
        ((), JobState.CANCELLED),
    ],
)
def test_job_ends_as_the_worst_of_its_tasks(outcomes: tuple[Outcome, ...], state: JobState) -> None:
    entries = [msgspec.structs.replace(LOOSE, outcome=outcome, sentence=outcome.value) for outcome in outcomes]
    ended_as, reason = how_it_ended(entries)
    assert ended_as is state
    if state in {JobState.FAILED, JobState.REFUSED, JobState.SKIPPED}:
        assert reason in {outcome.value for outcome in outcomes}


def test_read_only_dashboard_changes_nothing(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history, settings=LOCAL, read_only=True) as watched:
        watched.until_over()
        watched.feed.request_plans([path], [Task.FULL_REPACK])
        watched.until(lambda seen: path in seen.plans)
        plan = watched.seen.plans[path]
        assert isinstance(plan, Plan)
        assert plan.runnable == ()
        assert "read-only-mode" in {refusal.rule for refusal in plan.tasks[0].refusals}
        watched.feed.fetch([path])
        assert _ended(watched, JobKind.FETCH, JobState.REFUSED, path).entries[0].outcome is Outcome.REFUSED
    assert GitRepository(fleet / "a.git").git("for-each-ref", "refs/remotes") == ""


def test_what_an_earlier_run_did_not_end_is_said(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        _run_planned(watched, path, Task.VERIFY)
        entry = _ended(watched, JobKind.MAINTAIN, JobState.DONE, path).entries[0]
    # as a run leaves it that was killed: no process has the number 0
    history.ledger.put(msgspec.structs.replace(entry, outcome=Outcome.RUNNING, elapsed_s=None, process_id=2**22 + 1))
    with watched_feed(fleet, history=history) as watched:
        watched.until(lambda seen: any("cut off" in notice for notice in seen.notices))
        job = watched.until_job(JobState.FAILED, JobKind.MAINTAIN, path)
        assert (job.is_earlier, job.is_settled, job.what) == (True, False, "verify")
        assert job.entries[0].outcome is Outcome.CUT_OFF
        # taken note of, it stands among the earlier ones
        watched.feed.cancel_job(job.number)
        watched.until(lambda seen: seen.jobs[job.number].is_settled)
    assert history.ledger.entries(path)[0].outcome is Outcome.CUT_OFF


def test_what_was_done_to_a_repository_that_is_not_in_view_is_not_done_again_in_silence(
    fleet: Path, history: History
) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        entry = _ended(watched, JobKind.FETCH, JobState.DONE, path).entries[0]
    elsewhere = os.fsencode(fleet.parent / "elsewhere.git")
    history.ledger.put(msgspec.structs.replace(entry, process_id=2**22 + 1, path=elsewhere))
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.retry_job(_ended(watched, JobKind.FETCH, JobState.DONE, elsewhere).number)
        failed = _ended(watched, JobKind.FETCH, JobState.FAILED, elsewhere)
        assert failed.reason == "nothing is known of this repository yet"


def test_what_another_gitdash_did_is_listed_as_earlier_and_can_be_done_again(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        entry = _ended(watched, JobKind.FETCH, JobState.DONE, path).entries[0]
    history.ledger.put(msgspec.structs.replace(entry, process_id=2**22 + 1))
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        earlier = _ended(watched, JobKind.FETCH, JobState.DONE, path)
        assert (earlier.is_earlier, earlier.what, earlier.asked_at_s) == (True, "origin", entry.started_at_s)
        watched.feed.retry_job(earlier.number)
        watched.until(lambda seen: any(not one.is_earlier and one.state.has_ended for one in _fetches(seen)))


class Gate:
    """Holds back fetches, each from one remote, until that is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._events = {name: threading.Event() for name in ("origin", "second")}
        self.begun: list[str] = []
        fetch_remote = acting.fetch_remote

        def held(report: object, remote: RemotePlan, *rest: object) -> LedgerEntry:
            assert self._events[remote.name].wait(30)
            self.begun.append(remote.name)
            return fetch_remote(report, remote, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(acting, "fetch_remote", held)

    def let_go(self, name: str) -> None:
        self._events[name].set()


def test_fetch_asked_for_twice_is_skipped_at_once_and_to_cancel_that_ends_nothing(
    fleet: Path, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.fsencode(fleet / "a.git")
    gate = Gate(monkeypatch)
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        watched.feed.fetch([path])
        watched.until(lambda seen: [job.state for job in _fetches(seen)] == [JobState.QUEUED, JobState.SKIPPED])
        first, second = _fetches(watched.seen)
        watched.feed.cancel_job(second.number)
        gate.let_go("origin")
        watched.until(lambda seen: seen.jobs[first.number].state is JobState.DONE)
        assert gate.begun == ["origin"]


def test_fetch_that_is_cancelled_is_that_of_its_own_remote_though_another_has_ended(
    fleet: Path, history: History, source: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.fsencode(fleet / "a.git")
    GitRepository(fleet / "a.git").git("remote", "add", "second", os.fspath(source.path))
    gate = Gate(monkeypatch)
    fetch: Callable[..., list[Ticket]] = acting.Actions.fetch

    def fetch_and_wait(*given: object, **named: object) -> list[Ticket]:
        tickets = fetch(*given, **named)
        gate.let_go("origin")
        assert tickets[0].done.wait(30)
        return tickets

    monkeypatch.setattr(acting.Actions, "fetch", fetch_and_wait)
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.fetch([path])
        watched.until(lambda seen: [job.state for job in _fetches(seen)] == [JobState.DONE, JobState.QUEUED])
        # what is asked for later is done once the tickets are known
        watched.feed.fetch([os.fsencode(fleet / "none.git")])
        watched.until(lambda seen: len(_fetches(seen)) == 3)
        watched.feed.cancel_job(_fetches(watched.seen)[1].number)
        gate.let_go("second")
        watched.until(lambda seen: _fetches(seen)[1].state is JobState.CANCELLED)
    entries = history.ledger.entries(path)
    assert [entry.remote for entry in entries if entry.outcome is Outcome.DONE] == ["origin"]


def test_maintenance_cancelled_while_its_plan_is_made_is_not_begun(
    fleet: Path, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.fsencode(fleet / "a.git")
    go = threading.Event()
    plan: Callable[..., object] = acting.Actions.plan
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        watched.feed.request_plans([path], [Task.PACK_REFS])
        watched.until(lambda seen: path in seen.plans)
        shown = watched.seen.plans.pop(path)
        assert isinstance(shown, Plan)

        def slow_plan(*given: object, **named: object) -> object:
            assert go.wait(30)
            return plan(*given, **named)

        monkeypatch.setattr(acting.Actions, "plan", slow_plan)
        monkeypatch.setattr(acting.Actions, "maintain", lambda *_, **__: pytest.fail("it was begun"))
        watched.feed.run_plans([shown])
        watched.feed.cancel_job(watched.until_job(JobState.QUEUED, JobKind.MAINTAIN, path).number)
        go.set()
        # what is asked for later is done after it
        watched.feed.request_plans([path], [Task.PACK_REFS])
        watched.until(lambda seen: path in seen.plans)
        assert watched.seen.failure is None
        watched.until_job(JobState.CANCELLED, JobKind.MAINTAIN, path)


@pytest.mark.safety
def test_end_waits_until_maintenance_has_let_go_of_its_lock_and_is_written_down(
    fleet: Path, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.fsencode(fleet / "a.git")
    begun = tmp_path / "begun"
    git = tmp_path / "slow-git"
    # not git maintenance is-needed, which names the task, too
    git.write_text(f'#!/bin/sh\ncase "$*" in *" pack-refs --"*) touch {begun}; sleep 60;; esac\nexec {GIT} "$@"\n')
    git.chmod(0o755)

    def slow_leftovers(*_: object, **__: object) -> tuple[str, ...]:
        # on a machine that is busy, far longer than all else has at the end
        time.sleep(2)
        return ()

    monkeypatch.setattr(running, "leftovers", slow_leftovers)
    said: list[str] = []
    with watched_feed(fleet, history=history, git=os.fspath(git)) as watched:
        watched.until_over()
        _run_planned(watched, path, Task.PACK_REFS)
        watched.until(lambda _: begun.exists())
        assert (fleet / "a.git" / "objects" / "maintenance.lock").exists()
        watched.feed.stop(said.append)
        assert not (fleet / "a.git" / "objects" / "maintenance.lock").exists()
        assert [entry.outcome for entry in history.ledger.entries(path)] == [Outcome.CANCELLED]
    assert said == ["ending 1 job that changes a repository"]


@pytest.mark.safety
def test_reclaim_that_is_asked_for_again_has_to_be_confirmed_again(fleet: Path, history: History) -> None:
    repository, path = GitRepository(fleet / "a.git"), os.fsencode(fleet / "a.git")
    ids = [repository.blob(b"nobody needs this"), repository.blob(b"nor this")]
    for object_id in ids:
        repository.age(repository.git_dir / "objects" / object_id[:2] / object_id[2:], 30 * 86_400.0, time.time())
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        watched.feed.request_plans([path], [Task.RECLAIM])
        watched.until(lambda seen: path in seen.plans)
        plan = watched.seen.plans[path]
        assert isinstance(plan, Plan)
        watched.feed.run_plans([plan], confirmed_name="a.git")
        job = _ended(watched, JobKind.MAINTAIN, JobState.DONE, path)
        kept = repository.blob(b"nor that")
        repository.age(repository.git_dir / "objects" / kept[:2] / kept[2:], 30 * 86_400.0, time.time())
        watched.feed.retry_job(job.number)
        again = _ended(watched, JobKind.MAINTAIN, JobState.REFUSED, path)
        assert again.reason == "it was not confirmed by typing 'a.git'"
    assert repository.git("cat-file", "-t", kept) == "blob"


def test_all_that_acts_shares_one_queue_whoever_asks_first(
    fleet: Path, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.fsencode(fleet / "a.git")
    made: list[object] = []
    both_ask = threading.Barrier(2)
    queue = acting.ActionQueue

    def slowly(*given: object) -> object:
        made.append(given)
        with contextlib.suppress(threading.BrokenBarrierError):
            both_ask.wait(0.3)
        return queue(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(acting, "ActionQueue", slowly)
    with watched_feed(fleet, history=history, settings=LOCAL) as watched:
        watched.until_over()
        watched.feed.request_entries(path)
        watched.feed.request_plans([path], [Task.PACK_REFS])
        watched.until(lambda seen: path in seen.plans and path in seen.entries)
    assert len(made) == 1
