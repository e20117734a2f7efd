"""The tab History: what the ledger says of each fetch, maintenance task and heavy measurement here. Pure."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.export.ledger_lines import action_name
from gitdash.model.ledger import LedgerEntry
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, fit
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.ledger.facts import fact_groups, outcome_piece
from gitdash.tui.ledger.lines import detail_lines, indented, paragraph, told_lines
from gitdash.tui.repository.view import Need, RepositoryView, ago
from gitdash.units import counted, human_duration, moment_text

_AGE_WIDTH: Final = 8
_TIME_WIDTH: Final = 9
_ACTION_WIDTH: Final = 26
_OUTCOME_WIDTH: Final = 14
_INDENT: Final = 5
_GAP: Final = 3


def history_page(view: RepositoryView, width: int) -> Page:
    """Return the page; its items are the actions, the newest first, the one under the cursor with all that is known."""
    entries = view.entries or ()
    names = tuple(entry.number for entry in entries)
    chosen = view.chosen if view.chosen in names else names[0] if names else None
    lines: list[Line] = [*_head(view, width), []]
    items: list[int] = []
    for entry in entries:
        items.append(len(lines))
        lines += _entry_lines(entry, view.now_s, width, is_chosen=entry.number == chosen)
    return Page(lines, items, names=names, unfolds=True)


def history_commands(view: RepositoryView, item: int) -> Sequence[str]:
    """Return the git commands of an action, for a shell."""
    entries = view.entries or ()
    return [shlex.join(command.argv) for command in entries[item].commands] if item < len(entries) else ()


def _head(view: RepositoryView, width: int) -> Iterator[Line]:
    if view.entries is None:
        is_asked = Need.ENTRIES in view.waiting_since_s
        yield from wrapped("Reading the ledger." if is_asked else "Not read yet.", Tone.DIM, width)
    elif view.entries:
        yield [Piece(f" {counted(len(view.entries), 'action', 'actions, the newest first')}", Tone.STRONG)]
    else:
        keys = [f"{what} ({view.key(name)})" if view.key(name) else what for what, name in _ACTS]
        text = f"gitdash has done nothing to this repository yet: {' and '.join(keys)} will stand here."
        yield from wrapped(text, Tone.PLAIN, width)


_ACTS: Final = (("fetches", "fetch"), ("maintenance", "show_plan"))


def _entry_lines(entry: LedgerEntry, now_s: float, width: int, *, is_chosen: bool) -> Iterator[Line]:
    took = "" if entry.elapsed_s is None else human_duration(entry.elapsed_s)
    outcome = outcome_piece(entry)
    head = [
        Piece(f" {ago(now_s - entry.started_at_s):>{_AGE_WIDTH}}  ", Tone.DIM),
        Piece(f"{took:>{_TIME_WIDTH}}  ", Tone.PLAIN),
        Piece(f"{fit(action_name(entry), _ACTION_WIDTH)}  ", Tone.STRONG),
        Piece(fit(outcome.text, max(_OUTCOME_WIDTH, len(outcome.text))), outcome.tone),
    ]
    groups = fact_groups(entry)
    if not is_chosen:
        for group in groups:
            head += [Piece(" " * _GAP, Tone.PLAIN), *group]
        yield cut_line(head, width)
        return
    yield cut_line(head, width)
    yield from paragraph(f"began {moment_text(entry.started_at_s)}", Tone.DIM, width, _INDENT)
    yield from indented(groups, width, _INDENT)
    yield from told_lines(entry, width, _INDENT, is_whole=True)
    yield from detail_lines(entry, width, _INDENT)
