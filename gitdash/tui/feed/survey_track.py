"""What a survey has said so far: how far it is, what it has found, what it has skipped.

It has no lock of its own: whoever hands it changes holds that of the feed. Paths are touched by one thread alone.
"""

import time
from dataclasses import replace

from gitdash.model.repository import NotRepository
from gitdash.survey.events import Finished, NotARepository, Notice, Progress, SurveyEvent, Waiting
from gitdash.survey.patience import is_below_any
from gitdash.tui.clock import Clock
from gitdash.tui.source import Changes, SurveyProgress

_BEGUN = SurveyProgress(step="inspected", done_count=0, known_count=0, complete=False, elapsed_s=0.0)


class SurveyTrack:
    """Adds up one survey after another, and writes what is other than before into the changes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._progress = _BEGUN
        self._step_began_s = 0.0
        self._paths: set[bytes] = set()
        """What this survey has found, and what the one before did."""
        self._former_paths: set[bytes] = set()
        self._skipped: list[NotRepository] = []
        """What the survey has met so far that is no repository."""
        self._skipped_has_changed = False

    def begin(self) -> None:
        """Forget what the survey before has skipped."""
        self._progress = _BEGUN
        self._step_began_s = time.monotonic()
        self._skipped.clear()
        self._skipped_has_changed = True

    def found(self, path: bytes) -> None:
        """Note that a repository is there."""
        self._paths.add(path)

    def note(self, event: SurveyEvent, changes: Changes) -> None:
        """Write down an event that is about no single repository."""
        match event:
            case Progress():
                self._note_progress(event, changes)
            case Waiting():
                self._set(replace(self._progress, waiting=event), changes)
            case NotARepository(candidate=candidate):
                self._skipped.append(candidate)
                self._skipped_has_changed = True
            case Notice(text=text):
                changes.notices.append(text)
            case Finished():
                self._note_end(event, changes)
            case _:
                pass

    def note_cancelled(self, changes: Changes) -> None:
        """What was not looked at stays as it was known; what is gone, the next survey tells."""
        self._former_paths |= self._paths
        self._paths = set()
        progress = self._progress
        ended = replace(progress, step="cancelled", cancelled_step=progress.step, waiting=None, at_s=self._clock())
        self._set(ended, changes)

    def hand_out(self, changes: Changes) -> None:
        """Write down what was skipped if that is other than the last time; a whole list, so not with each event."""
        if self._skipped_has_changed:
            changes.skipped, self._skipped_has_changed = tuple(self._skipped), False

    def _note_progress(self, event: Progress, changes: Changes) -> None:
        now_s = time.monotonic()
        if event.step != self._progress.step:
            self._step_began_s = now_s
        progress = SurveyProgress(
            step=event.step,
            done_count=event.done_count,
            known_count=event.known_count,
            complete=event.complete,
            elapsed_s=now_s - self._step_began_s,
        )
        self._set(progress, changes)

    def _note_end(self, event: Finished, changes: Changes) -> None:
        silent = {path for path in self._former_paths - self._paths if is_below_any(path, event.silent_paths)}
        gone = (self._former_paths - self._paths - silent).union(event.gone_paths)
        changes.forgotten += sorted(gone)
        for path in gone:
            # another look at it may have been told of since the changes were last taken
            changes.summaries.pop(path, None)
        self._former_paths, self._paths = self._paths | silent, set()
        count = event.totals.repository_count
        progress = SurveyProgress(
            step="surveyed",
            done_count=count,
            known_count=count,
            complete=True,
            elapsed_s=event.elapsed_s,
            at_s=self._clock(),
        )
        self._set(progress, changes)

    def _set(self, progress: SurveyProgress, changes: Changes) -> None:
        self._progress = changes.progress = replace(progress, other_count=len(self._skipped))
