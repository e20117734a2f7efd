"""What the detail pane says of a group: its sums, and of findings why they matter and what fixes them. Pure."""

from collections.abc import Iterator, Sequence

from gitdash.tui.drawing.cells import STATE_TONES, Line, Piece, Tone, cut_line, line_length, shorten_middle, spread
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.fleet.totals_line import totals_line
from gitdash.tui.table.group import Group
from gitdash.tui.table.group_keys import rules_of
from gitdash.tui.table.totals import RunningTotals


def group_lines(group: Group, totals: RunningTotals, width: int) -> Sequence[Line]:
    """Return the lines of a group; `totals` are the sums over its rows."""
    state = group.worst_state
    right = [Piece(f"group of {len(group.numbers):,}  ", Tone.DIM), Piece(f"{state.value} ", STATE_TONES[state])]
    title = shorten_middle(group.title, max(width - line_length(right) - 2, 12))
    return [
        spread([Piece(" " + title, Tone.STRONG)], right, width),
        cut_line(totals_line(totals, width), width),
        *_rule_lines(group, width),
    ]


def _rule_lines(group: Group, width: int) -> Iterator[Line]:
    for rule in rules_of(group.kind, group.key):
        yield []
        yield [Piece(f" {rule.id}", Tone.STRONG), Piece(f"  {rule.title}", Tone.DIM)]
        yield from wrapped(rule.meaning, Tone.PLAIN, width, indent=3)
        yield from wrapped("> " + rule.remedy.replace("{git}", "git"), Tone.DIM, width, indent=3, hanging=2)
