"""Records of the model as JSON, every field under its own name.

Source: the README's section on JSON: raw numbers with the unit in the key, null for absent, times RFC 3339 UTC, so that
`started_at_s` there is `started_at` here. Names may be added; a name keeps its meaning.
"""

import enum
from typing import Any

import msgspec

from gitdash.export.json_values import Record, path_record, rounded
from gitdash.units import utc_text

_MOMENT = "_at_s"


def struct_record(struct: msgspec.Struct) -> Record:
    """Return a record with everything in it; bytes are taken for paths."""
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
            return struct_record(value)
        case tuple():
            return [_value(part) for part in value]
        case enum.Enum():
            return value.value
        case float():
            return rounded(value)
        case _:
            return value
