"""The page of all plans, and the lines around it: blocks of lines that are kept until their repository is other. Pure.

A page of hundreds of repositories is composed anew at every key; only what is other than before costs anything.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

from gitdash.model.task import Task
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, line_length, shorten_middle, spread
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.keymap import first_key
from gitdash.tui.plans.book import Counts
from gitdash.tui.plans.lines import Block, ItemName, RepositoryPlan, place_of, repository_block
from gitdash.units import counted, human_bytes

_NAME_LEAST: Final = 10


class PlansPage:
    """Composes pages and keeps the blocks of the last one."""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[RepositoryPlan, Block]] = {}
        self._width = 0

    def compose(self, shown: Sequence[RepositoryPlan], head: Sequence[Line], width: int) -> Page:
        """Return the page: repositories with something to do first, each group in its order."""
        if width != self._width:
            self._kept.clear()
            self._width = width
        lines: list[Line] = [*head]
        items: list[int] = []
        names: list[ItemName] = []
        last: Sequence[Line] = ()
        for one in sorted(shown, key=lambda one: place_of(one.plan)):
            block = self._block(one, width)
            if len(last) > 1:
                lines.append(())
            last = block.lines
            items += [len(lines) + number for number in block.items]
            names += block.names
            lines += block.lines
        return Page(lines, items, names=names)

    def _block(self, one: RepositoryPlan, width: int) -> Block:
        kept = self._kept.get(one.path)
        if kept is None or not _is_same(kept[0], one):
            kept = (one, repository_block(one, width))
            self._kept[one.path] = kept
        return kept[1]


def _is_same(one: RepositoryPlan, other: RepositoryPlan) -> bool:
    """Tell whether two look the same; a plan is compared by identity, which is quick and never wrong for long."""
    return one.plan is other.plan and (one.name, one.marked, one.unfolded, one.is_being_made) == (
        other.name,
        other.marked,
        other.unfolded,
        other.is_being_made,
    )


def start_of(names: Sequence[Hashable], wanted: Task | None) -> Hashable | None:
    """Return where the cursor begins, of the names of items: on what is wanted, else on the first task, else at all."""
    tasks = [name for name in names if isinstance(name, tuple) and name[1] is not None]
    meant = [name for name in tasks if name[1] is wanted]
    return next(iter([*meant, *tasks, *names]), None)


def head_lines(
    keys: Mapping[str, str], width: int, *, count: int, has_any_task: bool, is_complete: bool
) -> Iterator[Line]:
    """Yield what stands above the plans while there is nothing to run in them; `count` is how many there are."""
    if not count:
        text = "Each repository is looked at anew. Nothing is changed before you run a plan."
        yield from wrapped(text if not is_complete else "There is no repository left.", Tone.DIM, width)
    elif is_complete and not has_any_task:
        key = first_key(keys, "add_task")
        added = f" {key} adds a task of your choice." if key else ""
        yield from wrapped(f"No finding names a task.{added}", Tone.DIM, width)
        yield ()


def title_pieces(what: str, count: int, made_count: int, width: int) -> Line:
    """Return the title: what is planned for, and how far the making is."""
    right = [Piece(f"making plans {made_count:,} of {count:,} ", Tone.ACCENT)] if made_count < count else []
    title = " Plan  " if count == 1 else " Plans  "
    room = max(width - len(title) - line_length(right) - 1, _NAME_LEAST)
    left = [Piece(title, Tone.STRONG), Piece(shorten_middle(what, room), Tone.PLAIN)]
    return spread(left, right, width)


def totals_line(counts: Counts, width: int) -> Line:
    """Return the sums: what is marked, what is refused, and the space that is needed."""
    where = counted(counts.repository_count, "repository", "repositories")
    marked = f" {counted(counts.marked_count, 'task')} in {where} marked"
    pieces = [Piece(marked, Tone.STRONG if counts.marked_count else Tone.DIM)]
    if counts.refused_count:
        pieces.append(Piece(f" · {counts.refused_count:,} refused", Tone.WARNING))
    if counts.needed_bytes:
        pieces.append(Piece(f" · the largest needs {human_bytes(counts.needed_bytes)} free", Tone.DIM))
    text_width = sum(len(piece.text) for piece in pieces)
    return pieces if text_width <= width else [Piece(fit("".join(piece.text for piece in pieces), width), Tone.STRONG)]
