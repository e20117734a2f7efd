"""Numbers with units in a condition: `disk > 1.5 GiB`, `loose > 10k`. Pure.

Source: IEC 80000-13 and the SI prefixes, as sizes and counts are shown. SQL has no such numbers: a letter right after a
digit is an error in SQLite, and a blank and a unit after a number mean nothing in a condition. Does not parse SQL: it
passes over texts, quoted names and comments, and leaves all else as it is. Ages are no numbers of a condition.
"""

import re
from decimal import Decimal
from typing import Final

_FACTORS: Final = {
    "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_LITERAL: Final = re.compile(
    r"""'[^']*'|"[^"]*"|\[[^]]*\]|`[^`]*`|--[^\n]*|/\*.*?\*/"""
    r"""|(?<![\w.])(?P<number>\d{1,18}(?:\.\d{1,18})?)(?:(?P<letter>[kKMGT])|[ ]?(?P<unit>[kmgt]i?b))(?!\w)""",
    re.IGNORECASE | re.DOTALL,
)
"""A single letter stands right after its number, and a small `m`, which could be a thousandth, is none."""


def without_units(condition: str) -> str:
    """Return a condition with plain numbers in place of those with units: 1024 for `1 KiB`, 1000 for `1k` or `1 kB`."""
    return _LITERAL.sub(_plain, condition)


def _plain(match: re.Match[str]) -> str:
    unit = match["letter"] or match["unit"]
    if unit is None or unit == "m":
        return match[0]
    value = Decimal(match["number"]) * _FACTORS[unit.lower()]
    return str(int(value)) if value == int(value) else f"{value:f}"
