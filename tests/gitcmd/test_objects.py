import os
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from gitdash.gitcmd.objects import ObjectReader, measure_lookups, open_reader
from gitdash.gitcmd.runner import GitError, GitFailure, GitProgram, find_git, stop_everything
from gitdash.model.inspection import ObjectFormat
from tests.support.repositories import GIT, GitRepository, git_version


@pytest.fixture(scope="module")
def program() -> GitProgram:
    return find_git(GIT)


def objects_of(repository: GitRepository) -> bytes:
    return os.fsencode(repository.git_dir / "objects")


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_the_reader_knows_what_is_there_and_what_is_not(
    tmp_path: Path, program: GitProgram, object_format: str
) -> None:
    repository = GitRepository.init(tmp_path / "$HOME_x.git", object_format=object_format)
    tip = repository.commit({"a": b"1"})
    repository.repack()
    loose = repository.blob(b"loose")
    with open_reader(program, objects_of(repository), ObjectFormat(object_format), time_limit_s=20) as reader:
        for line in repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines():
            assert reader.has(line.split()[0])
        assert reader.has(loose)
        assert not reader.has("f" * len(tip))


@pytest.mark.skipif(git_version() < (2, 45), reason="no reftable")
def test_how_references_are_stored_does_not_matter(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    tip = repository.commit({"a": b"1"})
    assert measure_lookups(os.fsencode(repository.path), tip, time_limit_s=20, program=program).first_s > 0


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_look_ups_are_timed(tmp_path: Path, program: GitProgram, object_format: str) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format)
    tip = repository.commit({"a": b"1"})
    repository.repack()
    lookups = measure_lookups(os.fsencode(repository.path), tip, time_limit_s=20, program=program)
    assert 0 < lookups.warm_s < 2
    assert 0 < lookups.first_s < 2
    assert 0 < lookups.missing_s < 2


def test_an_object_that_is_missing_cannot_be_timed(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with pytest.raises(GitError, match="missing"):
        measure_lookups(os.fsencode(repository.path), "1" * 40, time_limit_s=20, program=program)
    with pytest.raises(GitError, match="40 or 64 digits"):
        measure_lookups(os.fsencode(repository.path), "HEAD", time_limit_s=20, program=program)


@pytest.mark.safety
def test_a_git_that_hangs_ends_at_the_time_limit(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\nexec sleep 1000\n")
    fake.chmod(0o755)
    program = GitProgram(path=os.fspath(fake), version=(2, 39, 5), version_text="2.39.5")
    started_s = time.monotonic()
    with pytest.raises(GitError, match="did not answer in time") as caught:
        measure_lookups(os.fsencode(repository.path), "1" * 40, time_limit_s=0.5, program=program)
    assert caught.value.kind is GitFailure.TIMED_OUT
    assert time.monotonic() - started_s < 4
    assert not [child for child in psutil.Process().children() if child.name() == "sleep"]


@pytest.mark.safety
def test_twenty_thousand_complaints_do_not_stop_the_reader(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    tip = repository.commit({"a": b"1"})
    info = repository.git_dir / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text("".join(f"/nonexistent/{number}\n" for number in range(20_000)))
    assert measure_lookups(os.fsencode(repository.path), tip, time_limit_s=60, program=program).warm_s > 0


def test_stop_everything_ends_a_reader(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with open_reader(program, objects_of(repository), ObjectFormat.SHA1, time_limit_s=60) as reader:
        assert not reader.has("1" * 40)
        thread = threading.Thread(target=stop_everything)
        thread.start()
        thread.join(5)
        with pytest.raises(GitError, match="was cancelled"):
            reader.has("1" * 40)


def test_a_closed_reader_leaves_no_process_and_no_descriptor(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")

    def use() -> ObjectReader:
        with open_reader(program, objects_of(repository), ObjectFormat.SHA1, time_limit_s=60) as reader:
            reader.has("1" * 40)
        return reader

    use()
    before = os.listdir("/proc/self/fd")
    reader = use()
    assert not psutil.pid_exists(reader.pid)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    with pytest.raises(GitError):
        reader.has("1" * 40)


@pytest.mark.safety
def test_nothing_inherited_reaches_the_reader(
    tmp_path: Path, program: GitProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    other = GitRepository.init(tmp_path / "other.git")
    tip = other.commit({"a": b"1"})
    marker = tmp_path / "marker"
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", os.fspath(other.git_dir / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", os.fspath(other.git_dir / "objects"))
    monkeypatch.setenv("GIT_TRACE2", os.fspath(marker))
    with open_reader(program, objects_of(repository), ObjectFormat.SHA1, time_limit_s=60) as reader:
        assert not reader.has(tip)
    assert not marker.exists()


def test_gitpython_is_imported_when_a_reader_opens_and_not_before() -> None:
    import subprocess

    code = "import sys, gitdash.gitcmd.objects; sys.exit('git' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
