"""Removes at once what a git of ours had half written when it was stopped: packs that git itself leaves behind.

git makes `tmp_pack_*` and `tmp_idx_*` without a note of them, so that no signal has it remove them (pack-objects.c,
index-pack.c); each stopped repack or fetch costs as much disk as it had written. What may go, with no age to go by:
a file that one of our own processes had open for writing right before it got its signal, told by path, device and
inode; and a repack's `.tmp-PID-pack-*` of such a process, once that is gone. Both must have git's exact name for what
is under way, be no part of a pack that git reads, and be open in no process now. Another's file is never among them,
whenever it was made; whatever cannot be shown to be our own stays, and `sweep` takes it when it is old.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from gitdash.errors import GitdashError
from gitdash.inspection.temporary import is_name_of_git, process_of_repack
from gitdash.maintenance.processes import WrittenFiles, can_see_processes, still_running
from gitdash.maintenance.stale_files import Candidate, in_use, is_of_read_pack, look, names_git_reads
from gitdash.maintenance.writing import remove_file
from gitdash.model.report import RepositoryReport
from gitdash.units import human_bytes, printable_path

_PACK_FOLDER: Final = b"pack"
_END_LIMIT_S: Final = 2.0
"""A killed process of a group may end after the one that leads it: it gives back much memory first."""


def remove_own_leavings(
    report: RepositoryReport, objects_dir: bytes, written: Sequence[WrittenFiles]
) -> dict[str, int]:
    """Remove them; return the bytes of each by its path below the common directory, printable.

    `written` is what processes of ours had open when they were stopped; it waits a moment for them to end.
    """
    if not written or not can_see_processes():
        return {}
    common_dir, real_objects_dir = report.repository.common_dir, os.path.realpath(objects_dir)
    read_names = names_git_reads(report)
    running = still_running(frozenset[int]().union(*(some.process_ids for some in written)), _END_LIMIT_S)
    found = {
        path: identity
        for path, identity in _found(real_objects_dir, written, running)
        if not is_of_read_pack(common_dir, b"objects/" + path, read_names)
    }
    open_paths = in_use(common_dir, [Candidate(path=b"objects/" + path, age_s=0.0) for path in found])
    removed = {}
    for path, identity in found.items():
        if b"objects/" + path in open_paths:
            continue
        try:
            size_bytes = remove_file(real_objects_dir, path, is_expected=partial(_is_same, identity))
        except (GitdashError, OSError):
            # it stays, and is told as what was left
            continue
        if size_bytes is not None:
            removed[printable_path(b"objects/" + path)] = size_bytes
    return removed


def removed_sentence(removed: dict[str, int]) -> str:
    """Say what of its own a stopped git was relieved of."""
    return f"what git had half written was removed: {', '.join(removed)} ({human_bytes(sum(removed.values()))})"


_Identity = tuple[int, int]


def _found(
    objects_dir: bytes, written: Sequence[WrittenFiles], running: frozenset[int]
) -> Iterator[tuple[bytes, _Identity]]:
    """Yield path below `objects` and identity of what our own processes wrote, as it is there now."""
    for path, device, inode in frozenset().union(*(some.files for some in written)):
        if path.startswith(objects_dir + b"/") and is_name_of_git(os.path.basename(path)):
            yield path[len(objects_dir) + 1 :], (device, inode)
    process_ids = frozenset[int]().union(*(some.process_ids for some in written)) - running
    for name in _names(os.path.join(objects_dir, _PACK_FOLDER)):
        process_id = process_of_repack(name)
        if process_id is None or process_id not in process_ids:
            continue
        status = look(objects_dir, _PACK_FOLDER + b"/" + name)
        if status is not None:
            yield _PACK_FOLDER + b"/" + name, (status.st_dev, status.st_ino)


def _is_same(identity: _Identity, found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) == identity


def _names(folder: bytes) -> list[bytes]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
