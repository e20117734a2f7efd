"""What all JSON of gitdash has in common: how a moment, a duration, a path and an unreadable part stand in it.

Source: the README's section on JSON. Paths are printable text, with their bytes beside them where that is not the same;
times are RFC 3339 UTC. Text is made here, files are not.
"""

import binascii
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from gitdash.model.repository import Unreadable
from gitdash.units import printable_path

SCHEMA_VERSION: Final = 1

Record: TypeAlias = dict[str, Any]

_Part = TypeVar("_Part")


def part_value(part: _Part | Unreadable | None, render: Callable[[_Part], Any]) -> Any:  # noqa: ANN401 - JSON has no type
    """Return a part that was read as `render` has it, one that could not be read as its reason, null for none."""
    if isinstance(part, Unreadable):
        return {"unreadable": part.reason}
    return None if part is None else render(part)


def path_record(name: str, path: bytes) -> Record:
    """Return a path as printable text, and its bytes beside it if the text is not the path itself."""
    shown = printable_path(path)
    if shown.encode() == path:
        return {name: shown}
    return {name: shown, f"{name}_bytes_base64": binascii.b2a_base64(path, newline=False).decode("ascii")}


def rounded(duration_s: float) -> float:
    """Return a duration to the microsecond: further digits are noise."""
    return round(duration_s, 6)


def json_text(value: Record | list[Record]) -> str:
    """Return indented JSON with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def json_line(value: Record) -> str:
    """Return JSON on one line with a newline at the end."""
    return msgspec.json.encode(value).decode() + "\n"
