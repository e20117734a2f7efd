"""How many cells of a terminal a text takes, for tables that are written without Rich.

Source: Unicode Standard Annex 11 (wide and full-width characters take two cells), by Python's unicodedata.
Texts have passed `units.printable`, so nothing here moves a cursor or is joined by invisible characters.
"""

import unicodedata

ELLIPSIS = "…"


def cell_width(text: str) -> int:
    """Return the number of cells of a text."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Return the text if it fits into `width` cells, else its start with an ellipsis, not wider than `width`."""
    if cell_width(text) <= width:
        return text
    if width < 1:
        return ""
    kept = []
    left = width - 1
    for character in text:
        left -= _character_width(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS


def truncate_middle(text: str, width: int) -> str:
    """Return the text if it fits into `width` cells, else its start, an ellipsis and its end: of a path both tell."""
    if cell_width(text) <= width:
        return text
    end = truncate(text[::-1], max(width * 3 // 5, 1)).removesuffix(ELLIPSIS)[::-1]
    return truncate(text, width - cell_width(end)) + end


def pad(text: str, width: int, *, right: bool) -> str:
    """Return the text filled up to `width` cells; with `right` the text stands at the right end."""
    filling = " " * (width - cell_width(text))
    return filling + text if right else text + filling
