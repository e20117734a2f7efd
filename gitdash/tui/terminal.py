"""Where the dashboard draws: Textual writes to `sys.__stderr__`, also where that is a file.

`gitdash ROOT 2>log` is no reason for a blank screen: then it draws where stdout leads, and what is said on stderr goes
to the log as before.
"""

import contextlib
import os
import sys
from collections.abc import Iterator


def has_terminal() -> bool:
    """Tell whether there is a terminal to read keys from and one to draw on."""
    return _is_terminal(sys.__stdin__) and (_is_terminal(sys.__stderr__) or _is_terminal(sys.__stdout__))


@contextlib.contextmanager
def drawn_on_a_terminal() -> Iterator[None]:
    """Have Textual draw on the terminal of stdout for a while, unless stderr is one."""
    redirected, stdout = sys.__stderr__, sys.__stdout__
    if _is_terminal(redirected) or stdout is None:
        yield
        return
    with open(os.dup(stdout.fileno()), "w", encoding=stdout.encoding, errors="backslashreplace") as terminal:
        sys.__stderr__ = terminal  # type: ignore[misc]
        try:
            yield
        finally:
            sys.__stderr__ = redirected  # type: ignore[misc]


def terminal_encoding() -> str:
    """Return the encoding in which Textual writes."""
    return getattr(sys.__stderr__, "encoding", None) or "ascii"


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and isatty()
