"""The commit-graph, a single file or a chain.

Source: gitformat-commit-graph(5); git's commit-graph.c: the single file `objects/info/commit-graph` wins over the
chain `objects/info/commit-graphs/commit-graph-chain`. Reads heads, no commits.
"""

from typing import Final

from gitdash.formats.commit_graph import CommitGraph, read_commit_graph, read_commit_graph_chain
from gitdash.formats.reading import FormatError
from gitdash.inspection.files import FileError, FileMissingError, open_buffer, read_file
from gitdash.inspection.listing import Listing
from gitdash.model.inspection import CommitGraphFacts
from gitdash.model.repository import Unreadable
from gitdash.units import printable, sum_bytes

_FOLDER: Final = b"objects/info"
_CHAIN_FOLDER: Final = b"objects/info/commit-graphs"
_CHAIN_NAME: Final = b"commit-graph-chain"
_CHAIN_MAXIMUM_BYTES: Final = 1 << 20
_BLOOM_CHUNKS: Final = frozenset({b"BIDX", b"BDAT"})


def inspect_commit_graph(listing: Listing) -> CommitGraphFacts | Unreadable | None:
    """Read the commit-graph; None if there is none."""
    try:
        if b"commit-graph" in listing.folders.get(_FOLDER, {}):
            return _facts(listing, _FOLDER, (b"commit-graph",), chain_length=0)
        if _CHAIN_NAME in listing.folders.get(_CHAIN_FOLDER, {}):
            chain = read_file(listing.path(_CHAIN_FOLDER + b"/" + _CHAIN_NAME), _CHAIN_MAXIMUM_BYTES)
            names = [b"graph-%s.graph" % layer.encode() for layer in read_commit_graph_chain(chain)]
            return _facts(listing, _CHAIN_FOLDER, tuple(names), chain_length=len(names)) if names else None
    except FileError as error:
        return Unreadable(error.reason)
    except FormatError as error:
        return Unreadable(printable(str(error)))
    return None


def _facts(listing: Listing, folder: bytes, names: tuple[bytes, ...], *, chain_length: int) -> CommitGraphFacts:
    layers = [layer for name in names if (layer := _read_layer(listing, folder + b"/" + name))]
    files = listing.folders.get(folder, {})
    return CommitGraphFacts(
        chain_length=chain_length,
        commit_count=sum(layer.commit_count for layer in layers),
        bloom_filters=bool(layers) and all(_BLOOM_CHUNKS.issubset(layer.chunk_ids) for layer in layers),
        generation_data=bool(layers) and all(b"GDA2" in layer.chunk_ids for layer in layers),
        missing_layer_count=len(names) - len(layers),
        bytes=sum_bytes(files[name].st_size for name in names if name in files),
    )


def _read_layer(listing: Listing, relative_path: bytes) -> CommitGraph | None:
    """Return None if the layer is not there."""
    try:
        with open_buffer(listing.path(relative_path)) as buffer:
            return read_commit_graph(buffer)
    except FileMissingError:
        return None
