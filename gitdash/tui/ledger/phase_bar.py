"""The phases of a fetch as one bar whose parts are the wall time, and what each part is. Pure."""

from collections.abc import Sequence
from typing import Final

from gitdash.model.ledger import LedgerEntry, Phase
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.units import human_duration, printable

BAR_WIDTH: Final = 40
_OTHER: Final = "other"
_GLYPHS: Final = {
    "connect": ("░", Tone.DIM),
    "negotiation": ("▒", Tone.NOTICE),
    "receive": ("█", Tone.OK),
    "index": ("▓", Tone.PLAIN),
    "connectivity check": ("━", Tone.WARNING),
    _OTHER: ("•", Tone.DIM),
}
"""One sign for each, so that they are told apart without colours, and in ASCII."""


def phase_groups(entry: LedgerEntry, bar_width: int = BAR_WIDTH) -> list[Line]:
    """Return the bar, and each phase with its sign and duration; empty if there are no phases."""
    phases = [phase for phase in entry.phases if phase.elapsed_s > 0]
    total_s = sum(phase.elapsed_s for phase in phases)
    if not total_s:
        return []
    cells = _cells([phase.elapsed_s for phase in phases], bar_width)
    bar = [Piece(_sign(phase)[0] * count, _sign(phase)[1]) for phase, count in zip(phases, cells, strict=True)]
    legend: list[Line] = [
        [
            Piece(f"{_sign(phase)[0]} ", _sign(phase)[1]),
            Piece(f"{printable(phase.name)} ", Tone.DIM),
            Piece(human_duration(phase.elapsed_s), Tone.PLAIN),
        ]
        for phase in phases
    ]
    return [bar, *legend]


def _sign(phase: Phase) -> tuple[str, Tone]:
    return _GLYPHS.get(phase.name, _GLYPHS[_OTHER])


def _cells(durations_s: Sequence[float], width: int) -> list[int]:
    """Return how many of `width` cells each part has: at least one, and the largest gives what that takes."""
    total_s = sum(durations_s)
    cells = [max(int(width * duration_s / total_s), 1) for duration_s in durations_s]
    cells[max(range(len(cells)), key=cells.__getitem__)] += width - sum(cells)
    return cells
