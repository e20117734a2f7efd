"""Colour themes: those that come with Textual, and one that leaves all colours to the terminal."""

from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

from gitdash.errors import GitdashError
from gitdash.units import printable

ANSI_THEME: Final = Theme(
    name="ansi",
    ansi=True,
    primary="ansi_cyan",
    secondary="ansi_cyan",
    accent="ansi_cyan",
    success="ansi_green",
    warning="ansi_yellow",
    error="ansi_red",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={"border": "ansi_cyan", "block-cursor-background": "ansi_cyan"},
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
