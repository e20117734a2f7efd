"""References by namespace of an inspected repository: by a worker process, or by git."""

import os
import threading
import time
from collections import Counter
from pathlib import Path

import msgspec
import psutil
import pytest

from gitdash.config.settings import ScanSettings, Settings
from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.messages import NamespacesRequest, read_request, request_message
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.survey import workers
from gitdash.survey.namespaces import namespaces_of
from gitdash.survey.single import find_repository, report_single
from tests.support.repositories import GIT, GitRepository, git_version

PROGRAM = GitProgram(path=GIT, version=git_version(), version_text="test")
needs_reftable = pytest.mark.skipif(git_version() < (2, 45), reason="no reftable")


def report_of(path: Path) -> RepositoryReport:
    settings, uid = Settings(), os.geteuid()
    repository = find_repository(os.fsencode(path), settings=settings, effective_uid=uid)
    return report_single(
        repository, settings=settings, history=None, program=PROGRAM, effective_uid=uid, now_s=2_000_000_000.0
    ).facts


def counted(
    report: RepositoryReport,
    *,
    time_limit_s: float = 60.0,
    program: GitProgram | None = PROGRAM,
    cancel: threading.Event | None = None,
) -> ReferenceNamespaces | Unreadable:
    settings = Settings(scan=ScanSettings(time_limit_s=time_limit_s))
    return namespaces_of(report, settings=settings, program=program, cancel=cancel or threading.Event())


def fill(repository: GitRepository) -> str:
    commit = repository.commit({"a": "1"})
    for name in ("refs/heads/b", "refs/tags/v1", "refs/remotes/origin/x", "refs/keep-around/1", "refs/stash"):
        repository.git("update-ref", name, commit)
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/x")
    return commit


def counts(found: ReferenceNamespaces | Unreadable) -> dict[str, int]:
    assert isinstance(found, ReferenceNamespaces)
    return {one.name: one.count for one in found.namespaces if one.name != "(root)"}


def listed_by_git(repository: GitRepository) -> dict[str, int]:
    names = repository.git("for-each-ref", "--format=%(refname)").splitlines()
    return dict(Counter(name.rpartition("/")[0] for name in names))


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("backend", [None, pytest.param("reftable", marks=needs_reftable)])
def test_counts_are_those_of_for_each_ref(tmp_path: Path, object_format: str, backend: str | None) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format, reference_backend=backend)
    fill(repository)
    found = counted(report_of(repository.path))
    assert counts(found) == listed_by_git(repository)
    assert isinstance(found, ReferenceNamespaces)
    assert (found.head, found.incomplete) == ("refs/heads/main", None)
    assert {one.loose_count is None for one in found.namespaces} == {backend is not None}
    assert not any("gitdash.inspection.worker" in child.cmdline() for child in psutil.Process().children())


@needs_reftable
def test_a_detached_head_and_what_git_complains_of_are_told_for_a_reftable(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    commit = fill(repository)
    repository.git("update-ref", "--no-deref", "HEAD", commit)
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
    report = report_of(repository.path)
    found = counted(report)
    assert counts(found) == listed_by_git(repository)
    assert isinstance(found, ReferenceNamespaces)
    assert (found.head, found.incomplete) == (commit, None)
    asked = [record.argv[2] for record in COMMAND_LOG.records_of(report.repository.path)]
    assert asked == ["for-each-ref", "symbolic-ref", "rev-parse"]
    script = tmp_path / "git"
    script.write_text(f'#!/bin/sh\nprintf "warning: ignoring broken ref \\033x\\n" >&2\nexec {GIT} "$@"\n')
    script.chmod(0o755)
    complaining = counted(report, program=GitProgram(path=os.fspath(script), version=git_version(), version_text="x"))
    assert isinstance(complaining, ReferenceNamespaces)
    assert complaining.incomplete == "warning: ignoring broken ref \\x1bx"


@needs_reftable
@pytest.mark.safety
def test_git_is_not_asked_where_it_must_not_be(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    report = report_of(repository.path)
    foreign = msgspec.structs.replace(
        report, repository=msgspec.structs.replace(report.repository, foreign_owner_uid=12_345)
    )
    assert counted(foreign) == Unreadable("its reftable needs git, which refuses repositories of another owner")
    assert counted(report, program=None) == Unreadable("its reftable needs git")
    os.mkfifo(repository.git_dir / "packed-refs")
    assert counted(report) == Unreadable("packed-refs is a FIFO, and git would open it")


def test_a_repository_of_another_owner_is_read_from_files(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    fill(repository)
    report = report_of(repository.path)
    foreign = msgspec.structs.replace(report.repository, foreign_owner_uid=12_345)
    found = counted(msgspec.structs.replace(report, repository=foreign), program=None)
    assert counts(found)["refs/heads"] == 2


def test_a_repository_that_could_not_be_inspected_is_not_read(tmp_path: Path) -> None:
    report = report_of(GitRepository.init(tmp_path / "r.git").path)
    assert counted(msgspec.structs.replace(report, inspection=Unreadable("no HEAD"))) == Unreadable("no HEAD")


def test_a_repository_that_is_gone_is_told(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    report = report_of(repository.path)
    repository.git_dir.rename(tmp_path / "elsewhere")
    found = counted(report)
    assert isinstance(found, ReferenceNamespaces)
    assert found.incomplete is not None
    assert "missing" in found.incomplete


def strange_children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "strange_worker" in " ".join(child.cmdline())]


@pytest.mark.safety
def test_a_file_system_that_does_not_answer_costs_the_time_limit_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = report_of(GitRepository.init(tmp_path / "hang.git").path)
    monkeypatch.setattr(workers, "WORKER_MODULE", "tests.survey.strange_worker")
    assert counted(report, time_limit_s=0.3) == Unreadable("did not answer within 0.3 s")
    assert strange_children() == []


def test_a_worker_that_dies_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(GitRepository.init(tmp_path / "die.git").path)
    monkeypatch.setattr(workers, "WORKER_MODULE", "tests.survey.strange_worker")
    assert counted(report) == Unreadable("the process to read it ended")
    monkeypatch.setattr(workers, "WORKER_MODULE", "tests.survey.no_such_module")
    assert counted(report) == Unreadable("the process to read it ended")


def test_a_cancel_ends_the_worker_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(GitRepository.init(tmp_path / "hang.git").path)
    monkeypatch.setattr(workers, "WORKER_MODULE", "tests.survey.strange_worker")
    cancel = threading.Event()
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    started_s = time.monotonic()
    assert counted(report, cancel=cancel) == Unreadable("cancelled")
    assert time.monotonic() - started_s < 5
    assert strange_children() == []
    timer.join()


def test_a_request_to_count_arrives_as_it_was_sent() -> None:
    sent = NamespacesRequest(number=7, git_dir=b"/\xff/w", common_dir=b"/\xff", id_bytes=32)
    read = read_request(request_message(sent)[4:])
    assert isinstance(read, NamespacesRequest)
    assert (read.number, read.git_dir, read.common_dir, read.id_bytes) == (7, b"/\xff/w", b"/\xff", 32)
