"""What decides which rows the table shows, in which order and with which columns: filter, sorting, views, columns.

The other half of the table's screen is `screen`.
"""

import msgspec
from textual import events, on
from typing_extensions import override

from gitdash.export.columns import FLEET_COLUMNS
from gitdash.tui.choices import Choices
from gitdash.tui.context import Context
from gitdash.tui.drawing.cells import choose_layout
from gitdash.tui.fleet.filter_bar import FilterBar
from gitdash.tui.fleet.panels import Panels
from gitdash.tui.fleet.viewing import Viewing
from gitdash.tui.flushing import Flushing
from gitdash.tui.pages.view_list import description
from gitdash.tui.screen import DashboardScreen
from gitdash.tui.table.table import FleetTable
from gitdash.units import printable


class LookScreen(DashboardScreen):
    """The keys that choose what the table shows."""

    def __init__(self, context: Context, table: FleetTable, flushing: Flushing) -> None:
        super().__init__(context)
        self.table = table
        self.fleet = context.fleet
        self.flushing = flushing
        self.detail_is_shown = True
        self.panels = Panels(context, table)
        self.filter_bar = FilterBar(self.panels.count_text, lambda: self.fleet.filter.problem)
        self.viewing = Viewing(self.fleet, table, context.views.has)

    def say_why_empty(self) -> None:
        """Say in the table why it has no rows, if so."""
        text = self.panels.why_empty()
        if text != self.table.empty_text:
            self.table.empty_text = text
            self.table.refresh()

    def action_filter(self) -> None:
        """Open the filter line."""
        self.add_class("-filtering")
        # Not `focus`, which takes effect some messages later: keys typed meanwhile would act on the table.
        self.set_focus(self.filter_bar.input)
        self.key_view.renew()

    @override
    def takes_typed(self, event: events.Key) -> bool:
        """Give the filter what was typed right after it was opened; return whether it took it.

        Keys of one burst are on their way to the table already when the first of them moves the focus. Those that
        reach the input itself never come here.
        """
        if not self.filter_bar.is_typing or not event.is_printable or not event.character:
            return False
        self.filter_bar.input.insert_text_at_cursor(event.character)
        return True

    def action_clear_filter(self) -> None:
        """Show all rows."""
        self.filter_bar.input.value = ""
        self._filter_by("")
        self._close_filter_bar()

    def _close_filter_bar(self) -> None:
        self.set_class(self.fleet.filter.is_active or self.fleet.filter.problem is not None, "-filtering")
        self.set_focus(self.table)
        self.filter_bar.renew()
        self.key_view.renew()

    @on(FilterBar.Changed)
    def _filter_changed(self) -> None:
        # By the text as it is now: a view may have been opened since the message was sent.
        self._filter_by(self.filter_bar.input.value)

    @on(FilterBar.Accepted)
    def _filter_accepted(self) -> None:
        self._filter_by(self.filter_bar.input.value)
        if self.fleet.filter.problem is None:
            self.filter_bar.input.remember()
            self._close_filter_bar()
        else:
            self.filter_bar.refuse()

    def _filter_by(self, text: str) -> None:
        line = self.table.cursor_line()
        is_other = self.fleet.set_filter(text)
        self.filter_bar.renew()
        if is_other:
            self.say_why_empty()
            self.table.cursor_is_placed = True
            self.table.rearranged(cursor_line=line)
            self.panels.totals.renew()
            self.look_changed()

    def look_changed(self) -> None:
        """Follow a table that is filtered, sorted, grouped or laid out in another way."""
        self.flushing.soon()
        self.title_view.renew()
        self.context.remember()

    def choices(self, theme: str | None) -> Choices:
        """Return what is worth remembering."""
        return msgspec.structs.replace(self.viewing.choices(), theme=theme, detail=self.detail_is_shown)

    def restore(self, choices: Choices) -> None:
        """Show what was remembered; before the first paint."""
        self.detail_is_shown = choices.detail
        self.viewing.restore(choices)

    def action_choose_view(self) -> None:
        """Show all views."""
        from gitdash.tui.pages.views_screen import ViewsScreen

        context = self.context
        self.cover_with(
            ViewsScreen(
                context.views,
                context.shown_keys,
                shown_name=lambda: self.viewing.name,
                open_view=self.action_open_view,
                changed=self.title_view.renew,
            )
        )

    def action_open_view(self, number: int) -> None:
        """Show a view, counted from 0."""
        listed = self.context.views.listed()
        if number < len(listed):
            view = listed[number].view
            problem = self.viewing.open(view)
            if problem is not None:
                text = f"'{printable(view.name)}': {problem}"
                self.notify(text, severity="warning", markup=False)
            self.view_opened(view.filter)
        else:
            self.say(f"There is no view {number + 1}{self._key_hint('choose_view', 'shows all')}.")

    def _key_hint(self, action: str, what: str) -> str:
        key = self.context.key(action)
        return f": {key} {what}" if key else ""

    def view_opened(self, text: str) -> None:
        """Follow a table that shows another view; `text` is its filter."""
        self.filter_bar.input.value = text
        self._close_filter_bar()
        self.say_why_empty()
        self.panels.totals.renew()
        self.look_changed()
        self._say_what_does_not_fit()

    def _say_what_does_not_fit(self) -> None:
        hidden = self.table.hidden_columns()
        if hidden:
            text = f"{len(hidden)} {'column does' if len(hidden) == 1 else 'columns do'} not fit: {', '.join(hidden)}"
            self.notify(text, timeout=4, markup=False)

    def action_save_view(self) -> None:
        """Keep what is shown under a name."""
        from gitdash.tui.pages.name_screen import NameScreen

        views = self.context.views
        hint = description(self.viewing.present(""))
        page = NameScreen(
            "Save as a view",
            hint,
            question_for=views.question_for,
            take=self._save_view,
            shown_keys=self.context.shown_keys,
        )
        self.ask(page)

    def _save_view(self, name: str) -> None:
        self.context.views.save(self.viewing.present(name))
        self.viewing.named(name)
        self.title_view.renew()
        self.say(f"Saved as '{printable(name)}'.")

    def action_choose_columns(self) -> None:
        """Choose columns and their order."""
        from gitdash.tui.pages.column_choice import ColumnChoice
        from gitdash.tui.pages.columns_screen import ColumnsScreen

        columns = tuple(self.fleet.columns.values())
        automatic = [placed.column.key for placed in choose_layout(FLEET_COLUMNS, self.table.line_width).columns]
        choice = ColumnChoice(columns, self.table.chosen_columns, automatic)
        keys = self.context.shown_keys
        self.cover_with(ColumnsScreen(choice, keys, show=self._show_columns, accepted=self._say_what_does_not_fit))

    def _show_columns(self, keys: tuple[str, ...]) -> list[str]:
        self.table.choose_columns(keys)
        self.look_changed()
        return self.table.hidden_columns()

    def action_sort_by_neighbour(self, step: int) -> None:
        """Sort by the column to the left or to the right of the sorted one."""
        keys = [placed.column.key for placed in self.table.table_layout.columns]
        key = self.fleet.order[0][0]
        position = keys.index(key) + step if key in keys else 0
        if keys:
            self.sort_by(keys[position % len(keys)])

    def action_reverse_sort(self) -> None:
        """Reverse the order."""
        self.sort_by(self.fleet.order[0][0])

    @on(FleetTable.HeadClicked)
    def _head_clicked(self, event: FleetTable.HeadClicked) -> None:
        self.sort_by(event.key)

    def sort_by(self, key: str) -> None:
        """Sort by a column; again reverses."""
        line = self.table.cursor_line()
        self.fleet.sort_by(key)
        self.table.rearranged(cursor_line=line)
        self.look_changed()
