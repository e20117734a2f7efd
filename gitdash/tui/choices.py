"""What a person has chosen in the dashboard and finds again in the next one. Pure.

The filter is not among it: a fleet that opens with some of its repositories hidden misleads. Saved views are kept
beside it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitdash.model.view import Grouping


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """One state of the dashboard."""

    theme: str | None = None
    """None as long as none was chosen."""
    sort: tuple[str, ...] = ()
    """Keys of columns, the main one first, `-` before those whose order is turned round; empty for the first order."""
    columns: tuple[str, ...] = ()
    """Keys, in their order; empty for what fits."""
    group: Grouping = "none"
    detail: bool = True
    """The detail pane is shown."""


def encode_choices(choices: Choices) -> bytes:
    """Return choices as JSON, for the state file."""
    return msgspec.json.encode(choices)


def decode_choices(data: bytes | None) -> Choices:
    """Return the choices in the JSON of a state file; what cannot be read, as from another version, is left out."""
    try:
        entries = msgspec.json.decode(data or b"{}", type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return Choices()
    return Choices(**_readable(entries))


def _readable(entries: Mapping[str, Any]) -> dict[str, Any]:
    readable = {}
    for field in msgspec.structs.fields(Choices):
        if field.name in entries:
            try:
                readable[field.name] = msgspec.convert(entries[field.name], field.type)
            except msgspec.ValidationError:
                continue
    return readable
