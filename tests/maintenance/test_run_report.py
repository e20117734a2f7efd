"""The report of a run: groups, counts, names and the exit code."""

from typing import Any

import pytest

from gitdash.errors import ExitCode
from gitdash.maintenance.run_report import report_lines, run_report
from gitdash.model.ledger import LedgerEntry, Outcome, Reason
from gitdash.model.task import Task


def entry(name: str, outcome: Outcome, reason: Reason | None = None, **changes: Any) -> LedgerEntry:
    values: dict[str, Any] = {
        "number": 1,
        "run": "r1",
        "action": "fetch",
        "remote": "origin",
        "path": b"/srv/" + name.encode(),
        "outcome": outcome,
        "reason": reason,
        "started_at_s": 0.0,
        "gitdash_version": "1",
        "git_version": "2.39.5",
        "process_id": 1,
        "process_started_at_s": 0.0,
        "host": "h",
    }
    return LedgerEntry(**(values | changes))


def test_actions_are_grouped_by_outcome_and_reason_with_the_failures_last() -> None:
    report = run_report(
        [
            entry("a", Outcome.FAILED, Reason.NETWORK),
            entry("b", Outcome.DONE),
            entry("c", Outcome.FAILED, Reason.DISK_FULL),
            entry("d", Outcome.FAILED, Reason.DISK_FULL),
            entry("e", Outcome.REFUSED, Reason.REFUSED),
            entry("f", Outcome.DONE),
        ]
    )
    assert [(group.outcome, group.reason, group.count) for group in report.groups] == [
        (Outcome.DONE, None, 2),
        (Outcome.REFUSED, Reason.REFUSED, 1),
        (Outcome.FAILED, Reason.DISK_FULL, 2),
        (Outcome.FAILED, Reason.NETWORK, 1),
    ]


def test_report_counts_alone_what_was_told_before() -> None:
    report = run_report([entry("a", Outcome.FAILED, Reason.HOST_KEY, sentence="unknown host key of h")])
    assert report_lines(report, names_actions=False) == ("1 action: failed (host key)",)


def test_group_names_the_first_paths_and_counts_the_rest() -> None:
    entries = [
        entry(f"r{number}", Outcome.FAILED, Reason.HOST_KEY, sentence="unknown host key of h") for number in range(9)
    ]
    report = run_report(reversed(entries), named_limit=2)
    assert report_lines(report) == (
        "9 actions: failed (host key): unknown host key of h",
        "  /srv/r0 (fetch origin)",
        "  /srv/r1 (fetch origin)",
        "  and 7 more",
    )


def test_what_is_said_of_several_is_said_once_and_of_most_first() -> None:
    said = ["b", "a", "b", "c", "b", "d"]
    entries = [
        entry(f"r{number}", Outcome.REFUSED, Reason.REFUSED, sentence=sentence) for number, sentence in enumerate(said)
    ]
    assert report_lines(run_report(entries, named_limit=2)) == (
        "6 actions: refused",
        "  3 of them: b",
        "    /srv/r0 (fetch origin)",
        "    /srv/r2 (fetch origin)",
        "    and 1 more",
        "  /srv/r1 (fetch origin): a",
        "  and 2 more",
    )


def test_lines_say_what_was_done_to_which_path_and_only_count_what_went_well() -> None:
    report = run_report(
        [
            entry("a", Outcome.DONE),
            entry("b", Outcome.NOTHING_TO_DO, action="maintain", remote=None, task=Task.BITMAP),
            entry("c\x1b", Outcome.TIMED_OUT, Reason.TIMED_OUT, action="maintain", remote=None, task=Task.PACK_REFS),
            entry("d", Outcome.SKIPPED, Reason.LOCK_HELD, sentence="held by 4711"),
        ]
    )
    assert report_lines(report) == (
        "1 action: done",
        "1 action: nothing to do",
        "1 action: skipped (lock held)",
        "  /srv/d (fetch origin): held by 4711",
        "1 action: timed out",
        r"  /srv/c\x1b (maintain pack-refs)",
    )


def test_run_of_nothing_says_so() -> None:
    assert report_lines(run_report([])) == ("nothing was started",)


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_place_in_the_report(outcome: Outcome) -> None:
    (group,) = run_report([entry("a", outcome)]).groups
    assert group.outcome is outcome


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ((), ExitCode.DONE),
        ((Outcome.DONE, Outcome.NOTHING_TO_DO), ExitCode.DONE),
        ((Outcome.DONE, Outcome.REFUSED), ExitCode.REFUSED),
        ((Outcome.REFUSED, Outcome.SKIPPED), ExitCode.FINDINGS),
        ((Outcome.SKIPPED, Outcome.DONE), ExitCode.FINDINGS),
        ((Outcome.REFUSED, Outcome.FAILED), ExitCode.FINDINGS),
        ((Outcome.TIMED_OUT,), ExitCode.FINDINGS),
        ((Outcome.CANCELLED, Outcome.DONE), ExitCode.FINDINGS),
        ((Outcome.CUT_OFF,), ExitCode.FINDINGS),
        ((Outcome.RUNNING,), ExitCode.FINDINGS),
    ],
)
def test_exit_code_is_1_for_a_failure_and_3_for_refusals_alone(outcomes: tuple[Outcome, ...], code: ExitCode) -> None:
    report = run_report([entry(str(number), outcome) for number, outcome in enumerate(outcomes)])
    assert report.exit_code is code
