"""The README's table of published figures has every comparison that the benchmarks make, and says what came out."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.lab_comparisons import COMPARISONS
from benchmarks.lab_table import Row, markdown

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def row(ratio: float, published_ratio: float, git: str = "2.39.5") -> Row:
    return Row(
        experiment="size",
        compared="walk, bitmap",
        published="13 s, 4 s",
        published_ratio=published_ratio,
        here="2 s, 1 s",
        ratio=ratio,
        git=git,
        load_1m=0.5,
        why="it is smaller",
    )


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.compared)
def test_readme_has_the_comparison_and_why_ours_differs(comparison) -> None:
    (line,) = [
        line
        for line in README.splitlines()
        if line.startswith(f"| `{comparison.kind.value}`: {comparison.compared} | {comparison.published}: ")
    ]
    assert line.endswith(f": {comparison.why} |")


@pytest.mark.parametrize(
    ("ratio", "published_ratio", "reproduced"),
    [
        (5.1, 10, "yes"),
        (4.9, 10, "in kind"),
        (30, 10, "in kind"),
        (1.05, 10, "no"),
        (0.5, 10, "no"),
        (1.0, 1.0, "yes"),
        (1.2, 1.0, "no"),
        (1.2, 2.0, "in kind"),
        (0.5, 0.8, "in kind"),
        (0.75, 0.8, "yes"),
        (1.0, 0.8, "no"),
    ],
)
def test_a_figure_is_reproduced_if_the_same_way_is_ahead(ratio, published_ratio, reproduced) -> None:
    assert row(ratio, published_ratio).reproduced == reproduced


@pytest.mark.parametrize(("published_ratio", "reproduced"), [(1.1, "open"), (1.0, "open"), (3.0, "no"), (0.5, "no")])
def test_runs_on_both_sides_reproduce_nothing(published_ratio, reproduced) -> None:
    assert replace(row(1.2, published_ratio), ratios=(0.9, 1.2, 1.4)).reproduced == reproduced


def test_gits_that_differ_are_told_apart() -> None:
    *_, line = markdown([row(8, 10), row(1, 10, git="2.55.0")]).splitlines()
    assert line == (
        "| `size`: walk, bitmap | 13 s, 4 s: 10 | 2 s, 1 s: 8 | 2 s, 1 s: 1 | yes with 2.39.5, no with 2.55.0:"
        " it is smaller |"
    )
