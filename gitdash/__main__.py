"""The composition root: puts the command line and the dashboard together, and turns endings into exit codes.

It imports nothing before `main` is on guard, so that Ctrl-C ends the program in the same way from the start; what it
imports then is neither front end's heavy part: the dashboard is imported when it opens.
"""

import sys

TYPE_CHECKING = False
"""Type checkers take it for true; `typing` would take its time before anybody is on guard."""
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import click

    from gitdash.cli.session import Session
    from gitdash.errors import GitdashError


def main() -> int:
    """Run the program and return its exit code; no error of the user's making ends in a traceback."""
    try:
        _hear_signals()
        exit_code = _run()
        _ignore_signals()
    except KeyboardInterrupt:
        return _stopped()
    return exit_code


def command_line() -> "click.Group":
    """Return all commands; the README test reads names and options from here."""
    from gitdash.cli.commands import make_command_line

    return make_command_line(_open_dashboard, _serve)


def _open_dashboard(session: "Session", roots: tuple[bytes, ...]) -> int:
    from gitdash.tui.app import run_dashboard

    git = session.git
    driver = None
    if session.is_served:
        from gitdash.tui.web.driver import ServedDriver

        driver = ServedDriver
    # copies are swept by the dashboard, beside what it does
    with session.history(sweeps=False) as history:
        return run_dashboard(
            session.roots(roots),
            settings=session.settings,
            history=history,
            git=git,
            registry_dir=session.registry_dir,
            dashboard=session.dashboard,
            driver=driver,
        )


def _serve(
    arguments: "Sequence[str | bytes]", *, port: int, announce: "Callable[[str], None]", say: "Callable[[str], None]"
) -> None:
    from gitdash.tui.web.server import serve

    serve(arguments, port=port, announce=announce, say=say)


def _run() -> int:
    import os

    import click

    from gitdash.cli.output import say
    from gitdash.errors import ExitCode, GitdashError

    # numpy's library starts a thread for each processor when it is imported, and complains where it may not; read then
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return int(command_line().main(prog_name="gitdash", standalone_mode=False) or ExitCode.DONE)
    except click.Abort:
        # click turns Ctrl-C into it
        raise _Interrupt from None
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except GitdashError as error:
        say(f"gitdash: {error}")
        return _exit_code(error)


def _show(error: "click.ClickException") -> None:
    """Say what click has to say: it quotes arguments as they are, and those may be names of scanned folders."""
    import io

    from gitdash.cli.output import say

    text = io.StringIO()
    error.show(text)
    for line in text.getvalue().splitlines():
        # click lists choices below each other behind a tab, which is no name's
        say(line.replace("\t", "    "))


def _exit_code(error: "GitdashError") -> int:
    """Return what an error means: a failed or refused git query differs from wrong use."""
    from gitdash.errors import ExitCode

    git_error = sys.modules.get("gitdash.gitcmd.git_error")
    if git_error is None or not isinstance(error, git_error.GitError):
        return ExitCode.WRONG_USE
    kinds = git_error.GitFailure
    if error.kind in {kinds.MISSING, kinds.TOO_OLD}:
        return ExitCode.WRONG_USE
    return ExitCode.REFUSED if error.kind is kinds.REFUSED else ExitCode.FINDINGS


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C, and what else asks for an end.

    Python ends itself by SIGINT at the end of a program in which exactly KeyboardInterrupt left an `exec`, though it
    was caught; modules of the standard library run one while they are imported. A subclass does not count.
    """


def _hear_signals() -> None:
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup(1) has SIGHUP ignored, a shell SIGINT for what it starts in the background, and that shall stay so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _ignore_signals() -> None:
    """Say nothing more of signals: all is done, and while Python ends they would change the exit code."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_number: int, _frame: object) -> None:
    raise _Interrupt


def _stopped() -> int:
    """End what still runs, deaf to a second Ctrl-C, which would only leave processes behind."""
    _ignore_signals()
    from gitdash.cli.output import say
    from gitdash.errors import ExitCode

    runner = sys.modules.get("gitdash.gitcmd.runner")
    # a runner whose import was interrupted has started nothing
    if runner is not None and hasattr(runner, "stop_everything"):
        runner.stop_everything()
    say("gitdash: interrupted")
    return ExitCode.INTERRUPTED


if __name__ == "__main__":
    try:
        _exit_code_of_main = main()
    except KeyboardInterrupt:
        # it came before the first line of main
        _exit_code_of_main = _stopped()
    sys.exit(_exit_code_of_main)
