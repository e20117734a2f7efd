"""What all commands share: the global options, and what they open on first use.

A command that needs no git starts none, and one that needs no state file opens none.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gitdash.cli.output import say
from gitdash.units import counted, printable, printable_path

if TYPE_CHECKING:
    from gitdash.config.dashboard import DashboardSettings
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.history.store import History


@dataclass(frozen=True, kw_only=True)
class Session:
    """One run of the program: the global options."""

    config_path: str | None
    """None for the default file, which may be absent."""
    state_path: str | None
    """None for the default file, which is made."""
    keeps_state: bool
    git_program: str | None
    """None for what the config names, else the first on PATH."""
    theme: str | None = None
    """Of the dashboard; None, as for the next two, for what the config says."""
    mouse: bool | None = None
    glyphs: str | None = None
    """As in `[dashboard]`."""
    read_only: bool | None = None
    """Change nothing; None for what the config says."""
    is_served: bool = False
    """A web server has started us: the dashboard is drawn through stdin and stdout."""

    @cached_property
    def settings(self) -> "Settings":
        """The configuration."""
        from gitdash.config.settings import load_settings

        return load_settings(self.config_path, home=os.path.expanduser("~"))

    @cached_property
    def dashboard(self) -> "DashboardSettings":
        """What the configuration says of the dashboard, with what the command line says instead."""
        import msgspec

        options = {"theme": self.theme, "mouse": self.mouse, "glyphs": self.glyphs, "read_only": self.read_only}
        given = {name: value for name, value in options.items() if value is not None}
        return msgspec.structs.replace(self.settings.dashboard, **given)

    @cached_property
    def git(self) -> "GitProgram":
        """The git to run, checked for its version."""
        from gitdash.gitcmd.installed import find_git

        git = self.settings.git
        return find_git(self.git_program or git.program, memory_limit_bytes=git.memory_limit_bytes)

    @contextmanager
    def history(self, *, sweeps: bool = True) -> "Iterator[History | None]":
        """Open the state file for the time of a command; None with --no-state.

        Before that copies are swept, see `sweep_copies`, unless whoever asks does so itself.
        """
        if not self.keeps_state:
            yield None
            return
        from gitdash.history.store import open_history

        if self.state_path is not None:
            _require_folder(self.state_path)
        if sweeps:
            self.sweep_copies()
        with open_history(self.state_path or default_state_path()) as history:
            yield history

    @contextmanager
    def required_history(self, *, sweeps: bool = True) -> "Iterator[History]":
        """Open the state file for a command that is about nothing else. Raises HistoryError with --no-state."""
        from gitdash.history.store import HistoryError

        with self.history(sweeps=sweeps) as history:
            if history is None:
                raise HistoryError("with --no-state nothing is remembered")
            yield history

    @property
    def registry_dir(self) -> bytes:
        """The folder that names throw-away copies, beside the state file.

        Also with --no-state: who removes copies of a run that was killed has to find them.
        """
        state_path = os.path.abspath(self.state_path or default_state_path())
        return os.path.join(os.fsencode(os.path.dirname(state_path)), b"lab")

    def sweep_copies(self) -> None:
        """Remove the throw-away copies of experiments whose gitdash was killed, and say so; one look where are none."""
        try:
            is_empty = not os.listdir(self.registry_dir)
        except OSError:
            return
        if is_empty:
            return
        from gitdash.lab.copies import sweep_copies

        count = len(sweep_copies(self.registry_dir))
        if count:
            say(f"gitdash: removed {counted(count, 'copy', 'copies')} that an earlier run had left")

    def roots(self, given: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Return the roots as absolute paths: those given, else the config's, else the current folder.

        One of the config's that is not there, as a disk that is not mounted, does not keep the others from being
        looked at; if none is, all are returned, and whoever searches them says so.
        """
        configured = tuple(os.fsencode(os.path.expanduser(root)) for root in self.settings.roots)
        if not given and configured:
            present = tuple(filter(os.path.exists, configured))
            for missing in configured if present else ():
                if missing not in present:
                    say(f"gitdash: a root of the configuration is missing: {printable_path(missing)}")
            configured = present or configured
        return tuple(absolute_path(root) for root in given or configured or (b".",))


def absolute_path(path: bytes) -> bytes:
    """Return an absolute path. Raises RootError for a relative one if the current folder was removed."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError as error:
        from gitdash.discovery.roots import RootError

        raise RootError(path, "the current folder does not exist any more; give an absolute path") from error


def _require_folder(state_path: str) -> None:
    """Raise HistoryError if there is no folder for a state file that was named: only the default one is made."""
    from gitdash.history.store import HistoryError

    folder = os.path.dirname(os.path.abspath(state_path))
    if not os.path.isdir(folder):
        raise HistoryError(f"{printable(state_path)} cannot be made: there is no folder {printable(folder)}")


def default_state_path() -> str:
    """Return the state file of this user."""
    from platformdirs import user_state_dir

    return os.path.join(user_state_dir("gitdash", appauthor=False), "state.db")


Dashboard = Callable[[Session, tuple[bytes, ...]], int]
"""Opens the dashboard on roots and returns the exit code; the composition root passes it in."""
