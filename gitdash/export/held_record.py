"""Who holds deleted packs of a repository, as JSON. Pure."""

from typing import Any

from gitdash.model.held_packs import HeldPacks
from gitdash.model.repository import Unreadable


def held_record(found: HeldPacks | Unreadable) -> dict[str, Any]:
    """Return the record; why there is none, if nobody can know."""
    if isinstance(found, Unreadable):
        return {"unreadable": found.reason}
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
