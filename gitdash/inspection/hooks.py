"""Hooks, remotes of the old form, grafts: concerns that are files and stand in no config.

Source: githooks(5); gitrepository-layout(5), "remotes", "branches", "info/grafts". Does not open them.
"""

import stat
from collections.abc import Iterator
from typing import Final

from gitdash.inspection.listing import Listing
from gitdash.model.config_facts import ConfigConcern, ConfigEffect
from gitdash.units import printable_path

_LEGACY_REMOTES: Final = (b"remotes", b"branches")
FOLDERS_OF_CONCERN: Final = (b"info", b"hooks", *_LEGACY_REMOTES)
"""What `file_concerns` looks at."""


def file_concerns(listing: Listing) -> Iterator[ConfigConcern]:
    """Yield grafts, then the hooks that git would run, then the remotes that `git config` does not show."""
    grafts = listing.folders.get(b"info", {}).get(b"grafts")
    if grafts is not None and grafts.st_size:
        yield ConfigConcern(
            key="info/grafts",
            value=f"{grafts.st_size} bytes",
            source="info",
            effect=ConfigEffect.CHANGES_HISTORY,
            answer="sizes are asked in a git directory without grafts",
        )
    yield from _hook_concerns(listing)
    yield from _legacy_remote_concerns(listing)


def _hook_concerns(listing: Listing) -> Iterator[ConfigConcern]:
    for name, found in listing.folders.get(b"hooks", {}).items():
        is_link = stat.S_ISLNK(found.st_mode)
        is_program = stat.S_ISREG(found.st_mode) and found.st_mode & 0o111
        if b"." not in name and (is_link or is_program):
            yield ConfigConcern(
                key=printable_path(b"hooks/" + name),
                value="",
                source="hooks",
                effect=ConfigEffect.RUNS_PROGRAM,
                answer="every git call of gitdash looks for hooks elsewhere",
            )


def _legacy_remote_concerns(listing: Listing) -> Iterator[ConfigConcern]:
    for folder in _LEGACY_REMOTES:
        for name, found in listing.folders.get(folder, {}).items():
            if not stat.S_ISDIR(found.st_mode):
                yield ConfigConcern(
                    key=printable_path(folder + b"/" + name),
                    value="",
                    source=folder.decode(),
                    effect=ConfigEffect.REDIRECTS_URL,
                    answer="a remote that no config shows; gitdash fetches from configured remotes only",
                )
