"""The commit-graph, a single file or a chain.

Source: gitformat-commit-graph(5); git's commit-graph.c: the single file `objects/info/commit-graph` wins over the
chain `objects/info/commit-graphs/commit-graph-chain`. Reads heads, no commits.
"""

from collections.abc import Mapping
from typing import Final

from gitdash.formats.commit_graph import CommitGraph, read_commit_graph, read_commit_graph_chain
from gitdash.formats.reading import FormatError
from gitdash.inspection.files import FileError, FileMissingError, open_buffer, read_file
from gitdash.inspection.listing import Listing
from gitdash.inspection.reading import Problems
from gitdash.model.inspection import CommitGraphFacts
from gitdash.model.repository import Unreadable
from gitdash.units import printable, sum_bytes

_FOLDER: Final = b"objects/info"
_CHAIN_FOLDER: Final = b"objects/info/commit-graphs"
_CHAIN_NAME: Final = b"commit-graph-chain"
_CHAIN_MAXIMUM_BYTES: Final = 1 << 20
_LOOKS: Final = 3
"""So often a chain is read that git replaces meanwhile, with the layers that it named."""
_BLOOM_CHUNKS: Final = frozenset({b"BIDX", b"BDAT"})


def inspect_commit_graph(listing: Listing, problems: Problems) -> CommitGraphFacts | Unreadable | None:
    """Read the commit-graph; None if there is none, or no longer, which `problems` then knows."""
    try:
        if b"commit-graph" in listing.folders.get(_FOLDER, {}):
            return _facts(listing, _FOLDER, {b"commit-graph": _read_file(listing, _FOLDER + b"/commit-graph")})
        if _CHAIN_NAME in listing.folders.get(_CHAIN_FOLDER, {}):
            return _inspect_chain(listing, problems)
    except FileMissingError:
        problems.file_vanished = True
    except FileError as error:
        return Unreadable(error.reason)
    except FormatError as error:
        return Unreadable(printable(str(error)))
    return None


def _inspect_chain(listing: Listing, problems: Problems) -> CommitGraphFacts | None:
    """Read all layers; a layer that is not there is missing only if the chain names it still."""
    names = _chain(listing)
    for _ in range(_LOOKS):
        layers = {name: _read_layer(listing, _CHAIN_FOLDER + b"/" + name) for name in names}
        if all(layers.values()):
            break
        names_before, names = names, _chain(listing)
        if names == names_before:
            break
    else:
        problems.file_vanished = True
        return None
    return _facts(listing, _CHAIN_FOLDER, layers, is_chain=True) if names else None


def _chain(listing: Listing) -> tuple[bytes, ...]:
    data = read_file(listing.path(_CHAIN_FOLDER + b"/" + _CHAIN_NAME), _CHAIN_MAXIMUM_BYTES)
    return tuple(b"graph-%s.graph" % layer.encode() for layer in read_commit_graph_chain(data))


def _facts(
    listing: Listing, folder: bytes, found: Mapping[bytes, CommitGraph | None], *, is_chain: bool = False
) -> CommitGraphFacts:
    layers = [layer for layer in found.values() if layer is not None]
    files = listing.folders.get(folder, {})
    return CommitGraphFacts(
        chain_length=len(found) if is_chain else 0,
        commit_count=sum(layer.commit_count for layer in layers),
        bloom_filters=bool(layers) and all(_BLOOM_CHUNKS.issubset(layer.chunk_ids) for layer in layers),
        generation_data=bool(layers) and all(b"GDA2" in layer.chunk_ids for layer in layers),
        missing_layer_count=len(found) - len(layers),
        bytes=sum_bytes(files[name].st_size for name in found if name in files),
    )


def _read_layer(listing: Listing, relative_path: bytes) -> CommitGraph | None:
    """Return None if the layer is not there."""
    try:
        return _read_file(listing, relative_path)
    except FileMissingError:
        return None


def _read_file(listing: Listing, relative_path: bytes) -> CommitGraph:
    with open_buffer(listing.path(relative_path)) as buffer:
        return read_commit_graph(buffer)
