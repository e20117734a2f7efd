"""Whether a lender's references can tell what it keeps, as far as that is seen without a walk.

A member gives up a copy only if the lender has the object and a reference there reaches it: `deduplicating` walks for
that, a plan only looks here. Sources: gitrepository-layout(5), git-repack(1). Changes nothing.
"""

import os
import stat
from collections.abc import Iterator
from typing import Final

from gitdash.inspection.files import FileError, read_start
from gitdash.units import printable_path

_START_BYTES: Final = 4096
"""Of packed-refs: its head and the first references."""


def objection_to_lender(objects_dir: bytes) -> str | None:
    """Say why nothing can be given up because this store has it, one clause; None if a walk has to tell. Printable."""
    common_dir, name = os.path.split(objects_dir)
    if name != b"objects" or not any(is_folder(common_dir + folder) for folder in (b"/refs", b"/reftable")):
        return f"{printable_path(objects_dir)} belongs to no repository whose references could be asked"
    shown = printable_path(common_dir)
    if os.path.lexists(common_dir + b"/info/grafts"):
        return f"the lender {shown} has grafts, by which its gc takes for unreachable what a walk here finds"
    if not _has_reference(common_dir):
        return f"the lender {shown} has no reference, so its next gc may drop all that it has: give it references first"
    return None


def _has_reference(common_dir: bytes) -> bool:
    """Tell whether there may be one: HEAD of a work tree is one, too, if it is detached."""
    if is_folder(common_dir + b"/reftable") or next(_files_below(common_dir + b"/refs"), None) is not None:
        return True
    if not _start(common_dir + b"/HEAD").startswith(b"ref:"):
        return True
    lines = _start(common_dir + b"/packed-refs").splitlines()
    return any(not line.startswith((b"#", b"^")) for line in lines)


def _files_below(folder: bytes) -> Iterator[bytes]:
    for parent, _, names in os.walk(folder):
        yield from (os.path.join(parent, name) for name in names)


def _start(path: bytes) -> bytes:
    try:
        return read_start(path, _START_BYTES)
    except FileError:
        return b""


def is_folder(path: bytes) -> bool:
    """Tell whether a folder lies at a path, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
