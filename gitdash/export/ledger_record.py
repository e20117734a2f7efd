"""The JSON of `gitdash history`: every field of every entry, under the names of `model.ledger`.

Source: the README's section on JSON: raw numbers with the unit in the key, null for absent, times RFC 3339 UTC, so that
`started_at_s` there is `started_at` here. Names may be added; a name keeps its meaning.
"""

import enum
from collections.abc import Iterable
from typing import Any

import msgspec

from gitdash.export.json_record import SCHEMA_VERSION, Record, path_record, rounded, utc_text
from gitdash.model.ledger import LedgerEntry

_MOMENT = "_at_s"


def history_document(path: bytes, entries: Iterable[LedgerEntry], *, gitdash_version: str, now_s: float) -> Record:
    """Return the whole answer of `history --format json` for one repository."""
    return {
        "schema_version": SCHEMA_VERSION,
        "gitdash_version": gitdash_version,
        "generated_at": utc_text(now_s),
        **path_record("path", path),
        "actions": [action_record(entry) for entry in entries],
    }


def action_record(entry: LedgerEntry) -> Record:
    """Return one entry with everything in it."""
    return _struct(entry)


def _struct(struct: msgspec.Struct) -> Record:
    found: Record = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, bytes):
            found |= path_record(name, value)
        elif name.endswith(_MOMENT):
            found[name.removesuffix("_s")] = utc_text(value)
        else:
            found[name] = _value(value)
    return found


def _value(value: Any) -> Any:  # noqa: ANN401 - whatever stands in a record
    match value:
        case msgspec.Struct():
            return _struct(value)
        case tuple():
            return [_value(part) for part in value]
        case enum.Enum():
            return value.value
        case float():
            return rounded(value)
        case _:
            return value
