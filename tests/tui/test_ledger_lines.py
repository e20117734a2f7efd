"""What the ledger says as lines: figures, phases that are the whole wall time, reasons, and no line too wide."""

import msgspec
import pytest
from rich.cells import cell_len

from gitdash.model.job import Job, JobKind, JobState
from gitdash.model.ledger import LedgerEntry, Outcome, Phase, Reason, ReferenceChange, StoreFigures
from gitdash.model.task import Task
from gitdash.tui.drawing.cells import Line, line_length
from gitdash.tui.drawing.filters import can_write, filters_for
from gitdash.tui.jobs.entries import KeptLines
from gitdash.tui.jobs.lines import JobsView, jobs_page
from gitdash.tui.ledger.facts import fact_groups, outcome_piece
from gitdash.tui.ledger.lines import detail_lines, told_lines
from gitdash.tui.ledger.phase_bar import phase_groups
from gitdash.tui.ledger.run_line import run_groups
from tests.tui.fixture_fleet import NOW_S
from tests.tui.fixture_ledger import (
    CHANGES,
    COMMAND,
    CUT_OFF,
    ENTRIES,
    FETCH,
    LOCKED,
    LOOSE,
    PHASES,
    REFUSED_LOGIN,
    REPACK,
    entry,
    hostile_entry,
)
from tests.tui.repository_pages import HOSTILE_TEXTS

WIDTHS = range(60, 201, 7)
HOSTILE = (*HOSTILE_TEXTS[:4], "\x1b]52;c;cHduZWQ=\x07", "a\nb\rc", "\u202efdp.tig", "\x9b31m")


def text_of(line: Line) -> str:
    return "".join(piece.text for piece in line)


def texts(lines: list[Line]) -> list[str]:
    return [text_of(line).strip() for line in lines]


def ended(number: int, *entries: LedgerEntry, kind: JobKind = JobKind.FETCH, **changed: object) -> Job:
    is_good = all(one.outcome.is_good for one in entries)
    made = Job(
        number=number,
        kind=kind,
        path=b"/srv/web.git",
        state=JobState.DONE if is_good else JobState.FAILED,
        asked_at_s=NOW_S - 70,
        started_at_s=NOW_S - 64,
        ended_at_s=NOW_S - 60,
        reason=None if is_good else next(one.sentence for one in entries if not one.outcome.is_good),
        entries=entries,
    )
    return msgspec.structs.replace(made, **changed)


def page_text(jobs: list[Job], width: int = 120, open_numbers: tuple[int, ...] = ()) -> str:
    view = JobsView(
        jobs=jobs,
        name_of=lambda job: (job.path or b"all").decode(),
        shown_keys={},
        now_s=NOW_S,
        open_numbers=open_numbers,
    )
    page, _ = jobs_page(view, width)
    return "\n".join(map(text_of, page.lines))


def test_facts_of_a_fetch_are_what_came_what_changed_and_what_is_other_than_before() -> None:
    assert texts(fact_groups(FETCH)) == [
        "received 12.0k objects, 4.00 MiB",
        "references 1 new, 1 updated, 1 forced, 2 pruned",
        "packs 3 -> 4",
        "in packs 5.00 MiB -> 9.00 MiB",
        "disk 6.00 MiB -> 10.0 MiB",
        "all references 40 -> 39",
    ]


def test_more_changes_than_are_kept_are_counted() -> None:
    many = msgspec.structs.replace(FETCH, reference_change_count=21_000, before=None, after=None)
    assert texts(fact_groups(many))[1] == "references 21,000; the first 5 of them are kept"


def test_facts_of_a_task_have_the_files_it_removed() -> None:
    assert texts(fact_groups(LOOSE))[-1] == "removed 2 files"
    assert fact_groups(REFUSED_LOGIN) == []


def test_difference_too_small_for_three_digits_is_shown_to_the_last() -> None:
    before = StoreFigures(pack_bytes=5 << 30, loose_count=655_136)
    after = StoreFigures(pack_bytes=(5 << 30) + 1, loose_count=655_139)
    assert texts(fact_groups(entry(before=before, after=after))) == [
        "in packs 5,368,709,120 B -> 5,368,709,121 B",
        "loose objects 655,136 -> 655,139",
    ]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (FETCH, "done"),
        (REFUSED_LOGIN, "failed (needs a password)"),
        (LOCKED, "skipped (lock held)"),
        (CUT_OFF, "cut off"),
        (entry(outcome=Outcome.TIMED_OUT, reason=Reason.TIMED_OUT), "timed out"),
    ],
)
def test_outcome_is_a_word_with_a_reason_that_says_more(made: LedgerEntry, text: str) -> None:
    assert outcome_piece(made).text == text


def test_every_outcome_has_its_tone() -> None:
    assert {outcome_piece(entry(outcome=outcome)).text for outcome in Outcome} == set(Outcome)


def test_parts_of_the_bar_are_the_phases_in_proportion() -> None:
    bar, *legend = phase_groups(FETCH, 40)
    # 0.4, 0.1, 2, 1 and 0.5 of 4 s
    assert text_of(bar) == "░" * 4 + "▒" + "█" * 20 + "▓" * 10 + "━" * 5
    assert texts(legend) == [
        "░ connect 400 ms",
        "▒ negotiation 100 ms",
        "█ receive 2.0 s",
        "▓ index 1.0 s",
        "━ connectivity check 500 ms",
    ]


@pytest.mark.parametrize("width", [6, 20, 40])
def test_no_phase_is_too_short_to_be_seen_and_the_bar_has_its_width(width: int) -> None:
    phases = (*(Phase(name=phase.name, elapsed_s=1e-6) for phase in PHASES), Phase(name="other", elapsed_s=9.0))
    bar = phase_groups(entry(phases=phases, elapsed_s=9.000_005), width)[0]
    assert len(text_of(bar)) == width
    assert all(piece.text for piece in bar)
    assert len({piece.text[0] for piece in bar}) == 6


def test_signs_of_the_phases_differ_in_ascii_too() -> None:
    phases = (*PHASES, Phase(name="other", elapsed_s=1.0))
    bar = phase_groups(entry(phases=phases, elapsed_s=5.0), 40)[0]
    (ascii_filter,) = filters_for(has_colours=True, encoding="ascii")
    signs = [ascii_filter._encodable(piece.text)[0] for piece in bar]  # type: ignore[attr-defined]
    assert len(set(signs)) == 6
    assert "?" not in signs
    assert all(can_write(sign, "ascii") for sign in signs)


def test_without_phases_there_is_no_bar() -> None:
    assert phase_groups(LOCKED) == []
    assert phase_groups(entry(phases=(Phase(name="connect", elapsed_s=0.0),))) == []


def test_what_is_told_is_the_sentence_what_may_be_left_and_what_was_chosen() -> None:
    told = texts(told_lines(CUT_OFF, 120, 4, is_whole=False))
    assert told == [
        "gitdash ended in the middle of it",
        "may have left objects/pack/tmp_pack_Xy12, objects/maintenance.lock, gc.pid and 1 more",
    ]
    assert texts(told_lines(FETCH, 200, 4, is_whole=False))[-2:] == list(FETCH.choices)


def test_sentence_of_what_went_well_is_told_where_nothing_else_says_it() -> None:
    assert FETCH.sentence not in texts(told_lines(FETCH, 200, 4, is_whole=False))
    assert texts(told_lines(FETCH, 200, 4, is_whole=True))[0] == FETCH.sentence
    verified = entry(action="maintain", task=Task.VERIFY, sentence="everything reachable is there")
    assert texts(told_lines(verified, 200, 4, is_whole=False)) == ["everything reachable is there"]
    same = entry(outcome=Outcome.NOTHING_TO_DO, sentence="no reference changed")
    assert texts(told_lines(same, 200, 4, is_whole=False)) == ["no reference changed"]
    reclaimed = entry(action="maintain", task=Task.RECLAIM, sentence="no object was dropped", removed=("a",))
    assert texts(told_lines(reclaimed, 200, 4, is_whole=False)) == ["no object was dropped"]


def test_preview_says_what_would_change() -> None:
    previewed = entry(reference_changes=CHANGES[:2], reference_change_count=2, is_preview=True)
    assert texts(fact_groups(previewed)) == ["would change 1 new, 1 updated"]


def test_details_are_references_files_and_commands_without_what_is_the_same_in_each() -> None:
    details = texts(detail_lines(FETCH, 160, 4))
    assert details[0].split() == ["new", "refs/remotes/origin/topic", "none", "->", "a" * 12]
    assert details[3].split() == ["pruned", "refs/remotes/origin/gone", "f" * 12, "->", "none"]
    assert details[5:7] == ["git fetch --prune origin '+refs/heads/*:refs/x/*' +1 -c", "4.0 s, exit 0"]
    assert details[-1] == "by gitdash 0.1.0, git 2.47.3, process 4242 on build7"
    failed = texts(detail_lines(REFUSED_LOGIN, 160, 4))
    assert failed[1:3] == ["700 ms, exit 128", REFUSED_LOGIN.commands[0].stderr.strip()]
    assert texts(detail_lines(LOOSE, 160, 4))[:2] == ["removed  objects/17/aa", "removed  objects/17/bb"]
    assert "left     packed-refs.lock" in texts(detail_lines(CUT_OFF, 160, 4))


def test_command_that_went_well_is_quoted_only_where_it_complains() -> None:
    command = msgspec.structs.replace(COMMAND, stderr="Receiving objects: 100% (3/3), done.\nwarning: it is slow\n")
    details = texts(detail_lines(entry(commands=(command,)), 160, 4))
    assert "warning: it is slow" in details
    assert not any("Receiving" in line for line in details)


def test_fifty_references_are_named_and_the_rest_counted() -> None:
    changes = tuple(ReferenceChange(name=f"refs/heads/{number}", kind="new", new="a") for number in range(51))
    details = texts(detail_lines(entry(reference_changes=changes, reference_change_count=1_200), 120, 4))
    assert details[49].startswith("new      refs/heads/49 ")
    assert details[50] == "and 1,150 more"


def test_files_that_were_removed_are_counted_whether_they_are_named_or_not() -> None:
    names = tuple(f"objects/17/{number:03}" for number in range(1_000))
    swept = entry(removed=names, removed_count=1_200)
    assert texts(fact_groups(swept)) == ["removed 1,200 files"]
    assert texts(detail_lines(swept, 120, 4))[50] == "and 1,150 more"


def test_objects_that_were_dropped_are_told_as_objects() -> None:
    reclaimed = entry(dropped_ids=("17" * 20,), dropped_count=1)
    assert texts(fact_groups(reclaimed)) == ["dropped 1 object"]
    assert texts(detail_lines(reclaimed, 120, 4))[0] == f"dropped  {'17' * 20}"


def test_run_is_summed_up_by_outcome_with_reasons() -> None:
    done = [entry(number) for number in range(12)]
    full = msgspec.structs.replace(REFUSED_LOGIN, reason=Reason.DISK_FULL)
    login = msgspec.structs.replace(REFUSED_LOGIN, reason=Reason.AUTHENTICATION)
    groups = run_groups([*done, full, login, LOCKED, entry(outcome=Outcome.REFUSED, reason=Reason.REFUSED)])
    assert texts(groups) == [
        "12 done",
        "1 skipped (lock held)",
        "1 refused",
        "2 failed (1 authentication, 1 disk full)",
    ]


def test_jobs_started_together_have_a_report_and_single_ones_none() -> None:
    together = [ended(1, FETCH), ended(2, REFUSED_LOGIN), ended(3, entry(9)), ended(4, entry(10, run="other"))]
    text = page_text(together)
    assert "What was started together" in text
    assert "3 fetches, 1m ago:   2 done   1 failed (needs a password)" in text
    assert text.index("3 fetches") < text.index("Failed 1")
    assert "What was started together" not in page_text([ended(4, entry(10, run="other"))])


def test_run_that_goes_on_says_how_many_of_how_many_have_ended() -> None:
    run = entry(1).run
    jobs = [ended(number, entry(number)) for number in (1, 2)]
    waiting = {"state": JobState.QUEUED, "entries": (), "run": run, "started_at_s": None, "ended_at_s": None}
    going_on = [msgspec.structs.replace(jobs[0], number=number, **waiting) for number in (3, 4, 5)]
    assert "2 of 5 fetches, " in page_text([*jobs, *going_on])
    assert "1 of 4 fetches, " in page_text([jobs[0], *going_on])
    assert "What was started together" not in page_text(going_on)


def test_ended_fetch_says_what_came_of_it_once() -> None:
    text = page_text([ended(1, FETCH)])
    assert text.count("origin") == 1
    assert "received 12.0k objects, 4.00 MiB" in text
    assert "alternate refs suppressed: the lender does not have what is wanted" in text
    assert "━ connectivity check 500 ms" in text
    failed = page_text([ended(2, REFUSED_LOGIN)])
    assert failed.count(REFUSED_LOGIN.sentence) == 1
    assert "origin  failed (needs a password)" in failed


def test_tasks_of_maintenance_stand_below_one_another_with_their_seconds() -> None:
    text = page_text([ended(1, LOOSE, REPACK, LOCKED, kind=JobKind.MAINTAIN)], width=200)
    places = [
        text.index(part)
        for part in (
            "loose-objects  done  3.2 s   packs 37 -> 38   loose objects 6,700 -> 0",
            "geometric-repack  failed (disk full)  11.0 s",
            REPACK.sentence,
            "pack-refs  skipped (lock held)  10 ms",
            LOCKED.sentence,
        )
    ]
    assert places == sorted(places)


def test_details_stand_below_jobs_that_are_open_only() -> None:
    jobs = [ended(1, FETCH), ended(2, entry(7, commands=FETCH.commands))]
    assert page_text(jobs).count("git fetch") == 0
    assert page_text(jobs, open_numbers=(1,)).count("git fetch") == 1
    assert "refs/remotes/origin/topic" in page_text(jobs, open_numbers=(1,))


def running(kind: JobKind, step: str, **counts: object) -> Job:
    made = Job(number=1, kind=kind, path=b"/srv/web.git", state=JobState.RUNNING, step=step, asked_at_s=NOW_S - 9)
    return msgspec.structs.replace(made, started_at_s=NOW_S - 9, step_started_at_s=NOW_S - 9, **counts)


def test_running_fetch_says_phase_and_counts_of_its_remote() -> None:
    receiving = running(JobKind.FETCH, "receiving objects", done_count=12_034, known_count=40_000, what="origin")
    text = page_text([receiving])
    assert "origin: receiving objects, 12,034 of 40,000" in text
    assert " 30%" in text
    counting = running(JobKind.FETCH, "counting objects", done_count=512, known_count=None)
    assert "counting objects, 512 " in page_text([counting])
    assert "origin: waiting for the server " in page_text([running(JobKind.FETCH, "", what="origin")])


def test_waiting_job_says_which_remote_or_tasks_it_is_about() -> None:
    queued = Job(
        number=1, kind=JobKind.FETCH, path=b"/srv/web.git", what="upstream", state=JobState.QUEUED, asked_at_s=NOW_S - 9
    )
    assert "upstream  asked 9s ago" in page_text([queued])


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_an_ended_job_is_wider_than_the_terminal(width: int) -> None:
    jobs = [ended(number, one) for number, one in enumerate(ENTRIES, 1)]
    jobs.append(ended(90, *ENTRIES, kind=JobKind.MAINTAIN))
    text = page_text(jobs, width, open_numbers=tuple(range(100)))
    assert max(map(cell_len, text.split("\n"))) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_a_running_job_is_wider_than_the_terminal(width: int) -> None:
    step = "geometric-repack: join packs until each has twice the objects of the next smaller, and write a bitmap"
    jobs = [
        running(JobKind.MAINTAIN, step, done_count=1, known_count=5),
        running(JobKind.FETCH, "receiving objects, 3.40 MiB", done_count=9, known_count=9, what="x" * 300),
    ]
    assert max(map(cell_len, page_text(jobs, width).split("\n"))) <= width


@pytest.mark.safety
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_of_a_hostile_entry_reaches_the_terminal_as_it_is(text: str, width: int) -> None:
    made = hostile_entry(text)
    lines = [
        *told_lines(made, width, 4, is_whole=True),
        *detail_lines(made, width, 4),
        *fact_groups(made),
        *phase_groups(made),
    ]
    assert all(piece.text.isprintable() for line in lines for piece in line)
    page = page_text([ended(1, made)], width, open_numbers=(1,))
    assert all(line.isprintable() for line in page.split("\n"))
    assert max(map(line_length, [*told_lines(made, width, 4, is_whole=True)])) <= width


def test_lines_that_are_kept_are_those_of_the_width_and_of_what_is_open() -> None:
    jobs = [ended(1, FETCH), ended(2, REFUSED_LOGIN)]
    kept = KeptLines()
    for width, open_numbers in ((80, ()), (120, ()), (120, (1,)), (120, ()), (80, (2,))):
        pages = [
            jobs_page(
                JobsView(
                    jobs=jobs,
                    name_of=lambda job: "x",
                    shown_keys={},
                    now_s=NOW_S,
                    open_numbers=open_numbers,
                    kept_lines=lines,
                ),
                width,
            )
            for lines in (kept, KeptLines())
        ]
        assert pages[0] == pages[1]
        jobs[1] = msgspec.structs.replace(jobs[1], entries=(entry(20, run=str(width)),))
