import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gitdash.lab import copies
from gitdash.lab.copies import sweep_copies, throw_away_copy
from gitdash.lab.copying import ThrowAwayCopy
from gitdash.lab.request import ExperimentError
from tests.support.fetching import report_of
from tests.support.repositories import GIT, GitRepository, clean_environment, git_version

FORGED = "ab" * 16
HOLDER = """
import os, signal, sys
from gitdash.lab.copies import throw_away_copy
from tests.support.fetching import report_of

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, interrupt)
with throw_away_copy(report_of(sys.argv[1]), room_needed_bytes=0, registry_dir=os.fsencode(sys.argv[2])) as copy:
    print(os.fsdecode(copy.git_dir), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def original(tmp_path: Path) -> GitRepository:
    """A repository with a lender, a pack with a bitmap, a commit-graph, loose objects, branches and a tag."""
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"lent": b"lent\n" * 100})
    lender.repack()
    repository = GitRepository.init(tmp_path / "fleet" / "original.git")
    repository.borrow_from(lender, relative=True)
    for number in range(5):
        repository.commit({"file": f"{number}\n", "other": f"{number * 7}\n"})
    repository.repack("--write-bitmap-index")
    repository.git("commit-graph", "write", "--reachable")
    repository.git("pack-refs", "--all")
    repository.commit({"file": "loose\n"}, reference="refs/heads/topic/one")
    repository.git("tag", "-a", "-m", "tag", "v1", "main")
    repository.git("config", "core.fsmonitor", "touch /tmp/never")
    return repository


def state_of(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Mode, inode, time and content of everything below a folder."""
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(parent, name)
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[str(path)] = (status.st_mode, status.st_ino, status.st_mtime_ns, content)
    return found


def place_of(copy: ThrowAwayCopy) -> bytes:
    """Where the folder of a copy lies."""
    return os.path.dirname(os.path.dirname(copy.git_dir))


def in_copy(git_dir: bytes, *arguments: str) -> str:
    command = [GIT, f"--git-dir={os.fsdecode(git_dir)}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=clean_environment()).stdout


@pytest.mark.oracle
def test_a_copy_is_complete(original: GitRepository, tmp_path: Path) -> None:
    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=registry) as copy:
        in_copy(copy.git_dir, "fsck", "--strict")
        listing = ("rev-list", "--objects", "--all")
        assert in_copy(copy.git_dir, *listing).rstrip("\n") == original.git(*listing)
        names = ("for-each-ref", "--format=%(refname) %(objectname) %(symref)")
        assert in_copy(copy.git_dir, *names).rstrip("\n") == original.git(*names)
        assert in_copy(copy.git_dir, "symbolic-ref", "HEAD") == "refs/heads/main\n"
        assert in_copy(copy.git_dir, "count-objects", "-v") == original.git("count-objects", "-v") + "\n"


@pytest.mark.oracle
def test_a_copy_shares_its_packs_and_loose_objects_and_nothing_that_changes(
    original: GitRepository, tmp_path: Path
) -> None:
    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=registry) as copy:
        inodes = {path.lstat().st_ino for path in original.path.rglob("*") if path.is_file()}
        shared, own = set(), set()
        for path in Path(os.fsdecode(copy.git_dir)).rglob("*"):
            if path.is_file():
                (shared if path.lstat().st_ino in inodes else own).add(path.name)
        assert {Path(name).suffix for name in shared if name.startswith("pack-")} >= {".pack", ".idx", ".bitmap"}
        assert "commit-graph" in shared
        assert own == {"HEAD", "config", "packed-refs", "alternates", "one", "v1"}


def test_nothing_of_the_originals_config_is_in_a_copy(original: GitRepository, tmp_path: Path) -> None:
    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=registry) as copy:
        assert b"fsmonitor" not in Path(os.fsdecode(copy.git_dir), "config").read_bytes()


def test_a_repack_of_the_copy_leaves_the_original_as_it_was(original: GitRepository, tmp_path: Path) -> None:
    report, before = report_of(original.path), state_of(tmp_path)
    registry = tmp_path / "registry"
    with throw_away_copy(report, room_needed_bytes=0, registry_dir=os.fsencode(registry)) as copy:
        in_copy(copy.git_dir, "repack", "-a", "-d", "-q", "--write-bitmap-index")
        in_copy(copy.git_dir, "pack-refs", "--all")
        in_copy(copy.git_dir, "update-ref", "-d", "refs/heads/main")
        in_copy(copy.git_dir, "multi-pack-index", "write")
        in_copy(copy.git_dir, "commit-graph", "write", "--reachable")
        in_copy(copy.git_dir, "prune-packed")
    registry.rmdir()
    after = state_of(tmp_path)
    assert after == before


def test_a_fetch_into_the_copy_leaves_the_times_of_shared_objects(original: GitRepository, tmp_path: Path) -> None:
    source = GitRepository.init(tmp_path / "source.git")
    for number in range(5):
        source.commit({"file": f"{number}\n", "new": f"{number}\n"})
    report, before = report_of(original.path), state_of(original.path)
    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report, room_needed_bytes=0, registry_dir=registry) as copy:
        in_copy(copy.git_dir, "fetch", "-q", os.fspath(source.path), "refs/heads/*:refs/fetched/*")
        assert state_of(original.path) == before


@pytest.mark.skipif(git_version() < (2, 45), reason="needs git 2.45 for reftables")
@pytest.mark.oracle
def test_a_copy_of_a_sha256_repository_with_reftables_is_complete(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git", object_format="sha256", reference_backend="reftable")
    repository.git("update-ref", "refs/heads/main", "main", check=False)
    tree = repository.git("hash-object", "-t", "tree", "-w", "--stdin")
    commit = repository.git("commit-tree", "-m", "one", tree)
    repository.git("update-ref", "refs/heads/main", commit)
    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report_of(repository.path), room_needed_bytes=0, registry_dir=registry) as copy:
        in_copy(copy.git_dir, "fsck")
        assert in_copy(copy.git_dir, "rev-list", "--all") == commit + "\n"


def test_a_copy_is_gone_after_the_context_and_after_an_error(original: GitRepository, tmp_path: Path) -> None:
    registry, report = os.fsencode(tmp_path / "registry"), report_of(original.path)
    with throw_away_copy(report, room_needed_bytes=0, registry_dir=registry) as copy:
        assert len(os.listdir(registry)) == 2
    assert not os.path.exists(copy.git_dir)
    with pytest.raises(ZeroDivisionError), throw_away_copy(report, room_needed_bytes=0, registry_dir=registry):
        raise ZeroDivisionError
    assert os.listdir(registry) == []


@pytest.fixture
def holder(original: GitRepository, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that holds a copy, and where the copy is."""
    command = [sys.executable, "-c", HOLDER, os.fspath(original.path), os.fspath(tmp_path / "registry")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().rstrip("\n")
        process.kill()


def test_a_copy_is_gone_after_sigterm(holder: tuple["subprocess.Popen[str]", str], tmp_path: Path) -> None:
    process, path = holder
    assert os.path.isdir(path)
    process.send_signal(signal.SIGTERM)
    process.wait(20)
    assert not os.path.exists(path)
    assert os.listdir(tmp_path / "registry") == []


def test_the_copy_of_a_killed_process_is_swept_and_that_of_a_live_one_is_not(
    holder: tuple["subprocess.Popen[str]", str], tmp_path: Path
) -> None:
    process, path = holder
    registry = os.fsencode(tmp_path / "registry")
    assert sweep_copies(registry) == ()
    assert os.path.isdir(path)
    process.kill()
    process.wait(20)
    assert os.path.isdir(path)
    assert sweep_copies(registry) == (os.path.dirname(os.fsencode(path)),)
    assert not os.path.exists(path)
    assert os.listdir(registry) == []


@pytest.mark.safety
def test_a_marker_that_names_a_folder_of_another_kind_removes_nothing(tmp_path: Path) -> None:
    precious, linked = tmp_path / "precious", tmp_path / ".gitdash-lab-link"
    called_so, with_another = tmp_path / ".gitdash-lab-mine", tmp_path / ".gitdash-lab-other"
    for folder in (precious, called_so, with_another):
        folder.mkdir()
        (folder / "work").write_text("mine")
    (precious / "token").write_text(FORGED)
    (with_another / "token").write_text(FORGED[::-1])
    linked.symlink_to(precious)
    registry = tmp_path / "registry"
    registry.mkdir()
    for number, path in enumerate((precious, linked, called_so, with_another, tmp_path / "gone")):
        (registry / f"{number}.copy").write_bytes(marker_of_dead(path))
    before = state_of(tmp_path / "precious"), state_of(called_so), state_of(with_another)
    assert sweep_copies(os.fsencode(registry)) == ()
    assert (state_of(tmp_path / "precious"), state_of(called_so), state_of(with_another)) == before
    assert linked.is_symlink()
    assert os.listdir(registry) == [], "a marker that names nothing of ours is of no use"


def marker_of_dead(path: Path) -> bytes:
    """What a process leaves that has been killed; none has this number."""
    identity = {"process_id": 2**22 - 1, "process_started_at_s": 0.0, "host": os.uname().nodename}
    return msgspec.json.encode({"path": os.fsencode(path), "token": FORGED, **identity})


@pytest.mark.safety
def test_markers_that_say_nothing_go_and_lead_nowhere(tmp_path: Path) -> None:
    registry, outside = tmp_path / "registry", tmp_path / "outside"
    registry.mkdir()
    outside.write_bytes(marker_of_dead(tmp_path / "x"))
    (registry / "broken.copy").write_bytes(b"{")
    (registry / "empty.copy").touch()
    (registry / "zero.copy").symlink_to("/dev/zero")
    (registry / "link.copy").symlink_to(outside)
    os.mkfifo(registry / "fifo.copy")
    (registry / "notes").write_text("no marker")
    (registry / "begun.copy.new").touch()
    assert sweep_copies(os.fsencode(registry)) == ()
    assert {path.name for path in registry.iterdir()} == {"notes", "begun.copy.new"}
    assert outside.exists()


def test_what_was_killed_before_its_token_was_written_is_swept(tmp_path: Path) -> None:
    registry, folder = tmp_path / "registry", tmp_path / ".gitdash-lab-empty"
    registry.mkdir()
    folder.mkdir()
    (registry / "x.copy").write_bytes(marker_of_dead(folder))
    assert sweep_copies(os.fsencode(registry)) == (os.fsencode(folder),)
    assert not folder.exists()
    assert os.listdir(registry) == []


def test_what_cannot_be_removed_is_swept_later(
    original: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=registry) as copy:
        # as a file that is open on NFS leaves one named .nfs… in its folder
        monkeypatch.setattr(copies.shutil, "rmtree", lambda *_, **__: None)
    assert os.path.exists(copy.git_dir)
    monkeypatch.undo()
    monkeypatch.setattr(copies, "is_process_alive", lambda _: False)
    assert sweep_copies(registry) == (os.path.dirname(copy.git_dir),)
    assert os.listdir(registry) == []


def test_without_room_there_is_a_sentence_and_no_copy(original: GitRepository, tmp_path: Path) -> None:
    registry = os.fsencode(tmp_path / "registry")
    with pytest.raises(ExperimentError, match=r"1024 PiB are needed in .* are free"):  # noqa: SIM117
        with throw_away_copy(report_of(original.path), room_needed_bytes=2**60, registry_dir=registry):
            pass
    assert os.listdir(registry) == []


def test_on_another_volume_than_the_markers_the_copy_lies_beside_the_original(
    original: GitRepository, tmp_path: Path
) -> None:
    registry = Path("/dev/shm", f"gitdash-test-{os.getpid()}")
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second volume")
    try:
        before = state_of(original.path)
        with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=os.fsencode(registry)) as copy:
            assert place_of(copy) == os.fsencode(original.path.parent)
            assert len(list(registry.iterdir())) == 1
        assert list(registry.iterdir()) == []
        assert os.listdir(original.path.parent) == ["original.git"]
        assert state_of(original.path) == before
    finally:
        registry.rmdir()


@pytest.mark.parametrize("below", ["deep/inner.git", ".git/modules/part.git"])
def test_on_another_volume_the_copy_of_a_repository_in_another_lies_outside_that(tmp_path: Path, below: str) -> None:
    registry = Path("/dev/shm", f"gitdash-test-{os.getpid()}")
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second volume")
    outer = GitRepository.init(tmp_path / "fleet" / "outer", bare=False)
    inner = GitRepository.init(outer.path / below)
    inner.commit({"file": "content\n"})
    before = state_of(outer.path)
    try:
        with throw_away_copy(report_of(inner.path), room_needed_bytes=0, registry_dir=os.fsencode(registry)) as copy:
            assert place_of(copy) == os.fsencode(tmp_path / "fleet")
            assert state_of(outer.path) == before
    finally:
        registry.rmdir()


def test_no_search_finds_a_copy(original: GitRepository, tmp_path: Path) -> None:
    from gitdash.discovery.exclusion import Exclusion

    registry = os.fsencode(tmp_path / "registry")
    with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=registry) as copy:
        folder = os.path.dirname(copy.git_dir)
        assert Exclusion(()).covers(folder, os.path.basename(folder), os.fsencode(tmp_path))


@pytest.mark.safety
def test_a_store_with_a_fifo_is_not_copied(original: GitRepository, tmp_path: Path) -> None:
    report = report_of(original.path)
    os.mkfifo(original.path / "objects" / "pack" / "pack-1.bitmap")
    with pytest.raises(ExperimentError, match="is a FIFO, and git would open it"):  # noqa: SIM117
        with throw_away_copy(report, room_needed_bytes=0, registry_dir=os.fsencode(tmp_path / "registry")):
            pass


def test_a_folder_for_markers_that_cannot_be_made_is_said(original: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    registry = os.fsencode(tmp_path / "file" / "registry")
    with pytest.raises(ExperimentError, match=r"no copy can be noted in .*: Not a directory"):  # noqa: SIM117
        with throw_away_copy(report_of(original.path), room_needed_bytes=0, registry_dir=registry):
            pass


def test_a_folder_that_cannot_be_written_is_said(
    original: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    report = report_of(original.path)
    monkeypatch.setattr(copies, "fill", refuse)
    with pytest.raises(ExperimentError, match=r"no copy can be made in .*: Operation not permitted"):  # noqa: SIM117
        with throw_away_copy(report, room_needed_bytes=0, registry_dir=os.fsencode(tmp_path / "registry")):
            pass
