"""Fixtures that all tests share: no test sees the user's environment, state or configuration."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def isolated_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own, and drop variables of git, Textual and colours."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "TEXTUAL_", "XDG_", "SSH_", "GITDASH_")) and name != "GITDASH_TEST_GIT":
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "SUDO_UID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", os.fspath(home))
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", os.fspath(home / name.lower()))
    return home
