"""Who holds deleted packs, after real processes that do."""

import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gitdash.inspection import held_packs as looked_at
from gitdash.inspection.held_packs import held_packs
from gitdash.model.held_packs import HeldPacks, PackHolder
from tests.support.repositories import GIT, GitRepository, clean_environment

HOLDS = """
import mmap, sys
files = [open(path, "rb") for path in sys.argv[2:]]
if sys.argv[1] == "mapped":
    maps = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in files]
    for file in files:
        file.close()
print("held", flush=True)
sys.stdin.read()
"""
BYTES = 100 * 4096

Hold = Callable[..., int]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "one.git" / "objects"
    (folder / "pack").mkdir(parents=True)
    return folder


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Have another process hold files, open or mapped, until the test ends; returns its id."""
    with ExitStack() as processes:

        def start(how: str, *paths: Path) -> int:
            process = processes.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", HOLDS, how, *map(os.fspath, paths)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            processes.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            return process.pid

        yield start


def make_pack(store: Path, name: str, size_bytes: int = BYTES) -> Path:
    path = store / "pack" / name
    path.write_bytes(os.urandom(size_bytes))
    return path


def look(store: Path, **options: float) -> HeldPacks:
    found = held_packs(os.fsencode(store), **options)
    assert isinstance(found, HeldPacks)
    return found


@pytest.mark.parametrize("how", ["open", "mapped"])
def test_a_process_that_holds_deleted_packs_is_named_with_what_they_keep(store: Path, hold: Hold, how: str) -> None:
    paths = [make_pack(store, name) for name in ("pack-1.pack", "pack-1.idx", "pack-2.pack")]
    pid = hold(how, *paths)
    assert look(store).holders == ()
    for path in paths:
        path.unlink()
    found = look(store)
    command = Path(f"/proc/{pid}/comm").read_text().strip()
    assert found.holders == (
        PackHolder(process_id=pid, command=command, is_own=True, pack_count=2, other_count=0, bytes=3 * BYTES),
    )
    assert found.bytes == 3 * BYTES
    assert found.is_complete
    assert found.holders[0].sentence == f"process {pid} ({command}, of gitdash) holds 2 deleted packs, 1.17 MiB"


def test_what_two_hold_counts_once_in_the_sum_and_who_keeps_more_comes_first(store: Path, hold: Hold) -> None:
    one, other = make_pack(store, "pack-1.pack"), make_pack(store, "pack-2.pack")
    few = hold("mapped", one)
    many = hold("open", one, other)
    one.unlink()
    other.unlink()
    found = look(store)
    assert [(holder.process_id, holder.bytes) for holder in found.holders] == [(many, 2 * BYTES), (few, BYTES)]
    assert found.bytes == 2 * BYTES


def test_a_file_that_is_open_and_mapped_counts_once(store: Path) -> None:
    path = make_pack(store, "pack-1.pack")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        path.unlink()
        (holder,) = look(store).holders
    assert (holder.process_id, holder.pack_count, holder.bytes) == (os.getpid(), 1, BYTES)
    assert look(store).holders == ()


def test_a_file_that_has_another_name_keeps_no_space(store: Path, hold: Hold) -> None:
    """As in a clone of the same disk."""
    path = make_pack(store, "pack-1.pack")
    os.link(path, store.parent / "elsewhere")
    hold("open", path)
    path.unlink()
    (holder,) = look(store).holders
    assert (holder.pack_count, holder.bytes) == (1, 0)


def test_what_is_only_called_deleted_or_lies_elsewhere_is_not_listed(store: Path, hold: Hold, tmp_path: Path) -> None:
    called = make_pack(store, "pack-1.pack (deleted)")
    neighbour = tmp_path / "one.git" / "objects-old"
    (neighbour / "pack").mkdir(parents=True)
    elsewhere = make_pack(neighbour, "pack-2.pack")
    hold("open", called, elsewhere)
    elsewhere.unlink()
    assert look(store).holders == ()
    assert len(look(neighbour).holders) == 1


@pytest.mark.safety
def test_any_name_is_found_and_none_reaches_a_screen(store: Path, hold: Hold) -> None:
    path = make_pack(store, "pack-\n\x1b[2J \\012.pack")
    hold("open", path)
    hold("mapped", path)
    path.unlink()
    found = look(store)
    assert [holder.pack_count for holder in found.holders] == [1, 1]
    assert found.bytes == BYTES
    assert all(holder.sentence.isprintable() for holder in found.holders)


def test_other_deleted_files_of_the_store_are_counted_apart(store: Path, hold: Hold) -> None:
    paths = [make_pack(store, name) for name in ("pack-1.pack", "multi-pack-index")]
    hold("open", *paths)
    for path in paths:
        path.unlink()
    (holder,) = look(store).holders
    assert (holder.pack_count, holder.other_count, holder.bytes) == (1, 1, 2 * BYTES)
    assert holder.sentence.endswith("holds 1 deleted pack and 1 other deleted file, 800 KiB")


def test_a_store_is_known_by_any_path(store: Path, hold: Hold, tmp_path: Path) -> None:
    path = make_pack(store, "pack-1.pack")
    hold("open", path)
    path.unlink()
    (tmp_path / "link").symlink_to(store)
    assert len(look(tmp_path / "link").holders) == 1


@pytest.mark.oracle
def test_git_that_reads_on_during_a_repack_is_found(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    tip = repository.commit({"a": os.urandom(50_000)})
    repository.git("repack", "-d", "-q")
    command = [GIT, "-C", os.fspath(repository.path), "cat-file", "--batch-check"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(), bufsize=0
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(tip.encode() + b"\n")
        reader.stdout.readline()
        assert look(repository.git_dir / "objects").holders == ()
        repository.commit({"a": "2"})
        repository.repack()
        (holder,) = look(repository.git_dir / "objects").holders
        assert (holder.process_id, holder.command, holder.pack_count) == (reader.pid, "git", 1)
        assert holder.bytes > 50_000
        reader.stdin.close()


def test_time_is_bounded_and_it_is_said(store: Path) -> None:
    found = look(store, time_limit_s=0.0)
    assert not found.is_complete
    assert found.gaps[-1] == "there are more processes than could be looked at in time"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_processes_of_other_users_are_counted(store: Path, hold: Hold) -> None:
    path = make_pack(store, "pack-1.pack")
    pid = hold("open", path)
    path.unlink()
    os.setresuid(65_534, 65_534, 0)
    try:
        found = look(store)
    finally:
        os.setresuid(0, 0, 0)
    assert [holder.process_id for holder in look(store).holders] == [pid]
    assert found.holders == ()
    assert found.unseen_count > look(store).unseen_count
    assert found.gaps == (f"{found.unseen_count} processes cannot be looked into",)


def test_search_for_ancestors_ends_at_a_process_without_a_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    parent_of = {b"700": b"1", b"1": b"0"}

    def parent(process: bytes, _place: int) -> bytes:
        asked.append(process)
        # field 1 of /proc/stat, were it taken for a process, may be any number
        return parent_of.get(process, b"%d" % os.getpid())

    monkeypatch.setattr(looked_at, "_stat_field", parent)
    assert not looked_at._is_own(b"700")
    assert asked == [b"700", b"1"]
    parent_of[b"700"] = b""
    assert not looked_at._is_own(b"700")
