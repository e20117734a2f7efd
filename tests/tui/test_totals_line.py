"""The totals line: the sums are those of the survey whatever changes, and the most important stays longest."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.model.disk_facts import DiskFacts
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import Inspection
from gitdash.model.job import Job, JobKind, JobState
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import RepositoryKind, Role, Unreadable
from gitdash.model.sizes import Bound, Question, Sizes
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize, totals_of
from gitdash.tui.fleet import panels
from gitdash.tui.fleet.totals_line import Moment, totals_line
from gitdash.tui.flushing import FLUSH_INTERVAL_S
from gitdash.tui.jobs.counts import JobCounts
from gitdash.tui.table.part_sums import PartSums
from gitdash.tui.table.row import FleetRow
from gitdash.tui.table.totals import RunningTotals
from tests.support.idle import until
from tests.tui.driven_fleet import driven_fleet, row
from tests.tui.fixture_fleet import NOW_S, ROOT, exclusive, fixed_summaries, inspection, measured, pack_facts, report

NAMES = [b"a.git", b"b.git", b"c.git", b"d.git"]
ROLES = [(Role.PLAIN,), (Role.MEMBER,), (Role.POOL,), (Role.MEMBER, Role.POOL)]
SIZES = st.integers(min_value=0, max_value=1 << 40)


def _findings(severities: list[Severity]) -> tuple[Finding, ...]:
    return tuple(Finding(rule="x", severity=severity, summary="", remedy="") for severity in severities)


@st.composite
def reports(draw: st.DrawFn) -> RepositoryReport:
    """A report of one of four repositories, with or without each of its figures."""
    facts: Inspection | Unreadable = inspection(packs=pack_facts(1, draw(SIZES)))
    if draw(st.booleans()):
        disk = draw(
            st.sampled_from([Unreadable("no"), DiskFacts(bytes=5, allocated_bytes=5, file_count=1, objects_bytes=5)])
        )
        facts = msgspec.structs.replace(facts, disk=disk)
    if draw(st.integers(0, 9)) == 0:
        facts = Unreadable("permission denied")
    reachable = draw(
        st.none()
        | st.just(Unreadable("no"))
        | st.builds(measured, st.just(Question.REACHABLE), SIZES, exact=st.booleans())
    )
    own = draw(st.none() | st.just(Unreadable("no")) | st.builds(exclusive, SIZES, SIZES, st.integers(0, 9)))
    return report(
        draw(st.sampled_from(NAMES)),
        facts,
        kind=draw(st.sampled_from([RepositoryKind.BARE, RepositoryKind.WORKTREE])),
        roles=draw(st.sampled_from(ROLES)),
        borrowers=draw(st.sampled_from([(), (b"/srv/git/z.git",)])),
        sizes=Sizes(reachable=reachable, exclusive=own),
        findings=_findings(draw(st.lists(st.sampled_from(list(Severity)), max_size=4))),
        state=draw(st.sampled_from(list(State))),
        counts_store=draw(st.booleans()),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), reports()), max_size=20))
def test_running_sums_equal_those_of_the_survey_after_any_changes(changes: list[tuple[bool, RepositoryReport]]) -> None:
    totals = RunningTotals()
    present: dict[bytes, RepositoryReport] = {}
    for stays, changed in changes:
        former = present.pop(changed.repository.path, None)
        if former is not None:
            totals.remove(summarize(former))
        if stays:
            present[changed.repository.path] = changed
            totals.add(summarize(changed))
    expected = totals_of(present.values())
    assert (totals.saved.bytes if totals.saved.known_count else None) == expected.saved_bytes
    assert totals.saved.bound == expected.saved_bound
    assert totals.saved.known_count == expected.saved_known_count
    assert totals.saved.unknown_count == expected.saved_unknown_count
    assert totals.disk_bytes == expected.disk_bytes
    assert totals.exclusive_bytes == expected.exclusive_bytes
    assert totals.duplicate_bytes == expected.duplicate_bytes
    assert totals.exclusive_unknown_count == expected.exclusive_unknown_count
    severities = [finding.severity for one in present.values() for finding in one.findings]
    counted = (totals.critical_count, totals.warning_count, totals.notice_count)
    assert counted == tuple(severities.count(one) for one in (Severity.CRITICAL, Severity.WARNING, Severity.NOTICE))


def _totals(*summaries: RepositorySummary) -> RunningTotals:
    totals = RunningTotals()
    for summary in summaries:
        totals.add(summary)
    return totals


def _text(totals: RunningTotals, width: int = 200, moment: Moment = Moment()) -> str:  # noqa: B008 - a constant
    text = "".join(piece.text for piece in totals_line(totals, width, moment))
    assert len(text) <= width
    return text


MEMBER = row("m.git", role="member", saved_bytes=3 << 30, exclusive_bytes=1, duplicate_bytes=2 << 20)
POOL = row("p.git", role="pool", is_dedicated_pool=True, borrower_count=1, objects_bytes=1 << 30)


def test_line_says_what_pools_save_after_what_they_take() -> None:
    assert "2.00 GiB saved by pools" in _text(_totals(MEMBER, POOL))
    assert "3.00 GiB saved by pools" in _text(_totals(MEMBER))


def test_line_says_what_pools_cost_beyond_what_they_save() -> None:
    small = msgspec.structs.replace(MEMBER, saved_bytes=(1 << 30) - 797 * 1024)
    assert "  pools cost 797 KiB more" in _text(_totals(small, POOL))
    at_least = msgspec.structs.replace(small, saved_bound=Bound.LOWER)
    assert "  pools cost <=797 KiB more" in _text(_totals(at_least, POOL))
    unknown = msgspec.structs.replace(MEMBER, path=b"/srv/git/n.git", saved_bytes=None)
    assert "  pools cost 797 KiB more so far" in _text(_totals(small, POOL, unknown))


def test_nothing_is_said_of_pools_whose_members_are_not_measured_or_that_are_even() -> None:
    even = msgspec.structs.replace(MEMBER, saved_bytes=1 << 30)
    unknown = msgspec.structs.replace(MEMBER, saved_bytes=None)
    for rows in ([POOL], [POOL, unknown], [POOL, even], [row("a.git")]):
        text = _text(_totals(*rows))
        assert "saved" not in text
        assert "cost" not in text


@pytest.mark.parametrize(("bound", "sign"), [(Bound.UPPER, "<="), (Bound.LOWER, ">="), (Bound.UNKNOWN, "~")])
def test_saved_sum_bears_the_sign_of_what_it_is_made_of(bound: Bound, sign: str) -> None:
    assert f" {sign}3.00 GiB saved" in _text(_totals(msgspec.structs.replace(MEMBER, saved_bound=bound)))
    unknown = msgspec.structs.replace(MEMBER, path=b"/srv/git/n.git", saved_bytes=None)
    assert " >=3.00 GiB saved" in _text(_totals(MEMBER, unknown))


def test_findings_are_counted_not_rows() -> None:
    summary = row("a.git", State.CRITICAL, critical_count=2, warning_count=1, notice_count=1_200)
    text = _text(_totals(summary, row("b.git")))
    assert "findings ■ 2 critical  ▲ 1 warning  • 1,200 notices" in text


def test_unreadable_and_foreign_rows_are_counted_though_nothing_was_found() -> None:
    text = _text(_totals(row("a.git", State.UNREADABLE), row("b.git", State.FOREIGN)))
    assert "1 unreadable  1 foreign" in text


MARKED = _totals(*(row(f"m{number}.git", disk_bytes=1 << 30, exclusive_bytes=1 << 20) for number in range(3)))


def test_line_says_what_is_marked_which_jobs_there_are_and_how_many_pass() -> None:
    moment = Moment(fleet_count=2, passing_count=1, marked=MARKED, hidden_marked_count=2, jobs=JobCounts(1, 20, 3))
    text = _text(_totals(row("a.git", disk_bytes=2048)), moment=moment)
    assert text.startswith(" 1 of 2 repositories  of the 1:  1 store  2.00 KiB disk")
    assert "  ✓ 3 marked, 2 hidden 3.00 GiB disk  3.00 MiB exclusive in them  " in text
    assert text.endswith("jobs 1 running 20 queued 3 failed")


def test_nothing_is_summed_up_where_no_row_passes() -> None:
    assert _text(_totals(), moment=Moment(fleet_count=7)) == " 0 of 7 repositories"


def test_sums_that_are_not_there_yet_are_not_those_of_all() -> None:
    text = "".join(piece.text for piece in totals_line(None, 200, Moment(fleet_count=2, passing_count=1)))
    assert text == " 1 of 2 repositories"


def test_line_is_silent_of_what_there_is_not() -> None:
    text = _text(_totals(row("a.git")))
    for word in ("jobs", "marked", "of", "critical", "warning", "notice"):
        assert word not in text.split()


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (30, "repositories"),
        (60, "repositories critical"),
        (90, "repositories critical marked"),
        (110, "repositories critical ▲ marked"),
        (140, "repositories disk critical ▲ marked"),
        (200, "repositories disk critical ▲ marked jobs"),
    ],
)
def test_most_important_groups_come_in_first(width: int, words: str) -> None:
    moment = Moment(fleet_count=9, passing_count=8, marked=MARKED, jobs=JobCounts(1, 2, 3))
    text = _text(_totals(*fixed_summaries()), width, moment)
    words_of_fleet = text.replace("marked 3.00 GiB disk", "marked").split()
    assert [word for word in words_of_fleet if word in words.split()] == words.split()


GRAVE = row("a.git", State.UNREADABLE, critical_count=9, warning_count=26, notice_count=1)
SLIGHT = row("b.git", State.FOREIGN)


@pytest.mark.parametrize("width", range(20, 140))
def test_what_is_less_grave_never_stands_without_what_is_graver(width: int) -> None:
    text = _text(_totals(GRAVE, SLIGHT), width, Moment(jobs=JobCounts(0, 0, 5)))
    shown = [word in text for word in ("■", "unreadable", "▲", "•", "foreign")]
    assert shown == sorted(shown, reverse=True)
    assert ("findings" in text) == shown[0]


def test_words_that_signs_stand_for_leave_their_room_to_sums() -> None:
    totals = _totals(*fixed_summaries())
    assert _text(totals, 240).endswith("saved by pools  findings ■ 2 critical  ▲ 3 warnings  • 3 notices")
    assert _text(totals, 120).endswith("GiB exclusive  ~1.29 GiB saved  findings ■ 2 critical  ▲ 3  • 3")


def test_group_for_which_there_is_no_room_leaves_its_room_to_smaller_ones() -> None:
    moment = Moment(jobs=JobCounts(100, 200_000, 30))
    text = _text(_totals(*fixed_summaries()), 110, moment)
    assert "jobs" not in text
    assert "exclusive" not in text
    assert "foreign" in text


async def test_line_follows_filter_marks_and_jobs() -> None:
    rows = [row("one.git", disk_bytes=2048), row("two.git", disk_bytes=4096)]
    async with driven_fleet(rows, size=(160, 40)) as driven:
        assert " 2 repositories  2 stores  6.00 KiB disk" in driven.lines()[-2]
        await driven.press("slash", *"one", "enter", "space")
        assert " 1 of 2 repositories  of the 1:  1 store  2.00 KiB disk" in driven.lines()[-2]
        assert "✓ 1 marked 2.00 KiB disk" in driven.lines()[-2]
        await driven.happen(row("one.git", disk_bytes=1024), row("other-one.git", disk_bytes=3072))
        assert " 2 of 3 repositories  of the 2:  2 stores  4.00 KiB disk" in driven.lines()[-2]
        assert "✓ 1 marked 1.00 KiB disk" in driven.lines()[-2]
        await driven.happen(gone=[ROOT + b"/one.git"])
        assert " 1 of 2 repositories  of the 1:  1 store  3.00 KiB disk" in driven.lines()[-2]
        job = Job(number=1, kind=JobKind.SURVEY, path=None, state=JobState.RUNNING, asked_at_s=NOW_S)
        driven.source.happen().jobs[1] = job
        driven.app.flush()
        await driven.pilot.pause()
        assert "jobs 1 running" in driven.lines()[-2]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_said_covers_neither_the_sums_nor_the_keys(size: tuple[int, int]) -> None:
    async with driven_fleet([row("one.git", disk_bytes=2048)], size=size) as driven:
        before = driven.lines()[-2:]
        assert "1 repository" in before[0]
        driven.app.fleet_screen.say("a sentence " * 9)
        await until(lambda: "a sentence" in driven.text(), "it is said")
        assert driven.lines()[-2:] == before


async def test_sums_over_many_rows_follow_with_the_next_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panels, "_SUMMED_AT_ONCE", 1)
    rows = [row(f"{name}{number}.git", disk_bytes=1024) for name in ("one", "two") for number in range(4)]
    async with driven_fleet(rows, size=(160, 40)) as driven:
        asked_for: list[float] = []
        monkeypatch.setattr(driven.app.flushing, "_flush", lambda: None)
        monkeypatch.setattr(driven.app.flushing, "within", asked_for.append)
        # Each of the last two letters takes away one of the four rows that do not pass.
        await driven.press("slash", *"two")
        for is_last in (False, True):
            assert driven.lines()[-2] == " 4 of 8 repositories"
            asked_for.clear()
            driven.app.flush()
            await driven.pilot.pause()
            assert (FLUSH_INTERVAL_S in asked_for) is not is_last
        assert " 4 of 8 repositories  of the 4:  4 stores  4.00 KiB disk" in driven.lines()[-2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 1 << 40), min_size=9, max_size=9),
    st.lists(st.one_of(st.sets(st.integers(0, 8)), st.integers(0, 8)), max_size=12),
)
def test_sums_over_a_part_equal_those_made_from_nothing(sizes: list[int], steps: list[set[int] | int]) -> None:
    summaries = [row(f"{number}.git", disk_bytes=size) for number, size in enumerate(sizes)]
    rows = [FleetRow(summary) for summary in summaries]
    part, shown = PartSums(), set[int]()
    for step in steps:
        if isinstance(step, int):
            changed = msgspec.structs.replace(rows[step].summary, disk_bytes=7)
            part.changed(step, rows[step].summary, changed)
            rows[step].take(changed)
        else:
            shown = step
            assert part.follow(step, rows)
    assert part.totals.repository_count == len(shown)
    assert part.totals.disk_bytes == _totals(*(rows[number].summary for number in shown)).disk_bytes


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sets(st.integers(0, 8)), st.integers(1, 9)), min_size=1, max_size=8), st.booleans())
def test_sums_that_are_made_by_and_by_equal_those_made_at_once(
    steps: list[tuple[set[int], int]], knows_whole: bool
) -> None:
    rows = [FleetRow(row(f"{number}.git", disk_bytes=10**number)) for number in range(9)]
    whole = _totals(*(one.summary for one in rows)) if knows_whole else None
    part = PartSums()
    for shown, _ in steps[:-1]:
        part.follow(shown, rows, whole=whole, at_most=2)
    shown, at_most = steps[-1]
    rounds = 1
    while not part.follow(shown, rows, whole=whole, at_most=at_most):
        rounds += 1
    # Each power of ten stands in the sum once, or not at all.
    assert part.totals.disk_bytes == sum(10**number for number in shown)
    assert rounds <= max(-(-len(shown) // at_most), 1)
    assert whole is None or whole.disk_bytes == 111_111_111
