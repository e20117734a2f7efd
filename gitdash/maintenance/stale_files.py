"""What commands that were stopped left behind: which files may go, and why the others must stay.

Ages are those of the policy, but never less than its defaults, which are those of Gitaly's `clean_stale_data`; the list
of locks is exactly its list, for other locks may be held for days. What goes is a regular file of ours, old enough,
open in no process that we see, with a name that is git's there (`inspection.temporary`), and no part of a pack that git
reads: git opens every index in `objects/pack`, so that a complete `.tmp-PID-pack-*` is a pack like any other, and may
hold the only copy of an object. Removes nothing.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from gitdash.assessment.locks import kind_of
from gitdash.history.records import Loan
from gitdash.inspection.files import FileError, read_start
from gitdash.inspection.temporary import (
    TRANSFER_MARK_BYTES,
    TRANSFER_MARKS,
    is_quarantine_name,
    is_temporary_name,
    process_of_repack,
)
from gitdash.maintenance.action_facts import StaleFile
from gitdash.maintenance.processes import can_see_processes, openers, process_lives
from gitdash.maintenance.quarantines import objection_to_quarantine
from gitdash.model.inspection import Inspection, PackFacts
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.units import human_age, printable_path

_LEAST: Final = Policy()
"""Nothing goes earlier, whatever a person is told of: a longer transfer or repack has its file open, or was given up;
hooks may look at the quarantine of a push for long; a transfer marks its pack until references point into it."""

_LOCKS: Final = (
    b"config.lock",
    b"HEAD.lock",
    b"info/attributes.lock",
    b"objects/info/alternates.lock",
    b"objects/info/commit-graphs/commit-graph-chain.lock",
    b"objects/pack/multi-pack-index.lock",
    b"packed-refs.new",
    b"packed-refs.lock",
    b"reftable/tables.list.lock",
)
"""Relative to the common directory; those of single references come on top."""
BY_HAND: Final = "sweep leaves it to people; remove it once you know that no git runs here, on any host that mounts it"
_BY_HAND_LOCKS: Final = (
    b"index.lock",
    b"shallow.lock",
    b"gc.pid",
    b"objects/info/commit-graph.lock",
    b"objects/pack/multi-pack-index.d/multi-pack-index-chain.lock",
)
"""An editor, a hook or another host may hold these for days."""

_PACK_FOLDER: Final = b"objects/pack"
_FOLDERS: Final = (
    b"objects",
    _PACK_FOLDER,
    b"objects/pack/multi-pack-index.d",
    b"objects/info",
    b"objects/info/commit-graphs",
)
_SHARD: Final = re.compile(rb"[0-9a-f]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something of a kind that is swept."""

    path: bytes
    """Relative to the common directory."""
    age_s: float
    """It must be older."""
    is_folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One candidate that is there."""

    candidate: Candidate
    file: StaleFile
    """The same for plans, with what becomes of it; its bytes are of a folder those of all files in it."""


def look_for_leftovers(
    report: RepositoryReport, now_s: float, loans: Sequence[Loan] = (), policy: Policy | None = None
) -> tuple[Leftover, ...]:
    """Return everything of the kinds that are swept, and what is asked of sweep and left to people.

    `loans` are what others borrowed from the repository when they were last seen; without a policy it is the default.
    """
    common_dir = report.repository.common_dir
    ages = _ages(policy or _LEAST)
    there = [
        (candidate, found)
        for candidate in _candidates(common_dir, ages)
        if (found := look(common_dir, candidate.path)) is not None
    ]
    read_names = names_git_reads(report)
    judged = [
        (
            candidate,
            found,
            _objection(common_dir, candidate, found, read_names, now_s) or _of_folder(report, candidate, loans),
        )
        for candidate, found in there
    ]
    open_paths = in_use(common_dir, [candidate for candidate, _, objection in judged if objection is None])
    leftovers = [
        _leftover(candidate, _size_bytes(common_dir, candidate, found), objection or open_paths.get(candidate.path))
        for candidate, found, objection in judged
        if objection is not _NO_LEFTOVER
    ]
    return (*leftovers, *_left_to_people(common_dir), *_empty_references(common_dir, now_s, ages))


def _ages(policy: Policy) -> Policy:
    """Return a policy by whose ages files may go."""
    return msgspec.structs.replace(
        policy,
        lock_age_s=max(policy.lock_age_s, _LEAST.lock_age_s),
        reference_lock_age_s=max(policy.reference_lock_age_s, _LEAST.reference_lock_age_s),
        keep_age_s=max(policy.keep_age_s, _LEAST.keep_age_s),
        temporary_file_age_s=max(policy.temporary_file_age_s, _LEAST.temporary_file_age_s),
        temporary_directory_age_s=max(policy.temporary_directory_age_s, _LEAST.temporary_directory_age_s),
    )


def _leftover(candidate: Candidate, size_bytes: int, kept_because: str | None) -> Leftover:
    path = printable_path(candidate.path)
    return Leftover(candidate=candidate, file=StaleFile(path=path, bytes=size_bytes, kept_because=kept_because))


_NO_LEFTOVER: Final = "it is no leftover"
READ_BY_GIT: Final = (
    "git reads it as a pack, and it may hold the only copy of an object; incremental-repack joins it with others"
)


def _left_to_people(common_dir: bytes) -> Iterator[Leftover]:
    for path in _BY_HAND_LOCKS:
        found = look(common_dir, path)
        if found is not None:
            yield _leftover(Candidate(path=path, age_s=0.0), found.st_size, BY_HAND)


def _empty_references(common_dir: bytes, now_s: float, ages: Policy) -> Iterator[Leftover]:
    """Empty loose references are damage and not garbage: told, never removed."""
    for path in walk(common_dir, b"refs"):
        found = None if path.endswith(b".lock") else look(common_dir, path)
        if found is None or not stat.S_ISREG(found.st_mode) or found.st_size:
            continue
        if now_s - found.st_mtime >= ages.empty_reference_age_s:
            yield _leftover(Candidate(path=path, age_s=0.0), 0, "an empty reference is damage: a reflog may know it")


def _candidates(common_dir: bytes, ages: Policy) -> Iterator[Candidate]:
    """Yield everything of the kinds that are swept, whatever its age."""
    for path in _LOCKS:
        yield Candidate(path=path, age_s=kind_of(os.fsdecode(path)).age_s(ages))
    for path in walk(common_dir, b"refs"):
        if path.endswith(b".lock"):
            yield Candidate(path=path, age_s=ages.reference_lock_age_s)
    yield from _temporary(common_dir, ages)
    for name in _names(common_dir, _PACK_FOLDER):
        if name.startswith(b"pack-") and name.endswith(b".keep"):
            yield Candidate(path=_PACK_FOLDER + b"/" + name, age_s=ages.keep_age_s)


def _temporary(common_dir: bytes, ages: Policy) -> Iterator[Candidate]:
    """Temporary files in the folders below `objects` that git makes; quarantine folders, whole, directly in it."""
    yield from _quarantines(common_dir, ages)
    shards = (name for name in _names(common_dir, b"objects") if _SHARD.fullmatch(name))
    for folder in (*_FOLDERS, *(b"objects/" + shard for shard in shards)):
        if not _is_folder(common_dir, folder):
            continue
        for name in _names(common_dir, folder):
            is_of_repack = folder == _PACK_FOLDER and process_of_repack(name) is not None
            if is_of_repack or is_temporary_name(name):
                yield Candidate(path=folder + b"/" + name, age_s=ages.temporary_file_age_s)


def _quarantines(common_dir: bytes, ages: Policy) -> Iterator[Candidate]:
    for name in _names(common_dir, b"objects"):
        if is_quarantine_name(name) and _is_folder(common_dir, b"objects/" + name):
            yield Candidate(path=b"objects/" + name, age_s=ages.temporary_directory_age_s, is_folder=True)


def _is_folder(base: bytes, path: bytes) -> bool:
    found = look(base, path)
    return found is not None and (stat.S_ISDIR(found.st_mode) or path == b"objects")


def names_git_reads(report: RepositoryReport) -> frozenset[str] | None:
    """Return the packs that the multi-pack-index names, whose objects it promises; None if nobody knows."""
    if not isinstance(report.inspection, Inspection):
        return None
    packs, index = report.inspection.packs, report.inspection.multi_pack_index
    if not isinstance(packs, PackFacts) or isinstance(index, Unreadable):
        return None
    return frozenset(pack.name for pack in packs.packs if pack.in_multi_pack_index)


def is_of_read_pack(common_dir: bytes, path: bytes, indexed: frozenset[str] | None) -> bool:
    """Return whether a file belongs to a pack that git reads, its `.keep` apart; looks whether there is an index."""
    folder, name = os.path.split(path)
    stem, _, suffix = name.rpartition(b".")
    if folder != _PACK_FOLDER or not stem or suffix == b"keep":
        return False
    if look(common_dir, folder + b"/" + stem + b".pack") is None:
        return False
    has_index = look(common_dir, folder + b"/" + stem + b".idx") is not None
    return has_index or (suffix == b"pack" and indexed is None) or printable_path(stem) in (indexed or ())


def _objection(
    common_dir: bytes, candidate: Candidate, found: os.stat_result, indexed: frozenset[str] | None, now_s: float
) -> str | None:
    """Say why one candidate stays; `_NO_LEFTOVER` if it is none, such as a person's .keep."""
    path = candidate.path
    if stat.S_ISDIR(found.st_mode) != candidate.is_folder or not (candidate.is_folder or stat.S_ISREG(found.st_mode)):
        return _NO_LEFTOVER
    if path.endswith(b".keep") and not _is_of_transfer(os.path.join(common_dir, path)):
        return _NO_LEFTOVER
    if is_of_read_pack(common_dir, path, indexed):
        return READ_BY_GIT
    if found.st_uid != os.geteuid():
        return f"user {found.st_uid} owns it"
    if now_s - found.st_mtime < candidate.age_s:
        age = human_age(now_s - found.st_mtime)
        return (
            f"{'just made' if age == 'now' else age + ' old'}, and it goes when it is {human_age(candidate.age_s)} old"
        )
    process_id = process_of_repack(os.path.basename(path))
    return f"process {process_id} lives, which made it" if process_id and process_lives(process_id) else None


def _of_folder(report: RepositoryReport, candidate: Candidate, loans: Sequence[Loan]) -> str | None:
    return objection_to_quarantine(report, candidate.path, loans) if candidate.is_folder else None


def _is_of_transfer(path: bytes) -> bool:
    try:
        return read_start(path, TRANSFER_MARK_BYTES).startswith(TRANSFER_MARKS)
    except FileError:
        return False


def in_use(common_dir: bytes, some: Sequence[Candidate]) -> dict[bytes, str]:
    """Return the candidates that a process has open, of a folder anything in it, and what to say of it."""
    if some and not can_see_processes():
        return {candidate.path: "this system does not say which files are open" for candidate in some}
    real_common_dir = os.path.realpath(common_dir)
    by_real_path = {}
    for candidate in some:
        full_path = os.path.realpath(os.path.join(real_common_dir, candidate.path))
        by_real_path[full_path] = candidate.path
        if candidate.is_folder:
            for below in walk(full_path, b""):
                by_real_path[os.path.join(full_path, below)] = candidate.path
    found = openers(by_real_path.keys()) if by_real_path else {}
    return {by_real_path[path]: f"process {process_id} has it open" for path, process_id in found.items()}


def _size_bytes(common_dir: bytes, candidate: Candidate, found: os.stat_result) -> int:
    if not candidate.is_folder:
        return found.st_size
    base = os.path.join(common_dir, candidate.path)
    return sum(below.st_size for path in walk(base, b"") if (below := look(base, path)) is not None)


def walk(base: bytes, top: bytes) -> Iterable[bytes]:
    """Yield the files below a folder, relative to `base`, without following links."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        for name in _names(base, folder):
            path = folder + b"/" + name if folder else name
            found = look(base, path)
            if found is not None and stat.S_ISDIR(found.st_mode):
                waiting.append(path)
            elif found is not None:
                yield path


def _names(base: bytes, folder: bytes) -> list[bytes]:
    try:
        return sorted(os.listdir(os.path.join(base, folder)))
    except OSError:
        return []


def look(base: bytes, path: bytes) -> os.stat_result | None:
    """Return what lies at a path, None if nothing does."""
    try:
        return os.lstat(os.path.join(base, path))
    except OSError:
        return None
