"""Experiments that prepare something, and so begin anew if the repository changes: copies and tips would be of before.

`method` throws away the runs of a repository that is no more, but what an experiment made of it beforehand is older,
too. Here the whole of it is done again on what is there now.

A hard link sets the time of the last status change of what it leads to, so that time, which the fingerprint of an
inspection has in it, says nothing while copies come and go: here names, sizes, modes and times of content count.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import msgspec

from gitdash.inspection.files import FileError
from gitdash.inspection.repository import inspect_repository
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.store_folders import KNOWN, entries_of, fan_out_folders
from gitdash.model.experiment import ExperimentResult, ExperimentRun
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport

_ATTEMPTS: Final = 3
_DIGEST_BYTES: Final = 16
_SEARCHED: Final = (b"refs", b"reftable", b"info", b"worktrees")
"""Folders of a git directory in which whatever lies below counts."""

Fingerprint = Callable[[], bytes]
"""What `run_interleaved` takes."""


class _ChangedError(Exception):
    """The repository is not the one that was prepared for."""


def run_steadily(
    request: ExperimentRequest, make: Callable[[ExperimentRequest, Fingerprint], ExperimentResult]
) -> ExperimentResult:
    """Make an experiment by a request whose report is of now; again, up to three times, if the repository changes.

    Raises what `make` raises, ExperimentError if the repository does not come to rest, and FileError if it is gone.
    """
    discarded_count = 0
    for _ in range(_ATTEMPTS):
        attempt = _Attempt(request)
        try:
            result = make(attempt.request, attempt.fingerprint)
        except _ChangedError:
            discarded_count += attempt.run_count + 1
            request.on_discard()
            request.on_step("the repository has changed: beginning anew")
            request = replace(request, report=_inspected_now(request))
            continue
        return msgspec.structs.replace(result, discarded_count=result.discarded_count + discarded_count)
    raise ExperimentError(f"the repository changed {_ATTEMPTS} times while it was measured: too busy")


class _Attempt:
    """One try, on one state of the repository."""

    def __init__(self, request: ExperimentRequest) -> None:
        self._report = request.report
        self._known = _digest(request.report)
        self._heard = request.on_run
        self.request = replace(request, on_run=self._hear)
        self.run_count = 0
        """Runs that count, so far."""

    def fingerprint(self) -> bytes:
        """Return what the repository was prepared for. Raises _ChangedError if it is another now."""
        if _digest(self._report) != self._known:
            raise _ChangedError
        return self._known

    def _hear(self, run: ExperimentRun) -> None:
        self.run_count += run.is_counted
        self._heard(run)


def _digest(report: RepositoryReport) -> bytes:
    """Return what is equal as long as nobody writes into the repository or a lender. Raises FileError if it is gone."""
    repository, stores = report.repository, object_folders(report)
    if not os.path.isdir(repository.common_dir):
        raise FileError(repository.common_dir, "is gone")
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    git_dirs = {repository.git_dir, repository.common_dir}
    git_dirs.update(os.path.dirname(lender) for lender in stores[1:] if os.path.basename(lender) == b"objects")
    for git_dir in sorted(git_dirs):
        for line in _git_dir_lines(git_dir):
            digest.update(line)
    for store in sorted(stores):
        for line in _store_lines(store):
            digest.update(line)
    return digest.digest()


def _git_dir_lines(git_dir: bytes) -> Iterator[bytes]:
    """Yield a line for each file and folder in a git directory, and below those that have references or settings."""
    yield from _lines(git_dir)
    folders = [os.path.join(git_dir, name) for name in _SEARCHED]
    while folders:
        folder = folders.pop()
        if os.path.islink(folder):
            continue
        yield from _lines(folder, folders)


def _store_lines(store: bytes) -> Iterator[bytes]:
    """Yield a line for each file of an object store; of loose objects, what their folder shows of them."""
    for name in KNOWN:
        yield from _lines(os.path.join(store, name))
    for name in fan_out_folders(store):
        with contextlib.suppress(FileNotFoundError):
            yield _line(os.path.join(store, name), os.lstat(os.path.join(store, name)))


def _lines(folder: bytes, below: list[bytes] | None = None) -> Iterator[bytes]:
    """Yield a line for each entry of a folder; folders among them are added to `below`."""
    try:
        entries = entries_of(folder)
    except OSError as error:
        yield b"%b %d\n" % (folder, error.errno or 0)
        return
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        yield _line(entry.path, status)
        if below is not None and stat.S_ISDIR(status.st_mode):
            below.append(entry.path)


def _line(path: bytes, status: os.stat_result) -> bytes:
    return b"%b %d %d %d\0" % (path, status.st_mode, status.st_mtime_ns, status.st_size)


def _inspected_now(request: ExperimentRequest) -> RepositoryReport:
    repository = request.report.repository
    inspection = inspect_repository(
        repository.git_dir,
        repository.common_dir,
        now_s=request.clock(),
        loose_stale_age_s=Policy().loose_stale_age_s,
    )
    # what was measured before is of before
    sizes = msgspec.structs.replace(request.report.sizes, exclusive=None)
    return msgspec.structs.replace(request.report, inspection=inspection, sizes=sizes)
