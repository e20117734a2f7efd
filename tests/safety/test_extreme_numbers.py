"""Numbers that the file system can hold, and 64 bits cannot: times after 2262, sums of sizes beyond 2^63."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.safety.product import run_gitdash, run_many
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety

LARGEST_FILE_BYTES = 2**63 - 1
MEMORY_FOLDER = Path("/dev/shm")
"""A file system that takes files of any length; that of pytest may not."""
YEAR_2300_S = 10_413_792_000


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    if not MEMORY_FOLDER.is_dir() or not os.access(MEMORY_FOLDER, os.W_OK):
        pytest.skip("no file system in memory")
    with TemporaryDirectory(dir=MEMORY_FOLDER) as folder:
        yield Path(folder)


def test_files_of_the_largest_size_break_no_row_and_no_condition(memory_folder: Path) -> None:
    root = memory_folder / "root"
    for number, suffix in enumerate(("", ".pack", ".idx", ".bitmap", ".tmp")):
        repository = GitRepository.init(root / f"r{number}.git")
        for name in ("a", "b", "c"):
            file = repository.path / "objects" / "pack" / f"pack-{name}{suffix}"
            file.touch()
            os.truncate(file, LARGEST_FILE_BYTES)
    GitRepository.init(root / "sound.git").commit({"a": b"1"})
    of_state: tuple[str | os.PathLike[str], ...] = ("--state", memory_folder / "state.sqlite")
    calls: list[tuple[str | os.PathLike[str], ...]] = [
        (*of_state, "scan", "--where", "disk_bytes > 1000000", "--format", "json", root),
        (*of_state, "scan", "--where", "disk_bytes < 1000000", "--format", "json", root),
        *((*of_state, "scan", "--format", name, root) for name in ("table", "csv", "markdown", "jsonl")),
        (*of_state, "check", root),
        (*of_state, "show", root / "r0.git"),
        (*of_state, "size", "--explain", root / "r1.git"),
    ]
    large, small, *others = run_many(memory_folder, calls)
    large_paths = {os.fspath(root / f"r{number}.git") for number in range(5)}
    assert {row["path"] for row in large.document["repositories"]} == large_paths
    assert {row["sizes"]["disk"]["bytes"] for row in large.document["repositories"]} == {LARGEST_FILE_BYTES}
    assert large.document["totals"]["disk_bytes"] == LARGEST_FILE_BYTES
    assert [row["path"] for row in small.document["repositories"]] == [os.fspath(root / "sound.git")]
    assert all(answer.stdout for answer in others[:-1])


@pytest.mark.parametrize("time_s", [YEAR_2300_S, 2**40], ids=["2300", "36812"])
def test_times_of_the_far_future_break_no_row(memory_folder: Path, time_s: int) -> None:
    repository = GitRepository.init(memory_folder / "root" / "r.git")
    repository.commit({"a": b"1"})
    repository.repack()
    for name in ("gc.log", "index.lock", "objects/pack/x.keep", "objects/pack/tmp_pack_x"):
        (repository.path / name).touch()
    for folder, _, names in os.walk(repository.path):
        for path in (Path(folder), *(Path(folder) / name for name in names)):
            os.utime(path, (time_s, time_s))
    if repository.path.stat().st_mtime < time_s:
        pytest.skip("the file system does not take such times")
    of_state: tuple[str | os.PathLike[str], ...] = ("--state", memory_folder / "state.sqlite")
    answer = run_gitdash(memory_folder, *of_state, "scan", "--sizes", "all", "--format", "json", repository.path.parent)
    row = answer.row(repository.path)
    assert row["sizes"]["reachable"]["bytes"] > 0
    calls = [
        (*of_state, "show", repository.path),
        (*of_state, "show", "--format", "json", repository.path),
        (*of_state, "size", "--format", "json", repository.path),
        (*of_state, "check", repository.path.parent),
    ]
    _, shown, sized, _ = run_many(memory_folder, calls)
    assert os.fspath(repository.path) in shown.stdout
    assert sized.document["bytes"] == row["sizes"]["reachable"]["bytes"]
