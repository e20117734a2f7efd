"""What several calls of git took together. Pure."""

from collections.abc import Sequence

from gitdash.gitcmd.git_program import GitOutput
from gitdash.lab.commands import argv_of, stdin_of
from gitdash.lab.variant import Measured


def joined(outputs: Sequence[GitOutput], *, answer: int | None = None, wall_s: float | None = None) -> Measured:
    """Return the sum of times and reads, and the highest peak; `wall_s` None for the sum of the calls' own.

    What was not seen of one call is not known of all.
    """
    used = [output.usage for output in outputs if output.usage is not None]
    is_known = len(used) == len(outputs)
    peaks_bytes = [usage.peak_memory_bytes for usage in used if usage.peak_memory_bytes is not None]
    return Measured(
        wall_s=sum(output.elapsed_s for output in outputs) if wall_s is None else wall_s,
        user_s=sum(usage.user_s for usage in used) if is_known else None,
        system_s=sum(usage.system_s for usage in used) if is_known else None,
        peak_memory_bytes=max(peaks_bytes) if peaks_bytes and len(peaks_bytes) == len(outputs) else None,
        read_bytes=sum(usage.read_bytes for usage in used) if is_known else None,
        answer=answer,
        argv=argv_of(outputs),
        stdin=stdin_of(outputs),
    )
