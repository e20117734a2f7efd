"""Keys that a user wishes for: what they are called, who gets them, and what is said of the rest."""

import string
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key

from gitdash.tui.keymap import EVERYWHERE, Keymap, make_keymap, shown_key, textual_key


@dataclass(frozen=True)
class Declared:
    name: str
    keys: tuple[str, ...]
    scopes: tuple[str, ...] = ("fleet",)
    title: str = "Do that"
    stand_in: tuple[str, str] | None = None


ACTIONS = (
    Declared("filter", ("slash",)),
    Declared("rescan", ("r",)),
    Declared("rescan_all", ("R", "ctrl+r")),
    Declared("size", ("s",), ("fleet", "repository")),
    Declared("next_tab", ("right",), ("repository",)),
    Declared("close", ("escape",), ("page",)),
    Declared("palette", ("ctrl+p",), (EVERYWHERE,)),
    Declared("quit", ("q", "ctrl+q")),
    Declared("help", ("question_mark", "f1"), (EVERYWHERE,)),
    Declared("interrupt", ("ctrl+c",), (EVERYWHERE,)),
)


def keymap(**wishes: str | list[str]) -> Keymap:
    return make_keymap(ACTIONS, wishes)


def pressed(sequence: str) -> str:
    """What Textual makes of the bytes that a terminal sends."""
    (event,) = XTermParser().feed(sequence)
    assert isinstance(event, Key)
    return event.key


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        *((sign, sign) for sign in string.punctuation + string.ascii_letters + string.digits + "öÄß÷"),
        ("slash", "/"),
        ("Question_Mark", "?"),
        ("shift+f", "F"),
        ("space", " "),
        ("ctrl+f", "\x06"),
        ("Ctrl+F", "\x06"),
        ("^f", "\x06"),
        ("control + f", "\x06"),
        ("ctrl+space", "\0"),
        ("ctrl+i", "\t"),
        ("ctrl+m", "\r"),
        ("ctrl+h", "\x08"),
        ("ctrl+\\", "\x1c"),
        ("ctrl+]", "\x1d"),
        ("ctrl+^", "\x1e"),
        ("ctrl+_", "\x1f"),
        ("ctrl+-", "\x1f"),
        ("enter", "\r"),
        ("Return", "\r"),
        ("f5", "\x1b[15~"),
        ("F5", "\x1b[15~"),
        ("ctrl+F5", "\x1b[15;5~"),
        ("del", "\x1b[3~"),
        ("PgUp", "\x1b[5~"),
        ("page down", "\x1b[6~"),
        ("shift+tab", "\x1b[Z"),
        ("shift+ctrl+left", "\x1b[1;6D"),
        ("ctrl++", "\x1b[43;5u"),
        ("ctrl+shift+f", "\x1b[102;6u"),
        ("alt+f", "\x1b[102;3u"),
        ("alt+F", "\x1b[102;4u"),
    ],
)
def test_key_that_people_write_is_what_textual_calls_the_key_that_is_pressed(written: str, sent: str) -> None:
    assert textual_key(written) == pressed(sent)


@pytest.mark.parametrize(
    "text", ["", " ", "ctrl+", "+f", "ctrl", "hyper+x", "ctrl+ctrl+f", "shift+/", "f25", "f0", "enterr", "a b", "ab"]
)
def test_what_no_keyboard_sends_is_no_key(text: str) -> None:
    assert textual_key(text) is None


@pytest.mark.safety
@pytest.mark.parametrize("text", ["\x1b", "\0", "\x9b", "\ud800", "\u200b", "\u202e", "\N{COMBINING ACUTE ACCENT}"])
def test_what_cannot_be_drawn_is_no_key(text: str) -> None:
    assert textual_key(text) is None
    (problem,) = keymap(filter=f"x{text}").problems
    assert problem.isprintable()


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("question_mark", "?"),
        ("slash", "/"),
        ("less_than_sign", "<"),
        ("minus", "-"),
        ("plus", "+"),
        ("ctrl+plus", "ctrl++"),
        ("f1", "F1"),
        ("escape", "esc"),
        ("pagedown", "pgdn"),
        ("ctrl+p", "ctrl+p"),
        ("ctrl+@", "ctrl+space"),
        ("G", "G"),
        ("space", "space"),
        ("division_sign", "÷"),
    ],
)
def test_key_is_shown_as_it_stands_on_the_keyboard(key: str, shown: str) -> None:
    assert shown_key(key) == shown
    assert textual_key(shown) == key


def test_without_wishes_the_declared_keys_hold() -> None:
    made = keymap()
    assert made.keys == {action.name: action.keys for action in ACTIONS}
    assert made.shown["help"] == "? F1"
    assert made.problems == ()


def test_wish_replaces_all_keys_of_an_action() -> None:
    made = keymap(rescan_all=["f5", "ctrl+l"], filter="F")
    assert made.keys["rescan_all"] == ("f5", "ctrl+l")
    assert made.keys["filter"] == ("F",)
    assert made.shown["rescan_all"] == "F5 ctrl+l"
    assert made.problems == ()


def test_empty_list_takes_the_key_away() -> None:
    made = keymap(size=[])
    assert made.keys["size"] == ()
    assert made.shown["size"] == ""
    assert made.problems == ()


def test_key_that_an_action_gives_up_is_free_for_another() -> None:
    made = keymap(rescan="f5", filter="r")
    assert (made.keys["rescan"], made.keys["filter"]) == (("f5",), ("r",))
    assert made.problems == ()


def test_two_actions_can_change_places() -> None:
    made = keymap(rescan="s", size="r")
    assert (made.keys["rescan"], made.keys["size"]) == (("s",), ("r",))
    assert made.problems == ()


def test_wish_wins_over_a_default_and_the_report_says_who_lost_the_key() -> None:
    made = keymap(filter="r", rescan_all="q")
    assert made.keys["filter"] == ("r",)
    assert made.keys["rescan"] == ()
    assert made.keys["quit"] == ("ctrl+q",)
    assert made.problems == (
        "[keys] filter: r was the key for rescan (do that), which has no key left",
        "[keys] rescan_all: q was the key for quit (do that), which has ctrl+q left",
    )


def test_report_says_what_the_action_did_and_which_key_still_does_it() -> None:
    actions = (
        Declared("rescan", ("r",)),
        Declared("leave", ("q",), title="Close this screen", stand_in=("quit", "quits")),
        Declared("quit", ("ctrl+q",), (EVERYWHERE,)),
    )
    lost = "[keys] rescan: q was the key for leave (close this screen), which has no key left"
    assert make_keymap(actions, {"rescan": "q"}).problems == (f"{lost}; ctrl+q still quits",)
    assert make_keymap(actions, {"rescan": "q", "quit": "f10"}).problems == (f"{lost}; F10 still quits",)
    assert make_keymap(actions, {"rescan": "q", "leave": "x"}).problems == ()


def test_same_key_on_two_screens_is_no_clash() -> None:
    made = keymap(next_tab="r", close="slash")
    assert made.keys["next_tab"] == made.keys["rescan"] == ("r",)
    assert made.keys["close"] == made.keys["filter"] == ("slash",)
    assert made.problems == ()


def test_actions_that_share_one_of_their_screens_clash() -> None:
    assert keymap(next_tab="s").keys["size"] == ()


def test_key_for_everywhere_clashes_with_every_screen() -> None:
    assert keymap(palette="right").keys["next_tab"] == ()
    assert keymap(next_tab="ctrl+p").keys["palette"] == ()


def test_first_of_two_wishes_for_a_key_has_it() -> None:
    made = keymap(rescan="f5", size=["F5", "z"], filter="f5")
    assert made.keys["rescan"] == ("f5",)
    assert made.keys["size"] == ("z",)
    assert made.keys["filter"] == ("slash",)
    assert made.problems == (
        "[keys] size: F5 is already the key for rescan",
        "[keys] filter: F5 is already the key for rescan",
    )


def test_unknown_action_is_reported_with_the_nearest() -> None:
    made = make_keymap(ACTIONS, {"fliter": "f", "xyzzy\x1b": "x"})
    assert made.keys == keymap().keys
    assert made.problems == (
        "[keys] fliter: there is no such action; did you mean 'filter'?",
        "[keys] xyzzy\\x1b: there is no such action",
    )


def test_key_that_nobody_understands_changes_nothing() -> None:
    made = keymap(filter="ctrl+", rescan=["hyper+r", "f5"])
    assert made.keys["filter"] == ("slash",)
    assert made.keys["rescan"] == ("f5",)
    assert made.problems == ("[keys] filter: 'ctrl+' is no key", "[keys] rescan: 'hyper+r' is no key")


@pytest.mark.parametrize("name", ["quit", "help", "interrupt"])
def test_key_to_leave_or_to_learn_the_keys_cannot_be_taken_away(name: str) -> None:
    made = make_keymap(ACTIONS, {name: []})
    assert made.keys == keymap().keys
    assert made.problems == (f"[keys] {name}: it cannot be without a key",)


def test_last_key_of_an_action_that_needs_one_stays_with_it() -> None:
    made = keymap(filter=["ctrl+c", "f"], rescan="q", size="ctrl+q")
    assert made.keys["interrupt"] == ("ctrl+c",)
    assert made.keys["filter"] == ("f",)
    assert made.keys["quit"] == ("q",)
    assert made.keys["size"] == ("ctrl+q",)
    assert made.keys["rescan"] == ("r",)
    assert made.problems == (
        "[keys] rescan: q stays the key for quit, which would have none left",
        "[keys] filter: ctrl+c stays the key for interrupt, which would have none left",
        "[keys] size: ctrl+q was the key for quit (do that), which has q left",
    )


_KEYS = [*sorted({key for action in ACTIONS for key in action.keys}), "f", "?", "^c", "no key", "F1", ""]
_WISHES = st.dictionaries(
    st.sampled_from([*(action.name for action in ACTIONS), "unknown"]),
    st.one_of(st.sampled_from(_KEYS), st.lists(st.sampled_from(_KEYS), max_size=4)),
)


@settings(max_examples=300, deadline=None, database=None)
@given(_WISHES)
def test_whatever_is_wished_no_key_does_two_things_and_there_is_a_way_out(wishes) -> None:
    made = make_keymap(ACTIONS, wishes)
    for one, other in combinations(ACTIONS, 2):
        scopes = {*one.scopes, *other.scopes}
        if EVERYWHERE in scopes or {*one.scopes} & {*other.scopes}:
            assert not {*made.keys[one.name]} & {*made.keys[other.name]}
    assert made.keys["quit"]
    assert made.keys["help"]
    assert made.keys["interrupt"]
    assert all(len(set(keys)) == len(keys) for keys in made.keys.values())
    changed = [action for action in ACTIONS if made.keys[action.name] != action.keys and action.name not in wishes]
    assert all(any(action.name in problem for problem in made.problems) for action in changed)
