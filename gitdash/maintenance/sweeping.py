"""The act of sweeping: removes stale garbage, each file looked at once more right before.

What may go, `stale_files` says. Whether a file is open only Linux says; where it does not, nothing is removed.
"""

import os
import stat
from functools import partial
from typing import Final

from gitdash.inspection.temporary import belongs_in_quarantine
from gitdash.maintenance.kept_files import kept_sentences
from gitdash.maintenance.processes import can_see_processes
from gitdash.maintenance.stale_files import (
    READ_BY_GIT,
    Candidate,
    in_use,
    is_of_read_pack,
    look_for_leftovers,
    names_git_reads,
)
from gitdash.maintenance.work import Work, refused
from gitdash.maintenance.writing import WriteRefusedError, remove_file, remove_folder
from gitdash.units import printable_path

_AT_ONCE: Final = 50
"""Files between two looks at what is open: a look takes milliseconds."""


def sweep(work: Work) -> None:
    """Remove stale garbage, and note what stays and why, and what could not be removed."""
    if not can_see_processes():
        raise refused("this system does not say which files are open")
    leftovers = look_for_leftovers(work.report, work.now_s, work.loans, work.policy)
    stale = [leftover.candidate for leftover in leftovers if leftover.file.kept_because is None]
    for start in range(0, len(stale), _AT_ONCE):
        _remove(work, stale[start : start + _AT_ONCE])
    work.notes += kept_sentences([leftover.file for leftover in leftovers])


def _remove(work: Work, some: list[Candidate]) -> None:
    common_dir = work.report.repository.common_dir
    open_paths = in_use(common_dir, some)
    indexed = names_git_reads(work.report)
    for candidate in some:
        why = READ_BY_GIT if is_of_read_pack(common_dir, candidate.path, indexed) else open_paths.get(candidate.path)
        if why is not None:
            work.notes.append(f"{printable_path(candidate.path)} stays: {why}")
            continue
        base, path = _base_of(work, candidate.path)
        is_expected = partial(_still_old, work.now_s, candidate.age_s)
        try:
            if candidate.is_folder:
                removed_bytes = remove_folder(base, path, is_expected=is_expected, is_part=_is_part_of_quarantine)
            else:
                removed_bytes = remove_file(base, path, is_expected=is_expected)
        except (WriteRefusedError, OSError) as error:
            work.notes.append(f"{printable_path(candidate.path)} could not be removed: {error}")
            continue
        if removed_bytes is not None:
            work.removed.append(printable_path(candidate.path))


def _is_part_of_quarantine(path: bytes, found: os.stat_result) -> bool:
    return belongs_in_quarantine(path, is_folder=stat.S_ISDIR(found.st_mode))


def _still_old(now_s: float, age_s: float, found: os.stat_result) -> bool:
    return now_s - found.st_mtime >= age_s


def _base_of(work: Work, path: bytes) -> tuple[bytes, bytes]:
    """Return from where a path is entered: `objects` may be a symbolic link, whose end is known."""
    if path.startswith(b"objects/"):
        return work.objects_dir, path.removeprefix(b"objects/")
    return os.path.realpath(work.report.repository.common_dir), path
