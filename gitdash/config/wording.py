"""What is wrong with a value of the configuration, in the words of people: the key, what it is, and what it may be.

Source: the error messages of msgspec, and the types that it checked against. A message of a kind that is not known here
is passed on as it is.
"""

import difflib
import re
from typing import Final

import msgspec

from gitdash.units import printable

_AT: Final = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<where>.*)`)?")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<key>.*)`")
_MISSING: Final = re.compile(r"Object missing required field `(?P<key>.*)`")
_NO_CHOICE: Final = re.compile(r"Invalid enum value (?P<value>.*)")
_LIMIT: Final = re.compile(r"(?P<sign>>=|<=|>|<) (?P<number>[0-9.]+?)(?:\.0)?$")
_LIMITS: Final = {">=": "of at least", "<=": "of at most", ">": "above", "<": "below"}
_KINDS: Final = {
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
_MOST_NAMES: Final = 12
_STEP: Final = re.compile(r"\.?(?P<name>[^.\[]+)|\[(?P<number>[^]]*)\]")


def in_words(message: str, checked: type) -> str:
    """Return a message of msgspec as a clause that starts with the key; `checked` is the type of the whole value."""
    match = _AT.fullmatch(printable(message))
    what, where = (match["what"], match["where"] or "") if match else (printable(message), "")
    unknown, missing, no_choice = _UNKNOWN.fullmatch(what), _MISSING.fullmatch(what), _NO_CHOICE.fullmatch(what)
    if unknown:
        return f"{_below(where, unknown['key'])} is not a known key{_hint(unknown['key'], where, checked)}"
    if missing:
        return f"{_below(where, missing['key'])} is missing"
    if no_choice:
        return f"{where} is {no_choice['value']}, and must be {_choices(where, checked)}"
    expected = re.sub(r"`([a-z| ]+)`", _kinds_in_words, what)
    expected = _LIMIT.sub(lambda limit: f"{_LIMITS[limit['sign']]} {limit['number']}", expected)
    expected = expected[:1].lower() + expected[1:]
    return f"{where}: {expected}" if where else expected


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _hint(key: str, where: str, checked: type) -> str:
    """Return the keys that there are: the one that was probably meant, else all of a short list."""
    from msgspec import inspect

    found = _type_at(where, checked)
    names = [field.encode_name for field in found.fields] if isinstance(found, inspect.StructType) else []
    nearest = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    if nearest:
        return f"; did you mean '{nearest[0]}'?"
    return f"; there are {', '.join(names)}" if 0 < len(names) <= _MOST_NAMES else ""


def _choices(where: str, checked: type) -> str:
    from msgspec import inspect

    found = _type_at(where, checked)
    values = [repr(value) for value in found.values] if isinstance(found, inspect.LiteralType) else ["another"]
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last


def _type_at(where: str, checked: type) -> "msgspec.inspect.Type | None":
    """Return what a key may hold; None where that is not known."""
    from msgspec import inspect

    found: inspect.Type | None = inspect.type_info(checked)
    for step in _STEP.finditer(where):
        if isinstance(found, inspect.StructType) and step["name"]:
            found = next((field.type for field in found.fields if field.encode_name == step["name"]), None)
        elif isinstance(found, inspect.VarTupleType) and step["number"] is not None:
            found = found.item_type
        else:
            return None
    return found


def _kinds_in_words(match: re.Match[str]) -> str:
    """Turn `str | array | null` into what people call it; that a key may be missing needs no word."""
    kinds = match[1].split(" | ")
    return " or ".join(_KINDS.get(kind, match[0]) for kind in kinds if kind != "null" or len(kinds) == 1)
