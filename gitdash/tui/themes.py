"""Colour themes: those that come with Textual, and one that leaves all colours to the terminal."""

from dataclasses import replace
from typing import Final

from textual.theme import BUILTIN_THEMES

from gitdash.errors import GitdashError
from gitdash.units import printable

ANSI_THEME: Final = replace(
    BUILTIN_THEMES["ansi-dark"],
    name="ansi",
    primary="ansi_cyan",
    accent="ansi_cyan",
    variables=BUILTIN_THEMES["ansi-dark"].variables
    | {
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_cyan",
        "border-blurred": "ansi_default",
    },
)
"""The sixteen colours as the terminal shows them, on its own background, be that dark or light."""


class UnknownThemeError(GitdashError):
    """There is no theme of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no theme '{printable(name)}'; themes: {', '.join(theme_names())}")


def theme_names() -> list[str]:
    """Return the names of all themes, in order."""
    return sorted([ANSI_THEME.name, *BUILTIN_THEMES])


def require_theme(name: str | None) -> None:
    """Raise UnknownThemeError if a theme is asked for that there is not."""
    if name is not None and name not in theme_names():
        raise UnknownThemeError(name)
