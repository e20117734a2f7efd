"""`gitdash size`: one figure that git has to work out, and how it was obtained; `--explain` says why figures differ."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from gitdash.cli.clock import wall_clock
from gitdash.cli.measuring_line import MeasuringLine
from gitdash.cli.output import say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode, GitdashError
from gitdash.export.json_values import json_text
from gitdash.export.measured import measured_text
from gitdash.export.size_record import size_record
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement, Strategy
from gitdash.survey.single import find_repository, report_single
from gitdash.survey.size_inputs import SizeQuestion
from gitdash.survey.sizing import Sizing, preferred_strategy, with_answer
from gitdash.units import exact_bytes, human_duration, printable, printable_path


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeOptions:
    """What the command line says."""

    repository: bytes
    exclude_alternates: bool
    exclude_refs: tuple[str, ...]
    strategy: str
    explain: bool
    output_format: str

    def asked(self) -> SizeQuestion:
        """Return the question."""
        return SizeQuestion(
            question=Question.REACHABLE_OWN if self.exclude_alternates else Question.REACHABLE,
            excluded_references=self.exclude_refs,
            strategy=None if self.strategy == "auto" else Strategy(self.strategy),
        )


def run_size(session: Session, options: SizeOptions) -> int:
    """Measure one size and print it; exit 1 if it cannot be had."""
    effective_uid, settings, program = os.geteuid(), session.settings, session.git
    path = absolute_path(options.repository)
    repository = find_repository(path, settings=settings, effective_uid=effective_uid)
    now_s = wall_clock()
    with session.history() as history:
        report = report_single(
            repository,
            settings=settings,
            history=history,
            program=program,
            effective_uid=effective_uid,
            now_s=now_s,
        ).facts
        sizing = Sizing(
            program,
            history=history,
            clock=wall_clock,
            time_limit_s=settings.size.time_limit_s,
            preferred=preferred_strategy(settings),
        )
        asked = options.asked()
        prepared = sizing.prepare(report, asked, cancel=threading.Event())
        if isinstance(prepared, Unreadable):
            say(f"gitdash: the size of {printable_path(repository.path)} is unreadable: {prepared.reason}")
            return ExitCode.FINDINGS
        with _asking(report, asked.question) as cancel:
            measurement = sizing.measure(report, prepared, cancel=cancel)
        if options.output_format == "json":
            write_text(json_text(size_record(repository.path, measurement)))
        else:
            write_text(_line(report, measurement, now_s))
        if options.explain:
            from gitdash.measurement.explain import explain_difference, explain_size, why_no_bitmap

            lines = [*explain_size(prepared.choice, measurement, no_bitmap=why_no_bitmap(report))]
            if prepared.comparison is not None:
                from gitdash.export.experiment_lines import comparison_line

                lines.append(f"compared: {comparison_line(prepared.comparison, now_s)}")
            lines.append("")
            report = _with_all_sizes(report, sizing, asked.question, measurement)
            lines += explain_difference(report)
            (say if options.output_format == "json" else _write_line)("\n".join(lines))
    return ExitCode.DONE


def _line(report: RepositoryReport, measurement: SizeMeasurement, now_s: float) -> str:
    bound = f"{measurement.bound.sign} " if measurement.bound.sign else ""
    how = f"{measurement.how}, {measurement.bound.words}"
    measured = measured_text(measurement, now_s)
    path, figure = printable_path(report.repository.path), f"{bound}{exact_bytes(measurement.bytes)}"
    lines = [
        f"{path}: {measurement.question.label} {figure}",
        f"  {how}, in {human_duration(measurement.elapsed_s)}, {measured}, git {printable(measurement.git_version)}",
        *(f"  note: {printable(note)}" for note in measurement.notes),
    ]
    return "".join(f"{line}\n" for line in lines)


def _with_all_sizes(
    report: RepositoryReport, sizing: Sizing, answered: Question, size: SizeMeasurement
) -> RepositoryReport:
    """Return the report with all figures, so that they can be compared."""
    from gitdash.survey.exclusive import with_exclusive

    report = with_exclusive(report, now_s=wall_clock())
    sizes = with_answer(report.sizes, answered, size)
    other = Question.REACHABLE if answered is Question.REACHABLE_OWN else Question.REACHABLE_OWN
    try:
        with _asking(report, other) as cancel:
            answer = sizing(report, other, cancel=cancel)
    except GitdashError as error:
        answer = Unreadable(printable(str(error)))
    return msgspec.structs.replace(report, sizes=with_answer(sizes, other, answer))


@contextmanager
def _asking(report: RepositoryReport, question: Question) -> Iterator[threading.Event]:
    """Say on stderr that git is asked and for how long by now; yields the event that would cancel it."""
    cancel = threading.Event()
    with MeasuringLine() as line:
        line.begun(report, (question,), cancel)
        line.show(f"measuring {question.label}")
        yield cancel


def _write_line(text: str) -> None:
    write_text("\n" + "\n".join(map(printable, text.split("\n"))) + "\n")
