"""Leaving the lenders: whole afterwards, whole at every moment on the way, and back if it does not work."""

import os
import shutil
import signal
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gitdash.maintenance import unlinking, work, writing
from gitdash.maintenance.writing import rename_file
from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support.chaos import in_child, small_volume
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GitRepository
from tests.support.task_runs import make_lender_and_member, run

pytestmark = [pytest.mark.safety, pytest.mark.oracle]


def alternates_of(repository: GitRepository) -> Path:
    return repository.git_dir / "objects" / "info" / "alternates"


def backups_of(repository: GitRepository) -> list[Path]:
    return list(alternates_of(repository).parent.glob("alternates.gitdash-backup-*"))


def chain(folder: Path) -> tuple[GitRepository, GitRepository, GitRepository]:
    """A member whose lender borrows, too; each has packed and loose objects, and unreachable ones."""
    lender, middle = make_lender_and_member(folder)
    lender.repack("--keep-unreachable")
    lender.commit({"a": "loose in the lender"})
    lender.blob(b"unreachable in the lender")
    middle.git("repack", "-d", "-q", "-l")
    middle.commit({"own": "loose in the middle"})
    member = GitRepository.init(folder / "last.git")
    member.borrow_from(middle, relative=True)
    for name in ("main", "keep"):
        member.git("update-ref", f"refs/heads/{name}", middle.git("rev-parse", name))
    member.git("update-ref", "refs/heads/lent", lender.git("rev-parse", "main"))
    member.clock_s = middle.clock_s
    member.commit({"own": "of the last"})
    grow_old(lender, middle, member)
    return lender, middle, member


def test_everything_is_here_and_the_lenders_may_go(tmp_path: Path) -> None:
    lender, middle, member = chain(tmp_path)
    before = visible_objects(member)
    files = {path: path.stat().st_mtime for path in lender.git_dir.rglob("objects/**/*") if path.is_file()}
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.DONE, result.sentence
    assert not alternates_of(member).exists()
    assert backups_of(member)[0].read_text() == "../../member.git/objects\n"
    assert visible_objects(member) == before
    assert {path: path.stat().st_mtime for path in files} == files
    for repository in (lender, middle):
        shutil.rmtree(repository.path)
    assert not complaints(member)


def test_links_take_no_room_and_keep_their_age(tmp_path: Path) -> None:
    lender, _, member = chain(tmp_path)
    run(member, Task.UNLINK)
    pack = lender.packs()[0]
    linked = member.git_dir / "objects" / "pack" / pack.name
    assert linked.samefile(pack)
    assert linked.with_suffix(".idx").samefile(pack.with_suffix(".idx"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_across_file_systems_it_copies(tmp_path: Path) -> None:
    with small_volume(tmp_path / "volume", 8 << 20) as volume:
        if volume is None:
            pytest.skip("no file system can be mounted here")
        lender, _, member = chain(tmp_path)
        shutil.copytree(member.path, volume / "last.git")
        moved = GitRepository(volume / "last.git")
        alternates_of(moved).write_text(f"{tmp_path}/member.git/objects\n")
        before = visible_objects(moved)
        result = run(moved, Task.UNLINK)
        assert result.outcome is Outcome.DONE, result.sentence
        assert "copied: no links could be made" in result.sentence
        pack = lender.packs()[0]
        copy = moved.git_dir / "objects" / "pack" / pack.name
        assert copy.read_bytes() == pack.read_bytes()
        assert copy.stat().st_mtime == pack.stat().st_mtime
        assert visible_objects(moved) == before
        assert not complaints(moved)


def test_a_kill_at_any_moment_leaves_a_whole_repository(tmp_path: Path) -> None:
    template = tmp_path / "template"
    template.mkdir()
    chain(template)
    moments = 0
    while True:
        folder = tmp_path / f"kill{moments}"
        shutil.copytree(template, folder)
        member = GitRepository(folder / "last.git")
        alternates_of(GitRepository(folder / "member.git")).write_text("../../lender.git/objects\n")
        objects = visible_objects(member)
        with in_child(partial(run_and_die, member, moments)):
            pass
        assert not complaints(member), moments
        assert visible_objects(member) == objects, moments
        if backups_of(member) and not (folder / "last.git/objects/maintenance.lock").exists():
            break
        if moments % 4 == 0:
            again = run(member, Task.UNLINK) if alternates_of(member).exists() else None
            assert again is None or again.outcome is Outcome.DONE, (moments, again)
            for name in ("lender.git", "member.git"):
                shutil.rmtree(folder / name)
            assert not complaints(member), moments
        moments += 1
    assert moments > 15


def run_and_die(member: GitRepository, moment: int) -> None:
    """Unlink, and be killed right before the given one of all acts that write or run git."""
    left = [moment]

    def counted(function):  # type: ignore[no-untyped-def]
        def call(*arguments, **options):  # type: ignore[no-untyped-def]
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return function(*arguments, **options)

        return call

    for name in ("link_file", "make_folder", "rename_file", "settle"):
        setattr(unlinking, name, counted(getattr(writing, name)))
    work.run_git = counted(work.run_git)
    run(member, Task.UNLINK)


def test_what_is_not_enough_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk that is deceived, and git's own check after the switch, which is not."""
    _, _, member = chain(tmp_path)
    monkeypatch.setattr(unlinking, "link_file", lambda *_: 0)
    monkeypatch.setattr(unlinking, "verify_alone", lambda _: None)
    result = run(member, Task.UNLINK)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT), result.sentence
    assert alternates_of(member).read_text() == "../../member.git/objects\n"
    assert not backups_of(member)
    assert not complaints(member)


def test_without_the_objects_it_does_not_even_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, member = chain(tmp_path)
    monkeypatch.setattr(unlinking, "link_file", lambda *_: 0)
    switches: list[object] = []
    monkeypatch.setattr(unlinking, "rename_file", lambda *names: switches.append(names))
    result = run(member, Task.UNLINK)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT)
    assert "without the lenders something is missing" in result.sentence
    assert not switches


@pytest.mark.parametrize("where", ["reflog", "index"])
def test_what_only_a_reflog_or_an_index_names_is_missed_before_the_switch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A kill in the middle would leave it broken: the lender has it in a pack of a name that is not linked."""
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"a": "1"})
    lender.repack()
    tip = lender.commit({"a": "2"}, reference="refs/heads/other")
    blob = lender.git("rev-parse", "other:a")
    member = GitRepository.init(tmp_path / "member", bare=False)
    member.borrow_from(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    if where == "reflog":
        member.git("update-ref", "--create-reflog", "-m", "there", "refs/heads/x", tip)
        member.git("update-ref", "-m", "back", "refs/heads/x", "main")
    else:
        member.git("update-index", "--add", "--cacheinfo", f"100644,{blob},a")
    known = set((lender.git_dir / "objects/pack").iterdir())
    lender.git("repack", "-d", "-q")
    for path in set((lender.git_dir / "objects/pack").iterdir()) - known:
        path.rename(path.with_name(f".tmp-1-{path.name}"))
    monkeypatch.setattr(unlinking, "rename_file", partial(pytest.fail, "the alternates file was set aside"))
    result = run(member, Task.UNLINK)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT)
    assert "without the lenders something is missing" in result.sentence
    assert not complaints(member)


def test_a_pack_of_the_same_name_with_other_bytes_is_no_pack_of_the_lender(tmp_path: Path) -> None:
    lender, _, member = chain(tmp_path)
    pack = lender.packs()[0]
    wrong = member.git_dir / "objects" / "pack" / pack.name
    wrong.write_bytes(b"PACK" + b"\0" * 100)
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert "with another content" in result.sentence
    assert alternates_of(member).exists()


def test_marks_of_transfers_and_temporary_files_do_not_come_along(tmp_path: Path) -> None:
    lender, _, member = chain(tmp_path)
    pack = lender.packs()[0]
    pack.with_suffix(".keep").write_bytes(b"fetch-pack 1 on host")
    (pack.parent / "tmp_pack_x").write_bytes(b"x")
    (pack.parent / ".tmp-1-pack-x.pack").write_bytes(b"x")
    grow_old(lender, age_s=3600)
    assert run(member, Task.UNLINK).outcome is Outcome.DONE
    names = {path.suffix for path in (member.git_dir / "objects" / "pack").iterdir()}
    assert names <= {".pack", ".idx", ".rev"}
    assert not complaints(member)


@pytest.mark.safety
def test_a_link_in_the_lender_is_not_followed(tmp_path: Path) -> None:
    lender, _, member = chain(tmp_path)
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (lender.git_dir / "objects" / "ab").mkdir(exist_ok=True)
    (lender.git_dir / "objects" / "ab" / ("c" * 38)).symlink_to(secret)
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.REFUSED
    assert "a symbolic link" in result.sentence
    assert alternates_of(member).exists()
    assert not complaints(member)


@pytest.mark.parametrize("moment", ["before", "at the rename"])
def test_lenders_that_are_added_meanwhile_are_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Another lender is named after all that is lent was linked; at the rename, after the last look, too."""
    _, _, member = chain(tmp_path)
    other = GitRepository.init(tmp_path / "other.git")
    name, original = ("verify_alone", unlinking.verify_alone) if moment == "before" else ("rename_file", rename_file)
    calls: list[object] = []

    def add_lender(*arguments: object) -> None:
        if not calls:
            with alternates_of(member).open("a") as file:
                file.write(f"{other.path}/objects\n")
        calls.append(arguments)
        original(*arguments)

    monkeypatch.setattr(unlinking, name, add_lender)
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert "alternates changed" in result.sentence
    assert f"{other.path}/objects" in alternates_of(member).read_text()
    assert not backups_of(member)


def test_a_commit_graph_that_stands_on_the_lenders_comes_along(tmp_path: Path) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.git("commit-graph", "write", "--reachable", "--split")
    member.git("commit-graph", "write", "--reachable", "--split=no-merge")
    layers = (member.git_dir / "objects/info/commit-graphs/commit-graph-chain").read_text().split()
    assert len(layers) == 2
    assert run(member, Task.UNLINK).outcome is Outcome.DONE
    shutil.rmtree(lender.path)
    member.git("commit-graph", "verify")
    assert not complaints(member)


def member_with_pack_of_lender(folder: Path) -> tuple[Path, Path, GitRepository, str]:
    """The pack of both, by its path there and here, a member that reads a large blob of it, and the blob."""
    lender, member = make_lender_and_member(folder)
    blob = lender.blob(bytes(range(256)) * 400)
    lender.commit({"large": "x"}, reference="refs/heads/large")
    tree = lender.git("mktree", stdin=f"100644 blob {blob}\tlarge\n".encode())
    commit = lender.git("commit-tree", "-m", "large", tree)
    lender.git("update-ref", "refs/heads/large", commit)
    lender.repack()
    member.git("update-ref", "refs/heads/large", commit)
    pack = lender.packs()[0]
    own = member.git_dir / "objects" / "pack" / pack.name
    own.parent.mkdir(exist_ok=True)
    for suffix in (".pack", ".idx"):
        shutil.copy(pack.with_suffix(suffix), own.with_suffix(suffix))
        own.with_suffix(suffix).chmod(0o644)
    grow_old(lender, member)
    return pack, own, member, blob


def offset_in(pack: Path, repository: GitRepository, object_id: str) -> int:
    listed = repository.git("verify-pack", "-v", os.fspath(pack.with_suffix(".idx")))
    return next(int(line.split()[4]) for line in listed.splitlines() if line.startswith(object_id))


def damage(path: Path, offset: int, *, length: int = 40) -> None:
    data = bytearray(path.read_bytes())
    data[offset : offset + length] = bytes(255 - byte for byte in data[offset : offset + length])
    path.write_bytes(data)


def test_a_damaged_pack_does_not_stand_for_the_lenders_of_the_same_name(tmp_path: Path) -> None:
    pack, own, member, blob = member_with_pack_of_lender(tmp_path)
    damage(own, offset_in(pack, member, blob) + 60)
    content = member.git("cat-file", "blob", blob)
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.REFUSED, result.sentence
    assert f"pack/{own.name} is here with another content" in result.sentence
    assert member.git("cat-file", "blob", blob) == content
    assert alternates_of(member).exists()


def test_a_damaged_index_does_not_stand_for_the_lenders_of_the_same_name(tmp_path: Path) -> None:
    _, own, member, blob = member_with_pack_of_lender(tmp_path)
    listed = [
        line.split()[:2] for line in member.git("show-index", stdin=own.with_suffix(".idx").read_bytes()).splitlines()
    ]
    place = [object_id for _, object_id in listed].index(blob)
    # gitformat-pack(5), version 2: header, fan-out, ids, checksums, and then the offsets; one byte of that of the blob
    damage(own.with_suffix(".idx"), 8 + 1024 + 24 * len(listed) + 4 * place + 3, length=1)
    content = member.git("cat-file", "blob", blob)
    result = run(member, Task.UNLINK)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT), result.sentence
    assert alternates_of(member).exists()
    assert member.git("cat-file", "blob", blob) == content


def test_an_index_that_another_git_wrote_is_as_good(tmp_path: Path) -> None:
    pack, own, member, blob = member_with_pack_of_lender(tmp_path)
    own.with_suffix(".idx").unlink()
    member.git("index-pack", "--index-version=1", os.fspath(own))
    assert own.with_suffix(".idx").read_bytes() != pack.with_suffix(".idx").read_bytes()
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.DONE, result.sentence
    shutil.rmtree(tmp_path / "lender.git")
    assert member.git("cat-file", "-t", blob) == "blob"
    assert not complaints(member)


@pytest.mark.parametrize("is_damaged", [True, False])
def test_a_damaged_loose_object_does_not_stand_for_the_lenders(tmp_path: Path, is_damaged: bool) -> None:
    lender, member = make_lender_and_member(tmp_path)
    blob = lender.blob(b"x" * 5000)
    lent = lender.git_dir / "objects" / blob[:2] / blob[2:]
    own = member.git_dir / "objects" / blob[:2] / blob[2:]
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(lent.read_bytes()[:-8] if is_damaged else zlib.compress(b"blob 5000\0" + b"x" * 5000, 0))
    assert own.read_bytes() != lent.read_bytes()
    result = run(member, Task.UNLINK)
    if is_damaged:
        assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT), result.sentence
        assert f"objects/{blob[:2]}/{blob[2:]} is damaged here" in result.sentence
        assert alternates_of(member).exists()
    else:
        assert result.outcome is Outcome.DONE, result.sentence
        assert member.git("cat-file", "blob", blob) == "x" * 5000


def test_alternates_that_somebody_writes_during_the_walk_are_kept_and_the_backup_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, member = chain(tmp_path)
    monkeypatch.setattr(unlinking, "link_file", lambda *_: 0)
    monkeypatch.setattr(unlinking, "verify_alone", lambda _: None)
    require = unlinking._require_content

    def write_another(*arguments: Any) -> None:
        require(*arguments)
        alternates_of(member).write_text("/elsewhere/objects\n")

    monkeypatch.setattr(unlinking, "_require_content", write_another)
    result = run(member, Task.UNLINK)
    assert result.outcome is Outcome.FAILED
    assert result.reason is not Reason.LOCK_HELD
    (backup,) = backups_of(member)
    assert "somebody wrote an alternates file meanwhile" in result.sentence
    assert f"the one before is objects/info/{backup.name}" in result.sentence
    assert alternates_of(member).read_text() == "/elsewhere/objects\n"


def test_half_of_a_pack_that_the_lender_gives_up_meanwhile_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lender, member = make_lender_and_member(tmp_path)
    lender.repack()
    grow_old(lender, member)
    (pack,) = lender.packs()
    pack.with_suffix(".keep").write_text("kept by a person\n")
    before_index = sorted({".keep", ".pack", *(part.suffix for part in pack.parent.glob(f"{pack.stem}.rev"))})
    link = unlinking.link_file
    there: list[list[str]] = []

    def gone_for_a_moment(source: bytes, target: bytes, path: bytes) -> int:
        there.append(sorted(part.suffix for part in (member.git_dir / "objects/pack").glob(f"{pack.stem}.*")))
        if path.endswith(b".idx") and there.count(before_index) == 1:
            raise FileNotFoundError
        return link(source, target, path)

    monkeypatch.setattr(unlinking, "link_file", gone_for_a_moment)
    assert run(member, Task.UNLINK).outcome is Outcome.DONE
    # the next round begins with nothing of it, not even with the mark that would keep it for ever
    moment = there.index(before_index)
    assert there[moment + 1 : moment + 3] == [[], [".keep"]]
    assert not complaints(member)
