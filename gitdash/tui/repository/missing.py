"""What stands in place of facts that are not at hand: the repository is still being read, or cannot be. Pure."""

from collections.abc import Sequence

from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Tone
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.repository.view import RepositoryView


def missing_lines(view: RepositoryView, width: int) -> Sequence[Line]:
    """Return why nothing of the files is known; no line if they were read."""
    report = view.report
    if report is None:
        return wrapped("This repository is being read.", Tone.DIM, width)
    if not isinstance(report.inspection, Unreadable):
        return ()
    lines = wrapped(f"This repository could not be read: {report.inspection.reason}.", Tone.CRITICAL, width)
    return [*lines, *again_lines(view, width)]


def again_lines(view: RepositoryView, width: int) -> Sequence[Line]:
    """Return which key looks at the repository again; no line if none does."""
    key = view.key("rescan")
    return wrapped(f"{key} looks at it again.", Tone.DIM, width) if key else ()
