"""Where the files of an object store lie: in folders that git knows, and nowhere else.

Source: gitrepository-layout(5). What an alternates file names may be any folder, the root of all file systems too: who
walked through all of it would never come to an end.
"""

import os
import re
from collections.abc import Iterator
from typing import Final

_FAN_OUT: Final = re.compile(rb"[0-9a-f]{2}")
KNOWN: Final = (b"pack", b"pack/multi-pack-index.d", b"info", b"info/commit-graphs")
"""Folders below an object folder, but for those of loose objects."""


def fan_out_folders(objects_dir: bytes) -> list[bytes]:
    """Return the names of the folders of loose objects, sorted; none if the folder cannot be listed."""
    try:
        return sorted(filter(_FAN_OUT.fullmatch, os.listdir(objects_dir)))
    except OSError:
        return []


def entries_of(folder: bytes) -> list["os.DirEntry[bytes]"]:
    """Return what lies in a folder, sorted by name. Raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def files_of_store(objects_dir: bytes) -> Iterator["os.DirEntry[bytes]"]:
    """Yield all files of an object store; what cannot be listed has none."""
    for name in (*KNOWN, *fan_out_folders(objects_dir)):
        try:
            entries = entries_of(os.path.join(objects_dir, name))
        except OSError:
            continue
        yield from (entry for entry in entries if not entry.is_dir(follow_symlinks=False))
