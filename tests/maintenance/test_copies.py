"""A good copy of an object stays while the copy that an index names instead is damaged."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support import task_runs
from tests.support.old_stores import complaints, visible_objects
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import make_lender_and_member, run

pytestmark = [pytest.mark.safety, pytest.mark.oracle]

NOISE_BYTES = 20_000


def cut_short(pack: Path) -> None:
    """A full disk, or a power cut."""
    os.truncate(pack, 20)


def zeroed(pack: Path) -> None:
    """A power cut: length and trailer are there, what lies between is not. A second object stays whole."""
    with pack.open("r+b") as file:
        file.seek(2000)
        file.write(b"\0" * (pack.stat().st_size - 2100))


def other_bytes(pack: Path) -> None:
    """One byte in the middle."""
    with pack.open("r+b") as file:
        file.seek(pack.stat().st_size // 2)
        old = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([old[0] ^ 0x55]))


DAMAGES = [cut_short, zeroed, other_bytes]


def every_object(repository: GitRepository) -> list[str]:
    return sorted(visible_objects(repository))


def pack_of(repository: GitRepository, object_ids: list[str]) -> Path:
    """A pack of these objects."""
    stdin = "".join(object_id + "\n" for object_id in object_ids).encode()
    folder = repository.git_dir / "objects" / "pack"
    name = repository.git("pack-objects", "-q", os.fspath(folder / "pack"), stdin=stdin)
    pack = folder / f"pack-{name}.pack"
    pack.chmod(0o600)
    return pack


def remove_pack(pack: Path) -> None:
    """As a person does who goes back to the good copies: not every command of git passes by a damaged one."""
    for path in pack.parent.glob(f"{pack.stem}.*"):
        path.unlink()
    (pack.parent / "multi-pack-index").unlink(missing_ok=True)


def unreadable(repository: GitRepository, object_ids: list[str]) -> list[str]:
    """The objects whose content git cannot give."""
    return [one for one in object_ids if not _is_whole(repository, one)]


def _is_whole(repository: GitRepository, object_id: str) -> bool:
    kind = repository.git("cat-file", "-t", object_id, check=False)
    return bool(kind) and bool(repository.git_bytes("cat-file", kind, object_id, check=False))


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "one.git")
    for number in range(4):
        repository.commit({"a": os.urandom(NOISE_BYTES), "b": f"{number}"})
    return repository


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "task", [Task.LOOSE_OBJECTS, Task.GEOMETRIC_REPACK, Task.MULTI_PACK_BITMAP, Task.INCREMENTAL_REPACK]
)
def test_loose_objects_stay_whose_packed_copies_are_damaged(
    repository: GitRepository, task: Task, damage: Callable[[Path], None]
) -> None:
    object_ids = every_object(repository)
    damaged = pack_of(repository, object_ids)
    damage(damaged)
    result = run(repository, task)
    if result.outcome is Outcome.DONE:
        # git could not open the pack at all, and wrote one of the same objects in its place
        assert "corrupt" not in repository.git("fsck", "--full")
    else:
        # where the tip of a branch is unreadable in its pack, a rule refuses before
        assert result.outcome is Outcome.REFUSED or result.reason is Reason.CORRUPT
        remove_pack(damaged)
    assert unreadable(repository, object_ids) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_loose_objects_of_a_member_stay_whose_packed_copies_are_damaged(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    _, member = make_lender_and_member(tmp_path)
    member.commit({"own": os.urandom(NOISE_BYTES)})
    member.commit({"own": os.urandom(NOISE_BYTES)})
    object_ids = every_object(member)
    damaged = pack_of(member, object_ids)
    damage(damaged)
    assert run(member, Task.LOOSE_OBJECTS).outcome in {Outcome.FAILED, Outcome.DONE}
    if run(member, Task.LOOSE_OBJECTS).outcome is Outcome.FAILED:
        remove_pack(damaged)
    assert unreadable(member, object_ids) == []


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("task", [Task.INCREMENTAL_REPACK, Task.GEOMETRIC_REPACK])
def test_a_pack_stays_whose_objects_are_damaged_in_a_newer_one(
    repository: GitRepository, task: Task, damage: Callable[[Path], None]
) -> None:
    object_ids = every_object(repository)
    good = pack_of(repository, object_ids)
    past_s = time.time() - 3600
    os.utime(good, (past_s, past_s))
    newer = pack_of(repository, [*object_ids, repository.blob(b"one more")])
    repository.git("prune-packed")
    damage(newer)
    before = unreadable(repository, object_ids)
    for _ in range(2):
        assert run(repository, task).outcome in {Outcome.FAILED, Outcome.REFUSED}
    assert good.exists()
    assert unreadable(repository, object_ids) == before
    remove_pack(newer)
    assert unreadable(repository, object_ids) == []


@pytest.mark.parametrize("task", [Task.FULL_REPACK, Task.BITMAP])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_full_repack_takes_the_good_copies(
    repository: GitRepository, task: Task, damage: Callable[[Path], None]
) -> None:
    object_ids = every_object(repository)
    damage(pack_of(repository, object_ids))
    result = run(repository, task)
    if result.outcome is Outcome.REFUSED:
        # the tip of a branch is unreadable in its pack: nothing is started
        assert result.commands == ()
        return
    assert result.outcome is Outcome.DONE, result.sentence
    assert unreadable(repository, object_ids) == []
    assert complaints(repository) == ""


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_full_repack_does_not_trust_a_kept_pack(repository: GitRepository, damage: Callable[[Path], None]) -> None:
    object_ids = every_object(repository)
    pack = pack_of(repository, object_ids)
    pack.with_suffix(".keep").write_text("kept by a person\n")
    damage(pack)
    assert run(repository, Task.FULL_REPACK).outcome in {Outcome.FAILED, Outcome.REFUSED}
    remove_pack(pack)
    assert unreadable(repository, object_ids) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_member_keeps_what_is_damaged_in_its_lender(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    lender, member = make_lender_and_member(tmp_path)
    for number in range(3):
        lender.commit({"a": os.urandom(NOISE_BYTES), "b": f"{number}"})
    lender.repack()
    (pack,) = lender.packs()
    object_ids = every_object(member)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    pack_of(member, every_object(lender))
    pack.chmod(0o600)
    damage(pack)
    result = run(member, Task.DEDUPLICATE)
    assert result.outcome in {Outcome.FAILED, Outcome.REFUSED}
    remove_pack(pack)
    assert unreadable(member, object_ids) == []


def test_a_few_doubled_objects_are_read_alone_and_a_damaged_one_among_them_is_found(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    blobs = [repository.blob(os.urandom(3_000)) for _ in range(40)]
    pack = pack_of(repository, blobs)
    repository.git("prune-packed")
    with pack.open("rb") as file:
        content = file.read()
    # the last of the pack, so that where it lies is known
    listed = repository.git("show-index", stdin=pack.with_suffix(".idx").read_bytes()).splitlines()
    offset, object_id = max((int(line.split()[0]), line.split()[1]) for line in listed)
    pack_of(repository, [object_id])
    assert run(repository, Task.INCREMENTAL_REPACK).outcome is Outcome.DONE
    pack_of(repository, [object_id])
    pack.write_bytes(content[: offset + 1500] + b"\0\0\0\0" + content[offset + 1504 :])
    result = run(repository, Task.INCREMENTAL_REPACK)
    assert result.outcome is Outcome.FAILED, result.sentence
    assert "damaged" in result.sentence
    remove_pack(pack)
    assert unreadable(repository, [object_id]) == []


def test_damage_of_what_is_there_once_stops_nothing_that_removes_no_copy_of_it(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    pack = pack_of(repository, [repository.blob(os.urandom(NOISE_BYTES)) for _ in range(3)])
    repository.git("prune-packed")
    other_bytes(pack)
    repository.commit({"new": "1"})
    assert run(repository, Task.LOOSE_OBJECTS).outcome is Outcome.DONE


def test_what_git_says_while_it_writes_an_index_counts_though_it_ends_well(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.repack()
    wrapper = tmp_path / "git"
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *"multi-pack-index write"*) echo "error: it is broken" >&2;; esac\nexec {GIT} "$@"\n'
    )
    wrapper.chmod(0o755)
    wrapped = find_git(os.fspath(wrapper))
    monkeypatch.setattr(task_runs, "program", lambda: wrapped)
    result = run(repository, Task.INCREMENTAL_REPACK)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT)
    assert "it is broken" in result.sentence
    assert not any("expire" in command.argv for command in result.commands)
