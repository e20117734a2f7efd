"""Facts about `objects/pack`, with git as the oracle."""

import os
import time
from pathlib import Path

import pytest

from gitdash.inspection import repository as inspection_repository
from gitdash.model.inspection import PackFacts, PackFile
from gitdash.model.repository import Unreadable
from tests.inspection.conftest import Inspect
from tests.inspection.oracle import count_objects, needs_git
from tests.support.repositories import GitRepository


def packs_of(inspect: Inspect, repository: GitRepository) -> PackFacts:
    packs = inspect(repository).packs
    assert isinstance(packs, PackFacts)
    return packs


def only_pack(inspect: Inspect, repository: GitRepository) -> PackFile:
    (pack,) = packs_of(inspect, repository).packs
    return pack


@pytest.mark.oracle
def test_an_empty_repository_has_zero_packs(repository: GitRepository, inspect: Inspect) -> None:
    packs = packs_of(inspect, repository)
    assert (packs.count, packs.bytes, packs.index_bytes, packs.packs) == (0, 0, 0, ())
    assert count_objects(repository)["packs"] == 0


@pytest.mark.oracle
def test_packs_and_their_objects_are_what_git_counts(repository: GitRepository, inspect: Inspect) -> None:
    for number in range(3):
        repository.commit({f"f{number}": f"{number}" * 100})
        repository.git("repack", "-d", "-q")
    packs, counted = packs_of(inspect, repository), count_objects(repository)
    assert packs.count == counted["packs"] == 3
    assert sum(pack.object_count or 0 for pack in packs.packs) == counted["in-pack"]
    assert (packs.bytes + packs.index_bytes) // 1024 == counted["size-pack"]
    assert packs.outside_midx_count == 3
    assert packs.garbage_count == counted["garbage"] == 0
    assert [pack.name for pack in packs.packs] == [path.stem for path in repository.packs()]


@pytest.mark.oracle
@pytest.mark.parametrize("prefix", ["loose-", "from-loose-", "prefetch-1700000000-"])
def test_packs_of_any_prefix_count_as_git_counts_them(repository: GitRepository, inspect: Inspect, prefix: str) -> None:
    repository.commit({"a": "1"})
    repository.repack()
    (pack,) = repository.packs()
    for path in pack.parent.glob(pack.stem + ".*"):
        path.rename(path.with_name(prefix + path.name.removeprefix("pack-")))
    found = only_pack(inspect, repository)
    counted = count_objects(repository)
    assert counted["packs"] == 1
    assert found.object_count == counted["in-pack"] == 3
    assert found.name.startswith(prefix)
    assert packs_of(inspect, repository).garbage_count == counted["garbage"] == 0


def test_kept_cruft_and_promisor_packs_are_told_by_the_files_beside_them(
    repository: GitRepository, inspect: Inspect
) -> None:
    repository.commit({"a": "1"})
    repository.repack()
    (pack,) = repository.packs()
    for suffix in (".keep", ".promisor"):
        pack.with_suffix(suffix).write_bytes(b"")
    found = only_pack(inspect, repository)
    facts = packs_of(inspect, repository)
    assert (found.kept, found.cruft, found.promisor) == (True, False, True)
    assert (facts.kept_count, facts.kept_bytes) == (1, pack.stat().st_size)
    assert facts.promisor_count == 1
    assert facts.garbage_count == 0


@pytest.mark.oracle
def test_a_cruft_pack_is_told_by_its_mtimes_and_keep_wins(sha1_repository: GitRepository, inspect: Inspect) -> None:
    repository = sha1_repository
    repository.commit({"a": "1"})
    repository.blob(b"unreachable")
    repository.git("repack", "--cruft", "-d", "-q")
    facts = packs_of(inspect, repository)
    assert (facts.count, facts.cruft_count) == (2, 1)
    (cruft,) = [pack for pack in facts.packs if pack.cruft]
    assert cruft.object_count == 1
    assert facts.cruft_bytes == cruft.bytes
    assert facts.unreadable_names == ()
    keep = repository.git_dir / "objects" / "pack" / f"{cruft.name}.keep"
    keep.write_bytes(b"mine\n")
    facts = packs_of(inspect, repository)
    assert (facts.cruft_count, facts.kept_count) == (0, 1)


@pytest.mark.parametrize(
    ("content", "by_transfer"),
    [
        (b"receive-pack 123 on host\n", True),
        (b"fetch-pack 123 on host\n", True),
        (b"do not touch\n", False),
        (b"", False),
        (b"receive-packs", False),
    ],
)
def test_keep_files_say_who_wrote_them(
    sha1_repository: GitRepository, inspect: Inspect, content: bytes, by_transfer: bool
) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.repack()
    keep = sha1_repository.packs()[0].with_suffix(".keep")
    keep.write_bytes(content)
    (found,) = packs_of(inspect, sha1_repository).keep_files
    assert (found.name, found.by_transfer) == (keep.name, by_transfer)
    assert found.mtime_s == keep.stat().st_mtime


@pytest.mark.oracle
def test_garbage_is_what_git_calls_garbage(repository: GitRepository, inspect: Inspect) -> None:
    repository.commit({"a": "1"})
    repository.repack()
    folder = repository.git_dir / "objects" / "pack"
    (folder / "tmp_pack_abcdef").write_bytes(b"x" * 100)
    (folder / ".tmp-1234-pack-abc.pack").write_bytes(b"x" * 10)
    (folder / "README").write_bytes(b"x" * 7)
    (folder / "pack-1234.foo").write_bytes(b"x" * 3)
    (folder / "folder").mkdir()
    facts = packs_of(inspect, repository)
    counted = count_objects(repository)
    # git hides names that start with a dot as packs, but a pack without index is garbage for it as well
    assert facts.missing_index_names == (".tmp-1234-pack-abc.pack",)
    assert facts.garbage_count == counted["garbage"] - len(facts.missing_index_names)
    assert facts.garbage_bytes == 100 + 7 + 3 + (folder / "folder").stat().st_size
    assert {file.path for file in facts.temporary_files} == {
        "objects/pack/tmp_pack_abcdef",
        "objects/pack/.tmp-1234-pack-abc.pack",
    }


@pytest.mark.oracle
def test_what_a_stopped_repack_left_with_an_index_is_a_pack_and_not_temporary(
    repository: GitRepository, inspect: Inspect
) -> None:
    repository.commit({"a": "1"})
    folder = repository.git_dir / "objects" / "pack"
    listed = repository.git("rev-list", "--objects", "--no-object-names", "--all").encode()
    repository.git("pack-objects", "-q", str(folder / ".tmp-4194305-pack"), stdin=listed + b"\n")
    repository.git("prune-packed")
    facts = packs_of(inspect, repository)
    # git reads it: nothing else has the commit
    assert repository.git("cat-file", "-t", "main") == "commit"
    assert [pack.name.rpartition("-")[0] for pack in facts.packs] == [".tmp-4194305-pack"]
    assert facts.temporary_files == ()


@pytest.mark.oracle
def test_an_index_without_a_pack_is_an_orphan_and_a_pack_without_an_index_is_missing_it(
    repository: GitRepository, inspect: Inspect
) -> None:
    for number in range(2):
        repository.commit({f"f{number}": "1"})
        repository.git("repack", "-d", "-q")
    first, second = repository.packs()
    first.unlink()
    second.with_suffix(".idx").unlink()
    for path in first.parent.glob("*.rev"):
        path.unlink()
    facts = packs_of(inspect, repository)
    assert facts.orphan_index_names == (first.with_suffix(".idx").name,)
    assert facts.missing_index_names == (second.name,)
    (pack,) = facts.packs
    assert (pack.has_index, pack.object_count, pack.index_bytes) == (False, None, 0)
    assert facts.garbage_count == 0
    counted = count_objects(repository)
    assert counted["garbage"] == len(facts.orphan_index_names) + len(facts.missing_index_names)
    assert counted["packs"] == 0


def damage_truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def damage_magic(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(b"XXXX" + content[4:])


def damage_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def damage_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.safety
@pytest.mark.parametrize("suffix", [".pack", ".idx", ".bitmap"])
@pytest.mark.parametrize("damage", [damage_truncate, damage_magic, damage_fifo, damage_link])
def test_one_damaged_file_costs_its_own_cell(
    sha1_repository: GitRepository, inspect: Inspect, suffix: str, damage
) -> None:
    repository = sha1_repository
    repository.commit({"a": "1", "b": "2"})
    repository.repack("--write-bitmap-index")
    path = repository.packs()[0].with_suffix(suffix)
    os.chmod(path, 0o644)
    damage(path)
    inspection = inspect(repository)
    assert any(problem.path.endswith(path.name) for problem in inspection.problems) or (
        suffix == ".pack" and damage is damage_truncate
    )
    facts = inspection.packs
    assert isinstance(facts, PackFacts)
    assert facts.count == 1
    if suffix == ".idx":
        assert facts.packs[0].object_count is None
    if suffix == ".bitmap":
        assert inspection.bitmaps == ()
    assert not isinstance(inspection.loose, Unreadable)
    assert not isinstance(inspection.config, Unreadable)
    assert not isinstance(inspection.disk, Unreadable)


def test_an_index_of_another_pack_is_named(sha1_repository: GitRepository, inspect: Inspect) -> None:
    repository = sha1_repository
    repository.commit({"a": "1"})
    repository.repack()
    (first,) = repository.packs()
    index = first.with_suffix(".idx").read_bytes()
    repository.commit({"b": "2"})
    repository.repack()
    (second,) = repository.packs()
    path = second.with_suffix(".idx")
    os.chmod(path, 0o644)
    path.write_bytes(index)
    (problem,) = [problem for problem in inspect(repository).problems if problem.path.endswith(".idx")]
    assert problem.reason == "the index has 3 objects, the pack 6"
    assert path.name in packs_of(inspect, repository).unreadable_names


@pytest.mark.oracle
@pytest.mark.parametrize("change", ["cut short", "another end"])
def test_a_pack_that_does_not_end_as_its_index_says_is_named_and_git_leaves_it_out(
    sha1_repository: GitRepository, inspect: Inspect, change: str
) -> None:
    sha1_repository.commit({"a": os.urandom(5000)})
    sha1_repository.repack()
    (path,) = sha1_repository.packs()
    content = path.read_bytes()
    os.chmod(path, 0o644)
    path.write_bytes(content[:-1000] if change == "cut short" else content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(AssertionError, match="does not match index"):
        sha1_repository.git("cat-file", "-p", "HEAD^{tree}")
    (problem,) = [problem for problem in inspect(sha1_repository).problems if problem.path.endswith(".pack")]
    assert "cut short" in problem.reason
    assert packs_of(inspect, sha1_repository).unreadable_names == (path.name,)


def test_a_version_1_index_is_read(sha1_repository: GitRepository, inspect: Inspect) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("-c", "pack.indexVersion=1", "repack", "-adq")
    assert only_pack(inspect, sha1_repository).object_count == 3


@pytest.mark.safety
def test_a_pack_folder_that_is_a_file_makes_packs_unreadable(sha1_repository: GitRepository, inspect: Inspect) -> None:
    folder = sha1_repository.git_dir / "objects" / "pack"
    folder.rmdir()
    folder.write_bytes(b"")
    inspection = inspect(sha1_repository)
    assert inspection.packs == Unreadable("objects/pack: not a folder")
    assert not isinstance(inspection.loose, Unreadable)


@pytest.mark.oracle
def test_a_symbolic_link_to_a_pack_folder_is_followed_as_git_does(
    sha1_repository: GitRepository, inspect: Inspect, tmp_path: Path
) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.repack()
    folder = sha1_repository.git_dir / "objects" / "pack"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    facts = packs_of(inspect, sha1_repository)
    assert facts.count == count_objects(sha1_repository)["packs"] == 1
    assert facts.packs[0].object_count == 3


@pytest.mark.safety
def test_a_pack_replaced_between_listing_and_reading_is_found_on_the_second_look(
    sha1_repository: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = sha1_repository
    repository.commit({"a": "1"})
    repository.git("repack", "-d", "-q")
    repository.commit({"b": "2"})
    repository.git("repack", "-d", "-q")
    take = inspection_repository.take_snapshot
    taken = []

    def take_then_repack(*arguments, **more):
        snapshot = take(*arguments, **more)
        taken.append(snapshot)
        if len(taken) == 1:
            repository.repack()
        return snapshot

    monkeypatch.setattr(inspection_repository, "take_snapshot", take_then_repack)
    inspection = inspect(repository)
    assert len(taken) == 2
    assert isinstance(inspection.packs, PackFacts)
    assert [pack.object_count for pack in inspection.packs.packs] == [6]
    assert inspection.problems == ()


@pytest.mark.oracle
def test_the_bitmap_of_a_pack_is_described(repository: GitRepository, inspect: Inspect) -> None:
    repository.commit({"a": "1"})
    repository.git("-c", "pack.writeBitmapHashCache=true", "-c", "pack.writeBitmapLookupTable=true", "repack", "-adbq")
    inspection = inspect(repository)
    (bitmap,) = inspection.bitmaps
    assert (bitmap.source, bitmap.version, bitmap.hash_cache, bitmap.lookup_table) == ("pack", 1, True, True)
    assert bitmap.commit_count == 1
    path = repository.git_dir / "objects" / "pack" / bitmap.name
    assert (bitmap.bytes, bitmap.mtime_s) == (path.stat().st_size, path.stat().st_mtime)
    assert isinstance(inspection.packs, PackFacts)
    assert inspection.packs.packs[0].has_bitmap


def test_the_last_full_repack_is_gitalys_stamp_or_else_the_oldest_pack(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    repository = sha1_repository
    now_s = time.time()
    assert inspect(repository).last_full_repack_s is None
    for number in range(2):
        repository.commit({f"f{number}": "1"})
        repository.git("repack", "-d", "-q")
    first, second = repository.packs()
    repository.age(first, 5000, now_s)
    repository.age(second, 9000, now_s)
    assert inspect(repository).last_full_repack_s == pytest.approx(now_s - 9000)
    second.with_suffix(".keep").write_bytes(b"")
    assert inspect(repository).last_full_repack_s == pytest.approx(now_s - 5000)
    stamp = repository.git_dir / ".gitaly-full-repack-timestamp"
    stamp.write_bytes(b"")
    repository.age(stamp, 70, now_s)
    assert inspect(repository).last_full_repack_s == pytest.approx(now_s - 70)


@needs_git(2, 41)
def test_reverse_indexes_are_seen_and_count_as_derived(sha1_repository: GitRepository, inspect: Inspect) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.repack()
    facts = packs_of(inspect, sha1_repository)
    (reverse_index,) = (sha1_repository.git_dir / "objects" / "pack").glob("*.rev")
    assert facts.packs[0].has_reverse_index
    bitmaps = (sha1_repository.git_dir / "objects" / "pack").glob("*.bitmap")
    assert facts.derived_bytes == reverse_index.stat().st_size + sum(path.stat().st_size for path in bitmaps)


def test_a_reverse_index_asked_for_is_read(sha1_repository: GitRepository, inspect: Inspect) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("-c", "pack.writeReverseIndex=true", "repack", "-adq")
    assert only_pack(inspect, sha1_repository).has_reverse_index
    (path,) = (sha1_repository.git_dir / "objects" / "pack").glob("*.rev")
    os.chmod(path, 0o644)
    path.write_bytes(b"RIDX")
    assert packs_of(inspect, sha1_repository).unreadable_names == (path.name,)


@pytest.mark.safety
def test_names_in_the_pack_folder_print(sha1_repository: GitRepository, inspect: Inspect) -> None:
    folder = os.fsencode(sha1_repository.git_dir / "objects" / "pack")
    for name in (b"/pack-\x1b[31m\xff.pack", b"/pack-\xe2\x80\xae.idx", b"/pack-\x9b.keep", b"/tmp_gitdash_\n"):
        with open(folder + name, "wb"):
            pass
    facts = packs_of(inspect, sha1_repository)
    shown = [pack.name for pack in facts.packs] + [keep.name for keep in facts.keep_files]
    shown += list(facts.orphan_index_names) + [file.path for file in facts.temporary_files]
    assert len(shown) == 4
    assert all(text.isprintable() for text in shown)
