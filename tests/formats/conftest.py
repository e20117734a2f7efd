"""One repository for each hash function, built once, that has every file the git under test can write."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitdash.model.inspection import ObjectFormat
from tests.support.repositories import GIT, GitRepository, clean_environment

PACKED_CONFIG = ("-c", "pack.writeReverseIndex=true", "-c", "pack.writeBitmapLookupTable=false")


@dataclass(frozen=True)
class BuiltRepository:
    """A repository and its hash function."""

    repository: GitRepository
    object_format: ObjectFormat

    @property
    def objects(self) -> Path:
        return self.repository.git_dir / "objects"

    def git(self, *arguments, **keywords) -> str:
        return self.repository.git(*arguments, **keywords)

    def one(self, pattern: str) -> Path:
        """The one file below `objects` with this pattern."""
        (path,) = self.objects.glob(pattern)
        return path

    def errors_of(self, *arguments: str) -> str:
        """What git says on stderr."""
        command = [GIT, "-C", str(self.repository.path), *arguments]
        return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False).stderr


@pytest.fixture(scope="session", params=list(ObjectFormat))
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltRepository:
    """20 commits, an octopus merge, tags, one pack with bitmap and `.rev`, a commit-graph with filters."""
    object_format = request.param
    path = tmp_path_factory.mktemp(object_format) / "built.git"
    repository = GitRepository.init(path, object_format=object_format)
    for number in range(16):
        repository.commit({"a": f"a {number}", f"folder/{number}": "b"})
    sides = [repository.commit({"a": name}, reference=f"refs/heads/{name}") for name in ("x", "y", "z")]
    repository.commit({"a": "merged"}, parents=[repository.git("rev-parse", "main"), *sides])
    repository.git("tag", "-a", "-m", "annotated", "v1", "main")
    repository.git("tag", "light", "main~1")
    repository.git(*PACKED_CONFIG, "repack", "-a", "-d", "-q", "-b")
    repository.git("commit-graph", "write", "--reachable", "--changed-paths")
    return BuiltRepository(repository, object_format)


@pytest.fixture(scope="session", params=list(ObjectFormat))
def many_packs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltRepository:
    """Three packs under one multi-pack-index with bitmap, and a cruft pack."""
    object_format = request.param
    path = tmp_path_factory.mktemp(object_format) / "many.git"
    repository = GitRepository.init(path, object_format=object_format)
    for number in range(3):
        repository.commit({f"file{number}": f"content {number}"})
        repository.git("repack", "-d", "-q")
    repository.git("multi-pack-index", "write", "--bitmap")
    return BuiltRepository(repository, object_format)


@pytest.fixture
def rewritable(built: BuiltRepository, tmp_path: Path) -> BuiltRepository:
    """A copy of `built` that a test may change."""
    path = shutil.copytree(built.repository.path, tmp_path / "copy.git")
    return BuiltRepository(GitRepository(path, clock_s=built.repository.clock_s), built.object_format)
