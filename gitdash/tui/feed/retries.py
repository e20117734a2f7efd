"""How jobs are asked for once more, as long as they are listed."""

import threading
from collections.abc import Callable


class Retries:
    """What to call, by the numbers of jobs; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._again: dict[int, Callable[[], None]] = {}

    def remember(self, number: int, again: Callable[[], None]) -> None:
        """Keep how a job is asked for again."""
        with self._lock:
            self._again[number] = again

    def retry(self, number: int) -> bool:
        """Ask for the same again; False if nobody said how."""
        with self._lock:
            again = self._again.get(number)
        if again is None:
            return False
        again()
        return True

    def forget(self, number: int) -> None:
        """Keep no longer what a job did."""
        with self._lock:
            self._again.pop(number, None)
