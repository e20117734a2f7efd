"""What all tests of the dashboard share: a pilot that waits no longer than there is something to wait for."""

import pytest
import textual.app
import textual.pilot

from tests.support.idle import until_idle


@pytest.fixture(autouse=True)
def _quick_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual.app, "wait_for_idle", until_idle)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", until_idle)
