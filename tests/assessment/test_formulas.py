"""The formulas, against the figures that Gitaly and git publish, and against git itself."""

from pathlib import Path

import pytest

from gitdash.assessment.loose import estimate_limit, git_would_pack, loose_estimate
from gitdash.assessment.packs import allowed_packs_outside
from gitdash.assessment.references import broken_pair, loose_references_limit
from gitdash.model.inspection import ObjectFormat
from tests.support.repositories import GitRepository, git_version

MIB = 1 << 20


@pytest.mark.parametrize(
    ("pack_mib", "allowed_count"),
    [
        (0, 2),
        (1, 2),
        (5, 2),
        (6, 3),
        (10, 3),
        (100, 7),
        (500, 10),
        (1024, 11),
        (5 * 1024, 14),
        (10 * 1024, 15),
        (100 * 1024, 19),
    ],
)
def test_packs_allowed_outside_the_multi_pack_index_are_those_of_gitaly(pack_mib: int, allowed_count: int) -> None:
    assert allowed_packs_outside(pack_mib * MIB, 2, 1.8) == allowed_count


def test_only_whole_mebibytes_count() -> None:
    assert allowed_packs_outside(6 * MIB - 1, 2, 1.8) == 2
    assert allowed_packs_outside(MIB - 1, 2, 1.8) == 2


@pytest.mark.parametrize("log_base", [1.0, 0.5, 0.0])
def test_base_that_is_no_base_leaves_the_minimum(log_base: float) -> None:
    assert allowed_packs_outside(100 * MIB, 2, log_base) == 2
    assert loose_references_limit(100 * MIB, 16, log_base) == 16


@pytest.mark.parametrize(
    ("packed_bytes", "limit_count"),
    [(0, 16), (1 << 10, 16), (10 << 10, 33), (100 << 10, 49), (1 << 20, 66), (10 << 20, 82), (100 << 20, 99)],
)
def test_limit_of_loose_references_is_that_of_gitaly(packed_bytes: int, limit_count: int) -> None:
    assert loose_references_limit(packed_bytes, 16, 1.15) == limit_count


@pytest.mark.parametrize(
    ("table_bytes", "object_format", "is_due"),
    [
        ((), ObjectFormat.SHA1, False),
        ((1,), ObjectFormat.SHA1, False),
        ((239, 165), ObjectFormat.SHA1, False),
        ((238, 165), ObjectFormat.SHA1, True),
        ((295, 197), ObjectFormat.SHA256, False),
        ((294, 197), ObjectFormat.SHA256, True),
        ((387, 239, 165), ObjectFormat.SHA1, False),
        ((386, 239, 165), ObjectFormat.SHA1, True),
        ((387, 238, 165), ObjectFormat.SHA1, True),
        ((165, 239), ObjectFormat.SHA1, True),
    ],
)
def test_reftable_compaction_is_due_where_the_progression_breaks(
    table_bytes: tuple[int, ...], object_format: ObjectFormat, is_due: bool
) -> None:
    assert (broken_pair(table_bytes, 2, object_format) is not None) is is_due


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 47), reason="git compared other numbers before")
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_reftable_compaction_is_due_exactly_where_git_does_it(tmp_path: Path, object_format: ObjectFormat) -> None:
    answers = set()
    for length in (1, 29, 30, 41, 42, 59):
        repository = GitRepository.init(
            tmp_path / f"{length}.git", object_format=object_format, reference_backend="reftable"
        )
        repository.git("config", "core.logAllRefUpdates", "false")
        blob = repository.blob(b"")
        add_references(repository, blob, "x" * length, "q0", "q1")
        repository.git("pack-refs")
        add_references(repository, blob, "zzzz-a", "z-b")
        before = table_sizes(repository)
        repository.git("pack-refs", "--auto")
        is_due = table_sizes(repository) != before
        assert (broken_pair(before, 2, object_format) is not None) is is_due, before
        answers.add(is_due)
    assert answers == {True, False}


def add_references(repository: GitRepository, object_id: str, *names: str) -> None:
    lines = "".join(f"create refs/tags/{name} {object_id}\n" for name in names)
    repository.git("update-ref", "--stdin", stdin=lines.encode(), GIT_TEST_REFTABLE_AUTOCOMPACTION="false")


def table_sizes(repository: GitRepository) -> list[int]:
    folder = repository.git_dir / "reftable"
    return [(folder / name).stat().st_size for name in (folder / "tables.list").read_text().split()]


def test_loose_objects_are_estimated_from_one_shard() -> None:
    assert loose_estimate(28) == 7168
    assert estimate_limit(6700) == 6912
    assert estimate_limit(100) == 256
    assert estimate_limit(256) == 256


@pytest.mark.parametrize(
    ("shard_17_count", "gc_auto", "would_pack"),
    [
        (27, None, False),
        (28, None, True),
        (27, 6700, False),
        (28, 6700, True),
        (1, 100, False),
        (2, 100, True),
        (1000, 0, False),
        (1000, -1, False),
    ],
)
def test_git_packs_by_itself_above_its_estimate(shard_17_count: int, gc_auto: int | None, would_pack: bool) -> None:
    assert git_would_pack(shard_17_count, gc_auto) is would_pack
