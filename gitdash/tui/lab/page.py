"""The page of one experiment: where it stands, options, variants with their runs, and earlier results. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gitdash.export.experiment_figures import reservations
from gitdash.model.experiment import ExperimentResult, Measure, VariantResult
from gitdash.model.job import Job
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, line_length
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.experiments import ExperimentUnderWay
from gitdash.tui.keymap import first_key
from gitdash.tui.lab.box_plot import box_lines
from gitdash.tui.lab.choosing import Choosing, OptionLine
from gitdash.tui.lab.figures import axis_line, figures_of, head_line, variant_lines
from gitdash.tui.lab.published import PUBLISHED
from gitdash.tui.lab.results import result_lines, section
from gitdash.tui.lab.standing import doing_text, result_when
from gitdash.units import counted, human_duration, printable

ItemName: TypeAlias = tuple[str, object]
"""`option`, `variant` or `result`, and which."""
_TITLE_WIDTH: Final = 10
_VALUE_WIDTH: Final = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentView:
    """All that the page shows."""

    choosing: Choosing
    under_way: ExperimentUnderWay | None
    """The last that was asked for here, whatever its question."""
    job: Job | None
    """Its job; None if it is forgotten, or there is none."""
    earlier: Sequence[ExperimentResult]
    """Of this kind, on this repository, the newest first."""
    others: Sequence[ExperimentResult]
    """Of this kind, on others."""
    name_of: Callable[[bytes], str]
    shown_keys: Mapping[str, str]
    unfolded: Collection[ItemName]
    explains: bool
    has_boxes: bool
    """Whether the runs are drawn as boxes, too."""
    now_s: float
    is_asked_back: bool = False
    """Whether it was asked to run a moment ago, and runs if it is asked again."""

    @property
    def is_running(self) -> bool:
        """Whether it waits or runs now."""
        return self.job is not None and not self.job.state.has_ended

    @property
    def asked(self) -> ExperimentUnderWay | None:
        """What was asked for here, if it is about the question that is shown."""
        under_way, question = self.under_way, self.choosing.question.text
        return under_way if under_way is not None and under_way.choice.question == question else None

    @property
    def alike(self) -> list[ExperimentResult]:
        """Earlier results for the question that is shown."""
        return [result for result in self.earlier if result.question == self.choosing.question.text]

    @property
    def newest(self) -> ExperimentResult | None:
        """The last result for the question that is shown."""
        asked = self.asked
        if asked is not None and asked.result is not None:
            return asked.result
        return next(iter(self.alike), None)


@dataclass(slots=True)
class _Composed:
    """A page while it is composed."""

    width: int
    lines: list[Line] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    names: list[ItemName] = field(default_factory=list)

    def add(self, name: ItemName, lines: Sequence[Line]) -> None:
        """Add an item with its lines."""
        self.items.append(len(self.lines))
        self.names.append(name)
        self.lines += lines


def experiment_page(view: ExperimentView, width: int) -> Page:
    """Return the page."""
    page = _Composed(width)
    page.lines += _head_lines(view, width)
    page.lines.append([])
    for option in view.choosing.options():
        page.add(("option", option.name), _option_lines(option, width))
    page.lines.append([])
    _add_variants(page, view)
    _add_results(page, view)
    return Page(page.lines, page.items, names=page.names)


def measured_variants(view: ExperimentView) -> tuple[Sequence[VariantResult], Measure, str | None]:
    """Return the variants whose runs are shown, what of them is compared, and the winner: of the newest runs."""
    asked = view.asked
    if asked is not None and not asked.is_over and asked.run_count:
        return asked.variants, Measure.WALL, None
    newest = view.newest
    return ((), Measure.WALL, None) if newest is None else (newest.variants, newest.measure, newest.winner)


def _head_lines(view: ExperimentView, width: int) -> list[Line]:
    offer = view.choosing.offer
    lines = wrapped(f"{offer.title[:1].upper()}{offer.title[1:]}.", Tone.STRONG, width)
    if view.explains:
        lines += wrapped(offer.explanation, Tone.PLAIN, width)
        lines += wrapped(PUBLISHED[offer.kind], Tone.DIM, width)
    for text, tone in _standing(view):
        lines += wrapped(text, tone, width)
    return lines


def _standing(view: ExperimentView) -> Iterator[tuple[str, Tone]]:
    """Yield where the experiment stands, the most urgent first."""
    if view.choosing.question.problem:
        yield f"It cannot be made here: {view.choosing.question.problem}.", Tone.WARNING
    if view.is_running and view.under_way is not None and view.job is not None:
        question = view.under_way.choice.question
        which = f" ({question})" if question != view.choosing.question.text else ""
        key = first_key(view.shown_keys, "cancel_experiment")
        yield doing_text(view.under_way, view.job, view.now_s) + which, Tone.ACCENT
        yield (f"{key} cancels it." if key else "It can be cancelled among the jobs."), Tone.DIM
        return
    asked = view.asked
    if asked is not None and asked.problem is not None:
        yield f"It came to nothing: {asked.problem}.", Tone.WARNING
    newest = view.newest
    if newest is not None:
        yield f"{result_when(newest, view.now_s)}: {printable(newest.verdict)}", Tone.STRONG
        for sentence in reservations(newest):
            yield sentence, Tone.NOTICE
    yield _ready_text(view), Tone.NOTICE if view.is_asked_back else Tone.DIM


def _ready_text(view: ExperimentView) -> str:
    key = first_key(view.shown_keys, "run_experiment")
    choosing = view.choosing
    marked_count, count = len(choosing.marked()), len(choosing.question.variants)
    if not view.choosing.runnable:
        return "None of the variants can run here: each says why."
    if not marked_count:
        return "No variant is marked."
    which = f"{marked_count} of {counted(count, 'variant')} for up to {human_duration(choosing.choice().budget_s)}"
    if not view.is_asked_back:
        return f"{f'{key}, pressed' if key else 'The palette, asked'} twice, runs {which}."
    contacts = f" Each run fetches from {printable(choosing.question.contacts)}." if choosing.question.contacts else ""
    return (
        f"{key or 'The palette'} once more, now, runs {which}; before that come the copies that they need: of hard"
        f" links, beside the state file or the repository, and gone afterwards.{contacts} The repository is not"
        " written to."
    )


def _option_lines(option: OptionLine, width: int) -> list[Line]:
    value = f"< {option.value} >".ljust(_VALUE_WIDTH)
    head = [Piece(f"   {fit(option.title, _TITLE_WIDTH)}", Tone.STRONG), Piece(f"{value} ", Tone.KEY)]
    room = width - line_length(head) - 2
    return (
        [[*head, Piece(fit(option.sentence, room).rstrip(), Tone.DIM)]] if room > len(option.sentence) // 2 else [head]
    )


def _add_variants(page: _Composed, view: ExperimentView) -> None:
    offered = view.choosing.question.variants
    variants, measure, winner = measured_variants(view)
    figures = figures_of(offered, variants, measure=measure, winner=winner, width=page.width)
    page.lines.append(head_line(figures))
    for variant in offered:
        name = ("variant", variant.name)
        lines = variant_lines(
            variant,
            figures,
            is_marked=view.choosing.is_marked(variant),
            is_unfolded=view.explains ^ (name in view.unfolded),
        )
        page.add(name, lines)
    page.lines += axis_line(figures)
    if view.has_boxes:
        page.lines += box_lines(offered, figures)


def _add_results(page: _Composed, view: ExperimentView) -> None:
    alike = view.alike
    if alike:
        page.lines += [[], section("Earlier here", len(alike))]
    for result in alike:
        _add_result(page, view, result, name=None)
    others = [one for one in view.others if one.question == view.choosing.question.text]
    if others:
        page.lines += [[], section("In other repositories", len(others))]
    for result in others:
        _add_result(page, view, result, name=view.name_of(result.path))


def _add_result(page: _Composed, view: ExperimentView, result: ExperimentResult, *, name: str | None) -> None:
    item = ("result", (result.number, result.started_at_s))
    page.add(
        item,
        result_lines(
            result,
            page.width,
            now_s=view.now_s,
            name=name,
            newest=view.newest,
            is_unfolded=item in view.unfolded,
        ),
    )
