"""What a person has chosen before the dashboard opens: by options, and by `[dashboard]`, `[keys]` and `[[view]]`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitdash.maintenance.fetching.options import FetchOptions, configured_options
from gitdash.model.view import View

if TYPE_CHECKING:
    from gitdash.config.dashboard import DashboardSettings
    from gitdash.config.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the dashboard looks and what it may do."""

    keys: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Wishes for keys by the name of the action, as people write them."""
    encoding: str = "utf-8"
    """Of the terminal, or one that has all signs where these are wanted in any case."""
    ascii_signs: bool = False
    """Lines and signs are drawn in ASCII, whatever the terminal has."""
    theme: str | None = None
    """None for the one that was chosen last."""
    read_only: bool = False
    """Nothing may be changed, and no other program started."""
    has_terminal: bool = True
    """There is a terminal that can be given to another program; a browser has none."""
    views: Sequence[View] = ()
    """Those of the configuration."""
    shell: str | None = None
    """Program that is started in a repository; None for the user's own."""
    open_with: Sequence[str] = ()
    """Programs that show a repository: the first that is installed."""
    fetch: FetchOptions = field(default_factory=FetchOptions)
    """How fetches are made."""


def options_of(settings: "Settings", dashboard: "DashboardSettings", terminal_encoding: str | None) -> Options:
    """Return what the configuration says; `dashboard` is its table with what the command line says instead.

    `terminal_encoding` is None where the dashboard is not drawn on a terminal.
    """
    return Options(
        keys=settings.keys,
        encoding="utf-8" if dashboard.glyphs == "unicode" else terminal_encoding or "utf-8",
        ascii_signs=dashboard.glyphs == "ascii",
        theme=dashboard.theme,
        read_only=dashboard.read_only,
        has_terminal=terminal_encoding is not None,
        views=settings.view,
        shell=dashboard.shell,
        open_with=dashboard.open_with,
        fetch=configured_options(settings.fetch),
    )
