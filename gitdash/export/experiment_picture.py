"""The runs of an experiment as a picture: shapes with their places, and the same as SVG.

Source: W3C's "Scalable Vector Graphics (SVG) 1.1", basic shapes and text. Pure. Fonts are the viewer's: nothing is
loaded. Other formats are drawn from the same shapes by whoever writes files, so that all pictures are one.
"""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.export.experiment_figures import circumstances, counted_runs
from gitdash.export.experiment_plot import tick_text
from gitdash.export.experiment_scale import Scale, compared, scale_of
from gitdash.model.experiment import ExperimentResult, VariantResult
from gitdash.units import fine_duration, printable, printable_path

WIDTH: Final = 1000
TEXT_HEIGHT: Final = 13
_TITLE_HEIGHT: Final = 16
_LEFT: Final = 270
_RIGHT: Final = 900
"""Between these the axis lies; names stand left of it, medians right."""
_TOP: Final = 84
_ROW_HEIGHT: Final = 38
_BOTTOM: Final = 66
_LONGEST_NAME: Final = 36
_LONGEST_LINE: Final = 150
_SCATTER: Final = (0, -5, 5, -9, 9)
"""How far runs lie above or below the middle of their row, one after the other, so that equal ones are seen."""

_INK: Final = "#1f2328"
_FAINT: Final = "#6e7781"
_GRID: Final = "#d8dee4"
_POINT: Final = "#0969da"
_WINNER: Final = "#1a7f37"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A filled rectangle; a line is one that is thin."""

    left: float
    top: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A filled circle."""

    x: float
    y: float
    radius: float
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text; `x` is its left end, its middle or its right end as `anchor` says, `y` its base line."""

    x: float
    y: float
    text: str
    height: int
    colour: str
    anchor: str = "start"


Shape = Box | Point | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Shapes on white, in the order of drawing."""

    width: int
    height: int
    shapes: tuple[Shape, ...]


def picture_of(result: ExperimentResult) -> Picture | None:
    """Return the picture of an experiment; None if nothing has run."""
    scale = scale_of(result)
    variants = compared(result)
    if scale is None:
        return None
    bottom = _TOP + _ROW_HEIGHT * len(variants)
    shapes = [*_titles(result), *_grid(scale, bottom), *_circumstances(result, bottom)]
    for number, variant in enumerate(variants):
        shapes += _row(result, variant, scale, _TOP + _ROW_HEIGHT * (number + 0.5))
    return Picture(width=WIDTH, height=bottom + _BOTTOM, shapes=tuple(shapes))


def _titles(result: ExperimentResult) -> Iterator[Shape]:
    question = f" ({printable(result.question)})" if result.question else ""
    title = f"gitdash bench {result.kind.value}{question}: {printable_path(result.path)}"
    yield Text(x=20, y=30, text=_cut(title, _LONGEST_LINE * 3 // 4), height=_TITLE_HEIGHT, colour=_INK)
    verdict = _cut(printable(result.verdict), _LONGEST_LINE)
    yield Text(x=20, y=54, text=verdict, height=TEXT_HEIGHT, colour=_FAINT)


def _grid(scale: Scale, bottom: float) -> Iterator[Shape]:
    for tick_s in scale.ticks_s:
        x = _x(scale, tick_s)
        yield Box(left=x - 0.5, top=_TOP, width=1, height=bottom - _TOP, colour=_GRID)
        yield Text(x=x, y=bottom + 18, text=tick_text(tick_s), height=TEXT_HEIGHT - 2, colour=_FAINT, anchor="middle")


def _circumstances(result: ExperimentResult, bottom: float) -> Iterator[Shape]:
    clauses = circumstances(result)
    clauses[-1] = clauses[-1][:28]
    text = _cut(", ".join(clauses), _LONGEST_LINE)
    yield Text(x=20, y=bottom + 50, text=text, height=TEXT_HEIGHT - 2, colour=_FAINT)


def _row(result: ExperimentResult, variant: VariantResult, scale: Scale, y: float) -> Iterator[Shape]:
    colour = _WINNER if variant.name == result.winner else _POINT
    name = _cut(printable(variant.name), _LONGEST_NAME)
    yield Text(x=_LEFT - 14, y=y + 4, text=name, height=TEXT_HEIGHT, colour=_INK, anchor="end")
    summary = variant.summary
    if summary is not None:
        low, high = _x(scale, summary.low_s), _x(scale, summary.high_s)
        yield Box(left=low, top=y - 1.5, width=max(high - low, 1), height=3, colour=_FAINT)
    for number, run in enumerate(counted_runs(variant)):
        duration_s = run.measured_s(result.measure)
        if duration_s is not None:
            offset = _SCATTER[number % len(_SCATTER)]
            yield Point(x=_x(scale, duration_s), y=y + offset, radius=3, colour=colour)
    if summary is not None:
        yield Box(left=_x(scale, summary.median_s) - 1, top=y - 13, width=2, height=26, colour=_INK)
        text = fine_duration(summary.median_s)
        yield Text(x=_RIGHT + 14, y=y + 4, text=text, height=TEXT_HEIGHT, colour=colour)


def _x(scale: Scale, duration_s: float) -> float:
    return _LEFT + scale.place(duration_s) * (_RIGHT - _LEFT)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def svg_text(picture: Picture) -> str:
    """Return a picture as an SVG document."""
    width, height = picture.width, picture.height
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *map(_element, picture.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(shape: Shape) -> str:
    match shape:
        case Box(left=left, top=top, width=width, height=height, colour=colour):
            return f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        case Point(x=x, y=y, radius=radius, colour=colour):
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" fill-opacity="0.7"/>'
        case Text(x=x, y=y, text=text, height=height, colour=colour, anchor=anchor):
            return (
                f'<text x="{x:.1f}" y="{y:.1f}" font-size="{height}" fill="{colour}" text-anchor="{anchor}">'
                f"{html.escape(text)}</text>"
            )
