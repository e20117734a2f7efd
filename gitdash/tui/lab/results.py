"""Earlier results, here and in other repositories, as lines to compare with: medians beside each other. Pure."""

from typing import Final

from gitdash.export.experiment_figures import circumstances, prepared_text, reservations
from gitdash.export.experiment_plot import plot_lines
from gitdash.model.experiment import ExperimentResult
from gitdash.tui.drawing.cells import Line, Piece, Tone, line_length, shorten_middle
from gitdash.tui.drawing.wrap import flow, wrapped
from gitdash.tui.lab.standing import result_when
from gitdash.units import fine_duration, printable

_INDENT: Final = 5
_NAME_LEAST: Final = 16


def result_lines(
    result: ExperimentResult,
    width: int,
    *,
    now_s: float,
    name: str | None,
    newest: ExperimentResult | None,
    is_unfolded: bool,
) -> list[Line]:
    """Return a result: what it is, the median of each variant, and all of it if it is unfolded.

    `name` is what people call its repository, if that is another. `newest` is what it is compared with.
    """
    head = _head(result, width, now_s=now_s, name=name, newest=newest)
    if not is_unfolded:
        return [head, *_medians(result, width)]
    lines: list[Line] = [head, *wrapped(printable(result.verdict), Tone.STRONG, width, indent=_INDENT)]
    for sentence in reservations(result):
        lines += wrapped(sentence, Tone.NOTICE, width, indent=_INDENT)
    plot = plot_lines(result, width=width - _INDENT - 1)
    lines += [[Piece(" " * _INDENT + line, Tone.PLAIN)] for line in plot]
    return [
        *lines,
        *wrapped(
            ", ".join(filter(None, (prepared_text(result), *circumstances(result)))), Tone.DIM, width, indent=_INDENT
        ),
    ]


def _head(
    result: ExperimentResult, width: int, *, now_s: float, name: str | None, newest: ExperimentResult | None
) -> Line:
    number = f"#{result.number}" if result.number else "not kept"
    state = "" if name is not None or newest is None else _state(result, newest)
    facts = [f"git {printable(result.git_version)}", f"{result.cache.value} cache", state]
    right = [Piece("  ".join(filter(None, facts)) + " ", Tone.DIM)]
    left = [Piece(f"   {number} {result_when(result, now_s)}", Tone.PLAIN)]
    if result.question and name is not None:
        right = [Piece(f"{printable(result.question)}  ", Tone.DIM), *right]
    if name is not None:
        room = max(width - line_length(left) - line_length(right) - 4, _NAME_LEAST)
        left = [*left, Piece("  " + shorten_middle(name, room), Tone.STRONG)]
    winner = f"  {printable(result.winner)} won" if result.winner is not None else "  no winner"
    if line_length(left) + len(winner) + line_length(right) + 1 <= width:
        left.append(Piece(winner, Tone.OK if result.winner is not None else Tone.DIM))
    gap = width - line_length(left) - line_length(right)
    return [*left, Piece(" " * gap, Tone.PLAIN), *right] if gap > 0 else left


def _state(result: ExperimentResult, newest: ExperimentResult) -> str:
    if (result.number, result.started_at_s) == (newest.number, newest.started_at_s):
        return ""
    return "same repository" if result.fingerprint == newest.fingerprint else "repository has changed"


def _medians(result: ExperimentResult, width: int) -> list[Line]:
    groups: list[Line] = [
        [Piece(f"{printable(variant.name)} ", Tone.DIM), Piece(fine_duration(variant.summary.median_s), Tone.PLAIN)]
        for variant in result.variants
        if variant.summary is not None
    ]
    indent = Piece(" " * (_INDENT - 1), Tone.PLAIN)
    return [[indent, *line] for line in flow(groups, width - _INDENT + 1)]


def section(title: str, count: int) -> Line:
    """Return the head of a list of results."""
    return [Piece(f" {title}", Tone.HEAD), Piece(f" {count:,}", Tone.DIM)]
