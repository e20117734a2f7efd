"""What the files of one repository say, as lines of a label and a sentence. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import (
    AlternatesFacts,
    BitmapFacts,
    CommitGraphFacts,
    Inspection,
    MultiPackIndexFacts,
    PackFacts,
    ReferenceBackend,
    ReferenceFacts,
)
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.wrap import side_by_side, wrapped
from gitdash.units import counted, human_age, human_bytes, human_count, printable, printable_path

_LABEL_WIDTH: Final = 13
_COLUMNS_WIDTH: Final = 120
"""From this width on facts stand in two columns."""
_LISTED: Final = 8
"""Names that are listed before the rest is counted."""


def fact_lines(report: RepositoryReport, width: int, now_s: float) -> list[Line]:
    """Return what is known of a repository beyond its sizes and findings."""
    return labelled(_facts(report, now_s), width)


def fact_columns(report: RepositoryReport, width: int, now_s: float) -> list[Line]:
    """Return the same in two columns where there is room for them."""
    if width < _COLUMNS_WIDTH:
        return fact_lines(report, width, now_s)
    left_width = width // 2
    facts = [*_facts(report, now_s)]
    heights = [len(labelled([fact], left_width)) for fact in facts]
    number = next(number for number in range(len(facts) + 1) if 2 * sum(heights[:number]) >= sum(heights))
    left, right = labelled(facts[:number], left_width), labelled(facts[number:], width - left_width - 1)
    return side_by_side(left, right, left_width, width)


def labelled(facts: Iterable[tuple[str, str]], width: int) -> list[Line]:
    """Return sentences as lines, each with its label before it."""
    lines: list[Line] = []
    for label, text in facts:
        parts = wrapped(text, Tone.PLAIN, width, indent=1 + _LABEL_WIDTH)
        for number, part in enumerate(parts):
            shown = label if number == 0 else ""
            lines.append([Piece(f" {shown:<{_LABEL_WIDTH}}", Tone.DIM), *part[1:]])
    return lines


def _facts(report: RepositoryReport, now_s: float) -> Iterator[tuple[str, str]]:
    if report.borrowers:
        yield "borrowers", _listed([printable_path(path) for path in report.borrowers])
    inspection = report.inspection
    if isinstance(inspection, Unreadable):
        yield "unreadable", inspection.reason
        return
    if inspection.alternates is not None:
        yield "alternates", _alternates(inspection.alternates)
    if inspection.head is not None:
        yield "head", inspection.head.reason if isinstance(inspection.head, Unreadable) else printable(inspection.head)
    yield "references", _references(inspection)
    yield "packs", packs_text(inspection.packs, inspection.multi_pack_index)
    yield "multi-pack", multi_pack_index_text(inspection.multi_pack_index)
    yield "bitmap", bitmap_text(inspection, report.lender_bitmap)
    yield "commit-graph", _commit_graph(inspection.commit_graph)
    yield from _occasional_facts(inspection, now_s)


def _occasional_facts(inspection: Inspection, now_s: float) -> Iterator[tuple[str, str]]:
    if inspection.shallow:
        yield "shallow", f"{counted(inspection.shallow_count, 'commit')} in the shallow file"
    for lock in inspection.locks[:_LISTED]:
        yield "lock", f"{printable(lock.path)}, {human_age(now_s - lock.mtime_s)} old"
    if isinstance(inspection.config, ConfigFacts):
        for concern in inspection.config.concerns[:_LISTED]:
            yield "config", f"{printable(concern.key)} = {printable(concern.value)}: {concern.answer}"
        for remote in inspection.config.remotes[:_LISTED]:
            yield "remote", f"{printable(remote.name)} {printable(remote.url)}"
    for problem in inspection.problems[:_LISTED]:
        yield "problem", f"{printable(problem.path)}: {printable(problem.reason)}"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def _alternates(alternates: AlternatesFacts | Unreadable) -> str:
    if isinstance(alternates, Unreadable):
        return alternates.reason
    names = [
        printable_path(entry.path) + ("" if entry.exists else " (missing)") + (" (nested)" if entry.depth > 1 else "")
        for entry in alternates.alternates
    ]
    return _listed(names) or "none named"


def _references(inspection: Inspection) -> str:
    references = inspection.references
    if isinstance(references, Unreadable):
        return references.reason
    if inspection.reference_backend is ReferenceBackend.REFTABLE:
        sizes = ", ".join(human_bytes(size) for size in references.reftable_bytes)
        return f"reftable, {counted(len(references.reftable_bytes), 'table')}: {sizes}"
    return _file_references(references)


def _file_references(references: ReferenceFacts) -> str:
    packed = human_count(references.packed_count or 0)
    loose = human_count(references.loose_count)
    total = human_count(references.count or 0)
    packed_in = f"{packed} packed in {human_bytes(references.packed_bytes)}"
    return f"{total}: {loose} loose, {packed_in}{unlisted_text(references)}"


def unlisted_text(references: ReferenceFacts) -> str:
    """Return why loose and packed references are more than git lists; empty if they are not."""
    count = references.unlisted_count
    return f"; {counted(count, 'is', 'are')} hidden by a loose one of the same name, or empty" if count else ""


def packs_text(packs: PackFacts | Unreadable, multi_pack_index: MultiPackIndexFacts | Unreadable | None) -> str:
    """Return how many packs there are, and how many of each kind; none is outside an index that is not there."""
    if isinstance(packs, Unreadable):
        return packs.reason
    named = (
        ("kept", packs.kept_count),
        ("cruft", packs.cruft_count),
        ("promisor", packs.promisor_count),
        ("outside the multi-pack-index", packs.outside_midx_count if multi_pack_index is not None else 0),
        ("without index", len(packs.missing_index_names)),
        ("orphan index", len(packs.orphan_index_names)),
        ("garbage", packs.garbage_count),
    )
    parts = [f"{human_count(count)} {name}" for name, count in named if count]
    return ", ".join([human_count(packs.count), *parts])


def multi_pack_index_text(facts: MultiPackIndexFacts | Unreadable | None) -> str:
    """Return what the multi-pack-index covers."""
    match facts:
        case None:
            return "none"
        case Unreadable(reason=reason):
            return reason
        case MultiPackIndexFacts():
            layers = f" in {counted(facts.layer_count, 'layer')}" if facts.layer_count > 1 else ""
            missing = f", {facts.missing_pack_count} missing" if facts.missing_pack_count else ""
            packs, objects = counted(facts.pack_count, "pack"), counted(facts.object_count, "object")
            return f"v{facts.version}, {packs}{missing}, {objects}{layers}"


def bitmap_text(inspection: Inspection, lender_bitmap: BitmapFacts | None) -> str:
    """Return which bitmap git would use here, be it a lender's, and what it has."""
    if inspection.bitmaps:
        others_count = len(inspection.bitmaps) - 1
        return _bitmap(inspection.bitmaps[0], "of the") + (f", and {others_count} more" if others_count else "")
    return "none" if lender_bitmap is None else _bitmap(lender_bitmap, "of a lender's")


def _bitmap(bitmap: BitmapFacts, whose: str) -> str:
    traits = (
        ("hash cache", bitmap.hash_cache),
        ("lookup table", bitmap.lookup_table),
        ("pseudo-merges", bitmap.pseudo_merges),
    )
    names = [name for name, present in traits if present]
    source = bitmap.source.value.replace("_", "-")
    return ", ".join([f"{whose} {source}, {counted(bitmap.commit_count, 'commit')}", *names])


def _commit_graph(facts: CommitGraphFacts | Unreadable | None) -> str:
    match facts:
        case None:
            return "none"
        case Unreadable(reason=reason):
            return reason
        case CommitGraphFacts():
            shape = f"chain of {facts.chain_length}" if facts.chain_length else "one file"
            bloom = "with" if facts.bloom_filters else "without"
            generation = "" if facts.generation_data else ", without generation data"
            return f"{shape}, {counted(facts.commit_count, 'commit')}, {bloom} changed-path filters{generation}"
