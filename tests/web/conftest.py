"""One fleet and one server for all tests that do not end it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.repositories import GIT, GitRepository, clean_environment
from tests.web.serving import Serving


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    GitRepository.init(folder / "quokka.git").commit({"a": "1"})
    return folder


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return clean_environment(HOME=os.fspath(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="session")
def options() -> list[str]:
    """What stands before the command."""
    return ["--no-state", "--git", GIT]


@pytest.fixture(scope="module")
def serving(fleet: Path, environment: dict[str, str], options: list[str]) -> Iterator[Serving]:
    with Serving([*options, "serve", os.fspath(fleet)], environment) as server:
        yield server
