"""A saved view: what the fleet table shows, in which order and how it is grouped."""

from typing import Literal, TypeAlias

import msgspec

Grouping: TypeAlias = Literal["none", "root", "pool", "state", "findings"]


class View(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One saved view.

    Without a filter it shows all rows, without columns those that fit, and without a sort the order stays.
    """

    name: str
    filter: str = ""
    """As typed in the filter line: words, or an SQL condition after `=`."""
    sort: str = ""
    """Key of a column; `-` before it turns the order round."""
    columns: tuple[str, ...] = ()
    """Keys, in their order."""
    group: Grouping = "none"
