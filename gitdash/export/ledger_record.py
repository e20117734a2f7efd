"""The JSON of `gitdash history`: every field of every entry, under the names of `model.ledger`."""

from collections.abc import Iterable

from gitdash.export.json_values import SCHEMA_VERSION, Record, path_record
from gitdash.export.struct_record import struct_record
from gitdash.model.ledger import LedgerEntry
from gitdash.units import utc_text


def history_document(
    path: bytes | None, entries: Iterable[LedgerEntry], *, gitdash_version: str, now_s: float
) -> Record:
    """Return the whole answer of `history --format json` for one repository, or for all (None)."""
    return {
        "schema_version": SCHEMA_VERSION,
        "gitdash_version": gitdash_version,
        "generated_at": utc_text(now_s),
        **({"path": None} if path is None else path_record("path", path)),
        "actions": [action_record(entry) for entry in entries],
    }


def action_record(entry: LedgerEntry) -> Record:
    """Return one entry with everything in it."""
    return struct_record(entry)
