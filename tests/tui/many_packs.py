"""A repository with many packs, for the Packs tab: made of values, the same each time."""

from collections.abc import Sequence

import msgspec

from gitdash.model.inspection import MultiPackIndexFacts, PackFacts, PackFile
from gitdash.model.report import RepositoryReport
from tests.tui.fixture_fleet import NOW_S, inspection, pack_facts, report

NAME = b"many/packs.git"


def pack(number: int, object_count: int | None = 100, **traits: bool) -> PackFile:
    """One pack; a greater number is older."""
    return PackFile(
        name=f"pack-{number * 2_654_435_761 % 2**32:08x}{number:032x}",
        bytes=(object_count or 7) * 120 + number,
        mtime_s=NOW_S - 3_600 * (number + 1),
        object_count=object_count,
        index_bytes=1_072 + 28 * (object_count or 0) if traits.get("has_index", True) else 0,
        **traits,
    )


def facts_of(packs: Sequence[PackFile]) -> PackFacts:
    """`objects/pack` with these packs."""
    facts = pack_facts(len(packs), sum(entry.bytes for entry in packs))
    return msgspec.structs.replace(
        facts,
        packs=tuple(sorted(packs, key=lambda entry: entry.name)),
        kept_count=sum(entry.kept for entry in packs),
        cruft_count=sum(entry.cruft for entry in packs),
        promisor_count=sum(entry.promisor for entry in packs),
        missing_index_names=tuple(f"{entry.name}.pack" for entry in packs if not entry.has_index),
        outside_midx_count=sum(not entry.in_multi_pack_index for entry in packs),
        index_bytes=sum(entry.index_bytes for entry in packs),
    )


def report_of(packs: Sequence[PackFile], *, name: bytes = NAME, loose_count: int = 0) -> RepositoryReport:
    """A repository with these packs and a multi-pack-index."""
    facts = inspection(packs=facts_of(packs), loose_count=loose_count, inode=99)
    index = MultiPackIndexFacts(
        version=1, pack_count=len(packs) or 1, object_count=41_233, layer_count=1, missing_pack_count=0
    )
    return report(name, msgspec.structs.replace(facts, multi_pack_index=index))


def thousand_packs() -> list[PackFile]:
    """One thousand packs: three large ones in a progression, some that take no part, and many small ones."""
    large = [
        pack(number, count, in_multi_pack_index=True, has_reverse_index=True, has_bitmap=number == 0)
        for number, count in enumerate((1_310_000, 402_000, 150_000))
    ]
    outside = [pack(3, 5_000, kept=True), pack(4, 800, cruft=True), pack(5, None, has_index=False)]
    small = [pack(number, 3 + number * 37 % 90, in_multi_pack_index=number % 3 > 0) for number in range(6, 1_000)]
    return [*large, *outside, *small]
