"""Closing a screen once, however often the keys of one burst ask for it."""

from textual.await_complete import AwaitComplete
from textual.screen import Screen


def close(screen: Screen[None]) -> None:
    """Close a screen soon; one that is closed by then, or that another covers, is left as it is."""
    screen.app.call_next(_close_now, screen)


def _close_now(screen: Screen[None]) -> AwaitComplete | None:
    # `is_current` holds for what can be seen behind a page, too: to dismiss that would close the page
    return screen.dismiss() if screen.is_active else None
