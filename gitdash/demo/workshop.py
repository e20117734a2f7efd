"""Where the demo fleet is made: the folder, the git that helps, and repositories in stock that are planted as copies.

Most of the fleet consists of copies of a few histories, so that git is asked a few dozen times only. Source:
gitrepository-layout(5). What is made of the stock, the modules of exhibits say.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gitdash.demo import streams
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git

Files = Mapping[bytes, bytes]
"""Contents by the path below a git directory."""

BARE_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
CLONE_CONFIG: Final = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
)
SHA256_CONFIG: Final = (
    "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
)

_TIME_LIMIT_S: Final = 60.0
_SETTINGS: Final = (
    # nobody minds if a demo does not survive a power cut, and sixty packs are sixty waits for the disk
    ("core.fsync", "none"),
    # also a small import becomes a pack
    ("fastimport.unpackLimit", "0"),
    ("pack.threads", "1"),
)
_WITH_BITMAP: Final = ("repack", "-a", "-d", "-q", "--write-bitmap-index")
"""Arguments that put everything into one pack and make a bitmap for it."""

_SKELETON: Final = (b"objects/info", b"objects/pack", b"refs/heads", b"refs/tags", b"info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """A bare repository in memory."""

    files: Files
    tip: str
    """The object id of `main`."""

    def without(self, *endings: bytes) -> Files:
        """Return the files whose path ends with none of these."""
        return {path: content for path, content in self.files.items() if not path.endswith(endings)}


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """One fleet in the making."""

    program: GitProgram
    folder: bytes
    """Absolute; everything is made below."""
    now_s: float
    """Ages of locks and leftovers count back from here."""

    @property
    def root(self) -> bytes:
        """The folder to look at with gitdash."""
        return self.folder + b"/fleet"

    def git(
        self,
        git_dir: bytes,
        *arguments: str | bytes,
        stdin: bytes = b"",
        config: Sequence[tuple[str, str]] = (),
        environment: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git in one of our own repositories and return its output; raises GitError."""
        output = run_git(
            self.program,
            arguments,
            git_dir=git_dir,
            stdin=stdin,
            config=(*_SETTINGS, *config),
            environment=environment,
            time_limit_s=_TIME_LIMIT_S,
        )
        return output.stdout

    def import_history(self, git_dir: bytes, stream: bytes) -> None:
        """Put a history into a repository, as a pack of its own."""
        self.git(git_dir, "fast-import", "--quiet", "--date-format=raw", stdin=stream)

    @cached_property
    def small(self) -> Stock:
        """A few dozen commits in one pack."""
        return self._stock("small", streams.small_history())

    @cached_property
    def shared(self) -> Stock:
        """The small history and a file that is worth sharing, with a bitmap."""
        return self._stock("shared", streams.small_history_with_asset(), _WITH_BITMAP)

    @cached_property
    def large(self) -> Stock:
        """A history that wants bitmap and commit-graph, and has both."""
        write_graph = ("commit-graph", "write", "--reachable", "--changed-paths", "--split=replace")
        return self._stock("large", streams.large_history(), _WITH_BITMAP, write_graph)

    @cached_property
    def sixty_packs(self) -> Stock:
        """Sixty packs of one commit each."""
        return self._stock("sixty-packs", streams.history_in_packs(60))

    @cached_property
    def sha256(self) -> Stock:
        """The small history by the other hash function."""
        return self._stock("sha256", streams.small_history(), config=SHA256_CONFIG)

    def clear(self) -> None:
        """Remove the repositories in stock, which nobody needs any more."""
        shutil.rmtree(self.folder + b"/stock")

    def _stock(self, name: str, stream: bytes, *commands: tuple[str, ...], config: str = BARE_CONFIG) -> Stock:
        git_dir = self.folder + b"/stock/" + name.encode()
        plant(git_dir, {}, config)
        self.import_history(git_dir, stream)
        for command in (*commands, ("pack-refs", "--all")):
            self.git(git_dir, *command)
        tip = self.git(git_dir, "rev-parse", "refs/heads/main").decode().strip()
        return Stock(files=_contents(git_dir), tip=tip)


def plant(git_dir: bytes, files: Files, config: str) -> None:
    """Make a git directory with these files; nothing may be there yet."""
    for folder in _SKELETON:
        os.makedirs(git_dir + b"/" + folder)
    for path, content in files.items():
        write(git_dir + b"/" + path, content)
    write(git_dir + b"/HEAD", b"ref: refs/heads/main\n")
    write(git_dir + b"/config", config.encode())


def write(path: bytes, content: bytes) -> None:
    """Write a file that may be there, and the folders that it needs."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _contents(git_dir: bytes) -> Files:
    """Return what makes out a history: objects and packed references."""
    files: dict[bytes, bytes] = {}
    for folder, _, names in os.walk(git_dir + b"/objects"):
        files |= {os.path.relpath(folder + b"/" + name, git_dir): _read(folder + b"/" + name) for name in names}
    files[b"packed-refs"] = _read(git_dir + b"/packed-refs")
    return files


def _read(path: bytes) -> bytes:
    with open(path, "rb") as file:
        return file.read()
