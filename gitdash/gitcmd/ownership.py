"""The ownership check that git makes itself unless it is told `--git-dir`, which gitdash always says.

Source: git-config(1) safe.directory, and setup.c of git 2.39.5: work tree, `.git` entry and git directory must all
belong to the effective user. `SUDO_UID`, by which git lets root trust one more user, is not honoured. This module does
not read `safe.directory`.
"""

import contextlib
import os
import stat
from collections.abc import Sequence


def foreign_owner(paths: Sequence[bytes], effective_uid: int) -> tuple[bytes, int] | None:
    """Return the first of `paths` that another user owns, with that user's id; None if all are `effective_uid`'s.

    A symbolic link must be ours and lead to something that is ours. A path that is missing or cannot be looked at is
    passed over: git cannot open it either, and who reads it says why.
    """
    for path in paths:
        owner = _foreign_owner_of_one(path, effective_uid)
        if owner is not None:
            return path, owner
    return None


def _foreign_owner_of_one(path: bytes, effective_uid: int) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        status = os.lstat(path)
        if status.st_uid == effective_uid and stat.S_ISLNK(status.st_mode):
            status = os.stat(path)
        if status.st_uid != effective_uid:
            return status.st_uid
    return None
