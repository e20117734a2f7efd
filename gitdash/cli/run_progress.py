"""The line on stderr that says how far actions are that run side by side.

A server may say nothing for an hour: so the line is drawn anew each second, and again after each result.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from gitdash.cli.output import ProgressLine
from gitdash.export.rate import byte_rate_text, left_text, rate_text
from gitdash.units import human_bytes

_NAMED: Final = 3
"""Of those that run; who runs more wants to see that they do, not all of them."""
_TICK_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionProgress:
    """How far one action is."""

    name: str
    """Path of the repository, printable."""
    step: str = ""
    """Printable."""
    done_count: int = 0
    known_count: int | None = None
    received_bytes: int | None = None
    step_began_s: float
    """On the monotonic clock."""

    def text(self, now_s: float, *, is_alone: bool) -> str:
        """Return it in words: with all figures and the whole path if nothing else runs."""
        percent = f" {self.done_count * 100 // self.known_count}%" if self.known_count else ""
        elapsed_s = now_s - self.step_began_s
        if self.received_bytes is None:
            rate = rate_text(self.done_count, elapsed_s)
        else:
            rate = byte_rate_text(self.received_bytes, elapsed_s)
        if not self.done_count and not self.received_bytes and elapsed_s >= _TICK_S:
            rate = f"{elapsed_s:.0f} s"
        if not is_alone:
            name = self.name.rpartition("/")[2] or self.name
            parts = (f"{name}: {self.step}{percent}" if self.step else f"{name}{percent}", rate)
            return ", ".join(filter(None, parts))
        how_many = f"{self.done_count:,}" if self.done_count else ""
        if how_many and self.known_count is not None:
            how_many += f"/{self.known_count:,}"
        figures = (
            f"{self.step}{percent}",
            how_many,
            None if self.received_bytes is None else human_bytes(self.received_bytes),
            rate,
            None if self.known_count is None else left_text(self.done_count, self.known_count, elapsed_s),
        )
        return ": ".join(filter(None, (self.name, ", ".join(filter(None, figures)))))


class RunProgress:
    """Of all actions of a run; for any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._line = ProgressLine()
        self._running: dict[int, ActionProgress] = {}
        self._asked_count = 0
        self._ended_count = 0
        self._telling_count = 0
        self._over = threading.Event()

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw the line anew each second while what is inside goes on; afterwards there is none."""
        if self._line.is_shown:
            threading.Thread(target=self._tick, name="progress", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                self._over.set()
                self._line.clear()

    @property
    def is_shown(self) -> bool:
        """Whether there is a line at all."""
        return self._line.is_shown

    def ask(self) -> int:
        """Count one more action, and return its number."""
        with self._lock:
            self._asked_count += 1
            return self._asked_count

    def begin(self, number: int, name: str, step: str = "") -> None:
        """Say that an action begins, and with what."""
        with self._lock:
            self._running[number] = ActionProgress(name=name, step=step, step_began_s=self._clock())
            self._show()

    def advance(
        self, number: int, step: str, done_count: int, known_count: int | None, received_bytes: int | None
    ) -> None:
        """Say how far one is."""
        with self._lock:
            before = self._running[number]
            self._running[number] = replace(
                before,
                step=step,
                done_count=done_count,
                known_count=known_count,
                received_bytes=received_bytes,
                step_began_s=before.step_began_s if step == before.step else self._clock(),
            )
            self._show()

    @contextmanager
    def ended(self, number: int) -> Iterator[None]:
        """Say that one is over; there is no line while what is inside prints the result.

        Holds no lock meanwhile: a pager that takes no more must not hold up what else runs.
        """
        with self._lock:
            self._running.pop(number, None)
            self._ended_count += 1
            self._telling_count += 1
            self._line.clear()
        try:
            yield
        finally:
            with self._lock:
                self._telling_count -= 1
                self._show()

    def text(self) -> str:
        """Return what the line says."""
        running = list(self._running.values())
        now_s = self._clock()
        shown = [one.text(now_s, is_alone=len(running) == 1) for one in running[:_NAMED]]
        if len(running) > _NAMED:
            shown.append(f"{len(running) - _NAMED} more")
        return f"{self._ended_count}/{self._asked_count}  {' | '.join(shown)}"

    def _show(self) -> None:
        is_busy = self._ended_count < self._asked_count
        if is_busy and not self._telling_count and not self._over.is_set():
            self._line.show(self.text())

    def _tick(self) -> None:
        while not self._over.wait(_TICK_S):
            with self._lock:
                self._show()
