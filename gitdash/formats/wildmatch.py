"""Glob patterns, for names of references and for paths.

Source: git's wildmatch.c; git-config(1), "Conditional includes"; git-rev-list(1) `--exclude`.

A set may hold ranges, POSIX classes and escapes; a malformed pattern matches nothing. With flags 0, `*` and `?` match a
slash, and `**` is `*`. With WM_PATHNAME nothing matches a slash but a slash itself, and `**` where it stands for whole
folders, at either end of the pattern or between slashes; `**/` may then stand for none. WM_CASEFOLD is git's, too: what
is tested becomes lower case, and of the pattern all but single members of a set.

All places of the pattern that the name may have come to are followed at once, as bits of one number: the time is
proportional to the name, and to the pattern, whatever stars it has.
"""

import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

_SLASH: Final = ord("/")
_ANY: Final = frozenset(range(256))
_SPECIAL: Final = re.compile(rb"[*?\[\\]")
_UPPER: Final = frozenset(string.ascii_uppercase.encode())

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
    b"upper": _UPPER,
    b"xdigit": frozenset(string.hexdigits.encode()),
}


class _MalformedError(ValueError):
    """The pattern ends within a set or an escape, or names an unknown class."""


def wildmatch(pattern: bytes, *, is_pathname: bool = False, ignore_case: bool = False) -> Callable[[bytes], bool]:
    """Return a function that tells whether a pattern matches a whole name: WM_PATHNAME, WM_CASEFOLD."""
    prefix = _SPECIAL.split(pattern, maxsplit=1)[0]
    places = _Places(prefix.lower() if ignore_case else prefix)
    try:
        _Parser(pattern, is_pathname=is_pathname, ignore_case=ignore_case).read_into(places)
    except _MalformedError:
        return lambda _: False
    return (lambda name: places.match(name.lower())) if ignore_case else places.match


@dataclass(slots=True)
class _Places:
    """What may stand at each place of a pattern, one bit for each."""

    prefix: bytes
    """What the pattern begins with, one place for each byte."""
    count: int = 0
    of_members: dict[frozenset[int], int] = field(default_factory=dict)
    """Places that one byte of a set leads on from."""
    stars: int = 0
    """Places of any number of bytes."""
    deep_stars: int = 0
    """Those of them that match a slash, too."""
    entries: int = 0
    """Places before `**/`, which may be passed over: the star, and the slash behind it."""
    _eaten: dict[int, int] = field(default_factory=dict)
    """`of_members` by byte, of those that were met."""

    def add_byte(self, members: frozenset[int]) -> None:
        """Add one byte out of several."""
        self.of_members[members] = self.of_members.get(members, 0) | 1 << self.count
        self.count += 1

    def add_star(self, *, is_deep: bool) -> None:
        """Add any number of any bytes."""
        self.stars |= 1 << self.count
        self.deep_stars |= is_deep << self.count
        self.count += 1

    def add_entry(self) -> None:
        """Add the place before a star and a slash that may both be absent."""
        self.entries |= 1 << self.count
        self.count += 1

    def match(self, name: bytes) -> bool:
        """Tell whether a name leads to the end."""
        if not name.startswith(self.prefix):
            return False
        # a deep star in last place matches all that may follow
        final = self.deep_stars & 1 << self.count >> 1
        at = self._passed_on(1 << len(self.prefix))
        for byte in name[len(self.prefix) :]:
            if at & final or not at:
                break
            stay = at & (self.deep_stars if byte == _SLASH else self.stars)
            at = (at & self._leading_on(byte)) << 1 | stay | stay << 1
            if at & self.entries or at & self.stars & ~stay:
                at = self._passed_on(at)
        return bool(at & (final | 1 << self.count))

    def _passed_on(self, at: int) -> int:
        """Add the places that are reached without a byte."""
        while True:
            entered = at & self.entries
            further = at | (at & self.stars) << 1 | entered << 1 | entered << 3
            if further == at:
                return at
            at = further

    def _leading_on(self, byte: int) -> int:
        found = self._eaten.get(byte)
        if found is None:
            found = 0
            for members, places in self.of_members.items():
                if byte in members:
                    found |= places
            self._eaten[byte] = found
        return found


@dataclass(slots=True)
class _Parser:
    """Reads one pattern."""

    pattern: bytes
    is_pathname: bool
    ignore_case: bool
    position: int = 0

    def read_into(self, places: _Places) -> None:
        """Add all elements. Raises _MalformedError."""
        while self.position < len(self.pattern):
            match self._next():
                case b"*":
                    self._stars(places)
                case b"?":
                    self.position += 1
                    places.add_byte(self._but_slash(_ANY))
                case b"[":
                    self.position += 1
                    places.add_byte(self._but_slash(self._set()))
                case _:
                    places.add_byte(frozenset(self._folded(self._byte())))

    def _next(self, count: int = 1) -> bytes:
        return self.pattern[self.position : self.position + count]

    def _folded(self, byte: int) -> bytes:
        return bytes((byte,)).lower() if self.ignore_case else bytes((byte,))

    def _stars(self, places: _Places) -> None:
        start = self.position
        while self._next() == b"*":
            self.position += 1
        is_whole = start == 0 or self.pattern[start - 1] == _SLASH
        is_whole = is_whole and (self._next() in (b"", b"/") or self._next(2) == b"\\/")
        is_of_folders = self.is_pathname and is_whole and self.position - start > 1
        if is_of_folders and self._next() == b"/":
            places.add_entry()
        places.add_star(is_deep=is_of_folders or not self.is_pathname)

    def _but_slash(self, members: frozenset[int]) -> frozenset[int]:
        return members - {_SLASH} if self.is_pathname else members

    def _byte(self) -> int:
        """One byte, or the one behind a backslash."""
        self.position += self._next() == b"\\"
        if self.position >= len(self.pattern):
            raise _MalformedError
        self.position += 1
        return self.pattern[self.position - 1]

    def _set(self) -> frozenset[int]:
        is_negated = self._next() in (b"!", b"^")
        self.position += is_negated
        members = frozenset[int]()
        for found in self._members():
            members |= found
        return _ANY - members if is_negated else members

    def _members(self) -> Iterator[frozenset[int]]:
        """Yield what each member of a set adds, up to the closing bracket; one in first place is a member."""
        range_start: int | None = None
        is_first = True
        while is_first or self._next() != b"]":
            is_first = False
            following = self.pattern[self.position + 1 : self.position + 2]
            named = self._class() if self._next(2) == b"[:" else None
            if named is not None:
                range_start = None
                yield named
            elif self._next() == b"-" and range_start is not None and following not in (b"", b"]"):
                self.position += 1
                yield self._with_lower(frozenset(range(range_start, self._byte() + 1)))
                range_start = None
            else:
                range_start = self._byte()
                yield frozenset((range_start,))
        self.position += 1

    def _class(self) -> frozenset[int] | None:
        """Return a named class; None if the bracket is not closed by `:]` and is a member like others."""
        end = self.pattern.find(b"]", self.position + 2)
        if end < 0:
            raise _MalformedError
        name = self.pattern[self.position + 2 : end]
        if not name.endswith(b":"):
            return None
        members = _CLASSES.get(name[:-1])
        if members is None:
            raise _MalformedError
        self.position = end + 1
        return self._with_lower(members) if members == _UPPER else members

    def _with_lower(self, members: frozenset[int]) -> frozenset[int]:
        """Return what a range, or the class of upper case, matches in a name that was turned into lower case."""
        return members | frozenset(bytes(members & _UPPER).lower()) if self.ignore_case else members
