"""Leaving the lenders: everything that they have is linked here, shown to be enough, and only then the alternates go.

Source: Gitaly's disconnect of a pool (order of files, backup, check, restore), gitrepository-layout(5). A kill at any
point leaves a working repository: links only add, a pack is seen once its index is there, which comes after the pack,
and the alternates file is set aside by one rename after a walk that did without it found everything. The backup stays.

Both `link_lent_objects` and `leave_lenders` may be done again from any point. A lender is only read.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.inspection.files import FileError, FileMissingError, read_start
from gitdash.inspection.temporary import TRANSFER_MARK_BYTES, TRANSFER_MARKS
from gitdash.maintenance.reachability import (
    count_reachable,
    reference_tips,
    shallow_file_of,
)
from gitdash.maintenance.same_name import are_equal, is_whole_loose_object
from gitdash.maintenance.verifying import is_about_objects, require_usable_lenders, verify
from gitdash.maintenance.work import Work, corrupt, refused
from gitdash.maintenance.writing import WriteRefusedError, link_file, make_folder, remove_file, rename_file, settle
from gitdash.units import human_bytes, printable, printable_path

_ALTERNATES: Final = b"alternates"
_ALTERNATES_BYTES: Final = 4 << 20
"""All that inspection reads of such a file."""
BACKUP_PREFIX: Final = b"alternates.gitdash-backup-"
_SHARD: Final = re.compile(rb"[0-9a-f]{2}")
_LOOSE_OBJECT: Final = re.compile(rb"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_ORDER: Final = (b"keep", b"pack", b"rev", b"mtimes", b"idx")
"""Of the files of one pack. The index is the last: with it git sees the pack. A lender's bitmaps, multi-pack-index and
commit-graph are derived, and speak of its own references."""
_ROUNDS: Final = 5
"""A lender may be repacked or fetched into meanwhile: what is new is linked by the next round."""
_CHAIN_BYTES: Final = 1 << 16
_IN_REFLOGS: Final = ("rev-list", "--no-walk", "--all", "--reflog")
_IN_INDEXES: Final = ("rev-list", "--objects", "--no-object-names", "--indexed-objects", "--not", "--all")
_GRAPHS: Final = b"info/commit-graphs"
_GRAPH_LINE: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def link_lent_objects(work: Work) -> None:
    """Link all objects of all lenders, or copy them across file systems, until nothing is left to link."""
    require_usable_lenders(work)
    copied_bytes = 0
    for _ in range(_ROUNDS):
        linking = _Linking(work)
        for lender in work.lenders:
            linking.link_store(lender.path)
        copied_bytes += linking.copied_bytes
        if not linking.count:
            break
    if copied_bytes:
        work.notes.append(f"{human_bytes(copied_bytes)} copied: no links could be made to them")


class _Linking:
    """One round over all lenders."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._own = work.objects_dir
        self._shards: set[bytes] = set()
        self.count = 0
        """Files that were linked or copied."""
        self.copied_bytes = 0

    def link_store(self, lender: bytes) -> None:
        """Link what one lender has: loose objects first, for they are packed meanwhile, and not the other way."""
        for shard in _names(lender):
            if _SHARD.fullmatch(shard):
                self._link_shard(lender, shard)
        stems = {name.rpartition(b".")[0] for name in _names(lender + b"/pack") if name.endswith(b".idx")}
        for stem in sorted(stems):
            if not stem.startswith((b".", b"tmp_")):
                self._link_pack(lender, stem)
        self._link_graphs(lender)
        settle(self._own, b"pack")

    def _link_shard(self, lender: bytes, shard: bytes) -> None:
        own = frozenset(_names(self._own + b"/" + shard))
        found = [name for name in _names(lender + b"/" + shard) if _LOOSE_OBJECT.fullmatch(name)]
        for name in filter(own.__contains__, found):
            self._require_whole(lender, shard, name)
        lent = [name for name in found if name not in own]
        if not lent:
            return
        make_folder(self._own, shard)
        for name in lent:
            self._work.refuse_if_cancelled()
            # packed meanwhile: then a pack has it
            with contextlib.suppress(FileNotFoundError):
                self._link(lender, shard + b"/" + name)
        settle(self._own, shard)

    def _link_pack(self, lender: bytes, stem: bytes) -> None:
        self._work.refuse_if_cancelled()
        base = b"pack/" + stem + b"."
        has_index = self._has(base + b"idx")
        if self._has(base + b"pack"):
            self._require_same_pack(lender, base, has_index=has_index)
            if has_index:
                return
        linked: list[bytes] = []
        try:
            for path in (base + suffix for suffix in _ORDER if self._wants(lender, base, suffix)):
                linked += [path] if self._link(lender, path) else []
        except FileNotFoundError:
            # the lender was repacked: its new pack is linked by the next round, and half of the old one is no use
            if not self._has(base + b"idx"):
                self._take_back(linked)
            self.count += 1

    def _take_back(self, linked: Sequence[bytes]) -> None:
        """Remove files that were just linked; one that another user owns stays, and without an index does no harm."""
        for path in linked:
            with contextlib.suppress(WriteRefusedError):
                remove_file(self._own, path, is_expected=lambda _: True)

    def _wants(self, lender: bytes, base: bytes, suffix: bytes) -> bool:
        path = base + suffix
        return not self._has(path) and _exists(lender, path) and self._may_link(lender, base, suffix)

    @staticmethod
    def _may_link(lender: bytes, base: bytes, suffix: bytes) -> bool:
        """A transfer's mark is of no use here, where nobody will remove it."""
        if suffix != b"keep":
            return True
        try:
            return not read_start(lender + b"/" + base + suffix, TRANSFER_MARK_BYTES).startswith(TRANSFER_MARKS)
        except FileError:
            return False

    def _require_same_pack(self, lender: bytes, base: bytes, *, has_index: bool) -> None:
        """Refuse where the pack that is here need not be as good as the lender's. Raises TaskStoppedError, FileError.

        An index may have been written by another git, which only says something if the pack reads well with it.
        """
        try:
            if not are_equal(self._work, self._own + b"/" + base + b"pack", lender + b"/" + base + b"pack"):
                raise refused(
                    f"{printable_path(base)}pack is here with another content than in {printable_path(lender)}: one of"
                    " them is damaged, or they are two packs; git verify-pack tells"
                )
            if has_index and not are_equal(self._work, self._own + b"/" + base + b"idx", lender + b"/" + base + b"idx"):
                self._verify_pack(base)
        except FileMissingError:
            # the lender was repacked: the next round links what it has now
            self.count += 1

    def _verify_pack(self, base: bytes) -> None:
        try:
            self._work.git(["verify-pack", self._own + b"/" + base + b"idx"])
        except GitError as error:
            if not is_about_objects(error):
                raise
            raise corrupt(f"{printable_path(base)}idx is damaged, and the lender's is not used without it") from error

    def _require_whole(self, lender: bytes, shard: bytes, name: bytes) -> None:
        """Refuse where an own loose object is damaged that a lender has, too. Raises TaskStoppedError, FileError."""
        path = shard + b"/" + name
        with contextlib.suppress(FileMissingError):
            if are_equal(self._work, self._own + b"/" + path, lender + b"/" + path):
                return
            if not is_whole_loose_object(self._own + b"/" + path, shard + name, self._work.inspection.object_format):
                raise corrupt(
                    f"objects/{printable_path(path)} is damaged here, and the lender has a copy: move it away"
                )

    def _link_graphs(self, lender: bytes) -> None:
        """Link layers of our commit-graph chain that lie in a lender."""
        for path in _graph_paths(self._own):
            if not self._has(path) and _exists(lender, path):
                self._link(lender, path)

    def _link(self, lender: bytes, path: bytes) -> bool:
        try:
            self.copied_bytes += link_file(lender, self._own, path)
        except FileExistsError:
            return False
        self.count += 1
        return True

    def _has(self, path: bytes) -> bool:
        return _exists(self._own, path)


def leave_lenders(work: Work) -> None:
    """Set the alternates file aside, and put it back if anything reachable is not here."""
    verify_alone(work)
    backup = BACKUP_PREFIX + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(work.now_s)).encode()
    content = read_start(work.objects_dir + b"/info/" + _ALTERNATES, _ALTERNATES_BYTES)
    work.refuse_if_lenders_changed()
    rename_file(work.objects_dir, b"info", _ALTERNATES, backup)
    try:
        _require_content(work, backup, content)
        work.git(("rev-list", "--objects", "--all", "--quiet"), config=(("core.commitGraph", "false"),))
        verify(work)
    except BaseException:
        _put_back(work, backup)
        raise
    work.has_left_lenders = True
    work.notes.append(f"the old alternates file is objects/info/{printable_path(backup)}")


def _put_back(work: Work, backup: bytes) -> None:
    """Put the alternates file back; where somebody wrote another one meanwhile, say where the old one is."""
    try:
        rename_file(work.objects_dir, b"info", backup, _ALTERNATES)
    except FileExistsError:
        work.notes.append(
            f"somebody wrote an alternates file meanwhile; the one before is objects/info/{printable_path(backup)}"
        )


def _require_content(work: Work, backup: bytes, content: bytes) -> None:
    """Refuse if what was set aside is not what was looked at. Raises TaskStoppedError, FileError."""
    if read_start(work.objects_dir + b"/info/" + backup, _ALTERNATES_BYTES) != content:
        raise refused("its alternates changed while it was worked on; run it again")


def verify_alone(work: Work) -> None:
    """Walk everything reachable without the lenders, while they still are in use. Raises TaskStoppedError CORRUPT."""
    common_dir = work.report.repository.common_dir
    tips = (*reference_tips(work, common_dir), *_tips_beside_references(work))
    try:
        count_reachable(work, work.objects_dir, tips, shallow_file=shallow_file_of(common_dir), is_alone=True)
    except GitdashError as error:
        if is_about_objects(error):
            raise corrupt(f"without the lenders something is missing: {printable(str(error))}") from error
        raise


def _tips_beside_references(work: Work) -> Iterator[str]:
    """Yield what reflogs and indexes name: a stash but the last is in a reflog alone, what is staged in an index."""
    for arguments in (_IN_REFLOGS, _IN_INDEXES):
        yield from work.git(arguments, config=(("core.commitGraph", "false"),)).stdout.decode().split()


def _graph_paths(objects_dir: bytes) -> Iterator[bytes]:
    try:
        chain = read_start(objects_dir + b"/" + _GRAPHS + b"/commit-graph-chain", _CHAIN_BYTES)
    except FileError:
        return
    for line in chain.splitlines():
        if _GRAPH_LINE.fullmatch(line):
            yield _GRAPHS + b"/graph-" + line + b".graph"


def _names(folder: bytes) -> list[bytes]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _exists(base: bytes, path: bytes) -> bool:
    return os.path.lexists(base + b"/" + path)
