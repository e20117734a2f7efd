"""What the configuration says of the dashboard: `[dashboard]`, `[keys]` and `[[view]]`.

Theme, actions, keys and columns are texts here: which of them there are, the front end knows.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from gitdash.model.view import View
from gitdash.units import printable


class DashboardSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[dashboard]`: how it looks, and what it hands over to."""

    theme: str | None = None
    """None is the remembered one, else the dashboard's own."""
    mouse: bool = True
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    """Lines and signs; `auto` goes by the encoding of the terminal."""
    read_only: bool = False
    """Offer nothing that changes a repository."""
    shell: str | None = None
    """Program for `!`; None is `$SHELL`."""
    open_with: tuple[str, ...] = ("lazygit", "tig")
    """Programs for `o`: the first that is installed."""


def view_problem(views: Iterable[View]) -> str | None:
    """Return the first mistake in names of views, as a clause that starts with the key; None if there is none."""
    names: set[str] = set()
    for number, view in enumerate(views):
        if not view.name.strip():
            return f"view[{number}].name is empty"
        if view.name in names:
            return f"view[{number}].name is {printable(view.name)!r}, as that of another view"
        names.add(view.name)
    return None


def wrong_entry(keys: object) -> str | None:
    """Return the first name in a decoded `[keys]` whose value is neither a text nor a list of texts."""
    if not isinstance(keys, Mapping):
        return None
    for name, value in keys.items():
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str) for part in parts):
            return str(name)
    return None
