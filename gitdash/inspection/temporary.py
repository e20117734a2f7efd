"""The names of what an interrupted git command leaves behind.

Source: git's own names for files under way: `tmp_pack_`, `tmp_idx_`, `tmp_rev_`, `tmp_mtimes_`, `tmp_obj_`,
`tmp_midx_` (tempfiles of pack-write.c, object-file.c), `.tmp-<pid>-pack-` (builtin/repack.c) and the quarantine
folders `tmp_objdir-` (tmp-objdir.c; `incoming-` before git 2.35).
"""

import os
import stat

from gitdash.inspection.listing import Stats
from gitdash.model.inspection import TemporaryFile
from gitdash.units import printable_path

_FILE_PREFIXES = (b"tmp_", b".tmp-")
_FOLDER_PREFIXES = (b"tmp_objdir", b"incoming-")


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


def _is_temporary(folder: bytes, name: bytes, found: os.stat_result) -> bool:
    if stat.S_ISDIR(found.st_mode):
        return folder == b"objects" and name.startswith(_FOLDER_PREFIXES)
    return name.startswith(_FILE_PREFIXES)
