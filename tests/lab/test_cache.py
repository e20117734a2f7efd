import contextlib
import mmap
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.inspection.files import cached_bytes, forget_cached
from gitdash.lab.cache import ColdCache
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.measured_git import measured_git
from gitdash.lab.variant import RunContext
from gitdash.model.experiment import CacheState, ExperimentKind
from gitdash.units import human_bytes
from tests.support.fuse_mount import fuse_mount, why_not
from tests.support.lab_requests import request_for
from tests.support.repositories import GIT, GitRepository

CONTENT_BYTES = 3_000_000


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """A repository with one pack of some 3 MB, which is on the disk."""
    repository = GitRepository.init(tmp_path / "a.git")
    repository.commit({"file": os.urandom(CONTENT_BYTES)})
    repository.repack()
    os.sync()
    return repository


def read_bytes_of_a_whole_read(repository: GitRepository) -> int:
    """What git reads from the disk to read the one big blob."""
    measured = measured_git(
        find_git(GIT),
        ["cat-file", "blob", "main:file"],
        RunContext(cancel=threading.Event(), time_limit_s=60.0),
        git_dir=os.fsencode(repository.path),
        answer=len,
    )
    assert measured.answer == CONTENT_BYTES
    assert measured.read_bytes is not None
    return measured.read_bytes


def test_a_cold_run_reads_the_pack_from_the_disk_and_a_warm_one_nothing(
    repository: GitRepository, tmp_path: Path
) -> None:
    cold = ColdCache({os.fsencode(repository.path / "objects"): None}, drop_caches=os.fspath(tmp_path / "none"))
    read_bytes_of_a_whole_read(repository)
    assert read_bytes_of_a_whole_read(repository) < CONTENT_BYTES / 10
    cold.empty()
    found = read_bytes_of_a_whole_read(repository)
    if found < CONTENT_BYTES:
        pytest.skip("this file system does not let go of its pages, or does not count what it reads")
    cold.judge(found, is_trial=False)
    files = sum(path.is_file() for path in (repository.path / "objects").rglob("*"))
    assert cold.note() == f"posix_fadvise(DONTNEED) on {files} files before each run; 1 of 1 run read from the disk"


def test_folders_of_a_variant_are_emptied_instead_of_those_of_the_experiment(
    repository: GitRepository, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    cold = ColdCache({os.fsencode(tmp_path / "other"): None}, drop_caches=os.fspath(tmp_path / "none"))
    cold.empty()
    assert "on 0 files" in cold.note()
    cold.empty([os.fsencode(repository.path / "objects")])
    files = sum(path.is_file() for path in (repository.path / "objects").rglob("*"))
    assert f"on 0 to {files} files before each run" in cold.note()


def test_runs_that_read_nothing_are_called_warm(tmp_path: Path) -> None:
    cold = ColdCache({}, drop_caches=os.fspath(tmp_path / "none"))
    cold.judge(0, is_trial=True)
    cold.empty()
    cold.judge(0, is_trial=False)
    assert cold.note().endswith("it did not work: no run read anything from the disk, so what was timed is warm")


def test_what_is_not_counted_is_called_unknown(tmp_path: Path) -> None:
    cold = ColdCache({}, drop_caches=os.fspath(tmp_path / "none"))
    cold.judge(None, is_trial=True)
    cold.judge(None, is_trial=False)
    assert cold.note().endswith("whether it worked is not known: nothing was counted")


def test_everything_is_dropped_once_a_trial_has_read_nothing(tmp_path: Path) -> None:
    switch = tmp_path / "drop_caches"
    switch.touch()
    cold = ColdCache({}, drop_caches=os.fspath(switch))
    cold.judge(4096, is_trial=True)
    cold.empty()
    assert switch.read_bytes() == b""
    cold.judge(0, is_trial=True)
    cold.empty()
    # proc(5): 3 drops pages, and names and inodes
    assert switch.read_bytes() == b"3\n"
    cold.judge(4096, is_trial=False)
    assert "then /proc/sys/vm/drop_caches" in cold.note()


@pytest.mark.parametrize("type_name", ["fuse.sshfs", "fuse", "fuseblk", "nfs4", "cifs", "9p", "virtiofs"])
@pytest.mark.parametrize("read_bytes", [0, 4096])
def test_what_others_read_for_us_proves_nothing(tmp_path: Path, type_name: str, read_bytes: int) -> None:
    switch = tmp_path / "drop_caches"
    switch.touch()
    cold = ColdCache({b"/nonexistent": type_name}, drop_caches=os.fspath(switch))
    cold.judge(0, is_trial=True)
    cold.empty()
    # what is read now is git's own program
    cold.judge(read_bytes, is_trial=False)
    assert f"whether it worked is not known: on {type_name} it is a program or a server" in cold.note()


@pytest.mark.parametrize("type_name", ["nfs", "ext4", "xfs", "overlay", None])
def test_reads_that_are_counted_although_nothing_else_was_dropped_are_proof(
    tmp_path: Path, type_name: str | None
) -> None:
    cold = ColdCache({b"/nonexistent": type_name}, drop_caches=os.fspath(tmp_path / "none"))
    cold.judge(4096, is_trial=True)
    cold.judge(4096, is_trial=False)
    assert cold.note().endswith("1 of 1 run read from the disk")


@pytest.fixture(params=["ext4", "xfs", "btrfs", "tmpfs", "overlay"])
def mounted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A file system of that type; skipped where it cannot be made or mounted."""
    with mount(request.param, tmp_path) as point:
        yield request.param, point


@contextlib.contextmanager
def mount(kind: str, tmp_path: Path) -> Iterator[Path]:
    point, image = tmp_path / f"mount-{kind}", tmp_path / "image"
    point.mkdir()
    commands: list[list[str | os.PathLike[str]]] = []
    if kind == "tmpfs":
        commands.append(["mount", "-t", "tmpfs", "none", point])
    elif kind == "overlay":
        for name in ("lower", "upper", "work"):
            (tmp_path / name).mkdir()
        layers = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
        commands.append(["mount", "-t", "overlay", "none", "-o", layers, point])
    else:
        image.touch()
        os.truncate(image, 400 * 1024**2)
        commands.append([f"mkfs.{kind}", *(["-F"] if kind == "ext4" else ["-f"]), "-q", image])
        commands.append(["mount", "-o", "loop", image, point])
    for command in commands:
        if shutil.which(command[0], path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
            pytest.skip(f"{command[0]} is not installed")
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"{kind} cannot be mounted here")
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", point], check=True)


@pytest.mark.oracle
def test_runs_are_cold_or_called_warm_on_real_file_systems(mounted: tuple[str, Path], tmp_path: Path) -> None:
    kind, point = mounted
    repository = GitRepository.init(point / "a.git")
    repository.commit({"file": os.urandom(CONTENT_BYTES)})
    repository.repack()
    os.sync()
    request = request_for(repository, tmp_path / "registry", is_cold=True, chosen=("walk",))
    result = EXPERIMENTS[ExperimentKind.SIZE].run(request)
    assert result.filesystem_type == kind
    if kind == "tmpfs":
        assert result.cache is CacheState.WARM
        assert "tmpfs, which is memory itself" in result.cache_note
        return
    assert result.cache is CacheState.COLD
    assert result.cache_note.endswith("2 of 2 runs read from the disk")


HOLDER = """
import mmap, sys
held = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        held.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        sum(held[-1][::4096])
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held_by_another(files: Sequence[Path]) -> Iterator[None]:
    """Have a process map files and touch all their pages, as a git that runs for long does."""
    command = [sys.executable, "-c", HOLDER, *map(os.fspath, files)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield
        process.stdin.close()


def whole_pages(files: Sequence[Path]) -> int:
    return sum(-(-path.stat().st_size // mmap.PAGESIZE) * mmap.PAGESIZE for path in files)


@pytest.mark.oracle
def test_bytes_in_memory_are_those_that_fincore_says(repository: GitRepository) -> None:
    if (fincore := shutil.which("fincore")) is None:
        pytest.skip("fincore is not installed")
    pack = next((repository.path / "objects/pack").glob("*.pack"))
    for is_read in (False, True):
        forget_cached(os.fsencode(pack))
        if is_read:
            with pack.open("rb") as file:
                file.read(mmap.PAGESIZE)
        found = cached_bytes(os.fsencode(pack))
        if found is None:
            pytest.skip("this system does not say what is in memory")
        said = subprocess.run([fincore, "-bnr", "-o", "RES", pack], capture_output=True, check=True, text=True)
        assert found == int(said.stdout)


def test_runs_before_which_files_were_kept_in_memory_are_not_called_cold(tmp_path: Path) -> None:
    with mount("ext4", tmp_path) as point:
        repository = GitRepository.init(point / "a.git")
        repository.commit({"file": os.urandom(CONTENT_BYTES)})
        repository.repack()
        os.sync()
        packs = sorted((repository.path / "objects/pack").glob("*.pack"))
        if cached_bytes(os.fsencode(packs[0])) is None:
            pytest.skip("this system does not say what is in memory")
        cold = ColdCache({os.fsencode(repository.path / "objects"): "ext4"}, drop_caches=os.fspath(tmp_path / "none"))
        with held_by_another(packs):
            cold.empty()
            cold.judge(4096, is_trial=False)
        kept = human_bytes(whole_pages(packs))
        assert cold.note().endswith(
            f"it did not work: before 1 of 1 run up to {kept} of the files were still in memory, as what a process has"
            " mapped is, so what was timed is not cold"
        )
        cold.empty()
        cold.judge(4096, is_trial=False)
        assert "; 1 of 2 runs read from the disk; before 1 of 2 runs up to " in cold.note()


def test_a_lender_in_memory_is_named_and_the_rest_is_driven_out(repository: GitRepository, tmp_path: Path) -> None:
    with mount("tmpfs", tmp_path) as point:
        lender = GitRepository.init(point / "lender.git")
        lender.commit({"lent": "lent"})
        repository.borrow_from(lender)
        request = request_for(repository, tmp_path / "registry", is_cold=True, chosen=("walk",))
        result = EXPERIMENTS[ExperimentKind.SIZE].run(request)
        assert result.cache is CacheState.COLD
        assert "; what lies on tmpfs is in memory for ever, and stayed there" in result.cache_note


def test_a_lender_on_a_disk_is_driven_out_although_the_borrower_is_in_memory(
    repository: GitRepository, tmp_path: Path
) -> None:
    with mount("tmpfs", tmp_path) as point:
        borrower = GitRepository.init(point / "borrower.git")
        borrower.borrow_from(repository)
        borrower.git("update-ref", "refs/heads/main", repository.git("rev-parse", "main"))
        request = request_for(borrower, tmp_path / "registry", is_cold=True, chosen=("walk",))
        result = EXPERIMENTS[ExperimentKind.SIZE].run(request)
        assert result.cache is CacheState.COLD
        files = sum(path.is_file() for path in (repository.path / "objects").rglob("*"))
        assert result.cache_note.startswith(f"posix_fadvise(DONTNEED) on {files} files before each run")


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_runs_behind_fuse_are_not_said_to_be_cold(tmp_path: Path) -> None:
    with fuse_mount(tmp_path, negative_timeout_s=60.0) as mount:
        repository = GitRepository.init(mount.path / "a.git")
        repository.commit({"file": "one\n"})
        request = request_for(repository, tmp_path / "registry", is_cold=True, chosen=("walk",))
        result = EXPERIMENTS[ExperimentKind.SIZE].run(request)
    assert "whether it worked is not known: on fuse" in result.cache_note


@pytest.mark.safety
def test_a_fifo_in_a_store_does_not_hang_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pack-1.pack")
    cold = ColdCache({os.fsencode(tmp_path): None}, drop_caches=os.fspath(tmp_path / "none"))
    cold.empty()
    assert "on 0 files" in cold.note()
