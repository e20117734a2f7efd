"""The five sizes of a repository as JSON, each with what was measured for it.

Source: the README's section on JSON.
"""

from typing import Any

from gitdash.export.json_values import Record, part_value, path_record, rounded
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, SizeMeasurement, Sizes
from gitdash.units import utc_text


def sizes_record(sizes: Sizes, inspection: Inspection | Unreadable) -> Record:
    """Return all that is known of the sizes of a repository."""
    disk = inspection if isinstance(inspection, Unreadable) else inspection.disk
    return {
        "disk": part_value(disk, _disk),
        "objects": part_value(inspection, _objects),
        "exclusive": part_value(sizes.exclusive, _exclusive),
        "duplicate": part_value(sizes.exclusive, _duplicate),
        "reachable": part_value(sizes.reachable, _measured),
        "reachable_own": part_value(sizes.reachable_own, _measured),
    }


def _disk(facts: DiskFacts) -> Record:
    return {
        "bytes": facts.bytes,
        "allocated_bytes": facts.allocated_bytes,
        "linked_bytes": facts.linked_bytes,
        "incomplete": facts.incomplete,
    }


def _objects(inspection: Inspection) -> Any:  # noqa: ANN401 - JSON has no type
    packs, loose = inspection.packs, inspection.loose
    if isinstance(packs, Unreadable) or isinstance(loose, Unreadable):
        return part_value(inspection.objects_bytes, int)
    return {"bytes": inspection.objects_bytes, "pack_bytes": packs.bytes, "loose_bytes": loose.bytes}


def _exclusive(sizes: ExclusiveSizes) -> Record:
    return {
        "bytes": sizes.exclusive_bytes,
        "count": sizes.exclusive_count,
        "elapsed_s": rounded(sizes.elapsed_s),
        "measured_at": utc_text(sizes.measured_at_s),
    }


def _duplicate(sizes: ExclusiveSizes) -> Record:
    return {"bytes": sizes.duplicate_bytes, "count": sizes.duplicate_count}


def _measured(size: SizeMeasurement) -> Record:
    return {
        "bytes": size.bytes,
        "strategy": size.strategy.value,
        "exact": size.exact,
        "bound": size.bound.value,
        "elapsed_s": rounded(size.elapsed_s),
        "measured_at": utc_text(size.measured_at_s),
        "argv": list(size.argv),
        "git_version": size.git_version,
        "from_history": size.from_history,
        "excluded_references": list(size.excluded_references),
        "notes": list(size.notes),
    }


def size_record(path: bytes, measurement: SizeMeasurement) -> Record:
    """Return the answer of `gitdash size --format json`."""
    return {**path_record("path", path), "question": measurement.question.value, **_measured(measurement)}
