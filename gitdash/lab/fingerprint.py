"""Whether a repository, or a lender of it, changed between two moments: by names, times and sizes of files.

Stricter than what a size depends on: an index that was refreshed or a lock that came and went is a change, too, for it
says that somebody else was at work while something was timed.
"""

import hashlib
import os
from collections.abc import Callable
from typing import Final

from gitdash.inspection.files import FileError
from gitdash.inspection.fingerprint import fingerprint
from gitdash.model.inspection import Inspection, ObjectStore
from gitdash.model.report import RepositoryReport

_DIGEST_BYTES: Final = 16


def fingerprint_of(report: RepositoryReport) -> Callable[[], bytes]:
    """Return a function that takes the fingerprint of the repository and of all its lenders.

    It raises FileError if the repository cannot be listed; a lender that cannot be is a part of the fingerprint.
    """
    repository = report.repository
    lenders = object_folders(report)[1:]

    def take() -> bytes:
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        digest.update(fingerprint(repository.git_dir, repository.common_dir))
        for lender in lenders:
            digest.update(_lender_fingerprint(lender))
        return digest.digest()

    return take


def object_folders(report: RepositoryReport) -> tuple[bytes, ...]:
    """Return the object folder of a repository, then those of all lenders that are there."""
    inspection = report.inspection
    if not isinstance(inspection, Inspection):
        return (report.repository.common_dir + b"/objects",)
    store = inspection.object_store
    own = store.path if isinstance(store, ObjectStore) else report.repository.common_dir + b"/objects"
    return (own, *(lender.path for lender in inspection.alternate_stores if lender.exists))


def _lender_fingerprint(objects_dir: bytes) -> bytes:
    git_dir = os.path.dirname(objects_dir)
    try:
        return fingerprint(git_dir, git_dir)
    except FileError as error:
        return error.reason.encode()
