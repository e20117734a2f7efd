"""Which rows a condition may hold for while some of their values are not known yet.

Source: "NULL Handling in SQLite" and SQL's logic of three values. NULL stands for what is not known. An expression that
is made of comparisons, AND, OR, NOT and functions that give NULL for NULL is false with NULL only if it is false with
every value; `IS NULL`, `coalesce`, CASE and subqueries are other than that, and of a condition with one of them nothing
is said. Does not measure, and does not tell for which rows it holds: that is `filter`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from gitdash.history.filter import Value, columns_read, select

_TOKEN: Final = re.compile(
    r"""'[^']*'|"[^"]*"|\[[^]]*\]|`[^`]*`|--[^\n]*|/\*.*?\*/|\d[\w.]*|(?P<word>[^\W\d]\w*)|(?P<parenthesis>[()])""",
    re.DOTALL,
)
_WORDS: Final = frozenset(
    {
        "abs", "and", "between", "binary", "collate", "escape", "false", "glob", "in", "instr", "length", "like",
        "lower", "max", "min", "nocase", "not", "or", "replace", "round", "rtrim", "sign", "substr", "substring",
        "true", "unicode", "upper",
    }
)  # fmt: skip
"""Not `null`: `x NOT NULL` asks whether x is known."""


def may_hold(
    rows: Sequence[Mapping[str, Value]], condition: str, *, columns: Sequence[str], unknown: Collection[str]
) -> list[int]:
    """Return the positions of all rows but those for which the condition is not true, whatever the unknown values are.

    Unknown is what is None in the columns that `unknown` names. Raises FilterError.
    """
    named = columns_read(condition, columns)
    if named.isdisjoint(unknown):
        return select(rows, condition, columns=columns)
    if not _gives_null_for_null(condition, columns):
        return [*range(len(rows))]
    return select(rows, f"(\n{condition}\n) IS NOT FALSE", columns=columns)


def _gives_null_for_null(condition: str, columns: Sequence[str]) -> bool:
    """Tell whether nothing in a condition makes anything but NULL of NULL; False also where that is not clear."""
    words = _WORDS | {column.lower() for column in columns}
    depth = 0
    for token in _TOKEN.finditer(condition):
        if token["word"] and token["word"].lower() not in words:
            return False
        depth += {"(": 1, ")": -1}.get(token["parenthesis"] or "", 0)
        if depth < 0:
            return False
    return depth == 0
