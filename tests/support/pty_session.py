"""A program in a real pseudo-terminal: what it writes to the terminal, byte by byte, and when.

Everything waits for a condition with a limit; nothing sleeps. Used by tests and by benchmarks.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

LIMIT_S = 20.0


class PtySession:
    """A child with a terminal of its own; a context manager that ends it."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 120,
        lines: int = 40,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> None:
        """Start `argv`. TERM is set; other variables are those of `environment`, or of this process."""
        variables = dict(os.environ if environment is None else environment)
        variables |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        # who runs the tests side by side sets these, and a program takes them for the size of its terminal
        for name in ("COLUMNS", "LINES"):
            variables.pop(name, None)
        self.output = bytearray()
        """All that was written to the terminal so far."""
        self.exit_code: int | None = None
        self.started_s = time.monotonic()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                # Who runs the tests may have them ignored, as nohup(1) does, and a shell for what is in the background.
                for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
                    signal.signal(number, signal.SIG_DFL)
                if folder is not None:
                    os.chdir(folder)
                os.execvpe(argv[0], list(argv), variables)
            finally:
                os._exit(127)
        self._is_hung_up = False
        self.resize(columns, lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def resize(self, columns: int, lines: int) -> None:
        """Set the size of the terminal; the child gets SIGWINCH."""
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self._terminal, keys)

    def read_available(self, wait_s: float) -> bytes:
        """Wait at most `wait_s` for output, and return what came; empty at the end of the program, too."""
        if self._is_hung_up:
            time.sleep(min(wait_s, 0.01))
            return b""
        readable, _, _ = select.select([self._terminal], [], [], wait_s)
        if not readable:
            return b""
        try:
            chunk = os.read(self._terminal, 1 << 16)
        except OSError:
            # Linux says EIO once no process has the terminal open any more.
            return b""
        self.output += chunk
        return chunk

    def wait_for(self, is_reached: Callable[[bytes], bool], *, start: int = 0, limit_s: float = LIMIT_S) -> float:
        """Read until the output from `start` on satisfies a condition; return how long that took in seconds."""
        began_s = time.monotonic()
        while not is_reached(bytes(self.output[start:])):
            left_s = began_s + limit_s - time.monotonic()
            if left_s <= 0:
                raise AssertionError(f"not reached within {limit_s} s; the output ends {bytes(self.output[-2000:])!r}")
            if not self.read_available(min(left_s, 0.5)) and self._has_ended():
                if is_reached(bytes(self.output[start:])):
                    break
                raise AssertionError(f"ended ({self.exit_code}) first; the output ends {bytes(self.output[-2000:])!r}")
        return time.monotonic() - began_s

    def wait_for_text(self, text: str, *, start: int = 0, limit_s: float = LIMIT_S) -> float:
        """Read until a text was written; return how long that took."""
        wanted = text.encode()
        return self.wait_for(lambda output: wanted in output, start=start, limit_s=limit_s)

    def key_to_paint(self, keys: bytes, text: str, *, limit_s: float = LIMIT_S) -> float:
        """Type, and return the seconds until `text` is written; what was written before is read first."""
        while self.read_available(0):
            pass
        start = len(self.output)
        self.send(keys)
        return self.wait_for_text(text, start=start, limit_s=limit_s)

    def wait_for_exit(self, limit_s: float = LIMIT_S) -> int:
        """Read until the program ends, and return its exit code, negative for a signal."""
        deadline_s = time.monotonic() + limit_s
        while not self._has_ended():
            if time.monotonic() > deadline_s:
                raise AssertionError(f"still runs after {limit_s} s")
            self.read_available(0.02)
        while self.read_available(0):
            pass
        assert self.exit_code is not None
        return self.exit_code

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed does: the child gets SIGHUP, and errors from it."""
        os.close(self._terminal)
        self._is_hung_up = True

    def close(self) -> None:
        """End the program if it still runs, and give the terminal back."""
        if not self._has_ended():
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
            self.exit_code = os.waitstatus_to_exitcode(status)
        if not self._is_hung_up:
            os.close(self._terminal)

    def _has_ended(self) -> bool:
        if self.exit_code is not None:
            return True
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.exit_code = os.waitstatus_to_exitcode(status)
        return bool(pid)


_TERMINAL_SEQUENCES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1b[()][0AB]"  # character sets
    rb"|\x1b[78=>]"  # cursor and keypad
    rb"|\x1bP[^\x1b]*\x1b\\\\"  # DCS
    rb"|\x1b\]22;[^\x07\x1b]*(?:\x07|\x1b\\\\)"  # OSC 22, shape of the pointer
)
_ACTED_UPON = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)
"""Controls, bidi marks, invisible characters, and (as surrogates) bytes that are not UTF-8."""


def controls_in(output: bytes) -> set[str]:
    """Return what a terminal would act on beyond the sequences that an interface needs to draw, by representation.

    A whole CSI sequence that came from a name is not seen here: look for its text.
    """
    rest = _TERMINAL_SEQUENCES.sub(b"", output).decode("utf-8", "surrogateescape")
    return {repr(character) for character in _ACTED_UPON.findall(rest)}
