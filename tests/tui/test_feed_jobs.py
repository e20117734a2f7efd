"""Jobs of the dashboard's source over real repositories: what they say, cancelling them, and doing them again."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from gitdash.history.store import History, open_history
from gitdash.model.job import Job, JobFigures, JobKind, JobState
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement, Sizes, Strategy
from gitdash.tui.feed.jobs import KEPT_ENDED, KEPT_PARTS, JobRegister
from gitdash.tui.feed.survey_job import SurveyJob
from tests.support.processes import children_where, left_after
from tests.support.repositories import GitRepository
from tests.survey.test_sizing_queue import report
from tests.tui.fixture_ledger import FETCH
from tests.tui.watched_feed import LIMIT_S, WaitingGit, watched_feed


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Three repositories with a pack each."""
    root = tmp_path / "fleet"
    for name in ("a", "b", "c"):
        repository = GitRepository.init(root / f"{name}.git")
        repository.commit({"file": f"content of {name}"})
        repository.repack()
    return root


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state" / "state.db")) as opened:
        yield opened


@pytest.fixture
def git(tmp_path: Path) -> WaitingGit:
    return WaitingGit(tmp_path)


def _path(root: Path, name: str) -> bytes:
    return os.fsencode(root / name)


def test_survey_is_one_job_with_a_part_for_each_repository_that_git_is_asked_about(fleet: Path) -> None:
    with watched_feed(fleet) as watched:
        watched.until_over()
        survey = watched.until_job(JobState.DONE, JobKind.SURVEY)
        parts = [job for job in watched.seen.jobs.values() if job.kind is JobKind.MEASURE]
        assert survey.number == 1
        assert (survey.path, survey.before, survey.step) == (None, None, "measuring")
        # for each of the three an index difference and two questions for git
        assert (survey.done_count, survey.known_count) == (9, 9)
        assert {job.path for job in parts} == {_path(fleet, f"{name}.git") for name in "abc"}
        assert all(job.part_of == 1 and job.state is JobState.DONE for job in parts)
        assert all(job.before == JobFigures() and job.after is not None and job.after.reachable_bytes for job in parts)
        assert all(job.asked_at_s <= (job.started_at_s or 0) <= (job.ended_at_s or 0) for job in parts)


@pytest.mark.oracle
def test_another_look_has_figures_of_before_and_after(fleet: Path, history: History) -> None:
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        repository, path = GitRepository(fleet / "b.git"), _path(fleet, "b.git")
        size = int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
        repository.commit({"file": "another content", "more": "x" * 1000})
        watched.feed.rescan(path)
        look = watched.until_job(JobState.DONE, JobKind.RESCAN, path)
        measurement = watched.until_job(JobState.DONE, JobKind.MEASURE, path)
        assert look.before is not None
        assert look.after is not None
        assert (look.before.loose_count, look.before.pack_count, look.before.reachable_bytes) == (0, 1, size)
        assert f"{look.after.loose_count} objects," in repository.git("count-objects")
        assert measurement.part_of is None
        assert measurement.after is not None
        assert measurement.after.reachable_bytes == int(
            repository.git("rev-list", "--all", "--objects", "--disk-usage")
        )


def test_cancelled_survey_ends_and_another_one_finds_the_rest(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        part = watched.until_job(JobState.RUNNING, JobKind.MEASURE)
        assert part.part_of == 1
        watched.feed.cancel_job(1)
        watched.until_over("cancelled")
        assert watched.until_job(JobState.CANCELLED, JobKind.SURVEY).number == 1
        watched.until(lambda seen: all(job.state.has_ended for job in seen.jobs.values()))
        assert watched.seen.failure is None
        assert {summary.reachable_bytes for summary in watched.seen.summaries.values()} == {None}
        git.let_go()
        watched.feed.retry_job(1)
        watched.until_over()
        assert all(isinstance(summary.reachable_bytes, int) for summary in watched.seen.summaries.values())
        assert watched.seen.forgotten == []


def test_one_query_of_a_survey_is_cancelled_and_the_others_go_on(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        part = watched.until_job(JobState.RUNNING, JobKind.MEASURE)
        assert part.path is not None
        watched.until(lambda _: bool(_waiting_shells()))
        watched.feed.cancel_job(part.number)
        watched.until(lambda seen: seen.jobs[part.number].state.has_ended)
        git.let_go()
        watched.until_over()
        assert watched.seen.jobs[part.number].state is JobState.CANCELLED
        assert watched.until_job(JobState.DONE, JobKind.SURVEY).number == 1
        sizes = {summary.path: summary.reachable_bytes for summary in watched.seen.summaries.values()}
        assert sizes.pop(part.path) is None
        assert len(sizes) == 2
        assert all(isinstance(size, int) for size in sizes.values())
        watched.feed.retry_job(part.number)
        watched.until_job(JobState.DONE, JobKind.MEASURE, part.path)
        assert isinstance(watched.seen.summaries[part.path].reachable_bytes, int)


def test_what_waits_is_one_job_however_often_it_is_asked_for_and_can_be_cancelled(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        watched.until_job(JobState.RUNNING, JobKind.MEASURE)
        first, second = _path(fleet, "a.git"), _path(fleet, "b.git")
        watched.feed.measure(first)
        running = watched.until_job(JobState.RUNNING, JobKind.MEASURE, first, is_part=False)
        for _ in range(3):
            watched.feed.measure(second)
        queued = watched.until_job(JobState.QUEUED, JobKind.MEASURE, second, is_part=False)
        asked = [job for job in watched.seen.jobs.values() if job.kind is JobKind.MEASURE and job.part_of is None]
        assert asked == [running, queued]
        watched.feed.cancel_job(queued.number)
        watched.feed.cancel_job(running.number)
        watched.until(lambda seen: seen.jobs[running.number].state.has_ended)
        assert watched.seen.jobs[running.number].state is JobState.CANCELLED
        assert watched.seen.jobs[queued.number].state is JobState.CANCELLED
        assert watched.seen.jobs[queued.number].started_at_s is None
        watched.until(lambda seen: seen.busy.get(first) is False)
        assert second not in watched.seen.busy


def test_size_that_a_survey_is_measuring_is_not_measured_beside_it(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        path = watched.until_job(JobState.RUNNING, JobKind.MEASURE, is_part=True).path
        assert path is not None
        watched.until(lambda _: len(_waiting_shells()) == 2)
        watched.feed.measure(path)
        watched.until(lambda seen: any(_is_own_and_asks(job) for job in seen.jobs.values()))
        git.let_go()
        watched.until_job(JobState.DONE, JobKind.MEASURE, path, is_part=False)
        watched.until_over()
        queries = [record for record in watched.feed.commands(path) if "--disk-usage" in record.argv]
        assert len(queries) == 1
        assert isinstance(watched.seen.summaries[path].reachable_own_bytes, int)


def _is_own_and_asks(job: Job) -> bool:
    return job.part_of is None and job.kind is JobKind.MEASURE and job.step.startswith("asking git")


def test_survey_that_waits_for_another_is_asked_for_once(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        watched.until_job(JobState.RUNNING, JobKind.MEASURE)
        for _ in range(3):
            watched.feed.rescan(None)
        waiting = watched.until_job(JobState.QUEUED, JobKind.SURVEY)
        assert [job.number for job in watched.seen.jobs.values() if job.kind is JobKind.SURVEY] == [1, waiting.number]
        git.let_go()
        watched.until_job(JobState.DONE, JobKind.SURVEY)


def test_look_at_what_is_gone_fails_with_the_reason(fleet: Path, history: History) -> None:
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        path = _path(fleet, "b.git")
        (fleet / "b.git").rename(fleet.parent / "elsewhere.git")
        watched.feed.rescan(path)
        job = watched.until_job(JobState.FAILED, JobKind.RESCAN, path)
        assert watched.seen.summaries[path].disk_bytes == Unreadable(job.reason or "")
        watched.feed.rescan(b"/nowhere")
        job = watched.until_job(JobState.FAILED, JobKind.RESCAN, b"/nowhere")
        assert job.reason == "nothing is known of it yet"


def test_what_runs_is_not_done_again_and_what_has_ended_is_not_cancelled(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        watched.until_job(JobState.RUNNING, JobKind.MEASURE)
        watched.feed.retry_job(1)
        watched.feed.retry_job(999)
        git.let_go()
        watched.until_over()
        watched.feed.cancel_job(1)
        watched.feed.cancel_job(999)
        assert watched.until_job(JobState.DONE, JobKind.SURVEY).number == 1


def _waiting_shells() -> list[psutil.Process]:
    return children_where(lambda child: child.name() == "waiting-git")


class Told:
    """What a register said."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self.forgotten: list[int] = []
        self.now_s = 0.0
        self.register = JobRegister(self._clock, on_changed=self._changed, on_forgotten=self.forgotten.append)

    def _clock(self) -> float:
        self.now_s += 1
        return self.now_s

    def _changed(self, job: Job) -> None:
        self.jobs[job.number] = job

    def done(
        self,
        *,
        part_of: int | None = None,
        state: JobState = JobState.DONE,
        path: bytes = b"/x",
        kind: JobKind = JobKind.MEASURE,
        what: str = "",
    ) -> int:
        number = self.register.ask(kind, path, part_of=part_of, what=what)
        self.register.start(number)
        self.register.end(number, state)
        return number


def test_only_the_last_that_went_well_of_a_survey_are_kept_and_more_that_failed() -> None:
    told = Told()
    failed = told.done(part_of=1, state=JobState.FAILED, path=b"/failed")
    asked = told.done()
    numbers = [told.done(part_of=1) for _ in range(KEPT_PARTS + 20)]
    assert told.forgotten == numbers[:20]
    assert told.register.job(failed) is not None
    assert told.register.job(asked) is not None
    more = [told.done(part_of=1, state=JobState.FAILED, path=b"/%d" % number) for number in range(KEPT_ENDED)]
    assert told.forgotten == [*numbers[:20], failed]
    assert told.register.job(more[0]) is not None


def _failed(told: Told) -> list[int]:
    jobs = [job for job in told.jobs.values() if job.number not in told.forgotten]
    return [job.number for job in jobs if job.state is JobState.FAILED and not job.is_settled]


@pytest.mark.parametrize("state", [JobState.REFUSED, JobState.SKIPPED])
def test_what_was_refused_or_skipped_is_settled_by_taking_note_and_by_doing_it(state: JobState) -> None:
    told = Told()
    noted, done = told.done(state=state), told.done(state=state, path=b"/other")
    assert not told.jobs[noted].is_settled
    told.register.cancel(noted)
    assert told.jobs[noted].is_settled
    assert not told.jobs[done].is_settled
    told.done(path=b"/other")
    assert told.jobs[done].is_settled


def test_failure_is_settled_when_the_same_is_done_on_that_repository() -> None:
    told = Told()
    first = told.done(state=JobState.FAILED)
    other = told.done(state=JobState.FAILED, path=b"/other")
    rescan = told.register.ask(JobKind.RESCAN, b"/x")
    told.register.start(rescan)
    told.register.end(rescan, JobState.DONE)
    assert _failed(told) == [first, other]
    told.done(state=JobState.CANCELLED, part_of=7)
    assert _failed(told) == [first, other]
    told.done(part_of=7)
    assert _failed(told) == [other]
    assert told.forgotten == []
    told.register.settle(JobKind.MEASURE, b"/other")
    assert _failed(told) == []


def test_failure_of_one_remote_is_not_settled_by_another() -> None:
    told = Told()
    origin = told.done(kind=JobKind.FETCH, what="origin", state=JobState.FAILED)
    unplanned = told.done(kind=JobKind.FETCH, path=b"/y", state=JobState.FAILED)
    told.done(kind=JobKind.FETCH, what="upstream")
    told.done(kind=JobKind.FETCH, what="origin", path=b"/y")
    # what failed before it could name a remote is done once one is fetched from
    assert told.jobs[unplanned].is_settled
    assert _failed(told) == [origin]
    told.done(kind=JobKind.FETCH, what="origin")
    assert _failed(told) == []


def test_failed_tasks_are_settled_when_all_of_them_are_done() -> None:
    told = Told()
    failed = told.done(kind=JobKind.MAINTAIN, what="pack-refs, full-repack", state=JobState.FAILED)
    told.done(kind=JobKind.MAINTAIN, what="pack-refs")
    assert _failed(told) == [failed]
    told.done(kind=JobKind.MAINTAIN, what="pack-refs, commit-graph, full-repack")
    assert _failed(told) == []


def test_fetch_that_failed_is_not_settled_by_asking_what_it_would_change() -> None:
    told = Told()
    failed = told.done(kind=JobKind.FETCH, what="origin", state=JobState.FAILED)
    preview = told.register.ask(JobKind.FETCH, b"/x", what="origin")
    told.register.end(preview, JobState.DONE, entries=(msgspec.structs.replace(FETCH, is_preview=True),))
    assert _failed(told) == [failed]


def test_repository_on_which_each_survey_fails_has_one_failed_job() -> None:
    told = Told()
    by_hand = told.done(state=JobState.FAILED)
    surveyed = [told.done(part_of=survey, state=JobState.FAILED) for survey in (100, 200, 300)]
    assert _failed(told) == surveyed[-1:]
    assert told.forgotten == surveyed[:-1]
    assert told.jobs[by_hand].is_settled
    again = told.done(state=JobState.FAILED)
    assert _failed(told) == [again]


def test_taking_note_of_a_failure_settles_it_and_the_next_one_counts_again() -> None:
    told = Told()
    failed = told.done(state=JobState.FAILED)
    told.register.cancel(failed)
    assert _failed(told) == []
    assert told.jobs[failed].state is JobState.FAILED
    again = told.done(state=JobState.FAILED)
    told.register.cancel(failed)
    assert _failed(told) == [again]


def test_survey_settles_failures_of_what_it_finds_in_order() -> None:
    told = Told()
    survey, asked = _begun(told)
    failed = told.done(state=JobState.FAILED, path=asked.repository.path)
    survey.note_report(asked)
    assert _failed(told) == [failed]
    sizes = Sizes(reachable=_size(Question.REACHABLE, 5), reachable_own=_size(Question.REACHABLE_OWN, 5))
    survey.note_report(msgspec.structs.replace(asked, sizes=sizes))
    assert _failed(told) == []


def test_survey_again_replaces_the_failure_of_the_same_repository(fleet: Path, history: History) -> None:
    broken = fleet / "b.git"
    for pack in broken.glob("objects/pack/*"):
        pack.unlink()
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        first = watched.until_job(JobState.FAILED, JobKind.MEASURE, os.fsencode(broken))
        watched.feed.rescan(None)
        watched.until_over()
        second = watched.until_job(JobState.FAILED, JobKind.MEASURE, os.fsencode(broken))
        assert second.number > first.number
        assert watched.seen.forgotten_jobs == [first.number]


def test_first_end_of_a_job_stands() -> None:
    told = Told()
    number = told.done()
    told.register.end(number, JobState.FAILED, reason="too late")
    told.register.advance(number, step="too late")
    assert told.register.start(number) is None
    assert told.jobs[number].state is JobState.DONE
    assert (told.jobs[number].step, told.jobs[number].reason) == ("", None)


def test_cancelled_job_that_waited_never_starts_and_one_that_runs_has_its_event_set() -> None:
    told = Told()
    waiting, running = (told.register.ask(JobKind.RESCAN, b"/x") for _ in range(2))
    cancel = told.register.start(running)
    assert cancel is not None
    told.register.cancel(waiting)
    told.register.cancel(running)
    assert told.jobs[waiting].state is JobState.CANCELLED
    assert told.jobs[running].state is JobState.RUNNING
    assert cancel.is_set()
    assert told.register.start(waiting) is None


def test_rate_counts_from_the_step_and_not_from_the_start() -> None:
    told = Told()
    number = told.register.ask(JobKind.SURVEY, None)
    told.register.start(number)
    told.register.advance(number, step="inspecting", done_count=1)
    first = told.jobs[number].step_started_at_s
    told.register.advance(number, step="inspecting", done_count=2)
    assert told.jobs[number].step_started_at_s == first
    told.register.advance(number, step="measuring", done_count=1)
    assert told.jobs[number].step_started_at_s != first


def _size(question: Question, size_bytes: int) -> SizeMeasurement:
    return SizeMeasurement(
        question=question,
        bytes=size_bytes,
        strategy=Strategy.WALK,
        exact=True,
        elapsed_s=0.0,
        measured_at_s=0.0,
        argv=(),
        git_version="2",
    )


def _begun(told: Told) -> tuple[SurveyJob, RepositoryReport]:
    number = told.register.ask(JobKind.SURVEY, None)
    told.register.start(number)
    survey, asked = SurveyJob(told.register, number), report("a")
    survey.begun(asked, list(Question), threading.Event())
    return survey, asked


def test_part_ends_with_its_last_answer_and_a_survey_ends_what_still_runs() -> None:
    told = Told()
    survey, asked = _begun(told)
    assert (told.jobs[2].step, told.jobs[2].done_count) == ("asking git for reachable", 0)
    survey.answered(asked, Question.REACHABLE, _size(Question.REACHABLE, 5))
    assert (told.jobs[2].step, told.jobs[2].done_count) == ("asking git for own", 1)
    survey.end(is_finished=False)
    assert [told.jobs[number].state for number in (1, 2)] == [JobState.CANCELLED] * 2
    survey.answered(asked, Question.REACHABLE_OWN, _size(Question.REACHABLE_OWN, 5))
    assert told.jobs[2].state is JobState.CANCELLED


def test_part_with_an_answer_that_was_cancelled_is_cancelled() -> None:
    told = Told()
    survey, asked = _begun(told)
    survey.answered(asked, Question.REACHABLE, _size(Question.REACHABLE, 5))
    survey.answered(asked, Question.REACHABLE_OWN, None)
    assert told.jobs[2].state is JobState.CANCELLED
    assert told.jobs[2].after == JobFigures(reachable_bytes=5)


def test_all_are_told_to_end_when_the_dashboard_is_left(fleet: Path, git: WaitingGit) -> None:
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        watched.until_job(JobState.RUNNING, JobKind.MEASURE)
        watched.feed.measure(_path(fleet, "a.git"))
        watched.until(lambda _: len(_waiting_shells()) >= 2)
        shells = _waiting_shells()
    assert left_after(shells, LIMIT_S) == []
