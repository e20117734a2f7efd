"""The order of actions: which may start next, and what the others wait for.

Writers of one family stand in a lane, the first first, and so do readers of one repository. Lanes that keep the same
host and volume busy form a group. A lane whose turn it is, and that may not start, is put aside at the action that it
waits for, and comes back when that one is over: nothing behind it waits, and nothing is looked at twice for one reason.
So an action goes before all later ones that need the same, but not before one that needs less; a writer that was
overtaken too often holds back later writers of its family until it had its turn.

Pure: no thread, no clock. `queue` starts what this module chooses.
"""

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

from gitdash.maintenance.claims import Claims
from gitdash.maintenance.pacing import HostPace

OVERTAKEN_LIMIT: Final = 8
"""A writer whose family meets several others may find one of them busy at each moment. So many later ones go before it,
twice what runs at once by default; then it is next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How much is done at the same time."""

    jobs: int = 4
    """Actions in all."""
    per_host: int = 2
    """Actions that talk to the same host."""
    per_volume: int = 2
    """Actions that keep the same volume busy."""
    host_pause_s: float = 0.2
    """Between the starts of two actions on the same host."""


@dataclass(slots=True, eq=False)
class Turn:
    """One action in the schedule."""

    claims: Claims
    number: int
    """Its place in the order of arrival."""
    is_over: bool = False
    """It ended, or was taken out before it started."""
    lanes_aside: "dict[_Lane, None]" = field(default_factory=dict)
    """What waits until it is over."""


_Name = TypeVar("_Name", str, int)
_GroupKey = tuple[str | None, int | None]
_LaneKey = tuple[_GroupKey, frozenset[bytes] | bytes]


@dataclass(slots=True, eq=False)
class _Lane:
    key: _LaneKey
    family: frozenset[bytes]
    """Empty for readers."""
    turns: deque[Turn] = field(default_factory=deque)
    is_in_group: bool = False
    """False if it is put aside, or empty."""
    overtaken_count: int = 0

    def first(self) -> Turn | None:
        """Return the first that was not taken out."""
        while self.turns and self.turns[0].is_over:
            self.turns.popleft()
        return self.turns[0] if self.turns else None


class Schedule:
    """What waits and what runs. Not for several threads at once."""

    __slots__ = (
        "_due",
        "_groups",
        "_hosts",
        "_lanes",
        "_limits",
        "_number",
        "_paces",
        "_running",
        "_volumes",
        "waiting_count",
    )

    def __init__(self, limits: QueueLimits) -> None:
        self._limits = limits
        self._number = 0
        self._groups: dict[_GroupKey, list[tuple[int, _Lane]]] = {}
        self._lanes: dict[_LaneKey, _Lane] = {}
        self._due: list[_Lane] = []
        self._running: list[Turn] = []
        self._hosts: dict[str, int] = {}
        self._volumes: dict[int, int] = {}
        self._paces: dict[str, HostPace] = {}
        self.waiting_count = 0
        """Actions that neither started nor were taken out."""

    def add(self, claims: Claims) -> Turn:
        """Put an action behind all others."""
        self._number += 1
        turn = Turn(claims, self._number)
        key: _LaneKey = ((claims.host, claims.volume), claims.family if claims.writes else claims.repository)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane(key, claims.family if claims.writes else frozenset())
        lane.turns.append(turn)
        self.waiting_count += 1
        self._offer(lane)
        return turn

    def drop(self, turn: Turn) -> None:
        """Take out an action that did not start."""
        self.waiting_count -= 1
        self._finish(turn)

    def start_next(self, now_s: float) -> Turn | None:
        """Return the action that starts now; None if none may."""
        while len(self._running) < self._limits.jobs:
            key = min(self._open_groups(now_s), key=lambda key: self._groups[key][0][0], default=None)
            if key is None:
                return None
            turn = self._take(self._next_lane(key))
            if turn is not None:
                self._begin(turn, now_s)
                return turn
        return None

    def end(self, turn: Turn) -> None:
        """Note that a running action ended."""
        self._running.remove(turn)
        _count(self._hosts, turn.claims.host, -1)
        _count(self._volumes, turn.claims.volume, -1)
        self._finish(turn)

    def pace(self, host: str) -> HostPace:
        """Return the pacing of a host."""
        pace = self._paces.get(host)
        if pace is None:
            pace = self._paces[host] = HostPace(usual_pause_s=self._limits.host_pause_s)
        return pace

    def delay_s(self, now_s: float) -> float | None:
        """Return how soon the pause of a host is over that something waits for; None if nothing waits for a pause."""
        if not self.waiting_count or len(self._running) >= self._limits.jobs:
            return None
        delays_s = (self.pace(host).delay_s(now_s) for host, _ in self._groups if host is not None)
        return min((delay_s for delay_s in delays_s if delay_s), default=None)

    def _open_groups(self, now_s: float) -> Iterator[_GroupKey]:
        for host, volume in self._groups:
            if volume is not None and self._volumes.get(volume, 0) >= self._limits.per_volume:
                continue
            if host is not None and (
                self._hosts.get(host, 0) >= self._limits.per_host or self.pace(host).delay_s(now_s)
            ):
                continue
            yield host, volume

    def _offer(self, lane: _Lane) -> None:
        """Let a lane take part again; an empty one is forgotten."""
        first = lane.first()
        if first is None:
            self._forget(lane)
        elif not lane.is_in_group:
            lane.is_in_group = True
            heapq.heappush(self._groups.setdefault(lane.key[0], []), (first.number, lane))

    def _forget(self, lane: _Lane) -> None:
        # One that is empty may still be put aside somewhere when another has taken its place.
        if self._lanes.get(lane.key) is lane:
            del self._lanes[lane.key]
        self._is_due_no_more(lane)

    def _is_due_no_more(self, lane: _Lane) -> None:
        lane.overtaken_count = 0
        self._due = [due for due in self._due if due is not lane]

    def _next_lane(self, key: _GroupKey) -> _Lane:
        lanes = self._groups[key]
        _, lane = heapq.heappop(lanes)
        if not lanes:
            del self._groups[key]
        lane.is_in_group = False
        return lane

    def _take(self, lane: _Lane) -> Turn | None:
        """Return the first of a lane that nothing excludes. If there is none, the lane is put aside, or forgotten."""
        first = lane.first()
        if first is None:
            self._forget(lane)
            return None
        holder = self._holder(lane, first)
        if holder is not None:
            self._put_aside(lane, first, holder)
            return None
        busy = {turn.claims.repository: turn for turn in self._running}
        free = (turn for turn in lane.turns if not turn.is_over and turn.claims.repository not in busy)
        chosen = next(free, None)
        if chosen is not None:
            lane.turns.remove(chosen)
            self._is_due_no_more(lane)
            self._offer(lane)
            return chosen
        for turn in lane.turns:
            if not turn.is_over:
                busy[turn.claims.repository].lanes_aside[lane] = None
        return None

    def _holder(self, lane: _Lane, first: Turn) -> Turn | None:
        """Return the writer for which all of a lane must wait."""
        if not lane.family:
            return None
        for turn in self._running:
            if turn.claims.writes and _meet(turn.claims.family, lane.family):
                return turn
        for due in self._due:
            ahead = due.first()
            if ahead is not None and ahead.number < first.number and _meet(due.family, lane.family):
                return ahead
        return None

    def _put_aside(self, lane: _Lane, first: Turn, holder: Turn) -> None:
        holder.lanes_aside[lane] = None
        if holder.number > first.number:
            lane.overtaken_count += 1
            if lane.overtaken_count == OVERTAKEN_LIMIT:
                self._due.append(lane)

    def _begin(self, turn: Turn, now_s: float) -> None:
        self.waiting_count -= 1
        self._running.append(turn)
        _count(self._hosts, turn.claims.host, 1)
        _count(self._volumes, turn.claims.volume, 1)
        if turn.claims.host is not None:
            self.pace(turn.claims.host).started(now_s)

    def _finish(self, turn: Turn) -> None:
        turn.is_over = True
        for lane in turn.lanes_aside:
            self._offer(lane)
        turn.lanes_aside.clear()


def _meet(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    # Members of one lender share the set itself, which may be large.
    return one is other or not one.isdisjoint(other)


def _count(counts: dict[_Name, int], name: _Name | None, change: int) -> None:
    if name is not None:
        counts[name] = counts.get(name, 0) + change
