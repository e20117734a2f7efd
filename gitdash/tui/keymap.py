"""Which keys do what: the declared keys of all actions, changed by the `[keys]` table of the configuration. Pure.

People write `/`, `F`, `^f` or `ctrl+f`; Textual calls them `slash`, `F` and `ctrl+f`. A wish that cannot be granted is
reported and never an error: a dashboard that does not open because of a key helps nobody. It binds nothing.
"""

import string
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gitdash.units import printable

EVERYWHERE: Final = "everywhere"
"""The scope whose keys act on every screen."""
ALWAYS_WITH_KEY: Final = ("quit", "help", "interrupt")
"""Actions that never end without a key: who does not know the keys has to get out."""

_MODIFIERS: Final = {"ctrl": "ctrl", "control": "ctrl", "alt": "alt", "shift": "shift"}
_OTHER_NAMES: Final = {
    "esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup", "pgdn": "pagedown",
    "page up": "pageup", "page down": "pagedown", "dot": "full_stop", "period": "full_stop",
}  # fmt: skip
_NAMES: Final = frozenset(
    {
        "escape", "enter", "tab", "space", "backspace", "insert", "delete", "home", "end", "pageup", "pagedown", "up",
        "down", "left", "right", *(f"f{number}" for number in range(1, 25)),
    }
)  # fmt: skip
_SAME: Final = {
    "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape",
    "ctrl+space": "ctrl+@", "ctrl+at": "ctrl+@", "ctrl+minus": "ctrl+underscore",
}  # fmt: skip
"""What a terminal sends for the first is what it sends for the second."""
_RENAMED: Final = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "hyphen_minus": "minus",
    "plus_sign": "plus", "low_line": "underscore",
}  # fmt: skip
"""Where Textual does not take the name that Unicode gives a character."""
_SHOWN: Final = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn", "delete": "del", "insert": "ins"}


class Keyed(Protocol):
    """What has keys: an action."""

    @property
    def name(self) -> str:
        """The id in `[keys]`."""

    @property
    def keys(self) -> tuple[str, ...]:
        """In Textual's spelling."""

    @property
    def scopes(self) -> Sequence[str]:
        """The screens on which the keys act."""

    @property
    def title(self) -> str:
        """What it does, in a few words."""

    @property
    def stand_in(self) -> tuple[str, str] | None:
        """The name of the action that does much the same, and the verb for that."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys of all actions."""

    keys: dict[str, tuple[str, ...]]
    """Name of an action to its keys, in Textual's spelling; none if it has no key."""
    shown: dict[str, str]
    """The same for people, parted by blanks."""
    problems: tuple[str, ...]
    """What could not be granted, and who lost a key: sentences."""


def make_keymap(actions: Sequence[Keyed], wishes: Mapping[str, str | Sequence[str]]) -> Keymap:
    """Return the keys of all actions, given those that the user wishes for by name of the action.

    A wish takes a key from an action that has it by default; of two wishes for one key, the first has it.
    """
    problems: list[str] = []
    named = {action.name: action for action in actions}
    granted = _granted(named, _readable(named, wishes, problems), problems)
    while any(_took_back(named[name], named, granted, problems) for name in ALWAYS_WITH_KEY if name in named):
        pass
    keys = {name: _keys_of(action, named, granted) for name, action in named.items()}
    problems += [sentence for action in actions for sentence in _taken(action, named, granted, keys)]
    shown = {name: " ".join(map(shown_key, its)) for name, its in keys.items()}
    return Keymap(keys, shown, tuple(problems))


def textual_key(text: str) -> str | None:
    """Return what Textual calls a key that a person wrote; None if it is none."""
    text = text.strip()
    if len(text) == 2 and text[0] == "^":
        text = f"ctrl+{text[1]}"
    *before, last = text.split("+")
    if text == "+" or text.endswith("++"):
        *before, last = *before[:-1], "+"
    written = [word.strip().casefold() for word in before]
    modifiers = {_MODIFIERS[word] for word in written if word in _MODIFIERS}
    key = _key_name(last.strip())
    if key is None or len(modifiers) != len(written):
        return None
    return _combined(modifiers, key)


def shown_key(key: str) -> str:
    """Return what people call a key of Textual: `?`, `esc`, `F1`, `ctrl+p`."""
    if key == "ctrl+@":
        return "ctrl+space"
    *modifiers, last = key.split("+")
    if last in _NAMES:
        last = last.upper() if last[1:].isdecimal() else _SHOWN.get(last, last)
    elif len(last) > 1:
        last = _CHARACTERS.get(last) or _character_named(last)
    return "+".join([*modifiers, last])


def first_key(shown: Mapping[str, str], action: str) -> str:
    """Return the first of an action's keys as people call them; empty if it has none."""
    return shown.get(action, "").partition(" ")[0]


def typing_key(shown: Mapping[str, str], action: str, taken: Collection[str]) -> str | None:
    """Return, in Textual's spelling, the first of an action's keys that acts while something is typed; None if none.

    `taken` are the keys, in that spelling, which the input has for itself; those that write something are, too.
    """
    names = [name for name in shown.get(action, "").split() if len(name) > 1 and name != "space"]
    return next((key for key in map(textual_key, names) if key is not None and key not in taken), None)


def _key_name(word: str) -> str | None:
    if len(word) == 1:
        is_drawn = word.isprintable() and word != " " and not unicodedata.combining(word)
        return _name_of(word) if is_drawn else None
    word = word.casefold()
    word = _OTHER_NAMES.get(word, word)
    return word if word in _NAMES or word in _CHARACTERS else None


def _name_of(character: str) -> str | None:
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name) or None


_CHARACTERS: Final = {name: sign for sign in string.punctuation if (name := _name_of(sign))}


def _character_named(name: str) -> str:
    try:
        return unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return name


def _combined(modifiers: set[str], key: str) -> str | None:
    """Return a key with its modifiers as terminals report them; None for what none can report."""
    if len(key) == 1 and key.isalpha():
        if modifiers == {"shift"}:
            return key.upper()
        if "alt" in modifiers and key.isupper():
            modifiers = modifiers | {"shift"}
        key = key.lower() if modifiers else key
    elif "shift" in modifiers and key not in _NAMES:
        return None
    combined = "+".join([*sorted(modifiers), key])
    return _SAME.get(combined, combined)


def _readable(
    named: Mapping[str, Keyed], wishes: Mapping[str, str | Sequence[str]], problems: list[str]
) -> dict[str, list[str]]:
    """Return the wishes in Textual's spelling, without those that nobody understands."""
    readable: dict[str, list[str]] = {}
    for name, wish in wishes.items():
        if name not in named:
            problems.append(_unknown(name, named))
            continue
        written = [wish] if isinstance(wish, str) else list(wish)
        keys = {text: textual_key(text) for text in written}
        problems += [f"[keys] {name}: '{printable(text)}' is no key" for text, key in keys.items() if key is None]
        known = [key for key in keys.values() if key is not None]
        if known or not written:
            readable[name] = list(dict.fromkeys(known))
    return readable


def _unknown(name: str, named: Mapping[str, Keyed]) -> str:
    import difflib

    nearest = difflib.get_close_matches(name, named, n=1, cutoff=0.6)
    hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
    return f"[keys] {printable(name)}: there is no such action{hint}"


def _granted(
    named: Mapping[str, Keyed], wishes: Mapping[str, list[str]], problems: list[str]
) -> dict[str, tuple[str, ...]]:
    """Return the wishes that do not clash with an earlier one; an action that is left with none is not among them."""
    granted: dict[str, tuple[str, ...]] = {}
    for name, wished in wishes.items():
        keys = []
        for key in wished:
            owner = _owner(key, named[name], named, granted)
            if owner is None:
                keys.append(key)
            else:
                problems.append(f"[keys] {name}: {shown_key(key)} is already the key for {owner}")
        if keys or not wished:
            granted[name] = tuple(keys)
    return granted


def _owner(
    key: str, wanted_by: Keyed, named: Mapping[str, Keyed], granted: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Return which other action has a key by a wish, on a screen where `wanted_by` acts; None if none has."""
    for name, keys in granted.items():
        if key in keys and name != wanted_by.name and _meet(named[name], wanted_by):
            return name
    return None


def _meet(one: Keyed, other: Keyed) -> bool:
    scopes = {*one.scopes}
    return EVERYWHERE in scopes or EVERYWHERE in other.scopes or not scopes.isdisjoint(other.scopes)


def _took_back(
    action: Keyed, named: Mapping[str, Keyed], granted: dict[str, tuple[str, ...]], problems: list[str]
) -> bool:
    """Take back a wish that would leave an action without a key that needs one; returns whether there was one."""
    if granted.get(action.name):
        return False
    if action.name in granted:
        problems.append(f"[keys] {action.name}: it cannot be without a key")
        del granted[action.name]
        return True
    owners = [_owner(key, action, named, granted) for key in action.keys]
    owner, key = owners[0], action.keys[0]
    if owner is None or None in owners:
        return False
    problems.append(f"[keys] {owner}: {shown_key(key)} stays the key for {action.name}, which would have none left")
    left = tuple(other for other in granted.pop(owner) if other != key)
    if left:
        granted[owner] = left
    return True


def _keys_of(action: Keyed, named: Mapping[str, Keyed], granted: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the keys of one action: what was wished for, else those of its own that no wish has taken."""
    if action.name in granted:
        return granted[action.name]
    return tuple(key for key in action.keys if _owner(key, action, named, granted) is None)


def _taken(
    action: Keyed,
    named: Mapping[str, Keyed],
    granted: Mapping[str, tuple[str, ...]],
    keys: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """Yield a sentence for each key that an action has lost: to which other, what it did, and what still does it."""
    if action.name in granted:
        return
    left = keys[action.name]
    rest = " ".join(map(shown_key, left)) or "no key"
    for key in action.keys:
        owner = _owner(key, action, named, granted)
        if owner is not None:
            what = f"{action.name} ({action.title[0].lower()}{action.title[1:]})"
            still = "" if left else _still(action, keys)
            yield f"[keys] {owner}: {shown_key(key)} was the key for {what}, which has {rest} left{still}"


def _still(action: Keyed, keys: Mapping[str, tuple[str, ...]]) -> str:
    """Return which other key does much the same; empty if none does."""
    name, verb = action.stand_in or ("", "")
    return "".join(f"; {shown_key(key)} still {verb}" for key in keys.get(name, ())[:1])
