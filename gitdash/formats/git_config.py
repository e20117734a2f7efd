r"""The syntax of git's config files.

Source: git-config(1), "CONFIGURATION FILE", "Syntax", and git's reader (config.c), for what the page leaves out.
Does not follow includes, does not interpret values, does not know any key.

    line                             meaning
    `[section]`                      header: letters, digits, `-` and `.`; not case-sensitive
    `[section "subsection"]`         a backslash takes the next character literally; no newline
    `[section.subsection]`           the old form: subsection in lower case
    `name`                           a key without value, which reads as true
    `name = value`                   names are a letter, then letters, digits and `-`; not case-sensitive
    `#` or `;`                       a comment to the end of the line, also after a value

A value runs to the end of the line without the white space around it; a backslash before the newline continues
it; double quotes keep white space and comment signs; `\"`, `\\`, `\n`, `\t` and `\b` are the only escapes. A
header may be followed by a key on the same line. A carriage return before a newline belongs to the newline. A
byte order mark may come first. A value with a NUL ends there for git, so it does here.
"""

import re
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import FormatError

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r"
_BETWEEN: Final = re.compile(rb"(?:[ \t\r\n]++|[#;][^\n]*+)*+")
_HEADER: Final = re.compile(rb'\[([a-zA-Z0-9.-]*+)(?:[ \t\r]++"((?:[^"\\\n\0]++|\\[^\n\0])*+)")?\]')
_NAME: Final = re.compile(rb"([a-zA-Z][a-zA-Z0-9-]*+)[ \t]*+(=|\r?\n|\Z)")
_PLAIN_VALUE: Final = re.compile(rb'[^\n"\\#;\0]*+(?=\n|\Z)')
_UNQUOTED_PIECE: Final = re.compile(
    rb'(?P<blank>[ \t\r]++)|(?P<text>[^ \t\r\n"\\#;]++)|(?P<quote>")|(?P<comment>[#;][^\n]*+)|(?P<end>\n)'
    rb'|\\(?:(?P<escape>[ntb"\\])|(?P<continuation>\r?\n|\Z))'
)
_QUOTED_PIECE: Final = re.compile(
    rb'(?P<text>[^\n"\\]++)|(?P<quote>")|\\(?:(?P<escape>[ntb"\\])|(?P<continuation>\r?\n|\Z))'
)
_CHARACTER_OF_ESCAPE: Final = {b"n": b"\n", b"t": b"\t", b"b": b"\b"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One key of a config file."""

    section: str
    """Lower case; empty for a key before the first header."""
    subsection: bytes | None
    """As written, the old dotted form in lower case; None if the header has none."""
    name: str
    """Lower case."""
    value: bytes | None
    """None for a key without `=`."""
    line: int
    """The line on which the key starts, from 1."""


def read_config(data: bytes) -> tuple[ConfigEntry, ...]:
    """Return the keys in the order of the file; the first line that is not of the syntax is an error, as for git."""
    entries: list[ConfigEntry] = []
    section, subsection = "", None
    line, counted = 1, 0
    position = _skip_between(data, len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0)
    while position < len(data):
        if data.startswith(b"[", position):
            section, subsection, position = _read_header(data, position)
        else:
            line += data.count(b"\n", counted, position)
            counted = position
            name, value, position = _read_key(data, position)
            entries.append(ConfigEntry(section=section, subsection=subsection, name=name, value=value, line=line))
        position = _skip_between(data, position)
    return tuple(entries)


def _skip_between(data: bytes, position: int) -> int:
    match = _BETWEEN.match(data, position)
    return match.end() if match else position


def _read_header(data: bytes, position: int) -> tuple[str, bytes | None, int]:
    """Return section, subsection and the position after the closing bracket."""
    match = _HEADER.match(data, position)
    if match is None or not (match[1] or match[2] is not None):
        raise FormatError(f"line {_line(data, position)} is no section header", position)
    section, dot, rest = match[1].lower().partition(b".")
    subsection = rest if dot else None
    if match[2] is not None:
        quoted = re.sub(rb"\\(.)", rb"\1", match[2], flags=re.DOTALL)
        subsection = quoted if subsection is None else subsection + b"." + quoted
    return section.decode("ascii"), subsection, match.end()


def _read_key(data: bytes, position: int) -> tuple[str, bytes | None, int]:
    """Return name, value and the position after the line."""
    match = _NAME.match(data, position)
    if match is None:
        raise FormatError(f"line {_line(data, position)} is no key", position)
    name = match[1].decode("ascii").lower()
    if match[2] != b"=":
        return name, None, match.end()
    plain = _PLAIN_VALUE.match(data, match.end())
    if plain:
        return name, plain[0].strip(_BLANK), plain.end()
    value, end = _read_value(data, match.end())
    return name, value, end


def _read_value(data: bytes, position: int) -> tuple[bytes, int]:
    """Return a value that has quotes, escapes or a comment, and the position after its line."""
    value = bytearray()
    blank = b""
    in_quotes = False
    while position < len(data):
        piece = (_QUOTED_PIECE if in_quotes else _UNQUOTED_PIECE).match(data, position)
        if piece is None:
            raise FormatError(f"line {_line(data, position)} has a bad value", position)
        position = piece.end()
        if piece.lastgroup == "end":
            break
        if piece.lastgroup == "blank":
            blank = piece[0] if value else b""
        elif piece.lastgroup != "comment":
            value += blank + _content(piece)
            blank = b""
            in_quotes ^= piece.lastgroup == "quote"
    if in_quotes:
        raise FormatError("value ends inside quotes", position)
    return bytes(value).partition(b"\0")[0], position


def _content(piece: re.Match[bytes]) -> bytes:
    """What a piece of a value adds to it; quotes and continuations add nothing."""
    if piece.lastgroup == "text":
        return piece[0]
    escape = piece["escape"] or b""
    return _CHARACTER_OF_ESCAPE.get(escape, escape)


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
