"""Notices of the source as toasts: of many actions that were cut off one is told, and where the others stand. Pure."""

from collections.abc import Sequence
from typing import Final

from gitdash.model.ledger import Outcome
from gitdash.tui.drawing.cells import fit

_CUT_OFF: Final = f"{Outcome.CUT_OFF}: "
"""How the sentences on actions begin that an earlier run of gitdash did not end."""
_LONGEST: Final = 300
"""Cells: a toast with the names of all that may be left would cover the screen."""


def toast_texts(notices: Sequence[str]) -> list[str]:
    """Return the texts of the toasts, all that is no action first."""
    texts = [notice for notice in notices if not notice.startswith(_CUT_OFF)]
    cut_off = [notice for notice in notices if notice.startswith(_CUT_OFF)]
    if not cut_off:
        return texts
    first = fit(cut_off[0], _LONGEST).rstrip()
    if len(cut_off) > 1:
        count = len(cut_off) - 1
        others = "1 more action was" if count == 1 else f"{count:,} more actions were"
        first += f". {others} cut off: see History, the last tab of each repository."
    return [*texts, first]
