"""Exhibits on packs, loose objects, bitmaps and commit-graphs.

Source: gitformat-pack(5), gitformat-bitmap(5), gitformat-commit-graph(5).
"""

import hashlib
import os
import zlib
from typing import Final

from gitdash.demo.exhibit import (
    DAY_S,
    HOUR_S,
    Exhibit,
    Step,
    age_all,
    bare,
    large,
    pack_file,
    put,
    run,
    sixty_packs,
)
from gitdash.demo.workshop import Files, Workshop, write

_MULTI_PACK_BITMAP: Final = ("multi-pack-index", "write", "--bitmap")
_LOOSE_COUNT: Final = 1_200
"""More than the 1,024 that are allowed, and few enough to be made in a moment."""
_GRAPH: Final = (b".graph", b"commit-graph-chain")
_ABSENT_LAYER: Final = b"1" * 40 + b"\n"


def _stray_pack(*endings: bytes) -> Step:
    """Add files of a pack that the history does not need, two hours old."""

    def step(workshop: Workshop, git_dir: bytes) -> None:
        name = min(path for path in workshop.sixty_packs.files if path.endswith(b".pack")).removesuffix(b".pack")
        for ending in endings:
            put(name + ending, workshop.sixty_packs.files[name + ending], age_s=2 * HOUR_S)(workshop, git_dir)

    return step


def _remove_one_pack(_workshop: Workshop, git_dir: bytes) -> None:
    path = pack_file(git_dir, b".pack").removesuffix(b".pack")
    for ending in (b".pack", b".idx"):
        os.unlink(path + ending)


def _loose_objects(_workshop: Workshop, git_dir: bytes) -> None:
    """Write blobs as git would; a process for each would take a minute."""
    for number in range(_LOOSE_COUNT):
        content = b"unpacked %d\n" % number
        store = b"blob %d\0" % len(content) + content
        name = hashlib.sha1(store, usedforsecurity=False).hexdigest().encode()
        write(git_dir + b"/objects/%s/%s" % (name[:2], name[2:]), zlib.compress(store, 1))


def _keep(workshop: Workshop, git_dir: bytes) -> None:
    name = os.path.basename(pack_file(git_dir, b".pack")).removesuffix(b".pack")
    put(b"objects/pack/" + name + b".keep", b"receive-pack 4711 on forge\n", age_s=30 * DAY_S)(workshop, git_dir)


def _absent_layer(_workshop: Workshop, git_dir: bytes) -> None:
    with open(git_dir + b"/objects/info/commit-graphs/commit-graph-chain", "ab") as chain:
        chain.write(_ABSENT_LAYER)


def _without_graph(workshop: Workshop) -> Files:
    return workshop.large.without(*_GRAPH)


def _without_bitmap(workshop: Workshop) -> Files:
    return workshop.large.without(b".bitmap")


def _graph(*options: str, **config: str) -> Step:
    pairs = [(f"commitGraph.{name}", value) for name, value in config.items()]
    return run("commit-graph", "write", "--reachable", *options, config=pairs)


EXHIBITS: Final = (
    Exhibit(path=b"archives/healthy.git", build=bare(files=large)),
    Exhibit(path=b"archives/sixty-packs.git", shows=("packs-outside-midx",), build=bare(files=sixty_packs)),
    Exhibit(
        path=b"archives/sixty-packs-indexed.git",
        shows=("many-packs",),
        build=bare(run(*_MULTI_PACK_BITMAP), files=sixty_packs),
    ),
    Exhibit(
        path=b"archives/multi-pack-bitmap.git",
        build=bare(_stray_pack(b".pack", b".idx"), run(*_MULTI_PACK_BITMAP)),
    ),
    Exhibit(
        path=b"archives/lookup-table-bitmap.git",
        build=bare(
            _stray_pack(b".pack", b".idx"),
            run(*_MULTI_PACK_BITMAP, config=(("pack.writeBitmapLookupTable", "true"),)),
        ),
    ),
    Exhibit(
        path=b"archives/multi-pack-index-names-lost-pack.git",
        shows=("midx-names-absent-packs",),
        build=bare(_stray_pack(b".pack", b".idx"), run("multi-pack-index", "write"), _remove_one_pack),
    ),
    Exhibit(
        path=b"archives/pack-without-index.git",
        shows=("pack-without-index", "size-unreadable"),
        build=bare(_stray_pack(b".pack")),
    ),
    Exhibit(path=b"archives/index-without-pack.git", shows=("orphan-index",), build=bare(_stray_pack(b".idx"))),
    Exhibit(path=b"archives/forgotten-keep.git", shows=("stale-keep",), build=bare(_keep)),
    Exhibit(
        path=b"archives/stopped-fetch.git",
        shows=("temporary-files",),
        build=bare(put(b"objects/pack/tmp_pack_Vq3XbN", b"PACK" + bytes(300_000), age_s=5 * DAY_S)),
    ),
    Exhibit(
        path=b"archives/old-loose-objects.git",
        shows=("loose-objects", "stale-loose-objects"),
        build=bare(_loose_objects, age_all(b"objects", 20 * DAY_S)),
    ),
    Exhibit(path=b"archives/no-bitmap.git", shows=("no-bitmap",), build=bare(files=_without_bitmap)),
    Exhibit(path=b"archives/no-commit-graph.git", shows=("no-commit-graph",), build=bare(files=_without_graph)),
    Exhibit(
        path=b"archives/commit-graph-in-one-file.git",
        shows=("commit-graph-monolithic",),
        build=bare(_graph("--changed-paths"), files=_without_graph),
    ),
    Exhibit(
        path=b"archives/commit-graph-without-filters.git",
        shows=("commit-graph-without-bloom",),
        build=bare(_graph("--no-changed-paths", "--split=replace"), files=_without_graph),
    ),
    Exhibit(
        path=b"archives/commit-graph-without-dates.git",
        shows=("commit-graph-without-generation-data",),
        build=bare(_graph("--changed-paths", "--split=replace", generationVersion="1"), files=_without_graph),
    ),
    Exhibit(
        path=b"archives/commit-graph-cut.git",
        shows=("commit-graph-missing-layers", "measurement-notes"),
        build=bare(_absent_layer, files=large),
    ),
)
