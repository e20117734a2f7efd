"""The title line: roots and progress."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from gitdash.survey.events import Waiting
from gitdash.tui.fleet.progress import Look, title_line
from gitdash.tui.source import SurveyProgress
from tests.tui.fixture_fleet import NOW_S


def _progress(step: str, done: int, known: int, *, complete: bool = True, elapsed_s: float = 2.0) -> SurveyProgress:
    return SurveyProgress(step=step, done_count=done, known_count=known, complete=complete, elapsed_s=elapsed_s)


def _ended(*, ago_s: float, skipped: int = 0) -> SurveyProgress:
    return replace(_progress("surveyed", 2_000, 2_000), at_s=NOW_S - ago_s, other_count=skipped)


def _waiting(step: str, path: bytes, for_s: float) -> SurveyProgress:
    progress = _progress("inspected", 5, 9, complete=False)
    return replace(progress, waiting=Waiting(step=step, path=path, for_s=for_s))


def _cancelled(*, ago_s: float) -> SurveyProgress:
    return replace(_progress("cancelled", 300, 812), cancelled_step="measured", at_s=NOW_S - ago_s)


def _title(progress: SurveyProgress | None, width: int = 100, roots: tuple[bytes, ...] = (b"/srv/git",)) -> str:
    line = title_line(roots, b"/home/me", progress, width, NOW_S, Look(skipped_key="e"))
    return "".join(piece.text for piece in line)


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (_progress("inspected", 1_204, 2_000), "inspecting 1,204 of 2,000 · 602/s · 1.3 s left"),
        (_progress("inspected", 1_204, 2_000, complete=False), "inspecting 1,204 of 2,000+ · 602/s"),
        (_progress("measured", 0, 9, elapsed_s=4), "measuring 0 of 9 sizes"),
        (_progress("measured", 31, 90, elapsed_s=10), "measuring 31 of 90 sizes · 3.1/s"),
        (_progress("inspected", 0, 9), "inspecting 0 of 9"),
        (_progress("surveyed", 2_000, 2_000), "2,000 surveyed in 2.0 s"),
        (_ended(ago_s=59), "2,000 surveyed in 2.0 s"),
        (_ended(ago_s=3 * 3_600), "2,000 surveyed in 2.0 s, 3h ago"),
        (_waiting("searching", b"/srv/git/dead", 12.4), "inspecting 5 of 9+ · searching /srv/git/dead for 12.0 s"),
        (_waiting("inspecting", b"/home/me/x", 75), "inspecting 5 of 9+ · inspecting ~/x for 1 m 15 s"),
        (_cancelled(ago_s=120), "survey cancelled: 300 of 812 sizes measured, 2m ago"),
        (
            replace(_cancelled(ago_s=1), complete=False, cancelled_step="inspected"),
            "survey cancelled: 300 of 812+ repositories inspected",
        ),
        (_ended(ago_s=300, skipped=3), "2,000 surveyed in 2.0 s, 5m ago · 3 skipped (e)"),
    ],
)
def test_progress_has_rate_and_estimate_once_all_are_known(progress: SurveyProgress, words: str) -> None:
    assert _title(progress).rstrip().endswith(words)


def test_measuring_gives_no_estimate_which_would_grow_as_the_quick_sizes_are_done() -> None:
    assert "left" not in _title(_progress("measured", 5, 9, elapsed_s=4))


def test_estimate_is_not_given_while_discovery_runs() -> None:
    assert "left" not in _title(_progress("inspected", 10, 20, complete=False))


def test_home_is_a_tilde_and_names_are_printable() -> None:
    assert "~/clones, /srv/\\x1b[2J" in _title(None, roots=(b"/home/me/clones", b"/srv/\x1b[2J"))
    assert "~" not in _title(None, roots=(b"/home/me2",))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_title_is_exactly_as_wide_as_the_terminal(width: int) -> None:
    assert cell_len(_title(_progress("inspected", 1_204, 2_000), width, (b"/srv/" + b"long/" * 40,))) == width
