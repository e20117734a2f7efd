"""What the commands say: data to stdout, talk to stderr, both as bytes that are safe on a terminal.

A reader that closes its end (`| head`) is not an error: the rest of the output is dropped without a word. Python has
None in place of a stream whose descriptor was closed before it started (`2>&-`): talk is dropped then.
"""

import os
import sys
import time
from collections.abc import Iterable

from gitdash.errors import GitdashError
from gitdash.units import printable

_PROGRESS_INTERVAL_S = 0.1
_LEAST_COLUMNS = 20
"""A terminal that says it has fewer does not know."""
_USUAL_COLUMNS = 80


class OutputError(GitdashError):
    """Data could not be written to stdout."""


def write_data(chunks: Iterable[bytes]) -> None:
    """Write data to stdout and flush it. Raises OutputError, such as for a full disk or a stdout that is closed."""
    if sys.stdout is None:
        raise OutputError("cannot write the output: stdout is closed")
    try:
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    except OSError as error:
        # What is still in the buffer would fail again when Python flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutputError(f"cannot write the output: {(error.strerror or 'failed').lower()}") from error


def write_text(text: str) -> None:
    """Write text that is printable already to stdout; a character that is not UTF-8 becomes an escape."""
    write_data([text.encode("utf-8", "backslashreplace")])


def say(text: str) -> None:
    """Write one line of talk to stderr."""
    _write_talk(printable(text) + "\n")


def is_terminal() -> bool:
    """Tell whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def is_dumb() -> bool:
    """Tell whether the terminal cannot move its cursor, so that nothing can be drawn over.

    An unset TERM is taken for one, as git does.
    """
    return os.environ.get("TERM", "dumb") in {"dumb", ""}


def _write_talk(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _columns() -> int:
    try:
        # one that does not say how wide it is, as a serial line, is taken for an ordinary one
        return max(os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS, _LEAST_COLUMNS)
    except (OSError, ValueError):
        return _USUAL_COLUMNS


class ProgressLine:
    """One line on stderr that is drawn over itself; nothing at all unless stderr is a terminal that can."""

    def __init__(self) -> None:
        """Find out where stderr goes."""
        self.is_shown = sys.stderr is not None and sys.stderr.isatty() and not is_dumb()
        self._drawn_at_s = 0.0
        self._width = 0

    def show(self, text: str) -> None:
        """Draw `text` in place of the last one, ten times a second at most."""
        if not self.is_shown or time.monotonic() - self._drawn_at_s < _PROGRESS_INTERVAL_S:
            return
        self._drawn_at_s = time.monotonic()
        # what goes on in the next line could not be drawn over
        self._draw(printable(text)[: _columns() - 1])

    def clear(self) -> None:
        """Take the line away, so that data and talk begin on an empty one."""
        if self._width:
            self._draw("")
        self._drawn_at_s = 0.0

    def _draw(self, text: str) -> None:
        _write_talk(f"\r{text.ljust(self._width)}\r" if not text else f"\r{text.ljust(self._width)}")
        self._width = len(text)
