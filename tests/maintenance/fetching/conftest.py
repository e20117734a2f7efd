"""What all tests of fetches have: a folder for temporary files of their own, in which nothing of others lies."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make it, and name it to the product."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", os.fspath(folder))
    return folder
