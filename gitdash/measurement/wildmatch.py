"""Glob patterns over full reference names, as `git rev-list --exclude=<glob> --all` matches them.

Source: git-rev-list(1) `--exclude`, and git's wildmatch with flags 0: `*` and `?` match a slash, `**` is `*`, a set may
hold ranges, POSIX classes and escapes, and a malformed pattern matches nothing. HEAD is a reference like the others
here, so `refs/heads/*` leaves it in and `*` does not.

Evaluated by us, because the tips are given to git on stdin. Takes time proportional to pattern times name.
"""

import string
from collections.abc import Callable, Iterable
from typing import Final

_ANY: Final = frozenset(range(256))
"""What `?` matches."""

_CLASSES: Final[dict[bytes, frozenset[int]]] = {
    b"alnum": frozenset((string.ascii_letters + string.digits).encode()),
    b"alpha": frozenset(string.ascii_letters.encode()),
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset(range(32)) | {127},
    b"digit": frozenset(string.digits.encode()),
    b"graph": frozenset(range(33, 127)),
    b"lower": frozenset(string.ascii_lowercase.encode()),
    b"print": frozenset(range(32, 127)),
    b"punct": frozenset(string.punctuation.encode()),
    b"space": frozenset(b" \t\n\r\v\f"),
    b"upper": frozenset(string.ascii_uppercase.encode()),
    b"xdigit": frozenset(string.hexdigits.encode()),
}

_Element = frozenset[int] | None
"""The bytes that one place of a name may have; None stands for any number of any bytes."""


class _MalformedError(ValueError):
    """The pattern ends within a set or an escape, or names an unknown class."""


def excluded_by(patterns: Iterable[bytes]) -> Callable[[bytes], bool]:
    """Return a function that tells whether one of the patterns matches a full reference name."""
    compiled = [elements for elements in map(_compiled, patterns) if elements is not None]

    def is_excluded(name: bytes) -> bool:
        return any(_matches(elements, name) for elements in compiled)

    return is_excluded


def _matches(elements: list[_Element], name: bytes) -> bool:
    """Match greedily; after a mismatch the last star takes one byte more. Earlier stars need not be tried again."""
    place = position = 0
    star_place, star_position = -1, 0
    while position < len(name):
        element = elements[place] if place < len(elements) else frozenset[int]()
        if element is None:
            star_place, star_position = place, position
            place += 1
        elif name[position] in element:
            place += 1
            position += 1
        elif star_place >= 0:
            star_position += 1
            place, position = star_place + 1, star_position
        else:
            return False
    return all(element is None for element in elements[place:])


def _compiled(pattern: bytes) -> list[_Element] | None:
    """Return the elements of a pattern, None if it is malformed and so matches nothing."""
    elements: list[_Element] = []
    position = 0
    try:
        while position < len(pattern):
            element, position = _element(pattern, position)
            elements.append(element)
    except _MalformedError:
        return None
    return elements


def _element(pattern: bytes, position: int) -> tuple[_Element, int]:
    match pattern[position : position + 1]:
        case b"*":
            return None, position + 1
        case b"?":
            return _ANY, position + 1
        case b"[":
            return _set(pattern, position + 1)
        case _:
            byte, position = _byte(pattern, position)
            return frozenset((byte,)), position


def _byte(pattern: bytes, position: int) -> tuple[int, int]:
    """One byte, or the one behind a backslash."""
    position += pattern[position : position + 1] == b"\\"
    if position >= len(pattern):
        raise _MalformedError
    return pattern[position], position + 1


def _set(pattern: bytes, position: int) -> tuple[frozenset[int], int]:
    negated = pattern[position : position + 1] in (b"!", b"^")
    position += negated
    members: set[int] = set()
    range_start: int | None = None
    is_first = True
    # a closing bracket in first place is a member
    while is_first or pattern[position : position + 1] != b"]":
        is_first = False
        found, range_start, position = _member(pattern, position, range_start)
        members |= found
    return (_ANY - members if negated else frozenset(members)), position + 1


def _member(pattern: bytes, position: int, range_start: int | None) -> tuple[frozenset[int], int | None, int]:
    """Return what one member adds, the byte that a range may start from, and where the next member begins."""
    following = pattern[position + 1 : position + 2]
    if pattern[position : position + 1] == b"-" and range_start is not None and following not in (b"", b"]"):
        range_end, position = _byte(pattern, position + 1)
        return frozenset(range(range_start, range_end + 1)), None, position
    if pattern[position : position + 2] == b"[:":
        found = _class(pattern, position)
        if found is not None:
            return found[0], None, found[1]
        return frozenset(b"["), ord("["), position + 1
    byte, position = _byte(pattern, position)
    return frozenset((byte,)), byte, position


def _class(pattern: bytes, position: int) -> tuple[frozenset[int], int] | None:
    """Return a class and where it ends; None if the bracket is not closed by `:]` and is a member like others."""
    end = pattern.find(b"]", position + 2)
    if end < 0:
        raise _MalformedError
    name = pattern[position + 2 : end]
    if not name.endswith(b":"):
        return None
    members = _CLASSES.get(name[:-1])
    if members is None:
        raise _MalformedError
    return members, end + 1
