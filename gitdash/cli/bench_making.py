"""Runs an experiment in a thread, so that Ctrl-C is heard at once.

Then the run under way is ended, and what was measured so far is the result, which says that it is not complete.
"""

import threading
from typing import Final

from gitdash.gitcmd.command_log import commands_for
from gitdash.lab.experiments import Experiment
from gitdash.lab.request import ExperimentRequest
from gitdash.model.experiment import ExperimentResult

_LOOK_INTERVAL_S: Final = 0.1
_STOP_LIMIT_S: Final = 10.0
"""How long a cancelled experiment may take to end its run and to remove its copies."""


class Making:
    """One experiment."""

    def __init__(self, experiment: Experiment, request: ExperimentRequest) -> None:
        """Begin nothing yet."""
        self.is_interrupted = False
        """It came to its end by Ctrl-C."""
        self._experiment = experiment
        self._request = request
        self._is_over = threading.Event()
        """Not `join`: Python 3.11 takes a thread for ended if an exception interrupts that."""
        self._result: ExperimentResult | None = None
        self._error: BaseException | None = None

    def finish(self) -> ExperimentResult:
        """Make it, and return the result. Raises what ends it, KeyboardInterrupt if Ctrl-C does before there is any."""
        # a daemon: a second Ctrl-C shall not have to wait for it
        threading.Thread(target=self._make, name="experiment", daemon=True).start()
        try:
            while not self._is_over.wait(_LOOK_INTERVAL_S):
                pass
        except KeyboardInterrupt:
            self.is_interrupted = True
            self._request.cancel.set()
            self._is_over.wait(_STOP_LIMIT_S)
        if self._result is not None:
            return self._result
        if self._error is None or self.is_interrupted:
            raise KeyboardInterrupt
        raise self._error

    def _make(self) -> None:
        try:
            with commands_for(self._request.report.repository.path):
                self._result = self._experiment.run(self._request)
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            self._error = error
        finally:
            self._is_over.set()
