"""Exclusive and duplicate bytes equal what git says of each object, and what cannot be told is not told."""

import hashlib
import os
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gitdash.formats.reading import FormatError
from gitdash.measurement.exclusive import LenderIds, measure_exclusive
from gitdash.measurement.stores import Store, StoredPack
from gitdash.model.inspection import ObjectFormat
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes
from tests.measurement.built import disk_size, disk_sizes, objects_bytes, store_of
from tests.support.repositories import GitRepository

FORMATS = ["sha1", "sha256"]


def measured(own: Store, *lenders: Store, object_format: str = "sha1") -> ExclusiveSizes:
    sizes = measure_exclusive(own, lenders, LenderIds(), object_format=ObjectFormat(object_format), now_s=5.0)
    assert isinstance(sizes, ExclusiveSizes), sizes
    assert sizes.measured_at_s == 5.0
    return sizes


def figures(sizes: ExclusiveSizes) -> tuple[int, int, int, int]:
    return sizes.exclusive_bytes, sizes.exclusive_count, sizes.duplicate_bytes, sizes.duplicate_count


def expected(own: dict[str, int], lent: set[str]) -> tuple[int, int, int, int]:
    exclusive = [size for object_id, size in own.items() if object_id not in lent]
    duplicate = [size for object_id, size in own.items() if object_id in lent]
    return sum(exclusive), len(exclusive), sum(duplicate), len(duplicate)


def filled(path: Path, object_format: str, *, start: int = 0, count: int = 30, repack: bool = True) -> GitRepository:
    repository = GitRepository.init(path, object_format=object_format)
    for number in range(start, start + count):
        repository.commit({f"file{n}": f"{n} {number}\n" * 40 for n in range(3)}, message=f"commit {number}")
    if repack:
        repository.repack()
    return repository


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", FORMATS)
def test_parts_equal_what_git_says_of_each_object(object_format: str, tmp_path: Path) -> None:
    pool = filled(tmp_path / "pool.git", object_format, count=12)
    pool.blob(b"loose in the pool, packed in the member")
    member = filled(tmp_path / "member.git", object_format, count=20)
    member.blob(b"loose in the pool, packed in the member")
    member.commit({"only": "here"}, reference="refs/heads/own")
    member.blob(b"loose in both")
    pool.blob(b"loose in both")
    sizes = measured(store_of(member), store_of(pool), object_format=object_format)
    assert figures(sizes) == expected(disk_sizes(member), set(disk_sizes(pool)))
    assert sizes.duplicate_count > 40
    assert sizes.exclusive_count > 20


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", FORMATS)
@pytest.mark.parametrize("options", ["--index-version=1", "--index-version=2,0x40", "--index-version=2"])
def test_every_index_version_gives_the_same_sizes(object_format: str, options: str, tmp_path: Path) -> None:
    own = filled(tmp_path / "own.git", object_format)
    (pack,) = own.packs()
    index = pack.with_suffix(".idx")
    index.unlink()
    own.git("index-pack", options, "-o", index, pack)
    wanted = disk_sizes(own)
    assert figures(measured(store_of(own), object_format=object_format)) == expected(wanted, set())


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", FORMATS)
def test_all_parts_and_the_ends_of_packs_make_up_the_store(object_format: str, tmp_path: Path) -> None:
    pool = filled(tmp_path / "pool.git", object_format, count=5)
    own = filled(tmp_path / "own.git", object_format, count=8)
    own.git("repack", "-q", "-a")
    own.commit({"a": "1"}, reference="refs/heads/more")
    own.git("repack", "-q", "-a")
    own.git("repack", "-q", "-a", "-f", "--depth=0")
    own.blob(b"loose")
    sizes = measured(store_of(own), store_of(pool), object_format=object_format)
    trailer_bytes = {"sha1": 20, "sha256": 32}[object_format]
    ends = len(own.packs()) * (12 + trailer_bytes)
    assert len(own.packs()) > 1
    assert sizes.redundant_count > 0
    assert sizes.exclusive_bytes + sizes.duplicate_bytes + sizes.redundant_bytes + ends == objects_bytes(own)


def with_copies(repository: GitRepository) -> list[Path]:
    """Give the same objects three times: as deltas, whole, and loose."""
    for number in range(8):
        content = "".join(f"{line} {number if line == 5 else ''}\n" for line in range(300))
        repository.commit({"file": content})
    repository.git("repack", "-q", "-a", "-d", "-f", "--window=10")
    (deltas,) = repository.packs()
    repository.git("repack", "-q", "-a", "-F", "--depth=0", "--window=0")
    return [deltas, *(pack for pack in repository.packs() if pack != deltas)]


@pytest.mark.oracle
@pytest.mark.parametrize("newest", [0, 1])
def test_copy_that_counts_is_the_one_in_the_newest_pack(newest: int, tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    packs = with_copies(own)
    for number, pack in enumerate(packs):
        os.utime(pack, (0, 2000 if number == newest else 1000))
    object_ids = disk_sizes(own)
    wanted = {object_id: disk_size(own, object_id) for object_id in object_ids}
    sizes = measured(store_of(own))
    assert figures(sizes) == expected(wanted, set())
    assert sizes.redundant_count == len(object_ids)
    assert not sizes.every_object_once


@pytest.mark.oracle
@pytest.mark.parametrize("preferred", [0, 1])
def test_copy_that_counts_is_the_one_that_the_multi_pack_index_names(preferred: int, tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    packs = with_copies(own)
    os.utime(packs[1 - preferred], (0, 2_000_000_000))
    own.git("multi-pack-index", "write", "--bitmap", f"--preferred-pack={packs[preferred].stem}.idx")
    object_ids = disk_sizes(own)
    wanted = {object_id: disk_size(own, object_id) for object_id in object_ids}
    assert figures(measured(store_of(own))) == expected(wanted, set())
    without = replace(store_of(own), multi_pack_index=lambda: ())
    assert figures(measured(without)) != expected(wanted, set())
    damaged = replace(store_of(own), multi_pack_index=lambda: (b"MIDX and then nothing",))
    assert figures(measured(damaged)) == figures(measured(without))


@pytest.mark.oracle
def test_packed_copy_counts_before_a_loose_one(tmp_path: Path) -> None:
    own = filled(tmp_path / "own.git", "sha1", count=4, repack=False)
    own.git("repack", "-q", "-a")
    tip = own.git("rev-parse", "refs/heads/main")
    loose_bytes = objects_bytes(own)
    own.git("unpack-objects", "-q", stdin=own.packs()[0].read_bytes())
    assert objects_bytes(own) == loose_bytes or own.git("cat-file", "-t", tip) == "commit"
    wanted = {object_id: disk_size(own, object_id) for object_id in disk_sizes(own)}
    assert figures(measured(store_of(own))) == expected(wanted, set())


@pytest.mark.oracle
def test_every_object_once_is_told_apart(tmp_path: Path) -> None:
    pool = filled(tmp_path / "pool.git", "sha1", count=3)
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "own"})
    assert measured(store_of(own), store_of(pool)).every_object_once
    own.commit({"file0": "0 0\n" * 40})
    sizes = measured(store_of(own), store_of(pool))
    assert sizes.duplicate_count == 1
    assert not sizes.every_object_once


def test_empty_store_is_zero(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    pool = filled(tmp_path / "pool.git", "sha1", count=2)
    assert figures(measured(store_of(own), store_of(pool))) == (0, 0, 0, 0)
    assert figures(measured(store_of(pool), store_of(own)))[2:] == (0, 0)


def test_lender_is_read_once_for_all_its_members(tmp_path: Path) -> None:
    pool = filled(tmp_path / "pool.git", "sha1", count=3)
    reads = 0

    def counted() -> Iterator[StoredPack]:
        nonlocal reads
        reads += 1
        yield from store_of(pool).packs()

    lender = replace(store_of(pool), packs=counted)
    shared = LenderIds()
    for _ in range(3):
        measure_exclusive(store_of(pool), [lender], shared, object_format=ObjectFormat.SHA1, now_s=0.0)
    assert reads == 1
    assert shared.size_bytes == 28 * len(disk_sizes(pool))


def test_lenders_that_do_not_fit_are_given_up_oldest_first(tmp_path: Path) -> None:
    pool = store_of(filled(tmp_path / "pool.git", "sha1", count=3))
    shared = LenderIds(maximum_bytes=28 * 20)
    for name in ("a", "b", "a", "c"):
        ids = shared.ids(replace(pool, identity=name), ObjectFormat.SHA1)
        assert len(ids.object_ids) == 15 if name else True
        assert shared.size_bytes <= 28 * 20


def damaged_stores() -> list[tuple[str, Callable[[StoredPack], StoredPack]]]:
    def cut(pack: StoredPack) -> StoredPack:
        return replace(pack, index=bytes(pack.index[: len(pack.index) - 1]))

    def at(offset: int, content: bytes) -> Callable[[StoredPack], StoredPack]:
        def change(pack: StoredPack) -> StoredPack:
            index = bytearray(pack.index[: len(pack.index)])
            index[offset : offset + len(content)] = content
            return replace(pack, index=bytes(index))

        return change

    def offsets(content: bytes) -> Callable[[StoredPack], StoredPack]:
        def change(pack: StoredPack) -> StoredPack:
            count = int.from_bytes(pack.index[1028:1032], "big")
            return at(1032 + count * 24, content * count)(pack)

        return change

    def pack_cut(pack: StoredPack) -> StoredPack:
        return replace(pack, pack=bytes(pack.pack[: len(pack.pack) - 10]))

    def other_count(pack: StoredPack) -> StoredPack:
        return replace(pack, pack=pack.pack[:8] + b"\0\0\0\1" + pack.pack[12 : len(pack.pack)])

    return [
        ("index cut", cut),
        ("index empty", lambda pack: replace(pack, index=b"")),
        ("signature", at(0, b"\xff\0\0\0")),
        ("version", at(4, b"\0\0\0\x63")),
        ("fan-out decreases", at(8, b"\xff\xff\xff\xff")),
        ("fan-out disagrees", at(8 + 4 * 0x50, b"\0\0\0\0")),
        ("ids zeroed", at(1032, bytes(40))),
        ("one id damaged", at(1032 + 1, b"\xff")),
        ("all offsets equal", offsets(b"\x7f\xff\xff\xff")),
        ("offsets in a table that is not there", offsets(b"\x80\0\0\0")),
        ("first offset zero", offsets(bytes(4))),
        ("pack cut", pack_cut),
        ("pack empty", lambda pack: replace(pack, pack=b"")),
        ("other pack", lambda pack: replace(pack, pack=pack.pack[: len(pack.pack) - 20] + bytes(20))),
        ("other number of objects", other_count),
    ]


@pytest.mark.safety
@pytest.mark.parametrize(
    ("name", "damage"), damaged_stores(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_damaged_own_pack_is_unreadable_and_never_a_number(
    name: str, damage: Callable[[StoredPack], StoredPack], tmp_path: Path
) -> None:
    own = store_of(filled(tmp_path / "own.git", "sha1", count=3))
    damaged = replace(own, packs=lambda: map(damage, own.packs()))
    sizes = measure_exclusive(damaged, [], LenderIds(), object_format=ObjectFormat.SHA1, now_s=0.0)
    assert isinstance(sizes, Unreadable), name
    assert sizes.reason.startswith("object ids: ")


@pytest.mark.safety
@pytest.mark.parametrize(
    ("name", "damage"), damaged_stores(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_damaged_lender_never_makes_a_number_larger(
    name: str, damage: Callable[[StoredPack], StoredPack], tmp_path: Path
) -> None:
    own = store_of(filled(tmp_path / "own.git", "sha1", count=3))
    lender = replace(own, identity="lender", packs=lambda: map(damage, own.packs()))
    sizes = measure_exclusive(own, [lender], LenderIds(), object_format=ObjectFormat.SHA1, now_s=0.0)
    if isinstance(sizes, ExclusiveSizes):
        # a lender's offsets are not needed, and so not looked at
        assert "offset" in name
        assert sizes.exclusive_bytes == 0
    else:
        assert sizes.reason.startswith("object ids of a lender: ")


@pytest.mark.safety
@pytest.mark.parametrize("length", [0, 7, 8, 100, 1031, 1032, 1100])
def test_index_cut_anywhere_is_unreadable(length: int, tmp_path: Path) -> None:
    own = store_of(filled(tmp_path / "own.git", "sha1", count=1))
    cut = replace(own, packs=lambda: (replace(pack, index=bytes(pack.index[:length])) for pack in own.packs()))
    sizes = measure_exclusive(cut, [], LenderIds(), object_format=ObjectFormat.SHA1, now_s=0.0)
    assert isinstance(sizes, Unreadable)


def test_store_that_cannot_be_listed_is_unreadable() -> None:
    def fails() -> Iterator[StoredPack]:
        raise FormatError("cannot be listed\x1b", 0)
        yield

    store = Store(identity=1, packs=fails, loose=tuple)
    sizes = measure_exclusive(store, [], LenderIds(), object_format=ObjectFormat.SHA1, now_s=0.0)
    assert sizes == Unreadable("object ids: cannot be listed\\x1b (at byte 0)")


def made_up_store(object_ids: np.ndarray, identity: str) -> Store:
    """A store of one pack whose objects have 100 bytes each; its index was never written by git."""
    count, width = object_ids.shape
    fan_out = np.cumsum(np.bincount(object_ids[:, 0], minlength=256)).astype(">u4").tobytes()
    offsets = (12 + 100 * np.arange(count)).astype(">u4").tobytes()
    checksum = b"\1" * width
    index = b"\xfftOc\0\0\0\2" + fan_out + object_ids.tobytes() + bytes(4 * count) + offsets + checksum
    index += hashlib.sha1(index).digest()
    pack = _LongPack(b"PACK\0\0\0\2" + count.to_bytes(4, "big"), 12 + 100 * count, checksum)
    stored = StoredPack(name=b"pack-1.pack", index=index, pack=pack, mtime_s=0.0)
    return Store(identity=identity, packs=lambda: [stored], loose=tuple)


class _LongPack:
    """A pack of which only header and trailer exist."""

    def __init__(self, header: bytes, objects_end: int, checksum: bytes) -> None:
        self._header, self._objects_end, self._checksum = header, objects_end, checksum

    def __len__(self) -> int:
        return self._objects_end + len(self._checksum)

    def __getitem__(self, key: slice) -> bytes:
        return self._checksum if key.start == self._objects_end else self._header[key]


def random_ids(count: int, width: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).integers(0, 256, (count, width), dtype=np.uint8)
    return rows[np.argsort(rows.view(f"S{width}").ravel())]


@pytest.mark.parametrize(("own_count", "lender_count"), [(20_000, 100_000), (100_000, 20_000), (100_000, 100_000)])
def test_memory_stays_below_100_bytes_for_each_object_of_the_larger_store(own_count: int, lender_count: int) -> None:
    ids = random_ids(100_000, 20, seed=1)
    every = slice(None, None, 5)
    own = made_up_store(ids if own_count == 100_000 else ids[every], "own")
    lender = made_up_store(ids if lender_count == 100_000 else ids[every], "lender")
    tracemalloc.start()
    try:
        sizes = measured(own, lender)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sizes.duplicate_count == min(own_count, lender_count)
    assert peak_bytes / 100_000 < 100


def test_memory_stays_below_100_bytes_with_many_packs() -> None:
    ids = random_ids(100_000, 20, seed=2)
    packs = [next(iter(made_up_store(ids[number::10], "").packs())) for number in range(10)]
    store = Store(identity="many", packs=lambda: packs, loose=tuple)
    tracemalloc.start()
    try:
        sizes = measured(store, replace(store, identity="lender"))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (sizes.duplicate_count, sizes.exclusive_count) == (100_000, 0)
    assert peak_bytes / 100_000 < 100


@pytest.mark.safety
def test_ids_made_to_collide_are_compared_as_a_whole() -> None:
    ids = random_ids(3000, 20, seed=3)
    ids[:, :8] = 7
    ids = ids[np.argsort(ids.view("S20").ravel())]
    own, lender = made_up_store(ids[::2], "own"), made_up_store(ids[1::2], "lender")
    assert figures(measured(own, lender)) == (150_000, 1500, 0, 0)
    assert figures(measured(own, made_up_store(ids, "all"))) == (0, 0, 150_000, 1500)
    both = Store(identity="both", packs=lambda: [*own.packs(), *lender.packs()], loose=tuple)
    assert measured(both).redundant_count == 0
    assert figures(measured(own, both)) == (0, 0, 150_000, 1500)


def test_ids_that_end_in_zero_bytes_are_told_apart() -> None:
    ids = np.zeros((4, 20), np.uint8)
    ids[1, 19], ids[2, 18], ids[3, 8] = 1, 1, 1
    ids = ids[np.argsort(ids.view("S20").ravel(), kind="stable")]
    assert figures(measured(made_up_store(ids[:2], "own"), made_up_store(ids[2:], "lender"))) == (200, 2, 0, 0)
    assert figures(measured(made_up_store(ids, "own"), made_up_store(ids[2:], "lender"))) == (200, 2, 200, 2)


def test_object_twice_in_one_pack_counts_once() -> None:
    ids = random_ids(10, 20, seed=4)
    ids[5] = ids[4]
    sizes = measured(made_up_store(ids, "own"))
    assert (sizes.exclusive_bytes, sizes.exclusive_count) == (900, 9)
    assert (sizes.redundant_bytes, sizes.redundant_count) == (100, 1)
