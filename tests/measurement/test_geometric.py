"""Which packs a geometric repack joins: git itself is asked on a repository with just those packs."""

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitdash.measurement.geometric import geometric_plan, joined_count
from gitdash.model.inspection import PackFile
from tests.support.repositories import GitRepository


def pack_of_blobs(repository: GitRepository, count: int, label: str) -> str:
    """Write one pack with so many blobs; return its name."""
    before = {pack.stem for pack in repository.packs()}
    blobs = [f"{label} {number}".encode() for number in range(count)]
    stream = b"".join(b"blob\ndata %d\n%b\n" % (len(blob), blob) for blob in blobs)
    repository.git("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", stdin=stream)
    (name,) = {pack.stem for pack in repository.packs()} - before
    return name


def pack_file(repository: GitRepository, name: str, count: int | None, **traits: bool) -> PackFile:
    path = repository.git_dir / "objects" / "pack" / f"{name}.pack"
    return PackFile(name=name, bytes=path.stat().st_size, mtime_s=0.0, object_count=count, index_bytes=1_000, **traits)


def packs_of(repository: GitRepository, counts: Sequence[int]) -> list[PackFile]:
    return [
        pack_file(repository, pack_of_blobs(repository, count, f"pack {number}"), count)
        for number, count in enumerate(counts)
    ]


def survivors(repository: GitRepository, packs: Sequence[PackFile]) -> set[str]:
    """The packs that git leaves."""
    repository.git("repack", "--quiet", "--geometric=2", "-d")
    left = {pack.stem for pack in repository.packs()}
    return {pack.name for pack in packs if pack.name in left}


RANDOM = random.Random(7)
MANY = [tuple(RANDOM.choice((1, 2, 3, 5, 9, 20, 41, 90)) for _ in range(RANDOM.randint(3, 8))) for _ in range(8)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "counts",
    [
        (5,),
        (1, 2, 4, 8),
        (1, 2, 4, 7),
        (3, 3),
        (3, 3, 12),
        (3, 3, 11),
        (3, 3, 11, 60),
        (2, 3, 10, 19, 80),
        (1, 1, 4, 12, 36),
        *MANY,
    ],
    ids=str,
)
def test_git_leaves_the_packs_that_are_said_to_stay(tmp_path: Path, counts: tuple[int, ...]) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    packs = packs_of(repository, counts)
    plan = geometric_plan(packs)
    assert {pack.name for pack in (*plan.joined, *plan.intact)} == {pack.name for pack in packs}
    assert {pack.name for pack in plan.intact} == survivors(repository, packs)


@pytest.mark.oracle
def test_loose_objects_do_not_change_which_packs_stay(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    packs = packs_of(repository, (2, 3, 12))
    for number in range(30):
        repository.blob(b"loose %d" % number)
    plan = geometric_plan(packs)
    assert [pack.object_count for pack in plan.joined] == [2, 3]
    assert {pack.name for pack in plan.intact} == survivors(repository, packs)


@pytest.mark.oracle
def test_kept_pack_takes_no_part(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    first, second, kept = packs_of(repository, (3, 3, 3))
    (repository.git_dir / "objects" / "pack" / f"{kept.name}.keep").touch()
    kept = pack_file(repository, kept.name, 3, kept=True)
    plan = geometric_plan([first, second, kept])
    assert plan.outside == (kept,)
    assert {pack.name for pack in (*plan.intact, *plan.outside)} == survivors(repository, [first, second, kept])


@pytest.mark.oracle
def test_cruft_pack_takes_no_part(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    for number in range(4):
        repository.blob(b"unreachable %d" % number)
    repository.git("repack", "--quiet", "--cruft", "-d")
    (cruft_name,) = (pack.stem for pack in repository.packs())
    packs = [*packs_of(repository, (3, 3)), pack_file(repository, cruft_name, 4, cruft=True)]
    plan = geometric_plan(packs)
    assert [pack.name for pack in plan.outside] == [cruft_name]
    assert {pack.name for pack in (*plan.intact, *plan.outside)} == survivors(repository, packs)


@pytest.mark.oracle
def test_pack_without_index_takes_no_part(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    first, second, bare = packs_of(repository, (3, 3, 3))
    os.unlink(repository.git_dir / "objects" / "pack" / f"{bare.name}.idx")
    bare = pack_file(repository, bare.name, None, has_index=False)
    plan = geometric_plan([first, second, bare])
    assert plan.outside == (bare,)
    assert {pack.name for pack in (*plan.intact, *plan.outside)} == survivors(repository, [first, second, bare])


def test_promisor_packs_are_never_counted_upon() -> None:
    plain = [PackFile(name=name, bytes=100, mtime_s=0.0, object_count=3, index_bytes=0) for name in "ab"]
    promisor = PackFile(name="p", bytes=900, mtime_s=0.0, object_count=3, index_bytes=0, promisor=True)
    plan = geometric_plan([*plain, promisor])
    assert plan.outside == (promisor,)
    assert (plan.joined_bytes, plan.joined_object_count) == (200, 6)


def test_no_pack_and_packs_without_objects_join_nothing() -> None:
    assert joined_count([]) == 0
    assert joined_count([0]) == 0
    assert joined_count([0, 0, 5]) == 0
