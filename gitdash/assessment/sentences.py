"""Pieces of the sentences that findings are made of. Not for tables: those use `units` alone."""

import shlex
from collections.abc import Sequence
from typing import Final

from gitdash.units import human_age, human_count, printable, printable_path

_GIT: Final = "{git}"


def ago(age_s: float) -> str:
    """Return how long ago something was: `3d ago`, `just now`."""
    age = human_age(age_s)
    return "just now" if age == "now" else f"{age} ago"


def listed(names: Sequence[str], at_most: int = 3, *, of_count: int | None = None) -> str:
    """Return names with commas, and how many more there are: `a, b, c and 4 more`.

    `of_count` is how many there are where not all names are known.
    """
    shown = names[:at_most]
    rest_count = (len(names) if of_count is None else of_count) - len(shown)
    return ", ".join(shown) + (f" and {human_count(rest_count)} more" if rest_count > 0 else "")


def shell_word(path: bytes) -> str:
    r"""Return a path as one word for a POSIX shell, exact and printable.

    A path with bytes that may not reach a terminal is written as `$'...'` with `\xNN` (POSIX.1-2024, bash, zsh, ksh);
    so is one with `{git}` in it, for which a remedy would put the git command.
    """
    text = path.decode("utf-8", "surrogateescape")
    if printable_path(path) == text and _GIT not in text:
        return shlex.quote(text)
    return "$'" + "".join(map(_ansi_c, text)).replace(_GIT, "\\x7bgit}") + "'"


def _ansi_c(character: str) -> str:
    if character == "\\":
        return "\\\\"
    # A quote is written as a number: a shell that does not know `$'...'`, such as dash, would take `\'` for its end.
    if character != "'" and printable(character) == character:
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
