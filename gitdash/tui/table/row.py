"""One repository as the fleet keeps it: its state, what a filter looks for in it, and what is drawn of it. Pure."""

from gitdash.model.summary import RepositorySummary
from gitdash.tui.table.totals import Sizes, counted_sizes
from gitdash.units import printable_path


class FleetRow:
    """One repository; `version` grows with each change, so that drawn lines can be kept."""

    __slots__ = ("_sizes", "busy", "group", "haystack", "summary", "version")

    def __init__(self, summary: RepositorySummary) -> None:
        self.summary = summary
        self.haystack = _haystack(summary)
        self.version = 0
        self.busy = False
        self.group: int | None = None
        """Number of its group; None until it is asked for."""
        self._sizes: Sizes | None = None

    @property
    def sizes(self) -> Sizes:
        """What it adds to the sums of a group."""
        if self._sizes is None:
            self._sizes = counted_sizes(self.summary)
        return self._sizes

    def take(self, summary: RepositorySummary) -> None:
        """Be of another state."""
        self.summary = summary
        self.haystack = _haystack(summary)
        self.version += 1
        self.group = self._sizes = None


def _haystack(summary: RepositorySummary) -> str:
    """Return all that a filter looks for; the name is the end of the path."""
    words = (
        printable_path(summary.path),
        summary.kind.value,
        summary.kind.value.replace("_", " "),
        summary.role,
        summary.state.value,
        *summary.rules,
        summary.worst_summary or "",
    )
    return " ".join(words).casefold()
