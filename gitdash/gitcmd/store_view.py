"""A view of an object store in which git finds packs, their indexes and loose objects, and nothing that is derived.

Made of symbolic links, for a git that cannot be told to do without `.rev` files: before 2.41 it takes the sizes of
packed objects from them, without a look at their checksum. Source: gitrepository-layout(5) "objects", packfile.c and
pack-revindex.c of git 2.39.5. Nothing is opened here, and nothing is written outside the folder that is given.
"""

import os
import re
from collections.abc import Sequence
from typing import Final

_PACK_FILE: Final = re.compile(rb".*\.(?:pack|idx)")
_FAN_OUT: Final = re.compile(rb"[0-9a-f]{2}")


def make_store_view(folder: bytes, objects_dir: bytes, lenders: Sequence[bytes]) -> bytes:
    """Make a view in `folder`, which is there and empty, and return its objects folder.

    `lenders` are all object stores that are borrowed from, nested ones included. One that cannot be listed stays as it
    is, so that git says what is wrong with it. Raises OSError.
    """
    views = []
    for number, store in enumerate((objects_dir, *lenders)):
        view = os.path.join(folder, b"%d" % number)
        views.append(view if _link(store, view) or store == objects_dir else store)
    if lenders:
        os.mkdir(os.path.join(views[0], b"info"))
        with open(os.path.join(views[0], b"info", b"alternates"), "xb") as file:
            file.write(b"".join(lender + b"\n" for lender in views[1:]))
    return views[0]


def make_pack_view(folder: bytes, objects_dir: bytes, stem: bytes) -> bytes:
    """Make a store in `folder`, which is not there yet, in which git finds one pack of a store and nothing else.

    `stem` is the pack's name without suffix. Raises OSError.
    """
    os.makedirs(os.path.join(folder, b"pack"))
    for suffix in (b".pack", b".idx"):
        name = stem + suffix
        os.symlink(os.path.join(objects_dir, b"pack", name), os.path.join(folder, b"pack", name))
    return folder


def _link(store: bytes, view: bytes) -> bool:
    """Fill the view of one store; return whether the store could be listed."""
    os.mkdir(view)
    os.mkdir(os.path.join(view, b"pack"))
    names = _names(store)
    for name in names or ():
        if _FAN_OUT.fullmatch(name):
            os.symlink(os.path.join(store, name), os.path.join(view, name))
    for name in _names(os.path.join(store, b"pack")) or ():
        if _PACK_FILE.fullmatch(name):
            os.symlink(os.path.join(store, b"pack", name), os.path.join(view, b"pack", name))
    return names is not None


def _names(folder: bytes) -> list[bytes] | None:
    try:
        return os.listdir(folder)
    except OSError:
        return None
