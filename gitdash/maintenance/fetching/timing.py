"""How long the parts of a fetch took, and what came, from Trace2.

Source: api-trace2 "Event Format" (technical documentation of git 2.39 to 2.55), and builtin/fetch.c, fetch-pack.c,
progress.c, which name the regions. Read leniently: what is not there is part of `other`. Of a trace only times, counts
and labels are taken; it holds the URL, too, and is removed with the folder that it lies in.

    phase                 what
    `connect`             region fetch/remote_refs: connecting, and the list of the remote's references; `ls-remote`
    `negotiation`         region fetch/fetch_refs until the end of fetch-pack/negotiation_v2 or negotiation_v0_v1
    `receive`             the rest of that region: the server at work, and the transfer
    `index`               in `index-pack`, the progress of resolving deltas
    `connectivity check`  `rev-list` run by the fetch
    `other`               starting, updating references, ending; in the ledger also the looks at files before and after

What had begun when git was stopped, or gave up, counts until then.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from gitdash.model.ledger import Phase

OTHER: Final = "other"
PHASES: Final = ("connect", "negotiation", "receive", "index", "connectivity check", OTHER)

_PRIORITY: Final = ("connectivity check", "index", "negotiation", "connect", "receive")
"""Where two are under way at once, time counts for the first of these."""
_REGIONS: Final = {
    ("fetch", "remote_refs"): "connect",
    ("fetch", "fetch_refs"): "receive",
    ("progress", "Resolving deltas"): "index",
}
_MAXIMUM_LINES: Final = 200_000
_TAKEN: Final = re.compile(
    rb'"event"\s*:\s*"(?:start|cmd_name|child_start|child_exit|exit)"'
    rb'|"(?:remote_refs|fetch_refs|negotiation_\w+|Resolving deltas|total_bytes)"'
)
"""In each line that says something here; the others, two of three, are not decoded."""


@dataclass(slots=True)
class TraceFacts:
    """What a trace tells."""

    intervals: list[tuple[float, float, str]] = field(default_factory=list)
    """Beginning, end and phase; times on the clock of the trace."""
    object_count: int | None = None
    """Of the packs that came; None if none came."""
    pack_bytes: int | None = None
    """Of those that were kept as packs; None if none was."""
    was_unpacked: bool = False
    """Some came as a pack and were written as loose objects."""
    unfinished: str | None = None
    """The phase in which git was stopped; None if it ended by itself."""


def read_trace(lines: Iterable[bytes], *, ended_at_s: float) -> TraceFacts:
    """Return what the lines of GIT_TRACE2_EVENT tell; bad lines are passed over.

    `ended_at_s` is when git was gone, in seconds since the epoch: what it was at is not in the trace if it was killed.
    """
    reader = _Reader()
    for event in _events(lines):
        reader.take(event)
    reader.end(ended_at_s)
    return reader.facts


def _events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines):
        if number >= _MAXIMUM_LINES:
            return
        if not _TAKEN.search(line):
            continue
        try:
            event = msgspec.json.decode(line)
            event["at_s"] = datetime.fromisoformat(event["time"]).timestamp()
        except (msgspec.DecodeError, ValueError, KeyError, TypeError, RecursionError):
            continue
        if isinstance(event.get("sid"), str):
            yield event


class _Reader:
    """Follows the first process and, of the others, those that it started to take in what comes."""

    def __init__(self) -> None:
        self.facts = TraceFacts()
        self._root: str | None = None
        self._open: dict[tuple[str, str, str], float] = {}
        self._children: dict[str, float] = {}
        self._takers: set[str] = set()
        self._fetching_since_s: float | None = None

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        process = event["sid"]
        self._root = self._root or process
        kind = event.get("event")
        if kind == "cmd_name" and event.get("hierarchy") in {"fetch/index-pack", "fetch/unpack-objects"}:
            self._takers.add(process)
        elif kind in {"region_enter", "region_leave"}:
            self._region(process, event, is_begin=kind == "region_enter")
        elif process == self._root and kind in {"child_start", "child_exit"}:
            self._child(event, is_begin=kind == "child_start")
        elif process == self._root and kind == "exit":
            # what failed does not leave the regions that it was in
            self._leave_all(event["at_s"])
        elif kind == "data" and process in self._takers and event.get("key") == "total_bytes":
            self.facts.pack_bytes = (self.facts.pack_bytes or 0) + _number(event.get("value"))

    def end(self, ended_at_s: float) -> None:
        """Let what is still open last until git was gone."""
        begun = len(self.facts.intervals)
        self._leave_all(ended_at_s)
        left = {phase for _, _, phase in self.facts.intervals[begun:]}
        self.facts.unfinished = next((phase for phase in _PRIORITY if phase in left), None)

    def _leave_all(self, at_s: float) -> None:
        for process, category, label in list(self._open):
            self._leave(process, category, label, at_s)
        for identity in list(self._children):
            self._child_ends(identity, at_s)

    def _region(self, process: str, event: dict[str, Any], *, is_begin: bool) -> None:
        category, label = str(event.get("category")), str(event.get("label"))
        if process != self._root and not (process in self._takers and category == "progress"):
            return
        at_s = event["at_s"]
        if is_begin:
            if (category, label) == ("fetch", "fetch_refs"):
                self._fetching_since_s = at_s
            self._open[process, category, label] = at_s
        else:
            self._leave(process, category, label, at_s)

    def _leave(self, process: str, category: str, label: str, at_s: float) -> None:
        began_s = self._open.pop((process, category, label), None)
        phase = _REGIONS.get((category, label))
        if category == "fetch-pack" and label.startswith("negotiation_") and began_s is not None:
            # what comes before it in the same region marks what both have
            began_s, phase = self._fetching_since_s or began_s, "negotiation"
        if phase is not None and began_s is not None:
            self.facts.intervals.append((began_s, max(began_s, at_s), phase))

    def _child(self, event: dict[str, Any], *, is_begin: bool) -> None:
        identity = str(event.get("child_id"))
        if not is_begin:
            self._child_ends(identity, event["at_s"])
            return
        argv = event.get("argv")
        words = [str(word) for word in argv[:20]] if isinstance(argv, list) else []
        if "rev-list" in words[:3]:
            self._children[identity] = event["at_s"]
        elif {"unpack-objects", "index-pack"} & set(words[:3]):
            self._incoming(words)

    def _child_ends(self, identity: str, at_s: float) -> None:
        began_s = self._children.pop(identity, None)
        if began_s is not None:
            self.facts.intervals.append((began_s, max(began_s, at_s), "connectivity check"))

    def _incoming(self, words: list[str]) -> None:
        header = next((word for word in words if word.startswith("--pack_header=")), "")
        count = _number(header.rpartition(",")[2])
        self.facts.object_count = (self.facts.object_count or 0) + count
        self.facts.was_unpacked |= "unpack-objects" in words


def _number(text: object) -> int:
    """Return a count; 0 for what is none."""
    digits = str(text)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else 0


def phases(facts: TraceFacts, elapsed_s: float) -> tuple[Phase, ...]:
    """Return the phases that took any time, in the order in which they begin; their sum is `elapsed_s`."""
    totals = dict.fromkeys(PHASES, 0.0)
    bounds = sorted({bound for begin, end, _ in facts.intervals for bound in (begin, end)})
    for begin, end in itertools.pairwise(bounds):
        under_way = {phase for start, stop, phase in facts.intervals if start <= begin and end <= stop}
        first = next((phase for phase in _PRIORITY if phase in under_way), None)
        if first is not None:
            totals[first] += end - begin
    measured_s = sum(totals.values())
    if measured_s > elapsed_s:
        # the two clocks are not the same
        totals = {phase: total_s * elapsed_s / measured_s for phase, total_s in totals.items()}
        measured_s = elapsed_s
    totals[OTHER] = elapsed_s - measured_s
    return tuple(Phase(name=name, elapsed_s=total_s) for name, total_s in totals.items() if total_s > 0)
