"""The multi-pack-index, a single file or an incremental chain.

Source: gitformat-pack(5), "multi-pack-index (MIDX) files"; git's midx.c (2.55): a chain
`multi-pack-index.d/multi-pack-index-chain` is used only if there is no single file. Reads heads, no object ids.
"""

from dataclasses import dataclass
from typing import Final

from gitdash.formats.multi_pack_index import MultiPackIndex, read_multi_pack_index, read_multi_pack_index_chain
from gitdash.formats.reading import FormatError
from gitdash.inspection.files import FileError, FileMissingError, open_buffer, read_file
from gitdash.inspection.listing import Listing
from gitdash.inspection.packs import PACK_FOLDER
from gitdash.inspection.reading import Problems
from gitdash.model.inspection import MultiPackIndexFacts
from gitdash.model.repository import Unreadable
from gitdash.units import printable, sum_bytes

_CHAIN_FOLDER: Final = b"objects/pack/multi-pack-index.d"
_CHAIN_NAME: Final = b"multi-pack-index-chain"
_CHAIN_MAXIMUM_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PackCoverage:
    """The facts, and the packs that they are about."""

    facts: MultiPackIndexFacts | Unreadable | None
    pack_names: frozenset[bytes]
    """Packs that the multi-pack-index names, without suffix, present or not."""


_NO_COVERAGE: Final = PackCoverage(facts=None, pack_names=frozenset())


def inspect_multi_pack_index(listing: Listing, problems: Problems) -> PackCoverage:
    """Read the multi-pack-index if there is one; one damaged layer makes the whole unreadable, as for git."""
    entries = listing.folders.get(PACK_FOLDER, {})
    try:
        if b"multi-pack-index" in entries:
            return _coverage(listing, PACK_FOLDER, (b"multi-pack-index",))
        if _CHAIN_NAME in listing.folders.get(_CHAIN_FOLDER, {}):
            chain = read_file(listing.path(_CHAIN_FOLDER + b"/" + _CHAIN_NAME), _CHAIN_MAXIMUM_BYTES)
            names = [b"multi-pack-index-%s.midx" % layer.encode() for layer in read_multi_pack_index_chain(chain)]
            return _coverage(listing, _CHAIN_FOLDER, tuple(names)) if names else _NO_COVERAGE
    except FileError as error:
        problems.file_vanished |= isinstance(error, FileMissingError)
        return PackCoverage(facts=Unreadable(error.reason), pack_names=frozenset())
    except FormatError as error:
        return PackCoverage(facts=Unreadable(printable(str(error))), pack_names=frozenset())
    return _NO_COVERAGE


def _coverage(listing: Listing, folder: bytes, names: tuple[bytes, ...]) -> PackCoverage:
    layers = [_read_layer(listing, folder + b"/" + name) for name in names]
    entries = listing.folders.get(PACK_FOLDER, {})
    pack_names = [name.removesuffix(b".idx") for layer in layers for name in layer.pack_names]
    files = listing.folders.get(folder, {})
    facts = MultiPackIndexFacts(
        version=max(layer.version for layer in layers),
        pack_count=len(pack_names),
        object_count=sum(layer.object_count for layer in layers),
        layer_count=len(layers),
        missing_pack_count=sum(name + b".pack" not in entries for name in pack_names),
        has_reverse_index=_has_reverse_index(listing, layers),
        bytes=sum_bytes(files[name].st_size for name in names if name in files),
    )
    return PackCoverage(facts=facts, pack_names=frozenset(pack_names))


def _read_layer(listing: Listing, relative_path: bytes) -> MultiPackIndex:
    with open_buffer(listing.path(relative_path)) as buffer:
        return read_multi_pack_index(buffer)


def _has_reverse_index(listing: Listing, layers: list[MultiPackIndex]) -> bool:
    """Tell whether a reverse index is in the file (chunk RIDX) or beside it (before git 2.34)."""
    if any(b"RIDX" in layer.chunk_ids for layer in layers):
        return True
    beside = {b"multi-pack-index-%s.rev" % layer.checksum.encode() for layer in layers}
    return not beside.isdisjoint(listing.folders.get(PACK_FOLDER, {}))
