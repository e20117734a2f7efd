"""Opens the dashboard: checks what it needs, runs it over a survey, and turns its ending into an exit code."""

import contextlib
import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitdash.errors import ExitCode, GitdashError
from gitdash.tui.clock import Clock, wall_clock
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.feed.survey_feed import SurveyFeed
from gitdash.tui.heap import use_one_heap
from gitdash.tui.memory import Memory
from gitdash.tui.options import options_of
from gitdash.tui.terminal import (
    TerminalDriver,
    drawn_on_a_terminal,
    forget_closed_terminal,
    has_terminal,
    terminal_encoding,
    wait_for_hang_up,
)
from gitdash.tui.themes import require_theme
from gitdash.tui.undecodable import replace_undecodable_input

if TYPE_CHECKING:
    from textual.driver import Driver

    from gitdash.config.dashboard import DashboardSettings
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History


class NoTerminalError(GitdashError):
    """There is no terminal to draw on or to read keys from."""

    def __init__(self) -> None:
        super().__init__(
            "the dashboard needs a terminal on stdin, and on stderr or stdout; 'gitdash scan' prints a table anywhere"
        )


def run_dashboard(  # noqa: PLR0913 - all that the composition root knows, by name
    roots: Sequence[bytes],
    *,
    settings: "Settings",
    history: "History | None",
    git: "GitProgram",
    registry_dir: bytes,
    clock: Clock = wall_clock,
    dashboard: "DashboardSettings | None" = None,
    driver: "type[Driver] | None" = None,
) -> int:
    """Open the dashboard on absolute roots and return the exit code when it is left.

    `registry_dir` is where throw-away copies of experiments are named.
    `dashboard` is what the command line makes of the table of the configuration; None is that table itself. `driver`
    draws elsewhere than on a terminal. Raises GitdashError if there is no terminal or no such theme, or if the survey
    cannot be made, such as for a root that does not exist.
    """
    dashboard = dashboard or settings.dashboard
    require_theme(dashboard.theme)
    if driver is None and not has_terminal():
        raise NoTerminalError
    use_one_heap()
    summaries = history.summaries(roots) if history is not None else []
    feed = SurveyFeed(
        roots,
        settings=settings,
        history=history,
        program=git,
        clock=clock,
        registry_dir=registry_dir,
        painted_count=len(summaries),
        read_only=dashboard.read_only,
    )
    feed.check_roots()
    replace_undecodable_input()
    with drawn_on_a_terminal() if driver is None else contextlib.nullcontext():
        # who only looks in at a browser changes nothing of what the user finds on a terminal
        memory = Memory(history, may_write=driver is None or not dashboard.read_only)
        options = options_of(settings, dashboard, terminal_encoding() if driver is None else None)
        app = Dashboard(roots, summaries, feed, clock, options, memory)
        app.driver_class = driver or TerminalDriver
        # No pass of the garbage collector over all that is loaded between the first keys.
        gc.freeze()
        try:
            code = app.run(mouse=dashboard.mouse)
        except KeyboardInterrupt:
            if driver is not None or not wait_for_hang_up(sys.stdin.fileno(), 0):
                raise
            # nothing can be said of it on a terminal that is gone
            code = ExitCode.INTERRUPTED
        finally:
            if history is not None:
                history.hurry()
            feed.stop(_tell_what_is_waited_for if driver is None else lambda _sentence: None)
            app.remember()
            memory.close()
    if driver is None:
        forget_closed_terminal()
        _say(app.problems)
        _say(_not_remembered(history))
    if app.failure is not None:
        raise app.failure
    # No code of ours: the loop was interrupted by a signal, or Textual has printed what went wrong.
    return (app.return_code or ExitCode.INTERRUPTED) if code is None else code


def _not_remembered(history: "History | None") -> Sequence[str]:
    """Return why what is still to be written cannot be; empty if it was."""
    if history is None:
        return ()
    history.flush()
    return () if history.problem is None else (history.problem,)


def _tell_what_is_waited_for(sentence: str) -> None:
    """Say on the terminal, which is the shell's again, why the prompt is not there yet."""
    _say((sentence,))


def _say(problems: Sequence[str]) -> None:
    """Write problems where they stay: what the dashboard shows of them goes after a while."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write("".join(f"gitdash: {problem}\n" for problem in problems))
            sys.stderr.flush()
