"""What came with a fetch, told from what was there before by the times of files."""

import os
import time
from pathlib import Path

import pytest

from gitdash.maintenance.fetching.arrivals import file_time_ns, loose_bytes_since, temporary_files_since
from gitdash.model.ledger import Outcome
from tests.support.fetching import fetched
from tests.support.repositories import GitRepository

SECOND_NS = 1_000_000_000
SINCE_NS = 1_700_000_000 * SECOND_NS + 500_000_000


def place(path: Path, size_bytes: int, mtime_ns: int) -> None:
    """Make a file in a folder, both of this time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size_bytes)
    os.utime(path, ns=(mtime_ns, mtime_ns))
    os.utime(path.parent, ns=(mtime_ns, mtime_ns))


def test_a_file_that_is_written_now_is_no_older_than_the_time_of_files(tmp_path: Path) -> None:
    for number in range(200):
        since_ns = file_time_ns()
        file = tmp_path / str(number)
        file.touch()
        assert since_ns <= file.stat().st_mtime_ns <= time.time_ns()


@pytest.mark.parametrize(
    ("behind_ns", "is_counted"),
    [
        (0, True),
        (-1, True),
        (1, False),
        # half a second and one more are whole seconds: on FAT, where times are even, it may be of now
        (500_000_000, True),
        (SECOND_NS + 500_000_000, True),
        (2 * SECOND_NS + 500_000_000, False),
    ],
)
def test_objects_from_before_do_not_count(behind_ns: int, is_counted: bool, tmp_path: Path) -> None:
    place(tmp_path / "ab" / ("c" * 38), 7, SINCE_NS - behind_ns)
    place(tmp_path / "ab" / "tmp_obj_AbCdEf", 100, SINCE_NS - behind_ns)
    assert loose_bytes_since(os.fsencode(tmp_path), SINCE_NS) == (7 if is_counted else 0)


def test_temporary_files_are_named_wherever_git_makes_them(tmp_path: Path) -> None:
    for name, mtime_ns in {
        "pack/tmp_pack_AbCdEf": SINCE_NS,
        "pack/tmp_idx_AbCdEf": SINCE_NS - 1,
        "ab/tmp_obj_AbCdEf": SINCE_NS,
        "ab/" + "c" * 38: SINCE_NS,
    }.items():
        place(tmp_path / name, 10, mtime_ns)
    assert temporary_files_since(os.fsencode(tmp_path), SINCE_NS) == (
        ("objects/pack/tmp_pack_AbCdEf", "objects/ab/tmp_obj_AbCdEf"),
        20,
    )


def test_bytes_of_the_fetch_before_do_not_count(tmp_path: Path) -> None:
    upstream, client = (GitRepository.init(tmp_path / name) for name in ("upstream.git", "client.git"))
    client.git("remote", "add", "origin", os.fspath(upstream.path))
    objects = client.git_dir / "objects"
    before_bytes = 0
    for _ in range(2):
        upstream.commit({"noise": os.urandom(50_000)})
        result = fetched(client.path)
        assert result.outcome is Outcome.DONE
        loose_bytes = sum(file.stat().st_size for file in objects.glob("??/*"))
        assert result.received_bytes == loose_bytes - before_bytes
        before_bytes = loose_bytes
