"""The help page: the keys of the screen that it was asked for on, then the columns, then the signs. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from gitdash.tui.actions.action import GROUPS, Scope
from gitdash.tui.actions.declared import actions_of
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.wrap import wrapped

_KEY_WIDTH: Final = 12
_SIGNS: Final = (
    ("-", "Absent: there is none."),
    ("(blank)", "A size that has not been measured yet."),
    ("…", "Not looked at yet."),
    ("?", "There, but it could not be read; the detail says why."),
    ("<=", "An upper bound, not the exact figure."),
    (">=", "A lower bound: it lacks what is unreadable or has not been measured."),
    ("~", "A figure that may be too high or too low."),
    ("·", "Before a row: work on it is going on."),
)


def help_lines(scope: Scope, shown: Mapping[str, str], columns: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Return all actions of a screen by group, then the columns (name and sentence), then the signs."""
    lines: list[Line] = []
    actions = [action for action in (*actions_of(scope), *actions_of(Scope.EVERYWHERE)) if action.name in shown]
    for group in GROUPS:
        entries = [(shown[action.name], action.help) for action in actions if action.group == group]
        if entries:
            lines += [*_section(group, entries, width), []]
    return [*lines, *_section("Columns", columns, width), [], *_section("Signs", _SIGNS, width)]


def _section(title: str, entries: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lines: list[Line] = [[Piece(f" {title}", Tone.ACCENT)]]
    for left, sentence in entries:
        shown = left
        for part in wrapped(sentence, Tone.PLAIN, width, indent=_KEY_WIDTH + 3):
            lines.append([Piece(f"   {shown:<{_KEY_WIDTH}}", Tone.STRONG), *part[1:]])
            shown = ""
    return lines
