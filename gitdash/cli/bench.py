"""`gitdash bench size|fetch|connectivity|lookup|filesystem|clone`: makes one experiment, prints it and remembers it.

It runs in a thread, so that Ctrl-C is heard at once: then the run under way is ended, and what was measured so far is
printed and remembered as not complete.
"""

import os
import statistics
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gitdash.cli.bench_output import COMPARED_COUNT, plot_experiment, print_experiment
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import ProgressLine, say, write_text
from gitdash.cli.session import Session, absolute_path, default_state_path
from gitdash.errors import ExitCode, GitdashError
from gitdash.export.experiment_plot import fine_duration
from gitdash.gitcmd.command_log import commands_for
from gitdash.lab.copies import sweep_copies
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.questions import OPTION
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.variant import Limits
from gitdash.model.experiment import ExperimentKind, ExperimentResult, ExperimentRun
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository
from gitdash.survey.single import find_repository, report_single
from gitdash.units import counted, printable

if TYPE_CHECKING:
    from gitdash.cli.bench_winner import WinnerOfSizes
    from gitdash.history.store import History

_LOOK_INTERVAL_S: Final = 0.1
_STOP_LIMIT_S: Final = 10.0
"""How long a cancelled experiment may take to end its run and to remove its copies."""


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
    """`ExperimentRequest.options`."""

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
    with session.history() as history:
        report = _inspected(session, repository, history)
        if options.kind is ExperimentKind.SIZE:
            # whether every object is stored once decides which ways to a size are exact
            from gitdash.survey.exclusive import with_exclusive

            report = with_exclusive(report, now_s=wall_clock())
        request = _with_question(_request(session, options, report, progress), options.kind)
        if options.explain:
            return _explain(request, options.kind)
        winner = _winner(session, options, history, lambda: _inspected(session, repository, history))
        making = _Making(options.kind, request)
        is_interrupted = _wait(making, request)
        progress.line.clear()
        result = making.result()
        earlier = history.experiments.before(result, limit=COMPARED_COUNT) if history is not None else ()
        if _has_runs(result) and history is not None:
            result = history.experiments.save(result)
            if winner is not None:
                winner.remember(result)
            if history.problem is not None:
                say(f"gitdash: {history.problem}")
    print_experiment(session, result, options.output_format, earlier=earlier)
    plot_experiment(result, options.plot_path)
    if is_interrupted:
        say("gitdash: interrupted: the experiment is not complete")
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if _has_runs(result) else ExitCode.FINDINGS


def _request(
    session: Session, options: BenchOptions, report: RepositoryReport, progress: "_Progress"
) -> ExperimentRequest:
    registry_dir = registry_folder(session)
    swept_count = len(sweep_copies(registry_dir))
    if swept_count:
        say(f"gitdash: removed {counted(swept_count, 'copy', 'copies')} that an earlier run had left")
    return ExperimentRequest(
        report=report,
        program=session.git,
        clock=wall_clock,
        registry_dir=registry_dir,
        limits=options.limits,
        is_cold=options.cold,
        chosen=options.variants,
        on_run=progress.take,
        on_step=progress.line.show,
        options=options.special,
    )


def _with_question(request: ExperimentRequest, kind: ExperimentKind) -> ExperimentRequest:
    """Return the request with the whole question if it names the beginning of one. Raises ExperimentError."""
    begun = request.options.get(OPTION)
    if begun is None:
        return request
    questions = EXPERIMENTS[kind].questions_of(request)
    found = [question for question in questions if question.startswith(str(begun))]
    if len(found) != 1:
        raise ExperimentError(f"no one question begins so; there are: {', '.join(questions)}")
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


def registry_folder(session: Session) -> bytes:
    """Return the folder that names throw-away copies, beside the state file.

    Also with --no-state: who removes copies of a run that was killed has to find them.
    """
    state_path = os.path.abspath(session.state_path or default_state_path())
    return os.path.join(os.fsencode(os.path.dirname(state_path)), b"lab")


class _Progress:
    """Says on stderr which run it is, and what the runs of its variant say so far."""

    def __init__(self, kind: ExperimentKind) -> None:
        self.line = ProgressLine()
        self._kind = kind
        self._durations_s: dict[str, list[float]] = {}

    def take(self, run: ExperimentRun) -> None:
        """Take one run that is over."""
        if not run.is_counted:
            self.line.show(f"{self._kind.value}: {printable(run.variant)}, once to warm up")
            return
        durations_s = self._durations_s.setdefault(run.variant, [])
        durations_s.append(run.wall_s)
        median = fine_duration(statistics.median(durations_s))
        self.line.show(f"{self._kind.value}: {printable(run.variant)}, run {len(durations_s)}, median so far {median}")


class _Making(threading.Thread):
    """One experiment in a thread of its own."""

    def __init__(self, kind: ExperimentKind, request: ExperimentRequest) -> None:
        # a daemon: a second Ctrl-C shall not have to wait for it
        super().__init__(name="experiment", daemon=True)
        self._run_experiment = EXPERIMENTS[kind].run
        self._request = request
        self._result: ExperimentResult | None = None
        self._error: BaseException | None = None
        self._is_over = threading.Event()

    def run(self) -> None:  # type: ignore[explicit-override]
        """Make it."""
        try:
            with commands_for(self._request.report.repository.path):
                self._result = self._run_experiment(self._request)
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            self._error = error
        finally:
            self._is_over.set()

    def wait(self, time_limit_s: float) -> bool:
        """Wait for the end at most so long, and tell whether it has come.

        Not by `join`: Python 3.11 takes a thread for ended if an exception interrupts that.
        """
        return self._is_over.wait(time_limit_s)

    def result(self) -> ExperimentResult:
        """Return what came of it, or raise what ended it; it has to be over."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise KeyboardInterrupt
        return self._result


def _wait(making: _Making, request: ExperimentRequest) -> bool:
    """Wait for the end, and return whether it came early by Ctrl-C; a second one is not caught."""
    try:
        making.start()
        while not making.wait(_LOOK_INTERVAL_S):
            pass
    except KeyboardInterrupt:
        request.cancel.set()
        making.wait(_STOP_LIMIT_S)
        return True
    return False


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
