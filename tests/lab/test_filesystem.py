"""The experiment on file operations: on the disk of the tests, and on a FUSE file system whose look-ups take long."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from gitdash.lab import copies, file_operations, filesystem
from gitdash.lab.beside import folder_beside
from gitdash.lab.copies import sweep_copies
from gitdash.lab.patience import make_patiently
from gitdash.lab.request import ExperimentError
from gitdash.lab.variant import Limits
from tests.support.fetching import report_of
from tests.support.fuse_mount import fuse_mount, why_not
from tests.support.lab_requests import files_of, import_objects, request_for
from tests.support.repositories import GitRepository

HOLDER = """
import sys
from pathlib import Path
from gitdash.lab import filesystem
from tests.support.lab_requests import request_for
from tests.support.repositories import GitRepository

def on_run(run):
    print("running", flush=True)
    sys.stdin.read()

filesystem.run(request_for(GitRepository(Path(sys.argv[1])), Path(sys.argv[2]), on_run=on_run))
"""
ENOUGH = Limits(least_runs=5, most_runs=5, budget_s=60)
"""Runs for a verdict."""
NAMES = ["look-up-present", "look-up-absent", "look-up-absent-again", "read-folder", "write"]


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "fleet" / "a.git")
    import_objects(repository, 10)
    return repository


def test_every_operation_is_measured_and_nothing_is_left(repository, tmp_path):
    before = files_of(repository.path)
    result = filesystem.run(request_for(repository, tmp_path / "registry"))
    assert [variant.name for variant in result.variants] == NAMES
    assert all(len(variant.runs) == 2 and variant.summary.minimum_s > 0 for variant in result.variants)
    assert result.winner is None
    assert result.is_complete
    assert files_of(repository.path) == before
    assert os.listdir(tmp_path / "fleet") == ["a.git"]
    assert os.listdir(tmp_path / "registry") == []


def test_result_says_on_which_mount_and_what_a_clone_would_pay(repository, tmp_path):
    result = filesystem.run(request_for(repository, tmp_path / "registry", limits=ENOUGH))
    assert "absent name takes" in result.verdict
    assert sum(note.startswith("Predicted for") for note in result.notes) == 3
    assert any(note.startswith("Mount /") for note in result.notes)
    assert result.filesystem_type is not None


def test_clone_of_a_borrower_is_predicted_with_what_it_borrows(repository, tmp_path):
    member = GitRepository.init(tmp_path / "fleet" / "member.git")
    member.borrow_from(repository)
    stored_count = int(repository.git("rev-list", "--count", "--objects", "--all"))
    result = filesystem.run(request_for(member, tmp_path / "registry"))
    assert any(f"each object: {stored_count} look-ups of absent names" in note for note in result.notes)


def test_a_cancelled_experiment_leaves_nothing(repository, tmp_path):
    cancel = threading.Event()
    result = filesystem.run(
        request_for(repository, tmp_path / "registry", cancel=cancel, on_run=lambda _: cancel.set())
    )
    assert not result.is_complete
    assert os.listdir(tmp_path / "fleet") == ["a.git"]


def test_an_interrupted_experiment_leaves_nothing(repository, tmp_path):
    def interrupt(_run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filesystem.run(request_for(repository, tmp_path / "registry", on_run=interrupt))
    assert os.listdir(tmp_path / "fleet") == ["a.git"]
    assert os.listdir(tmp_path / "registry") == []


def test_the_folder_of_a_killed_experiment_is_swept(repository, tmp_path):
    registry = tmp_path / "registry"
    command = [sys.executable, "-c", HOLDER, repository.path, registry]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as process:
        assert process.stdout.readline() == b"running\n"
        assert len(os.listdir(tmp_path / "fleet")) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(sweep_copies(os.fsencode(registry))) == 1
    assert os.listdir(tmp_path / "fleet") == ["a.git"]
    assert os.listdir(registry) == []


def test_a_list_of_operations_needs_no_folder(repository, tmp_path):
    assert [variant.name for variant in filesystem.variants(request_for(repository, tmp_path))] == NAMES
    assert os.listdir(tmp_path / "fleet") == ["a.git"]


def _until(is_reached, what):
    deadline_s = time.monotonic() + 20
    while not is_reached():
        assert time.monotonic() < deadline_s, what
        threading.Event().wait(0.01)


def test_experiment_ends_with_a_sentence_where_the_file_system_does_not_answer(repository, tmp_path, monkeypatch):
    answers = threading.Event()
    asked = threading.Event()
    look_up = file_operations.look_up_present

    def wait_for_an_answer(folder):
        asked.set()
        answers.wait(30)
        return look_up(folder)

    operations = [(name, *more, wait_for_an_answer) for name, *more, _ in filesystem._OPERATIONS]
    monkeypatch.setattr(filesystem, "_OPERATIONS", operations)
    monkeypatch.setattr(filesystem, "make_patiently", partial(make_patiently, silence_limit_s=0.3))
    heard = []
    try:
        with pytest.raises(ExperimentError, match="the file system has not answered for 300 ms, after 0 runs"):
            filesystem.run(request_for(repository, tmp_path / "registry", on_run=heard.append))
        assert asked.is_set()
        # the process ends without it, and what is left is known by its marker
        assert not copies._live
        assert len(os.listdir(tmp_path / "registry")) == 1
    finally:
        answers.set()
    _until(lambda: not os.listdir(tmp_path / "registry"), "the thread removes what it made")
    assert os.listdir(tmp_path / "fleet") == ["a.git"]
    assert heard == []


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_experiment_ends_where_the_program_behind_a_mount_stops(tmp_path):
    with fuse_mount(tmp_path) as mount:
        repository = GitRepository.init(mount.path / "fleet" / "a.git")
        import_objects(repository, 1)
        process = psutil.Process(mount.process_id)
        request = request_for(
            repository, tmp_path / "registry", limits=ENOUGH, on_run=lambda run: run.number == 2 and process.suspend()
        )
        try:
            with pytest.raises(ExperimentError, match="has not answered for 500 ms, after 2 runs"):
                make_patiently(request, filesystem._run, silence_limit_s=0.5)
        finally:
            process.resume()
        _until(lambda: os.listdir(mount.path / "fleet") == ["a.git"], "the thread removes what it made")


def test_place_beside_is_in_no_other_repository(tmp_path):
    outer = GitRepository.init(tmp_path / "fleet" / "outer", bare=False)
    inner = GitRepository.init(outer.path / "deep" / "inner", bare=False)
    module = GitRepository.init(outer.path / ".git" / "modules" / "part.git")
    for repository in (outer, inner, module):
        import_objects(repository, 1)
        assert folder_beside(report_of(repository.path)) == os.fsencode(tmp_path / "fleet")


def test_place_beside_is_on_the_file_system_of_the_objects(tmp_path):
    repository = GitRepository.init(tmp_path / "a.git")
    import_objects(repository, 1)
    (tmp_path / "disk").mkdir()
    os.rename(repository.path / "objects", tmp_path / "disk" / "objects")
    os.symlink(tmp_path / "disk" / "objects", repository.path / "objects")
    assert folder_beside(report_of(repository.path)) == os.fsencode(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_cannot_be_written_is_said(repository, tmp_path):
    (tmp_path / "fleet").chmod(0o500)
    try:
        with pytest.raises(ExperimentError, match="nothing can be written beside"):
            filesystem.run(request_for(repository, tmp_path / "registry"))
    finally:
        (tmp_path / "fleet").chmod(0o700)


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.parametrize(("negative_timeout_s", "verdict"), [(0.0, "not remembered"), (60.0, "is remembered")])
def test_absence_that_a_mount_remembers_is_told_from_absence_that_it_does_not(tmp_path, negative_timeout_s, verdict):
    with fuse_mount(tmp_path, delay_s=0.001, negative_timeout_s=negative_timeout_s) as mount:
        repository = GitRepository.init(mount.path / "fleet" / "a.git")
        import_objects(repository, 3)
        result = filesystem.run(request_for(repository, tmp_path / "registry", limits=ENOUGH))
        medians_s = {variant.name: variant.summary.median_s for variant in result.variants}
        assert os.listdir(mount.path / "fleet") == ["a.git"]
    assert verdict in result.verdict
    assert medians_s["look-up-absent"] >= 0.001
    assert (medians_s["look-up-absent-again"] >= 0.001) is (negative_timeout_s == 0)
    # the kernel remembers names that are there on both
    assert medians_s["look-up-present"] < 0.0005
    assert result.filesystem_type == "fuse"
    assert any("negative_timeout" in note for note in result.notes)
    assert any("mount table does not say: it was measured" in note for note in result.notes)
    assert any("fetch.unpackLimit=1" in note for note in result.notes)
