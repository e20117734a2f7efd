"""What becomes of many notices at once."""

import msgspec
from rich.cells import cell_len

from gitdash.export.ledger_lines import cut_off_lines
from gitdash.tui.notices import toast_texts
from tests.tui.fixture_ledger import CUT_OFF

STATE = "the state file could not be written"


def test_notices_on_other_things_are_toasts_of_their_own() -> None:
    assert toast_texts([]) == []
    assert toast_texts([STATE, "a b"]) == [STATE, "a b"]


def test_one_action_that_was_cut_off_is_told_whole() -> None:
    (line,) = cut_off_lines([CUT_OFF])
    assert line.startswith("cut off: fetch origin of /srv/git/")
    assert toast_texts([line, STATE]) == [STATE, line]


def test_of_several_the_first_is_told_and_the_others_are_counted() -> None:
    lines = cut_off_lines([CUT_OFF] * 3)
    (text,) = toast_texts(lines)
    assert text == f"{lines[0]}. 2 more actions were cut off: see History, the last tab of each repository."
    (text,) = toast_texts(lines[:2])
    assert "1 more action was cut off" in text


def test_names_of_all_that_may_be_left_do_not_cover_the_screen() -> None:
    left = msgspec.structs.replace(CUT_OFF, leftovers=tuple(f"objects/pack/tmp_pack_{number}" for number in range(99)))
    (text,) = toast_texts(cut_off_lines([left]))
    assert cell_len(text) == 300
    assert text.endswith("…")
