"""The values of a config, and what git makes of booleans and numbers.

Source: git-config(1), "Values"; git's parse.c for the number formats. The last value of a key counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash.formats.git_config import ConfigEntry

_INTEGER: Final = re.compile(rb"\s*([+-]?)(?:0[xX]([0-9a-fA-F]{1,16})|(0[0-7]{1,20})|(0|[1-9]\d{0,17}))([kKmMgG]?)")
_SHIFT: Final = {b"": 0, b"k": 10, b"m": 20, b"g": 30}
_TRUE_WORDS: Final = frozenset({b"true", b"yes", b"on"})
_FALSE_WORDS: Final = frozenset({b"false", b"no", b"off", b""})


def parse_bool(value: bytes | None) -> bool | None:
    """Return what git makes of a boolean; None if it is none. A key without `=` is true."""
    if value is None:
        return True
    word = value.lower()
    if word in _TRUE_WORDS:
        return True
    if word in _FALSE_WORDS:
        return False
    number = parse_integer(value)
    return None if number is None else number != 0


def parse_integer(value: bytes | None) -> int | None:
    """Return a number, decimal, octal or hexadecimal, with git's suffixes k, m and g; None if it is none."""
    match = _INTEGER.fullmatch(value or b"")
    if match is None:
        return None
    sign, hexadecimal, octal, decimal, suffix = match.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return (-number if sign == b"-" else number) << _SHIFT[suffix.lower()]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedEntry:
    """One key and the file that it stands in."""

    entry: ConfigEntry
    source: str
    """`config`, `config.worktree`, or the path of an included file."""


@dataclass(slots=True)
class ConfigValues:
    """The last value of each key, and all entries."""

    entries: Sequence[SourcedEntry]
    last: dict[tuple[str, bytes | None, str], bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for sourced in self.entries:
            entry = sourced.entry
            self.last[entry.section, entry.subsection, entry.name] = entry.value

    def text(self, section: str, name: str) -> str:
        """Return a value in lower case; empty if the key is not there."""
        value = self.last.get((section, None, name))
        return (value or b"").decode("utf-8", "surrogateescape").lower()

    def is_true(self, section: str, name: str) -> bool:
        """Tell whether a key is there and true."""
        key = (section, None, name)
        return key in self.last and parse_bool(self.last[key]) is True

    def is_false(self, section: str, name: str) -> bool:
        """Tell whether a key is there and false."""
        key = (section, None, name)
        return key in self.last and parse_bool(self.last[key]) is False
