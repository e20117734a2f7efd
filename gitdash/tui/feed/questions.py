"""What people ask about one repository while they look at it: references by namespace, look-up times, single objects.

Each repository has a thread for its references and one for its objects, and only while something is asked: one on a
file system that does not answer holds up nobody else. A reader of objects is opened by the first question, which the
tab Objects asks when it is shown, and not before: git would start, and hold packs open, for every repository that
somebody passes by.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from gitdash.model.lookup import ObjectAnswer
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository, Unreadable
from gitdash.tui.feed.lanes import Lanes
from gitdash.tui.source import Changes
from gitdash.units import printable

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.gitcmd.git_program import GitProgram
    from gitdash.survey.readers import Readers

_UNKNOWN: Final = Unreadable("nothing is known of this repository yet")
_ASKED_SHOWN: Final = 100
"""Characters of what was typed."""


class Questions:
    """Answers them in the background; for any thread."""

    def __init__(
        self,
        *,
        settings: "Settings",
        program: "GitProgram",
        report_of: Callable[[bytes], RepositoryReport | None],
        tell: Callable[[Callable[[Changes], None]], None],
        guarded: Callable[[Callable[[], None]], None],
        cancel: threading.Event,
    ) -> None:
        """Take what all answers share.

        `report_of` tells what is known, `tell` hands out the record that an answer is written to, `guarded` runs a
        thread and deals with what it raises; `cancel` ends all for good.
        """
        self._settings = settings
        self._program = program
        self._report_of = report_of
        self._tell = tell
        self._cancel = cancel
        self._lanes = Lanes(guarded)
        self._lock = threading.Lock()
        self._asked: set[tuple[str, bytes]] = set()
        """What is being answered, and need not be asked again."""
        self._readers: Readers | None = None
        self._in_view: set[bytes] = set()
        """Repositories whose objects somebody looks at."""

    def request_namespaces(self, path: bytes) -> None:
        """Have the references of a repository counted, unless that is under way."""
        self._ask_once("references", path, self._count)

    def request_lookup_times(self, path: bytes) -> None:
        """Have look-ups in a repository timed and leave a reader open, unless that is under way.

        Then who holds deleted packs is looked for.
        """
        with self._lock:
            self._in_view.add(path)
        self._ask_once("objects", path, self._time)

    def look_up(self, path: bytes, text: str) -> None:
        """Ask for an object."""
        self._lanes.add(("objects", path), partial(self._look_up, path, text))

    def close_readers(self, path: bytes) -> None:
        """End the reader of a repository, once what was asked of it is answered."""
        with self._lock:
            self._in_view.discard(path)
        self._lanes.add(("objects", path), partial(self._close, path))

    def close(self, repository: Repository) -> None:
        """End all readers that may hold packs of a repository now, for these are about to go."""
        self._opened_readers().hold_off(repository.common_dir)

    def warm(self, repository: Repository) -> None:
        """Open the readers again that were ended, and that of what is in view: the next look-up does not pay."""
        ended = self._opened_readers().allow(repository.common_dir)
        with self._lock:
            in_view = self._in_view & {repository.path}
        for path in ended | in_view:
            self._lanes.add(("objects", path), partial(self._time_again, path))

    def stop(self, limit_s: float) -> None:
        """End all readers: a killed one ends at once, unless it hangs in the kernel. Nothing new begins."""
        deadline_s = time.monotonic() + limit_s
        readers = self._readers
        if readers is not None:
            closing = threading.Thread(target=readers.close_all, daemon=True)
            closing.start()
            closing.join(limit_s)
        self._lanes.wait(max(0.0, deadline_s - time.monotonic()))

    def _ask_once(self, lane: str, path: bytes, answer: Callable[[bytes], None]) -> None:
        question = (answer.__name__, path)
        with self._lock:
            if question in self._asked:
                return
            self._asked.add(question)
        self._lanes.add((lane, path), partial(self._answer_once, question, answer))

    def _answer_once(self, question: tuple[str, bytes], answer: Callable[[bytes], None]) -> None:
        try:
            if not self._cancel.is_set():
                answer(question[1])
        finally:
            with self._lock:
                self._asked.discard(question)

    def _count(self, path: bytes) -> None:
        # Imported here and not above: the first paint does not wait for it. So for the readers.
        from gitdash.survey.namespaces import namespaces_of

        report = self._report_of(path)
        found = (
            _UNKNOWN
            if report is None
            else namespaces_of(report, settings=self._settings, program=self._program, cancel=self._cancel)
        )
        self._tell(lambda changes: changes.namespaces.update({path: found}))

    def _time(self, path: bytes) -> None:
        report = self._report_of(path)
        times = _UNKNOWN if report is None else self._opened_readers().times(report)
        self._tell(lambda changes: changes.lookup_times.update({path: times}))
        if report is not None and report.repository.has_own_store:
            from gitdash.inspection.held_packs import held_packs

            held = held_packs(report.repository.common_dir + b"/objects")
            self._tell(lambda changes: changes.held_packs.update({path: held}))

    def _time_again(self, path: bytes) -> None:
        if not self._cancel.is_set():
            self._time(path)

    def _look_up(self, path: bytes, text: str) -> None:
        if self._cancel.is_set():
            return
        report = self._report_of(path)
        answer = _unanswered(text) if report is None else self._opened_readers().look_up(report, text)
        self._tell(lambda changes: changes.objects.setdefault(path, []).append(answer))

    def _close(self, path: bytes) -> None:
        readers = self._readers
        if readers is not None:
            readers.close(path)

    def _opened_readers(self) -> "Readers":
        from gitdash.survey.readers import Readers

        with self._lock:
            if self._readers is None:
                self._readers = Readers(self._program)
            return self._readers


def _unanswered(text: str) -> ObjectAnswer:
    return ObjectAnswer(asked=printable(text[:_ASKED_SHOWN]), object_id=None, elapsed_s=0.0, problem=_UNKNOWN.reason)
