"""One loose reference, or HEAD.

Source: gitrepository-layout(5), "HEAD" and "refs". Does not follow symbolic references and does not judge the
name that one points to: that needs the rules of git-check-ref-format(1) and other files.

    offset  size  field
    0       40    object id in hexadecimal, 64 for sha256
    ...     ...   end of file, or white space and anything

or

    offset  size  field
    0       4     `ref:`
    ...     ...   white space
    ...     ...   name of the reference that it points to, to the last character that is not white space
"""

import re
from dataclasses import dataclass
from typing import Final

from gitdash.formats.reading import OBJECT_ID_LENGTH, FormatError
from gitdash.model.inspection import ObjectFormat

_SPACE: Final = b" \t\n\r"
_OBJECT_ID: Final = {
    object_format: re.compile(rb"([0-9a-fA-F]{%d})(?:[ \t\n\r]|\Z)" % (2 * length))
    for object_format, length in OBJECT_ID_LENGTH.items()
}


@dataclass(frozen=True, slots=True)
class DirectReference:
    """A reference to an object."""

    object_id: str
    """Lower-case hexadecimal."""


@dataclass(frozen=True, slots=True)
class SymbolicReference:
    """A reference to a reference."""

    target: bytes
    """Never empty; any other bytes but NUL."""


def read_reference(data: bytes, object_format: ObjectFormat) -> DirectReference | SymbolicReference:
    """Read the content of a loose reference or of HEAD."""
    if b"\0" in data:
        raise FormatError("reference holds a NUL", data.index(b"\0"))
    if data.startswith(b"ref:"):
        target = data[4:].strip(_SPACE)
        if not target:
            raise FormatError("symbolic reference without a target", 4)
        return SymbolicReference(target)
    match = _OBJECT_ID[object_format].match(data)
    if match is None:
        raise FormatError("neither an object id nor `ref:`" if data else "empty reference", 0)
    return DirectReference(match[1].decode("ascii").lower())
