"""How far a git command is, in its own words."""

import msgspec


class CommandProgress(msgspec.Struct, frozen=True, kw_only=True):
    """One line of progress."""

    phase: str
    """What is counted, as git calls it, in lower case at its beginning. Printable."""
    done_count: int
    total_count: int | None
    """None if git does not know it."""
