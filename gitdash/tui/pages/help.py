"""The help page: the keys of the screen that it was asked for on, then the columns, then the signs. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from rich.cells import cell_len

from gitdash.tui.actions.action import GROUPS, Action, Scope
from gitdash.tui.actions.declared import actions_of
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.wrap import wrapped

_KEY_WIDTH: Final = 14
"""Of keys and names; longer ones have a line of their own."""
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
    """Return all actions of a screen by group, then, for the table, the columns (name and sentence), then the signs."""
    lines: list[Line] = []
    actions = [action for action in (*actions_of(scope), *actions_of(Scope.EVERYWHERE)) if action.name in shown]
    for group in GROUPS:
        entries = list(_entries([action for action in actions if action.group == group], shown))
        if entries:
            lines += [*_section(group, entries, width), []]
    if scope is Scope.FLEET:
        lines += [*_section("Columns", columns, width), []]
    return [*lines, *_section("Signs", _SIGNS, width)]


def _entries(actions: Sequence[Action], shown: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield keys and sentence of each action; those of a series are one entry."""
    for series, members in groupby(actions, key=lambda action: action.series):
        if series:
            yield _series_keys([shown[action.name] for action in members]), series
        else:
            yield from ((shown[action.name], action.help) for action in members)


def _series_keys(keys: Sequence[str]) -> str:
    """Return the keys of a series: the first and the last if they are digits that follow one another."""
    are_digits = all(key.isdecimal() and len(key) == 1 for key in keys)
    is_row = are_digits and [int(key) for key in keys] == list(range(int(keys[0]), int(keys[0]) + len(keys)))
    return f"{keys[0]} … {keys[-1]}" if is_row and len(keys) > 1 else " ".join(keys)


def _section(title: str, entries: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lines: list[Line] = [[Piece(f" {title}", Tone.ACCENT)]]
    for left, sentence in entries:
        shown = left
        if cell_len(left) > _KEY_WIDTH:
            lines += wrapped(left, Tone.STRONG, width, indent=3)
            shown = ""
        for part in wrapped(sentence, Tone.PLAIN, width, indent=_KEY_WIDTH + 5):
            lines.append([Piece(f"   {fit(shown, _KEY_WIDTH)}  ", Tone.STRONG), *part[1:]])
            shown = ""
    return lines
