"""One part that fails never costs the others, whatever lies in the repository."""

import os
import random
import threading
import time
from pathlib import Path

import pytest

from gitdash.inspection.references import read_tips
from gitdash.inspection.repository import inspect_repository
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import Inspection, LooseFacts, ObjectFormat, ObjectStore, PackFacts, ReferenceFacts
from gitdash.model.repository import Unreadable
from tests.inspection.conftest import Inspect
from tests.support.repositories import GitRepository


def rich_repository(path: Path) -> GitRepository:
    """A repository with a file of every kind that git 2.39 writes."""
    lender = GitRepository.init(path.with_name("lender.git"))
    repository = GitRepository.init(path)
    for number in range(3):
        repository.commit({"a": f"{number}", "b": "x" * 100})
        repository.git("repack", "-d", "-q")
    repository.git("multi-pack-index", "write", "--bitmap")
    repository.git("commit-graph", "write", "--reachable", "--changed-paths")
    repository.git("pack-refs", "--all")
    repository.commit({"c": "1"})
    repository.borrow_from(lender)
    (repository.git_dir / "shallow").write_text("")
    (repository.git_dir / "gc.log").write_text("warning\n")
    (repository.git_dir / "gc.pid").write_text("1 elsewhere\n")
    (repository.git_dir / "index.lock").write_text("")
    return repository


def all_files(folder: Path) -> list[Path]:
    return sorted(Path(top) / name for top, _, names in os.walk(folder) for name in names)


def test_every_part_of_a_rich_repository_is_read(tmp_path: Path, inspect: Inspect) -> None:
    repository = rich_repository(tmp_path / "r.git")
    inspection = inspect(repository)
    assert inspection.problems == ()
    for part, kind in (
        (inspection.object_store, ObjectStore),
        (inspection.packs, PackFacts),
        (inspection.loose, LooseFacts),
        (inspection.references, ReferenceFacts),
        (inspection.config, ConfigFacts),
        (inspection.disk, DiskFacts),
    ):
        assert isinstance(part, kind)
    found = os.stat(repository.git_dir / "objects")
    assert inspection.object_store == ObjectStore(
        path=os.fsencode((repository.git_dir / "objects").resolve()), device=found.st_dev, inode=found.st_ino
    )


@pytest.mark.safety
@pytest.mark.slow
@pytest.mark.parametrize("replacement", ["fifo", "folder", "link to a device", "dangling link", "empty", "noise"])
def test_any_file_may_be_replaced_by_anything(tmp_path: Path, replacement: str) -> None:
    repository = rich_repository(tmp_path / "r.git")
    noise = random.Random(17)
    for path in all_files(repository.git_dir):
        kept = path.with_name(path.name + ".kept")
        path.rename(kept)
        if replacement == "fifo":
            os.mkfifo(path)
        elif replacement == "folder":
            path.mkdir()
        elif replacement == "link to a device":
            path.symlink_to("/dev/zero")
        elif replacement == "dangling link":
            path.symlink_to("nowhere")
        else:
            path.write_bytes(noise.randbytes(3000) if replacement == "noise" else b"")
        inspection = inspect_repository(
            os.fsencode(repository.path), os.fsencode(repository.path), now_s=time.time(), loose_stale_age_s=1.0
        )
        assert isinstance(inspection, Inspection)
        unreadable = [
            part
            for part in (inspection.packs, inspection.loose, inspection.references, inspection.config, inspection.disk)
            if isinstance(part, Unreadable)
        ]
        assert len(unreadable) <= 1, path
        assert all(problem.reason.isprintable() and problem.path.isprintable() for problem in inspection.problems)
        path.rmdir() if replacement == "folder" else path.unlink()
        kept.rename(path)


@pytest.mark.safety
@pytest.mark.parametrize("folder", ["objects", "objects/pack", "objects/info", "refs", "refs/heads", "hooks", "info"])
@pytest.mark.parametrize("replacement", ["file", "fifo", "link to the root", "link to itself"])
def test_any_folder_may_be_replaced_by_anything(
    sha1_repository: GitRepository, inspect: Inspect, folder: str, replacement: str
) -> None:
    path = sha1_repository.git_dir / folder
    if path.exists():
        path.rename(sha1_repository.git_dir / "kept")
    if replacement == "file":
        path.write_bytes(b"")
    elif replacement == "fifo":
        os.mkfifo(path)
    elif replacement == "link to itself":
        path.symlink_to(path.name)
    elif folder != "objects":
        # the store itself may be anywhere, as with Android's repo; its inner folders are entered but not walked
        path.symlink_to("/proc/self/fdinfo" if folder.startswith("objects") else "/")
    else:
        path.symlink_to("/proc/self/fdinfo")
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.config, ConfigFacts)
    assert isinstance(inspection.disk, DiskFacts)
    assert inspection.disk.bytes < 1 << 20


@pytest.mark.safety
def test_a_folder_without_permission_is_noted(
    sha1_repository: GitRepository, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha1_repository.commit({"a": "1"})
    listdir = os.listdir

    def refuse_packs(path):
        if os.fsencode(path).rstrip(b"/").endswith(b"objects/pack"):
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", refuse_packs)
    inspection = inspect(sha1_repository)
    assert inspection.packs == Unreadable("objects/pack: permission denied")
    assert isinstance(inspection.loose, LooseFacts)
    assert inspection.loose.count == 3
    assert isinstance(inspection.disk, DiskFacts)
    assert inspection.disk.incomplete
    assert [(problem.path, problem.reason) for problem in inspection.problems] == [
        ("objects/pack", "permission denied")
    ]


@pytest.mark.slow
def test_maintenance_meanwhile_costs_no_part(sha1_repository: GitRepository, inspect: Inspect) -> None:
    repository = sha1_repository
    repository.commit({"a": "1"})
    stopped = threading.Event()

    def maintain() -> None:
        for number in range(1_000_000):
            if stopped.is_set():
                return
            repository.commit({"a": f"{number}"})
            repository.git("repack", *(["-adbq"] if number % 2 else ["-dq", "--geometric=2", "--write-midx"]))
            repository.git("pack-refs", "--all")
            repository.git("prune", "--expire=now")

    maintenance = threading.Thread(target=maintain)
    maintenance.start()
    git_dir = os.fsencode(repository.git_dir)
    try:
        deadline_s = time.monotonic() + 2
        while time.monotonic() < deadline_s:
            inspection = inspect(repository)
            for part in (inspection.packs, inspection.loose, inspection.references, inspection.config):
                assert not isinstance(part, Unreadable)
            assert isinstance(inspection.packs, PackFacts)
            assert isinstance(inspection.loose, LooseFacts)
            assert inspection.packs.count + inspection.loose.count > 0
            assert b"refs/heads/main" in dict(read_tips(git_dir, git_dir, ObjectFormat.SHA1).references)
    finally:
        stopped.set()
        maintenance.join()


def test_thousands_of_broken_files_are_summed_up(sha1_repository: GitRepository, inspect: Inspect) -> None:
    folder = sha1_repository.git_dir / "objects" / "pack"
    for number in range(200):
        (folder / f"pack-{number}.pack").write_bytes(b"")
        (folder / f"pack-{number}.idx").write_bytes(b"")
    problems = inspect(sha1_repository).problems
    assert len(problems) == 51
    assert problems[-1].reason == "350 more files could not be read"
    assert sum(problem.file_count for problem in problems) == 400


@pytest.mark.safety
def test_a_repository_at_a_path_of_any_bytes_is_inspected(tmp_path: Path, inspect: Inspect) -> None:
    for name in (b"new\nline", b"\x1b[31m", b"\xff\xfe", "\u202e.git".encode(), b"-rf", b"$HOME", b"[/]"):
        repository = GitRepository.init(tmp_path / os.fsdecode(name))
        inspection = inspect(repository)
        assert isinstance(inspection.object_store, ObjectStore)
        assert inspection.object_store.path == os.fsencode(tmp_path) + b"/" + name + b"/objects"
