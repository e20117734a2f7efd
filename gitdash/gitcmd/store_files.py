"""What git would open in an object store, looked at before git is: a FIFO there holds git up for ever.

lstat(2) and directory entries only, nothing is opened. Source: gitrepository-layout(5) "objects", and packfile.c,
midx.c, commit-graph.c and object-file.c of git 2.39.5 and 2.55.0, which open all of these without O_NONBLOCK. Files
that only gc reads (`.mtimes`, `.keep`) are left out. A file that changes afterwards is bounded by the time limit.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import Final

_IN_PACK: Final = re.compile(rb".*\.(?:pack|rev|bitmap)|multi-pack-index")
"""Not the folder `multi-pack-index.d`, nor what other programs leave here."""
_IN_INFO: Final = (b"alternates", b"commit-graph")
_CHAINS: Final = (b"info/commit-graphs", b"pack/multi-pack-index.d")
_FAN_OUT: Final = frozenset(b"%02x" % number for number in range(256))
_LOOSE_OBJECT: Final = re.compile(rb"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_TOP_FILES: Final = (b"HEAD", b"config", b"config.worktree", b"commondir", b"shallow", b"packed-refs")
_KIND_NAMES: Final = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


def irregular_file(objects_dir: bytes, *, looks_at_loose: bool = True) -> tuple[bytes, str] | None:
    """Return the first file that git would open and that is not a regular one, with what it is; None if all are.

    The path is relative to `objects_dir`. A symbolic link counts as what it leads to; one that leads nowhere is
    passed over, as are folders that cannot be listed: git says so itself. Loose objects are left out if somebody has
    just looked at each of them: to list up to 256 folders takes longer than all the rest.
    """
    return _first_irregular(objects_dir, _opened(objects_dir, looks_at_loose=looks_at_loose))


def _first_irregular(folder: bytes, paths: Iterable[bytes]) -> tuple[bytes, str] | None:
    for path in paths:
        try:
            mode = os.stat(os.path.join(folder, path)).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            return path, _KIND_NAMES.get(stat.S_IFMT(mode), "not a regular file")
    return None


def irregular_reference_file(git_dir: bytes) -> tuple[bytes, str] | None:
    """Return the first file that git would open to list the references of a reftable; as `irregular_file`."""
    names = [*_TOP_FILES, *_irregular_entries(git_dir, b"reftable")]
    return _first_irregular(git_dir, names)


def _opened(objects_dir: bytes, *, looks_at_loose: bool) -> Iterator[bytes]:
    """Names of irregular entries, links included, that git would open."""
    yield from (name for name in _irregular_entries(objects_dir, b"info") if os.path.basename(name) in _IN_INFO)
    for folder in _CHAINS:
        yield from _irregular_entries(objects_dir, folder)
    for path in _irregular_entries(objects_dir, b"pack"):
        name = os.path.basename(path)
        is_index = name.endswith(b".idx") and os.path.exists(os.path.join(objects_dir, path[:-3] + b"pack"))
        if is_index or _IN_PACK.fullmatch(name):
            yield path
    for folder in _shards(objects_dir) if looks_at_loose else ():
        for path in _irregular_entries(objects_dir, folder):
            if _LOOSE_OBJECT.fullmatch(os.path.basename(path)):
                yield path


def _shards(objects_dir: bytes) -> list[bytes]:
    """Return the fan-out folders that are there: to look for all 256 takes longer than a small store does."""
    try:
        return sorted(_FAN_OUT.intersection(os.listdir(objects_dir)))
    except OSError:
        return sorted(_FAN_OUT)


def _irregular_entries(objects_dir: bytes, folder: bytes) -> list[bytes]:
    try:
        with os.scandir(objects_dir + b"/" + folder) as entries:
            found = [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(folder + b"/" + name for name in found)
