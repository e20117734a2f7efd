"""What git says of a fetch while it runs: how far it is, by GitPython's parser, and the lines that are no progress.

Source: git's progress.c, sideband.c; GitPython 3.2.1 `util.RemoteProgress`. GitPython is loaded with the first line of
progress, and only if somebody watches: that takes as long as three small fetches. Else one pattern reads how much came
in the end. A server writes most of this text: it is cut at a length, and what cannot be read is passed over.
"""

import functools
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gitdash.gitcmd.gitpython import load_progress_class
from gitdash.model.fetch import FetchProgress

if TYPE_CHECKING:
    from git.util import RemoteProgress

_LINE_LIMIT_BYTES: Final = 4096
_INTERVAL_S: Final = 0.1
"""Nobody sees more than ten a second."""
_LINE_END: Final = re.compile(rb"[\r\n]+")
_PROGRESS: Final = re.compile(
    r"(?:remote: )?(?:Counting|Compressing|Receiving|Unpacking) objects: |(?:remote: )?Resolving deltas: "
)
_RECEIVING: Final = re.compile(r"Receiving objects: +\d{1,3}% \((\d{1,18})/(\d{1,18})\)(?:, ([^,]*))?")
_RECEIVED: Final = re.compile(r"(\d{1,9}(?:\.\d{1,2})?) (bytes|KiB|MiB|GiB|TiB)\b")
_UNITS: Final = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


class ProgressReader:
    """Takes stderr in pieces; a line that is no progress goes to `on_line` whole, progress to `on_progress`.

    Where nobody watches, `on_progress` hears at the end alone, and of received objects alone.
    """

    def __init__(
        self,
        on_progress: Callable[[FetchProgress], None] | None,
        on_line: Callable[[str], None],
        *,
        is_watched: bool = True,
    ) -> None:
        self._on_progress = on_progress
        self._is_watched = is_watched
        self._on_line = on_line
        self._rest = b""
        self._parser: RemoteProgress | None = None
        self._told: tuple[str, float] = ("", 0.0)
        self._untold: str | None = None
        """The last line of progress, where it came too soon after another."""

    def feed(self, data: bytes) -> None:
        """Take in a piece."""
        *lines, rest = _LINE_END.split(self._rest + data)
        # a line without end is not kept for ever, and what is cut off cannot be taken for one of git's
        self._rest = rest if len(rest) <= _LINE_LIMIT_BYTES else rest[:_LINE_LIMIT_BYTES]
        for line in lines:
            self._take(line[:_LINE_LIMIT_BYTES].decode("utf-8", "surrogateescape"))

    def end(self) -> None:
        """Take in the last line, if it has no end, and the last progress."""
        if self._rest:
            self.feed(b"\n")
        if self._untold is not None and self._on_progress is not None:
            (self._tell if self._is_watched else _tell_received)(self._on_progress, self._untold)

    def _take(self, line: str) -> None:
        if not _PROGRESS.match(line):
            self._on_line(line)
        elif self._on_progress is not None:
            # GitPython knows no word for objects that are unpacked as they come
            line = line.rstrip().replace("Unpacking objects", "Receiving objects", 1)
            if self._is_watched:
                self._parse(self._on_progress, line)
            elif line.startswith("Receiving objects"):
                self._untold = line

    def _parse(self, on_progress: Callable[[FetchProgress], None], line: str) -> None:
        name = line.removeprefix("remote: ").partition(":")[0].lower()
        is_last = line.endswith("done.")
        now_s = time.monotonic()
        if self._told[0] == name and now_s - self._told[1] < _INTERVAL_S and not is_last:
            self._untold = line
            return
        self._told, self._untold = (name, now_s), None
        self._tell(on_progress, line)

    def _tell(self, on_progress: Callable[[FetchProgress], None], line: str) -> None:
        if any(len(digits) > 18 for digits in re.findall(r"\d+", line)):
            return
        if self._parser is None:
            self._parser = _parser_class()(on_progress)
        self._parser._parse_progress_line(line)
        # GitPython keeps what it does not understand for whoever asks later
        self._parser.other_lines.clear()
        self._parser.error_lines.clear()


@functools.cache
def _parser_class() -> "Callable[[Callable[[FetchProgress], None]], RemoteProgress]":
    progress_class = load_progress_class()
    names = {
        progress_class.COUNTING: "counting objects",
        progress_class.COMPRESSING: "compressing objects",
        progress_class.RECEIVING: "receiving objects",
        progress_class.RESOLVING: "resolving deltas",
    }

    class Parser(progress_class):  # type: ignore[valid-type,misc] # the class is loaded when it is needed
        """Hands on what GitPython reads."""

        def __init__(self, on_progress: Callable[[FetchProgress], None]) -> None:
            super().__init__()
            self._on_progress = on_progress

        def update(
            self, op_code: int, cur_count: float | str, max_count: float | str | None = None, message: str = ""
        ) -> None:
            """Tell how far the operation is."""
            phase = names.get(op_code & self.OP_MASK)
            if phase is not None:
                self._on_progress(
                    FetchProgress(
                        phase=phase,
                        done_count=int(float(cur_count or 0)),
                        total_count=None if max_count in {None, ""} else int(float(max_count or 0)),
                        received_bytes=_received(message) if phase == "receiving objects" else None,
                    )
                )

    return Parser


def _tell_received(on_progress: Callable[[FetchProgress], None], line: str) -> None:
    match = _RECEIVING.match(line)
    if match is not None:
        on_progress(
            FetchProgress(
                phase="receiving objects",
                done_count=int(match[1]),
                total_count=int(match[2]),
                received_bytes=_received(match[3] or ""),
            )
        )


def _received(message: str) -> int | None:
    match = _RECEIVED.match(message)
    return None if match is None else int(float(match[1]) * _UNITS[match[2]])
