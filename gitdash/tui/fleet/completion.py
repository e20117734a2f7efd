"""What the filter line offers while a condition is typed: columns whose names begin as the last word does. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from gitdash.export.columns import COLUMNS, CONDITION_NAMES
from gitdash.tui.table.row_filter import CONDITION_SIGN

_KEYS: Final = tuple(column.key for column in COLUMNS if column.key in CONDITION_NAMES)
_RAW_NAMES: Final = tuple(name for name in CONDITION_NAMES if name not in _KEYS)
_LAST_WORD: Final = re.compile(r"(?<![\w.])[A-Za-z_]+\Z")


def last_word(text: str) -> str:
    """Return the name that is being typed at the end of a condition; empty if there is none."""
    found = _LAST_WORD.search(text)
    is_condition = text.startswith(CONDITION_SIGN) and not text.count("'") % 2
    return found[0] if found and is_condition else ""


def completions(text: str) -> Sequence[str]:
    """Return the columns that the last word can become, the short names first; none if it is one, and only that."""
    word = last_word(text).casefold()
    if not word:
        return ()
    found = [name for name in (*_KEYS, *_RAW_NAMES) if name.startswith(word)]
    return () if found == [word] else found
