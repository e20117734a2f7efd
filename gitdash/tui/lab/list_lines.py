"""The page of all experiments of a repository: what each asks, and what it said last. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.model.experiment import ExperimentKind, ExperimentResult, VariantResult
from gitdash.model.job import Job, JobState
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, shorten_middle, spread
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.tui.experiments import ExperimentUnderWay, LabAnswer, OfferedExperiment
from gitdash.tui.lab.published import PUBLISHED
from gitdash.tui.lab.standing import doing_text, result_when
from gitdash.units import counted, printable

_KIND_WIDTH: Final = max(map(len, ExperimentKind))
_INDENT: Final = _KIND_WIDTH + 5
_NAME_LEAST: Final = 10
_INTRODUCTION: Final = (
    "Each experiment compares ways to do the same in this repository: variants take turns, and one wins only if it is"
    " clearly faster. Nothing is written to the repository; what needs other files runs on a throw-away copy."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabView:
    """All that the page shows."""

    answer: LabAnswer | Unreadable | None
    """None until it is known."""
    under_way: Mapping[ExperimentKind, ExperimentUnderWay]
    """The last of each kind that was asked for here."""
    jobs: Mapping[int, Job]
    explains: bool
    now_s: float


def lab_title(name: str, kind: ExperimentKind | None, width: int) -> Line:
    """Return the title of the screens of the lab; `name` is what people call the repository. Printable."""
    tail = "" if kind is None else f"  {kind.value}"
    room = max(width - len(" Lab  ") - len(tail) - 1, _NAME_LEAST)
    return [
        Piece(" Lab", Tone.STRONG),
        Piece("  ", Tone.PLAIN),
        Piece(shorten_middle(name, room), Tone.PLAIN),
        Piece(tail, Tone.ACCENT),
    ]


def lab_page(view: LabView, width: int) -> Page:
    """Return the page; each experiment is an item, named by its kind."""
    lines: list[Line] = [*wrapped(_INTRODUCTION, Tone.DIM, width)]
    if view.answer is None:
        return Page([*lines, [], [Piece(" Looking at what can be compared here …", Tone.DIM)]])
    if isinstance(view.answer, Unreadable):
        return Page([*lines, [], *wrapped(printable(view.answer.reason), Tone.CRITICAL, width)])
    items, names = [], []
    for offer in view.answer.offers:
        lines.append([])
        items.append(len(lines))
        names.append(offer.kind)
        lines += _experiment_lines(view, offer, view.answer.earlier, width)
    return Page(lines, items, names=names)


def _experiment_lines(
    view: LabView, offer: OfferedExperiment, earlier: Sequence[ExperimentResult], width: int
) -> list[Line]:
    last = next((result for result in earlier if result.kind is offer.kind), None)
    under_way = view.under_way.get(offer.kind)
    job = None if under_way is None else view.jobs.get(under_way.job_number)
    lines: list[Line] = [_head(view, offer, last, job, width)]
    if view.explains:
        lines += wrapped(offer.explanation, Tone.PLAIN, width, indent=_INDENT)
        lines += wrapped(PUBLISHED[offer.kind], Tone.DIM, width, indent=_INDENT)
    else:
        lines += wrapped(_question_text(offer), Tone.DIM, width, indent=_INDENT)
    if under_way is not None and job is not None and not job.state.has_ended:
        lines += wrapped(doing_text(under_way, job, view.now_s), Tone.ACCENT, width, indent=_INDENT)
    elif under_way is not None and under_way.problem is not None:
        lines += wrapped(f"It came to nothing: {under_way.problem}.", Tone.WARNING, width, indent=_INDENT)
    if last is not None:
        lines += wrapped(printable(last.verdict), Tone.PLAIN, width, indent=_INDENT)
    return lines


def _head(view: LabView, offer: OfferedExperiment, last: ExperimentResult | None, job: Job | None, width: int) -> Line:
    left = [
        Piece(f"   {fit(offer.kind.value, _KIND_WIDTH)}  ", Tone.STRONG),
        Piece(offer.title, Tone.PLAIN),
    ]
    if job is not None and not job.state.has_ended:
        right = [Piece("waits " if job.state is JobState.QUEUED else "running ", Tone.ACCENT)]
    elif last is None:
        right = [Piece("not run yet ", Tone.DIM)]
    else:
        right = [Piece(f"{result_when(last, view.now_s)} ", Tone.DIM)]
    return spread(left, right, width)


def _question_text(offer: OfferedExperiment) -> str:
    """Return how many variants can run: once for all questions of which the same can be said."""
    alike: dict[str, list[str]] = {}
    for one in offer.questions:
        alike.setdefault(one.problem or _of_all(one.variants), []).append(one.text)
    if len(alike) > 1:
        parts = [f"{', '.join(texts)}: {said}" for said, texts in alike.items()]
        return f"Variants that can run here, by question: {'; '.join(parts)}."
    problem, variants = offer.questions[0].problem, offer.questions[0].variants
    text = problem or f"{_runnable_count(variants)} of {counted(len(variants), 'variant')} can run here"
    question_count = len(offer.questions)
    return f"{text[:1].upper()}{text[1:]}{f', for each of {question_count} questions' if question_count > 1 else ''}."


def _runnable_count(variants: Sequence[VariantResult]) -> int:
    return sum(variant.skipped is None for variant in variants)


def _of_all(variants: Sequence[VariantResult]) -> str:
    return f"{_runnable_count(variants)} of {len(variants)}"
