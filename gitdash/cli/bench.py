"""`gitdash bench size|fetch|connectivity|lookup|filesystem|clone`: makes one experiment, prints it and remembers it."""

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitdash.cli.bench_making import Making
from gitdash.cli.bench_output import COMPARED_COUNT, plot_experiment, print_experiment
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import ProgressLine, say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode, GitdashError
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.fetch_sources import PROTOCOLS, REMOTE
from gitdash.lab.questions import OPTION
from gitdash.lab.request import ExperimentError, ExperimentRequest, NoSuchChoiceError
from gitdash.lab.variant import Limits
from gitdash.model.experiment import ExperimentKind, ExperimentResult, ExperimentRun
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository
from gitdash.survey.single import find_repository, report_single
from gitdash.units import fine_duration, printable

if TYPE_CHECKING:
    from gitdash.cli.bench_winner import WinnerOfSizes
    from gitdash.history.store import History


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """What the command line says."""

    kind: ExperimentKind
    repository: bytes
    runs: int | None
    """None for as many as the intervals need."""
    budget_s: float
    cold: bool
    variants: tuple[str, ...]
    explain: bool
    output_format: str
    plot_path: str | None
    special: Mapping[str, object]
    """What only this kind has, as in `ExperimentRequest.options`."""

    @property
    def limits(self) -> Limits:
        """When the experiment ends."""
        if self.runs is None:
            return Limits(budget_s=self.budget_s)
        return Limits(least_runs=self.runs, most_runs=self.runs, budget_s=self.budget_s)


def run_bench(session: Session, options: BenchOptions) -> int:
    """Make an experiment; exit 1 if nothing could be run, 130 if it was interrupted."""
    if options.plot_path is not None:
        from gitdash.cli.picture_file import require_picture_file

        require_picture_file(options.plot_path)
    repository = find_repository(
        absolute_path(options.repository), settings=session.settings, effective_uid=os.geteuid()
    )
    progress = _Progress(options.kind)
    with session.history(sweeps=False) as history:
        try:
            request = _request(session, options, _inspected(session, repository, history), progress)
            if options.explain:
                return _explain(request, options.kind)
            winner = _winner(session, options, history, lambda: _inspected(session, repository, history))
            making = Making(EXPERIMENTS[options.kind], replace(request, asked_s=time.monotonic()))
            result = making.finish()
        except ExperimentError as error:
            return _not_made(error)
        finally:
            progress.line.clear()
        earlier = history.experiments.before(result, limit=COMPARED_COUNT) if history is not None else ()
        if history is not None and _has_runs(result):
            if winner is not None:
                result = winner.remember(result)
            result = history.experiments.save(result)
        print_experiment(session, result, options.output_format, earlier=earlier)
        if history is not None and history.problem is not None:
            say(f"gitdash: {history.problem}")
    plot_experiment(result, options.plot_path)
    if making.is_interrupted:
        say("gitdash: interrupted: the experiment is not complete")
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if _has_runs(result) else ExitCode.FINDINGS


def _not_made(error: ExperimentError) -> int:
    """Say why nothing could be run, and return the exit code. Raises it again if it is what was asked that is wrong."""
    if isinstance(error, NoSuchChoiceError):
        raise error
    say(f"gitdash: nothing could be run: {error}")
    return ExitCode.FINDINGS


def _request(
    session: Session, options: BenchOptions, report: RepositoryReport, progress: "_Progress"
) -> ExperimentRequest:
    registry_dir = session.registry_dir
    session.sweep_copies()
    if options.kind is ExperimentKind.SIZE:
        # whether every object is stored once decides which ways to a size are exact
        from gitdash.survey.exclusive import with_exclusive

        report = with_exclusive(report, now_s=wall_clock())
    request = ExperimentRequest(
        report=report,
        program=session.git,
        clock=wall_clock,
        registry_dir=registry_dir,
        limits=options.limits,
        is_cold=options.cold,
        chosen=options.variants,
        on_run=progress.take,
        on_discard=progress.discard,
        on_step=progress.step,
        options=_special(session, options),
    )
    return _with_question(request, options.kind)


def _special(session: Session, options: BenchOptions) -> Mapping[str, object]:
    """Return the options of an experiment, with what the configuration says where nothing was said."""
    if options.kind is not ExperimentKind.FETCH:
        return options.special
    # a remote that is named is one to fetch from
    real = {"real_remote": True} if options.special.get(REMOTE) else {}
    return {PROTOCOLS: session.settings.fetch.protocols, **real, **options.special}


def _with_question(request: ExperimentRequest, kind: ExperimentKind) -> ExperimentRequest:
    """Return the request with the whole question if it names the beginning of one. Raises NoSuchChoiceError."""
    begun = request.options.get(OPTION)
    if begun is None:
        return request
    questions = EXPERIMENTS[kind].questions_of(request)
    found = [question for question in questions if question.startswith(str(begun))]
    if len(found) != 1:
        how_many = "more than one question begins" if found else "no question begins"
        raise NoSuchChoiceError(f"{how_many} with {str(begun)!r}; there are: {', '.join(questions) or 'none'}")
    return replace(request, options={**request.options, OPTION: found[0]})


def _inspected(session: Session, repository: Repository, history: "History | None") -> RepositoryReport:
    return report_single(
        repository,
        settings=session.settings,
        history=history,
        program=session.git,
        effective_uid=os.geteuid(),
        now_s=wall_clock(),
    ).facts


class _Progress:
    """Says on stderr which run it is, and what the runs of its variant say so far."""

    def __init__(self, kind: ExperimentKind) -> None:
        self.line = ProgressLine()
        self._kind = kind
        self._durations_s: dict[str, list[float]] = {}
        self._has_said_step = False

    def step(self, text: str) -> None:
        """Take what is prepared; where no line is drawn over, the first is said, for all that may take minutes."""
        self.line.show(text)
        if not self.line.is_shown and not self._has_said_step:
            self._has_said_step = True
            say(f"gitdash: {self._kind.value}: {text}")

    def take(self, run: ExperimentRun) -> None:
        """Take one run that is over."""
        if not run.is_counted:
            self.line.show(f"{self._kind.value}: {printable(run.variant)}, once to warm up")
            return
        durations_s = self._durations_s.setdefault(run.variant, [])
        durations_s.append(run.wall_s)
        median = fine_duration(statistics.median(durations_s))
        self.line.show(f"{self._kind.value}: {printable(run.variant)}, run {len(durations_s)}, median so far {median}")

    def discard(self) -> None:
        """Begin to count anew: the runs so far were of a repository that is no more."""
        self._durations_s.clear()


def _winner(
    session: Session, options: BenchOptions, history: "History | None", report: Callable[[], RepositoryReport]
) -> "WinnerOfSizes | None":
    """Return what remembers the winner; None where there is none to remember, or sizes cannot be had."""
    if options.kind is not ExperimentKind.SIZE or history is None:
        return None
    from gitdash.cli.bench_winner import WinnerOfSizes

    try:
        return WinnerOfSizes(session, history, report)
    except GitdashError:
        # the experiment says it better
        return None


def _has_runs(result: ExperimentResult) -> bool:
    return any(run.is_counted for variant in result.variants for run in variant.runs)


def _explain(request: ExperimentRequest, kind: ExperimentKind) -> int:
    """Print what would be compared; exit 1 if nothing of it can be run here."""
    experiment = EXPERIMENTS[kind]
    variants = experiment.variants_of(request)
    questions = [question for question in experiment.questions_of(request) if question]
    lines = [f"{kind.value}: {experiment.title}", f"    {experiment.explanation}"]
    lines += [f"    questions: {', '.join(questions)}"] if questions else []
    lines.append("")
    for variant in variants:
        lines.append(f"{variant.name}: {variant.title}")
        lines.append(f"    {variant.explanation}")
        lines += [f"    not here: {variant.skipped}"] if variant.skipped is not None else []
    write_text("".join(f"{printable(line)}\n" for line in lines))
    can_run = any(variant.skipped is None for variant in variants)
    return ExitCode.DONE if can_run else ExitCode.FINDINGS
