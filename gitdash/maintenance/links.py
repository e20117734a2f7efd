"""Symbolic links at names through which git writes: what a lock, a rename or a deletion would reach elsewhere.

git's lock files follow a symbolic link and replace what it leads to (lockfile.c `resolve_symlink`), folders are entered
through one, and reflogs are appended to through one. So a repository can name any file of its user, or another
repository, as the place of its packed-refs, its multi-pack-index, its references or a reflog. Tried with git 2.39.5,
2.47.3 and 2.55.0. lstat(2) and directory entries only; nothing is opened, nothing is followed.

`HEAD` is left out: git still knows it as a link to a branch. So are files of packs and loose objects, which git
never writes through a link and deletes as the link that they are. Judges nothing.
"""

import collections
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

OBJECTS: Final = b"objects"
"""Many tools make this one a link, with care: who asks decides whether it counts."""
_SINGLE: Final = (
    OBJECTS,
    b"objects/info",
    b"objects/info/alternates",
    b"objects/info/commit-graph",
    b"objects/info/commit-graphs",
    b"objects/info/commit-graphs/commit-graph-chain",
    b"objects/maintenance.lock",
    b"objects/pack",
    b"objects/pack/multi-pack-index",
    b"objects/pack/multi-pack-index.d",
    b"objects/pack/multi-pack-index.d/multi-pack-index-chain",
    b"packed-refs",
    b"packed-refs.new",
    b"shallow",
    b"FETCH_HEAD",
    b"gc.pid",
    b"info",
    b"worktrees",
    b"reftable",
    b"reftable/tables.list",
)
_SHARDS: Final = frozenset(b"objects/%02x" % number for number in range(256))
_WALKED: Final = (b"refs", b"logs")
"""With everything below them."""
_INDEX: Final = b"index"
_OF_WORK_TREE: Final = (b"HEAD", b"index", b"gitdir", b"commondir")
"""What git reads of each linked work tree to know what is reachable."""
_LOCK_SUFFIX: Final = b".lock"
_PACKED_REFERENCE_BYTES: Final = 70
"""A line of packed-refs: an id, and a name of some 28 characters."""
_ENTRIES_MAXIMUM_COUNT: Final = 5_000_000
_LINKS_MAXIMUM_COUNT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The symbolic links of one repository at names that git writes."""

    paths: tuple[bytes, ...] = ()
    """Relative to the common directory, at most 100, in the order in which they were found."""
    irregular: tuple[bytes, ...] = ()
    """What is neither file nor folder nor link, such as a FIFO, among what git reads there: at most 100."""
    is_complete: bool = True
    """All was looked at: False if a folder could not be listed, or holds more than five million entries."""


def find_links(common_dir: bytes, *, maximum_count: int = _ENTRIES_MAXIMUM_COUNT) -> Links:
    """Look at every name of a common directory through which git writes; `maximum_count` bounds the entries."""
    paths = [name for name in _SINGLE if _is_link(common_dir + b"/" + name)]
    paths += _linked_shards(common_dir)
    paths += [name + _LOCK_SUFFIX for name in _SINGLE if _is_link(common_dir + b"/" + name + _LOCK_SUFFIX)]
    walk = _Walk(common_dir=common_dir, left_count=maximum_count)
    work_trees = _work_trees(common_dir)
    paths += [folder for folder in work_trees if _is_link(common_dir + b"/" + folder)]
    for top in (*_WALKED, *(folder + b"/" + name for folder in work_trees for name in _WALKED)):
        paths += walk.links_below(top)
        if len(paths) > _LINKS_MAXIMUM_COUNT:
            break
    read = (_INDEX, *(folder + b"/" + name for folder in work_trees for name in _OF_WORK_TREE))
    irregular = [name for name in read if _is_irregular(common_dir + b"/" + name)] + walk.irregular
    return Links(
        paths=tuple(dict.fromkeys(paths[:_LINKS_MAXIMUM_COUNT])),
        irregular=tuple(irregular[:_LINKS_MAXIMUM_COUNT]),
        is_complete=walk.is_complete,
    )


def irregular_reference(git_dir: bytes) -> bytes | None:
    """Return the first name below `refs` that is neither file nor folder nor link; None if there is none."""
    walk = _Walk(common_dir=git_dir, left_count=_ENTRIES_MAXIMUM_COUNT)
    for _ in walk.links_below(b"refs"):
        if walk.irregular:
            break
    return walk.irregular[0] if walk.irregular else None


def reference_count(git_dir: bytes) -> int:
    """Return about how many references there are, by names below `refs` and the size of `packed-refs`."""
    walk = _Walk(common_dir=git_dir, left_count=_ENTRIES_MAXIMUM_COUNT)
    collections.deque(walk.links_below(b"refs"), maxlen=0)
    try:
        packed_bytes = os.stat(git_dir + b"/packed-refs").st_size
    except OSError:
        packed_bytes = 0
    return _ENTRIES_MAXIMUM_COUNT - walk.left_count + packed_bytes // _PACKED_REFERENCE_BYTES


def _linked_shards(common_dir: bytes) -> list[bytes]:
    """Return the fan-out folders that are links, by one listing: to look at each takes too long for a small fetch."""
    try:
        with os.scandir(common_dir + b"/objects") as entries:
            return sorted(_SHARDS.intersection(b"objects/" + entry.name for entry in entries if entry.is_symlink()))
    except OSError:
        return sorted(name for name in _SHARDS if _is_link(common_dir + b"/" + name))


def _work_trees(common_dir: bytes) -> list[bytes]:
    """Return the folders of linked work trees, which have references and reflogs of their own."""
    try:
        with os.scandir(common_dir + b"/worktrees") as entries:
            return sorted(b"worktrees/" + entry.name for entry in entries)
    except OSError:
        return []


@dataclass(slots=True)
class _Walk:
    """A walk over folders that ends after so many entries."""

    common_dir: bytes
    left_count: int
    is_complete: bool = True
    irregular: list[bytes] = field(default_factory=list)

    def links_below(self, top: bytes) -> Iterator[bytes]:
        """Yield the links below a folder, or the folder if it is one."""
        waiting = [top]
        if _is_link(self.common_dir + b"/" + top):
            yield waiting.pop()
        while waiting:
            folder = waiting.pop()
            for entry in self._entries(folder):
                path = folder + b"/" + entry.name
                if entry.is_symlink():
                    yield path
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                elif not entry.is_file(follow_symlinks=False) and len(self.irregular) < _LINKS_MAXIMUM_COUNT:
                    self.irregular.append(path)

    def _entries(self, folder: bytes) -> Iterator["os.DirEntry[bytes]"]:
        try:
            with os.scandir(self.common_dir + b"/" + folder) as entries:
                for entry in entries:
                    if self.left_count <= 0:
                        self.is_complete = False
                        return
                    self.left_count -= 1
                    yield entry
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            self.is_complete = False


def _is_link(path: bytes) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_irregular(path: bytes) -> bool:
    """Tell whether something is there that is no regular file, after links are followed."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
