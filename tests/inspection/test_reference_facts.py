"""How references are stored."""

import os
import time
from pathlib import Path

import pytest

from gitdash.model.inspection import ObjectFormat, ReferenceBackend, ReferenceFacts
from gitdash.model.repository import Unreadable
from tests.inspection.conftest import Inspect
from tests.inspection.oracle import needs_git
from tests.support.repositories import GitRepository


def references_of(inspect: Inspect, repository: GitRepository) -> ReferenceFacts:
    references = inspect(repository).references
    assert isinstance(references, ReferenceFacts)
    return references


def with_references(repository: GitRepository, count: int) -> None:
    commit = repository.commit({"a": "1"})
    updates = "".join(f"create refs/heads/topic/{number} {commit}\n" for number in range(count))
    repository.git("update-ref", "--stdin", stdin=updates.encode())


@pytest.mark.oracle
def test_loose_and_packed_references_add_up_to_what_git_lists(repository: GitRepository, inspect: Inspect) -> None:
    with_references(repository, 5)
    repository.git("tag", "-a", "-m", "x", "v1", "main")
    facts = references_of(inspect, repository)
    assert (facts.loose_count, facts.packed_count, facts.packed_bytes) == (7, 0, 0)
    repository.git("pack-refs", "--all")
    facts = references_of(inspect, repository)
    assert facts.loose_count == 0
    assert facts.packed_count == len(repository.git("for-each-ref").splitlines()) == 7
    assert facts.packed_bytes == (repository.git_dir / "packed-refs").stat().st_size


@pytest.mark.oracle
@pytest.mark.parametrize("is_sorted", [True, False])
def test_reference_that_is_loose_and_packed_counts_once(
    repository: GitRepository, inspect: Inspect, *, is_sorted: bool
) -> None:
    with_references(repository, 5)
    repository.git("tag", "-a", "-m", "x", "v1", "main")
    repository.git("pack-refs", "--all", "--no-prune")
    packed = repository.git_dir / "packed-refs"
    if not is_sorted:
        packed.write_bytes(packed.read_bytes().replace(b" sorted ", b" "))
    repository.git("update-ref", "refs/heads/only-loose", "main")
    facts = references_of(inspect, repository)
    assert (facts.loose_count, facts.packed_count) == (8, 7)
    assert facts.count == len(repository.git("for-each-ref").splitlines()) == 8


@pytest.mark.oracle
def test_empty_loose_reference_is_none_and_hides_the_packed_one(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    with_references(sha1_repository, 3)
    sha1_repository.git("pack-refs", "--all")
    folder = sha1_repository.git_dir / "refs" / "heads"
    (folder / "main").write_bytes(b"")
    (folder / "lost").write_bytes(b"")
    facts = references_of(inspect, sha1_repository)
    assert (facts.loose_count, facts.packed_count) == (2, 4)
    assert facts.count == len(sha1_repository.git("for-each-ref").splitlines()) == 3


def test_locks_are_not_references(sha1_repository: GitRepository, inspect: Inspect) -> None:
    (sha1_repository.git_dir / "refs" / "heads" / "main.lock").write_bytes(b"")
    inspection = inspect(sha1_repository)
    assert references_of(inspect, sha1_repository).loose_count == 0
    assert [lock.path for lock in inspection.locks] == ["refs/heads/main.lock"]


def test_empty_references_are_named_with_the_oldest_time(sha1_repository: GitRepository, inspect: Inspect) -> None:
    folder = sha1_repository.git_dir / "refs" / "heads"
    now_s = time.time()
    for number in range(25):
        path = folder / f"b{number:02}"
        path.write_bytes(b"")
        sha1_repository.age(path, 100 + number, now_s)
    inspection = inspect(sha1_repository, now_s=now_s + 1000)
    facts = inspection.references
    assert isinstance(facts, ReferenceFacts)
    assert facts.empty_loose_names == tuple(f"refs/heads/b{number:02}" for number in range(20))
    assert facts.empty_loose_count == 25
    assert facts.empty_loose_oldest_mtime_s == pytest.approx(now_s - 124)
    assert inspection.valid_until_s == inspection.inspected_at_s


def test_the_dangling_namespace_marks_a_pool(sha1_repository: GitRepository, inspect: Inspect) -> None:
    assert not references_of(inspect, sha1_repository).has_dangling_namespace
    commit = sha1_repository.commit({"a": "1"})
    sha1_repository.git("update-ref", f"refs/dangling/{commit}", commit)
    assert references_of(inspect, sha1_repository).has_dangling_namespace


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["garbage", "fifo", "link", "folder"])
def test_unreadable_packed_references_cost_the_references_only(
    sha1_repository: GitRepository, inspect: Inspect, kind: str
) -> None:
    path = sha1_repository.git_dir / "packed-refs"
    if kind == "garbage":
        path.write_bytes(b"<<<<<<< HEAD\n\x1b[31m")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.references, Unreadable)
    assert inspection.references.reason.startswith("packed-refs: ")
    assert inspection.references.reason.isprintable()
    assert inspection.head == "refs/heads/main"
    assert not isinstance(inspection.disk, Unreadable)


@pytest.mark.oracle
def test_a_detached_head_is_a_commit_id(repository: GitRepository, inspect: Inspect) -> None:
    commit = repository.commit({"a": "1"})
    repository.git("update-ref", "--no-deref", "HEAD", commit)
    assert inspect(repository).head == repository.git("rev-parse", "HEAD") == commit


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["missing", "empty", "garbage", "fifo", "folder", "link to a device"])
def test_a_broken_head_costs_the_head_only(sha1_repository: GitRepository, inspect: Inspect, kind: str) -> None:
    path = sha1_repository.git_dir / "HEAD"
    path.unlink()
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "garbage":
        path.write_bytes(b"\x1b]0;x\x07\xff")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.head, Unreadable)
    assert inspection.head.reason.isprintable()
    assert not isinstance(inspection.packs, Unreadable)


def test_a_head_that_is_a_link_to_a_branch_names_the_branch(sha1_repository: GitRepository, inspect: Inspect) -> None:
    path = sha1_repository.git_dir / "HEAD"
    path.unlink()
    path.symlink_to("refs/heads/old")
    assert inspect(sha1_repository).head == "refs/heads/old"


@pytest.mark.safety
def test_a_refs_folder_linked_to_the_whole_disk_is_not_walked(sha1_repository: GitRepository, inspect: Inspect) -> None:
    refs = sha1_repository.git_dir / "refs"
    refs.rename(sha1_repository.git_dir / "unused")
    refs.symlink_to("/")
    inspection = inspect(sha1_repository)
    assert [problem.path for problem in inspection.problems] == ["refs"]
    assert references_of(inspect, sha1_repository).loose_count == 0


def test_a_refs_folder_linked_to_another_repository_is_followed(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path
) -> None:
    other = GitRepository.init(tmp_path / "other.git")
    other.commit({"a": "1"})
    refs = sha1_repository.git_dir / "refs"
    refs.rename(sha1_repository.git_dir / "unused")
    refs.symlink_to(other.git_dir / "refs")
    assert references_of(inspect, sha1_repository).loose_count == 1


@needs_git(2, 45)
def test_tables_of_a_reftable_repository_are_those_of_its_list(
    tmp_path: Path, object_format: str, inspect: Inspect
) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format, reference_backend="reftable")
    repository.commit({"a": "1"})
    folder = repository.git_dir / "reftable"
    names = (folder / "tables.list").read_text().split()
    inspection = inspect(repository)
    assert inspection.reference_backend is ReferenceBackend.REFTABLE
    assert inspection.object_format is ObjectFormat(object_format)
    assert inspection.head is None
    facts = inspection.references
    assert isinstance(facts, ReferenceFacts)
    assert facts.reftable_bytes == tuple((folder / name).stat().st_size for name in names)
    assert (facts.loose_count, facts.packed_count, facts.reftable_unlisted_count) == (0, None, 0)
    (folder / "stray.ref").write_bytes(b"")
    (folder / names[0]).unlink()
    facts = references_of(inspect, repository)
    assert (facts.reftable_missing_count, facts.reftable_unlisted_count) == (1, 1)


def test_a_reftable_repository_is_recognised_without_such_a_git(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    git_dir = sha1_repository.git_dir
    (git_dir / "config").write_text("[core]\nrepositoryformatversion=1\n[extensions]\nrefStorage=reftable\n")
    (git_dir / "HEAD").write_text("ref: refs/heads/.invalid\n")
    (git_dir / "reftable").mkdir()
    (git_dir / "reftable" / "tables.list").write_text("0x1-0x1-a.ref\n0x2-0x2-b.ref\n")
    (git_dir / "reftable" / "0x1-0x1-a.ref").write_bytes(b"x" * 30)
    assert inspect(sha1_repository).head is None
    facts = references_of(inspect, sha1_repository)
    assert (facts.reftable_bytes, facts.reftable_missing_count) == ((30,), 1)
    (git_dir / "reftable" / "tables.list").unlink()
    assert inspect(sha1_repository).references == Unreadable("reftable/tables.list: missing")


@pytest.mark.safety
def test_the_head_of_reftable_is_broken_where_the_config_names_no_such_format(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    (sha1_repository.git_dir / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert sha1_repository.git("symbolic-ref", "HEAD", check=False) in {"", "refs/heads/.invalid"}
    assert sha1_repository.git("log", check=False) == ""
    assert isinstance(inspect(sha1_repository).head, Unreadable)


def test_shallow_commits_are_counted(tmp_path: Path, inspect: Inspect) -> None:
    source = GitRepository.init(tmp_path / "source.git")
    for number in range(3):
        source.commit({"a": f"{number}"})
    source.git("clone", "-q", "--bare", "--depth=1", f"file://{source.path}", os.fspath(tmp_path / "shallow.git"))
    inspection = inspect(tmp_path / "shallow.git")
    assert (inspection.shallow, inspection.shallow_count) == (True, 1)
    inspection = inspect(source)
    assert (inspection.shallow, inspection.shallow_count) == (False, 0)
