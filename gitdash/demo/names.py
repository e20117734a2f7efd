"""Exhibits whose names are hostile to whoever prints them: healthy repositories all the same.

Source: path_resolution(7), by which a name is any bytes but the slash and NUL; ECMA-48 for control functions.
"""

import errno
import os
from typing import Final

from gitdash.demo.exhibit import Exhibit, ObstacleError, bare
from gitdash.demo.workshop import Workshop

_NAMES: Final = (
    b"red\x1b[31m and a title\x1b]0;owned\x07.git",
    b"[bold red]markup[] [link=x]x[link].git",
    b"two\nlines.git",
    b"not utf-8 caf\xe9.git",
    "from right to left \u202etig.gpj.git".encode(),
    b"200 characters " + b"x" * 181 + b".git",
    b" spaces and 'quotes' \"$(id)\" .git",
)
_REFUSALS: Final = frozenset({errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG})
"""What file systems say that want UTF-8, or encrypt names."""


def _build(workshop: Workshop, path: bytes) -> None:
    try:
        os.makedirs(path)
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        raise ObstacleError(f"the file system refuses such a name: {error.strerror}") from error
    bare()(workshop, path)


EXHIBITS: Final = tuple(Exhibit(path=b"names/" + name, build=_build) for name in _NAMES)
