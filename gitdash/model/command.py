"""What git was asked: one record for each process."""

import msgspec


class CommandRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One git process that ran for a repository."""

    number: int
    """Counts up over all commands of this run of gitdash."""
    path: bytes | None
    """The repository for which it ran; None if it ran for none, such as `git version`."""
    argv: tuple[str, ...]
    """With credentials masked. Printable."""
    started_s: float
    """On the monotonic clock."""
    elapsed_s: float | None
    """None while it runs."""
    exit_code: int | None
    """None while it runs, or if it was ended by a signal or did not start."""
    ending: str | None = None
    """Why there is no ordinary ending, such as `timed out`; None if there is one."""
    stderr: str = ""
    """At most 4 KiB, with credentials masked. Printable but for line feeds."""
