"""The names of what an interrupted git command leaves behind.

In an object store `tmp_` is git's: git prune removes every file that begins so (builtin/prune.c), and so does Gitaly.
What has a dot in it is left to people all the same, for git gives no such name, and `tmp_import.pack` may be a pack
that somebody is about to bring in. In a quarantine counts only what git writes there, six letters or digits in the
place of mkstemp(3)'s XXXXXX: `tmp_pack_`, `tmp_idx_`, `tmp_rev_`, `tmp_mtimes_`, `tmp_bitmap_`, `tmp_obj_`,
`tmp_midx_`, `tmp_graph_` (pack-write.c, pack-bitmap-write.c, object-file.c, midx-write.c, commit-graph.c).

Source: also `.tmp-<pid>-pack-` (builtin/repack.c) and the quarantine folders `tmp_objdir-<what for>-` (tmp-objdir.c;
`incoming-` before git 2.35); read from the programs 2.39, 2.47 and 2.55. `tmp_gitdash_` is gitdash's own, of a copy
under way.
"""

import os
import re
import stat
from typing import Final

from gitdash.inspection.listing import Stats
from gitdash.model.inspection import TemporaryFile
from gitdash.units import printable_path

_FILE: Final = re.compile(rb"tmp_[^./]+|tmp_gitdash_.+", re.DOTALL)
_FILE_OF_GIT: Final = re.compile(
    rb"tmp_(?:pack|idx|rev|mtimes|bitmap|obj|midx|graph)_[0-9A-Za-z]{6}|tmp_gitdash_.+", re.DOTALL
)
_REPACK_FILE: Final = re.compile(rb"\.tmp-([0-9]{1,10})-pack-[0-9a-f]+\.[a-z]+")
_QUARANTINE: Final = re.compile(rb"(?:tmp_objdir-[a-z-]+|incoming)-[0-9A-Za-z]{6}")
_IN_QUARANTINE: Final = re.compile(
    rb"(?:bulk_fsync|tmp_obj)_[0-9A-Za-z]{6}|info/packs|pack/pack-[0-9a-f]{40}(?:[0-9a-f]{24})?\.[a-z]+"
    rb"|[0-9a-f]{2}/(?:[0-9a-f]{38}(?:[0-9a-f]{24})?|tmp_obj_[0-9A-Za-z]{6})"
)
_FOLDER_IN_QUARANTINE: Final = re.compile(rb"pack|info|[0-9a-f]{2}")

TRANSFER_MARKS: Final = (b"receive-pack ", b"fetch-pack ")
"""How a `.keep` begins that stays only until a transfer is over (builtin/receive-pack.c, fetch-pack.c)."""
TRANSFER_MARK_BYTES: Final = 32
"""So much of a `.keep` tells."""


def temporary_files(folder: bytes, entries: Stats) -> tuple[TemporaryFile, ...]:
    """Return the temporary files, and in `objects` the quarantine folders, among the entries of a folder."""
    return tuple(
        temporary_file(folder + b"/" + name, found)
        for name, found in entries.items()
        if _is_temporary(folder, name, found)
    )


def temporary_file(path: bytes, found: os.stat_result) -> TemporaryFile:
    """Return the record of one temporary file."""
    return TemporaryFile(
        path=printable_path(path),
        bytes=found.st_size,
        mtime_s=found.st_mtime,
        is_directory=stat.S_ISDIR(found.st_mode),
    )


def is_temporary_name(name: bytes) -> bool:
    """Tell whether a file below `objects` has a name that git, or gitdash, gives to what is under way."""
    return _FILE.fullmatch(name) is not None


def is_name_of_git(name: bytes) -> bool:
    """Tell whether a temporary file has exactly a name that git makes up for one."""
    return _FILE_OF_GIT.fullmatch(name) is not None


def process_of_repack(name: bytes) -> int | None:
    """Return the process that made a file of `objects/pack`, by its name; None if it is not one of a repack."""
    found = _REPACK_FILE.fullmatch(name)
    return int(found[1]) if found else None


def is_quarantine_name(name: bytes) -> bool:
    """Tell whether a folder in `objects` has the name of a store of what is being received."""
    return _QUARANTINE.fullmatch(name) is not None


def belongs_in_quarantine(path: bytes, *, is_folder: bool) -> bool:
    """Tell whether git writes what lies in a quarantine at this relative path."""
    if is_folder:
        return _FOLDER_IN_QUARANTINE.fullmatch(path) is not None
    folder, _, name = path.rpartition(b"/")
    return _IN_QUARANTINE.fullmatch(path) is not None or (
        folder == b"pack" and _FILE_OF_GIT.fullmatch(name) is not None
    )


def _is_temporary(folder: bytes, name: bytes, found: os.stat_result) -> bool:
    if stat.S_ISDIR(found.st_mode):
        return folder == b"objects" and is_quarantine_name(name)
    return is_temporary_name(name) or process_of_repack(name) is not None
