"""The screen of one repository: a title, tabs, and the page of the chosen tab."""

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.model.report import RepositoryReport
from gitdash.model.summary import RepositorySummary
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.clipboard import shell_path
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.drawing.lines import LinesView
from gitdash.tui.repository.detail import title_line
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.tui.repository.packs import ordered_pack_names
from gitdash.tui.repository.relatives import Relatives
from gitdash.tui.repository.tabs import TABS
from gitdash.tui.repository.view import RepositoryView
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.source import Changes


class RepositoryScreen(ItemsScreen):
    """All that is known of one repository."""

    SCOPE = Scope.REPOSITORY
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.REPOSITORY)]

    def __init__(self, context: Context, path: bytes, *, tab: str = "overview") -> None:
        super().__init__(context)
        self.path = path
        self.tab = next(number for number, one in enumerate(TABS) if one.name == tab)
        self.tabs_view = TabsView(self)
        self.items = ItemsView(self._page, id="page")
        self.relatives = Relatives(path, self._summaries, lambda wait_s: self.set_timer(wait_s, self.items.renew))
        self._report: RepositoryReport | None = None
        self.explains_sizes = False
        self.pack_order = PackOrder()
        self._copied: tuple[int, int, int] | None = None
        """Tab, item and number of the command that was copied last."""

    @override
    def shown_tab(self) -> str:
        """Return the name of the tab."""
        return TABS[self.tab].name

    def on_mount(self) -> None:
        """Ask for what is not at hand."""
        self._ask()

    def _ask(self) -> None:
        self._report = self.context.live.report_of(self.path) or self._report
        if self.context.live.report_of(self.path) is None:
            self.context.source.request_report(self.path)

    @override
    def title_lines(self, width: int) -> Sequence[Line]:
        """Return path, kind and state."""
        summary = self.context.summary_of(self.path)
        if summary is None:
            return [[Piece(" This repository is gone.", Tone.PLAIN)]]
        return [title_line(summary, self._report, width)]

    @override
    def parts(self) -> Iterable[Widget]:
        """Return tabs and page."""
        return [self.tabs_view, self.items]

    def view(self) -> RepositoryView | None:
        """Return what is known now; None if the repository is gone."""
        summary = self.context.summary_of(self.path)
        if summary is None:
            return None
        return RepositoryView(
            summary=summary,
            report=self._report,
            now_s=self.context.clock(),
            family=self.relatives.family,
            repository_count=len(self.context.fleet.rows),
            monotonic_s=time.monotonic(),
            keys=self.context.shown_keys,
            is_busy=self.context.is_busy(self.path),
            explains_sizes=self.explains_sizes,
            pack_order=self.pack_order,
        )

    def _summaries(self) -> Iterable[RepositorySummary]:
        return (row.summary for row in self.context.fleet.rows)

    def _page(self, width: int) -> Page:
        view = self.view()
        return Page([]) if view is None else TABS[self.tab].compose(view, width)

    @override
    def show_changes(self, changes: Changes | None) -> None:
        """Compose the page anew if something is other than before."""
        if changes is not None:
            if changes.summaries or changes.forgotten:
                self.relatives.changed()
            if self.path in changes.reports:
                self._report = changes.reports[self.path] or self._report
            if self.path in changes.summaries:
                # Also beside an answer, which may be from before.
                self.context.source.request_report(self.path)
        super().show_changes(changes)

    def action_move_tabs(self, step: int) -> None:
        """Show the tab to the left or to the right."""
        self.action_show_tab((self.tab + step) % len(TABS))

    def action_show_tab(self, number: int) -> None:
        """Show a tab, counted from 0."""
        self.tab = number
        self.tabs_view.renew()
        self.key_view.renew()
        self.items.selected = 0
        self.items.renew(from_top=True)

    def show_tab_named(self, name: str) -> None:
        """Show a tab if it is not shown already."""
        if self.shown_tab() != name:
            self.action_show_tab(next(number for number, tab in enumerate(TABS) if tab.name == name))

    def action_explain_sizes(self) -> None:
        """Show or hide why the sizes differ; from another tab, show it."""
        self.explains_sizes = self.shown_tab() != "overview" or not self.explains_sizes
        self.show_tab_named("overview")
        self.items.renew()

    def action_sort_packs_by_neighbour(self, step: int) -> None:
        """Sort the packs by the column to the left or to the right of the sorted one."""
        self._sort_packs(self.pack_order.neighbour(step))

    def action_reverse_packs(self) -> None:
        """Reverse the order of the packs."""
        self._sort_packs(self.pack_order.reversed())

    def _sort_packs(self, order: PackOrder) -> None:
        """Put the packs in another order; the cursor stays on its pack."""
        self.show_tab_named("packs")
        names = self._pack_names()
        name = names[self.items.selected] if self.items.selected and names else None
        self.pack_order = order
        self.items.renew()
        if name is not None:
            self.items.select(self._pack_names().index(name))

    def _pack_names(self) -> list[str]:
        view = self.view()
        return [] if view is None else ordered_pack_names(view)

    @on(ItemsView.Opened)
    def action_open_relative(self) -> None:
        """Open the repository that the item under the cursor stands for, on the same tab."""
        tab = TABS[self.tab]
        view = self.view()
        path = tab.relative(view, self.items.selected) if view is not None and tab.relative is not None else None
        if path is not None and path != self.path:
            self.context.open_repository(path, tab=tab.name)

    def action_measure(self) -> None:
        """Measure the sizes now."""
        self.context.source.measure(self.path)

    def action_rescan(self) -> None:
        """Look at the repository again."""
        self.context.source.rescan(self.path)

    def action_copy(self) -> None:
        """Copy the command of the item under the cursor, the next one if it has several; else the path."""
        view, commands_of = self.view(), TABS[self.tab].commands
        commands = commands_of(view, self.items.selected) if view is not None and commands_of is not None else ()
        if not commands:
            self._copy_text(shell_path(self.path), "Copied")
            return
        place = (self.tab, self.items.selected)
        number = (self._copied[2] + 1) % len(commands) if self._copied and self._copied[:2] == place else 0
        self._copied = (*place, number)
        counted = f" {number + 1} of {len(commands)}" if len(commands) > 1 else ""
        self._copy_text(commands[number], f"Copied{counted}")

    def _copy_text(self, text: str, title: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(fit(text, 60).rstrip(), title=title, timeout=2, markup=False)


class TabsView(LinesView):
    """The titles of the tabs on one line; a click chooses."""

    def __init__(self, owner: RepositoryScreen) -> None:
        super().__init__(self._tab_lines, id="tabs")
        self._owner = owner

    def _tab_lines(self, _width: int) -> Sequence[Line]:
        pieces: list[Piece] = []
        for number, tab in enumerate(TABS):
            is_shown = number == self._owner.tab
            mark = ("[", "]") if is_shown else (" ", " ")
            tone = Tone.SORTED if is_shown else Tone.DIM
            pieces += [
                Piece(f"{mark[0]}{number + 1} ", Tone.KEY if not is_shown else tone),
                Piece(tab.title + mark[1], tone),
            ]
        return [pieces]

    def on_click(self, event: events.Click) -> None:
        """Show the tab below the pointer."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        left = 0
        for number, tab in enumerate(TABS):
            left += len(tab.title) + 4
            if offset.x < left:
                self._owner.action_show_tab(number)
                return
