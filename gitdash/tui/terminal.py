"""Where the dashboard draws: Textual writes to `sys.__stderr__`, also where that is a file.

`gitdash ROOT 2>log` is no reason for a blank screen: then it draws where stdout leads, and what is said on stderr goes
to the log as before. A terminal that is closed meanwhile ends the dashboard without a traceback.
"""

import asyncio
import contextlib
import io
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from typing_extensions import override

from gitdash.errors import ExitCode
from gitdash.tui.key_flood import WithoutFlood

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LATE_S: Final = 0.05


def has_terminal() -> bool:
    """Tell whether there is a terminal to read keys from and one to draw on."""
    return _is_terminal(sys.__stdin__) and (_is_terminal(sys.__stderr__) or _is_terminal(sys.__stdout__))


@contextlib.contextmanager
def drawn_on_a_terminal() -> Iterator[None]:
    """Have Textual draw on the terminal of stderr for a while, or on that of stdout if stderr is none."""
    stderr = sys.__stderr__
    stream = stderr if _is_terminal(stderr) else sys.__stdout__
    if stream is None:
        yield
        return
    opened = open(os.dup(stream.fileno()), "wb")  # noqa: SIM115 - the terminal closes it
    terminal = _Terminal(opened, encoding=stream.encoding, errors="backslashreplace")
    sys.__stderr__ = terminal  # type: ignore[misc]
    try:
        yield
    finally:
        sys.__stderr__ = stderr  # type: ignore[misc]
        terminal.close()


class _Terminal(io.TextIOWrapper):
    """A terminal that may be closed at any time: what nobody will see is not written, and that is no error."""

    @override
    def write(self, text: str, /) -> int:
        # ValueError: closed already, by an end that does not wait for the thread which writes
        with contextlib.suppress(OSError, ValueError):
            return super().write(text)
        return len(text)

    @override
    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            super().flush()

    @override
    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


class _End(threading.Event):
    """Set when nobody reads keys any more: when it is said, when the terminal is closed, when the program ends.

    Textual says it only where it leaves in order. Its thread would read the end of the file for ever, and Python waits
    for that thread.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    @override
    def is_set(self) -> bool:
        return super().is_set() or not threading.main_thread().is_alive() or wait_for_hang_up(self._descriptor, 0)


class TerminalDriver(WithoutFlood, LinuxDriver):
    """Reads keys until the terminal is closed; then the dashboard is left, as if interrupted.

    SIGHUP does not reach who was told to ignore it. A terminal that is gone fails with EIO, or reads as the end of a
    file, which Textual would read again and again.
    """

    _watching: threading.Thread | None = None
    _has_terminal = False

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.exit_event = _End(self.fileno)
        self._raising: dict[signal.Signals, Callable[[int, FrameType | None], Any]] = {}
        """What handled the signals before this driver, and does so while it has no terminal."""
        self._soon: asyncio.TimerHandle | None = None

    @override
    def start_application_mode(self) -> None:
        """Take the terminal, and watch it."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._has_terminal = True
        self._resize_one_after_another()
        # what came while others had the terminal was for them: the loop passes over it first
        self._soon = self._loop.call_later(_LATE_S, self._leave_by_signals)
        if self._watching is None:
            self._watching = threading.Thread(target=self._watch, name="terminal", daemon=True)
            self._watching.start()

    @override
    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self._has_terminal = False
        if self._soon is not None:
            self._soon.cancel()
        for number, handler in self._raising.items():
            self._loop.remove_signal_handler(number)
            signal.signal(number, handler)
        self._raising.clear()
        super().stop_application_mode()

    def _leave_by_signals(self) -> None:
        """Leave as by a key when a signal asks for it: an exception would come out of whatever is called just then."""
        for number in _ENDING:
            handler = signal.getsignal(number)
            if callable(handler):
                self._raising[number] = handler
                self._loop.add_signal_handler(number, self._app.exit, ExitCode.INTERRUPTED)

    def _resize_one_after_another(self) -> None:
        """Have the loop call Textual's handler of SIGWINCH.

        Python interrupts a handler by the next signal. Of two changes of the terminal's size that come at once, the one
        that was read first would be told last, and the screen would keep the size that the terminal had before.
        """
        handler = signal.getsignal(signal.SIGWINCH)
        if callable(handler):
            self._loop.add_signal_handler(signal.SIGWINCH, handler, signal.SIGWINCH, None)

    @override
    def _sigtstp_application(self, *_: object) -> None:
        """Stop, from the loop: what this interrupts may hold the lock that giving the terminal back waits for."""
        self._loop.call_soon_threadsafe(super()._sigtstp_application)

    @override
    def _sigcont_application(self, *_: object) -> None:
        """Take the terminal again; the kernel sends SIGCONT after SIGHUP as well, see setpgid(2)."""
        if self._auto_restart and not wait_for_hang_up(self.fileno, 0):
            self._loop.call_soon_threadsafe(self._take_again)

    def _take_again(self) -> None:
        """Take the terminal as it was left: whoever was stopped by SIGSTOP from elsewhere has not given it back.

        To take what is held would have two threads read keys, each of which waits for a key that the other one got.
        """
        if self._has_terminal:
            self.suspend_application_mode()
        self.resume_application_mode()
        self._app.refresh(layout=True)

    def _watch(self) -> None:
        if wait_for_hang_up(self.fileno):
            self._leave()

    @override
    def run_input_thread(self) -> None:
        """Read keys."""
        try:
            super().run_input_thread()
        except OSError:
            self._leave()

    def _leave(self) -> None:
        # the loop may be closed already
        with contextlib.suppress(RuntimeError):
            self._app.call_later(self._app.exit, ExitCode.INTERRUPTED)


def stop_until_continued() -> None:
    """Stop this process, and whatever else the shell runs in the foreground for it, until SIGCONT.

    Other threads may take the signal that stops: this one would run on for a while, and take the terminal that was
    given back. They may take SIGCONT as well, so that no call here would be interrupted by it: whoever takes it writes
    its number to the descriptor that wakes, see `signal.set_wakeup_fd`.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    wakes = signal.set_wakeup_fd(writer)
    taken = b""
    try:
        os.killpg(os.getpgrp(), signal.SIGSTOP)
        while signal.SIGCONT not in taken:
            taken += os.read(reader, 1)
    finally:
        signal.set_wakeup_fd(wakes)
        if wakes != -1:
            # what came meanwhile is for the loop, which calls the handlers of those signals
            with contextlib.suppress(OSError):
                os.write(wakes, taken)
        os.close(reader)
        os.close(writer)


def forget_closed_terminal() -> None:
    """Send what is still to be written to nowhere where nobody will see it: Python would end with a code of its own."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and wait_for_hang_up(stream.fileno(), 0):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def wait_for_hang_up(descriptor: int, limit_s: float | None = None) -> bool:
    """Wait until nobody shows what is written to a terminal any more; return whether that came."""
    poll = select.poll()
    # what is waited for is told of without being asked for
    poll.register(descriptor, 0)
    return bool(poll.poll(None if limit_s is None else limit_s * 1000))


def terminal_encoding() -> str:
    """Return the encoding in which Textual writes."""
    return getattr(sys.__stderr__, "encoding", None) or "ascii"


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and isatty()
