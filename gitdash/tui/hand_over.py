"""Handing over to other programs: a shell in a repository, or a program that shows one.

The dashboard stops drawing, the program has the terminal, and when it ends the dashboard comes back and looks at the
repository again. What git does there is no longer in gitdash's hands: a config that names programs is told of first.
"""

import os
import shutil
import time
from collections.abc import Sequence
from typing import Final

from textual.app import App

from gitdash.gitcmd.environment import search_path
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.runner import run_in_foreground
from gitdash.model.config_facts import ConfigEffect, ConfigFacts
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.tui.confirmation import CONFIRM_S, Confirmation
from gitdash.units import printable

_NAMED: Final = 3
"""Keys of a config that are named; more are counted."""
NO_TERMINAL: Final = "There is no terminal to hand over: the dashboard is drawn elsewhere."


class HandOver:
    """Starts other programs in repositories, if that may be."""

    def __init__(
        self, app: App[int], *, shell: str | None, open_with: Sequence[str], read_only: bool, has_terminal: bool
    ) -> None:
        self._app = app
        self._shell = shell
        self._open_with = tuple(open_with)
        self._read_only = read_only
        self.has_terminal = has_terminal
        """There is one that can be given to another program: not in a browser."""
        self._confirmation = Confirmation()

    def is_refused(self) -> bool:
        """Say why no program is started, if so, before anything else is said; returns whether it is."""
        if self._read_only:
            self._say("Read-only: no other program is started.")
        elif not self.has_terminal:
            self._say(NO_TERMINAL)
        else:
            return False
        return True

    def open_shell(self, path: bytes, report: RepositoryReport | None) -> bool:
        """Open a shell in a repository and come back, returns whether it was opened. Not where that `is_refused`."""
        shell = self._shell or os.environ.get("SHELL") or "/bin/sh"
        program = _installed(shell)
        if program is None:
            self._say(f"There is no program {printable(shell)}: [dashboard] shell names another.")
            return False
        return self._run([program], path, report)

    def open_with(self, path: bytes, report: RepositoryReport | None) -> bool:
        """Show a repository in the first of the programs that is installed; returns whether there was one.

        Not where that `is_refused`.
        """
        program = next((found for name in self._open_with if (found := _installed(name))), None)
        if program is None:
            names = " or ".join(printable(name) for name in self._open_with) or "program"
            self._say(f"There is no {names} installed: [dashboard] open_with names others.")
            return False
        return self._run([program], path, report)

    def _run(self, argv: Sequence[str], path: bytes, report: RepositoryReport | None) -> bool:
        if self._app.is_headless:
            self._say(NO_TERMINAL)
            return False
        warning = what_git_would_run(report)
        if warning and not self._confirmation.is_given((path, tuple(argv)), time.monotonic()):
            self._say(f"{warning} Press the key again to go on.")
            return False
        with self._app.suspend():
            try:
                run_in_foreground(argv, path)
            except GitError as error:
                problem = str(error)
            else:
                problem = ""
        if problem:
            self._say(printable(problem))
        # What was drawn before the program ran is gone from the terminal.
        self._app.refresh(layout=True)
        return not problem

    def _say(self, text: str) -> None:
        self._app.notify(text, severity="warning", timeout=CONFIRM_S, markup=False)


def _installed(name: str) -> str | None:
    """Return the program of a name or an absolute path; None if there is none.

    A relative entry of PATH, or an empty one, is the folder that the program is started in: the repository.
    """
    if "/" in name and not os.path.isabs(name):
        return None
    return shutil.which(name, path=search_path(os.environ))


def what_git_would_run(report: RepositoryReport | None) -> str:
    """Return a sentence on programs that git runs in a repository because its config says so; empty if none. Pure."""
    if report is None or not isinstance(report.inspection, Inspection):
        return "What the config of this repository has git run is not known."
    config = report.inspection.config
    if not isinstance(config, ConfigFacts):
        return "The config of this repository could not be read, so it is not known what git runs there."
    keys = [printable(concern.key) for concern in config.concerns if concern.effect is ConfigEffect.RUNS_PROGRAM]
    if not keys:
        return ""
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return f"The config of this repository has git run programs: {', '.join(keys[:_NAMED])}{more}."
