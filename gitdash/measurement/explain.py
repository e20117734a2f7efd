"""What `gitdash size --explain` says: which strategy, why, what it costs, and why the five figures differ.

Pure: lines of text made of a report. What is not known is not mentioned.
"""

from collections.abc import Iterator

from gitdash.measurement.strategy import StrategyChoice
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import AlternatesFacts, Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from gitdash.units import counted, exact_bytes, human_duration, linked_text

_QUESTIONS = {
    Question.REACHABLE: "everything that the references reach: what a full clone costs on disk",
    Question.REACHABLE_OWN: "what the references reach here and the lender's references do not",
}
HOW_GIT_RAN = (
    "run in an empty git directory of gitdash's own that borrows these objects, with the references' ids on standard"
    " input: alone it cannot be repeated"
)
"""What is missing from a command line as it is shown."""
_WALKS_INSTEAD = {
    Strategy.BITMAP: "opens every commit and tree, as strategy walk does: the cost grows with the whole history",
    Strategy.UNION: "two walks, of this repository with its lender and of the lender: the cost grows with both",
}
"""What strategies cost that live on bitmaps, where git has none."""


def why_no_bitmap(report: RepositoryReport) -> str | None:
    """Return why git uses no bitmap in this repository, as a clause; None if it can, or if that is not known."""
    inspection = report.inspection
    if isinstance(inspection, Unreadable):
        return None
    if inspection.shallow:
        return "git uses no bitmap in a shallow repository"
    if inspection.bitmaps or report.lender_bitmap is not None:
        return None
    return "there is no bitmap here" if inspection.alternates is None else "there is no bitmap here nor in a lender"


def explain_size(
    choice: StrategyChoice, measurement: SizeMeasurement, *, no_bitmap: str | None = None
) -> tuple[str, ...]:
    """Return how one size was obtained; `no_bitmap` is what `why_no_bitmap` says."""
    reason, cost = choice.reason, choice.cost
    if no_bitmap is not None and choice.strategy in _WALKS_INSTEAD:
        reason, cost = f"{no_bitmap}, so git walks, option or not", _WALKS_INSTEAD[choice.strategy]
    figure = exact_bytes(measurement.bytes)
    lines = [f"question: {measurement.question.label}: {_QUESTIONS[measurement.question]}"]
    if measurement.from_history:
        lines += [
            f"answer: {figure}, {measurement.bound.words}, remembered: {measurement.how} gave it in"
            f" {human_duration(measurement.elapsed_s)}, and nothing that it depends on has changed since",
            f"strategy if it were asked now: {choice.strategy.value}: {reason}",
            f"cost: {cost}",
        ]
    else:
        lines += [f"strategy: {choice.strategy.value}: {reason}", f"cost: {cost}"]
        if measurement.strategy is not choice.strategy:
            lines.append(f"in the end: {measurement.strategy.value} gave the answer{_why_another(choice, measurement)}")
        lines.append(f"answer: {figure}, {measurement.bound.words}, in {human_duration(measurement.elapsed_s)}")
    lines += [f"left out: references that match {pattern}" for pattern in measurement.excluded_references]
    lines.append(f"command: {' '.join(measurement.argv)}")
    lines.append(f"  {HOW_GIT_RAN}")
    return (*lines, *(f"note: {note}" for note in measurement.notes))


def _why_another(choice: StrategyChoice, measurement: SizeMeasurement) -> str:
    if measurement.notes:
        return "; the notes say why"
    return ", for the sum would not have been exact" if choice.strategy is Strategy.DIFFERENCE else ""


def explain_difference(report: RepositoryReport) -> tuple[str, ...]:
    """Return why the five figures of a repository differ, one line for each step between two of them."""
    if isinstance(report.inspection, Unreadable):
        return (f"sizes cannot be compared: {report.inspection.reason}",)
    return (
        *_disk_lines(report.inspection, has_own_store=report.repository.has_own_store),
        *_exclusive_lines(report.inspection, report.sizes.exclusive),
        *_reachable_lines(report.inspection, report.sizes),
        *_reachable_own_lines(report.inspection, report.sizes),
    )


def _disk_lines(inspection: Inspection, *, has_own_store: bool) -> Iterator[str]:
    objects_bytes = inspection.objects_bytes
    match inspection.disk:
        case Unreadable(reason=reason):
            yield f"disk: unreadable: {reason}"
        case DiskFacts() as disk:
            allocated = exact_bytes(disk.allocated_bytes)
            yield f"disk: {exact_bytes(disk.bytes)} in files below the git directory, {allocated} allocated"
            if disk.linked_bytes:
                yield f"  {linked_text(disk.linked_bytes)}"
            # what is written meanwhile, or lies behind a link, may be in one of the two figures alone
            if not isinstance(objects_bytes, Unreadable) and disk.bytes >= objects_bytes and has_own_store:
                rest = exact_bytes(disk.bytes - objects_bytes)
                yield f"  {rest} of it are indexes, bitmaps, references, logs and the like: not objects"
    if isinstance(objects_bytes, Unreadable):
        return
    yield f"objects: {exact_bytes(objects_bytes)} in packs and loose objects, reachable or not, lent by others or not"
    if not has_own_store:
        yield "  they are those of the repository that this worktree belongs to: none is stored in the worktree itself"


def _exclusive_lines(inspection: Inspection, exclusive: ExclusiveSizes | Unreadable | None) -> Iterator[str]:
    match exclusive:
        case Unreadable(reason=reason):
            yield f"exclusive: unreadable: {reason}"
        case ExclusiveSizes():
            yield (
                f"exclusive: {exact_bytes(exclusive.exclusive_bytes)} in {counted(exclusive.exclusive_count, 'object')}"
                f" that no lender has: {_what_deleting_frees(inspection)}"
            )
            yield (
                f"duplicate: {exact_bytes(exclusive.duplicate_bytes)} in"
                f" {counted(exclusive.duplicate_count, 'object that is', 'objects that are')} stored here although a"
                " lender has the same, too"
            )
            yield from _rest_of_objects(inspection.objects_bytes, exclusive)
        case None:
            pass


def _what_deleting_frees(inspection: Inspection) -> str:
    if isinstance(inspection.disk, DiskFacts) and inspection.disk.linked_bytes:
        return "deleting this repository would free those that lie in no file that other folders link, too"
    return "what deleting this repository would free"


def _rest_of_objects(objects_bytes: int | Unreadable, exclusive: ExclusiveSizes) -> Iterator[str]:
    if exclusive.redundant_count:
        yield (
            f"  {exact_bytes(exclusive.redundant_bytes)} more are second copies of"
            f" {counted(exclusive.redundant_count, 'object')} in the same store"
        )
    if not isinstance(objects_bytes, Unreadable):
        parts = exclusive.exclusive_bytes + exclusive.duplicate_bytes + exclusive.redundant_bytes
        if objects_bytes >= parts:
            yield f"  {exact_bytes(objects_bytes - parts)} remain of `objects`: the header and checksum of each pack"


def _reachable_lines(inspection: Inspection, sizes: Sizes) -> Iterator[str]:
    match sizes.reachable:
        case Unreadable(reason=reason):
            yield f"reachable: unreadable: {reason}"
        case SizeMeasurement() as reachable:
            yield f"reachable: {exact_bytes(reachable.bytes)}, {reachable.bound.words}: what a full clone costs on disk"
            yield from _copies_line(inspection, sizes.exclusive)
            if isinstance(inspection.alternates, AlternatesFacts):
                yield "  it counts what lenders hold, too, so it can be far above `objects`"
            elif isinstance(sizes.exclusive, ExclusiveSizes) and not reachable.excluded_references:
                unreachable_bytes = sizes.exclusive.exclusive_bytes - reachable.bytes
                yield f"  {exact_bytes(max(unreachable_bytes, 0))} of the objects here are reachable from no reference"
        case None:
            pass


def _copies_line(inspection: Inspection, exclusive: ExclusiveSizes | Unreadable | None) -> Iterator[str]:
    """Say that exact is not the same each time, where some object may be stored more than once."""
    has_copies = isinstance(exclusive, ExclusiveSizes) and bool(exclusive.duplicate_count or exclusive.redundant_count)
    if has_copies or len(inspection.alternate_stores) > 1:
        yield (
            "  copies of one object, here and in a lender, in two lenders or in two packs, differ in size, for each is"
            " whole or a delta of its own: which copy git counts depends on how it is asked, so that two exact answers"
            " may differ by as much"
        )


def _reachable_own_lines(inspection: Inspection, sizes: Sizes) -> Iterator[str]:
    match sizes.reachable_own:
        case Unreadable(reason=reason):
            yield f"own: unreadable: {reason}"
        case SizeMeasurement() as own:
            yield f"own: {exact_bytes(own.bytes)}, {own.bound.words}: what the lender's references do not reach"
            yield from _own_against_others(inspection, own, sizes)
        case None:
            pass


def _own_against_others(inspection: Inspection, own: SizeMeasurement, sizes: Sizes) -> Iterator[str]:
    if inspection.alternates is None:
        yield "  there is no lender, so it is the same question as `reachable`"
        return
    if isinstance(sizes.reachable, SizeMeasurement):
        lent_bytes = max(sizes.reachable.bytes - own.bytes, 0)
        yield f"  {exact_bytes(lent_bytes)} of `reachable` come with the lender's references"
    if isinstance(sizes.exclusive, ExclusiveSizes):
        difference_bytes = own.bytes - sizes.exclusive.exclusive_bytes
        comparison = "above" if difference_bytes >= 0 else "below"
        yield (
            f"  {exact_bytes(abs(difference_bytes))} {comparison} `exclusive`, which asks where objects are stored and"
            " not what reaches them"
        )
