"""The experiment `filesystem`: what git's file operations cost on a repository's mount, and what a clone would pay.

Source: the manual pages that `mount_options` names; `file_operations` does what is timed. It writes in a folder of our
own beside the repository, which is removed on every exit, and into no repository.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.inspection.mounts import Mount
from gitdash.lab import file_operations, look_up_costs
from gitdash.lab.beside import folder_beside, mount_of_report
from gitdash.lab.copies import marked_folder
from gitdash.lab.file_operations import ObjectsFolder, make_objects_folder
from gitdash.lab.look_up_costs import NamedObjects, Remembrance
from gitdash.lab.method import run_interleaved
from gitdash.lab.mount_options import Absence, meaning_of
from gitdash.lab.mounts import Place
from gitdash.lab.patience import make_patiently
from gitdash.lab.references import lenders_of, objects_named
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.inspection import Inspection, LooseFacts, PackFacts
from gitdash.model.report import RepositoryReport
from gitdash.units import printable_path

TITLE: Final = "what git's file operations cost here"
EXPLANATION: Final = (
    "What git asks of a file system, one operation at a time, in a folder of our own beside the repository. Whether a"
    " name that is not there is remembered decides what a clone or a fetch costs on a network mount."
)
_OPERATIONS: Final[tuple[tuple[str, str, str, Callable[[ObjectsFolder], Measured]], ...]] = (
    (
        look_up_costs.PRESENT,
        "Look up a name that is there",
        "lstat(2) of a file that was asked for before. The kernel answers unless the mount forbids it to remember"
        " (lookupcache=none, noac).",
        file_operations.look_up_present,
    ),
    (
        look_up_costs.ABSENT,
        "Look up an absent name, first",
        "lstat(2) of a name that nobody has asked for: no memory helps, so on a network mount it is a round trip.",
        file_operations.look_up_absent,
    ),
    (
        look_up_costs.ABSENT_AGAIN,
        "Look up an absent name again",
        "The same name a second time. As cheap as a name that is there where absence is remembered (lookupcache=all);"
        " as dear as the first time where it is not (lookupcache=pos).",
        file_operations.look_up_absent_again,
    ),
    (
        "read-folder",
        "Read a folder",
        f"The names in a folder of {file_operations.FOLDER_COUNT} fan-out folders, from end to end: by this git learns"
        " of all loose objects of a fan-out folder at once, instead of asking for each.",
        file_operations.read_folder,
    ),
    (
        look_up_costs.WRITE,
        "Write an object",
        "Create a file, write some 180 bytes, fsync(2), rename(2): what each loose object costs. A pack of many costs"
        " it once.",
        file_operations.write_object,
    ),
)
_WHERE: Final = {
    Place.LOCAL: "on this machine",
    Place.MEMORY: "in memory",
    Place.NETWORK: "on the network",
    Place.PROGRAM: "behind a program",
    Place.LAYERS: "in layers of other file systems",
    Place.HOST: "in the host of this machine",
    Place.UNKNOWN: "a type that gitdash does not know",
}


def variants(_request: ExperimentRequest) -> Sequence[Variant]:
    """Return the operations, as a list to choose from; they cannot be run, for no folder is made."""
    return _variants(_not_made)


def run(request: ExperimentRequest) -> ExperimentResult:
    """Measure the operations.

    Raises ExperimentError if no folder can be made on the repository's file system, or if that does not answer.
    """
    return make_patiently(request, _run)


def _run(request: ExperimentRequest) -> ExperimentResult:
    parent = folder_beside(request.report)
    mount = mount_of_report(request.report)
    inspection = request.report.inspection
    fingerprint = inspection.fingerprint if isinstance(inspection, Inspection) else b""
    with marked_folder(parent, request.registry_dir) as path:
        try:
            os.mkdir(path, 0o700)
            folder = make_objects_folder(path)
        except OSError as error:
            raise ExperimentError(f"no folder can be made in {printable_path(parent)}: {error.strerror}") from error
        result = run_interleaved(
            _variants(lambda: folder),
            # files of our own, which no run reads from the disk: there is nothing to empty
            replace(request, is_cold=False),
            kind=ExperimentKind.FILESYSTEM,
            # it is not the repository that is measured, so it may change meanwhile
            fingerprint=lambda: fingerprint,
        )
    return _with_meaning(result, request, mount)


def _variants(folder: Callable[[], ObjectsFolder]) -> list[Variant]:
    return [
        Variant(name=name, title=title, explanation=explanation, run=_run_of(operation, folder))
        for name, title, explanation, operation in _OPERATIONS
    ]


def _run_of(
    operation: Callable[[ObjectsFolder], Measured], folder: Callable[[], ObjectsFolder]
) -> Callable[[RunContext], Measured]:
    def run_once(_context: RunContext) -> Measured:
        try:
            return operation(folder())
        except OSError as error:
            raise ExperimentError(f"the file system said: {error.strerror}") from error

    return run_once


def _not_made() -> ObjectsFolder:
    raise ExperimentError("no folder was made for this")


def _with_meaning(result: ExperimentResult, request: ExperimentRequest, mount: Mount | None) -> ExperimentResult:
    """Say what the operations mean for git instead of which of them is the fastest."""
    summaries = {variant.name: variant.summary for variant in result.variants if variant.summary is not None}
    found = look_up_costs.found(summaries)
    predicted = look_up_costs.prediction_notes(
        _object_count(request.report, now_s=result.started_at_s), summaries, _named_objects(request)
    )
    notes = [*predicted, *_mount_notes(mount, found)]
    if request.is_cold:
        notes.append("Measured warm: the files are our own, and names are what counts.")
    return msgspec.structs.replace(
        result,
        winner=None,
        verdict=look_up_costs.verdict(summaries),
        notes=(*result.notes, *notes),
        filesystem_type=result.filesystem_type if mount is None else mount.type_name,
    )


def _object_count(report: RepositoryReport, *, now_s: float) -> int:
    """Return how many objects are stored in a repository and its lenders, one that is in two packs counted twice."""
    stores = [report.inspection]
    with contextlib.suppress(ExperimentError):
        stores += [lender.inspection for lender in lenders_of(report, now_s=now_s) if lender.inspection is not None]
    return sum(_stored_count(store) for store in stores if isinstance(store, Inspection))


def _named_objects(request: ExperimentRequest) -> NamedObjects:
    """Return what a clone asks for because branches and tags name it; nothing where they cannot be read."""
    try:
        named = objects_named(request, (b"refs/heads/", b"refs/tags/"))
    except GitdashError:
        return NamedObjects()
    return NamedObjects(count=len(named), distinct_count=len(set(named)))


def _stored_count(inspection: Inspection) -> int:
    packs = inspection.packs.packs if isinstance(inspection.packs, PackFacts) else ()
    loose_count = inspection.loose.count if isinstance(inspection.loose, LooseFacts) else 0
    return sum(pack.object_count or 0 for pack in packs) + loose_count


def _mount_notes(mount: Mount | None, found: Remembrance | None) -> list[str]:
    if mount is None:
        return ["The mount table has no mount for the repository."]
    meaning = meaning_of(mount)
    point = printable_path(mount.mount_point or b"/")
    return [
        f"Mount {point}: {meaning.name} from {mount.source}, {_WHERE[meaning.place]}.",
        *_table_against_found(meaning.absence, found),
        *(f"{said.subject}: {said.sentence} [{said.source}]." for said in meaning.meanings),
    ]


def _table_against_found(absence: Absence, found: Remembrance | None) -> list[str]:
    """Say whether what was measured is what the mount table leads one to expect."""
    if found is None or found is Remembrance.CHEAP:
        return []
    if absence is Absence.UNKNOWN:
        return ["Whether absence is remembered, the mount table does not say: it was measured."]
    if (absence is Absence.REMEMBERED) is (found is Remembrance.REMEMBERED):
        return [f"By the mount table, too, absence is {absence.value}."]
    return [f"By the mount table absence is {absence.value}; what was measured says otherwise."]
