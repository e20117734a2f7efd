"""One walk over a git directory, whose result all parts share, so that nothing is looked at twice.

It lists each folder once and asks lstat(2) once for each entry. It does not enter the shards `objects/00` to
`objects/ff` of the directory itself: loose.py does, for only a full inspection needs them. Symbolic links are not
followed, except `objects`, `objects/pack`, `objects/info` and `refs`, which git follows and which tools such as
contrib/workdir/git-new-workdir and Android's repo make.

The digest that it collects says whether anything changed: equal digests mean that no entry was added, removed or
renamed, and that no file outside the shards changed its size, time or mode.
"""

import os
import stat
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

from gitdash.inspection.files import FileError, FileMissingError, file_error
from gitdash.inspection.folders import list_folder
from gitdash.inspection.sums import FileSums
from gitdash.inspection.watch import PATHS_LIMIT, Digest, joined, watched_text

SHARD_NAMES: Final = frozenset(b"%02x" % number for number in range(256))

_MAXIMUM_ENTRIES: Final = 5_000_000
"""A walk ends after so many entries: at one microsecond each it would else hold a worker for minutes."""

_PENDING_ENTRIES: Final = 20_000
"""So many results of lstat(2) are kept before they are summed up and let go."""

_FOLLOWED: Final = frozenset({b"objects", b"objects/pack", b"objects/info", b"refs"})
_STREAMED: Final = frozenset({b"refs", b"logs", b"lfs", b"modules"})
"""Top folders that may hold any number of files of which nothing but the sums is needed."""

_KIND_MASK: Final = 0o170000
_FOLDER: Final = 0o040000
_FILE: Final = 0o100000
_LINK: Final = 0o120000

Stats = dict[bytes, os.stat_result]


@dataclass(slots=True)
class References:
    """What the walk saw below `refs`; of what may be millions of entries it keeps the names only."""

    names: list[bytes] = field(default_factory=list)
    """Full names, in no order."""
    empty: list[tuple[bytes, float]] = field(default_factory=list)
    """Name and mtime of zero-length references."""
    locks: Stats = field(default_factory=dict)
    """Relative paths of `*.lock`."""
    has_dangling_namespace: bool = False


@dataclass(slots=True)
class Listing:
    """What lstat(2) says of everything below one git directory, apart from the content of the shards."""

    prefix: bytes
    """What comes before each relative path: empty, or it ends with a slash."""
    objects_prefix: bytes
    """What comes instead of `objects/`: empty if that is the current folder."""
    folders: dict[bytes, Stats] = field(default_factory=dict)
    """Entries by name, by relative path of the folder. Without shards, and without `refs`, `logs`, `lfs`, `modules`."""
    shards: list[bytes] = field(default_factory=list)
    """Names of the folders `objects/00` to `objects/ff`."""
    references: References = field(default_factory=References)
    newest_ns: int = 0
    """The latest mtime of any entry, in nanoseconds."""
    unreadable: list[tuple[bytes, str]] = field(default_factory=list)
    """Relative path and reason of folders that could not be listed."""
    entry_count: int = 0
    fingerprint: bytes = b""
    """Digest of what was seen."""
    watched: bytes = b""
    """The paths that tell whether anything changed, see `watch`; empty if only another walk can tell."""
    sums: FileSums = field(default_factory=FileSums)
    """Of the files that are no longer in `files`; `total` adds those."""
    files: dict[bytes, list[os.stat_result]] = field(default_factory=dict)
    """Files that are not summed up yet, by the first part of the path: an unchanged repository never needs the sums."""

    def top(self) -> Stats:
        """Return the entries of the git directory itself."""
        return self.folders.get(b"", {})

    def path(self, relative_path: bytes) -> bytes:
        """Return the path by which a file can be opened."""
        if relative_path.startswith(b"objects/"):
            return self.objects_prefix + relative_path[8:]
        return self.prefix + relative_path

    def total(self) -> FileSums:
        """Return the sums over all files."""
        for part, stats in self.files.items():
            self.sums.add(part, stats)
        self.files.clear()
        return self.sums

    def add_files(self, part: bytes, stats: list[os.stat_result]) -> None:
        """Note files, at least one, below the part of the path that comes first."""
        if part in self.files:
            self.files[part] += stats
        else:
            self.files[part] = stats


@dataclass(slots=True)
class _Seen:
    """What the walk met and the digest does not have yet: gathered, for hashing each folder alone takes longer."""

    digest: Digest = field(default_factory=Digest)
    paths: list[bytes] = field(default_factory=list)
    """As seen from `objects`."""
    stats: list[os.stat_result] = field(default_factory=list)
    shard_stats: list[os.stat_result] = field(default_factory=list)
    is_watchable: bool = True
    """Everything that counts is in `paths`."""

    def add(self, folder: bytes, names: list[bytes], stats: list[os.stat_result]) -> None:
        """Add the entries of a folder, or a folder itself with one name, which is empty."""
        if folder == b"objects":
            self.paths += names
        else:
            path = folder + b"/" if folder else b""
            before = path[8:] if path.startswith(b"objects/") else b"../" + path
            self.paths += [before + name for name in names]
        self.stats += stats

    def flush(self) -> bytes:
        """Bring what was gathered into the digest and return the paths."""
        joined_paths = joined(self.paths)
        if self.stats:
            self.digest.add(joined_paths, self.stats)
        self.paths.clear()
        self.stats.clear()
        return joined_paths

    def finish(self, listing: Listing) -> None:
        """Tell the listing what was seen."""
        is_watchable = self.is_watchable and not listing.unreadable and len(self.paths) <= PATHS_LIMIT
        joined_paths, joined_shards = self.flush(), joined(listing.shards)
        if self.shard_stats:
            self.digest.add_shards(joined_shards, self.shard_stats)
        listing.fingerprint = self.digest.value()
        listing.newest_ns = self.digest.newest_ns
        if is_watchable and self.digest.oldest_ns > 0 and b"objects" in listing.folders:
            listing.watched = watched_text(joined_paths, joined_shards)


def list_git_directory(prefix: bytes, objects_prefix: bytes | None = None) -> Listing:
    """Walk over a git directory.

    Raises FileError if the directory itself cannot be listed. A folder below it that cannot is noted.

    Args:
        prefix: The path of the directory with a slash at the end; may be relative, such as `../`.
        objects_prefix: The path of its `objects` with a slash at the end, or empty if that is the current folder;
            None if it is not special.
    """
    listing = Listing(prefix=prefix, objects_prefix=prefix + b"objects/" if objects_prefix is None else objects_prefix)
    seen = _Seen()
    seen.add(b"", [b""], [_status(prefix or b".")])
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        listed = _list_noting_errors(listing, folder)
        if listed is None:
            continue
        names, stats = listed
        waiting += _take_in(listing, seen, folder, names, stats)
        listing.entry_count += len(names)
        if len(seen.paths) > _PENDING_ENTRIES:
            seen.flush()
            seen.is_watchable = False
            listing.total()
        if listing.entry_count > _MAXIMUM_ENTRIES:
            listing.unreadable.append((folder, f"stopped after {listing.entry_count} entries"))
            break
    seen.finish(listing)
    return listing


def _status(path: bytes) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise file_error(path, error) from error


def _list_noting_errors(listing: Listing, folder: bytes) -> tuple[list[bytes], list[os.stat_result]] | None:
    """List a folder of the directory; None if it vanished or cannot be listed, unless it is the directory itself."""
    path = listing.path(folder + b"/") if folder else listing.prefix
    try:
        return list_folder(path)
    except FileError as error:
        if not folder:
            raise
        if not isinstance(error, FileMissingError):
            listing.unreadable.append((folder, error.reason))
        return None


def _take_in(
    listing: Listing, seen: _Seen, folder: bytes, names: list[bytes], stats: list[os.stat_result]
) -> list[bytes]:
    """Add one folder to the listing; return the folders in it that are to be walked."""
    if folder == b"objects":
        names, stats = _without_shards(listing, seen, names, stats)
    part = folder.partition(b"/")[0]
    if part not in _STREAMED:
        listing.folders[folder] = dict(zip(names, stats, strict=True))
    seen.add(folder, names, stats)
    kinds = [found[0] & _KIND_MASK for found in stats]
    files = stats
    inner: list[bytes] = []
    if _FOLDER in kinds:
        path = folder + b"/" if folder else b""
        inner = [path + name for name, kind in zip(names, kinds, strict=True) if kind == _FOLDER]
        files = [found for found, kind in zip(stats, kinds, strict=True) if kind != _FOLDER]
    if _LINK in kinds:
        inner += _followed_links(listing, seen, folder, list(compress(names, [kind == _LINK for kind in kinds])))
    if files:
        listing.add_files(part, files)
    if part == b"refs":
        _take_in_references(listing.references, folder, names, stats)
    return inner


def _without_shards(
    listing: Listing, seen: _Seen, names: list[bytes], stats: list[os.stat_result]
) -> tuple[list[bytes], list[os.stat_result]]:
    """Put the shards aside, whose change shows in their times alone, and return the other entries."""
    are_shards = [
        name in SHARD_NAMES and found[0] & _KIND_MASK == _FOLDER for name, found in zip(names, stats, strict=True)
    ]
    listing.shards = list(compress(names, are_shards))
    seen.shard_stats = list(compress(stats, are_shards))
    are_others = [not is_shard for is_shard in are_shards]
    return list(compress(names, are_others)), list(compress(stats, are_others))


def _followed_links(listing: Listing, seen: _Seen, folder: bytes, names: list[bytes]) -> list[bytes]:
    """Return those of the links that are followed to a folder."""
    paths = [folder + b"/" + name if folder else name for name in names]
    return [path for path in paths if path in _FOLLOWED and _is_followed(listing, seen, path)]


def _is_followed(listing: Listing, seen: _Seen, relative_path: bytes) -> bool:
    path = listing.path(relative_path)
    try:
        found = os.stat(path)
    except OSError as error:
        listing.unreadable.append((relative_path, f"a symbolic link that leads nowhere: {error.strerror}"))
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if relative_path == b"refs" and not _lies_in_git_directory(path):
        listing.unreadable.append((relative_path, "a symbolic link to something that is no repository's refs"))
        return False
    seen.add(relative_path, [b"%d %d" % (found.st_dev, found.st_ino)], [found])
    seen.is_watchable = False
    return True


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
        references.names.append(folder + b"/" + name)
        if not found[6] and kind == _FILE:
            references.empty.append((folder + b"/" + name, found.st_mtime))
