"""What `fetch` and `maintain` share: how a run is opened, watched, ended early, and reported."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from gitdash import __version__
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import OutputError, is_terminal, say, write_text
from gitdash.cli.run_progress import RunProgress
from gitdash.cli.session import Session
from gitdash.errors import ExitCode, GitdashError
from gitdash.export.json_values import SCHEMA_VERSION, json_text
from gitdash.export.ledger_lines import cut_off_lines, entry_lines, short_lines
from gitdash.export.ledger_record import action_record
from gitdash.maintenance.outcomes import classify
from gitdash.maintenance.queue import Ticket
from gitdash.maintenance.run_report import NAMED_LIMIT, report_lines, run_report
from gitdash.model.ledger import LedgerEntry, StoreFigures
from gitdash.survey.acting import Actions
from gitdash.survey.cut_off import settle_actions
from gitdash.units import counted, printable_path, utc_text

if TYPE_CHECKING:
    from gitdash.history.store import History

_LOOK_INTERVAL_S: Final = 0.1
_STOP_LIMIT_S: Final = 5.0
"""How long cancelled actions may take to take their locks away; then their processes are ended."""


@contextmanager
def acting(session: Session) -> Iterator[Actions]:
    """Open the state file and what acts; says what an earlier run did not end, and stops all if this one is left.

    At the end it says what could not be written down.
    """
    opened: History | None = None
    said: str | None = None
    try:
        with session.history() as history:
            opened = history
            actions = Actions(
                settings=session.settings,
                program=session.git,
                history=history,
                clock=wall_clock,
                read_only=session.dashboard.read_only,
            )
            said = _say_problem(history)
            settled = settle_actions(
                actions.ledger, settings=session.settings, effective_uid=os.geteuid(), now_s=wall_clock()
            )
            for line in cut_off_lines(settled):
                say(f"gitdash: {line}")
            try:
                yield actions
            finally:
                actions.cancel_all()
                actions.wait(_STOP_LIMIT_S)
    finally:
        if opened is not None and said is None:
            _say_problem(opened)


def _say_problem(history: "History | None") -> str | None:
    """Say why something is not remembered, and how many actions are missing from the ledger; return the reason."""
    if history is None or history.problem is None:
        return None
    count = history.ledger.unwritten_count
    lost = f"{counted(count, 'action is', 'actions are')} not in the ledger: " if count else ""
    say(f"gitdash: {lost}{history.problem}")
    return history.problem


class Run:
    """What becomes of all that was started together."""

    def __init__(self, paths: Sequence[bytes], *, output_format: str, is_verbose: bool) -> None:
        """Take what is acted on; in a table each action is told as soon as it is over, and at length if so wished."""
        self._is_verbose = is_verbose
        self._output_format = output_format
        self._entries: list[LedgerEntry] = []
        self._unwatched = dict.fromkeys(paths)
        """Repositories that have not had their turn."""
        self._unbegun: list[str] = []
        self._tickets: list[Ticket] = []
        self._errors: list[tuple[bytes, Exception]] = []
        """What kept an action from beginning, by the path of its repository."""
        self._output_error: OutputError | None = None
        """The first, of a thread that acts: it has others to serve, so that this is raised at the end."""
        self._lock = threading.Lock()
        self.progress = RunProgress()

    def watch(self, path: bytes, what: str, *, first_step: str = "") -> "RunWatch":
        """Return the watch for one more action; `first_step` is what it is at until it says more."""
        self._unwatched.pop(path, None)
        return RunWatch(self, self.progress.ask(), path, what, first_step)

    def follow(self, tickets: Sequence[Ticket]) -> None:
        """Take what is queued: what it raises, such as for a damaged state file, belongs to the end."""
        self._tickets += tickets

    def fail(self, path: bytes, error: GitdashError) -> None:
        """Take why nothing could be queued for a repository."""
        self._unwatched.pop(path, None)
        self._errors.append((path, error))

    def take(self, entries: Sequence[LedgerEntry], *, shown: str) -> None:
        """Take what became of an action; nothing if it never began."""
        with self._lock:
            self._entries += entries
            if not entries:
                self._unbegun.append(shown)
            if self._output_format == "table":
                self._print("".join(f"{line}\n" for entry in entries for line in self._lines(entry)))

    def _print(self, text: str) -> None:
        try:
            write_text(text)
        except OutputError as error:
            self._output_error = self._output_error or error

    def _lines(self, entry: LedgerEntry) -> list[str]:
        return entry_lines(entry, wall_clock(), names_path=True) if self._is_verbose else short_lines(entry)

    @contextmanager
    def reported(self, actions: Actions) -> Iterator[None]:
        """Wait for all that is started inside; after an interrupt, until it has stopped, to say what became of it."""
        try:
            with self.progress.drawn():
                yield
                while not actions.wait(_LOOK_INTERVAL_S):
                    pass
        except KeyboardInterrupt:
            self._unbegun += map(printable_path, self._unwatched)
            actions.cancel_all()
            actions.wait(_STOP_LIMIT_S)
            with suppress(OutputError):
                self.finish()
            raise

    def finish(self) -> int:
        """Print the rest, and return the exit code. Raises OutputError if something could not be printed."""
        report = run_report(self._entries)
        if self._output_format == "json":
            self._print(json_text(_document(self._entries)))
        # of one action the terminal has just been told, in the line above
        is_terminal_of_both = is_terminal() and self.progress.is_shown
        is_told = len(self._entries) == 1 and self._output_format == "table" and is_terminal_of_both
        for line in report_lines(report, names_actions=not is_told):
            say(line)
        self._say_unbegun()
        has_failed = self._say_errors()
        if self._output_error is not None:
            raise self._output_error
        return worst(report.exit_code, ExitCode.FINDINGS if has_failed else ExitCode.DONE)

    def _say_unbegun(self) -> None:
        if self._unbegun:
            say(f"{counted(len(self._unbegun), 'action')}: not begun")
            for shown in self._unbegun[:NAMED_LIMIT]:
                say(f"  {shown}")
            if len(self._unbegun) > NAMED_LIMIT:
                say(f"  and {len(self._unbegun) - NAMED_LIMIT:,} more")

    def _say_errors(self) -> bool:
        """Say what no entry of the ledger says; returns whether there was something."""
        raised = [(one.claims.repository, one.error) for one in self._tickets if one.error is not None]
        for path, error in (*self._errors, *raised):
            say(f"gitdash: {printable_path(path)}: {classify(error).sentence}")
        return bool(self._errors or raised)


class RunWatch:
    """Hears of one action of a run."""

    def __init__(self, run: Run, number: int, path: bytes, what: str, first_step: str) -> None:
        self._run = run
        self._number = number
        self._name = printable_path(path)
        self._what = what
        self._first_step = first_step

    @property
    def shows_progress(self) -> bool:
        """Whether stderr is a terminal that shows it."""
        return self._run.progress.is_shown

    def begins(self, before: StoreFigures) -> None:
        """Say so."""
        del before
        self._run.progress.begin(self._number, self._name, self._first_step)

    def advances(
        self, step: str, done_count: int, known_count: int | None, *, received_bytes: int | None = None
    ) -> None:
        """Say how far it is."""
        self._run.progress.advance(self._number, step, done_count, known_count, received_bytes)

    def ends(self, entries: Sequence[LedgerEntry]) -> None:
        """Hand on what became of it."""
        with self._run.progress.ended(self._number):
            self._run.take(entries, shown=f"{self._name} ({self._what})")


def worst(*codes: int) -> int:
    """Return the exit code of a command of which parts ended differently: a failure counts more than a refusal."""
    bad = [code for code in codes if code != ExitCode.DONE]
    if not bad:
        return ExitCode.DONE
    return ExitCode.REFUSED if all(code == ExitCode.REFUSED for code in bad) else ExitCode.FINDINGS


def _document(entries: Sequence[LedgerEntry]) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "gitdash_version": __version__,
        "generated_at": utc_text(wall_clock()),
        "actions": [action_record(entry) for entry in entries],
    }
