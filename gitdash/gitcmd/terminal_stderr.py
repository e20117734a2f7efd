"""A stderr that is a terminal of its own, for git tells how far it is only to a terminal, and what it says on it.

Source: git's progress.c (`Title: 45% (9/20), more` ended by CR, the last one by `, done.` and LF); pty(7), termios(3).
`git repack` has no option for progress at all, and looks at its stderr. The terminal is nobody's controlling one, so
nothing can be asked on it. Progress is taken out of what is kept: a long repack says thousands of lines.
"""

import contextlib
import os
import re
import termios
import time
import tty
from collections.abc import Callable
from typing import IO, Final, TypeVar

from gitdash.model.progress import CommandProgress
from gitdash.units import printable

_Started = TypeVar("_Started")
_ROWS: Final = 24
_COLUMNS: Final = 200
"""Narrower, git breaks titles from their figures."""
_LINE_LIMIT_BYTES: Final = 64 * 1024
_INTERVAL_S: Final = 0.1
"""Nobody sees more than ten a second."""
_PROGRESS: Final = re.compile(
    rb"(?P<title>[A-Z][^:\r\n]{2,120}): +"
    rb"(?:\d{1,3}% \((?P<done>\d{1,18})/(?P<total>\d{1,18})\)|(?P<count>\d{1,18}))(?:, [^\r\n]*)? *[\r\n]+"
)
_TALK: Final = re.compile(rb"(?:Total \d+ \(delta|Delta compression using up to \d+ threads?|Nothing new to pack)")
"""What pack-objects and repack add to their progress."""


def start_with_terminal(start: Callable[[int], _Started]) -> tuple[_Started, IO[bytes]] | None:
    """Start something whose stderr is a terminal, and return it with our end; None where there is none to be had.

    `start` gets the descriptor of the other end.
    """
    try:
        ours, childs = os.openpty()
    except OSError:
        return None
    with contextlib.ExitStack() as ends:
        ends.callback(os.close, childs)
        on_failure = ends.enter_context(contextlib.ExitStack())
        on_failure.callback(os.close, ours)
        with contextlib.suppress(OSError, termios.error):
            # as it is written, without a CR before each LF
            tty.setraw(childs)
            termios.tcsetwinsize(childs, (_ROWS, _COLUMNS))
        started = start(childs)
        on_failure.pop_all()
        return started, os.fdopen(ours, "rb", buffering=0)


class ProgressFilter:
    """Takes stderr in pieces, tells of progress, and gives back the rest."""

    def __init__(self, on_progress: Callable[[CommandProgress], None]) -> None:
        self._on_progress = on_progress
        self._rest = b""
        self._told: tuple[bytes, float] = (b"", 0.0)

    def feed(self, data: bytes) -> bytes:
        """Take in a piece; return the whole lines so far that are no progress."""
        data = self._rest + data
        end = max(data.rfind(b"\r"), data.rfind(b"\n")) + 1
        kept = [line for line in data[:end].splitlines(keepends=True) if not self._is_progress(line)]
        self._rest = data[end:]
        if len(self._rest) > _LINE_LIMIT_BYTES:
            kept.append(self.end())
        return b"".join(kept)

    def end(self) -> bytes:
        """Return what is left of a line without end."""
        rest, self._rest = self._rest, b""
        return rest

    def _is_progress(self, line: bytes) -> bool:
        match = _PROGRESS.fullmatch(line)
        if match is None:
            return _TALK.match(line) is not None
        title, now_s = match["title"], time.monotonic()
        is_last = match["done"] is not None and match["done"] == match["total"]
        if title != self._told[0] or is_last or now_s - self._told[1] >= _INTERVAL_S:
            self._told = (title, now_s)
            self._on_progress(
                CommandProgress(
                    phase=printable(_phase(title)),
                    done_count=int(match["done"] or match["count"]),
                    total_count=None if match["total"] is None else int(match["total"]),
                )
            )
        return True


def _phase(title: bytes) -> str:
    text = title.decode("utf-8", "replace").strip()
    return text[:1].lower() + text[1:]
