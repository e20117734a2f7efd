"""Runs variants interleaved, A B C A B C, and draws what the runs say.

Each variant runs once for nothing, so that none pays for what the first of them loads. Then they take turns, so that
what changes slowly (load, temperature, memory) meets all of them alike. What the runs mean, `statistics` says.

A run counts only if the repository was the same before and after it. If it changed, the runs made before say something
of a repository that is no more, and are thrown away with it: a result is about one fingerprint. What a variant does,
and whether its answer is right, is for the experiment to say.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitdash import __version__
from gitdash.errors import GitdashError
from gitdash.inspection.mounts import filesystem_type
from gitdash.lab.cache import ColdCache
from gitdash.lab.commands import masked
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.machine import filesystem_of, host_name, load_1m, processor_count
from gitdash.lab.mounts import is_memory
from gitdash.lab.request import ExperimentRequest, NoSuchChoiceError
from gitdash.lab.statistics import is_narrow, outcome, summary_of
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.model.experiment import (
    CacheState,
    ExperimentKind,
    ExperimentResult,
    ExperimentRun,
    Summary,
    VariantResult,
)
from gitdash.units import counted, human_duration, printable

_MOST_CHANGES: Final = 3
"""Runs in a row during which the repository changed: then it is not quiet enough."""


def run_interleaved(
    variants: Sequence[Variant],
    request: ExperimentRequest,
    *,
    kind: ExperimentKind,
    fingerprint: Callable[[], bytes],
    question: str = "",
) -> ExperimentResult:
    """Run the variants that were chosen, and return the result, unnumbered.

    A variant that fails ends alone, and its note says why. `fingerprint` is of what decides the outcome.
    Raises NoSuchChoiceError if none of the variants was chosen, and what `fingerprint` raises the first time.
    """
    taken = [variant for variant in variants if not request.chosen or variant.name in request.chosen]
    if not taken:
        raise NoSuchChoiceError(f"no such variant; there are {', '.join(variant.name for variant in variants)}")
    started_at_s, started_s = request.clock(), time.monotonic()
    folders = _store_types(request)
    why_warm = _why_warm(folders) if request.is_cold else ""
    cold = ColdCache(folders) if request.is_cold and not why_warm else None
    race = _Race(
        request=request,
        cold=cold,
        fingerprint=fingerprint,
        started_s=started_s,
        known=fingerprint(),
    )
    is_complete = race.run([variant for variant in taken if variant.skipped is None])
    summaries = race.summaries()
    winner, verdict = outcome(summaries, {variant.name: variant.title for variant in taken}, is_complete=is_complete)
    return ExperimentResult(
        number=0,
        kind=kind,
        question=question,
        path=request.report.repository.path,
        fingerprint=race.known,
        cache=CacheState.WARM if cold is None else CacheState.COLD,
        cache_note=why_warm if cold is None else cold.note(),
        variants=tuple(race.result_of(variant, summaries.get(variant.name)) for variant in taken),
        winner=winner,
        verdict=printable(verdict),
        discarded_count=race.discarded_count,
        is_complete=is_complete,
        notes=tuple(race.notes),
        prepared_s=max(started_s - request.asked_s, 0.0),
        started_at_s=started_at_s,
        elapsed_s=time.monotonic() - started_s,
        gitdash_version=__version__,
        git_version=request.program.version_text,
        host=host_name(),
        processor_count=processor_count(),
        filesystem_type=filesystem_of(request.report),
    )


def _why_warm(folders: Mapping[bytes, str | None]) -> str:
    """Return why no run can be cold, by the file systems of the object folders; empty if some can."""
    types = dict.fromkeys(folders.values())
    if not all(name is not None and is_memory(name) for name in types):
        return ""
    names = " and ".join(map(str, types))
    return f"the repository lies on {names}, which is memory itself: nothing can be driven out of it"


def _store_types(request: ExperimentRequest) -> dict[bytes, str | None]:
    """Return the type of the file system of each object folder, lenders included."""
    own, *lenders = object_folders(request.report)
    return {own: filesystem_of(request.report), **{lender: filesystem_type(lender) for lender in lenders}}


class _RaceOverError(Exception):
    """No further run begins; the text says why."""


@dataclass(slots=True, kw_only=True)
class _Race:
    """The runs of one experiment, while they are made."""

    request: ExperimentRequest
    cold: ColdCache | None
    fingerprint: Callable[[], bytes]
    started_s: float
    """On the monotonic clock."""
    known: bytes
    """Fingerprint of the repository to which all kept runs belong."""
    runs: dict[str, list[ExperimentRun]] = field(default_factory=dict)
    said: dict[str, Measured] = field(default_factory=dict)
    """What the last run of a variant gave."""
    failures: dict[str, str] = field(default_factory=dict)
    """Why a variant has ended early."""
    notes: list[str] = field(default_factory=list)
    discarded_count: int = 0
    number: int = 0
    changes_in_a_row: int = 0

    def run(self, variants: Sequence[Variant]) -> bool:
        """Make all runs; return whether each variant has as many as it should, but those that failed.

        What was cancelled is not complete, however many there are: more were wanted.
        """
        try:
            for variant in variants:
                self._turn(variant, is_warm_up=True)
            while not self._is_decided(self._alive(variants)):
                for variant in self._alive(variants):
                    self._turn(variant, is_warm_up=False)
        except _RaceOverError as over:
            self.notes.append(str(over))
            if self.request.cancel.is_set():
                return False
        return all(self._run_count(variant) >= self.request.limits.least_runs for variant in self._alive(variants))

    def summaries(self) -> dict[str, Summary]:
        """Return what the kept runs say, by variant; of one that failed nothing, so that no verdict waits for it."""
        kept = {name: runs for name, runs in self.runs.items() if runs and name not in self.failures}
        return {name: summary_of([run.wall_s for run in runs]) for name, runs in kept.items()}

    def result_of(self, variant: Variant, summary: Summary | None) -> VariantResult:
        """Return what became of one variant."""
        said = self.said.get(variant.name)
        return VariantResult(
            name=variant.name,
            title=variant.title,
            explanation=variant.explanation,
            argv=tuple(map(masked, (said.argv if said is not None else ()) or variant.argv)),
            stdin=masked(said.stdin) if said is not None else "",
            skipped=variant.skipped,
            note=self.failures.get(variant.name, ""),
            runs=tuple(self.runs.get(variant.name, ())),
            summary=summary,
        )

    def _alive(self, variants: Sequence[Variant]) -> list[Variant]:
        return [variant for variant in variants if variant.name not in self.failures]

    def _run_count(self, variant: Variant) -> int:
        return len(self.runs.get(variant.name, ()))

    def _is_decided(self, alive: Sequence[Variant]) -> bool:
        """Whether no further round is wanted."""
        limits = self.request.limits
        fewest = min(map(self._run_count, alive), default=limits.most_runs)
        if fewest < limits.least_runs:
            return False
        summaries = self.summaries()
        return fewest >= limits.most_runs or all(
            is_narrow(summaries[variant.name], limits.narrow_ratio) for variant in alive
        )

    def _turn(self, variant: Variant, *, is_warm_up: bool) -> None:
        """Run one variant once. Raises _RaceOverError if there is no time for it, or the repository is not quiet."""
        self._require_time()
        self._take_over()
        if self.cold is not None:
            self.cold.empty(variant.objects_dirs)
        started_at_s, load = self.request.clock(), load_1m()
        try:
            measured = variant.run(RunContext(cancel=self.request.cancel, time_limit_s=self.request.limits.budget_s))
        except GitdashError as error:
            self._require_time()
            if self._changed_meanwhile():
                # such as packs that were removed under it: that is no fault of the variant
                return
            self.failures[variant.name] = printable(str(error))
            return
        if self._changed_meanwhile():
            return
        if self.cold is not None:
            self.cold.judge(measured.read_bytes, is_trial=is_warm_up)
        self.said[variant.name] = measured
        if not is_warm_up:
            self.number += 1
        number = 0 if is_warm_up else self.number
        run = measured.as_run(variant.name, number=number, started_at_s=started_at_s, load_1m=load)
        if not is_warm_up:
            self.runs.setdefault(variant.name, []).append(run)
        self.request.on_run(run)

    def _require_time(self) -> None:
        if self.request.cancel.is_set():
            raise _RaceOverError("Cancelled.")
        budget_s = self.request.limits.budget_s
        if time.monotonic() - self.started_s >= budget_s:
            raise _RaceOverError(f"The time for all runs, {human_duration(budget_s)}, was spent.")

    def _take_over(self) -> bool:
        """Throw all runs away if the repository is another now; return whether it is.

        Raises _RaceOverError if it cannot be looked at any more.
        """
        try:
            found = self.fingerprint()
        except GitdashError as error:
            raise _RaceOverError(f"The repository cannot be looked at any more: {printable(str(error))}.") from error
        if found == self.known:
            return False
        self.known = found
        self.discarded_count += sum(map(len, self.runs.values()))
        self.runs.clear()
        self.request.on_discard()
        return True

    def _changed_meanwhile(self) -> bool:
        """Whether the repository changed during a run, which then counts for nothing. Raises _RaceOverError."""
        if not self._take_over():
            self.changes_in_a_row = 0
            return False
        self.discarded_count += 1
        self.changes_in_a_row += 1
        if self.changes_in_a_row == _MOST_CHANGES:
            raise _RaceOverError(f"The repository changed during {counted(_MOST_CHANGES, 'run')} in a row: too busy.")
        return True
