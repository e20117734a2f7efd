"""Whether a repository changed, from what lstat(2) says of paths that are known: no folder is listed for it.

A folder whose time is the same has the same names in it, so lstat(2) of every folder and of every file whose size or
time counts is enough. What a fingerprint covers stands here once: the walk of an inspection takes it over what it
met, and the check takes it again over the paths that the walk left.

Imports little, for a worker that only checks shall start in 20 ms; `typing` and `dataclasses` alone take 15.
"""

import os
from array import array
from collections.abc import Iterable
from hashlib import blake2b
from operator import attrgetter

PATHS_LIMIT = 4_096
"""A repository with more folders and files outside the shards is walked again: its paths would fill the state file."""

_KIND_MASK = 0o170000
_FOLDER = 0o040000
_DIGEST_BYTES = 16
_OBJECTS = b"../objects"
_ALTERNATES = b"info/alternates"
_mtime_ns = attrgetter("st_mtime_ns")


class Digest:
    """The digest of one git directory under way."""

    __slots__ = ("_hash", "newest_ns", "oldest_ns")

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=_DIGEST_BYTES)
        self.newest_ns = 0
        """The latest mtime of any entry, in nanoseconds."""
        self.oldest_ns = 1
        """The earliest, if any is 0 or less: a file system that knows no times, and shows no change in them."""

    def add(self, joined_paths: bytes, stats: list[os.stat_result]) -> None:
        """Add folders and files: names, times, modes, and sizes and number of links of what is no folder."""
        self.add_shards(joined_paths, stats)
        self._hash.update(array("q", [found[0] for found in stats]))
        files = [found for found in stats if found[0] & _KIND_MASK != _FOLDER]
        self._hash.update(array("q", [found[6] for found in files]))
        self._hash.update(array("q", [found[3] for found in files]))

    def add_shards(self, joined_names: bytes, stats: list[os.stat_result]) -> None:
        """Add folders whose change shows in their times alone."""
        times_ns = list(map(_mtime_ns, stats))
        self._hash.update(joined_names)
        self._hash.update(_words(times_ns))
        self.newest_ns = max(self.newest_ns, *times_ns)
        self.oldest_ns = min(self.oldest_ns, *times_ns)

    def value(self) -> bytes:
        """Return the digest."""
        return self._hash.digest()


def _words(times_ns: list[int]) -> bytes:
    """Return times as bytes for a digest; in 64 bits nanoseconds end in the year 2262, times of files do not."""
    try:
        return array("q", times_ns).tobytes()
    except OverflowError:
        return repr(times_ns).encode()


def joined(paths: Iterable[bytes]) -> bytes:
    """Return paths as one string; no path holds a NUL."""
    return b"\0".join(paths)


def watched_text(joined_paths: bytes, joined_shards: bytes) -> bytes:
    """Return what `watched_fingerprint` takes."""
    return joined_paths + b"\0\0" + joined_shards


def has_alternates(watched: bytes) -> bool:
    """Tell whether there is an alternates file: then it is part of the fingerprint where it leads."""
    return b"\0" + _ALTERNATES + b"\0" in watched


def watched_fingerprint(watched: bytes, alternates_text: bytes) -> bytes | None:
    """Return the fingerprint of the repository whose `objects` is the current folder; None if a path is gone.

    Args:
        watched: What the last walk left: paths as seen from `objects`.
        alternates_text: What of the lenders matters, empty without.
    """
    joined_paths, _, joined_shards = watched.partition(b"\0\0")
    paths = joined_paths.split(b"\0")
    try:
        stats = list(map(os.lstat, paths))
        shard_stats = list(map(os.lstat, joined_shards.split(b"\0"))) if joined_shards else []
    except OSError:
        return None
    digest = Digest()
    digest.add(joined_paths, stats)
    if shard_stats:
        digest.add_shards(joined_shards, shard_stats)
    return combined_fingerprint(digest.value(), alternates_text, stats[paths.index(_OBJECTS)])


def combined_fingerprint(
    digest: bytes, alternates_text: bytes, objects: os.stat_result | None, own_digest: bytes = b""
) -> bytes:
    """Return the fingerprint of a repository from its parts; `own_digest` is that of a linked worktree's directory."""
    identity = b"%d %d" % (objects.st_dev, objects.st_ino) if objects is not None else b""
    return blake2b(b"\n".join((digest, alternates_text, own_digest, identity)), digest_size=_DIGEST_BYTES).digest()
