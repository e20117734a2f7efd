"""The page on which a task is chosen that is added to a plan. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from gitdash.model.task import Task
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.plans.meanings import MEANINGS

_NOT_FOR_SEVERAL: Final = f"{Task.RECLAIM}, which drops objects, is added to the plan of a single repository only."
_NAME_WIDTH: Final = max(map(len, Task)) + 2


def addable_tasks(planned: Iterable[Task], *, is_alone: bool) -> tuple[Task, ...]:
    """Return the tasks that can be added to those that are planned; RECLAIM only where one repository is shown."""
    there = {*planned}
    return tuple(task for task in MEANINGS if task not in there and (is_alone or task is not Task.RECLAIM))


def tasks_page(tasks: Sequence[Task], width: int, *, is_alone: bool) -> Page:
    """Return the page; its items are the tasks. Of several repositories it says why one task is not among them."""
    lines: list[Line] = []
    items = []
    for task in tasks:
        items.append(len(lines))
        sentence = wrapped(MEANINGS[task], Tone.DIM, width, indent=_NAME_WIDTH + 1)
        tone = Tone.CRITICAL if task is Task.RECLAIM else Tone.STRONG
        lines += [[Piece(f" {task.value:<{_NAME_WIDTH}}", tone), *sentence[0][1:]], *sentence[1:]]
    if not is_alone:
        lines += [(), *wrapped(_NOT_FOR_SEVERAL, Tone.DIM, width)]
    return Page(lines, items)
