"""What git says of the same repository."""

import pytest

from tests.support.repositories import GitRepository, git_version


def needs_git(*version: int) -> pytest.MarkDecorator:
    """Skip a test that needs a newer git than the one under test."""
    text = ".".join(map(str, version))
    return pytest.mark.skipif(git_version() < version, reason=f"needs git {text} or newer")


def count_objects(repository: GitRepository) -> dict[str, int]:
    """The numbers of `git count-objects -v`."""
    lines = repository.git("count-objects", "-v").splitlines()
    return {key: int(value) for key, _, value in (line.partition(": ") for line in lines) if key != "alternate"}


def alternate_paths(repository: GitRepository) -> list[str]:
    """The alternates that `git count-objects -v` lists, in its order."""
    lines = repository.git("count-objects", "-v").splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith("alternate: ")]
