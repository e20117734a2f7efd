"""Reachability bitmaps: `*.bitmap` in `objects/pack`.

Source: git's Documentation/technical/bitmap-format; gitformat-pack(5) for the names of a multi-pack-index's bitmap,
which carry its checksum. Reads headers, not the bitmaps of commits.
"""

from typing import Final

from gitdash.formats.bitmap import read_bitmap
from gitdash.inspection.listing import Listing
from gitdash.inspection.packs import PACK_FOLDER
from gitdash.inspection.reading import Problems, read_listed
from gitdash.model.inspection import BitmapFacts, BitmapSource, ObjectFormat
from gitdash.units import printable_path

_CHAIN_FOLDER: Final = b"objects/pack/multi-pack-index.d"
_FOLDERS: Final = (PACK_FOLDER, _CHAIN_FOLDER)


def inspect_bitmaps(listing: Listing, object_format: ObjectFormat, problems: Problems) -> tuple[BitmapFacts, ...]:
    """Return the readable bitmaps, those of the multi-pack-index first."""
    facts = []
    for folder in _FOLDERS:
        for name, found in listing.folders.get(folder, {}).items():
            if not name.endswith(b".bitmap"):
                continue
            header = read_listed(
                listing, folder + b"/" + name, found, problems, lambda buffer: read_bitmap(buffer, object_format)
            )
            if header is None:
                continue
            of_index = name.startswith(b"multi-pack-index-")
            facts.append(
                BitmapFacts(
                    name=printable_path(name),
                    source=BitmapSource.MULTI_PACK_INDEX if of_index else BitmapSource.PACK,
                    version=header.version,
                    commit_count=header.commit_count,
                    hash_cache=header.hash_cache,
                    lookup_table=header.lookup_table,
                    pseudo_merges=header.pseudo_merges,
                    bytes=found.st_size,
                    mtime_s=found.st_mtime,
                )
            )
    return tuple(sorted(facts, key=lambda bitmap: bitmap.source is BitmapSource.PACK))
