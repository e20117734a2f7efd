"""What a size query is made from, and what its answer depends on, put together from what was read.

Of the repository and all its lenders; the shallow file alone is read here, for it is part of both.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.files import FileError, read_file
from gitdash.inspection.references import ReferenceTips
from gitdash.measurement.fingerprint import SizeInputs
from gitdash.measurement.size_request import SizeRequest
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import Inspection, PackFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, Strategy
from gitdash.survey.damage import Damage
from gitdash.survey.lenders import Lender, pack_sizes
from gitdash.units import printable_path

_SHALLOW_LIMIT_BYTES = 64 << 20
_SHALLOW = re.compile(rb"(?:[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?[ \t\r\n]*+)*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeQuestion:
    """What is asked of a repository."""

    question: Question
    excluded_references: tuple[str, ...] = ()
    """Patterns as of `git rev-list --exclude`."""
    strategy: Strategy | None = None
    """None for the best one by the facts; then a stored answer will do, too."""


def size_request(
    report: RepositoryReport,
    inspection: Inspection,
    tips: ReferenceTips,
    lenders: list[Lender],
    asked: SizeQuestion,
    damage: Damage,
) -> SizeRequest:
    """Return what measurement is asked; `exclusive` sizes of the report say what the answer should be near to."""
    common_dir = report.repository.common_dir
    exclusive = report.sizes.exclusive
    return SizeRequest(
        question=asked.question,
        objects_dir=os.path.join(common_dir, b"objects"),
        object_format=inspection.object_format,
        references=tips.references,
        broken_references=tips.broken,
        dangling_references=tips.dangling,
        requested=asked.strategy,
        excluded_references=asked.excluded_references,
        has_alternates_file=inspection.alternates is not None,
        lender_objects_dirs=tuple(alternate.path for alternate in inspection.alternate_stores),
        lender_references=tuple(reference for lender in lenders for reference in lender.references),
        lender_broken_references=tuple(reference for lender in lenders for reference in lender.broken),
        lender_has_pseudo_merges=any(lender.has_pseudo_merges for lender in lenders),
        shallow_file=os.path.join(common_dir, b"shallow") if inspection.shallow else None,
        partial=isinstance(inspection.config, ConfigFacts) and inspection.config.partial_clone,
        upper_bound_bytes=_own_bytes(inspection) + sum(lender.store_bytes for lender in lenders),
        expected_bytes=_expected_bytes(inspection, exclusive, asked),
        every_object_once=isinstance(exclusive, ExclusiveSizes) and exclusive.every_object_once,
        damaged_files=tuple(map(printable_path, damage.derived_files)),
    )


def size_inputs(
    request: SizeRequest, inspection: Inspection | Unreadable, lenders: list[Lender], program: GitProgram
) -> SizeInputs:
    """Return what the answer depends on. Raises FileError if the shallow file cannot be read."""
    packs = inspection.packs if isinstance(inspection, Inspection) else None
    alternates = inspection.alternate_stores if isinstance(inspection, Inspection) else ()
    return SizeInputs(
        question=request.question,
        # a reference that breaks or is mended changes the answer, though git starts from the same tips
        references=(*request.references, *_without_id(request.broken_references)),
        packs=pack_sizes(packs) if isinstance(packs, PackFacts) else (),
        alternates=tuple(alternate.path for alternate in alternates),
        lender_references=(*request.lender_references, *_without_id(request.lender_broken_references)),
        lender_packs=tuple(pack for lender in lenders for pack in lender.packs),
        shallow=_shallow(request.shallow_file),
        excluded_references=request.excluded_references,
        git_version=program.version_text,
    )


def _without_id(references: Sequence[tuple[bytes, str]]) -> list[tuple[bytes, str]]:
    return [(name, "") for name, _ in references]


def _shallow(path: bytes | None) -> bytes:
    """Return what the shallow file holds. Raises FileError, also where git would quote what is no id."""
    if path is None:
        return b""
    content = read_file(path, _SHALLOW_LIMIT_BYTES)
    if not _SHALLOW.fullmatch(content):
        raise FileError(path, "not a list of object ids")
    return content


def _own_bytes(inspection: Inspection) -> int:
    packs, loose = inspection.packs, inspection.loose
    return sum(part.bytes for part in (packs, loose) if not isinstance(part, Unreadable))


def _expected_bytes(
    inspection: Inspection, exclusive: ExclusiveSizes | Unreadable | None, asked: SizeQuestion
) -> int | None:
    """Return what should nearly all count; None where references or objects are left out on purpose."""
    if asked.excluded_references or inspection.shallow:
        return None
    if asked.question is Question.REACHABLE_OWN and inspection.alternate_stores:
        return exclusive.exclusive_bytes if isinstance(exclusive, ExclusiveSizes) else None
    packs = inspection.packs
    if not isinstance(packs, PackFacts):
        return None
    expected_bytes = packs.bytes - packs.cruft_bytes
    # second copies of objects count in packs, and not in a clone
    if isinstance(exclusive, ExclusiveSizes) and not inspection.alternate_stores:
        return min(expected_bytes, exclusive.exclusive_bytes)
    return expected_bytes
