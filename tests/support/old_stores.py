"""Repositories whose every file is older than all grace periods: what would expire, expires now."""

import os
import subprocess
import time

from tests.support.repositories import GIT, GitRepository, clean_environment

AGE_S = 40 * 86_400.0


def grow_old(*repositories: GitRepository, age_s: float = AGE_S) -> None:
    """Set the time of every file of repositories to long ago."""
    moment_s = time.time() - age_s
    for repository in repositories:
        for folder, _, names in os.walk(repository.git_dir):
            for name in names:
                os.utime(os.path.join(folder, name), (moment_s, moment_s), follow_symlinks=False)


def visible_objects(repository: GitRepository) -> set[str]:
    """Return all objects that git sees in a repository, those of its lenders too."""
    return set(repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def complaints(repository: GitRepository) -> str:
    """Return what git fsck says is wrong, on either stream; empty if it ends well."""
    command = [GIT, "-C", os.fspath(repository.path), "fsck", "--connectivity-only", "--no-dangling", "--no-progress"]
    said = subprocess.run(command, capture_output=True, check=False, text=True, env=clean_environment())
    return said.stdout + said.stderr if said.returncode else ""
