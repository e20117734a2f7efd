"""Exhibits on what stopped commands, crashes and bad disks leave: locks, empty references, damage; and foreign owners.

Source: gitrepository-layout(5); git's lockfile.h for the names of locks.
"""

import os
import shutil
from typing import Final

from gitdash.demo.exhibit import DAY_S, HOUR_S, Exhibit, ObstacleError, Step, bare, clone, pack_file, put
from gitdash.demo.workshop import Files, Workshop, write

_NOBODY: Final = 65_534
"""The user of this number exists on most systems, and owns nothing."""
_MISSING_ID: Final = b"1" * 40 + b"\n"


def _references(count: int) -> Step:
    """Write loose references, each a file."""

    def step(workshop: Workshop, git_dir: bytes) -> None:
        for number in range(count):
            write(git_dir + b"/refs/heads/topic/%03d" % number, workshop.small.tip.encode() + b"\n")

    return step


def _flip_byte_of_index(_workshop: Workshop, git_dir: bytes) -> None:
    path = pack_file(git_dir, b".idx")
    with open(path, "r+b") as file:
        # the names of objects begin behind a header of 8 bytes and the fan-out of 1,024
        file.seek(8 + 1_024)
        first = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([first[0] ^ 0xFF]))


def _cut_pack(_workshop: Workshop, git_dir: bytes) -> None:
    path = pack_file(git_dir, b".pack")
    os.truncate(path, os.path.getsize(path) // 2)


def _objects_removed(workshop: Workshop) -> Files:
    return {b"packed-refs": workshop.small.files[b"packed-refs"]}


def _lost_info_folder(_workshop: Workshop, git_dir: bytes) -> None:
    os.rmdir(git_dir + b"/objects/info")
    os.symlink(b"/nonexistent/objects/info", git_dir + b"/objects/info")


def _git_file_to_nowhere(_workshop: Workshop, path: bytes) -> None:
    write(path + b"/.git", b"gitdir: /nonexistent/worktrees/lost\n")


def _owned_by_nobody(workshop: Workshop, path: bytes) -> None:
    if os.geteuid() != 0:
        raise ObstacleError("only root can give files to another user")
    bare()(workshop, path)
    try:
        _give_away(path)
    except OSError as error:
        shutil.rmtree(path)
        raise ObstacleError(f"files cannot be given to another user: {error.strerror}") from error


def _give_away(git_dir: bytes) -> None:
    for folder, _, names in os.walk(git_dir):
        for path in (folder, *(folder + b"/" + name for name in names)):
            os.lchown(path, _NOBODY, _NOBODY)


EXHIBITS: Final = (
    Exhibit(path=b"clones/healthy", build=clone()),
    Exhibit(path=b"clones/stale-lock", shows=("stale-lock",), build=clone(put(b"index.lock", age_s=3 * DAY_S))),
    Exhibit(
        path=b"clones/maintenance-locked-out",
        shows=("maintenance-lock",),
        build=clone(put(b"objects/maintenance.lock", age_s=9 * DAY_S)),
    ),
    Exhibit(
        path=b"clones/gc-that-hangs",
        shows=("gc-pid",),
        build=clone(put(b"gc.pid", b"4711 forge-7.invalid", age_s=2 * DAY_S)),
    ),
    Exhibit(
        path=b"clones/gc-that-failed",
        shows=("gc-log",),
        build=clone(
            put(
                b"gc.log",
                b"warning: There are too many unreachable loose objects; run 'git prune' to remove them.\n",
                age_s=HOUR_S,
            )
        ),
    ),
    Exhibit(
        path=b"clones/after-power-loss",
        shows=("empty-references", "measurement-notes"),
        build=clone(put(b"refs/heads/topic", age_s=4 * DAY_S)),
    ),
    Exhibit(path=b"archives/many-loose-references.git", shows=("loose-references",), build=bare(_references(40))),
    Exhibit(
        path=b"broken/objects-gone.git", shows=("objects-gone", "size-unreadable"), build=bare(files=_objects_removed)
    ),
    Exhibit(path=b"broken/damaged-index.git", shows=("size-unreadable",), build=bare(_flip_byte_of_index)),
    Exhibit(path=b"broken/pack-cut-short.git", shows=("unreadable-parts", "size-unreadable"), build=bare(_cut_pack)),
    Exhibit(
        path=b"broken/reference-to-nothing.git",
        shows=("measurement-notes",),
        build=bare(put(b"refs/heads/lost", _MISSING_ID)),
    ),
    Exhibit(
        path=b"broken/multi-pack-index-of-noise.git",
        shows=("unreadable-parts", "measurement-notes"),
        build=bare(put(b"objects/pack/multi-pack-index", b"no index\n" * 40)),
    ),
    Exhibit(
        path=b"broken/folder-behind-dead-link.git",
        shows=("disk-incomplete", "size-unreadable", "unreadable-parts"),
        build=bare(_lost_info_folder),
    ),
    Exhibit(path=b"broken/leads-nowhere", shows=("repository-unreadable",), build=_git_file_to_nowhere),
    Exhibit(path=b"broken/another-user-s.git", shows=("foreign-owner",), build=_owned_by_nobody),
)
