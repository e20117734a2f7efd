"""The driver of a served dashboard: Textual's for browsers, which leaves when nobody is there any more.

Textual's own (8.2.8) goes on when its stdin ends, deaf, and when its stdout is broken every attempt to draw fails, the
one to say goodbye included. Look at it again whenever the pin of Textual moves.
"""

import os
from functools import partial

from textual.app import App
from textual.drivers.web_driver import WebDriver
from typing_extensions import override

from gitdash.tui.key_flood import WithoutFlood
from gitdash.tui.web.parent import ParentWatch, ask_for_signal_at_parents_death


class ServedDriver(WithoutFlood, WebDriver):
    """Draws into packets on stdout, and reads packets from stdin."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._write = partial(self._write_whole)
        self._watch = ParentWatch(os.getppid())

    @override
    def start_application_mode(self) -> None:
        """Begin to draw, and to look after the server."""
        super().start_application_mode()
        if not self._mouse:
            self._disable_mouse_support()
        # not earlier: its handler for SIGTERM is there only now
        ask_for_signal_at_parents_death()
        self._watch.start()

    @override
    def run_input_thread(self) -> None:
        """Read until we leave, or until there is nothing more to read."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._watch.gone()

    def _write_whole(self, data: bytes) -> int:
        """Write all of it: a signal may cut a write to a pipe short, and the server relies on the sizes."""
        written = 0
        try:
            while written < len(data):
                written += os.write(self.fileno, data[written:])
        except OSError:
            self._watch.gone()
        return len(data)
