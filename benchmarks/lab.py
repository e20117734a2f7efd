"""Published figures of the lab's experiments beside those of generated repositories of the same shape.

Each comparison is made by `gitdash.lab`, as `gitdash bench` makes it: two ways in turn. What is compared is processor
time of the whole process tree, so that a busy machine does not decide; look-ups in a handle that stays open, and clones
on a file system that is slow on purpose, are compared by wall time, each run with the one that follows.
"""

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks import lab_mounts, lab_repositories
from benchmarks.lab_comparisons import COMPARISONS, Comparison
from benchmarks.lab_table import Row, compared_runs, load_of, markdown, median_s, variants_of
from gitdash.config.settings import Settings
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.variant import Limits
from gitdash.model.experiment import ExperimentKind, ExperimentResult, Measure, VariantResult
from gitdash.model.report import RepositoryReport
from gitdash.survey.single import find_repository, report_single
from gitdash.units import fine_duration

_BUDGET_S = 300.0
_SHAPES = {
    ExperimentKind.SIZE: lab_repositories.sized_member,
    ExperimentKind.FETCH: lab_repositories.fetching_member,
    ExperimentKind.CONNECTIVITY: lab_repositories.with_tags,
    ExperimentKind.LOOKUP: lab_repositories.in_packs,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lab:
    """Where experiments are made, and how often each way runs."""

    scratch: Path
    runs: int

    def run(
        self,
        kind: ExperimentKind,
        repository: Path,
        program: GitProgram,
        ways: tuple[str, ...],
        question: str | None = None,
    ) -> ExperimentResult:
        """Make one experiment."""
        request = ExperimentRequest(
            report=_report(repository, program),
            program=program,
            clock=time.time,
            registry_dir=os.fsencode(self.scratch / "copies"),
            limits=Limits(least_runs=self.runs, most_runs=self.runs, budget_s=_BUDGET_S),
            chosen=ways,
            options={} if question is None else {"question": question},
        )
        return EXPERIMENTS[kind].run(request)


def reference_table(scratch: Path, runs: int, *, programs: Sequence[str], scale: float) -> list[Row]:
    """Make all comparisons with each git, and print the table for the README.

    `programs` are paths or names of git; `scale` is the part of the full size that the repositories have.
    """
    lab = _Lab(scratch=scratch, runs=runs)
    repositories: dict[ExperimentKind, Path] = {}
    for kind, make in _SHAPES.items():
        repositories[kind] = make(scratch / kind.value, scale)
        print(f"made a repository for {kind.value}", flush=True)
    source = lab_repositories.to_clone(scratch / "source", scale)
    found: dict[str, list[Row]] = {}
    for program in map(find_git, programs):
        for kind, repository in repositories.items():
            found.setdefault(kind.value, []).extend(_rows(lab, kind, repository, program))
        mounted = lab_mounts.rows(source, scratch / f"mounts-{program.version_text}", program, runs, lab.run)
        found.setdefault("mounts", []).extend(mounted)
    rows = [row for group in found.values() for row in sorted(group, key=lambda row: row.compared)]
    print(markdown(rows), flush=True)
    if scale != 1:
        print(f"made at {scale:g} of the full size; the reasons are those of the full one", flush=True)
    return rows


def _rows(lab: _Lab, kind: ExperimentKind, repository: Path, program: GitProgram) -> list[Row]:
    """Return the rows of one kind; comparisons of the same question are made by one experiment."""
    comparisons = [comparison for comparison in COMPARISONS if comparison.kind is kind]
    rows = []
    for question in dict.fromkeys(comparison.question for comparison in comparisons):
        asked = [comparison for comparison in comparisons if comparison.question == question]
        ways = tuple(dict.fromkeys(way for comparison in asked for way in comparison.ways))
        result = lab.run(kind, repository, program, ways, question)
        rows += [_row(comparison, result) for comparison in asked]
    return rows


def _row(comparison: Comparison, result: ExperimentResult) -> Row:
    variants = variants_of(result)
    measure = Measure.WALL if comparison.phase else Measure.CPU
    first, second = (_of_phase(variants[name], comparison.phase) for name in comparison.ways)
    ratios = compared_runs(first, second, measure)
    return Row(
        experiment=comparison.kind.value,
        compared=comparison.compared,
        published=comparison.published,
        published_ratio=comparison.published_ratio,
        here=f"{fine_duration(median_s(first, measure))}, {fine_duration(median_s(second, measure))}",
        ratio=statistics.median(ratios),
        ratios=ratios,
        git=result.git_version,
        load_1m=load_of(result),
        why=comparison.why,
    )


def _of_phase(variant: VariantResult, name: str) -> VariantResult:
    """Return a variant whose runs took what one part of them took; all of them if `name` is empty."""
    if not name:
        return variant
    runs = tuple(
        msgspec.structs.replace(run, wall_s=next(phase.elapsed_s for phase in run.phases if phase.name == name))
        for run in variant.runs
    )
    return msgspec.structs.replace(variant, runs=runs)


def _report(repository: Path, program: GitProgram) -> RepositoryReport:
    settings, uid = Settings(), os.geteuid()
    found = find_repository(os.fsencode(repository), settings=settings, effective_uid=uid)
    return report_single(
        found, settings=settings, history=None, program=program, effective_uid=uid, now_s=time.time()
    ).facts
