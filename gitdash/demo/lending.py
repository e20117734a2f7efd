"""Exhibits on pools and their members: what is shared, what is lost, and what a lender should not do.

Source: gitrepository-layout(5) `objects/info/alternates`. Relative paths, so that the fleet can be moved.
"""

import os
from typing import Final

from gitdash.demo import streams
from gitdash.demo.exhibit import DAY_S, Build, Exhibit, Step, age_all, bare, configure, nothing, put, run, shared, small
from gitdash.demo.workshop import BARE_CONFIG, Files, Workshop, plant, write

_ALTERNATES: Final = b"objects/info/alternates"
_KEEPS_ALL: Final = BARE_CONFIG + "[gc]\n\tauto = 0\n\tpruneExpire = never\n"


def _borrow(*lenders: bytes) -> Step:
    """Name lenders, as seen from a folder that lies beside that of the pools."""
    return put(_ALTERNATES, b"".join(b"../../../%s/objects\n" % lender for lender in lenders), age_s=DAY_S)


def _commit(workshop: Workshop, git_dir: bytes) -> None:
    """Make a commit of its own on top of what the lender has."""
    name = os.path.basename(git_dir).removesuffix(b".git").decode()
    workshop.import_history(git_dir, streams.commit_upon(workshop.small.tip, name))


def _references(workshop: Workshop) -> Files:
    """References alone: the objects are the lender's."""
    return {b"packed-refs": workshop.small.files[b"packed-refs"]}


def _member(*lenders: bytes) -> Build:
    return bare(_borrow(*lenders), _commit, files=nothing)


def _lender_outside(workshop: Workshop, path: bytes) -> None:
    plant(workshop.folder + b"/elsewhere/lender.git", small(workshop), BARE_CONFIG)
    bare(_borrow(b"../elsewhere/lender.git"), _commit, files=nothing)(workshop, path)


def _other_one_s_objects(_workshop: Workshop, git_dir: bytes) -> None:
    objects = git_dir + b"/objects"
    for folder in (b"/info", b"/pack", b""):
        os.rmdir(objects + folder)
    os.symlink(b"../shares-objects-a.git/objects", objects)


def _dangling(workshop: Workshop, git_dir: bytes) -> None:
    """Keep what members deleted reachable, as a forge's pool does."""
    write(git_dir + b"/refs/dangling/" + workshop.shared.tip.encode(), workshop.shared.tip.encode() + b"\n")


EXHIBITS: Final = (
    Exhibit(path=b"pools/shared.git", build=bare(_dangling, files=shared, config=_KEEPS_ALL)),
    Exhibit(path=b"pools/chained.git", build=bare(_borrow(b"pools/shared.git"), files=_references, config=_KEEPS_ALL)),
    Exhibit(path=b"pools/automatic-gc.git", shows=("pool-automatic-gc",), build=bare()),
    Exhibit(
        path=b"pools/prunes.git",
        shows=("pool-drops-objects",),
        build=bare(configure("[gc]\n\tpruneExpire = now\n")),
    ),
    Exhibit(path=b"members/one.git", build=_member(b"pools/shared.git")),
    Exhibit(path=b"members/two.git", build=_member(b"pools/shared.git")),
    Exhibit(path=b"members/three.git", build=_member(b"pools/automatic-gc.git")),
    Exhibit(path=b"members/at-risk.git", build=_member(b"pools/prunes.git")),
    Exhibit(path=b"members/of-a-member.git", shows=("nested-alternates",), build=_member(b"pools/chained.git")),
    Exhibit(
        path=b"members/two-lenders.git",
        shows=("several-alternates",),
        build=_member(b"pools/shared.git", b"pools/automatic-gc.git"),
    ),
    Exhibit(
        path=b"members/joined-later.git",
        shows=("duplicate-objects", "alternates-newer-than-repack"),
        build=bare(
            age_all(b"objects/pack", 30 * DAY_S),
            _borrow(b"pools/shared.git"),
            files=lambda workshop: workshop.shared.without(b".bitmap"),
        ),
    ),
    Exhibit(
        path=b"members/own-bitmap.git",
        shows=("several-bitmaps",),
        build=bare(run("multi-pack-index", "write", "--bitmap"), _borrow(b"pools/shared.git"), _commit),
    ),
    Exhibit(
        path=b"members/hidden-references.git",
        shows=("alternate-references-hidden",),
        build=bare(
            _borrow(b"pools/shared.git"),
            _commit,
            configure("[core]\n\talternateRefsPrefixes = refs/heads/\n"),
            files=nothing,
        ),
    ),
    Exhibit(
        path=b"members/lost-lender.git",
        shows=("missing-lender",),
        build=bare(_borrow(b"pools/deleted.git"), files=_references),
    ),
    Exhibit(path=b"members/lender-elsewhere.git", shows=("lender-outside-roots",), build=_lender_outside),
    Exhibit(path=b"members/shares-objects-a.git", build=bare()),
    Exhibit(
        path=b"members/shares-objects-b.git",
        shows=("shared-object-store",),
        build=bare(_other_one_s_objects, files=_references),
    ),
)
