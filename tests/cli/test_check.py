"""`gitdash check`: nobody is cleared by what was not measured."""

import os
from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "alone" / "r.git")
    made.commit({"a": os.urandom(10_000), "b": os.urandom(10_000)})
    made.repack("-d", "--write-bitmap-index")
    return made


@pytest.mark.oracle
def test_repository_whose_pack_was_cut_short_is_not_cleared_without_sizes(
    gitdash: Gitdash, repository: GitRepository
) -> None:
    pack = next((repository.git_dir / "objects" / "pack").glob("*.pack"))
    pack.chmod(0o644)
    os.truncate(pack, pack.stat().st_size // 2)
    with pytest.raises(AssertionError, match="does not match index"):
        repository.git("cat-file", "-p", "HEAD^{tree}")
    checked = gitdash.run("check", repository.path)
    assert checked.returncode == 1
    assert "unreadable-parts" in checked.stdout
    assert pack.name in checked.stdout


@pytest.mark.parametrize(
    ("sizes", "not_judged"),
    [
        ("disk", "size-unreadable, measurement-notes, duplicate-objects, shallow-hides-objects"),
        ("exclusive", "size-unreadable, measurement-notes, shallow-hides-objects"),
        ("reachable", "size-unreadable, duplicate-objects"),
    ],
)
def test_last_line_names_the_rules_that_lacked_sizes_and_where(
    gitdash: Gitdash, repository: GitRepository, sizes: str, not_judged: str
) -> None:
    last = gitdash.run("check", repository.path, "--sizes", sizes).stderr.splitlines()[-1]
    said = f"not judged for want of sizes in 1 repository: {not_judged}; --sizes all finds more"
    assert last == f"1 repository: no findings; {said}"


def test_nothing_lacks_once_all_was_measured(gitdash: Gitdash, repository: GitRepository) -> None:
    for sizes in ("all", "disk"):
        last = gitdash.run("check", repository.path, "--sizes", sizes).stderr.splitlines()[-1]
        assert last == "1 repository: no findings"
