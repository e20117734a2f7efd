"""What a key answers that shows nothing else: on rows, on the head of a group, on a filter that cannot be kept."""

import pytest

from gitdash.model.report import State
from gitdash.model.repository import NotRepository
from gitdash.tui.actions.action import Scope
from gitdash.tui.key_line import key_line, typing_line
from gitdash.tui.source import SurveyProgress
from tests.tui.driven_fleet import DrivenFleet, driven_fleet, row
from tests.tui.fixture_fleet import ROOT, many_summaries

ROWS = [row("a", State.NOTICE, "no-bitmap"), row("b", State.NOTICE, "no-bitmap"), row("c")]


def said(driven: DrivenFleet) -> list[str]:
    return [notification.message for notification in driven.app._notifications]


def key_words(driven: DrivenFleet) -> list[str]:
    return driven.lines()[-1].split()


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("s", "Measuring a."),
        ("r", "Looking again at a."),
        ("R", "Looking again at all repositories."),
        ("9", "There is no view 9: V shows all."),
        ("e", "Nothing skipped so far."),
    ],
)
async def test_key_that_shows_nothing_says_what_it_did(key: str, answer: str) -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press(key)
        assert said(driven) == [answer]


async def test_nothing_is_skipped_once_the_survey_is_complete_and_else_the_page_opens() -> None:
    async with driven_fleet(ROWS) as driven:
        driven.source.happen().progress = SurveyProgress(
            step="measured", done_count=3, known_count=3, complete=True, elapsed_s=1.0
        )
        driven.app.flush()
        await driven.press("e")
        assert said(driven) == ["Nothing was skipped."]
        driven.source.happen().skipped = (NotRepository(path=ROOT + b"/x", reason="no HEAD"),)
        driven.app.flush()
        await driven.press("e")
        assert "1 folder or file was skipped" in "\n".join(driven.lines())


async def test_what_acts_on_rows_acts_on_those_of_the_group_under_the_cursor() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("z", "z", "z", "g")
        assert driven.cursor == "[no bitmap]"
        await driven.press("s", "r")
        assert driven.source.measured == [ROOT + b"/a", ROOT + b"/b"]
        assert driven.source.rescanned == [ROOT + b"/a", ROOT + b"/b"]
        assert said(driven) == ["Measuring 2 repositories.", "Looking again at 2 repositories."]


async def test_shell_and_other_programs_want_one_repository_and_say_so_on_a_group() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("z", "z", "z", "g", "exclamation_mark", "o")
        assert said(driven) == [
            "A shell needs one repository: the cursor is on a group of 2.",
            "Another program needs one repository: the cursor is on a group of 2.",
        ]


async def test_more_than_fifty_are_looked_at_again_only_when_it_is_asked_for_twice() -> None:
    async with driven_fleet(many_summaries(51)) as driven:
        await driven.press("a", "r")
        assert driven.source.rescanned == []
        assert said(driven) == ["Once more looks again at 51 repositories."]
        await driven.press("r")
        assert len(driven.source.rescanned) == 51


async def test_key_line_has_the_keys_of_the_filter_while_it_is_typed() -> None:
    async with driven_fleet(ROWS) as driven:
        table_keys = key_words(driven)
        await driven.press("slash", "a")
        assert key_words(driven) == ["enter", "keep", "esc", "drop", "tab", "complete", "up", "former"]
        await driven.press("enter")
        assert key_words(driven) == table_keys
        await driven.press("slash")
        await driven.pilot.click("#keys", offset=(14, 0))
        await driven.pilot.pause()
        assert key_words(driven) == table_keys
        assert driven.names == ["a", "b", "c"]


async def test_key_line_has_the_keys_of_the_line_for_ids_while_one_is_typed() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("enter", "6", "slash")
        assert key_words(driven)[:3] == ["enter", "look", "up"]
        await driven.press("escape")
        assert key_words(driven)[:1] != ["enter"]


async def test_condition_that_cannot_be_run_stays_on_the_line_and_says_why() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("slash")
        await driven.type("=packs >")
        await driven.press("enter")
        assert driven.app.fleet_screen.filter_bar.is_typing
        assert "not complete" in driven.lines()[-3]
        await driven.type(" 0")
        await driven.press("enter")
        assert not driven.app.fleet_screen.filter_bar.is_typing
        assert driven.fleet.filter.text == "=packs > 0"


async def test_refused_condition_is_offered_names_again_when_it_is_typed_on() -> None:
    async with driven_fleet(ROWS) as driven:
        await driven.press("slash")
        await driven.type("=garb")
        await driven.press("enter")
        assert "no column 'garb'" in driven.lines()[-3]
        await driven.type("a")
        assert driven.lines()[-3].split()[:2] == ["tab:", "garbage"]


def test_keys_of_what_is_typed_stay_within_the_width() -> None:
    line = typing_line((("enter", "keep"), ("escape", "drop"), ("tab", "complete")), 26)
    assert "".join(piece.text for piece in line.pieces) == " enter keep   esc drop  "
    assert [(first, end, what) for first, end, what in line.spans] == [(0, 13, "enter"), (13, 24, "escape")]
    assert key_line(Scope.PAGE, {}, 26).pieces == []
