"""Who holds deleted packs of a repository, as JSON. Pure."""

from typing import Any

from gitdash.export.json_values import Record, part_value
from gitdash.model.held_packs import HeldPacks
from gitdash.model.repository import Unreadable


def held_record(found: HeldPacks | Unreadable) -> Any:  # noqa: ANN401 - JSON has no type
    """Return the record; why there is none, if nobody can know."""
    return part_value(found, _record)


def _record(found: HeldPacks) -> Record:
    return {
        "bytes": found.bytes,
        "holders": [
            {
                "holder_pid": holder.process_id,
                "command": holder.command,
                "own": holder.is_own,
                "pack_count": holder.pack_count,
                "other_count": holder.other_count,
                "bytes": holder.bytes,
            }
            for holder in found.holders
        ],
        "unseen_process_count": found.unseen_count,
        "incomplete": not found.is_complete,
    }
