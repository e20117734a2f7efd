"""The screen of jobs: what stands on it, what its keys ask for, and that its clock stands still when nothing runs."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import pytest

from gitdash.model.job import Job, JobFigures, JobKind, JobState
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.jobs.counts import job_counts
from gitdash.tui.jobs.differences import job_differences
from gitdash.tui.jobs.lines import JobsView, jobs_page
from gitdash.tui.jobs.screen import JobsScreen
from gitdash.tui.repository.screen import RepositoryScreen
from tests.support.idle import until
from tests.tui.driven import Driven
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.fixture_ledger import FETCH
from tests.tui.source_double import SourceDouble

MIB = 1 << 20
WEB = ROOT + b"/team/web.git"
API = ROOT + b"/team/api.git"


def job(number: int, state: JobState = JobState.QUEUED, kind: JobKind = JobKind.RESCAN, **more: object) -> Job:
    """A job with the moments that its state has."""
    moments: dict[str, float] = {"asked_at_s": NOW_S - 100}
    if state is not JobState.QUEUED:
        moments |= {"started_at_s": NOW_S - 90, "step_started_at_s": NOW_S - 80}
    if state.has_ended:
        moments["ended_at_s"] = NOW_S - 60
    path = None if kind is JobKind.SURVEY else WEB
    return msgspec.convert({"number": number, "kind": kind, "path": path, "state": state} | moments | more, Job)


def page_text(jobs: Sequence[Job], width: int = 120, forgotten_count: int = 0) -> str:
    view = JobsView(
        jobs=jobs,
        name_of=lambda job: "all" if job.path is None else job.path.decode(),
        shown_keys={"rescan_all": "R", "rescan": "r"},
        now_s=NOW_S,
        forgotten_count=forgotten_count,
    )
    page, numbers = jobs_page(view, width)
    assert len(page.items) == len(numbers)
    return "\n".join("".join(piece.text for piece in line) for line in page.lines)


def test_jobs_stand_below_their_state_and_the_newest_that_ended_come_first() -> None:
    text = page_text(
        [
            job(1, JobState.DONE, ended_at_s=NOW_S - 50, path=b"/older"),
            job(2, JobState.DONE, ended_at_s=NOW_S - 10, path=b"/newer"),
            job(3, JobState.FAILED, path=b"/failed", reason="git said no"),
            job(4, JobState.RUNNING, path=b"/running"),
            job(5, path=b"/queued"),
        ]
    )
    order = ["Running 1", "/running", "Queued 1", "/queued", "Failed 1", "/failed", "git said no", "Ended 2", "/newer"]
    places = [text.index(part) for part in [*order, "/older"]]
    assert places == sorted(places)


def test_what_another_gitdash_did_stands_apart_and_what_was_cut_off_first() -> None:
    earlier = {"is_earlier": True, "kind": JobKind.FETCH}
    text = page_text(
        [
            job(1, JobState.DONE, path=b"/before", is_settled=True, **earlier),
            job(2, JobState.FAILED, path=b"/noted", is_settled=True, **earlier),
            job(3, JobState.FAILED, path=b"/cut", reason="gitdash was killed", **earlier),
            job(4, JobState.FAILED, path=b"/failed"),
            job(5, JobState.DONE, path=b"/now"),
        ]
    )
    order = ["Cut off, in an earlier gitdash 1", "/cut", "Failed 1", "/failed", "Ended 1", "/now"]
    order.append("Earlier, in another gitdash 2")
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert min(text.index("/before"), text.index("/noted")) > places[-1]


def test_cancelled_survey_says_of_what_it_has_done_so_many() -> None:
    counts = {"done_count": 3_588, "known_count": 6_003}
    measuring = page_text([job(1, JobState.CANCELLED, JobKind.SURVEY, step="measuring", **counts)])
    assert "asked for 3,588 of 6,003 sizes" in measuring
    inspecting = job(1, JobState.CANCELLED, JobKind.SURVEY, step="inspecting", may_grow=True, **counts)
    assert "inspected 3,588 of 6,003+ repositories" in page_text([inspecting])


def test_failure_that_is_settled_stands_with_what_has_ended() -> None:
    jobs = [job(1, JobState.FAILED, path=b"/open"), job(2, JobState.FAILED, path=b"/settled", is_settled=True)]
    text = page_text(jobs)
    places = [text.index(part) for part in ("Failed 1", "/open", "Ended 1", "/settled")]
    assert places == sorted(places)


def test_what_was_refused_or_skipped_is_not_among_what_failed() -> None:
    jobs = [
        job(1, JobState.FAILED, JobKind.FETCH, path=b"/failed"),
        job(2, JobState.REFUSED, JobKind.FETCH, path=b"/refused", reason="paused by gitdash.pause"),
        job(3, JobState.SKIPPED, JobKind.MAINTAIN, path=b"/skipped"),
        job(4, JobState.DONE, path=b"/done"),
    ]
    text = page_text(jobs)
    places = [
        text.index(part) for part in ("Failed 1", "/failed", "Refused or skipped 2", "/refused", "Ended 1", "/done")
    ]
    assert places == sorted(places)
    assert "refused  " in text
    assert "paused by gitdash.pause" in text


def test_queued_fetch_says_how_many_run_from_the_same_host() -> None:
    running = [job(number, JobState.RUNNING, JobKind.FETCH, path=b"/%d" % number, host="forge") for number in (1, 2)]
    others = [
        job(3, JobState.RUNNING, JobKind.FETCH, path=b"/3", host="elsewhere"),
        job(4, JobState.RUNNING, path=b"/x"),
    ]
    queued = job(5, JobState.QUEUED, JobKind.FETCH, path=b"/queued", host="forge", what="origin")
    (line,) = [line for line in page_text([*running, *others, queued]).splitlines() if "/queued" in line]
    assert "behind 2 from forge" in line
    assert "behind" not in page_text([*others, queued])
    behind = job(6, JobState.QUEUED, JobKind.MAINTAIN, path=b"/x")
    assert "behind another job here" in page_text([*others, behind])


def test_failures_of_a_survey_stand_below_what_came_of_a_persons_own_work() -> None:
    text = page_text(
        [
            job(1, JobState.FAILED, JobKind.MEASURE, part_of=9, path=b"/unmeasured"),
            job(2, JobState.DONE, JobKind.MAINTAIN, path=b"/maintained"),
            job(3, JobState.FAILED, JobKind.FETCH, path=b"/unfetched"),
        ]
    )
    order = ["Failed 1", "/unfetched", "Ended 1", "/maintained", "Failed, for a survey 1", "/unmeasured"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_parts_of_a_survey_that_ended_stand_last() -> None:
    text = page_text(
        [
            job(1, JobState.RUNNING, JobKind.SURVEY),
            job(2, JobState.DONE, JobKind.MEASURE, part_of=1, ended_at_s=NOW_S - 1, path=b"/part"),
            job(3, JobState.DONE, JobKind.MEASURE, path=b"/asked"),
        ],
        forgotten_count=9_900,
    )
    assert text.index("/asked") < text.index("Ended, for a survey 1") < text.index("/part")
    assert "9,900 more ended" in text


def test_survey_shows_its_rate_and_an_estimate_only_while_it_inspects() -> None:
    # 800 in the 80 s since the step began are 10 a second; 200 are left
    inspecting = {"done_count": 800, "known_count": 1000}
    assert "800 of 1,000 · 10/s · 20.0 s left" in page_text(
        [job(1, JobState.RUNNING, JobKind.SURVEY, step="inspecting", **inspecting)]
    )
    growing = page_text([job(1, JobState.RUNNING, JobKind.SURVEY, step="inspecting", may_grow=True, **inspecting)])
    assert "800 of 1,000+ · 10/s" in growing
    assert "left" not in growing
    assert "%" not in growing
    measuring = page_text([job(1, JobState.RUNNING, JobKind.SURVEY, step="measuring", **inspecting)])
    assert "800 of 1,000 sizes · 10/s" in measuring
    assert "left" not in measuring
    assert "80%" in measuring
    assert "1 m 30 s" in measuring


def test_rate_and_rest_of_what_git_counts_are_shown() -> None:
    # 800 of git's objects in the 80 s since the step began are 10 a second; 200 are left
    counts = {"done_count": 800, "known_count": 1000, "step": "full-repack: writing objects"}
    text = page_text([job(1, JobState.RUNNING, JobKind.MAINTAIN, **counts)], width=160)
    assert "full-repack: writing objects, 800 of 1,000 · 10/s · 20.0 s left" in text
    assert "80%" in text
    # 160 MiB in the same 80 s
    fetched = {"done_count": 500, "known_count": 1000, "step": "receiving objects", "received_bytes": 160 * MIB}
    text = page_text([job(1, JobState.RUNNING, JobKind.FETCH, what="origin", **fetched)], width=160)
    assert "origin: receiving objects, 500 of 1,000 · 160 MiB · 2.00 MiB/s · 1 m 20 s left" in text


@pytest.mark.parametrize("width", range(60, 161, 5))
def test_elapsed_time_of_a_running_job_is_always_shown(width: int) -> None:
    fetched = {"done_count": 500, "known_count": 1000, "step": "receiving objects", "received_bytes": 160 * MIB}
    # it began 90 s ago
    assert "1 m 30 s" in page_text([job(1, JobState.RUNNING, JobKind.FETCH, what="origin", **fetched)], width=width)


@pytest.mark.parametrize(("done_count", "filled"), [(0, 0), (100, 6), (999, 59), (1000, 60)])
def test_bar_is_filled_by_what_is_done_and_full_only_at_the_end(done_count: int, filled: int) -> None:
    survey = job(1, JobState.RUNNING, JobKind.SURVEY, step="measuring", done_count=done_count, known_count=1000)
    assert page_text([survey]).count("█") == filled


def test_one_of_two_is_no_percentage() -> None:
    assert "%" not in page_text([job(1, JobState.RUNNING, JobKind.MEASURE, done_count=1, known_count=2)])


@pytest.mark.parametrize("width", [60, 80, 100])
def test_ages_of_parts_of_a_survey_stand_below_one_another(width: int) -> None:
    before = JobFigures(disk_bytes=1 << 30, pack_count=1_000, loose_count=3, reference_count=12_345, finding_count=6)
    after = JobFigures(disk_bytes=1 << 20, pack_count=2_000, loose_count=9, reference_count=99_999, finding_count=0)
    parts = [
        job(1, JobState.DONE, JobKind.RESCAN, part_of=9, before=before, after=after),
        job(2, JobState.DONE, JobKind.MEASURE, part_of=9),
    ]
    lines = [line for line in page_text(parts, width).splitlines() if " done " in f" {line}"]
    assert [line.endswith("   1m ago") for line in lines] == [True, True]
    assert {len(line) for line in lines} == {width - 1}


def test_only_the_first_of_many_are_listed() -> None:
    text = page_text([job(number) for number in range(1, 10_001)])
    assert "Queued 10.0k" in text
    assert "and 9,800 more" in text
    assert text.count("rescan") == 200


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = b"/srv/" + b"x" * 300
    figures = JobFigures(
        disk_bytes=1, pack_count=2, loose_count=3, reachable_bytes=4, reference_count=5, finding_count=6
    )
    jobs = [
        job(1, JobState.RUNNING, JobKind.SURVEY, step="inspecting", done_count=99_999, known_count=999_999),
        job(
            2,
            JobState.RUNNING,
            JobKind.MEASURE,
            step="asking git for reachable",
            path=long,
            done_count=1,
            known_count=2,
        ),
        job(3, path=long),
        job(4, JobState.FAILED, JobKind.MEASURE, path=long, reason="because " * 60),
        msgspec.structs.replace(job(5, JobState.DONE, path=long), before=JobFigures(), after=figures),
    ]
    view = JobsView(jobs=jobs, name_of=lambda job: (job.path or long).decode(), shown_keys={}, now_s=NOW_S)
    page, _ = jobs_page(view, width)
    assert max(map(line_length, page.lines)) <= width


def test_without_jobs_the_page_says_what_would_be_one() -> None:
    text = page_text([], width=200)
    assert "A survey (R), another look at a repository (r), a measurement, a fetch and maintenance are jobs" in text


def difference_text(before: JobFigures | None, after: JobFigures | None) -> str:
    return ", ".join("".join(piece.text for piece in group) for group in job_differences(before, after))


def test_differences_name_what_changed_and_enough_of_what_did_not() -> None:
    before = JobFigures(disk_bytes=5 * MIB, pack_count=37, loose_count=12, reference_count=7, finding_count=2)
    after = JobFigures(disk_bytes=4 * MIB, pack_count=37, loose_count=12, reference_count=7, reachable_bytes=1200 * MIB)
    assert difference_text(before, after) == (
        "disk 5.00 MiB -> 4.00 MiB, reachable not measured -> 1.17 GiB, findings 2 -> not read,"
        " packs 37, loose objects 12"
    )
    assert difference_text(before, before) == "nothing changed: disk 5.00 MiB, packs 37"
    assert difference_text(None, after) == ""
    assert difference_text(JobFigures(), JobFigures()) == ""


def test_counts_are_of_running_queued_and_failed() -> None:
    states = [*JobState, JobState.FAILED, JobState.QUEUED, JobState.QUEUED]
    jobs = [job(number, state) for number, state in enumerate(states, start=1)]
    assert job_counts([*jobs, job(99, JobState.FAILED, is_settled=True)]) == (1, 3, 2, 1, 1)


@pytest.mark.parametrize("kind", [JobKind.FETCH, JobKind.MAINTAIN])
def test_fetches_and_maintenance_are_counted_as_all_jobs_are(kind: JobKind) -> None:
    states = (JobState.RUNNING, JobState.QUEUED, JobState.FAILED, JobState.DONE)
    assert job_counts(job(number, state, kind) for number, state in enumerate(states)) == (1, 1, 1, 0, 0)


class DrivenJobs(Driven):
    """The dashboard with the screen of jobs open."""

    @property
    def screen(self) -> JobsScreen:
        assert isinstance(self.app.screen, JobsScreen)
        return self.app.screen

    async def change(self, jobs: Iterable[Job], forgotten: Sequence[int] = ()) -> None:
        changes = self.source.happen()
        changes.jobs.update({one.number: one for one in jobs})
        changes.forgotten_jobs.extend(forgotten)
        self.app.flush()
        await self.pilot.pause()


@asynccontextmanager
async def jobs_screen(jobs: Iterable[Job] = ()) -> AsyncIterator[DrivenJobs]:
    source = SourceDouble(fixed_reports())
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(lambda: source.started, "the survey begins")
        driven = DrivenJobs(app, source, pilot)
        await driven.press("J")
        await driven.change(jobs)
        yield driven


async def test_title_has_the_counts_and_names_are_those_of_the_rows() -> None:
    async with jobs_screen([job(1, JobState.RUNNING), job(2), job(3, JobState.FAILED), job(4)]) as driven:
        assert "Jobs  1 running  2 queued  1 failed" in driven.text()
        assert "team/web.git" in driven.text()
        await driven.change([job(1, JobState.DONE)], forgotten=[2, 3, 4])
        assert "nothing runs" in driven.text()
        assert "3 more ended" in driven.text()


async def test_cursor_stays_on_its_job_when_others_come_and_go() -> None:
    async with jobs_screen([job(1, JobState.RUNNING), job(2, JobState.RUNNING), job(3)]) as driven:
        await driven.press("j")
        await driven.change([job(1, JobState.DONE), job(4, JobState.RUNNING)])
        await driven.press("x")
        assert driven.source.cancelled == [2]
        await driven.change([job(2, JobState.RUNNING), job(4, JobState.DONE)])
        await driven.press("x")
        assert driven.source.cancelled == [2, 2]


async def test_cursor_goes_to_work_of_the_same_sort_when_its_job_ends() -> None:
    def part(number: int, state: JobState = JobState.RUNNING) -> Job:
        return job(number, state, JobKind.MEASURE, part_of=1)

    async with jobs_screen([job(1, JobState.RUNNING, JobKind.SURVEY), *map(part, (2, 3, 4))]) as driven:
        await driven.press("j", "j")
        await driven.change([part(3, JobState.DONE)])
        assert driven.screen.job == part(4)
        await driven.change([part(4, JobState.DONE)])
        assert driven.screen.job == part(2)
        await driven.change([part(2, JobState.DONE), part(5)])
        assert driven.screen.job == part(5)
        assert driven.screen.items.scroll_offset.y == 0
        await driven.change([part(5, JobState.DONE), job(1, JobState.DONE, JobKind.SURVEY)])
        assert driven.screen.job == part(5, JobState.DONE), "nothing runs any more"


async def test_cursor_goes_to_what_was_started_and_stays_on_what_came_of_it() -> None:
    survey = [job(1, JobState.RUNNING, JobKind.SURVEY), job(2, JobState.RUNNING, JobKind.MEASURE, part_of=1)]
    async with jobs_screen(survey) as driven:
        await driven.change([job(3, JobState.QUEUED, JobKind.MAINTAIN), job(4, JobState.QUEUED, JobKind.MAINTAIN)])
        assert driven.screen.job == job(3, JobState.QUEUED, JobKind.MAINTAIN)
        await driven.press("x")
        assert driven.source.cancelled == [3]
        await driven.change([job(3, JobState.CANCELLED, JobKind.MAINTAIN)])
        assert driven.screen.job == job(4, JobState.QUEUED, JobKind.MAINTAIN)
        await driven.change([job(4, JobState.DONE, JobKind.MAINTAIN)])
        assert driven.screen.job == job(4, JobState.DONE, JobKind.MAINTAIN), "the survey still runs"


async def test_cursor_that_a_person_has_moved_does_not_go_to_what_is_started() -> None:
    survey = [job(1, JobState.RUNNING, JobKind.SURVEY), job(2, JobState.RUNNING, JobKind.MEASURE, part_of=1)]
    async with jobs_screen(survey) as driven:
        await driven.press("j")
        await driven.change([job(3, JobState.QUEUED, JobKind.MAINTAIN)])
        assert driven.screen.job == survey[1]


async def test_cursor_goes_to_the_next_failure_when_note_is_taken_of_one() -> None:
    failures = [job(number, JobState.FAILED, path=b"/%d" % number) for number in (1, 2, 3)]
    async with jobs_screen(failures) as driven:
        await driven.press("j", "x")
        await driven.change([job(2, JobState.FAILED, path=b"/2", is_settled=True)])
        assert driven.screen.job == failures[2]
        await driven.change([job(3, JobState.FAILED, path=b"/3", is_settled=True)])
        assert driven.screen.job == failures[0]


@pytest.mark.parametrize(
    ("state", "key", "cancelled", "retried", "said"),
    [
        (JobState.QUEUED, "x", [1], [], "The rescan of team/web.git will not begin."),
        (JobState.RUNNING, "x", [1], [], "Cancelling the rescan of team/web.git. What it has found so far stays."),
        (JobState.DONE, "x", [], [], "This rescan has ended already."),
        (JobState.QUEUED, "r", [], [], "This rescan has not ended."),
        (JobState.RUNNING, "r", [], [], "This rescan has not ended."),
        (JobState.DONE, "r", [], [1], "Asked again for the rescan of team/web.git."),
        (JobState.FAILED, "x", [1], [], "The rescan of team/web.git is counted as failed no longer."),
        (JobState.FAILED, "r", [], [1], "Asked again for the rescan of team/web.git."),
        (JobState.CANCELLED, "r", [], [1], "Asked again for the rescan of team/web.git."),
    ],
)
async def test_keys_cancel_what_has_not_ended_and_repeat_what_has(
    state: JobState, key: str, cancelled: list[int], retried: list[int], said: str
) -> None:
    async with jobs_screen([job(1, state)]) as driven:
        await driven.press(key)
        assert (driven.source.cancelled, driven.source.retried) == (cancelled, retried)
        assert driven.toasts() == [said]


async def test_enter_opens_the_repository_of_a_job_and_goes_back_from_a_survey() -> None:
    async with jobs_screen([job(1, JobState.RUNNING, JobKind.SURVEY), job(2, path=API)]) as driven:
        await driven.press("j", "enter")
        assert isinstance(driven.app.screen, RepositoryScreen)
        assert driven.app.screen.path == API
        await driven.press("q", "k", "enter")
        assert driven.app.screen is driven.app.fleet_screen


@pytest.mark.parametrize("key", ["enter", "m", "f", "b", "!", "plus"])
async def test_keys_do_no_harm_on_an_earlier_job_whose_repository_is_not_in_view(key: str) -> None:
    earlier = job(1, JobState.DONE, JobKind.FETCH, path=b"/elsewhere.git", is_earlier=True, is_settled=True)
    async with jobs_screen([earlier]) as driven:
        assert "/elsewhere.git" in driven.text()
        await driven.press(key, "escape", "escape")
        assert driven.app.is_running


async def test_keys_do_nothing_where_there_is_no_job() -> None:
    async with jobs_screen() as driven:
        await driven.press("x", "r", "enter", "j", "G")
        assert (driven.source.cancelled, driven.source.retried, driven.toasts()) == ([], [], [])
        assert isinstance(driven.app.screen, JobsScreen)


async def test_clock_runs_only_while_a_job_runs_and_the_page_is_seen() -> None:
    async with jobs_screen([job(1, JobState.DONE)]) as driven:
        screen = driven.screen
        assert screen._clock._timer is None
        await driven.change([job(2, JobState.RUNNING)])
        assert screen._clock._timer is not None
        await driven.press("question_mark")
        assert screen._clock._timer is None
        await driven.press("q")
        assert screen._clock._timer is not None
        await driven.change([job(2, JobState.DONE)])
        assert screen._clock._timer is None


@pytest.mark.parametrize(
    ("kind", "state", "key", "said"),
    [
        (JobKind.FETCH, JobState.QUEUED, "x", "The fetch of team/web.git will not begin."),
        (
            JobKind.FETCH,
            JobState.RUNNING,
            "x",
            "Cancelling the fetch of team/web.git. If it leaves a temporary pack, maintenance sweeps that away later.",
        ),
        (
            JobKind.MAINTAIN,
            JobState.RUNNING,
            "x",
            "Cancelling the maintenance of team/web.git. Tasks that are done stay done; what git has half written,"
            " maintenance sweeps away later.",
        ),
        (JobKind.MAINTAIN, JobState.DONE, "x", "This maintenance has ended already."),
        (JobKind.MAINTAIN, JobState.FAILED, "r", "Asked again for the maintenance of team/web.git."),
    ],
)
async def test_keys_say_of_fetches_and_maintenance_what_stays(
    kind: JobKind, state: JobState, key: str, said: str
) -> None:
    async with jobs_screen([job(1, state, kind)]) as driven:
        await driven.press(key)
        assert driven.toasts() == [said]


@pytest.mark.parametrize("key", ["plus", "space"])
async def test_details_of_a_job_are_shown_and_hidden_and_stay_when_the_cursor_goes_on(key: str) -> None:
    jobs = [
        msgspec.structs.replace(job(number, JobState.DONE, JobKind.FETCH), entries=(FETCH,), ended_at_s=NOW_S - number)
        for number in (1, 2)
    ]
    async with jobs_screen(jobs) as driven:
        assert "git fetch" not in driven.text()
        await driven.press(key, "j")
        assert driven.text().count("git fetch") == 1
        assert driven.screen.job == jobs[1]
        await driven.press("k", key)
        assert "git fetch" not in driven.text()


async def test_job_without_entries_has_no_details() -> None:
    async with jobs_screen([job(1, JobState.RUNNING, JobKind.FETCH)]) as driven:
        await driven.press("plus")
        assert driven.toasts() == ["There is nothing more to say of this fetch."]


async def test_job_under_the_cursor_stays_in_sight_when_the_terminal_is_made_smaller() -> None:
    async with jobs_screen(job(number, path=b"/job-%03d" % number) for number in range(30)) as driven:
        await driven.press("G")
        assert "/job-029" in driven.text()
        await driven.pilot.resize_terminal(80, 20)
        await driven.pilot.pause()
        assert "/job-029" in driven.text()


def test_jobs_are_gone_through_no_more_often_when_more_of_them_wait() -> None:
    class Counted(list[Job]):
        """Counts who goes through it."""

        count = 0

        def __iter__(self) -> Iterator[Job]:
            self.count += 1
            return super().__iter__()

    counts = []
    for waiting_count in (1, 100):
        jobs = Counted([job(1, JobState.RUNNING), *(job(number + 2) for number in range(waiting_count))])
        page_text(jobs)
        counts.append(jobs.count)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("jobs", "question"),
    [
        ([], None),
        ([job(1, JobState.RUNNING, JobKind.SURVEY), job(2, JobState.RUNNING, JobKind.MEASURE)], None),
        ([job(1, JobState.DONE, JobKind.FETCH), job(2, JobState.CANCELLED, JobKind.MAINTAIN)], None),
        ([job(1, JobState.RUNNING, JobKind.MAINTAIN)], "Once more leaves and cancels 1 job that changes a repository."),
        (
            [job(1, JobState.RUNNING, JobKind.FETCH), job(2, JobState.QUEUED, JobKind.MAINTAIN)],
            "Once more leaves and cancels 2 jobs that change repositories.",
        ),
    ],
)
async def test_q_on_the_table_asks_back_while_jobs_change_repositories(jobs: list[Job], question: str | None) -> None:
    async with jobs_screen(jobs) as driven:
        await driven.press("q", "q")
        assert driven.toasts() == ([] if question is None else [question])
        assert driven.app._exit is (question is None)
        if question is not None:
            await driven.press("q")
        assert driven.app._exit
    assert driven.app.return_value == 0


@pytest.mark.parametrize(("key", "code"), [("ctrl+q", 0), ("ctrl+c", 130)])
async def test_other_keys_leave_at_once_whatever_runs(key: str, code: int) -> None:
    async with jobs_screen([job(1, JobState.RUNNING, JobKind.MAINTAIN)]) as driven:
        await driven.press(key)
        assert driven.app._exit
    assert driven.app.return_value == code


async def test_cursor_begins_on_what_a_person_started_and_not_on_the_looks_that_followed() -> None:
    ended = [
        job(1, JobState.DONE, JobKind.FETCH, ended_at_s=NOW_S - 30),
        job(2, JobState.DONE, JobKind.RESCAN, ended_at_s=NOW_S - 20),
        job(3, JobState.DONE, JobKind.MEASURE, ended_at_s=NOW_S - 10),
    ]
    async with jobs_screen() as driven:
        await driven.change(ended)
        await driven.press("escape", "J")
        assert driven.screen.job == ended[0]
        await driven.press("escape")
        await driven.change([job(4, JobState.FAILED, JobKind.MEASURE)])
        await driven.press("J")
        assert driven.screen.job is not None
        assert driven.screen.job.number == 4, "what failed comes first"
