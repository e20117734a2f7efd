"""The lab behind the dashboard: what can be compared in a repository, and experiments, each a job.

Experiments are made one after another, whatever the repository: two at once would measure each other. Each run is told
of when it is over. Results are remembered as those of the command line are, the winner of `size` included; where
nothing can be remembered they stay as long as the dashboard.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from gitdash.errors import GitdashError
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.job import JobKind, JobState
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.tui.clock import Clock
from gitdash.tui.experiments import ExperimentChoice, ExperimentUnderWay, LabAnswer
from gitdash.tui.feed.experiment_watch import ExperimentWatch
from gitdash.tui.feed.jobs import JobRegister
from gitdash.tui.feed.lanes import Lanes, Work
from gitdash.tui.feed.offers import offer_of, options_of
from gitdash.tui.feed.retries import Retries
from gitdash.tui.feed.winner import remembering
from gitdash.tui.source import Changes
from gitdash.units import counted, printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History
    from gitdash.lab.request import ExperimentRequest
    from gitdash.lab.variant import Limits

_SHOWN_EARLIER: Final = 10
"""Results of one kind, of one repository."""
_SHOWN_OTHERS: Final = 20
"""Results of one kind, of all other repositories together."""

Tell = Callable[[Callable[[Changes], None]], None]


class Lab:
    """Offers experiments and makes them; for any thread. Nothing of it waits."""

    def __init__(  # noqa: PLR0913 - what experiments need of the feed, each by name
        self,
        *,
        settings: "Settings",
        history: "History | None",
        program: "GitProgram",
        clock: Clock,
        registry_dir: bytes,
        register: JobRegister,
        retries: Retries,
        report_of: Callable[[bytes], RepositoryReport | None],
        tell: Tell,
        on_busy: Callable[[bytes, int], None],
        guarded: Callable[[Work], None],
        cancel: threading.Event,
    ) -> None:
        """Take what all experiments share; `registry_dir` names throw-away copies, see `lab.copies`."""
        self._settings = settings
        self._history = history
        self._program = program
        self._clock = clock
        self._registry_dir = registry_dir
        self._register = register
        self._retries = retries
        self._report_of = report_of
        self._tell = tell
        self._on_busy = on_busy
        self._cancel = cancel
        self._lanes = Lanes(guarded)
        self._lock = threading.Lock()
        self._unsaved: list[ExperimentResult] = []
        """Results that the state file does not have, the newest first."""

    def sweep(self) -> None:
        """Remove the copies that a killed gitdash has left; call it in a thread."""
        from gitdash.lab.copies import sweep_copies

        swept_count = len(sweep_copies(self._registry_dir))
        if swept_count:
            text = f"removed {counted(swept_count, 'copy', 'copies')} that an experiment of an earlier run had left"
            self._tell(lambda changes: changes.notices.append(text))

    def request(self, path: bytes) -> None:
        """Have it told what can be compared in a repository, and what was."""
        self._lanes.add(("offers", path), partial(self._answer, path))

    def start(self, path: bytes, kind: ExperimentKind, choice: ExperimentChoice) -> None:
        """Queue an experiment."""
        number = self._register.ask(JobKind.BENCH, path, what=kind.value)
        self._retries.remember(number, partial(self.start, path, kind, choice))
        under_way = ExperimentUnderWay(job_number=number, path=path, kind=kind, choice=choice)
        self._show(under_way)
        self._lanes.add("experiments", partial(self._make, under_way))

    def stop(self, limit_s: float) -> None:
        """Wait until what was cancelled has removed its copies; what does not come to it, the process's end does."""
        self._lanes.wait(limit_s)

    def _show(self, under_way: ExperimentUnderWay) -> None:
        self._tell(lambda changes: changes.experiment_runs.update({(under_way.path, under_way.kind): under_way}))

    def _answer(self, path: bytes) -> None:
        if self._cancel.is_set():
            return
        try:
            answer: LabAnswer | Unreadable = self._offered(self._inspected(path))
        except GitdashError as error:
            answer = Unreadable(printable(str(error)))
        self._tell(lambda changes: changes.experiments.update({path: answer}))

    def _inspected(self, path: bytes) -> RepositoryReport:
        """Return a report made now. Raises GitdashError."""
        from gitdash.lab.request import ExperimentError
        from gitdash.survey.single import report_single

        known = self._report_of(path)
        if known is None:
            raise ExperimentError("nothing is known of this repository yet")
        return report_single(
            known.repository,
            settings=self._settings,
            history=self._history,
            program=self._program,
            effective_uid=os.geteuid(),
            now_s=self._clock(),
        ).facts

    def _offered(self, report: RepositoryReport) -> LabAnswer:
        from gitdash.lab.experiments import EXPERIMENTS

        request = self._request(report)
        path = report.repository.path
        kinds = [kind for kind in ExperimentKind if kind in EXPERIMENTS]
        return LabAnswer(
            offers=tuple(offer_of(kind, EXPERIMENTS[kind], request) for kind in kinds),
            earlier=tuple(result for kind in kinds for result in self._earlier(path, kind)),
            others=tuple(result for kind in kinds for result in self._others(path, kind)),
        )

    def _earlier(self, path: bytes, kind: ExperimentKind) -> Iterator[ExperimentResult]:
        with self._lock:
            unsaved = [result for result in self._unsaved if (result.path, result.kind) == (path, kind)]
        yield from unsaved
        if self._history is not None:
            yield from self._history.experiments.newest(path, kind, limit=_SHOWN_EARLIER)

    def _others(self, path: bytes, kind: ExperimentKind) -> Iterator[ExperimentResult]:
        if self._history is not None:
            newest = self._history.experiments.newest(kind=kind, limit=_SHOWN_EARLIER + _SHOWN_OTHERS)
            yield from [result for result in newest if result.path != path][:_SHOWN_OTHERS]

    def _request(self, report: RepositoryReport) -> "ExperimentRequest":
        from gitdash.lab.fetch_sources import PROTOCOLS
        from gitdash.lab.request import ExperimentRequest

        return ExperimentRequest(
            report=report,
            program=self._program,
            clock=self._clock,
            registry_dir=self._registry_dir,
            options={PROTOCOLS: self._settings.fetch.protocols},
        )

    def _make(self, under_way: ExperimentUnderWay) -> None:
        number, path = under_way.job_number, under_way.path
        cancel = self._register.start(number)
        if cancel is None:
            return
        watch = ExperimentWatch(under_way, self._register, self._show)
        self._on_busy(path, 1)
        try:
            result = self._result(watch, under_way, cancel)
        except (GitdashError, OSError) as error:
            self._end(watch, cancel, None, printable(str(error)))
        else:
            self._end(watch, cancel, result, None if _has_runs(result) else "no variant could be run")
        finally:
            self._on_busy(path, -1)
        self._answer(path)

    def _end(
        self, watch: ExperimentWatch, cancel: threading.Event, result: ExperimentResult | None, problem: str | None
    ) -> None:
        """Say how it ended; `problem` is why it has no runs."""
        number = watch.now.job_number
        if cancel.is_set():
            if problem is None:
                watch.show(result=result)
            else:
                watch.show(problem="it was cancelled before there was a run to keep")
            self._register.end(number, JobState.CANCELLED)
            return
        # a result without runs says of each variant why it has none
        watch.show(result=result, problem=problem)
        self._register.end(number, JobState.DONE if problem is None else JobState.FAILED, reason=problem)

    def _result(
        self, watch: ExperimentWatch, under_way: ExperimentUnderWay, cancel: threading.Event
    ) -> ExperimentResult:
        """Make the experiment and remember it. Raises GitdashError and OSError."""
        from gitdash.gitcmd.command_log import commands_for
        from gitdash.lab.experiments import EXPERIMENTS

        kind, choice = under_way.kind, under_way.choice
        watch.step("reading the facts again")
        with commands_for(under_way.path):
            report = self._inspected(under_way.path)
            if kind is ExperimentKind.SIZE:
                from gitdash.survey.exclusive import with_exclusive

                # whether every object is stored once decides which ways to a size are exact
                report = with_exclusive(report, now_s=self._clock())
            request = self._request(report)
            request = replace(
                request,
                limits=_limits(choice),
                is_cold=choice.is_cold,
                chosen=choice.variants,
                cancel=cancel,
                on_run=watch.take,
                on_discard=watch.discard,
                on_step=watch.step,
                options={**request.options, **options_of(choice)},
            )
            experiment = EXPERIMENTS[kind]
            watch.begin(experiment.variants_of(request))
            remember = remembering(
                kind,
                settings=self._settings,
                history=self._history,
                program=self._program,
                clock=self._clock,
                cancel=cancel,
                report=partial(self._inspected, under_way.path),
            )
            return self._kept(remember(experiment.run(replace(request, asked_s=time.monotonic()))))

    def _kept(self, result: ExperimentResult) -> ExperimentResult:
        if not _has_runs(result):
            return result
        if self._history is not None:
            result = self._history.experiments.save(result)
        if not result.number:
            with self._lock:
                self._unsaved.insert(0, result)
        return result


def _has_runs(result: ExperimentResult) -> bool:
    return any(run.is_counted for variant in result.variants for run in variant.runs)


def _limits(choice: ExperimentChoice) -> "Limits":
    from gitdash.lab.variant import Limits

    if choice.runs is None:
        return Limits(budget_s=choice.budget_s)
    return Limits(least_runs=choice.runs, most_runs=choice.runs, budget_s=choice.budget_s)
