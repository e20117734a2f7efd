"""From the columns that rows are sorted by to what is written down of them, and back. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final

from gitdash.export.columns import Column

REVERSE_SIGN: Final = "-"
"""Before the key of a column whose order is turned round."""


def sort_texts(order: Iterable[tuple[str, bool]], columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return keys of columns, `-` before those whose order is turned round."""
    return tuple(
        key if descending is columns[key].starts_with_greatest else REVERSE_SIGN + key for key, descending in order
    )


def order_of(texts: Iterable[str], columns: Mapping[str, Column]) -> list[tuple[str, bool]]:
    """Return keys of columns, and whether the greatest comes first; columns that there are not are left out."""
    order = []
    for text in texts:
        key = text.removeprefix(REVERSE_SIGN)
        if key in columns:
            order.append((key, columns[key].starts_with_greatest is not text.startswith(REVERSE_SIGN)))
    return order
