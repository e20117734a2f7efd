"""The relatives of a repository as a tree of lines: the stems before the names, and what each line says. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.cells import cell_len

from gitdash.export.columns import column_named
from gitdash.export.family import Relative
from gitdash.model.summary import RepositorySummary
from gitdash.tui.drawing.cells import CELL_GAP, STATE_TONES, Line, Piece, Tone, fit, shorten_middle, value_pieces
from gitdash.tui.drawing.fitting import fitting
from gitdash.tui.pools.figures import store_name
from gitdash.units import human_bytes

_DEEPEST_STEM: Final = 7
"""git follows no more than six lenders in a chain; what hangs deeper has its depth as a number."""
_NAME_WIDTH_LEAST: Final = 22
_STATE_WIDTH: Final = 10
_ROLE_WIDTH: Final = 6
_PATH_WIDTH_LEAST: Final = 12
_SHORT_ROLES: Final = {"member+pool": "m+pool"}
_SELF_STEM: Final = "• "


class TreeRow(NamedTuple):
    """One relative with its place in the tree."""

    stem: str
    relative: Relative


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A column of figures."""

    key: str
    title: str
    width: int
    priority: int
    """Where room is short, the column with the lowest number stays longest."""


_FIGURES: Final = (
    _Figure(key="objects", title="objects", width=9, priority=2),
    _Figure(key="shared", title="shared", width=10, priority=3),
    _Figure(key="duplicate", title="duplicate", width=9, priority=1),
    _Figure(key="saved", title="saved", width=10, priority=0),
    _Figure(key="exclusive", title="exclusive", width=9, priority=4),
)


def tree_rows(relatives: Sequence[Relative]) -> list[TreeRow]:
    """Return relatives with their stems; each comes before those that hang below it."""
    rows = []
    following: list[bool] = []
    """For each depth up to that of the row below: whether another one follows there, below the same one."""
    for relative in reversed(relatives):
        depth = relative.depth
        following += [False] * (depth - len(following))
        rows.append(TreeRow(_stem(following, depth), relative))
        del following[depth:]
        following[depth - 1] = True
    rows.reverse()
    return rows


def _stem(following: Sequence[bool], depth: int) -> str:
    end = "├─ " if following[depth - 1] else "└─ "
    if depth > _DEEPEST_STEM:
        return f"… {depth} {end}"
    return "".join("│  " if follows else "   " for follows in following[: depth - 1]) + end


@dataclass(frozen=True, slots=True)
class FamilyTable:
    """What a line is made of beyond its repository."""

    width: int
    longest_name: int
    """Cells of the longest name, its stem included: figures stand no further away than that."""

    def head(self) -> Line:
        """Return the titles of the columns."""
        figures, name_width = self._layout()
        gap = " " * CELL_GAP
        text = " " + gap.join([fit("name", name_width), fit("role", _ROLE_WIDTH), fit("state", _STATE_WIDTH)])
        return [Piece(text + "".join(gap + fit(one.title, one.width, right=True) for one in figures), Tone.HEAD)]

    def root(self, summary: RepositorySummary) -> Line:
        """Return the line of the repository itself, at the root of a tree."""
        return self._known(_SELF_STEM, summary)

    def relative(self, row: TreeRow) -> Line:
        """Return the line of a lender or a member."""
        relative = row.relative
        if relative.summary is None:
            return _unknown_line(row.stem, relative, self.width)
        if relative.is_repeated:
            name = shorten_middle(relative.name, self._layout()[1] - cell_len(row.stem))
            stands = Piece("  stands above, with those below it", Tone.DIM)
            return [Piece(f" {row.stem}", Tone.DIM), Piece(name, Tone.PLAIN), stands]
        return self._known(row.stem, relative.summary)

    def _known(self, stem: str, summary: RepositorySummary) -> Line:
        figures, name_width = self._layout()
        name = shorten_middle(summary.name, max(name_width - cell_len(stem), 1))
        folder, slash, last = name.rpartition("/")
        role = fit(_SHORT_ROLES.get(summary.role, summary.role), _ROLE_WIDTH)
        gap = " " * CELL_GAP
        line = [
            Piece(" " + stem, Tone.ACCENT if stem == _SELF_STEM else Tone.DIM),
            Piece(folder + slash, Tone.DIM),
            Piece(last + " " * (name_width - cell_len(stem) - cell_len(name)), Tone.STRONG),
            Piece(gap + role, Tone.DIM if summary.role == "plain" else Tone.PLAIN),
            Piece(gap + fit(summary.state.value, _STATE_WIDTH), STATE_TONES[summary.state]),
        ]
        for figure in figures:
            text = _shared_text(summary) if figure.key == "shared" else column_named(figure.key).text(summary, 0.0)
            line += [Piece(gap, Tone.PLAIN), *value_pieces(text, figure.width)]
        return line

    def _layout(self) -> tuple[list[_Figure], int]:
        """Return the columns of figures that fit, and how many cells there are for the name with its stem."""
        fixed = 1 + _NAME_WIDTH_LEAST + CELL_GAP + _ROLE_WIDTH + CELL_GAP + _STATE_WIDTH
        figures, left = fitting(_FIGURES, self.width - fixed)
        return figures, max(_NAME_WIDTH_LEAST, min(_NAME_WIDTH_LEAST + left, self.longest_name))


def _shared_text(summary: RepositorySummary) -> str:
    """Return what lenders have of all that is reachable here: what is not stored here for that, and what is too.

    The column `saved` says why the first cannot be told, if it cannot.
    """
    saved, duplicate = summary.saved_bytes, summary.duplicate_bytes
    if not isinstance(saved, int) or not isinstance(duplicate, int):
        return column_named("saved").text(summary, 0.0)
    return summary.saved_bound.sign + human_bytes(saved + duplicate)


def table_for(width: int, summary: RepositorySummary, rows: Sequence[TreeRow]) -> FamilyTable:
    """Return the table of a repository and its relatives."""
    lengths = [cell_len(row.stem) + cell_len(row.relative.name) for row in rows if row.relative.summary is not None]
    return FamilyTable(width, max([cell_len(_SELF_STEM) + cell_len(summary.name), *lengths]))


def problem_line(row: TreeRow) -> Line:
    """Return why git cannot use a lender that is a repository of the survey."""
    reason = row.relative.problem or ("" if row.relative.exists else "missing")
    continued = "│" if row.stem.endswith("├─ ") else " "
    stem = f" {row.stem[:-3]}{continued}    "
    return [Piece(stem, Tone.DIM), Piece(f"! git cannot use it: {reason}", Tone.CRITICAL)]


def _unknown_line(stem: str, relative: Relative, width: int) -> Line:
    """Return what is known of a store that is no repository of the survey: where it is, and why it is not known."""
    if not relative.exists:
        words = Piece("missing", Tone.CRITICAL)
        reason = relative.problem or ""
    elif relative.problem is not None:
        words, reason = Piece("cannot be used", Tone.CRITICAL), relative.problem
    elif relative.is_known:
        words, reason = Piece("not read yet", Tone.DIM), ""
    else:
        words, reason = Piece("outside the roots", Tone.NOTICE), "not scanned"
    after = f"  ({reason})" if reason not in {"", words.text} else ""
    used = 1 + cell_len(stem) + len(words.text) + 2 + cell_len(after)
    path = shorten_middle(store_name(relative.name), max(width - used, _PATH_WIDTH_LEAST))
    return [Piece(" " + stem, Tone.DIM), words, Piece("  " + path, Tone.PLAIN), Piece(after, Tone.DIM)]
