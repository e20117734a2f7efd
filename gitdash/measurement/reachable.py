"""Reachable sizes: one strategy, one answer, and a second opinion where the first is doubtful.

Runs in a shadow git directory, so that configuration, hooks, grafts and replace refs of the scanned repository have no
effect. The lenders' tips are given as `^<id>` instead of asking git with `--alternate-refs`: that would run git in the
lender, with the lender's configuration, and every failure there is silent and yields the undiminished size.
Source: git-rev-list(1). `answers.py` says what each strategy counts; `strategy.py` chooses.
"""

import threading
import time
from dataclasses import replace

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.measurement import plausibility
from gitdash.measurement.answers import Answer, PreviousSize, Tips, answer, extended
from gitdash.measurement.queries import StoreQueries, UntrustworthySizeError
from gitdash.measurement.size_request import SizeRequest, choose, names_note, select
from gitdash.model.sizes import SizeMeasurement, Strategy
from gitdash.units import counted, printable


def measure_reachable(
    request: SizeRequest,
    program: GitProgram,
    *,
    now_s: float,
    time_limit_s: float,
    cancel: threading.Event | None = None,
) -> SizeMeasurement:
    """Answer one question about one repository; the time limit is for all queries together.

    Raises StrategyError if the requested strategy makes no sense, and GitError if git fails, also without derived
    files, or if its answer cannot be true.
    """
    started_s = time.monotonic()
    choice = choose(request, program)
    selection = select(request)
    tips = selection.tips
    if selection.warnings and not tips.wanted:
        raise UntrustworthySizeError(f"no reference can be read: {selection.warnings[0]}", kind=GitFailure.FAILED)
    with shadow_git_dir(
        object_format=request.object_format, objects_dir=request.objects_dir, shallow_file=request.shallow_file
    ) as shadow:
        queries = StoreQueries(
            program=program,
            shadow=shadow,
            partial=request.partial,
            deadline_s=started_s + time_limit_s,
            cancel=cancel,
            objects_dir=request.objects_dir,
            lenders=request.lender_objects_dirs,
        )
        found = _trusted(request, choice.strategy, queries, tips)
    if selection.warnings:
        found = found.without_own_tips()
    if selection.lender_warnings:
        found = found.without_excluded_tips()
    warnings = (*selection.warnings, *selection.lender_warnings)
    return SizeMeasurement(
        question=request.question,
        bytes=found.size_bytes,
        strategy=found.strategy,
        exact=found.exact,
        elapsed_s=time.monotonic() - started_s,
        measured_at_s=now_s,
        argv=found.argv,
        git_version=program.version_text,
        excluded_references=request.excluded_references,
        notes=(*warnings, *selection.notes, *found.notes, *_missing_note(found)),
        warnings=(*warnings, *found.warnings),
        inexact_bound=found.inexact_bound,
    )


def _trusted(request: SizeRequest, strategy: Strategy, queries: StoreQueries, tips: Tips) -> Answer:
    """The first answer, or the second opinion where the first is missing or doubtful.

    A derived file that is known to be damaged is not used at all: git may go astray in it and not come back.
    """
    if request.damaged_files:
        return _without_damaged_files(request, strategy, queries, tips)
    try:
        first = _first_answer(request, strategy, queries, tips)
    except UntrustworthySizeError:
        raise
    except GitError as error:
        if error.kind is not GitFailure.FAILED:
            raise
        return _after_failure(request, strategy, queries, tips, error)
    reasons = _doubts(request, first)
    return _second_opinion(request, queries, tips, first, reasons) if reasons else first


def _without_damaged_files(request: SizeRequest, strategy: Strategy, queries: StoreQueries, tips: Tips) -> Answer:
    rule = _rule_for(request, strategy, queries)
    try:
        found = _independent(request, _exact_without_bitmap(rule, tips), queries, tips)
    except UntrustworthySizeError:
        raise
    except GitError as error:
        if error.kind is not GitFailure.FAILED:
            raise
        return _after_failure(request, rule, queries, tips, error)
    names = ", ".join(request.damaged_files)
    complaint = (f"git complained: {found.complaint}",) if found.complaint else ()
    return found.warned(f"measured without derived files, for damage in {printable(names)}", *complaint)


def _exact_without_bitmap(strategy: Strategy, tips: Tips) -> Strategy:
    """A walk with an exclusion would be an upper bound of what a bitmap counts."""
    return Strategy.UNION if strategy is Strategy.BITMAP and tips.excluded else strategy


def _first_answer(request: SizeRequest, strategy: Strategy, queries: StoreQueries, tips: Tips) -> Answer:
    rule = _rule_for(request, strategy, queries)
    if strategy is Strategy.DIFFERENCE and request.previous is not None:
        found = _extended(request, request.previous, queries, tips)
        # a bound is for where a full measurement would be one, too
        if found is not None and (found.exact or (rule is Strategy.WALK and tips.excluded)):
            return found
    return answer(rule, queries, tips, every_object_once=request.every_object_once)


def _extended(request: SizeRequest, previous: PreviousSize, queries: StoreQueries, tips: Tips) -> Answer | None:
    """The older size with what is new; None if it is of no use, and a full measurement has to say what is true."""
    try:
        found = extended(previous, queries, tips)
    except GitError as error:
        # a tip of the older size may be gone, which is no damage
        if error.kind is GitFailure.FAILED and not isinstance(error, UntrustworthySizeError):
            return None
        raise
    # a sum that counts twice may exceed all files, and that is no lie of a derived file
    if found is None or plausibility.is_impossible(found.size_bytes, request.upper_bound_bytes):
        return None
    return found


def _after_failure(
    request: SizeRequest, strategy: Strategy, queries: StoreQueries, tips: Tips, error: GitError
) -> Answer:
    """Once more without tips whose object is missing, else without derived files."""
    present = queries.present((*tips.wanted, *tips.excluded))
    usable = Tips(
        wanted=tuple(object_id for object_id in tips.wanted if object_id in present),
        excluded=tuple(object_id for object_id in tips.excluded if object_id in present),
    )
    if tips.wanted and not usable.wanted:
        raise UntrustworthySizeError(
            f"no reference can be followed: {'; '.join(_gone_notes(request, tips, usable))}", kind=GitFailure.FAILED
        ) from error
    if usable != tips:
        found = _trusted(request, _rule_for(request, strategy, queries), queries, usable)
        found = found.without_own_tips() if usable.wanted != tips.wanted else found
        found = found.without_excluded_tips() if usable.excluded != tips.excluded else found
        return found.warned(*_gone_notes(request, tips, usable))
    found = _independent(request, strategy, queries, tips)
    return found.warned(f"measured without derived files, with them {printable(str(error))}")


def _gone_notes(request: SizeRequest, all_tips: Tips, usable: Tips) -> tuple[str, ...]:
    """Which references point to objects that are not there."""
    notes = []
    point_to_nothing = ("points to a missing object and is left out", "point to missing objects and are left out")
    of_lender = ("of the lender points to a missing object", "of the lender point to missing objects")
    for words, references, before, after in (
        (point_to_nothing, request.references, all_tips.wanted, usable.wanted),
        (of_lender, request.lender_references, all_tips.excluded, usable.excluded),
    ):
        gone = set(before) - set(after)
        if gone:
            notes.append(names_note(words, [name for name, object_id in references if object_id in gone]))
    return tuple(notes)


def _doubts(request: SizeRequest, found: Answer) -> tuple[str, ...]:
    return plausibility.doubts(
        found.size_bytes,
        complaint=found.complaint,
        upper_bound_bytes=request.upper_bound_bytes,
        # what is stored says nothing if references are left out on purpose
        expected_bytes=None if request.excluded_references else request.expected_bytes,
    )


def _second_opinion(
    request: SizeRequest, queries: StoreQueries, tips: Tips, first: Answer, reasons: tuple[str, ...]
) -> Answer:
    """Ask again without derived files. If the two agree the first stands, else the second is told."""
    why = "; ".join(reasons)
    strategy = first.strategy
    if first.exact:
        strategy = _exact_without_bitmap(strategy, tips)
    try:
        second = _independent(request, strategy, queries, tips)
    except UntrustworthySizeError:
        raise
    except GitError as error:
        if error.kind is not GitFailure.FAILED:
            raise
        raise UntrustworthySizeError(
            printable(f"{why}; without derived files {error}"),
            kind=GitFailure.FAILED,
            argv=error.argv,
            exit_code=error.exit_code,
            stderr=error.stderr,
        ) from error
    if second.size_bytes == first.size_bytes:
        again = f"counted again without derived files, with the same result: {why}"
        # a size that is only unlikely, and true, is no sign of damage
        return first.warned(again) if first.complaint else replace(first, notes=(*first.notes, again))
    note = (
        f"commit-graph, bitmap or multi-pack-index may lie: {first.size_bytes:,} bytes with them,"
        f" {second.size_bytes:,} bytes without: {why}"
    )
    return second.warned(note)


def _independent(request: SizeRequest, strategy: Strategy, queries: StoreQueries, tips: Tips) -> Answer:
    """An answer without derived files. Raises UntrustworthySizeError if it is impossible all the same."""
    rule = _rule_for(request, strategy, queries)
    found = answer(
        Strategy.UNION if rule is Strategy.UNION else Strategy.WALK,
        queries,
        tips,
        every_object_once=request.every_object_once,
        derived_files=False,
    )
    if plausibility.is_impossible(found.size_bytes, request.upper_bound_bytes):
        reasons = plausibility.doubts(found.size_bytes, upper_bound_bytes=request.upper_bound_bytes)
        raise UntrustworthySizeError("; ".join(reasons), kind=GitFailure.FAILED, argv=found.argv)
    return found


def _rule_for(request: SizeRequest, strategy: Strategy, queries: StoreQueries) -> Strategy:
    """The strategy itself, or what the rule says for one that needs an older measurement."""
    if strategy is not Strategy.DIFFERENCE:
        return strategy
    return choose(replace(request, previous=None, requested=None), queries.program).strategy


def _missing_note(found: Answer) -> tuple[str, ...]:
    if not found.missing_count:
        return ()
    objects_are = ("object of this partial clone is", "objects of this partial clone are")
    return (f"{counted(found.missing_count, *objects_are)} not fetched and not counted",)
