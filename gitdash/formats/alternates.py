r"""The alternates file, `objects/info/alternates`: object stores that this one borrows from.

Source: gitrepository-layout(5), "objects/info/alternates", and git's own reader (odb.c), whose every turn is
followed here, for a path that git sees and gitdash does not would be a lender unseen. Does not resolve paths.

    line starts with  meaning
    newline           nothing
    `#`               a comment to the end of the line
    `"`               a path in C quotes; the one character after the closing quote is the separator, whatever
                      it is, and what follows is the next entry; without a closing quote, or with an unknown
                      escape, the line is a literal path
    all else          a path to the newline, with all its blanks and carriage returns
"""

import re
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import FormatError

_QUOTED: Final = re.compile(rb'"((?:[^"\\]++|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*+)"')
_ESCAPE: Final = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_CHARACTER_OF_ESCAPE: Final = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternatesEntries:
    """What an alternates file lists."""

    paths: tuple[bytes, ...]
    """In the order of the file, unquoted; relative ones are relative to the objects directory of the file."""
    comment_count: int


def read_alternates(data: bytes) -> AlternatesEntries:
    """Read an alternates file; a NUL, at which git would stop reading, is an error."""
    if b"\0" in data:
        raise FormatError("alternates hold a NUL", data.index(b"\0"))
    paths: list[bytes] = []
    comment_count = 0
    position = 0
    while position < len(data):
        quoted = _QUOTED.match(data, position)
        end = quoted.end() if quoted else _end_of_line(data, position)
        if quoted:
            path = _ESCAPE.sub(_unescape, quoted[1])
        elif data.startswith(b"#", position):
            comment_count += 1
            path = b""
        else:
            path = data[position:end]
        if b"\0" in path:
            raise FormatError("path holds a quoted NUL", position)
        if path:
            paths.append(path)
        position = end + 1
    return AlternatesEntries(paths=tuple(paths), comment_count=comment_count)


def _end_of_line(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code.isdigit():
        return bytes((int(code, 8),))
    return _CHARACTER_OF_ESCAPE.get(code, code)
