"""Tips of a repository and of those that it borrows from, for experiments that ask what is reachable.

Read from files; those of a reftable by git, through a stand-in, so that nothing of the repository's configuration has a
say. Source: gitrepository-layout(5), git-show-ref(1). A reference that is broken is left out.
"""

import os
import threading
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.gitcmd.stand_in import Key, stand_in
from gitdash.inspection.files import FileError
from gitdash.inspection.references import read_tips
from gitdash.inspection.repository import inspect_repository
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.measurement.answers import Tips
from gitdash.model.inspection import AlternatesFacts, BitmapFacts, Inspection, ObjectFormat, ReferenceBackend
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role
from gitdash.model.sizes import Sizes
from gitdash.units import printable_path

_REFTABLE_SINCE: Final = (2, 45)
_TIME_LIMIT_S: Final = 60.0
_NO_HEAD: Final = b"ref: refs/heads/none\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """One object store that a repository borrows from, directly or through another."""

    objects_dir: bytes
    depth: int
    """1 for an entry of the repository's own alternates file."""
    inspection: Inspection | None
    """Of the repository whose store it is; None if there is none around it."""

    @property
    def git_dir(self) -> bytes:
        """The git directory around it."""
        return os.path.dirname(self.objects_dir)


def require_inspection(report: RepositoryReport) -> Inspection:
    """Return what the files of a repository say. Raises ExperimentError."""
    if not isinstance(report.inspection, Inspection):
        raise ExperimentError(f"the repository cannot be read: {report.inspection.reason}")
    return report.inspection


def lenders_of(report: RepositoryReport, *, now_s: float) -> tuple[Lent, ...]:
    """Look at all lenders. Raises ExperimentError if one is missing: what git says then is too much."""
    alternates = require_inspection(report).alternates
    if alternates is None:
        return ()
    if not isinstance(alternates, AlternatesFacts):
        raise ExperimentError(f"its alternates cannot be read: {alternates.reason}")
    missing = next((alternate for alternate in alternates.alternates if not alternate.exists), None)
    if missing is not None:
        raise ExperimentError(f"a lender is missing: {printable_path(missing.path)}")
    return tuple(
        Lent(
            objects_dir=alternate.path,
            depth=alternate.depth,
            inspection=_inspected(os.path.dirname(alternate.path), now_s)
            if _is_of_a_repository(alternate.path)
            else None,
        )
        for alternate in alternates.alternates
    )


def bitmaps_of(report: RepositoryReport, lenders: tuple[Lent, ...]) -> tuple[BitmapFacts, ...]:
    """Return the bitmaps that git can choose from: own ones, then those of lenders."""
    lent = [bitmap for lender in lenders if lender.inspection is not None for bitmap in lender.inspection.bitmaps]
    return (*require_inspection(report).bitmaps, *lent)


def report_of_lender(lender: Lent, inspection: Inspection) -> RepositoryReport:
    """Return what is known of a lender, for a copy of it."""
    repository = Repository(
        path=lender.git_dir,
        git_dir=lender.git_dir,
        common_dir=lender.git_dir,
        kind=RepositoryKind.BARE,
        root=lender.git_dir,
    )
    return RepositoryReport(
        repository=repository,
        roles=(Role.POOL,),
        borrowers=(),
        inspection=inspection,
        sizes=Sizes(),
        findings=(),
        state=State.OK,
    )


def own_references(request: ExperimentRequest) -> tuple[tuple[bytes, str], ...]:
    """Return full names and ids of the repository's own references, as `read_references` does."""
    repository = request.report.repository
    return read_references(
        repository.git_dir,
        repository.common_dir,
        require_inspection(request.report),
        program=request.program,
        cancel=request.cancel,
    )


def a_tip(request: ExperimentRequest) -> str:
    """Return what HEAD leads to, or another reference if it leads nowhere.

    Raises ExperimentError if there is none, and what `read_references` raises.
    """
    references = own_references(request)
    if not references:
        raise ExperimentError("it has no reference that can be read, so no object of it is known")
    return dict(references).get(b"HEAD", references[0][1])


def tips_of(request: ExperimentRequest, lenders: tuple[Lent, ...]) -> Tips:
    """Return the tips of the repository, and those of its lenders as what can be left out.

    Raises ExperimentError, GitError, FileError and FormatError.
    """
    own = own_references(request)
    lent = [
        object_id
        for lender in lenders
        if lender.inspection is not None
        for name, object_id in read_references(
            lender.git_dir, lender.git_dir, lender.inspection, program=request.program, cancel=request.cancel
        )
        # as for git: a lender's HEAD is not among its references
        if name.startswith(b"refs/")
    ]
    if not own:
        raise ExperimentError("it has no reference that can be read, so nothing is reachable")
    return Tips(wanted=tuple(sorted({object_id for _, object_id in own})), excluded=tuple(sorted(set(lent))))


def read_references(
    git_dir: bytes, common_dir: bytes, inspection: Inspection, *, program: GitProgram, cancel: threading.Event
) -> tuple[tuple[bytes, str], ...]:
    """Return full names and ids, HEAD included. Raises ExperimentError, GitError, FileError and FormatError."""
    if inspection.reference_backend is ReferenceBackend.FILES:
        return read_tips(git_dir, common_dir, inspection.object_format).references
    if program.version < _REFTABLE_SINCE:
        raise ExperimentError(f"its reftable needs git 2.45 or newer, this is {program.version_text}")
    config: list[tuple[Key, str]] = [
        (("core", None, "repositoryformatversion"), "1"),
        (("core", None, "bare"), "true"),
        (("extensions", None, "refstorage"), "reftable"),
    ]
    if inspection.object_format is not ObjectFormat.SHA1:
        config.append((("extensions", None, "objectformat"), inspection.object_format.value))
    with stand_in(common_dir, head=_NO_HEAD, config=config, keeps_objects=True) as place:
        output = run_git(
            program,
            ["show-ref", "--head"],
            environment=place.environment,
            time_limit_s=_TIME_LIMIT_S,
            cancel=cancel,
            # it fails without a word where there is no reference
            check=False,
        )
    pairs = (line.partition(b" ") for line in output.stdout.splitlines())
    return tuple((name, object_id.decode("ascii")) for object_id, _, name in pairs)


def objects_named(request: ExperimentRequest, prefixes: tuple[bytes, ...]) -> tuple[str, ...]:
    """Return the ids that references below `prefixes` name; and what annotated tags are of in the end.

    Raises ExperimentError, GitError, FileError and FormatError.
    """
    inspection = require_inspection(request.report)
    ids = [object_id for name, object_id in own_references(request) if name.startswith(prefixes)]
    objects_dir = object_folders(request.report)[0]
    with shadow_git_dir(object_format=inspection.object_format, objects_dir=objects_dir) as shadow:
        output = run_git(
            request.program,
            ["cat-file", "--batch-check=%(objectname)"],
            environment=shadow.environment,
            stdin="".join(f"{object_id}^{{}}\n" for object_id in ids).encode("ascii"),
            time_limit_s=_TIME_LIMIT_S,
            cancel=request.cancel,
        )
    in_the_end = output.stdout.decode("ascii", "replace").splitlines()
    # of what is not there git says the name again, with a word
    peeled = [end for end, own in zip(in_the_end, ids, strict=True) if end != own and " " not in end]
    return (*ids, *peeled)


def _is_of_a_repository(objects_dir: bytes) -> bool:
    parent, name = os.path.split(objects_dir)
    return name == b"objects" and os.path.isdir(os.path.join(parent, b"refs"))


def _inspected(git_dir: bytes, now_s: float) -> Inspection:
    try:
        return inspect_repository(git_dir, git_dir, now_s=now_s, loose_stale_age_s=Policy().loose_stale_age_s)
    except FileError as error:
        raise ExperimentError(f"a lender cannot be read: {error}") from error
