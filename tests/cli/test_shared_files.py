"""What a linked worktree and a local clone share with others is not said to be their own."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.oracle


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A repository with a linked worktree, and a clone that links its packs."""
    root = tmp_path / "shared"
    work = GitRepository.init(root / "work", bare=False)
    work.commit({"a": os.urandom(20_000)})
    work.repack()
    work.git("worktree", "add", "-q", root / "linked", "-b", "topic")
    work.git("clone", "-q", "--bare", "--template=", root / "work", root / "clone.git")
    return root


def test_linked_worktree_has_no_exclusive_bytes(gitdash: Gitdash, shared: Path) -> None:
    scanned = gitdash.run("scan", shared, "--columns", "name,exclusive,duplicate", "--sizes", "exclusive").stdout
    cells = {line.split()[0]: line.split()[1:] for line in scanned.splitlines()}
    assert cells["linked"] == ["-", "-"]
    assert cells["work"][0] != "-"
    document = json.loads(gitdash.run("scan", shared, "--sizes", "exclusive", "--format", "json").stdout)
    rows = {Path(row["path"]).name: row for row in document["repositories"]}
    assert rows["linked"]["sizes"]["exclusive"] is None
    assert rows["linked"]["sizes"]["duplicate"] is None
    assert document["totals"]["exclusive_unknown_count"] == 0
    shown = gitdash.run("show", shared / "linked").stdout
    assert "  exclusive          none: a linked worktree stores no objects of its own\n" in shown


@pytest.mark.parametrize("name", ["work", "linked", "clone.git"])
def test_explanation_has_no_negative_number(gitdash: Gitdash, shared: Path, name: str) -> None:
    explained = gitdash.run("size", shared / name, "--explain").stdout
    assert re.search(r"(?<![\w])-\d", explained.partition("\ndisk: ")[2]) is None
    assert ("none is stored in the worktree itself" in explained) is (name == "linked")
    assert ("\nexclusive: " in explained) is (name != "linked")


def test_bytes_in_files_that_others_link_are_told(gitdash: Gitdash, shared: Path) -> None:
    sentence = "of it in files that other folders link, too: deleting frees none of those"
    linked_bytes = sum(
        path.stat().st_size for path in (shared / "clone.git").rglob("*") if path.is_file() and path.stat().st_nlink > 1
    )
    assert linked_bytes > 20_000
    for name in ("work", "clone.git"):
        assert sentence in gitdash.run("show", shared / name).stdout
        assert sentence in gitdash.run("size", shared / name, "--explain").stdout
    rows = gitdash.rows(shared)
    assert rows["clone.git"]["sizes"]["disk"]["linked_bytes"] == linked_bytes
    assert rows["linked"]["sizes"]["disk"]["linked_bytes"] == 0
    assert sentence not in gitdash.run("show", shared / "linked").stdout


def test_allocated_bytes_are_a_column(gitdash: Gitdash, shared: Path) -> None:
    with (shared / "clone.git" / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    found = gitdash.run("scan", shared, "--format", "csv", "--columns", "name,disk,allocated").stdout.splitlines()
    assert found[0] == "name,disk_bytes,allocated_bytes"
    rows = {name: (int(disk), int(allocated)) for name, disk, allocated in (line.split(",") for line in found[1:])}
    blocks = sum(path.lstat().st_blocks for path in (shared / "clone.git").rglob("*") if path.is_file())
    assert rows["clone.git"][1] == blocks * 512
    assert rows["clone.git"][0] > 1 << 30 > rows["clone.git"][1]
