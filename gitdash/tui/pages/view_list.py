"""The page of all views. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.cells import cell_len

from gitdash.model.view import View
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.keymap import first_key
from gitdash.tui.saved_views import ListedView
from gitdash.units import printable

_NAME_WIDTH: Final = 32
_INDENT: Final = 5


def views_page(listed: Sequence[ListedView], shown_name: str | None, shown_keys: Mapping[str, str], width: int) -> Page:
    """Return the page; the view that is shown bears a mark, and the first nine their keys."""
    keys = [first_key(shown_keys, f"view_{number}") for number in range(1, len(listed) + 1)]
    key_width = max((1, *map(cell_len, keys)))
    lines: list[Line] = []
    items = []
    for key, entry in zip(keys, listed, strict=True):
        items.append(len(lines))
        is_shown = entry.view.name == shown_name
        lines.append(
            [
                Piece(f" {fit(key, key_width)} ", Tone.KEY),
                Piece("✓ " if is_shown else "  ", Tone.ACCENT),
                Piece(fit(printable(entry.view.name), min(_NAME_WIDTH, width // 2)), Tone.STRONG),
                Piece(f"  {entry.origin.value}", Tone.DIM),
            ]
        )
        lines += wrapped(entry.help or description(entry.view), Tone.DIM, width, indent=_INDENT)
    return Page(lines, items)


def description(view: View) -> str:
    """Return in words what a view sets. Printable."""
    return "; ".join(_parts(view))


def _parts(view: View) -> Iterator[str]:
    yield f"filter {printable(view.filter)}" if view.filter else "all rows"
    if view.sort:
        turned = ", turned round" if view.sort.startswith("-") else ""
        yield f"by {view.sort.removeprefix('-')}{turned}"
    if view.group != "none":
        yield f"grouped by {view.group}"
    if view.columns:
        yield ", ".join(view.columns)
