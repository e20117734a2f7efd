"""Deleted packs that another process holds, as `show` and `maintain` tell of them."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GIT, GitRepository, clean_environment


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "one.git")
    for number in range(2):
        made.commit({"a": os.urandom(40_000), "b": str(number)})
        made.git("repack", "-d", "-q")
    return made


@contextmanager
def reader_of(repository: GitRepository) -> Iterator[int]:
    """A git that has all packs open."""
    command = [GIT, "-C", os.fspath(repository.path), "cat-file", "--batch-check"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(), bufsize=0
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for tip in repository.git("rev-list", "--all").split():
            reader.stdin.write(tip.encode() + b"\n")
            assert b" commit " in reader.stdout.readline()
        yield reader.pid
        reader.stdin.close()


def test_maintenance_and_show_name_the_process_and_what_it_keeps(gitdash: Gitdash, repository: GitRepository) -> None:
    bytes_before = sum(
        path.stat().st_blocks * 512 for path in repository.packs()[0].parent.iterdir() if path.suffix == ".pack"
    )
    with reader_of(repository) as pid:
        finished = gitdash.run("maintain", repository.path, "--task", "full-repack", "--yes")
        assert finished.returncode == 0, finished.stderr
        assert f"process {pid} (git) holds 2 deleted packs, " in finished.stdout + finished.stderr
        (entry,) = gitdash.json("history", repository.path)["actions"]
        assert entry["outcome"] == "done"
        assert f"; process {pid} (git) holds 2 deleted packs, " in entry["sentence"]
        held = gitdash.json("show", repository.path)["held_packs"]
        (holder,) = held["holders"]
        assert (holder["holder_pid"], holder["command"], holder["own"]) == (pid, "git", False)
        assert (holder["pack_count"], held["incomplete"]) == (2, False)
        assert bytes_before <= holder["bytes"] == held["bytes"] < 2 * bytes_before
        text = gitdash.run("show", repository.path).stdout
        assert f"\n  held packs         holder pid {pid}, command git, pack count 2, " in text
    after = gitdash.json("show", repository.path)["held_packs"]
    assert (after["holders"], after["bytes"]) == ([], 0)


def test_reclaim_names_the_process_too_and_what_it_dropped_by_id(gitdash: Gitdash, repository: GitRepository) -> None:
    dropped = repository.blob(b"nothing references this")
    two_years_ago_s = time.time() - 2 * 365 * 86_400
    os.utime(repository.git_dir / "objects" / dropped[:2] / dropped[2:], (two_years_ago_s,) * 2)
    gitdash.run("scan", repository.path.parent)
    with reader_of(repository) as pid:
        finished = gitdash.run("maintain", repository.path, "--task", "reclaim", "--confirm", "one.git")
        assert finished.returncode == 0, finished.stderr
        assert f"process {pid} (git) holds 2 deleted packs, " in finished.stdout + finished.stderr
    (entry,) = gitdash.json("history", repository.path)["actions"]
    assert (entry["dropped_ids"], entry["dropped_count"]) == ([dropped], 1)
    told = gitdash.run("history", repository.path, "--verbose").stdout
    assert re.search(rf"^ +dropped +{dropped}$", told, re.MULTILINE)
