"""The lines of plans: of each repository a head and its tasks, with everything that speaks against them. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.cells import chop_cells

from gitdash.model.plan import Plan, PlannedTask, Refusal
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line, fit, line_length, shorten_middle
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.plans.commands import ShownStep, in_all_commands, shown_steps
from gitdash.units import human_bytes, printable

ItemName: TypeAlias = tuple[bytes, Task | None]
"""A task of a repository; None is the repository itself."""

MARK_CELLS: Final = range(2, 7)
"""Of the mark of a task, and one on either side of it."""
_TASK_WIDTH: Final = max(map(len, Task))
_INDENT: Final = 9
"""Of labels: they begin below the names of tasks."""
_LABEL_WIDTH: Final = 9
_NAME_LEAST: Final = 10
_WIDE: Final = 100
_MOST_SHOWN: Final = 2_000
"""Characters of a command: one that names thousands of packs is for a script."""
_SIGNS: Final = {False: "▸", True: "▾"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlan:
    """One repository as it is shown."""

    path: bytes
    name: str
    """Printable."""
    plan: Plan | Unreadable
    marked: frozenset[Task] = frozenset()
    unfolded: frozenset[Task] = frozenset()
    """Tasks whose commands are shown."""
    is_being_made: bool = False
    """Another plan has been asked for."""


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one repository."""

    lines: Sequence[Line]
    items: Sequence[int]
    """Line number of each item."""
    names: Sequence[ItemName]


def repository_block(shown: RepositoryPlan, width: int) -> Block:
    """Return the lines of one repository, each at most `width` cells wide."""
    lines: list[Line] = [_head(shown, width)]
    items = [0]
    names: list[ItemName] = [(shown.path, None)]
    if isinstance(shown.plan, Unreadable):
        lines += _labelled("reason", [printable(shown.plan.reason)], width, Tone.CRITICAL)
        return Block(lines, items, names)
    lines += _refusals(shown.plan.refusals, width)
    for planned in shown.plan.tasks:
        items.append(len(lines))
        names.append((shown.path, planned.task))
        lines += _task_lines(shown, shown.plan, planned, width)
    for unmended in shown.plan.unmended:
        lines += _labelled("by hand", [unmended.summary, unmended.remedy], width, Tone.WARNING)
    return Block(lines, items, names)


def place_of(plan: Plan | Unreadable) -> int:
    """Return where a plan stands among others: 0 if there is something to do, 1 if it is none, 2 if there is not."""
    return 1 if isinstance(plan, Unreadable) else 0 if plan.tasks else 2


def _head(shown: RepositoryPlan, width: int) -> Line:
    right = [Piece("planned anew  ", Tone.ACCENT)] if shown.is_being_made else []
    right += _standing(shown)
    room = max(width - line_length(right) - 4, _NAME_LEAST)
    folder, slash, name = shorten_middle(shown.name, room).rpartition("/")
    left = [Piece(" ", Tone.PLAIN), Piece(folder + slash, Tone.DIM), Piece(name, Tone.STRONG)]
    gap = max(width - line_length(left) - line_length(right) - 1, 1)
    line = [*left, Piece(" " * gap, Tone.PLAIN), *right]
    return line if line_length(line) <= width else cut_line(line, width)


def _standing(shown: RepositoryPlan) -> list[Piece]:
    """Return in a few words how a plan stands."""
    if isinstance(shown.plan, Unreadable):
        return [Piece("no plan", Tone.CRITICAL)]
    tasks = shown.plan.tasks
    if not tasks:
        return [Piece("no task helps", Tone.WARNING) if shown.plan.unmended else Piece("nothing to do", Tone.OK)]
    refused_count = sum(bool(task.refusals) for task in tasks)
    pieces = [Piece(f"{len(shown.marked)} of {len(tasks)} marked", Tone.PLAIN)]
    return [*pieces, Piece(f", {refused_count} refused", Tone.WARNING)] if refused_count else pieces


def _task_lines(shown: RepositoryPlan, plan: Plan, planned: PlannedTask, width: int) -> Iterator[Line]:
    is_unfolded = planned.task in shown.unfolded
    yield from _task_head(planned, width, is_marked=planned.task in shown.marked, is_unfolded=is_unfolded)
    yield from _labelled("why", planned.because, width, Tone.PLAIN)
    own = [refusal for refusal in planned.refusals if refusal not in plan.refusals]
    yield from _refusals(own, width)
    if planned.refusals and not own:
        yield from _labelled("refused", ["for the reason above"], width, Tone.WARNING)
    yield from _labelled("note", planned.notes, width, Tone.DIM)
    if is_unfolded:
        for number, step in enumerate(shown_steps(planned.steps)):
            yield from _step_lines(step, width, is_first=number == 0)
        if any(step.arguments for step in planned.steps):
            yield from _labelled("", [in_all_commands(plan.common_dir)], width, Tone.DIM)


def _task_head(planned: PlannedTask, width: int, *, is_marked: bool, is_unfolded: bool) -> Iterator[Line]:
    mark = "[-]" if planned.refusals else "[x]" if is_marked else "[ ]"
    tone = Tone.WARNING if planned.refusals else Tone.KEY if is_marked else Tone.DIM
    free = " free" if width >= _WIDE else ""
    needs = f"  needs {human_bytes(planned.needed_bytes)}{free}" if planned.needed_bytes else ""
    left = [
        Piece(f"   {mark} ", tone),
        Piece(f"{_SIGNS[is_unfolded]} ", Tone.DIM),
        Piece(fit(planned.task.value, _TASK_WIDTH), _name_tone(planned.task, is_marked=is_marked)),
    ]
    indent = line_length(left) + 2
    texts = wrapped(printable(planned.gain), Tone.PLAIN, width - len(needs), indent=indent)
    first = texts[0][1:] if texts else ()
    gap = width - indent - line_length(first) - len(needs) - 1
    line = [*left, Piece("  ", Tone.PLAIN), *first, Piece(" " * max(gap, 0), Tone.PLAIN), Piece(needs, Tone.DIM)]
    yield line if line_length(line) <= width else cut_line(line, width)
    yield from texts[1:]


def _name_tone(task: Task, *, is_marked: bool) -> Tone:
    if task is Task.RECLAIM:
        return Tone.CRITICAL
    return Tone.STRONG if is_marked else Tone.PLAIN


def _refusals(refusals: Iterable[Refusal], width: int) -> Iterator[Line]:
    texts = [f"{printable(refusal.reason)} ({printable(refusal.rule)})" for refusal in refusals]
    yield from _labelled("refused", texts, width, Tone.WARNING)


def _labelled(label: str, texts: Sequence[str], width: int, tone: Tone) -> Iterator[Line]:
    """Return texts below one another, the label before the first; `texts` are made printable here."""
    for text in texts:
        for line in wrapped(printable(text), tone, width, indent=_INDENT + _LABEL_WIDTH):
            yield [
                Piece(f"{'':{_INDENT}}{label:<{_LABEL_WIDTH}}", Tone.WARNING if label == "refused" else Tone.DIM),
                *line[1:],
            ]
            label = ""


def _step_lines(step: ShownStep, width: int, *, is_first: bool) -> Iterator[Line]:
    does = f"if that fails: {step.does}" if step.is_recovery else step.does
    by_whom = ", by gitdash itself" if step.is_own else ""
    yield from _labelled("steps" if is_first else "", [f"{does}{by_whom}"], width, Tone.DIM)
    if step.command is not None:
        yield from _command(step.command, width)


def _command(text: str, width: int) -> Iterator[Line]:
    """Yield a command; one with blanks that count is broken anywhere, and so shown as it is."""
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    indent = _INDENT + _LABEL_WIDTH
    room = max(width - indent - 3, 8)
    if "  " in text:
        lines: Sequence[Line] = [[Piece("", Tone.KEY), Piece(part, Tone.KEY)] for part in chop_cells(text, room)]
    else:
        lines = wrapped(text, Tone.KEY, room + 1, indent=0, hanging=2)
    sign = "$ "
    for line in lines:
        yield [Piece(f"{'':{indent}}{sign}", Tone.DIM), *line]
        sign = "  "
