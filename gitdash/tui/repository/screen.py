"""The screen of one repository: a title, tabs, and the page of the chosen tab."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from typing_extensions import override

from gitdash.assessment.sentences import shell_word
from gitdash.model.report import RepositoryReport
from gitdash.model.summary import RepositorySummary
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.items import ItemsView, Page
from gitdash.tui.later import later
from gitdash.tui.repository.detail import title_line
from gitdash.tui.repository.findings import finding_of
from gitdash.tui.repository.id_line import IdLine, typing_keys
from gitdash.tui.repository.inquiry import Inquiry
from gitdash.tui.repository.pack_order import PackOrder
from gitdash.tui.repository.packs import clicked_order, ordered_pack_names
from gitdash.tui.repository.relatives import Relatives
from gitdash.tui.repository.tabs import TABS
from gitdash.tui.repository.tabs_view import TabsView
from gitdash.tui.repository.view import Need, RepositoryView
from gitdash.tui.screen import ItemsScreen
from gitdash.tui.source import Changes

_POLL_S: Final = 0.5
"""How often a page is drawn anew whose question is open, or that shows what git does."""


class RepositoryScreen(ItemsScreen):
    """All that is known of one repository."""

    SCOPE = Scope.REPOSITORY
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.REPOSITORY)]
    AUTO_FOCUS: ClassVar[str | None] = ""
    """Nothing: keys act on the page until an id is to be typed."""

    def __init__(self, context: Context, path: bytes, *, tab: str = "overview") -> None:
        super().__init__(context)
        self.path = path
        self.tab = next(number for number, one in enumerate(TABS) if one.name == tab)
        self.tabs_view = TabsView(lambda: self.tab, self.action_show_tab)
        self.id_line = IdLine(_placeholder(context))
        self.items = ItemsView(self._page, id="page")
        self.inquiry = Inquiry(context.source, path, context.monotonic)
        self.relatives = Relatives(path, self._summaries, lambda wait_s: later(self, wait_s, self._renew_relatives))
        self._report: RepositoryReport | None = None
        self.explains_sizes = False
        self.pack_order = PackOrder()
        self._copied: tuple[int, int, int] | None = None
        """Tab, item and number of the command that was copied last."""

    @override
    def shown_tab(self) -> str:
        """Return the name of the tab."""
        return TABS[self.tab].name

    @override
    def typing_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys of the line for ids while one is typed."""
        return typing_keys(self.context.shown_keys) if self.id_line.is_typing else ()

    def on_mount(self) -> None:
        """Ask for what is not at hand."""
        self._poll_timer = self.set_interval(_POLL_S, self._poll, pause=True)
        self._ask()
        self._show_tab()

    def on_unmount(self) -> None:
        """Let go of what was opened for this screen."""
        self.inquiry.end()

    def _renew_relatives(self) -> None:
        self.relatives.due()
        self.items.renew()

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
        """Return tabs, the line to type ids on, and page."""
        return [self.tabs_view, self.id_line, self.items]

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
            namespaces=self.inquiry.namespaces,
            lookup_times=self.inquiry.lookup_times,
            held_packs=self.inquiry.held_packs,
            entries=self.inquiry.entries,
            answers=tuple(self.inquiry.answers),
            answer_count=self.inquiry.answer_count,
            commands=self.inquiry.commands,
            monotonic_s=self.context.monotonic(),
            waiting_since_s=self.inquiry.waiting_since_s,
            answered_at_s=self.inquiry.answered_at_s,
            looking_up=tuple(self.inquiry.looking_up),
            chosen=self.items.chosen,
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
            self.inquiry.take_in(changes)
            self._need()
        super().show_changes(changes)
        if changes is not None and self.path in changes.objects and self.shown_tab() == "objects":
            # The latest is what was asked for.
            self.items.start_over()

    def action_move_tabs(self, step: int) -> None:
        """Show the tab to the left or to the right."""
        self.action_show_tab((self.tab + step) % len(TABS))

    def action_show_tab(self, number: int) -> None:
        """Show a tab, counted from 0."""
        self.tab = number
        self._show_tab()
        self.tabs_view.renew()
        self.key_view.renew()
        self.items.start_over()

    def _show_tab(self) -> None:
        """Have at hand what the tab needs."""
        is_asking = self.shown_tab() == "objects"
        self.set_class(is_asking, "-asks")
        if is_asking:
            self.call_after_refresh(self.id_line.draw_mark)
        if not is_asking and self.id_line.is_typing:
            self.id_line.leave()
        self._need()

    def _need(self, *, again: bool = False) -> None:
        """Ask for what the tab needs, and look every now and then as long as there is something to see.

        Before there is a report nobody could answer.
        """
        needs = TABS[self.tab].needs
        if self._report is not None:
            self.inquiry.need(needs, again=again)
        if self.inquiry.is_waiting() or Need.COMMANDS in needs:
            self._poll_timer.resume()
        else:
            self._poll_timer.pause()

    def _poll(self) -> None:
        is_log = Need.COMMANDS in TABS[self.tab].needs
        if self.inquiry.is_waiting() or (is_log and self.inquiry.take_commands()):
            self.items.renew()

    @override
    def action_move_rows(self, distance: int) -> None:
        """Move the cursor; while an id is typed, go back and forth in what was asked for."""
        if self.id_line.is_typing:
            self.id_line.recall(distance)
        else:
            super().action_move_rows(distance)

    @override
    def action_back(self) -> None:
        """Stop typing, or go back to the screen below."""
        if self.id_line.is_typing:
            self.id_line.leave()
        else:
            super().action_back()

    def action_ask_object(self) -> None:
        """Type an object id."""
        self.show_tab_named("objects")
        # Not `focus`, which takes effect some messages later: keys typed meanwhile would act on the page.
        self.set_focus(self.id_line.input)

    @on(IdLine.Asked)
    def _ask_object(self, event: IdLine.Asked) -> None:
        self.inquiry.look_up(event.text)
        self._need()
        self.items.start_over()

    @override
    def takes_typed(self, event: events.Key) -> bool:
        """Give the line for ids what was typed right after it was opened."""
        return self.id_line.is_typing and self.id_line.takes_typed(event)

    def on_paste(self, event: events.Paste) -> None:
        """Take a pasted id also where nothing is typed yet."""
        if self.shown_tab() == "objects" and not self.id_line.is_typing:
            self.action_ask_object()
            self.id_line.input.insert_text_at_cursor(" ".join(event.text.split()))

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

    @on(ItemsView.HeadClicked)
    def _head_clicked(self, event: ItemsView.HeadClicked) -> None:
        view = self.view()
        if view is not None and self.shown_tab() == "packs":
            self._sort_packs(clicked_order(view, event.x, self.items.line_width))

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

    @override
    def current_path(self) -> bytes | None:
        """Return the repository of this screen's cursor."""
        return self.path

    @on(ItemsView.Opened)
    def action_open_relative(self) -> None:
        """Open the repository that the item under the cursor stands for, on the same tab."""
        tab = TABS[self.tab]
        view = self.view()
        path = tab.relative(view, self.items.selected) if view is not None and tab.relative is not None else None
        if path is not None and path != self.path:
            self.context.open_repository(path, tab=tab.name)

    @override
    def action_show_plan(self) -> None:
        """Show what maintenance would do here; on the tab Findings, what the finding under the cursor wants done."""
        view = self.view() if self.shown_tab() == "findings" else None
        finding = finding_of(view, self.items.selected) if view is not None else None
        self.context.open_plans([self.path], finding=finding)

    def action_measure(self) -> None:
        """Measure the sizes now."""
        self.context.source.measure(self.path)
        self.say(f"Measuring {self.name_of(self.path)}.")

    def action_rescan(self) -> None:
        """Look at the repository again, and ask again what the tab shows."""
        self.context.source.rescan(self.path)
        self._need(again=True)
        self.items.renew()
        self.say(f"Looking again at {self.name_of(self.path)}.")

    def action_copy(self) -> None:
        """Copy the command of the item under the cursor, the next one if it has several; else the path."""
        view, commands_of = self.view(), TABS[self.tab].commands
        commands = commands_of(view, self.items.selected) if view is not None and commands_of is not None else ()
        if not commands:
            self.copy(shell_word(self.path))
            return
        place = (self.tab, self.items.selected)
        number = (self._copied[2] + 1) % len(commands) if self._copied and self._copied[:2] == place else 0
        self._copied = (*place, number)
        counted = f" {number + 1} of {len(commands)}" if len(commands) > 1 else ""
        self.copy(commands[number], f"Copied{counted}")


def _placeholder(context: Context) -> str:
    """Return what stands on the line for ids while nothing is typed."""
    return f"{context.key('ask_object')} takes an object id, or its first digits".lstrip()
