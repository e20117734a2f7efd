"""An `objects` folder as the index arithmetic wants it: buffers over its packs, ids of its loose objects.

Imports numpy through `measurement.stores`: import this module only where it is used.
"""

import os
from collections.abc import Callable, Iterable, Iterator

from gitdash.formats.multi_pack_index import read_multi_pack_index_chain
from gitdash.formats.reading import Buffer, FormatError
from gitdash.inspection.files import FileError, open_buffer, read_file
from gitdash.inspection.object_ids import index_paths, loose_object_sizes
from gitdash.measurement.stores import Store, StoredPack

_CHAIN_MAXIMUM_BYTES = 1 << 20

IsChosen = Callable[[bytes], bool]
"""Tells by the name of a pack, without `.pack`, whether it belongs to the store."""


def object_store(objects_dir: bytes, *, is_chosen: IsChosen = lambda _: True, with_loose: bool = True) -> Store:
    """Return an `objects` folder as a store, whole or in part; nothing is read yet."""
    return Store(
        identity=objects_dir,
        packs=lambda: stored_packs(objects_dir, is_chosen),
        loose=(lambda: loose_object_sizes(objects_dir)) if with_loose else _nothing,
        multi_pack_index=lambda: _multi_pack_index(objects_dir),
    )


def stored_packs(objects_dir: bytes, is_chosen: IsChosen = lambda _: True) -> Iterator[StoredPack]:
    """Yield the packs of a store that have an index; buffers as `StoredPack` has them."""
    for index_path in index_paths(objects_dir):
        stem = index_path.removesuffix(b".idx")
        name = os.path.basename(stem)
        if not is_chosen(name):
            continue
        pack_path = stem + b".pack"
        with open_buffer(index_path) as index, open_buffer(pack_path) as pack:
            yield StoredPack(name=name + b".pack", index=index, pack=pack, mtime_s=os.stat(pack_path).st_mtime)


def _multi_pack_index(objects_dir: bytes) -> Iterator[Buffer]:
    """Yield the single file, else the layers of the chain; what cannot be read names no copy, as for git."""
    folder = os.path.join(objects_dir, b"pack")
    path = os.path.join(folder, b"multi-pack-index")
    for layer in [path] if os.path.lexists(path) else _chain_layers(os.path.join(folder, b"multi-pack-index.d")):
        try:
            buffer = open_buffer(layer)
        except FileError:
            return
        with buffer:
            yield buffer


def _chain_layers(folder: bytes) -> list[bytes]:
    """Return the paths of the layers, the newest first: the chain lists them as they were written."""
    try:
        chain = read_file(os.path.join(folder, b"multi-pack-index-chain"), _CHAIN_MAXIMUM_BYTES)
        checksums = read_multi_pack_index_chain(chain)
    except (FileError, FormatError):
        return []
    return [os.path.join(folder, b"multi-pack-index-%s.midx" % checksum.encode()) for checksum in reversed(checksums)]


def _nothing() -> Iterable[tuple[str, int]]:
    return ()
