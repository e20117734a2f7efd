"""Deleted files of an object store that processes still have open: their space is not free."""

import msgspec

from gitdash.units import counted, human_bytes


class PackHolder(msgspec.Struct, frozen=True, kw_only=True):
    """One process, and what it keeps."""

    process_id: int
    command: str
    """Its name, as the system shortens it. Printable."""
    is_own: bool
    """It is gitdash, or was started by it."""
    pack_count: int
    """Deleted packs."""
    other_count: int
    """Other deleted files of the store, such as a multi-pack-index that was replaced."""
    bytes: int
    """On disk, of all of these, less what still has another name."""

    @property
    def sentence(self) -> str:
        """What it holds, for people."""
        parts = [counted(self.pack_count, "deleted pack")] if self.pack_count else []
        if self.other_count:
            parts.append(counted(self.other_count, "other deleted file" if parts else "deleted file of objects"))
        who = f"process {self.process_id} ({self.command}{', of gitdash' if self.is_own else ''})"
        return f"{who} holds {' and '.join(parts)}, {human_bytes(self.bytes)}"


class HeldPacks(msgspec.Struct, frozen=True, kw_only=True):
    """All that hold deleted files of one object store, the one that keeps the most first."""

    holders: tuple[PackHolder, ...]
    bytes: int
    """Of all together: what two processes hold counts once."""
    unseen_count: int
    """Processes whose files we may not see, or not all: mostly those of other users."""
    is_complete: bool = True
    """False if there were more processes than could be looked at in time."""

    @property
    def gaps(self) -> tuple[str, ...]:
        """What was not seen, for people."""
        texts = []
        if self.unseen_count:
            texts.append(f"{counted(self.unseen_count, 'process', 'processes')} cannot be looked into")
        if not self.is_complete:
            texts.append("there are more processes than could be looked at in time")
        return tuple(texts)
