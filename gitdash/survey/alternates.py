"""The lenders of an inspected repository, and whether they can be trusted for arithmetic. Pure."""

from gitdash.model.inspection import AlternatesFacts, Inspection
from gitdash.model.repository import Unreadable
from gitdash.units import printable_path


def compared_stores(common_dir: bytes, inspection: Inspection) -> tuple[bytes, ...]:
    """Return the object stores that index arithmetic compares: a repository's own, then those of its lenders."""
    return (common_dir + b"/objects", *(alternate.path for alternate in inspection.alternate_stores))


def lender_problem(inspection: Inspection) -> Unreadable | None:
    """Return why a lender cannot be used: then a size without it is too high, and nobody could see that."""
    if isinstance(inspection.alternates, Unreadable):
        return Unreadable(f"alternates: {inspection.alternates.reason}")
    for alternate in inspection.alternate_stores:
        if alternate.problem is not None or not alternate.exists:
            return Unreadable(f"lender {printable_path(alternate.path)}: {alternate.problem or 'missing'}")
    if isinstance(inspection.alternates, AlternatesFacts) and inspection.alternates.incomplete is not None:
        return Unreadable(f"not all lenders are known: {inspection.alternates.incomplete}")
    return None
