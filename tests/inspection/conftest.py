"""What the tests of inspection share."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.inspection.repository import inspect_repository
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from tests.support.repositories import GitRepository

Inspect = Callable[..., Inspection]


@pytest.fixture
def inspect() -> Inspect:
    """Inspect a repository of a test now, with the default policy."""

    def run(
        repository: GitRepository | Path, *, common_dir: Path | None = None, now_s: float | None = None
    ) -> Inspection:
        git_dir = repository.git_dir if isinstance(repository, GitRepository) else repository
        return inspect_repository(
            os.fsencode(git_dir),
            os.fsencode(common_dir or git_dir),
            now_s=time.time() if now_s is None else now_s,
            loose_stale_age_s=Policy().loose_stale_age_s,
        )

    return run


@pytest.fixture(params=["sha1", "sha256"])
def object_format(request: pytest.FixtureRequest) -> str:
    """Each hash function in turn."""
    return str(request.param)


@pytest.fixture
def repository(tmp_path: Path, object_format: str) -> GitRepository:
    """An empty bare repository of each hash function."""
    return GitRepository.init(tmp_path / "r.git", object_format=object_format)


@pytest.fixture
def sha1_repository(tmp_path: Path) -> GitRepository:
    """An empty bare repository."""
    return GitRepository.init(tmp_path / "r.git")
