"""What the detail of a repository says, as lines."""

import msgspec
import pytest

from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize
from gitdash.tui.drawing.cells import Line, line_length
from gitdash.tui.drawing.wrap import flow, wrap_cells
from gitdash.tui.repository.detail import full_lines, pane_lines
from gitdash.tui.repository.sizes import measurement_note
from tests.tui.fixture_fleet import NOW_S, fixed_reports, measured


def _report(name: str) -> RepositoryReport:
    return next(report for report in fixed_reports() if name in report.repository.path.decode("utf-8", "replace"))


def _texts(lines: list[Line]) -> list[str]:
    return ["".join(piece.text for piece in line) for line in lines]


def _full(name: str, width: int = 100) -> str:
    report = _report(name)
    return "\n".join(_texts(full_lines(summarize(report), report, width=width, now_s=NOW_S)))


@pytest.mark.parametrize("width", [60, 80, 109, 110, 120, 160])
@pytest.mark.parametrize("is_tall", [False, True])
def test_no_line_is_wider_than_the_pane(width: int, is_tall: bool) -> None:
    for report in fixed_reports():
        for known in (report, None):
            lines = pane_lines(summarize(report), known, width=width, now_s=NOW_S, is_tall=is_tall)
            assert max(map(line_length, lines)) <= width


def test_every_finding_is_there_with_evidence_and_remedy_worst_first() -> None:
    text = " ".join(_full("infra/deploy.git").split())
    report = _report("infra/deploy.git")
    positions = [text.index(finding.rule) for finding in report.findings]
    assert positions == sorted(positions)
    for finding in report.findings:
        assert finding.summary in text
        assert finding.remedy in text


def test_five_sizes_say_how_they_were_obtained_and_how_old_they_are() -> None:
    text = _full("@hashed")
    assert "51.7 MiB  duplicate 4.41 MiB in 504 objects" in text
    assert "bitmap, exact, took 3.6 s, measured 2h ago" in text
    assert "<=56.1 MiB  walk, an upper bound, took 3.6 s, measured 2h ago" in text


def test_not_measured_and_unreadable_are_told_apart() -> None:
    assert "not measured" in _full("team/web.git")
    assert "?  the lender is missing" in _full("team/api.git")


def _compact(summary: RepositorySummary, report: RepositoryReport | None) -> str:
    lines = pane_lines(summary, report, width=80, now_s=NOW_S, is_tall=False)
    return " ".join(" ".join(_texts(lines)).split())


def test_low_pane_says_once_why_sizes_cannot_be_told_and_how_old_the_others_are() -> None:
    report = _report("team/api.git")
    assert "? exclusive, duplicate, reachable, own: the lender is missing" in _compact(summarize(report), report)
    report = _report("mirror/linux.git")
    assert "reachable 4.68 GiB 3d old" in _compact(summarize(report), report)
    assert "own 4.68 GiB 3d old" in _compact(summarize(report), report)


@pytest.mark.parametrize("is_tall", [True, False])
def test_row_tells_why_there_is_no_size_before_the_report_is_read_or_where_it_is_older(is_tall: bool) -> None:
    report = _report("@pools")
    failed = msgspec.structs.replace(
        summarize(report), reachable_bytes=Unreadable("git did not end"), reachable_own_bytes=None
    )
    for known in (None, report):
        lines = pane_lines(failed, known, width=160, now_s=NOW_S, is_tall=is_tall)
        text = "\n".join(_texts(lines))
        assert "?  git did not end" in text
        own = next(line for line in text.splitlines() if line.startswith(" own"))
        assert own.split("│")[0].split() == ["own", "not", "measured"]


def test_reason_that_several_sizes_share_is_said_once() -> None:
    assert _full("team/api.git").count("the lender is missing") == 1


def test_unreadable_repository_says_why() -> None:
    assert "permission denied" in _full("lost.git")


def test_repository_without_findings_says_so() -> None:
    assert "no findings" in _full("empty.git")


def test_lender_names_its_borrowers_and_member_its_lender() -> None:
    assert "borrowers" in _full("@pools")
    assert "/srv/git/@pools/gone.git/objects" in _full("team/api.git")


def test_row_alone_shows_the_worst_finding_until_the_report_is_read() -> None:
    report = _report("infra/deploy.git")
    text = "\n".join(_texts(pane_lines(summarize(report), None, width=80, now_s=NOW_S, is_tall=False)))
    assert "stale-lock" in text
    assert "and 2 more" in text


def test_wrapping_counts_cells_and_breaks_long_words() -> None:
    assert wrap_cells("one two three", 7) == ["one two", "three"]
    assert wrap_cells("日本語 日本語", 6) == ["日本語", "日本語"]
    assert wrap_cells("x" * 7, 3) == ["xxx", "xxx", "x"]
    assert wrap_cells("", 5) == []


def test_flow_starts_a_new_line_where_the_next_group_does_not_fit() -> None:
    report = _report("@hashed")
    groups = pane_lines(summarize(report), report, width=60, now_s=NOW_S, is_tall=False)
    assert groups
    assert flow([], 10) == []


def test_all_states_have_a_tone() -> None:
    assert {report.state for report in fixed_reports()} == set(State)


def test_a_size_for_which_there_was_no_bitmap_is_not_said_to_come_from_one() -> None:
    size = measured(Question.REACHABLE, 5)
    with_bitmap = measurement_note(size, NOW_S)
    without = measurement_note(msgspec.structs.replace(size, lacks_bitmap=True), NOW_S)
    assert with_bitmap.startswith("bitmap, exact, ")
    assert without.startswith("bitmap (there is none, so git walked), exact, ")
