"""Experiments that prepare something, and so begin anew if the repository changes: copies and tips would be of before.

`method` throws away the runs of a repository that is no more, but what an experiment made of it beforehand is older,
too. Here the whole of it is done again on what is there now.

A hard link sets the time of the last status change of what it leads to, so that time, which the fingerprint of an
inspection has in it, says nothing while copies come and go: here names, sizes, modes and times of content count.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import msgspec

from gitdash.inspection.files import FileError
from gitdash.inspection.repository import inspect_repository
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.model.experiment import ExperimentResult, ExperimentRun
from gitdash.model.policy import Policy
from gitdash.model.report import RepositoryReport

_ATTEMPTS: Final = 3
_DIGEST_BYTES: Final = 16
_FAN_OUT: Final = re.compile(rb"[0-9a-f]{2}")

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
    repository, (own, *lenders) = report.repository, object_folders(report)
    if not os.path.isdir(repository.common_dir):
        raise FileError(repository.common_dir, "is gone")
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    folders = {repository.git_dir, repository.common_dir, own}
    folders.update(os.path.dirname(lender) if os.path.basename(lender) == b"objects" else lender for lender in lenders)
    for folder in sorted(folders):
        for line in _lines(folder):
            digest.update(line)
    return digest.digest()


def _lines(folder: bytes) -> Iterator[bytes]:
    """Return a line for each file and folder; of loose objects, what their folder shows of them."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield b"%b %d\n" % (folder, error.errno or 0)
        return
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        yield b"%b %d %d %d\0" % (entry.path, status.st_mode, status.st_mtime_ns, status.st_size)
        holds_loose_objects = os.path.basename(folder) == b"objects" and _FAN_OUT.fullmatch(entry.name)
        if entry.is_dir(follow_symlinks=False) and not holds_loose_objects:
            yield from _lines(entry.path)


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
