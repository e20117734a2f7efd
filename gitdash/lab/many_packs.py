"""A repository with as many packs as are wanted, in a folder of our own, for curves. One git makes all of it.

Source: git-fast-import(1), whose `checkpoint` ends a pack and begins the next. Each pack holds one small blob: what a
look-up costs depends on how many packs are opened and searched, and hardly on what is in them.
"""

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.lab.copies import marked_folder
from gitdash.lab.request import for_people

_TIME_LIMIT_S: Final = 600.0
_CONFIG: Final = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedRepository:
    """A repository that was made for one experiment."""

    git_dir: bytes
    object_id: str
    """Of an object that is there, by sha1."""

    @property
    def objects_dir(self) -> bytes:
        """Its object folder."""
        return self.git_dir + b"/objects"


@contextlib.contextmanager
def repository_of_packs(
    pack_count: int, *, program: GitProgram, registry_dir: bytes, cancel: threading.Event
) -> Iterator[GeneratedRepository]:
    """Make the repository and remove it when the context ends, however it ends. Raises ExperimentError, GitError."""
    with marked_folder(registry_dir, registry_dir) as git_dir:
        with for_people("no repository can be made"):
            _begin(git_dir)
        blobs = [b"%d\n" % number for number in range(pack_count)]
        run_git(
            program,
            ["fast-import", "--quiet"],
            git_dir=git_dir,
            # else so few objects become loose ones; and nobody will miss them after a loss of power
            config=(("fastimport.unpackLimit", "0"), ("core.fsync", "none")),
            stdin=b"".join(b"blob\ndata %d\n%b\ncheckpoint\n\n" % (len(blob), blob) for blob in blobs),
            time_limit_s=_TIME_LIMIT_S,
            cancel=cancel,
        )
        middle = blobs[pack_count // 2]
        digest = hashlib.sha1(b"blob %d\0%b" % (len(middle), middle), usedforsecurity=False)
        yield GeneratedRepository(git_dir=git_dir, object_id=digest.hexdigest())


def _begin(git_dir: bytes) -> None:
    for name in (b"", b"/refs", b"/objects"):
        os.mkdir(git_dir + name, 0o700)
    for name, content in ((b"/HEAD", b"ref: refs/heads/main\n"), (b"/config", _CONFIG)):
        with open(git_dir + name, "xb") as file:
            file.write(content)
