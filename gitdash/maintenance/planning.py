"""What would be done to one repository, and why: from what its findings name, or from what somebody asks for.

The order is Gitaly's: leftovers, packs, references, commit-graph. Of the tasks that findings name, one that another
covers is left out, and one that does not fit the repository is replaced by what does; what somebody asks for by name
stays as asked. Pure: `facts` reads, `refusals` judges, `running` acts, each time from a plan made anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from gitdash.assessment.packs import allowed_packs_outside
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.gains import gain, gain_after_unlink, has_no_gain, needed_bytes
from gitdash.maintenance.heuristics import (
    can_have_bitmap,
    config_of,
    has_damaged_index,
    has_multi_pack_bitmap,
    is_member,
    is_partial,
    lends,
    own_bitmap_names,
    stale_loose_count,
    wants_bitmap,
)
from gitdash.maintenance.kept_files import kept_sentences
from gitdash.maintenance.refusals import common_refusals, refusals_of
from gitdash.maintenance.tasks import steps_of
from gitdash.model.finding import Severity
from gitdash.model.inspection import Inspection, PackFacts
from gitdash.model.plan import Plan, PlannedTask, Unmended
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.units import printable_path

ORDER: Final = (
    Task.SWEEP,
    Task.INDEX_PACK,
    Task.ORPHAN_INDEXES,
    Task.UNLINK,
    Task.DEDUPLICATE,
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.GEOMETRIC_REPACK,
    Task.FULL_REPACK,
    Task.BITMAP,
    Task.MULTI_PACK_INDEX,
    Task.MULTI_PACK_BITMAP,
    Task.RECLAIM,
    Task.PACK_REFS,
    Task.COMMIT_GRAPH,
    Task.VERIFY,
)
"""A later one finds what an earlier one leaves. A damaged multi-pack-index comes before all that reads packs."""

COVERED_BY: Final[Mapping[Task, tuple[Task, ...]]] = {
    Task.LOOSE_OBJECTS: (
        Task.FULL_REPACK,
        Task.BITMAP,
        Task.GEOMETRIC_REPACK,
        Task.MULTI_PACK_BITMAP,
        Task.DEDUPLICATE,
    ),
    Task.INCREMENTAL_REPACK: (Task.FULL_REPACK, Task.BITMAP, Task.GEOMETRIC_REPACK, Task.DEDUPLICATE),
    Task.GEOMETRIC_REPACK: (Task.FULL_REPACK, Task.BITMAP),
    Task.MULTI_PACK_INDEX: (
        Task.INCREMENTAL_REPACK,
        Task.MULTI_PACK_BITMAP,
        Task.FULL_REPACK,
        Task.BITMAP,
        Task.GEOMETRIC_REPACK,
        Task.DEDUPLICATE,
    ),
    Task.FULL_REPACK: (Task.BITMAP,),
    Task.MULTI_PACK_BITMAP: (Task.FULL_REPACK, Task.GEOMETRIC_REPACK),
}
"""Tasks whose work a task does as well, if it may run. In a member `bitmap` only removes bitmaps and covers nothing;
repacks cover a bitmap where they write one."""

ASKED_FOR: Final = "asked for"


def plan(report: RepositoryReport, facts: ActionFacts, tasks: Sequence[Task] | None = None) -> Plan:
    """Return the plan of one repository: of the tasks asked for, or of those that its findings name (None).

    RECLAIM is only ever asked for. A finding whose task may not run is in the plan with what speaks against it.
    """
    if tasks is None:
        reasons = _from_findings(report, facts)
        planned = _uncovered(_planned(report, facts, reasons), report)
    else:
        planned = _planned(report, facts, dict.fromkeys(tasks, (ASKED_FOR,)))
    return Plan(
        path=report.repository.path,
        common_dir=report.repository.common_dir,
        tasks=planned,
        refusals=common_refusals(report, facts),
        unmended=tuple(_unmended(report)) if tasks is None else (),
    )


def _unmended(report: RepositoryReport) -> Iterable[Unmended]:
    for finding in sorted(report.findings, key=lambda finding: -finding.severity.rank):
        if finding.task is None and finding.severity is not Severity.NOTICE:
            yield Unmended(rule=finding.rule, severity=finding.severity, summary=finding.summary, remedy=finding.remedy)


def fitting_task(task: Task, report: RepositoryReport, facts: ActionFacts) -> Task:
    """Return the task that does here what a finding wants of `task`.

    Where a geometric repack would lose own copies or the marks of promisor packs, packs are joined or indexed without;
    a bitmap that is missing is written over the packs as they are, which rewrites none of them, unless git is told to
    read no multi-pack-index here; where there is such a one, those of packs are too many. Where the pack of what is
    loose would be one too many outside the multi-pack-index, they are joined at once (Gitaly `ShouldRepackObjects`,
    which looks at packs before it looks at loose objects).
    """
    geometric = Task.GEOMETRIC_REPACK
    if task is Task.LOOSE_OBJECTS and _would_be_outside(report) and not refusals_of(geometric, report, facts):
        return geometric
    if task is Task.GEOMETRIC_REPACK and is_partial(report) and refusals_of(task, report, facts):
        return Task.MULTI_PACK_INDEX
    if task is Task.GEOMETRIC_REPACK and is_member(report):
        return Task.INCREMENTAL_REPACK
    is_of_packs = own_bitmap_names(report) and not has_multi_pack_bitmap(report)
    if task is Task.BITMAP and can_have_bitmap(report) and not is_of_packs:
        return task if _is_index_disabled(report) else Task.MULTI_PACK_BITMAP
    return task


def _would_be_outside(report: RepositoryReport) -> bool:
    packs = report.inspection.packs if isinstance(report.inspection, Inspection) else None
    if not isinstance(packs, PackFacts) or is_member(report) or is_partial(report):
        return False
    limits = Policy()
    allowed_count = allowed_packs_outside(
        packs.bytes, limits.packs_outside_midx_minimum, limits.packs_outside_midx_log_base
    )
    outside_count = packs.count if _is_index_disabled(report) else packs.outside_midx_count
    return packs.count > 0 and outside_count + 1 > allowed_count


def _is_index_disabled(report: RepositoryReport) -> bool:
    config = config_of(report)
    return config is not None and config.multi_pack_index_disabled


def _from_findings(report: RepositoryReport, facts: ActionFacts) -> dict[Task, tuple[str, ...]]:
    reasons: dict[Task, tuple[str, ...]] = {}
    for finding in report.findings:
        if finding.task is None or finding.task == Task.RECLAIM:
            continue
        task = fitting_task(Task(finding.task), report, facts)
        if has_no_gain(task, report):
            continue
        reasons[task] = (*reasons.get(task, ()), finding.summary)
    return reasons


def _planned(
    report: RepositoryReport, facts: ActionFacts, reasons: Mapping[Task, tuple[str, ...]]
) -> tuple[PlannedTask, ...]:
    refusals = {task: refusals_of(task, report, facts) for task in reasons}
    is_unlinked = Task.UNLINK in reasons and not refusals[Task.UNLINK]
    return tuple(
        PlannedTask(
            task=task,
            because=reasons[task],
            steps=steps_of(task, report, facts),
            gain=(gain_after_unlink(task) if is_unlinked else None) or gain(task, report, facts),
            needed_bytes=needed_bytes(task, report, facts),
            refusals=refusals[task],
            notes=tuple(_notes(task, report, facts)),
        )
        for task in sorted(reasons, key=lambda task: _place(task, report))
    )


def _place(task: Task, report: RepositoryReport) -> int:
    return -1 if task is Task.MULTI_PACK_INDEX and has_damaged_index(report) else ORDER.index(task)


def _uncovered(tasks: tuple[PlannedTask, ...], report: RepositoryReport) -> tuple[PlannedTask, ...]:
    """Leave out what a task that may run does as well, and let that one say so."""
    reasons = {planned.task: planned.because for planned in tasks}
    covering = {planned.task for planned in tasks if not planned.refusals}
    if is_member(report):
        covering.discard(Task.BITMAP)
    for planned in tasks:
        if planned.task is Task.MULTI_PACK_BITMAP and not wants_bitmap(report):
            continue
        cover = next((task for task in COVERED_BY.get(planned.task, ()) if task in covering), None)
        is_repair = planned.task is Task.MULTI_PACK_INDEX and has_damaged_index(report)
        if cover is not None and not is_repair:
            reasons[cover] = (*reasons[cover], *reasons.pop(planned.task))
            covering.discard(planned.task)
    return tuple(
        msgspec.structs.replace(planned, because=reasons[planned.task]) for planned in tasks if planned.task in reasons
    )


_CAUTIONS: Final = {
    Task.DEDUPLICATE: "afterwards these objects are in the lenders alone; a lender that drops them breaks this"
    " repository",
    Task.INCREMENTAL_REPACK: "packs that become superfluous go with the next run, for others may still read them",
    Task.RECLAIM: "drops objects for good, and with them every commit that no reference and no reflog names",
    Task.UNLINK: "the alternates file is kept as a backup beside the new state",
}


_IN_OBJECTS: Final = frozenset(task for task in Task if task.changes_repository) - {Task.PACK_REFS}
_PACKS_LOOSE: Final = frozenset({Task.LOOSE_OBJECTS, Task.GEOMETRIC_REPACK, Task.MULTI_PACK_BITMAP})
_RESTARTS_RECLAIM: Final = (
    "what of it is unreachable counts as new from then on, and reclaim drops it two weeks later: reclaim first if the"
    " space is wanted, or run full-repack, which keeps the age of each object"
)


def _place_notes(task: Task, report: RepositoryReport, facts: ActionFacts) -> Iterable[str]:
    """Say where a task writes and removes, if that is not where the repository lies."""
    if not facts.objects_is_link or task not in _IN_OBJECTS or isinstance(report.inspection, Unreadable):
        return
    store = report.inspection.object_store
    if not isinstance(store, Unreadable):
        yield f"objects is a symbolic link: what this writes and removes lies in {printable_path(store.path)}"


def _notes(task: Task, report: RepositoryReport, facts: ActionFacts) -> Iterable[str]:
    yield from _place_notes(task, report, facts)
    if task in _CAUTIONS:
        yield _CAUTIONS[task]
    if task is Task.DEDUPLICATE:
        yield "refused when it runs if lenders have any of these objects without a reference: that takes a walk there"
    if task is Task.SWEEP and facts.stale_files is not None:
        yield from kept_sentences(facts.stale_files)
    if task is Task.LOOSE_OBJECTS and is_member(report):
        yield "loose objects that only a lender has packed stay: deduplicate removes them, after a check"
    if task in _PACKS_LOOSE and stale_loose_count(report) and not is_member(report) and not lends(report):
        yield _RESTARTS_RECLAIM
    for asked, is_needed in facts.is_needed:
        if asked is task:
            yield f"git maintenance is-needed --auto says {'yes' if is_needed else 'no'}"
