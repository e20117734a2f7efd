"""What a look at a repository, or a measurement of it, found other than before. Pure."""

from typing import Final

from gitdash.model.job import JobFigures
from gitdash.tui.drawing.cells import Line
from gitdash.tui.drawing.differences import Figure, difference_groups

_FIGURES: Final = (
    Figure[JobFigures]("disk", lambda figures: figures.disk_bytes, is_bytes=True),
    Figure[JobFigures]("packs", lambda figures: figures.pack_count),
    Figure[JobFigures]("loose objects", lambda figures: figures.loose_count),
    # git measures that one, the others are read
    Figure[JobFigures]("reachable", lambda figures: figures.reachable_bytes, is_bytes=True, unknown="not measured"),
    Figure[JobFigures]("references", lambda figures: figures.reference_count),
    Figure[JobFigures]("findings", lambda figures: figures.finding_count),
)


def job_differences(before: JobFigures | None, after: JobFigures | None) -> list[Line]:
    """Return each figure that is other than before, then some that are not; empty if nothing is known of it."""
    return difference_groups(_FIGURES, before, after)
