"""Equal fingerprints mean unchanged, and each change of a fact changes the fingerprint."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.inspection.files import FileError
from gitdash.inspection.fingerprint import fingerprint
from gitdash.inspection.watch import PATHS_LIMIT, watched_fingerprint
from tests.inspection.conftest import Inspect
from tests.support.repositories import GitRepository


@pytest.fixture
def settled(tmp_path: Path) -> GitRepository:
    """A repository with a pack, loose objects, references, and all times two days ago."""
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": "1"})
    repository.repack()
    repository.commit({"a": "2"})
    repository.git("pack-refs", "--all")
    repository.git("branch", "topic", "main")
    settle(repository)
    return repository


def settle(repository: GitRepository) -> None:
    now_s = time.time()
    for top, folders, names in os.walk(repository.git_dir, topdown=False):
        for name in [*folders, *names]:
            repository.age(Path(top) / name, 2 * 86_400, now_s)
    repository.age(repository.git_dir, 2 * 86_400, now_s)


def fingerprint_of(repository: GitRepository) -> bytes:
    git_dir = os.fsencode(repository.git_dir)
    return fingerprint(git_dir, git_dir)


def add_loose_object_to_an_existing_shard(repository: GitRepository) -> None:
    objects = repository.git_dir / "objects"
    shard = next(path for path in sorted(objects.iterdir()) if len(path.name) == 2)
    (shard / ("0" * 38)).write_bytes(b"")


def remove_loose_object(repository: GitRepository) -> None:
    objects = repository.git_dir / "objects"
    shard = next(path for path in sorted(objects.iterdir()) if len(path.name) == 2)
    next(shard.iterdir()).unlink()


def edit_in_place(name: str) -> Callable[[GitRepository], None]:
    def edit(repository: GitRepository) -> None:
        path = repository.git_dir / name
        with path.open("r+b") as file:
            first = file.read(1)
            file.seek(0)
            file.write(bytes([first[0] ^ 1]))

    edit.__name__ = f"edit {name} in place"
    return edit


def append_an_alternate(repository: GitRepository) -> None:
    info = repository.git_dir / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text("/nonexistent\n")


def touch(name: str) -> Callable[[GitRepository], None]:
    def create(repository: GitRepository) -> None:
        path = repository.git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    create.__name__ = f"create {name}"
    return create


def repack(repository: GitRepository) -> None:
    repository.repack()


def truncate_a_pack(repository: GitRepository) -> None:
    (path,) = repository.packs()
    os.chmod(path, 0o644)
    os.truncate(path, 20)


CHANGES = [
    add_loose_object_to_an_existing_shard,
    remove_loose_object,
    lambda repository: repository.blob(b"new"),
    edit_in_place("config"),
    edit_in_place("HEAD"),
    edit_in_place("packed-refs"),
    edit_in_place("refs/heads/topic"),
    append_an_alternate,
    touch("shallow"),
    touch("index.lock"),
    touch("objects/pack/pack-1.keep"),
    touch("refs/heads/deep/new"),
    touch("gc.log"),
    touch("modules/a/b/c"),
    repack,
    truncate_a_pack,
    lambda repository: repository.git("pack-refs", "--all"),
    lambda repository: repository.git("commit-graph", "write", "--reachable"),
    lambda repository: (repository.git_dir / "refs" / "heads" / "topic").unlink(),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_changes_it(settled: GitRepository, change: Callable[[GitRepository], object]) -> None:
    before = fingerprint_of(settled)
    assert fingerprint_of(settled) == before
    change(settled)
    assert fingerprint_of(settled) != before


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_shows_without_a_walk(
    settled: GitRepository,
    change: Callable[[GitRepository], object],
    inspect: Inspect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = inspect(settled)
    monkeypatch.chdir(settled.git_dir / "objects")
    assert watched_fingerprint(known.watched, b"") == known.fingerprint
    change(settled)
    assert watched_fingerprint(known.watched, b"") != known.fingerprint


@pytest.mark.safety
@pytest.mark.parametrize("time_s", [2**33, 10_413_792_000], ids=["2242", "2300"])
def test_times_that_nanoseconds_in_64_bits_cannot_say_count(
    settled: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch, time_s: int
) -> None:
    head = settled.git_dir / "HEAD"
    os.utime(head, (time_s, time_s))
    known = inspect(settled)
    monkeypatch.chdir(settled.git_dir / "objects")
    assert watched_fingerprint(known.watched, b"") == known.fingerprint == fingerprint_of(settled)
    os.utime(head, (time_s, time_s + 1))
    assert watched_fingerprint(known.watched, b"") != known.fingerprint
    assert fingerprint_of(settled) != known.fingerprint


def test_a_mode_counts_for_it_decides_whether_a_hook_runs(settled: GitRepository) -> None:
    hook = settled.git_dir / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(b"")
    hook.chmod(0o644)
    before = fingerprint_of(settled)
    hook.chmod(0o755)
    assert fingerprint_of(settled) != before


def without_times(repository: GitRepository) -> None:
    os.utime(repository.git_dir / "refs" / "heads", (0, 0))


def with_objects_elsewhere(repository: GitRepository) -> None:
    (repository.git_dir / "objects").rename(repository.path.parent / "store")
    (repository.git_dir / "objects").symlink_to(repository.path.parent / "store")


def with_more_files_than_are_worth_a_look(repository: GitRepository) -> None:
    folder = repository.git_dir / "logs"
    folder.mkdir()
    for number in range(PATHS_LIMIT):
        (folder / f"{number}").touch()


@pytest.mark.parametrize("change", [without_times, with_objects_elsewhere, with_more_files_than_are_worth_a_look])
def test_only_a_walk_tells_about_what_cannot_be_watched(
    settled: GitRepository, change: Callable[[GitRepository], object], inspect: Inspect
) -> None:
    assert inspect(settled).watched
    change(settled)
    inspection = inspect(settled)
    assert not inspection.watched
    assert inspection.fingerprint == fingerprint_of(settled)


def test_it_is_the_one_that_the_inspection_carries(settled: GitRepository, inspect: Inspect) -> None:
    inspection = inspect(settled)
    assert inspection.fingerprint == fingerprint_of(settled)
    assert inspection.valid_until_s is not None
    assert inspection.valid_until_s > inspection.inspected_at_s


def test_reading_changes_nothing(settled: GitRepository, inspect: Inspect) -> None:
    before = fingerprint_of(settled)
    inspect(settled)
    settled.git("rev-list", "--all", "--objects")
    settled.git("fsck")
    assert fingerprint_of(settled) == before


def test_a_change_of_a_moment_ago_is_not_trusted(settled: GitRepository, inspect: Inspect) -> None:
    settled.blob(b"new")
    fresh = inspect(settled)
    assert fresh.valid_until_s == fresh.inspected_at_s
    later = inspect(settled, now_s=time.time() + 60)
    assert later.valid_until_s is not None
    assert later.valid_until_s > later.inspected_at_s


def test_a_linked_worktree_changes_with_either_directory(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"a": "1"})
    main.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "topic")
    common_dir = os.fsencode(main.git_dir)
    own = common_dir + b"/worktrees/linked"
    seen = {fingerprint(own, common_dir)}
    (main.git_dir / "worktrees" / "linked" / "index.lock").write_bytes(b"")
    seen.add(fingerprint(own, common_dir))
    (main.git_dir / "objects" / "pack" / "x").write_bytes(b"")
    seen.add(fingerprint(own, common_dir))
    assert len(seen) == 3


def test_a_repository_that_is_gone_has_none(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="missing"):
        fingerprint(os.fsencode(tmp_path / "gone"), os.fsencode(tmp_path / "gone"))
