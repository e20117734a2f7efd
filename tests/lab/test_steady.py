"""What an experiment that prepares something says of the time that this took."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from gitdash.lab import steady
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.steady import Fingerprint, run_steadily
from gitdash.model.experiment import ExperimentResult
from tests.support.experiment_results import result
from tests.support.experiments import request_for
from tests.support.repositories import GitRepository


@pytest.mark.parametrize(
    ("prepared_s", "notes"),
    [(4.0, ()), (125.0, ("Besides the runs it took 2 m 05 s: copies, and packing them.",))],
)
def test_time_that_copies_take_is_said_beside_that_of_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepared_s: float, notes: tuple[str, ...]
) -> None:
    now_s = [1000.0]
    monkeypatch.setattr(steady, "time", SimpleNamespace(monotonic=lambda: now_s[0]))

    def make(_: ExperimentRequest, fingerprint: Fingerprint) -> ExperimentResult:
        fingerprint()
        now_s[0] += prepared_s + 20.0
        return result(elapsed_s=20.0, notes=())

    request = request_for(GitRepository.init(tmp_path / "a.git").path)
    assert run_steadily(request, make).notes == notes
