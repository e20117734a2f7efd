"""The help page: every key with its sentence, legible whatever the keys are, and only what belongs to the screen."""

import pytest

from gitdash.export.columns import COLUMNS
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import ACTIONS, actions_of
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.keymap import make_keymap
from gitdash.tui.pages.help import help_lines

COLUMN_TEXTS = tuple((column.key, column.help) for column in COLUMNS)


def lines(scope: Scope, width: int = 100, **wishes: str | list[str]) -> list[str]:
    shown = {name: keys for name, keys in make_keymap(ACTIONS, wishes).shown.items() if keys}
    return ["".join(piece.text for piece in line).rstrip() for line in help_lines(scope, shown, COLUMN_TEXTS, width)]


def test_numbers_of_views_and_of_tabs_have_one_line_each() -> None:
    views = [line for line in lines(Scope.FLEET) if "view of that number" in line]
    assert views == ["   1 … 9           Show the view of that number; to drop it brings back what was shown before."]
    tabs = [line for line in lines(Scope.REPOSITORY) if "tab of that number" in line]
    assert tabs == ["   1 … 9           Show the tab of that number."]


def test_series_whose_keys_were_changed_names_them_all() -> None:
    text = "\n".join(lines(Scope.REPOSITORY, tab_2="f2"))
    assert "   1 F2 3 4 5 6 7 8 9\n                   Show the tab of that number." in text


def test_keys_that_are_wider_than_their_column_have_a_line_of_their_own() -> None:
    shown = lines(Scope.FLEET, rescan=["f13", "ctrl+x", "ctrl+t"])
    head = shown.index("   F13 ctrl+x ctrl+t")
    assert shown[head + 1].startswith("                   Read the files of this repository")


@pytest.mark.parametrize("scope", [Scope.FLEET, Scope.REPOSITORY, Scope.POOLS, Scope.JOBS, Scope.PAGE])
def test_blanks_stand_between_every_key_and_its_sentence(scope: Scope) -> None:
    for line in lines(scope):
        assert not line.startswith("   ") or line[:19].endswith("  ") or len(line) <= 36


def test_columns_are_explained_only_where_there_are_columns() -> None:
    assert " Columns" in lines(Scope.FLEET)
    for scope in (Scope.REPOSITORY, Scope.POOLS, Scope.JOBS, Scope.PAGE):
        assert " Columns" not in lines(scope)
        assert " Signs" in lines(scope)


@pytest.mark.parametrize("width", [50, 80, 110])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    shown = {action.name: "ctrl+shift+x F13" for action in actions_of(Scope.FLEET)}
    assert max(map(line_length, help_lines(Scope.FLEET, shown, COLUMN_TEXTS, width))) <= width
