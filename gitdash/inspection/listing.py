"""One walk over a git directory, whose result all parts share, so that nothing is looked at twice.

It lists each folder once and asks lstat(2) once for each entry. It does not enter the shards `objects/00` to
`objects/ff` of the directory itself: loose.py does, for only a full inspection needs them. Symbolic links are not
followed, except `objects`, `objects/pack`, `objects/info` and `refs`, which git follows and which tools such as
contrib/workdir/git-new-workdir and Android's repo make.

The digest that it collects is the fingerprint of design.md, section 7: equal digests mean that no entry was added,
removed or renamed, and that no file outside the shards changed its size or time.
"""

import hashlib
import os
import stat
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

from gitdash.inspection.files import FileError, FileMissingError, file_error

SHARD_NAMES: Final = frozenset(b"%02x" % number for number in range(256))

_MAXIMUM_ENTRIES: Final = 5_000_000
"""A walk ends after so many entries: at one microsecond each it would else hold a worker for minutes."""

_FOLLOWED: Final = frozenset({b"objects", b"objects/pack", b"objects/info", b"refs"})
_KIND_MASK: Final = 0o170000
_FOLDER: Final = 0o040000
_FILE: Final = 0o100000
_LINK: Final = 0o120000

Stats = dict[bytes, os.stat_result]


@dataclass(slots=True)
class References:
    """What the walk saw below `refs`, without keeping each of what may be millions of entries."""

    count: int = 0
    empty: list[tuple[bytes, float]] = field(default_factory=list)
    """Name and mtime of zero-length references."""
    locks: Stats = field(default_factory=dict)
    """Relative paths of `*.lock`."""
    irregular: list[tuple[bytes, int]] = field(default_factory=list)
    """Name and mode of what is neither a file, a folder nor a link."""
    has_dangling_namespace: bool = False


@dataclass(slots=True)
class Listing:
    """What lstat(2) says of everything below one git directory, apart from the content of the shards."""

    prefix: bytes
    """What comes before each relative path: empty for the current folder, else it ends with a slash."""
    folders: dict[bytes, Stats] = field(default_factory=dict)
    """Entries by name, by relative path of the folder. Without `refs`, `logs`, `lfs` and `modules`."""
    references: References = field(default_factory=References)
    file_bytes: dict[bytes, int] = field(default_factory=dict)
    """Sum of st_size of files by the first part of the path; empty for files at the top."""
    allocated_bytes: int = 0
    file_count: int = 0
    linked: set[tuple[int, int]] = field(default_factory=set)
    """Device and inode of files with several links that were counted."""
    newest_ns: int = 0
    """The latest mtime of any entry, in nanoseconds."""
    unreadable: list[tuple[bytes, str]] = field(default_factory=list)
    """Relative path and reason of folders that could not be listed."""
    entry_count: int = 0
    digest: "hashlib._Hash" = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    def top(self) -> Stats:
        """Return the entries of the git directory itself."""
        return self.folders.get(b"", {})

    def path(self, relative_path: bytes) -> bytes:
        """Return the path by which a file can be opened."""
        return self.prefix + relative_path

    def add_files(self, part: bytes, stats: Sequence[os.stat_result]) -> None:
        """Count files towards the sums; one that was counted under another name adds nothing."""
        if any(found[3] > 1 for found in stats):
            stats = [found for found in stats if self._is_first_link(found)]
        self.file_count += len(stats)
        self.file_bytes[part] = self.file_bytes.get(part, 0) + sum([found[6] for found in stats])
        self.allocated_bytes += 512 * sum([found.st_blocks for found in stats])

    def _is_first_link(self, found: os.stat_result) -> bool:
        if found.st_nlink < 2:
            return True
        identity = (found.st_dev, found.st_ino)
        if identity in self.linked:
            return False
        self.linked.add(identity)
        return True


def list_folder(path: bytes) -> tuple[list[bytes], list[os.stat_result]]:
    """Return the names of a folder, sorted, and what lstat(2) says of each; `path` ends with a slash or is empty.

    An entry that vanishes between the two has never been there. Raises FileError if the folder cannot be listed.
    """
    try:
        names = os.listdir(path or b".")
    except OSError as error:
        raise file_error(path, error) from error
    names.sort()
    try:
        return names, list(map(os.lstat, [path + name for name in names]))
    except OSError:
        return _list_what_is_left(path, names)


def _list_what_is_left(path: bytes, names: list[bytes]) -> tuple[list[bytes], list[os.stat_result]]:
    kept: list[bytes] = []
    stats: list[os.stat_result] = []
    for name in names:
        try:
            found = os.lstat(path + name)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise file_error(path, error) from error
        kept.append(name)
        stats.append(found)
    return kept, stats


def list_git_directory(prefix: bytes) -> Listing:
    """Walk over a git directory; `prefix` is its path with a slash at the end, or empty for the current folder.

    Raises FileError if the directory itself cannot be listed. A folder below it that cannot is noted.
    """
    listing = Listing(prefix=prefix)
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        path = prefix + folder + b"/" if folder else prefix
        try:
            names, stats = list_folder(path)
        except FileMissingError:
            if not folder:
                raise
            continue
        except FileError as error:
            if not folder:
                raise
            listing.unreadable.append((folder, error.reason))
            continue
        waiting.extend(_take_in(listing, folder, names, stats))
        listing.entry_count += len(names)
        if listing.entry_count > _MAXIMUM_ENTRIES:
            listing.unreadable.append((folder, f"stopped after {listing.entry_count} entries"))
            break
    return listing


def _take_in(listing: Listing, folder: bytes, names: list[bytes], stats: list[os.stat_result]) -> list[bytes]:
    """Add one folder to the listing; return the folders in it that are to be walked."""
    part = folder.partition(b"/")[0]
    if part not in _STREAMED:
        listing.folders[folder] = dict(zip(names, stats, strict=True))
    if folder == b"objects":
        names, stats = _without_shards(listing, names, stats)
    kinds = [found[0] & _KIND_MASK for found in stats]
    files = stats
    inner: list[bytes] = []
    if _FOLDER in kinds:
        path = folder + b"/" if folder else b""
        inner = [path + name for name, kind in zip(names, kinds, strict=True) if kind == _FOLDER]
        files = [found for found, kind in zip(stats, kinds, strict=True) if kind != _FOLDER]
    if _LINK in kinds:
        for name, kind in zip(names, kinds, strict=True):
            if kind == _LINK:
                inner += _followed(listing, folder, name)
    _digest(listing, folder, names, stats)
    if files:
        listing.add_files(part, files)
    if part == b"refs":
        _take_in_references(listing.references, folder, names, stats)
    return inner


def _digest(listing: Listing, folder: bytes, names: list[bytes], stats: list[os.stat_result]) -> None:
    """Add names, times and sizes to the fingerprint."""
    times_ns = [found.st_mtime_ns for found in stats]
    listing.newest_ns = max(listing.newest_ns, *times_ns, 0)
    listing.digest.update(b"%b\n%b\n" % (folder, b"\0".join(names)))
    listing.digest.update(
        array("q", times_ns + [0 if found[0] & _KIND_MASK == _FOLDER else found[6] for found in stats])
    )


_STREAMED: Final = frozenset({b"refs", b"logs", b"lfs", b"modules"})
"""Top folders that may hold any number of files of which nothing but the sums is needed."""


def _without_shards(
    listing: Listing, names: list[bytes], stats: list[os.stat_result]
) -> tuple[list[bytes], list[os.stat_result]]:
    """Digest the shards with little work for each, and return the other entries."""
    are_shards = [
        name in SHARD_NAMES and found[0] & _KIND_MASK == _FOLDER for name, found in zip(names, stats, strict=True)
    ]
    _digest_shards(listing, list(compress(names, are_shards)), list(compress(stats, are_shards)))
    are_others = [not is_shard for is_shard in are_shards]
    return list(compress(names, are_others)), list(compress(stats, are_others))


def _digest_shards(listing: Listing, names: list[bytes], stats: list[os.stat_result]) -> None:
    """Add names and times; what is in a shard shows in its time alone."""
    times_ns = [found.st_mtime_ns for found in stats]
    listing.newest_ns = max(listing.newest_ns, *times_ns, 0)
    listing.digest.update(b"".join(names))
    listing.digest.update(array("q", times_ns))


def _followed(listing: Listing, folder: bytes, name: bytes) -> tuple[bytes, ...]:
    relative_path = folder + b"/" + name if folder else name
    if relative_path not in _FOLLOWED:
        return ()
    try:
        found = os.stat(listing.path(relative_path))
    except OSError as error:
        listing.unreadable.append((relative_path, f"a symbolic link that leads nowhere: {error.strerror}"))
        return ()
    if not stat.S_ISDIR(found.st_mode):
        return ()
    if relative_path == b"refs" and not _lies_in_git_directory(listing.path(relative_path)):
        listing.unreadable.append((relative_path, "a symbolic link to something that is no repository's refs"))
        return ()
    listing.newest_ns = max(listing.newest_ns, found.st_mtime_ns)
    listing.digest.update(b"%d %d %d" % (found.st_dev, found.st_ino, found.st_mtime_ns))
    return (relative_path,)


def _lies_in_git_directory(path: bytes) -> bool:
    parent = os.path.dirname(os.path.realpath(path))
    return os.path.lexists(parent + b"/HEAD") and os.path.isdir(parent + b"/objects")


def _take_in_references(references: References, folder: bytes, names: list[bytes], stats: list[os.stat_result]) -> None:
    if folder == b"refs" and b"dangling" in names:
        references.has_dangling_namespace = True
    for name, found in zip(names, stats, strict=True):
        kind = found[0] & _KIND_MASK
        if kind == _FOLDER:
            continue
        if name.endswith(b".lock"):
            references.locks[folder + b"/" + name] = found
            continue
        references.count += 1
        if not found[6] and kind == _FILE:
            references.empty.append((folder + b"/" + name, found.st_mtime))
        elif kind not in {_FILE, _LINK}:
            references.irregular.append((folder + b"/" + name, found.st_mode))
