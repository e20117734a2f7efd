"""Makes an experiment in a thread that is given up once a file system does not answer any more.

A call to a mount whose server or program is gone waits in the kernel, for ever on a hard NFS mount, and no time limit
of ours ends it. Only who waits for it can go on. If the mount comes back, the thread finds that it was cancelled and
removes what it made; else that is left to the next start, which finds it by its marker.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gitdash.lab.copies import leave_to_sweep
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.model.experiment import ExperimentResult, ExperimentRun
from gitdash.units import counted, human_duration

SILENCE_LIMIT_S: Final = 60.0
"""Without any run that ends. The longest asks some hundred times: at half a second each, no mount is of use."""
_CANCEL_LIMIT_S: Final = 5.0
"""From cancelling on, for the call under way and for removing what was made."""
_LOOK_INTERVAL_S: Final = 0.05


def make_patiently(
    request: ExperimentRequest,
    make: Callable[[ExperimentRequest], ExperimentResult],
    *,
    silence_limit_s: float = SILENCE_LIMIT_S,
) -> ExperimentResult:
    """Make an experiment that may have to be given up. Raises what `make` raises, and ExperimentError if it is."""
    making = _Making(request, make)
    # a daemon: the end of the process does not wait for it either
    thread = threading.Thread(target=making.run, name="patient experiment", daemon=True)
    thread.start()
    try:
        while not making.is_over.wait(_LOOK_INTERVAL_S):
            if request.cancel.is_set():
                making.cancel.set()
            limit_s = _CANCEL_LIMIT_S if making.cancel.is_set() else silence_limit_s
            if making.silent_s() > limit_s:
                leave_to_sweep(thread.ident)
                raise ExperimentError(
                    f"the file system has not answered for {human_duration(limit_s)}, after"
                    f" {counted(making.run_count, 'run')}: nothing more is asked of it"
                )
    finally:
        making.give_up()
    return making.outcome()


class _Making:
    """What the thread does, and when it was last heard of."""

    def __init__(self, request: ExperimentRequest, make: Callable[[ExperimentRequest], ExperimentResult]) -> None:
        self.cancel = threading.Event()
        """Its own: whoever asks may use theirs again."""
        self.is_over = threading.Event()
        self.run_count = 0
        """Warm-ups not counted."""
        self._request = request
        self._make = make
        self._heard_s = time.monotonic()
        self._is_given_up = False
        self._result: ExperimentResult | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Make it, in the thread."""
        try:
            self._result = self._make(replace(self._request, cancel=self.cancel, on_run=self._hear))
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            self._error = error
        finally:
            self.is_over.set()

    def outcome(self) -> ExperimentResult:
        """Return what it came to once it is over. Raises what ended it."""
        if self._result is None:
            raise self._error or AssertionError("it is over without an end")
        return self._result

    def silent_s(self) -> float:
        """Return for how long no run has ended."""
        return time.monotonic() - self._heard_s

    def give_up(self) -> None:
        """Hear no more of it, and have it end if it ever goes on."""
        self._is_given_up = True
        self.cancel.set()

    def _hear(self, run: ExperimentRun) -> None:
        self._heard_s = time.monotonic()
        if self._is_given_up:
            return
        self.run_count += run.is_counted
        self._request.on_run(run)
        # at once, not only when somebody looks: the next run shall not begin
        if self._request.cancel.is_set():
            self.cancel.set()
