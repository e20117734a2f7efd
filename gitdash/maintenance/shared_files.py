"""Whether two object stores are one in part: what is removed in one would be gone in the other.

A folder or a file is the same one where device and inode are, after links are followed: a symbolic link, a bind mount,
one network file system mounted twice. Two hard links are not: the name of one goes, and the file stays. stat(2) and
directory entries only. Source: gitrepository-layout(5) "objects", stat(2). Judges nothing.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from typing import Final

from gitdash.units import printable_path

_FOLDERS: Final = (b"", b"pack", b"info", *(b"%02x" % number for number in range(256)))
_SHARDS: Final = _FOLDERS[3:]
_PACK_FILE: Final = re.compile(rb".+\.(?:pack|idx)")
_LOOSE_OBJECT: Final = re.compile(rb"[0-9a-f]{38}(?:[0-9a-f]{24})?")


def shared_with(objects_dir: bytes, lender: bytes) -> str | None:
    """Return what a store shares with a lender, or what the lender only links to, one clause; None if it is nothing."""
    for folder in _FOLDERS:
        own, lent = _followed(objects_dir + b"/" + folder), _followed(lender + b"/" + folder)
        if own is not None and lent is not None and os.path.samestat(own, lent):
            return f"its folder {printable_path(b'objects/' + folder)} is that of its lender {printable_path(lender)}"
    return _shared_pack(objects_dir, lender) or _linked_loose(lender)


def _shared_pack(objects_dir: bytes, lender: bytes) -> str | None:
    own = {found.st_ino: (path, found) for path, found in _pack_files(objects_dir)}
    for path, lent in _pack_files(lender):
        own_path, found = own.get(lent.st_ino, (b"", None))
        if found is not None and _is_one_file(
            found, lent, is_same_name=own_path == path, is_link=_is_link(lender + path)
        ):
            return f"its file {printable_path(b'objects' + own_path)} is that of its lender {printable_path(lender)}"
    return None


def _is_one_file(own: os.stat_result, lent: os.stat_result, *, is_same_name: bool, is_link: bool) -> bool:
    """Inode numbers of two devices mean nothing, but those of one server mounted twice go with equal names."""
    if own.st_dev != lent.st_dev:
        return is_same_name and (own.st_size, own.st_mtime_ns) == (lent.st_size, lent.st_mtime_ns)
    return is_link or lent.st_nlink < 2


def _pack_files(objects_dir: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    for name in _names(objects_dir + b"/pack"):
        path = b"/pack/" + name
        found = _followed(objects_dir + path) if _PACK_FILE.fullmatch(name) else None
        if found is not None:
            yield path, found


def _linked_loose(lender: bytes) -> str | None:
    path = next(_linked_loose_objects(lender), None)
    return None if path is None else f"an object of its lender is a symbolic link: {printable_path(lender + path)}"


def linked_object_file(objects_dir: bytes) -> bytes | None:
    """Return the first pack, index or loose object that is a symbolic link, relative to the store; None if none is."""
    for name in sorted(_names(objects_dir + b"/pack")):
        if _PACK_FILE.fullmatch(name) and _is_link(objects_dir + b"/pack/" + name):
            return b"pack/" + name
    path = next(_linked_loose_objects(objects_dir), None)
    return None if path is None else path.removeprefix(b"/")


def _linked_loose_objects(objects_dir: bytes) -> Iterator[bytes]:
    for shard in _SHARDS:
        with contextlib.suppress(OSError), os.scandir(objects_dir + b"/" + shard) as entries:
            for entry in entries:
                if entry.is_symlink() and _LOOSE_OBJECT.fullmatch(entry.name):
                    yield b"/" + shard + b"/" + entry.name


def _names(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _followed(path: bytes) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _is_link(path: bytes) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False
