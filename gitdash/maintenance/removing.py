"""Acts of gitdash's own that remove derived or doubled files: nothing that holds the only copy of an object.

Source: gitrepository-layout(5); git-facts of VFS for Git: a multi-pack-index or commit-graph that does not verify is
removed and written anew, and index files whose pack is gone are removed. Which act a task needs, `tasks` says.
"""

import os
import re
from collections.abc import Iterator
from typing import Final

from gitdash.maintenance.work import Work
from gitdash.maintenance.writing import remove_file, remove_folder
from gitdash.units import printable_path

_MULTI_PACK_FILE: Final = re.compile(rb"multi-pack-index(?:-[0-9a-f]+\.(?:rev|bitmap))?")
_BITMAP: Final = re.compile(rb".+\.bitmap")
_PACK_BITMAP: Final = re.compile(rb"(?!multi-pack-index-).+\.bitmap")


def remove_multi_pack_index(work: Work) -> None:
    """Remove the multi-pack-index with its bitmap and reverse index, and its chain."""
    _remove_matching(work, b"pack", _MULTI_PACK_FILE)
    _remove_whole(work, b"pack/multi-pack-index.d")


def remove_commit_graph(work: Work) -> None:
    """Remove the commit-graph and its chain."""
    _remove_one(work, b"info/commit-graph")
    _remove_whole(work, b"info/commit-graphs")


def remove_bitmaps(work: Work) -> None:
    """Remove the bitmaps of packs and of the multi-pack-index."""
    _remove_matching(work, b"pack", _BITMAP)


def remove_pack_bitmaps(work: Work) -> None:
    """Remove the bitmaps of packs; that of the multi-pack-index stays."""
    _remove_matching(work, b"pack", _PACK_BITMAP)


def remove_orphan_indexes(work: Work) -> None:
    """Remove each `.idx` whose pack is gone; looked at once more right before."""
    folder = os.path.join(work.objects_dir, b"pack")
    for name in _names(folder):
        if name.endswith(b".idx") and not os.path.lexists(os.path.join(folder, name[:-4] + b".pack")):
            _remove_one(work, b"pack/" + name)


def remove_packed_loose(work: Work) -> None:
    """Remove loose objects that are in this repository's own packs, whatever lenders have."""
    from gitdash.maintenance.object_sets import packed_loose_objects

    for object_id in packed_loose_objects(work.objects_dir, work.inspection.object_format):
        name = object_id.encode()
        _remove_one(work, name[:2] + b"/" + name[2:])


def _names(folder: bytes) -> Iterator[bytes]:
    try:
        yield from sorted(os.listdir(folder))
    except FileNotFoundError:
        return


def _remove_matching(work: Work, folder: bytes, pattern: re.Pattern[bytes]) -> None:
    for name in _names(os.path.join(work.objects_dir, folder)):
        if pattern.fullmatch(name):
            _remove_one(work, folder + b"/" + name)


def _remove_one(work: Work, path: bytes) -> None:
    if remove_file(work.objects_dir, path, is_expected=lambda _: True) is not None:
        work.removed.append(printable_path(b"objects/" + path))


def _remove_whole(work: Work, path: bytes) -> None:
    if remove_folder(work.objects_dir, path, is_expected=lambda _: True) is not None:
        work.removed.append(printable_path(b"objects/" + path))
