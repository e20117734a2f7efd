"""A member gives up its own copies of what lenders have: a new pack without them, and then what is superfluous goes.

git's own `repack -a -d -l` asks for the lenders when it runs, and removes the old packs whoever they are by then. Here
the new pack is written first, nothing is removed by git, and of what then goes each object is in the new pack or was
shown to be in a lender (`deduplicating`). Source: git-pack-objects(1) as git-repack(1) calls it.
"""

import os
import re
from collections.abc import Sequence
from typing import Final

from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.maintenance.removing import remove_multi_pack_index
from gitdash.maintenance.work import Work, refused
from gitdash.maintenance.writing import remove_file
from gitdash.units import counted, printable_path

_PACK_OBJECTS: Final = (
    "pack-objects",
    "--keep-true-parents",
    "--honor-pack-keep",
    "--non-empty",
    "--all",
    "--reflog",
    "--indexed-objects",
    "--local",
    "--keep-unreachable",
    "--pack-loose-unreachable",
    "--delta-base-offset",
)
_PACK: Final = re.compile(rb"(pack-[0-9a-f]{40}(?:[0-9a-f]{24})?)\.pack")
_MARKS: Final = (b"keep", b"promisor")
"""A pack with one of these stays, as with git."""
_SUFFIXES: Final = (b"idx", b"rev", b"bitmap", b"mtimes", b"pack")
"""The index is the first: without it git does not look for the pack."""


def give_up_lent_copies(work: Work) -> None:
    """Pack what no lender has, and remove what is then here twice or lent. Raises TaskStoppedError, GitError."""
    from gitdash.maintenance.object_sets import loose_objects_of, missing_without

    old = _replaceable_packs(work)
    target = os.path.join(work.report.repository.common_dir, b"objects/pack/pack")
    written = work.git([*_PACK_OBJECTS, target], config=PINNED_CONFIG).stdout.split()
    work.refuse_if_lenders_changed()
    leaving = sorted(frozenset(old) - {b"pack-" + name for name in written})
    lost_count = missing_without(work.objects_dir, leaving, work.lent_ids, work.inspection.object_format)
    if lost_count:
        lost = counted(lost_count, "object")
        raise refused(f"{lost} of the old packs would be gone, for the lenders are not those that were checked")
    if leaving:
        remove_multi_pack_index(work)
    for stem in leaving:
        _remove_pack(work, stem)
    for object_id in loose_objects_of(work.objects_dir, work.lent_ids, work.inspection.object_format):
        name = object_id.encode()
        _remove(work, name[:2] + b"/" + name[2:])
    if os.path.lexists(work.objects_dir + b"/info/packs"):
        work.git(["update-server-info"])


def _replaceable_packs(work: Work) -> Sequence[bytes]:
    """Return the packs, by their names without suffix, that the new one takes in."""
    names = os.listdir(work.objects_dir + b"/pack")
    packs = [found[1] for name in names if (found := _PACK.fullmatch(name))]
    return [stem for stem in packs if _has_index(work, stem) and not _is_marked(work, stem)]


def _has_index(work: Work, stem: bytes) -> bool:
    return os.path.lexists(work.objects_dir + b"/pack/" + stem + b".idx")


def _is_marked(work: Work, stem: bytes) -> bool:
    return any(os.path.lexists(work.objects_dir + b"/pack/" + stem + b"." + mark) for mark in _MARKS)


def _remove_pack(work: Work, stem: bytes) -> None:
    if not _is_marked(work, stem):
        for suffix in _SUFFIXES:
            _remove(work, b"pack/" + stem + b"." + suffix)


def _remove(work: Work, path: bytes) -> None:
    if remove_file(work.objects_dir, path, is_expected=lambda _: True) is not None:
        work.removed.append(printable_path(b"objects/" + path))
