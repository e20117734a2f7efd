"""`gitdash serve`: the dashboard in a browser. Says what is started for each tab; the server itself is passed in.

What a person typed wrong is said here, once, and not by every dashboard that is started.
"""

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Protocol

from gitdash.cli.output import say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode, GitdashError


class WebServer(Protocol):
    """Serves dashboards until a signal asks for an end; the composition root passes it in."""

    def __call__(
        self,
        arguments: Sequence[str | bytes],
        *,
        port: int,
        announce: Callable[[str], None],
        say: Callable[[str], None],
    ) -> None:
        """Start `gitdash arguments` for each tab; `announce` gets the URL, `say` what goes wrong."""


class NoWebExtraError(GitdashError):
    """What serves to a browser is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "a browser needs a package that is not installed: in the folder of gitdash's source,"
            " pip install -c constraints.txt '.[web]'"
        )


def run_serve(
    session: Session, roots: tuple[bytes, ...], *, port: int, allow_actions: bool, web_server: WebServer
) -> int:
    """Serve the dashboard on roots until Ctrl-C; the URL is all that goes to stdout."""
    if find_spec("textual_serve") is None or find_spec("aiohttp") is None:
        raise NoWebExtraError
    arguments = _arguments(session, allow_actions=allow_actions)
    roots = session.roots(roots)
    _check(session, roots)
    web_server([*arguments, "--", *roots], port=port, announce=lambda url: write_text(f"{url}\n"), say=say)
    return ExitCode.INTERRUPTED


def _arguments(session: Session, *, allow_actions: bool) -> list[str]:
    """Return the options of each dashboard: ours, with paths that hold in any folder."""
    program = session.git_program
    values = {
        "--config": session.config_path and _absolute(session.config_path),
        "--state": session.state_path and _absolute(session.state_path),
        "--git": _absolute(os.path.expanduser(program)) if program and "/" in program else program,
        "--theme": session.theme,
    }
    flags = {
        "--served": True,
        "--no-state": not session.keeps_state,
        "--no-mouse": session.mouse is False,
        "--ascii": session.glyphs == "ascii",
        "--read-only": session.read_only or not allow_actions,
    }
    arguments = [flag for flag, is_set in flags.items() if is_set]
    for option, value in values.items():
        if value is not None:
            arguments += [option, value]
    return arguments


def _absolute(path: str) -> str:
    return os.fsdecode(absolute_path(os.fsencode(path)))


def _check(session: Session, roots: tuple[bytes, ...]) -> None:
    """Raise what the dashboards would end with."""
    from gitdash.survey.searching import check_roots

    _ = session.dashboard, session.git
    check_roots(roots)
    with session.history():
        # the state file is made now if there is none, and not by two dashboards at once
        pass
