"""Which view is shown: what of it can be saved, how another is opened, and how one comes back from it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitdash.model.view import Grouping, View
from gitdash.tui.choices import Choices
from gitdash.tui.table.fleet import Fleet
from gitdash.tui.table.sorting import order_of, sort_texts
from gitdash.tui.table.table import FleetTable


class _Look(NamedTuple):
    """All that a view sets."""

    filter: str
    order: Sequence[tuple[str, bool]]
    columns: tuple[str, ...]
    grouping: Grouping


class Viewing:
    """What one table shows; `is_listed` tells whether there still is a view that was opened or saved."""

    def __init__(self, fleet: Fleet, table: FleetTable, is_listed: Callable[[View], bool]) -> None:
        self._fleet = fleet
        self._table = table
        self._is_listed = is_listed
        self._opened: View | None = None
        """As it looked right after it was opened."""
        self._opened_as: View | None = None
        """As it is listed."""
        self._before: _Look | None = None
        """What was shown before a view was opened."""

    @property
    def name(self) -> str | None:
        """The name of the view that is shown; None if nothing was opened, or if that was changed or removed since."""
        opened, listed = self._opened, self._opened_as
        if opened is None or listed is None or opened != self.present(opened.name):
            return None
        return opened.name if self._is_listed(listed) else None

    def present(self, name: str) -> View:
        """Return what is shown as a view."""
        look = self._look()
        return View(
            name=name,
            filter=look.filter,
            sort=sort_texts(look.order[:1], self._fleet.columns)[0],
            columns=look.columns,
            group=look.grouping,
        )

    def open(self, view: View) -> str | None:
        """Show a view, the cursor on its first line; returns why its filter cannot be used, if so."""
        if self.name is None or self._before is None:
            self._before = self._look()
        order = order_of([view.sort], self._fleet.columns) if view.sort else []
        others = [entry for entry in self._fleet.order if entry[0] not in {key for key, _ in order}]
        columns = view.columns if not view.columns or "name" in view.columns else ("name", *view.columns)
        self._show(_Look(view.filter, [*order, *others][:2], columns, view.group))
        self._opened, self._opened_as = self.present(view.name), view
        return self._fleet.filter.problem

    def close(self) -> bool:
        """Show again what was shown before a view was opened; returns whether one is shown."""
        if self.name is None or self._before is None:
            return False
        self._show(self._before)
        self._opened = None
        return True

    def named(self, name: str) -> None:
        """Take what is shown for the view of that name: it has just been saved as such."""
        if self.name is None:
            self._before = None
        self._opened = self._opened_as = self.present(name)

    def choices(self) -> Choices:
        """Return what is worth remembering: of a view that is only looked at, what was shown before."""
        look = self._before if self.name is not None and self._before is not None else self._look()
        return Choices(sort=sort_texts(look.order, self._fleet.columns), columns=look.columns, group=look.grouping)

    def restore(self, choices: Choices) -> None:
        """Show what was remembered, as far as there still is such a thing."""
        columns = tuple(key for key in choices.columns if key in self._fleet.columns)
        order = order_of(choices.sort, self._fleet.columns)[:2] or self._fleet.order
        self._show(_Look("", order, columns if "name" in columns else (), choices.group))

    def _look(self) -> _Look:
        fleet = self._fleet
        return _Look(fleet.filter.text, fleet.order, self._table.chosen_columns, fleet.grouping)

    def _show(self, look: _Look) -> None:
        self._fleet.look_at(look.filter, look.order, look.grouping)
        self._table.choose_columns(look.columns)
        self._table.cursor_is_placed = False
        self._table.rearranged()
