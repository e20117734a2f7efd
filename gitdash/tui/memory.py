"""Keeps in the state file what a person has chosen, and the views that people have saved.

A file may be locked, or on a slow disk: what is noted here is written soon, by a thread of its own, and at the latest
when the dashboard is left. Views are changed one by one, so that two dashboards at once do not undo each other's.
"""

import contextlib
import threading
from typing import Final, Protocol

from gitdash.errors import GitdashError
from gitdash.export.views import decode_views, encode_views
from gitdash.model.view import View
from gitdash.tui.choices import Choices, decode_choices, encode_choices

WRITE_DELAY_S: Final = 0.5
"""Choices change several times in a row; then only the last is written."""
CHOICES_NAME: Final = "dashboard"
VIEWS_NAME: Final = "views"
"""What they are called among the preferences."""


class Preferences(Protocol):
    """What is needed of the state file."""

    def preference(self, name: str) -> bytes | None:
        """Return what was remembered under a name; None if nothing."""

    def save_preference(self, name: str, value: bytes) -> None:
        """Remember a value under a name."""


class Memory:
    """Choices and views; without a state file it keeps nothing."""

    def __init__(self, preferences: Preferences | None, *, may_write: bool = True) -> None:
        """Take the state file; where it may not be written, what is chosen is gone with the dashboard."""
        self._preferences = preferences
        self._written = preferences if may_write else None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._timer: threading.Timer | None = None
        self._choices: Choices | None = None
        self._views: dict[str, View | None] = {}

    def choices(self) -> Choices:
        """Return what was chosen last."""
        return Choices() if self._preferences is None else decode_choices(self._preferences.preference(CHOICES_NAME))

    def views(self) -> tuple[View, ...]:
        """Return the views that people have saved."""
        return () if self._preferences is None else decode_views(self._preferences.preference(VIEWS_NAME) or b"[]")

    def note_choices(self, choices: Choices) -> None:
        """Keep these from now on. Does not wait."""
        with self._lock:
            self._choices = choices
            self._write_soon()

    def note_view(self, name: str, view: View | None) -> None:
        """Keep a view under its name, in place of another; or none any more. Does not wait."""
        with self._lock:
            self._views[name] = view
            self._write_soon()

    def close(self) -> None:
        """Write what waits."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        self._write()

    def _write_soon(self) -> None:
        if self._timer is None and self._written is not None:
            self._timer = threading.Timer(WRITE_DELAY_S, self._write)
            self._timer.daemon = True
            self._timer.start()

    def _write(self) -> None:
        with self._writing:
            with self._lock:
                self._timer = None
                choices, self._choices = self._choices, None
                views, self._views = self._views, {}
            if self._written is None:
                return
            if choices is not None:
                self._written.save_preference(CHOICES_NAME, encode_choices(choices))
            if views:
                # a file that was damaged since it was opened is told of by whoever reads more of it
                with contextlib.suppress(GitdashError):
                    self._written.save_preference(VIEWS_NAME, encode_views(self._changed(views)))

    def _changed(self, views: dict[str, View | None]) -> list[View]:
        kept = {view.name: view for view in self.views()}
        for name, view in views.items():
            if view is not None:
                kept[name] = view
            else:
                kept.pop(name, None)
        return list(kept.values())
