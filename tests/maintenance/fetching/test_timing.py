"""Phases from a trace: made ones with times that can be added by hand, and that of a real fetch."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from gitdash.maintenance.fetching.timing import PHASES, TraceFacts, phases, read_trace
from gitdash.model.ledger import Phase

ROOT = "root"
CHILD = "root/child"
START_S = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def event(at_s: float, kind: str, sid: str = ROOT, **more: Any) -> bytes:
    seconds = f"{int(at_s):02}.{round(at_s % 1 * 1e6):06}"
    return json.dumps({"event": kind, "sid": sid, "time": f"2026-01-01T00:00:{seconds}Z", **more}).encode() + b"\n"


def region(start_s: float, end_s: float, category: str, label: str, sid: str = ROOT) -> list[tuple[float, bytes]]:
    return [
        (start_s, event(start_s, "region_enter", sid, category=category, label=label)),
        (end_s, event(end_s, "region_leave", sid, category=category, label=label)),
    ]


def child(start_s: float, end_s: float, number: int, *argv: str) -> list[tuple[float, bytes]]:
    return [
        (start_s, event(start_s, "child_start", child_id=number, argv=["git", *argv])),
        (end_s, event(end_s, "child_exit", child_id=number)),
    ]


def lines(*parts: list[tuple[float, bytes]]) -> list[bytes]:
    return [line for _, line in sorted((pair for part in parts for pair in part), key=lambda pair: pair[0])]


WHOLE = lines(
    [(0.0, event(0.0, "start"))],
    region(0.5, 2.5, "fetch", "remote_refs"),
    region(3.0, 9.0, "fetch", "fetch_refs"),
    region(3.5, 4.0, "fetch-pack", "negotiation_v2"),
    child(5.0, 8.5, 1, "index-pack", "--stdin", "--pack_header=2,120"),
    [(5.25, event(5.25, "cmd_name", CHILD, name="index-pack", hierarchy="fetch/index-pack"))],
    region(5.5, 6.5, "progress", "Receiving objects", CHILD),
    [(6.25, event(6.25, "data", CHILD, category="progress", key="total_bytes", value="4567"))],
    region(7.0, 8.0, "progress", "Resolving deltas", CHILD),
    child(9.25, 10.0, 2, "rev-list", "--objects", "--stdin"),
)


def times(facts: TraceFacts, elapsed_s: float) -> dict[str, float]:
    return {phase.name: pytest.approx(phase.elapsed_s) for phase in phases(facts, elapsed_s)}


def test_each_phase_takes_the_time_between_its_events() -> None:
    facts = read_trace(WHOLE, ended_at_s=START_S + 12)
    assert times(facts, 12.0) == {
        "connect": 2.0,
        "negotiation": 1.0,
        "receive": 4.0,
        "index": 1.0,
        "connectivity check": 0.75,
        "other": 3.25,
    }
    assert (facts.object_count, facts.pack_bytes, facts.was_unpacked) == (120, 4567, False)


def test_sum_is_the_time_that_passed_even_if_the_trace_says_more() -> None:
    result = phases(read_trace(WHOLE, ended_at_s=START_S + 12), 4.0)
    assert sum(phase.elapsed_s for phase in result) == pytest.approx(4.0)
    assert all(phase.elapsed_s >= 0 for phase in result)


@pytest.mark.parametrize("cut", range(len(WHOLE) + 1))
def test_trace_that_ends_anywhere_is_read(cut: int) -> None:
    result = phases(read_trace(WHOLE[:cut], ended_at_s=START_S + 12), 12.0)
    assert sum(phase.elapsed_s for phase in result) == pytest.approx(12.0)
    assert {phase.name for phase in result} <= set(PHASES)


@pytest.mark.parametrize(
    ("at_s", "phase"),
    [
        (1.0, "connect"),
        (3.75, "negotiation"),
        (4.5, "receive"),
        (6.0, "receive"),
        (7.5, "index"),
        (9.5, "connectivity check"),
    ],
)
def test_fetch_that_is_killed_spent_its_last_seconds_in_the_phase_that_it_was_in(at_s: float, phase: str) -> None:
    told = [line for line in WHOLE if _second(line) <= at_s]
    # it took ten seconds to die
    facts = read_trace(told, ended_at_s=START_S + at_s + 10)
    assert facts.unfinished == phase
    assert times(facts, at_s + 10)[phase].expected >= 10
    assert times(facts, at_s + 10)["other"].expected < 2


def _second(line: bytes) -> float:
    return datetime.fromisoformat(json.loads(line)["time"]).timestamp() - START_S


def test_fetch_that_failed_by_itself_spent_the_time_until_then_in_its_phase() -> None:
    told = lines(
        [(0.0, event(0.0, "start"))],
        [(0.5, event(0.5, "region_enter", category="fetch", label="remote_refs"))],
        [(3.5, event(3.5, "exit", code=128))],
    )
    facts = read_trace(told, ended_at_s=START_S + 4)
    assert facts.unfinished is None
    assert times(facts, 4.0) == {"connect": 3.0, "other": 1.0}


def test_no_trace_is_other() -> None:
    assert phases(read_trace([], ended_at_s=START_S + 2), 2.0) == (Phase(name="other", elapsed_s=2.0),)


def test_processes_of_the_other_side_on_this_machine_do_not_count() -> None:
    theirs = lines(
        [(1.0, event(1.0, "cmd_name", "root/up", name="upload-pack", hierarchy="fetch/upload-pack"))],
        region(1.0, 3.0, "progress", "Resolving deltas", "root/up"),
        [(2.0, event(2.0, "data", "root/up", category="progress", key="total_bytes", value="9"))],
    )
    facts = read_trace([event(0.0, "start"), *theirs], ended_at_s=START_S + 4)
    assert (facts.intervals, facts.pack_bytes) == ([], None)


@pytest.mark.safety
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"event": "region_enter", "sid": 1, "time": "2026-01-01T00:00:00Z"}',
        b'{"event": "region_enter", "sid": "a", "time": "never"}',
        b'{"event": "child_start", "sid": "root", "time": "2026-01-01T00:00:00Z", "argv": "x", "child_id": [1]}',
        b'{"event": "data", "sid": "root", "time": "2026-01-01T00:00:00Z", "key": "total_bytes", "value": "'
        + b"9" * 99,
        b"[" * 100_000,
    ],
)
def test_bad_lines_are_passed_over(line: bytes) -> None:
    assert read_trace([line, line], ended_at_s=START_S).intervals == []
