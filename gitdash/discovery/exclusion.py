"""Which folders the user does not want searched.

A pattern without a slash is a shell pattern for a folder's name, wherever it lies. One with a slash inside is matched
component by component against the path below the root; one that starts with a slash, against the absolute path.
`**` stands for any number of components, none included. Case matters. Does not look at the disk.
"""

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase, translate
from typing import Final

THROW_AWAY_PREFIX: Final = b".gitdash-lab-"
"""Of folders that the lab makes and removes: never searched, unless one is a root."""
_NEVER: Final = re.compile(rb"(?!)")


class Exclusion:
    """The patterns of one search, ready to be asked for each folder."""

    __slots__ = ("_absolute", "_matches_name", "_relative")

    def __init__(self, patterns: Sequence[str]) -> None:
        stripped = [os.fsencode(pattern.rstrip("/")) for pattern in patterns if pattern.rstrip("/")]
        names = [pattern for pattern in stripped if b"/" not in pattern]
        self._matches_name = _name_expression(names).match
        self._absolute = [pattern[1:].split(b"/") for pattern in stripped if pattern.startswith(b"/")]
        self._relative = [
            pattern.split(b"/") for pattern in stripped if b"/" in pattern and not pattern.startswith(b"/")
        ]

    def covers(self, path: bytes, name: bytes, root: bytes) -> bool:
        """Say whether the folder `path`, whose last component is `name`, is excluded below `root`."""
        if name.startswith(THROW_AWAY_PREFIX) or self._matches_name(name):
            return True
        if self._absolute and _any_matches(path[1:].split(b"/"), self._absolute):
            return True
        return bool(self._relative) and _any_matches(path[len(root) :].lstrip(b"/").split(b"/"), self._relative)


def _name_expression(names: Sequence[bytes]) -> re.Pattern[bytes]:
    if not names:
        return _NEVER
    expressions = [translate(name.decode("latin-1")) for name in names]
    return re.compile("|".join(expressions).encode("latin-1"))


def _any_matches(components: Sequence[bytes], patterns: Sequence[Sequence[bytes]]) -> bool:
    return any(_matches(components, pattern) for pattern in patterns)


def _matches(components: Sequence[bytes], pattern: Sequence[bytes]) -> bool:
    """Match whole paths: positions in `components` that the pattern can have reached, one pattern part at a time."""
    reached = {0}
    for part in pattern:
        if part == b"**":
            reached = set(range(min(reached), len(components) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(components) and fnmatchcase(components[at], part)}
        if not reached:
            return False
    return len(components) in reached
