"""The walk below the roots: which folders are looked at, and in which order.

Source: as in `roots`, whose half this is. Depth first, by name. One `lstat` for each folder and one listing; a bare
repository named `*.git` is recognised without a listing, so that a forge's storage costs a handful of system calls
for each repository.
"""

import os
import stat
import threading
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash.discovery.exclusion import Exclusion
from gitdash.discovery.git_directory import (
    PARTS,
    GitDirectory,
    ReadFile,
    examine,
    kind_of_file,
    may_be_git_directory,
    real_path,
    system_reason,
    was_git_directory,
)
from gitdash.discovery.git_entry import Broken, Target, follow, is_below, lies_in_modules
from gitdash.discovery.layout import storage_layout
from gitdash.discovery.mounts import special_filesystem
from gitdash.gitcmd.ownership import foreign_owner
from gitdash.model.repository import NotRepository, Repository, RepositoryKind

_NOT_ENTERED: Final = frozenset({b"objects", b"refs", b"logs", b"lfs", b"modules", b"worktrees"})
"""Folders of a git directory in which a thorough search finds nothing that it does not find without them."""
_ENTRIES_BETWEEN_CANCEL_CHECKS: Final = 4096
_LISTING_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Result = Repository | NotRepository


@dataclass(slots=True)
class Place:
    """Where a search is: written by it for each folder, and read by whoever waits for it in another thread."""

    path: bytes = b""


@dataclass(frozen=True, slots=True)
class _Folder:
    """One folder that waits to be looked at."""

    path: bytes
    name: bytes
    depth: int
    """Below the root; modules have the depth of their repository."""
    in_modules: bool
    device: int
    """Of the folder above it; its own for a root."""


@dataclass(slots=True)
class _Listing:
    """The entries of one folder that matter."""

    folders: list[str] = field(default_factory=list)
    """Without `.git`."""
    parts: set[str] = field(default_factory=set)
    """Those of the names in a git directory that are there, whatever they are."""
    has_git_entry: bool = False
    candidates: list[str] = field(default_factory=list)
    """Entries named `*.git` that are not folders."""
    links: list[str] = field(default_factory=list)
    """Other symbolic links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What the searches below all roots share."""

    read: ReadFile
    effective_uid: int
    exclusion: Exclusion
    maximum_depth: int | None
    one_file_system: bool
    is_thorough: bool
    cancel: threading.Event
    trusted_roots: frozenset[bytes]
    place: Place = field(default_factory=Place)
    avoided: Container[bytes] = frozenset()
    """Folders that are not touched at all; may grow while the search runs."""
    entered: set[bytes] = field(default_factory=set)
    """Git directories in which repositories are looked for."""
    git_directories: set[tuple[int, int]] = field(default_factory=set)
    """(device, inode) of those that have come out, below whichever root."""
    rejected_paths: set[bytes] = field(default_factory=set)
    """Candidates that have come out as none, or as broken."""

    def below(self, root: bytes) -> Iterator[Result]:
        """Search one root, an absolute path without `..`."""
        self.place.path = root
        return iter(()) if root in self.avoided else _RootSearch(self, root).results()

    def trusts(self, *paths: bytes) -> bool:
        """Say whether all of `paths` lie below roots that the user vouches for."""
        return all(any(is_below(path, root) for root in self.trusted_roots) for path in paths)


class _RootSearch:
    """The search below one root."""

    __slots__ = ("_common", "_pending", "_read", "_real_root", "_root")

    def __init__(self, common: Search, root: bytes) -> None:
        self._common = common
        self._read = common.read
        self._root = root
        self._real_root = os.path.realpath(root)
        self._pending: list[_Folder] = []

    def results(self) -> Iterator[Result]:
        """Yield what is found as it is found; ends early once the survey is cancelled."""
        path, name = self._root, os.path.basename(self._root)
        if name == b".git":
            yield from self._git_entry(os.path.dirname(path), 0)[0]
        else:
            try:
                device = os.stat(path).st_dev
            except OSError as error:
                yield from self._unsearchable(path, error)
                return
            self._pending.append(_Folder(path, name, 0, lies_in_modules(path, self._read), device))
        while self._pending and not self._common.cancel.is_set():
            folder = self._pending.pop()
            self._common.place.path = folder.path
            if folder.path in self._common.avoided:
                continue
            try:
                yield from self._look_at(folder)
            except OSError as error:
                yield from self._unsearchable(folder.path, error)

    def _look_at(self, folder: _Folder) -> Iterator[Result]:
        """Say what one folder is, and put what is to be searched below it on the stack. Raises OSError."""
        is_root = folder.path == self._root
        status = os.stat(folder.path) if is_root else os.lstat(folder.path)
        if not stat.S_ISDIR(status.st_mode):
            return
        if status.st_dev != folder.device and (barrier := self._barrier(folder.path)):
            yield from self._rejected(folder.path, barrier)
            return
        if folder.name.endswith(b".git"):
            examined = examine(folder.path, self._read)
            if isinstance(examined, GitDirectory):
                yield from self._git_directory(folder, examined, status)
                return
        listing = self._list(self._real_root if is_root else folder.path)
        yield from self._by_listing(folder, status, listing)

    def _by_listing(self, folder: _Folder, status: os.stat_result, listing: _Listing) -> Iterator[Result]:
        """Decide by the names in a folder what it is. git looks at `.git` first, so do we."""
        is_work_tree = False
        if listing.has_git_entry:
            results, is_work_tree = self._git_entry(folder.path, folder.depth)
            yield from results
        if not is_work_tree and may_be_git_directory(folder.name, listing.parts, has_git_entry=listing.has_git_entry):
            examined = examine(folder.path, self._read)
            if isinstance(examined, GitDirectory):
                yield from self._git_directory(folder, examined, status)
                return
            yield from self._no_git_directory(folder, listing, examined)
            if "HEAD" in listing.parts or (listing.parts and folder.name.endswith(b".git")):
                self._enter(folder.path, folder.depth, status.st_dev)
                return
        if self._common.is_thorough:
            yield from self._linked(folder.path, listing.links)
        for name in listing.candidates:
            yield from self._candidate(_join(folder.path, os.fsencode(name)))
        self._descend(folder, status.st_dev, listing.folders)

    def _no_git_directory(self, folder: _Folder, listing: _Listing, reason: str) -> Iterator[Result]:
        """Tell one that is damaged from a folder that looks like one by its name or by some in it."""
        if was_git_directory(folder.path, listing.parts):
            kind = RepositoryKind.SUBMODULE if folder.in_modules else RepositoryKind.BARE
            yield from self._broken(folder.path, folder.path, kind, reason)
        elif folder.name.endswith(b".git") or "commondir" in listing.parts:
            yield from self._rejected(folder.path, reason if listing.parts else "no HEAD, no objects, no refs")

    def _list(self, path: bytes) -> _Listing:
        """List a folder that must not be a symbolic link. Raises OSError."""
        listing = _Listing()
        descriptor = os.open(path, _LISTING_FLAGS)
        try:
            with os.scandir(descriptor) as entries:
                for number, entry in enumerate(entries):
                    _note(entry, listing)
                    if number % _ENTRIES_BETWEEN_CANCEL_CHECKS == 0 and self._common.cancel.is_set():
                        break
        finally:
            os.close(descriptor)
        return listing

    def _descend(self, folder: _Folder, device: int, names: list[str]) -> None:
        if not folder.in_modules and folder.depth == self._common.maximum_depth:
            return
        depth = folder.depth if folder.in_modules else folder.depth + 1
        names.sort(reverse=True)
        for text in names:
            name = os.fsencode(text)
            path = _join(folder.path, name)
            if not self._common.exclusion.covers(path, name, self._root):
                self._pending.append(_Folder(path, name, depth, folder.in_modules, device))

    def _enter(self, git_dir: bytes, depth: int, device: int) -> None:
        """Put on the stack what lies in a git directory and is none of git's own large folders, if that is wanted."""
        if not self._common.is_thorough or git_dir in self._common.entered:
            return
        self._common.entered.add(git_dir)
        try:
            with os.scandir(git_dir) as entries:
                names = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)} - _NOT_ENTERED
        except OSError:
            names = {b""}  # the search says why
        self._pending += [_Folder(os.path.join(git_dir, name), name, depth, False, device) for name in names]

    def _linked(self, folder: bytes, names: list[str]) -> Iterator[NotRepository]:
        for path in (_join(folder, os.fsencode(name)) for name in sorted(names)):
            if os.path.isdir(path):
                yield from self._rejected(path, "a symbolic link to a folder, which is not followed")

    def _git_directory(self, folder: _Folder, examined: GitDirectory, status: os.stat_result) -> Iterator[Result]:
        """A folder that is a git directory and was not met as some work tree's `.git`."""
        kind = RepositoryKind.SUBMODULE if folder.in_modules else RepositoryKind.BARE
        target = Target(
            git_dir=folder.path,
            common_dir=examined.common_dir,
            kind=RepositoryKind.LINKED_WORKTREE if examined.linked else kind,
            owned_paths=(folder.path,),
        )
        return iter(self._repository(folder.path, target, status, folder.depth))

    def _git_entry(self, work_tree: bytes, depth: int) -> tuple[Sequence[Result], bool]:
        """Follow `.git`; the second value says whether it leads to a repository, new or known."""
        target = follow(work_tree, self._real_root, self._read)
        if target is None:
            return (), False
        if isinstance(target, str):
            return self._rejected(_join(work_tree, b".git"), target), False
        if isinstance(target, Broken):
            git_dir = _join(work_tree, b".git")
            return self._broken(work_tree, git_dir, RepositoryKind.WORKTREE, f".git: {target.reason}"), False
        at_git_dir = target.kind in {RepositoryKind.SUBMODULE, RepositoryKind.BARE}
        try:
            status = os.stat(target.git_dir)
        except OSError as error:
            return self._unsearchable(target.git_dir, error), False
        return self._repository(target.git_dir if at_git_dir else work_tree, target, status, depth), True

    def _repository(
        self, path: bytes, target: Target, status: os.stat_result, depth: int
    ) -> tuple[Repository] | tuple[()]:
        """Make the row of a git directory that has not come out yet, and put its modules on the stack."""
        identity = (status.st_dev, status.st_ino)
        if identity in self._common.git_directories:
            return ()
        self._common.git_directories.add(identity)
        uid = self._common.effective_uid
        owned_by_us = len(target.owned_paths) == 1 and status.st_uid == uid
        foreign = None if owned_by_us else foreign_owner(target.owned_paths, uid)
        modules = target.git_dir + b"/modules"
        if os.access(modules, os.F_OK):
            self._pending.append(_Folder(modules, b"modules", depth, True, status.st_dev))
        self._enter(target.common_dir, depth, status.st_dev)
        repository = Repository(
            path=path,
            git_dir=target.git_dir,
            common_dir=target.common_dir,
            kind=target.kind,
            layout=storage_layout(target.git_dir),
            root=self._root,
            foreign_owner_uid=foreign[1] if foreign else None,
            foreign_path=foreign[0] if foreign else None,
            trusted_by_config=self._common.trusts(path, target.git_dir, target.common_dir),
        )
        return (repository,)

    def _broken(self, path: bytes, git_dir: bytes, kind: RepositoryKind, problem: str) -> tuple[Repository] | tuple[()]:
        """Make the row of what clearly was a repository, so that its loss is a finding."""
        if path in self._common.rejected_paths:
            return ()
        self._common.rejected_paths.add(path)
        repository = Repository(
            path=path,
            git_dir=git_dir,
            common_dir=git_dir,
            kind=kind,
            layout=storage_layout(git_dir),
            root=self._root,
            trusted_by_config=self._common.trusts(path),
            problem=problem,
        )
        return (repository,)

    def _candidate(self, path: bytes) -> tuple[NotRepository] | tuple[()]:
        """An entry named `*.git` that is not a folder; a link to what we search anyway is not worth a word."""
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode) and is_below(real_path(path), self._real_root):
                return ()
        except FileNotFoundError:
            return self._rejected(path, "a symbolic link that leads nowhere") if os.path.islink(path) else ()
        except OSError as error:
            return self._rejected(path, system_reason(error))
        followed = " out of the root, which is not followed" if stat.S_ISLNK(mode) else ", not a folder"
        return self._rejected(path, kind_of_file(mode) + followed, is_plain_file=stat.S_ISREG(mode))

    def _barrier(self, path: bytes) -> str | None:
        """Say why another file system is not searched; None if it is."""
        if self._common.one_file_system:
            return "another file system, which is not searched"
        kind = special_filesystem(path)
        return None if kind is None else f"a file system of type {kind}, which holds no repositories"

    def _unsearchable(self, path: bytes, error: OSError) -> tuple[NotRepository] | tuple[()]:
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return ()
        return self._rejected(path, f"cannot be searched: {system_reason(error)}")

    def _rejected(self, path: bytes, reason: str, *, is_plain_file: bool = False) -> tuple[NotRepository] | tuple[()]:
        if path in self._common.rejected_paths:
            return ()
        self._common.rejected_paths.add(path)
        return (NotRepository(path=path, reason=reason, is_plain_file=is_plain_file),)


def _note(entry: os.DirEntry[str], listing: _Listing) -> None:
    name = entry.name
    if name in PARTS:
        listing.parts.add(name)
    try:
        is_folder = entry.is_dir(follow_symlinks=False)
    except OSError:
        is_folder = True  # whoever looks at it says why that fails
    if name == ".git":
        listing.has_git_entry = True
    elif is_folder:
        listing.folders.append(name)
    elif name.endswith(".git"):
        listing.candidates.append(name)
    elif entry.is_symlink():
        listing.links.append(name)


def _join(folder: bytes, name: bytes) -> bytes:
    return (b"" if folder == b"/" else folder) + b"/" + name
