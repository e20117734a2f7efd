"""The tab `pool`."""

from gitdash.tui.drawing.items import Page
from gitdash.tui.repository.detail import full_lines
from gitdash.tui.repository.view import RepositoryView


def pool_page(view: RepositoryView, width: int) -> Page:
    """Return the page."""
    return Page(full_lines(view.summary, view.report, width=width, now_s=view.now_s))
