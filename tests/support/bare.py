"""Records of repositories as a search finds them, for tests that need no search."""

import os
from pathlib import Path

from gitdash.model.repository import Repository, RepositoryKind, StorageLayout


def bare_repository(path: Path) -> Repository:
    """Return the record of a plain bare repository, found below the folder that it lies in."""
    encoded = os.fsencode(path)
    return Repository(
        path=encoded,
        git_dir=encoded,
        common_dir=encoded,
        kind=RepositoryKind.BARE,
        layout=StorageLayout.PLAIN,
        root=os.path.dirname(encoded),
    )
