"""The composition root: puts the command line and the dashboard together, and turns endings into exit codes.

It imports neither front end's heavy parts: the dashboard is imported when it opens.
"""

import io
import signal
import sys
from typing import NoReturn

import click

from gitdash.cli.commands import make_command_line
from gitdash.cli.output import say
from gitdash.cli.session import Session
from gitdash.errors import ExitCode, GitdashError


def _open_dashboard(session: Session, roots: tuple[bytes, ...]) -> int:
    from gitdash.tui.app import run_dashboard

    git = session.git
    with session.history() as history:
        return run_dashboard(session.roots(roots), settings=session.settings, history=history, git=git)


command_line = make_command_line(_open_dashboard)
"""All commands; the README test reads names and options from here."""


def main() -> int:
    """Run the program and return its exit code; no error of the user's making ends in a traceback."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup(1) has SIGHUP ignored, and that shall stay so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        return int(command_line.main(prog_name="gitdash", standalone_mode=False) or ExitCode.DONE)
    except click.Abort:
        return _stopped()
    except KeyboardInterrupt:
        return _stopped()
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except GitdashError as error:
        say(f"gitdash: {error}")
        return _exit_code(error)


def _show(error: click.ClickException) -> None:
    """Say what click has to say: it quotes arguments as they are, and those may be names of scanned folders."""
    text = io.StringIO()
    error.show(text)
    for line in text.getvalue().splitlines():
        say(line)


def _exit_code(error: GitdashError) -> int:
    """Return what an error means: a failed or refused git query differs from wrong use."""
    runner = sys.modules.get("gitdash.gitcmd.runner")
    if runner is None or not isinstance(error, runner.GitError):
        return ExitCode.WRONG_USE
    kinds = runner.GitFailure
    if error.kind in {kinds.MISSING, kinds.TOO_OLD}:
        return ExitCode.WRONG_USE
    return ExitCode.REFUSED if error.kind is kinds.REFUSED else ExitCode.FINDINGS


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _stopped() -> int:
    """End what still runs, deaf to a second Ctrl-C, which would only leave processes behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    runner = sys.modules.get("gitdash.gitcmd.runner")
    if runner is not None:
        runner.stop_everything()
    say("gitdash: interrupted")
    return ExitCode.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
