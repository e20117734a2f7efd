"""Naming schemes of forges: what the path of a git directory says.

Source: Gitaly `internal/gitaly/storage/repository_path.go`. Looks at names only.
"""

import re
from typing import Final

from gitdash.model.repository import StorageLayout

_HASHED: Final = re.compile(rb"/@hashed/([0-9a-f]{2})/([0-9a-f]{2})/\1\2[0-9a-f]{60}(?:\.wiki|\.design)?\.git\Z")
_POOL: Final = re.compile(
    rb"/@pools/([0-9a-f]{2})/([0-9a-f]{2})/\1\2[0-9a-f]{60}\.git\Z|/@cluster/pools/[0-9a-f]{2}/[0-9a-f]{2}/[0-9]+\Z"
)


def storage_layout(git_dir: bytes) -> StorageLayout:
    """Return what the absolute path says; the first two folders must repeat the start of the hash."""
    if b"/@" not in git_dir:
        return StorageLayout.PLAIN
    if _POOL.search(git_dir):
        return StorageLayout.GITLAB_POOL
    return StorageLayout.GITLAB_HASHED if _HASHED.search(git_dir) else StorageLayout.PLAIN
