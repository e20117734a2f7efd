"""The page on which columns are chosen; the table shows at once what is chosen."""

from collections.abc import Callable, Collection, Mapping
from typing import ClassVar

from textual.binding import BindingType
from typing_extensions import override

from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.closing import close
from gitdash.tui.pages.chooser import HELP_BINDING, ChooserScreen
from gitdash.tui.pages.column_choice import ColumnChoice, columns_page

Show = Callable[[tuple[str, ...]], Collection[str]]
"""Has the table show columns, none for what fits; returns the keys of those that do not fit."""


class ColumnsScreen(ChooserScreen, inherit_bindings=False):
    """Columns to show, to hide and to move."""

    SCOPE = Scope.COLUMNS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.COLUMNS), HELP_BINDING]

    def __init__(
        self, choice: ColumnChoice, shown_keys: Mapping[str, str], *, show: Show, accepted: Callable[[], None]
    ) -> None:
        super().__init__("Columns", lambda width: columns_page(self.choice, self._hidden, width), shown_keys)
        self.choice = choice
        self._show = show
        self._accepted = accepted
        self._before = choice.chosen()
        self._hidden = show(self._before)

    def _key(self) -> str:
        return self.choice.keys[self.items.selected]

    def _changed(self) -> None:
        self._hidden = self._show(self.choice.chosen())
        self.items.renew()

    def action_toggle_column(self) -> None:
        """Show or hide the column."""
        self.choice.toggle(self._key())
        self._changed()

    def action_shift(self, step: int) -> None:
        """Move the column; the cursor goes with it."""
        place = self.choice.move(self._key(), step)
        self._changed()
        self.items.select(place)

    def action_reset(self) -> None:
        """Let the width decide."""
        self.choice.reset()
        self._changed()

    @override
    def action_accept(self) -> None:
        """Keep what the table shows."""
        self._accepted()
        close(self)

    @override
    def action_leave(self) -> None:
        """Show what was shown before."""
        self._show(self._before)
        super().action_leave()
