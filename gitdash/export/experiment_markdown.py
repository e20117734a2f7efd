"""An experiment as a report in markdown, to be put into a change proposal.

Source: the GitHub Flavored Markdown specification. It has all that a reader needs to doubt it: question, verdict,
figures, every command, and where it was measured. Texts from the repository stand in code spans or blocks.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gitdash.export.experiment_commands import stdin_text, whole_command
from gitdash.export.experiment_figures import (
    circumstances,
    counts_text,
    figure_table,
    phases_text,
    reservations,
    took_text,
)
from gitdash.export.experiment_plot import plot_lines
from gitdash.export.tables import code_span
from gitdash.model.experiment import ExperimentResult, VariantResult
from gitdash.units import moment_text, printable, printable_path

_PLOT_WIDTH: Final = 100
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>#|~&@$])")
_AUTOMATIC_LINK: Final = re.compile(r"(?i)(www)\.|(https?)://")


def experiment_markdown(result: ExperimentResult) -> str:
    """Return one report, with a heading of the second level."""
    question = f": {plain(result.question)}" if result.question else ""
    moment = moment_text(result.started_at_s)
    parts = (
        [f"## gitdash bench {result.kind.value}{question}"],
        [f"Repository {code_span(printable_path(result.path))}, {moment}, {took_text(result)}."],
        [f"**{plain(result.verdict)}**"] if result.verdict else [],
        [f"- {plain(text)}" for text in reservations(result)],
        _table(result),
        ["Times of the whole process tree; the interval is that of the median, by bootstrap."],
        _block(plot_lines(result, width=_PLOT_WIDTH)),
        ["### Variants"],
        [line for variant in result.variants for line in _variant(variant)],
        ["### Circumstances"],
        [f"- {plain(text)}" for text in circumstances(result)],
    )
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def plain(text: str) -> str:
    """Return a text of which nothing is markup."""
    return _AUTOMATIC_LINK.sub(_broken_link, _MARKUP.sub(r"\\\1", printable(text)))


def _broken_link(match: "re.Match[str]") -> str:
    return f"{match[1]}\\." if match[1] else f"{match[2]}\\://"


def _table(result: ExperimentResult) -> list[str]:
    rows = figure_table(result)
    if not rows:
        return []
    rule = ("---", *["---:"] * (len(rows[0]) - 1))
    lines = (rows[0], rule, *(map(plain, cells) for cells in rows[1:]))
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _variant(variant: VariantResult) -> Iterator[str]:
    yield f"- {code_span(printable(variant.name))}: {plain(variant.title)}. {plain(variant.explanation)}".rstrip()
    for detail in _details(variant):
        yield f"  - {detail}"
    if variant.argv:
        yield ""
        yield from (f"  {line}" for line in _block([printable(whole_command(variant))]))
        yield ""


def _details(variant: VariantResult) -> Iterable[str]:
    if variant.skipped is not None:
        yield f"Not run: {plain(variant.skipped)}"
    for label, text in (
        ("", variant.note),
        ("", stdin_text(variant)),
        ("Phases: ", phases_text(variant)),
        ("Counts: ", counts_text(variant)),
    ):
        if text:
            yield label + plain(text)


def _block(lines: Iterable[str]) -> list[str]:
    """Return lines as a block of code: its fence is longer than any in it."""
    inside = list(lines)
    longest = max((len(run) for line in inside for run in re.findall("`+", line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return [f"{fence}text", *inside, fence] if inside else []
