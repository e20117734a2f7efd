"""Facts about loose objects, with git as the oracle."""

import os
import time
from pathlib import Path

import pytest

from gitdash.inspection.object_ids import index_paths, loose_object_sizes
from gitdash.model.inspection import LooseFacts
from gitdash.model.repository import Unreadable
from tests.inspection.conftest import Inspect
from tests.inspection.oracle import count_objects
from tests.support.repositories import GitRepository

DAY_S = 86_400.0


def loose_of(inspect: Inspect, repository: GitRepository, **more: float) -> LooseFacts:
    loose = inspect(repository, **more).loose
    assert isinstance(loose, LooseFacts)
    return loose


def object_path(repository: GitRepository, object_id: str) -> Path:
    return repository.git_dir / "objects" / object_id[:2] / object_id[2:]


@pytest.mark.oracle
def test_loose_objects_are_what_git_counts(repository: GitRepository, inspect: Inspect) -> None:
    ids = {repository.blob(b"%d" % number) for number in range(40)}
    loose = loose_of(inspect, repository)
    assert loose.count == count_objects(repository)["count"] == len(ids)
    assert loose.bytes == sum(object_path(repository, object_id).stat().st_size for object_id in ids)
    assert loose.garbage_count == loose.stale_count == 0


@pytest.mark.oracle
def test_garbage_in_shards_is_what_git_calls_garbage(repository: GitRepository, inspect: Inspect) -> None:
    path = object_path(repository, repository.blob(b"x"))
    shard = path.parent
    (shard / "tmp_obj_abc123").write_bytes(b"12345")
    (shard / "README").write_bytes(b"1")
    (shard / ("0" * 10)).write_bytes(b"22")
    (shard / path.name.replace(path.name[0], "g")).write_bytes(b"333")
    (shard / ("a" * len(path.name))).mkdir()
    loose = loose_of(inspect, repository)
    counted = count_objects(repository)
    assert loose.count == counted["count"] == 1
    assert loose.garbage_count == counted["garbage"] == 5
    assert loose.garbage_bytes == 11 + (shard / ("a" * len(path.name))).stat().st_size
    (temporary,) = loose.temporary_files
    assert temporary.path == f"objects/{shard.name}/tmp_obj_abc123"


def test_upper_case_hex_is_garbage(sha1_repository: GitRepository, inspect: Inspect) -> None:
    shard = sha1_repository.git_dir / "objects" / "ab"
    shard.mkdir()
    (shard / ("AB" * 19)).write_bytes(b"x")
    loose = loose_of(inspect, sha1_repository)
    assert (loose.count, loose.garbage_count) == (0, 1)


def test_ages_split_fresh_from_stale_and_say_when_the_next_turns_stale(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    repository = sha1_repository
    now_s = time.time() + 1000
    old, older, fresh = (repository.blob(b"%d" % number) for number in range(3))
    repository.age(object_path(repository, old), 10 * DAY_S + 60, now_s)
    repository.age(object_path(repository, older), 400 * DAY_S, now_s)
    repository.age(object_path(repository, fresh), 3 * DAY_S, now_s)
    inspection = inspect(repository, now_s=now_s)
    loose = loose_of(inspect, repository, now_s=now_s)
    assert (loose.count, loose.stale_count) == (3, 2)
    assert loose.stale_bytes == sum(object_path(repository, name).stat().st_size for name in (old, older))
    assert inspection.valid_until_s == pytest.approx(now_s + 7 * DAY_S, abs=1.5)
    assert loose_of(inspect, repository, now_s=now_s + 7 * DAY_S + 2).stale_count == 3


def test_nothing_that_ages_is_valid_for_ever(sha1_repository: GitRepository, inspect: Inspect) -> None:
    assert inspect(sha1_repository, now_s=time.time() + 1000).valid_until_s is None


def test_shard_17_is_counted_apart(sha1_repository: GitRepository, inspect: Inspect) -> None:
    shard = sha1_repository.git_dir / "objects" / "17"
    shard.mkdir()
    for number in range(3):
        (shard / f"{number:038x}").write_bytes(b"")
    assert loose_of(inspect, sha1_repository).shard_17_count == 3


def test_temporary_files_and_quarantine_folders_beside_the_shards_are_seen(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    objects = sha1_repository.git_dir / "objects"
    (objects / "tmp_obj_xYz012").write_bytes(b"123")
    (objects / "tmp_objdir-incoming-aBc012" / "pack").mkdir(parents=True)
    (objects / "tmp_objdir-incoming-aBc012" / "pack" / "p").write_bytes(b"4567")
    (objects / "zz").mkdir()
    (objects / "tmp_notes").write_bytes(b"56")
    # somebody's own: git gives no such name, and prune leaves it
    (objects / "notes_tmp").write_bytes(b"56")
    (objects / "tmp_notes.txt").write_bytes(b"56")
    (objects / "incoming-mine").mkdir()
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.loose, LooseFacts)
    assert [(file.path, file.is_directory) for file in inspection.loose.temporary_files] == [
        ("objects/tmp_notes", False),
        ("objects/tmp_obj_xYz012", False),
        ("objects/tmp_objdir-incoming-aBc012", True),
    ]
    assert inspection.valid_until_s == inspection.inspected_at_s


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["file", "fifo", "link"])
def test_a_shard_that_is_no_folder_makes_loose_unreadable_and_nothing_else(
    sha1_repository: GitRepository, inspect: Inspect, kind: str
) -> None:
    sha1_repository.commit({"a": "1"})
    path = sha1_repository.git_dir / "objects" / "00"
    if kind == "file":
        path.write_bytes(b"")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/")
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.loose, Unreadable)
    assert inspection.loose.reason.startswith("objects/00: ")
    assert not isinstance(inspection.packs, Unreadable)
    assert [problem.path for problem in inspection.problems] == ["objects/00"]


@pytest.mark.safety
def test_missing_objects_make_the_store_unreadable_and_leave_the_rest(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    objects = sha1_repository.git_dir / "objects"
    objects.rename(objects.with_name("gone"))
    inspection = inspect(sha1_repository)
    assert inspection.object_store == inspection.packs == inspection.loose == Unreadable("objects is missing")
    assert inspection.head == "refs/heads/main"


@pytest.mark.oracle
def test_a_symbolic_link_to_a_shared_store_is_followed_and_identified(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path
) -> None:
    other = GitRepository.init(tmp_path / "other.git")
    other.blob(b"1")
    objects = sha1_repository.git_dir / "objects"
    objects.rename(tmp_path / "unused")
    objects.symlink_to(other.git_dir / "objects")
    shared, own = inspect(sha1_repository), inspect(other)
    assert shared.object_store == own.object_store
    assert isinstance(shared.loose, LooseFacts)
    assert shared.loose.count == count_objects(sha1_repository)["count"] == 1


def test_an_object_that_vanishes_after_the_shard_was_listed_has_never_been_there(
    sha1_repository: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, pruned = sha1_repository.blob(b"1"), sha1_repository.blob(b"2")
    listdir = os.listdir

    def list_then_prune(path):
        names = listdir(path)
        if os.fsdecode(path).endswith("objects/" + pruned[:2]):
            object_path(sha1_repository, pruned).unlink(missing_ok=True)
        return names

    monkeypatch.setattr(os, "listdir", list_then_prune)
    loose = loose_of(inspect, sha1_repository)
    assert loose.count == 1
    assert loose.bytes == object_path(sha1_repository, kept).stat().st_size


@pytest.mark.oracle
def test_object_ids_of_a_store_are_what_git_lists(repository: GitRepository) -> None:
    repository.commit({"a": "1"})
    repository.repack()
    loose = {repository.blob(b"loose %d" % number) for number in range(20)}
    objects = os.fsencode(repository.git_dir / "objects")
    sizes = dict(loose_object_sizes(objects))
    assert sizes.keys() == loose
    lines = repository.git(
        "cat-file", "--batch-check=%(objectname) %(objectsize:disk)", stdin="\n".join(loose).encode()
    ).splitlines()
    assert sizes == {name: int(size) for name, size in map(str.split, lines)}
    assert index_paths(objects) == tuple(os.fsencode(path.with_suffix(".idx")) for path in repository.packs())


def test_a_store_without_packs_has_no_indexes(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    assert index_paths(os.fsencode(tmp_path / "objects")) == ()
    assert list(loose_object_sizes(os.fsencode(tmp_path / "objects"))) == []
