"""`gitdash demo`: make the demo fleet, open the dashboard on it, and remove it if nobody asked to keep it.

The state file lies beside the fleet, so that what the user's own state file knows stays as it is.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gitdash.cli.clock import wall_clock
from gitdash.cli.output import ProgressLine, is_terminal, say, write_data, write_text
from gitdash.cli.scan import open_dashboard_or_scan
from gitdash.cli.session import Dashboard, Session, absolute_path
from gitdash.demo.fleet import build_fleet
from gitdash.demo.folder import (
    DemoError,
    given_folder,
    in_use,
    reason_of,
    remove,
    sweep_abandoned,
    temporary_folder,
    unheard_signals,
)
from gitdash.demo.workshop import Workshop
from gitdash.errors import ExitCode
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.units import printable_path

_SILENT_S = 1.0
"""What is over before nobody wonders about."""


def run_demo(session: Session, folder: bytes | None, *, opens: bool, dashboard: Dashboard) -> int:
    """Make the fleet and open it; without `opens`, print its path alone, and leave it there.

    Raises DemoError if it cannot be made, and GitError if there is no git.
    """
    session.git  # noqa: B018 - whoever has no git shall hear of it before anything is written
    sweep_abandoned(wall_clock())
    if folder is not None:
        with given_folder(absolute_path(folder)) as made_folder:
            root = _fleet(session, made_folder)
        if opens:
            say(f"gitdash: the demo fleet stays in {printable_path(root)}")
        return _show(session, root, opens=opens, dashboard=dashboard)
    with _temporary() as made, in_use(made.path):
        exit_code = _show(session, _fleet(session, made.path), opens=opens, dashboard=dashboard)
        made.is_kept = not opens
        return exit_code


def _show(session: Session, root: bytes, *, opens: bool, dashboard: Dashboard) -> int:
    if opens:
        state_path = session.state_path or os.fsdecode(os.path.dirname(root) + b"/state.db")
        return open_dashboard_or_scan(replace(session, state_path=state_path), (root,), dashboard)
    if is_terminal():
        write_text(printable_path(root) + "\n")
    else:
        write_data([root + b"\n"])
    return ExitCode.DONE


@dataclass(slots=True)
class _Temporary:
    """A temporary folder."""

    path: bytes
    is_kept: bool = False
    """It shall outlive this run."""


@contextlib.contextmanager
def _temporary() -> Iterator[_Temporary]:
    """Make a temporary folder, and remove it however the context ends, unless it is to be kept."""
    made: _Temporary | None = None
    try:
        with unheard_signals():
            made = _Temporary(temporary_folder())
        yield made
    finally:
        if made is not None and not made.is_kept:
            with unheard_signals():
                remove(made.path)
            if os.path.lexists(made.path):
                say(f"gitdash: could not be removed: {printable_path(made.path)}")


def _fleet(session: Session, folder: bytes) -> bytes:
    """Make the fleet, say what it cannot show, and return its root. Raises DemoError."""
    workshop = Workshop(program=session.git, folder=folder, now_s=wall_clock())
    progress = _SlowProgress()
    try:
        omissions = build_fleet(workshop, progress.show)
    except OSError as error:
        raise DemoError(_failure(folder, reason_of(error))) from error
    except GitError as error:
        if error.kind is GitFailure.CANCELLED:
            raise
        raise DemoError(_failure(folder, str(error))) from error
    finally:
        progress.line.clear()
    for omission in omissions:
        say(f"gitdash: not shown here: {', '.join(omission.subjects)}, because {omission.reason}")
    return workshop.root


def _failure(folder: bytes, reason: str) -> str:
    return f"cannot make the demo fleet in {printable_path(folder)}: {reason}"


@dataclass(slots=True)
class _SlowProgress:
    """Tells how far the fleet is, once it has taken longer than anybody expects."""

    line: ProgressLine = field(default_factory=ProgressLine)
    _started_s: float = field(default_factory=time.monotonic)

    def show(self, done_count: int, all_count: int) -> None:
        if time.monotonic() - self._started_s > _SILENT_S:
            self.line.show(f"made {done_count} of {all_count} repositories of the demo fleet")
