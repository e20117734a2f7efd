"""Throw-away copies whose bitmap is written anew, in the form that an experiment asks for.

git opens one bitmap, and one that is to serve has to name all that is reachable. So the bitmap of a repository that
borrows is its lender's: then the lender is copied, too, gets the bitmap, and the copy of the borrower borrows from it.
Source: git-repack(1), git-multi-pack-index(1), gitformat-pack(5).
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash.inspection.repository import inspect_repository
from gitdash.lab.copies import git_in_copy, throw_away_copy
from gitdash.lab.copying import ThrowAwayCopy
from gitdash.lab.references import Lent, report_of_lender, require_inspection
from gitdash.lab.request import ExperimentError, ExperimentRequest, for_people
from gitdash.model.inspection import BitmapFacts, Inspection
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable

_PACK_EVERYTHING: Final = ("repack", "-a", "-d", "-k", "-q")


@dataclass(frozen=True, slots=True, kw_only=True)
class BitmapForm:
    """How the bitmap of a copy is to be."""

    does: str
    """What is done to the copy, a few words."""
    config: tuple[tuple[str, str], ...] = ()
    """Pairs for `-c` while it is written."""
    is_multi_pack: bool = False
    """Of the packs as they are, by a multi-pack-index; else all is packed into one."""
    has_reverse_index: bool = True
    problem_of: Callable[[BitmapFacts], str | None] = lambda _: None
    """Why what git wrote is not what was asked for; None if it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitmapCopy:
    """A copy with a bitmap."""

    copy: ThrowAwayCopy
    objects_dirs: tuple[bytes, ...]
    """Its own, and that of the copy it borrows from."""


@dataclass(slots=True, kw_only=True)
class BitmapCopies:
    """The copies of one experiment: each form is made once, and goes when the context ends."""

    request: ExperimentRequest
    lenders: tuple[Lent, ...]
    resources: contextlib.ExitStack
    _made: dict[str, BitmapCopy] = field(default_factory=dict)

    def copy(self, form: BitmapForm) -> BitmapCopy:
        """Return the copy with a bitmap of this form. Raises ExperimentError and GitError."""
        if form.does not in self._made:
            self.request.on_step(form.does)
            self._made[form.does] = self._make(form)
        return self._made[form.does]

    def untouched(self) -> BitmapCopy:
        """Return a copy with the packs and the bitmaps of the original. Raises ExperimentError."""
        copy = self._copy(self.request.report, 0)
        return BitmapCopy(copy=copy, objects_dirs=(copy.objects_dir, *(lender.objects_dir for lender in self.lenders)))

    def _make(self, form: BitmapForm) -> BitmapCopy:
        if not self.lenders:
            copy = self._copy(self.request.report, stored_bytes(require_inspection(self.request.report)))
            self._write(copy, form)
            return BitmapCopy(copy=copy, objects_dirs=(copy.objects_dir,))
        lender = self.lenders[0]
        if lender.inspection is None:
            raise ExperimentError("what it borrows from is no repository, so no bitmap can be written for it")
        lent = self._copy(report_of_lender(lender, lender.inspection), stored_bytes(lender.inspection))
        self._write(lent, form)
        copy = self._copy(self.request.report, 0)
        _remove(copy, lambda name: name.endswith(b".bitmap") or name.startswith(b"multi-pack-index"))
        path = copy.objects_dir + b"/info/alternates"
        with for_people("the copy cannot be made to borrow from the copy of its lender"), open(path, "wb") as file:
            file.write(lent.objects_dir + b"\n")
        return BitmapCopy(copy=copy, objects_dirs=(copy.objects_dir, lent.objects_dir))

    def _copy(self, report: RepositoryReport, room_needed_bytes: int) -> ThrowAwayCopy:
        making = throw_away_copy(report, room_needed_bytes=room_needed_bytes, registry_dir=self.request.registry_dir)
        return self.resources.enter_context(making)

    def _write(self, copy: ThrowAwayCopy, form: BitmapForm) -> None:
        if form.is_multi_pack:
            # what is loose has no place in a multi-pack-index
            git_in_copy(self.request, copy, ("repack", "-d", "-q"))
            _remove(copy, lambda name: name.endswith(b".bitmap"))
            git_in_copy(
                self.request, copy, ("multi-pack-index", "write", "--bitmap", "--no-progress"), config=form.config
            )
        else:
            _remove(copy, lambda name: name.startswith(b"multi-pack-index") or name.endswith(b".bitmap"))
            git_in_copy(self.request, copy, (*_PACK_EVERYTHING, "--write-bitmap-index"), config=form.config)
        if not form.has_reverse_index:
            _remove(copy, lambda name: name.endswith(b".rev"))
        inspection = inspect_repository(
            copy.git_dir, copy.git_dir, now_s=self.request.clock(), loose_stale_age_s=Policy().loose_stale_age_s
        )
        problem = _problem(inspection.bitmaps, form)
        if problem is not None:
            raise ExperimentError(problem)


def why_no_copy(lenders: tuple[Lent, ...]) -> str | None:
    """Return why no copy can get a bitmap that serves; None if one can."""
    if len(lenders) > 1:
        return f"it borrows from {len(lenders)} stores, and no bitmap of one of them can name what is in the others"
    if lenders and lenders[0].inspection is None:
        return "what it borrows from is no repository, so no bitmap can be written for it"
    return None


def stored_bytes(inspection: Inspection) -> int:
    """Return what all objects of a store take, about the most that they take in one pack; 0 if that is not known."""
    size = inspection.objects_bytes
    return 0 if isinstance(size, Unreadable) else size


def _problem(bitmaps: Sequence[BitmapFacts], form: BitmapForm) -> str | None:
    if not bitmaps:
        return "git wrote no bitmap for the copy"
    return form.problem_of(bitmaps[0])


def _remove(copy: ThrowAwayCopy, is_meant: Callable[[bytes], bool]) -> None:
    """Remove files of packs in a copy: links, the original keeps its own."""
    folder = copy.objects_dir + b"/pack"
    with for_people("files of packs cannot be removed from a copy"):
        for name in filter(is_meant, os.listdir(folder)):
            path = os.path.join(folder, name)
            if not os.path.isdir(path):
                os.unlink(path)
