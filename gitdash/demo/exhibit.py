"""An exhibit: one repository of the demo fleet, what it shows, and the steps that make it.

Source: gitrepository-layout(5). A step changes a repository that stands already; each is a function that returns one,
so that an exhibit reads as a sentence.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.demo.workshop import BARE_CONFIG, CLONE_CONFIG, Files, Workshop, plant, write
from gitdash.errors import GitdashError

HOUR_S: Final = 3_600.0
DAY_S: Final = 24 * HOUR_S

Step = Callable[[Workshop, bytes], None]
"""Changes the repository with this git directory."""
Build = Callable[[Workshop, bytes], None]
"""Makes a repository at this path."""
Choice = Callable[[Workshop], Files]
"""Chooses the files to begin with."""


class ObstacleError(GitdashError):
    """An exhibit cannot be made on this machine; the text is a clause that follows `because`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One repository."""

    path: bytes
    """Below the root of the fleet."""
    build: Build
    """Raises ObstacleError where the system or the git that runs cannot do it."""
    shows: tuple[str, ...] = ()
    """Exactly the findings that it has; empty for a healthy one."""


def small(workshop: Workshop) -> Files:
    """A few dozen commits."""
    return workshop.small.files


def shared(workshop: Workshop) -> Files:
    """Those and a big file, with a bitmap."""
    return workshop.shared.files


def large(workshop: Workshop) -> Files:
    """A long history with bitmap and commit-graph."""
    return workshop.large.files


def sixty_packs(workshop: Workshop) -> Files:
    """A history in sixty packs."""
    return workshop.sixty_packs.files


def nothing(_workshop: Workshop) -> Files:
    """An empty repository."""
    return {}


def bare(*steps: Step, files: Choice = small, config: str = BARE_CONFIG) -> Build:
    """Return a build of a bare repository."""

    def build(workshop: Workshop, path: bytes) -> None:
        plant(path, files(workshop), config)
        for step in steps:
            step(workshop, path)

    return build


def clone(*steps: Step) -> Build:
    """Return a build of a working clone of the small history, with its files checked out."""

    def build(workshop: Workshop, path: bytes) -> None:
        git_dir = path + b"/.git"
        plant(git_dir, workshop.small.files, CLONE_CONFIG)
        workshop.git(git_dir, b"--work-tree=" + path, "read-tree", "--reset", "-u", "HEAD")
        for step in steps:
            step(workshop, git_dir)

    return build


def put(name: bytes, content: bytes = b"", *, age_s: float = 0.0) -> Step:
    """Write a file that was last changed so long ago."""

    def step(workshop: Workshop, git_dir: bytes) -> None:
        path = git_dir + b"/" + name
        write(path, content)
        os.utime(path, (workshop.now_s - age_s,) * 2)

    return step


def configure(text: str) -> Step:
    """Append to the config."""

    def step(_workshop: Workshop, git_dir: bytes) -> None:
        with open(git_dir + b"/config", "a", encoding="utf-8") as config:
            config.write(text)

    return step


def run(*arguments: str, config: Sequence[tuple[str, str]] = ()) -> Step:
    """Run git in the repository."""

    def step(workshop: Workshop, git_dir: bytes) -> None:
        workshop.git(git_dir, *arguments, config=config)

    return step


def age_all(folder: bytes, age_s: float) -> Step:
    """Set the times of all files below a folder back."""

    def step(workshop: Workshop, git_dir: bytes) -> None:
        for parent, _, names in os.walk(git_dir + b"/" + folder):
            for name in names:
                os.utime(parent + b"/" + name, (workshop.now_s - age_s,) * 2)

    return step


def pack_file(git_dir: bytes, ending: bytes) -> bytes:
    """Return the first file of `objects/pack` by name that ends so."""
    folder = git_dir + b"/objects/pack"
    return folder + b"/" + min(name for name in os.listdir(folder) if name.endswith(ending))
