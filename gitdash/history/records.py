"""The records of the state file as bytes, and what is asked of it.

msgpack of `model`: fields may be added there, and bytes that no longer decode count as nothing known. Object ids are
kept as bytes, for a repository may have a hundred thousand tips.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import msgspec

from gitdash.model.experiment import ExperimentResult, StrategyComparison
from gitdash.model.ledger import LedgerEntry
from gitdash.model.report import RepositoryReport
from gitdash.model.sizes import SizeMeasurement
from gitdash.model.summary import RepositorySummary

_HEX_LENGTHS: Final = (40, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownInspection:
    """What tells whether a stored inspection is still true."""

    fingerprint: bytes
    """`Inspection.fingerprint`."""
    valid_until_s: float | None
    """`Inspection.valid_until_s`."""
    report: bytes
    """The report with this inspection; `decode_report` reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSize:
    """An older measurement, with what a newer one needs in order to extend it."""

    measurement: SizeMeasurement
    """`from_history` is set."""
    fingerprint: bytes
    """Of references, packs, alternates and git version then."""
    tips: tuple[str, ...]
    """Object ids that were measured from."""
    pack_names: tuple[str, ...]
    """Packs that were there."""


class Loan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One repository borrows from one object store, as the last survey that covered the repository saw it."""

    borrower: bytes
    """`Repository.path`."""
    alternates_path: bytes
    """Its `objects/info/alternates`."""
    store_path: bytes
    """The lender's `objects`."""
    store: tuple[int, int]
    """Device and inode of that folder."""
    place: tuple[int, int] | None = None
    """Device and inode of the folder in which `alternates_path` lies; None if nobody knows."""


class SearchedFolder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A folder below which a survey has looked for repositories."""

    path: bytes
    """Absolute, as it was given."""
    real_path: bytes
    """After links were followed; empty if nobody knows."""
    place: tuple[int, int] | None
    """Device and inode of the folder; None if nobody knows."""
    is_whole: bool
    """All of it answered, then or in a search before."""


class GivenUp(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A git directory whose objects are lost for good, as a person says."""

    git_dir: bytes
    """Its path, after links were followed."""
    place: tuple[int, int]
    """Its device and inode."""


Record = RepositoryReport | RepositorySummary | SizeMeasurement | LedgerEntry | ExperimentResult | StrategyComparison
"""What the state file holds as bytes."""

_NOT_ONE: Final = (ValueError, RecursionError)
"""What the decoder says of bytes that are no record."""


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder()


@cache
def _summary_decoder() -> msgspec.msgpack.Decoder[RepositorySummary]:
    return msgspec.msgpack.Decoder(RepositorySummary)


@cache
def _report_decoder() -> msgspec.msgpack.Decoder[RepositoryReport]:
    return msgspec.msgpack.Decoder(RepositoryReport)


@cache
def _measurement_decoder() -> msgspec.msgpack.Decoder[SizeMeasurement]:
    return msgspec.msgpack.Decoder(SizeMeasurement)


@cache
def _entry_decoder() -> msgspec.msgpack.Decoder[LedgerEntry]:
    return msgspec.msgpack.Decoder(LedgerEntry)


@cache
def _experiment_decoder() -> msgspec.msgpack.Decoder[ExperimentResult]:
    return msgspec.msgpack.Decoder(ExperimentResult)


@cache
def _comparison_decoder() -> msgspec.msgpack.Decoder[StrategyComparison]:
    return msgspec.msgpack.Decoder(StrategyComparison)


def encode(record: Record) -> bytes:
    """Return a record as bytes."""
    return _encoder().encode(record)


def decode_summary(data: bytes) -> RepositorySummary | None:
    """Return a summary; None if the bytes are not one (any more)."""
    try:
        return _summary_decoder().decode(data)
    except _NOT_ONE:
        return None


def decode_report(data: bytes) -> RepositoryReport | None:
    """Return a report; None if the bytes are not one (any more)."""
    try:
        return _report_decoder().decode(data)
    except _NOT_ONE:
        return None


def decode_measurement(data: bytes) -> SizeMeasurement | None:
    """Return a measurement, marked as coming from here; None if the bytes are not one (any more)."""
    try:
        measurement = _measurement_decoder().decode(data)
    except _NOT_ONE:
        return None
    return msgspec.structs.replace(measurement, from_history=True)


def decode_entry(data: bytes) -> LedgerEntry | None:
    """Return an action; None if the bytes are not one, such as that of a gitdash that knows more outcomes."""
    try:
        return _entry_decoder().decode(data)
    except _NOT_ONE:
        return None


def decode_experiment(data: bytes) -> ExperimentResult | None:
    """Return an experiment; None if the bytes are not one, such as that of a gitdash that knows more kinds."""
    try:
        return _experiment_decoder().decode(data)
    except _NOT_ONE:
        return None


def decode_comparison(data: bytes) -> StrategyComparison | None:
    """Return a comparison of strategies; None if the bytes are not one (any more)."""
    try:
        return _comparison_decoder().decode(data)
    except _NOT_ONE:
        return None


def pack_store(store: tuple[int, int]) -> bytes:
    """Return a device and an inode as bytes: both may be larger than SQLite's integers."""
    return b"%d:%d" % store


def unpack_store(data: bytes) -> tuple[int, int]:
    """Return what `pack_store` was given; raises ValueError for anything else."""
    device, _, inode = data.partition(b":")
    return int(device), int(inode)


def pack_ids(object_ids: Sequence[str]) -> bytes:
    """Return object ids of one hash function as bytes, the length of one first; raises ValueError for others."""
    if not object_ids:
        return b""
    length = len(object_ids[0])
    if length not in _HEX_LENGTHS or any(len(object_id) != length for object_id in object_ids):
        raise ValueError("not object ids of one hash function")
    return bytes((length // 2,)) + bytes.fromhex("".join(object_ids))


def unpack_ids(data: bytes) -> tuple[str, ...]:
    """Return what `pack_ids` was given; raises ValueError for what it never returns."""
    if not data:
        return ()
    length, text = data[0] * 2, data[1:].hex()
    return tuple(text[start : start + length] for start in range(0, len(text), length))


def pack_names(names: Sequence[str]) -> bytes:
    """Return names as bytes; a name holds no NUL."""
    return "\0".join(names).encode("utf-8", "surrogatepass")


def unpack_names(data: bytes) -> tuple[str, ...]:
    """Return what `pack_names` was given; raises ValueError for what it never returns."""
    return tuple(data.decode("utf-8", "surrogatepass").split("\0")) if data else ()
