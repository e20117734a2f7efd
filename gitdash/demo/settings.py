"""Exhibits on what a repository's own config says, and on kinds of repository: shallow, partial, sha256, reftable.

Source: git-config(1), gitrepository-layout(5), gitformat-pack(5). The programs that these configs name are
`/bin/false`, the addresses end in `.invalid`, and no value makes git write anywhere else.
"""

from typing import Final

from gitdash.demo.exhibit import (
    Build,
    Exhibit,
    ObstacleError,
    Step,
    bare,
    clone,
    configure,
    nothing,
    pack_file,
    small,
)
from gitdash.demo.workshop import SHA256_CONFIG, Workshop, write

_FORMAT_1: Final = "[core]\n\trepositoryformatversion = 1\n"
_REFTABLE_SINCE: Final = (2, 45)
_BY_HAND: Final = {"GIT_TEST_REFTABLE_AUTOCOMPACTION": "false"}
"""The only way to keep git from compacting the stack at once."""


def _cut_at_tip(workshop: Workshop, git_dir: bytes) -> None:
    write(git_dir + b"/shallow", workshop.small.tip.encode() + b"\n")


def _only_tip(workshop: Workshop, git_dir: bytes) -> None:
    """Put the objects of the last commit alone into the empty repository of a clone with --depth=1."""
    full = workshop.folder + b"/stock/small"
    tip = workshop.small.tip
    names = workshop.git(full, "rev-list", "--objects", "--no-object-names", "--max-count=1", tip)
    workshop.git(full, "pack-objects", "-q", git_dir + b"/objects/pack/pack", stdin=names)
    write(git_dir + b"/refs/heads/main", tip.encode() + b"\n")
    _cut_at_tip(workshop, git_dir)


def _promised(_workshop: Workshop, git_dir: bytes) -> None:
    write(pack_file(git_dir, b".pack").removesuffix(b"pack") + b"promisor", b"")


def _graft_tip(workshop: Workshop, git_dir: bytes) -> None:
    write(git_dir + b"/info/grafts", workshop.small.tip.encode() + b"\n")


def _reftable(*steps: Step) -> Build:
    """Return a build of a bare repository whose references are in a reftable stack that wants no compaction."""

    def build(workshop: Workshop, path: bytes) -> None:
        version = workshop.program.version
        if version < _REFTABLE_SINCE:
            raise ObstacleError(f"git {workshop.program.version_text} has no reftable, which came with 2.45")
        workshop.git(path, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--ref-format=reftable")
        for name, content in small(workshop).items():
            if name.startswith(b"objects/"):
                write(path + b"/" + name, content)
        _add_references(16)(workshop, path)
        workshop.git(path, "pack-refs")
        for step in steps:
            step(workshop, path)

    return build


def _add_references(count: int) -> Step:
    """Add a table to the stack, with `main` and so many tags."""

    def step(workshop: Workshop, git_dir: bytes) -> None:
        names = ["heads/main", *(f"tags/build-{count}-{number}" for number in range(count))]
        lines = "".join(f"update refs/{name} {workshop.small.tip}\n" for name in names)
        workshop.git(git_dir, "update-ref", "--stdin", stdin=lines.encode(), environment=_BY_HAND)

    return step


def _absent_table(_workshop: Workshop, git_dir: bytes) -> None:
    with open(git_dir + b"/reftable/tables.list", "ab") as tables:
        tables.write(b"0x000000000063-0x000000000063-0badcafe.ref\n")


EXHIBITS: Final = (
    Exhibit(
        path=b"config/runs-a-program.git",
        shows=("config-runs-program",),
        build=bare(configure("[core]\n\tfsmonitor = /bin/false\n\tpager = /bin/false\n")),
    ),
    Exhibit(
        path=b"config/redirects-a-url.git",
        shows=("config-redirects-url",),
        build=bare(configure('[url "https://mirror.invalid/"]\n\tinsteadOf = https://forge.invalid/\n')),
    ),
    Exhibit(
        path=b"config/drops-objects.git",
        shows=("config-drops-objects",),
        build=bare(configure("[gc]\n\tpruneExpire = now\n\treflogExpire = now\n")),
    ),
    Exhibit(
        path=b"config/overwrites-a-file.git",
        shows=("config-overwrites-file",),
        build=bare(configure("[http]\n\tsaveCookies = true\n")),
    ),
    Exhibit(
        path=b"config/reads-outside.git",
        shows=("config-reads-outside",),
        build=bare(configure("[core]\n\tattributesFile = /dev/null\n")),
    ),
    Exhibit(
        path=b"config/stops-git.git",
        shows=("config-stops-git",),
        build=bare(configure("[core]\n\tcompression = 99\n")),
    ),
    Exhibit(
        path=b"config/stops-maintenance.git",
        shows=("config-stops-maintenance",),
        build=bare(configure("[pack]\n\tthreads = many\n")),
    ),
    Exhibit(
        path=b"formats/unknown-extension.git",
        shows=("unknown-extension",),
        build=bare(configure(_FORMAT_1 + "[extensions]\n\ttimeTravel = true\n")),
    ),
    Exhibit(path=b"formats/sha256.git", build=bare(files=lambda workshop: workshop.sha256.files, config=SHA256_CONFIG)),
    Exhibit(path=b"formats/reftable.git", build=_reftable()),
    Exhibit(
        path=b"formats/reftable-stack.git",
        shows=("reftable-stack",),
        build=_reftable(_add_references(14), _add_references(15)),
    ),
    Exhibit(
        path=b"formats/reftable-lost-table.git",
        shows=("reftable-missing-tables", "size-unreadable"),
        build=_reftable(_absent_table),
    ),
    Exhibit(
        path=b"formats/precious.git",
        shows=("precious-objects",),
        build=bare(configure(_FORMAT_1 + "[extensions]\n\tpreciousObjects = true\n")),
    ),
    Exhibit(
        path=b"clones/partial",
        shows=("partial-clone",),
        build=clone(
            _promised,
            configure(
                _FORMAT_1 + "[extensions]\n\tpartialClone = origin\n"
                '[remote "origin"]\n\turl = https://forge.invalid/demo.git\n'
                "\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tpromisor = true\n\tpartialclonefilter = blob:none\n"
            ),
        ),
    ),
    Exhibit(path=b"archives/shallow.git", shows=("shallow",), build=bare(_only_tip, files=nothing)),
    Exhibit(path=b"clones/cut-by-hand", shows=("shallow", "shallow-hides-objects"), build=clone(_cut_at_tip)),
    Exhibit(path=b"clones/grafts", shows=("grafts",), build=clone(_graft_tip)),
)
