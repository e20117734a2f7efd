"""The page on which a view is chosen, and on which views that were saved can be removed."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from textual.binding import BindingType
from typing_extensions import override

from gitdash.model.view import View
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.closing import close
from gitdash.tui.confirmation import CONFIRM_S
from gitdash.tui.keymap import first_key
from gitdash.tui.pages.chooser import HELP_BINDING, ChooserScreen
from gitdash.tui.pages.view_list import views_page
from gitdash.tui.saved_views import Origin, SavedViews
from gitdash.units import printable

_CONFIGURED: Final = "This view stands in the configuration file: remove it there."


class ViewsScreen(ChooserScreen, inherit_bindings=False):
    """All views. `open_view` is given the number of the one to show, `changed` is called when there are others."""

    SCOPE = Scope.VIEWS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.VIEWS), HELP_BINDING]

    def __init__(
        self,
        views: SavedViews,
        shown_keys: Mapping[str, str],
        *,
        shown_name: Callable[[], str | None],
        open_view: Callable[[int], None],
        changed: Callable[[], None],
    ) -> None:
        super().__init__(
            "Views", lambda width: views_page(self.views.listed(), shown_name(), shown_keys, width), shown_keys
        )
        self.views = views
        self._open_view = open_view
        self._changed = changed
        self._removed: list[View] = []

    def action_open_view(self, number: int) -> None:
        """Show a view, counted from 0."""
        if number < len(self.views.listed()):
            self._open_view(number)
            close(self)

    def action_open_chosen(self) -> None:
        """Show the view under the cursor."""
        self.action_open_view(self.items.selected)

    @override
    def action_accept(self) -> None:
        """Show the view under the cursor."""
        self.action_open_chosen()

    def action_remove(self) -> None:
        """Remove the view under the cursor, if it was saved here."""
        entry = self.views.listed()[self.items.selected]
        removed = self.views.remove(entry.view.name) if entry.origin is Origin.OWN else None
        if removed is None:
            self._say(f"This view {entry.origin.value}: it stays." if entry.origin is Origin.BUILT_IN else _CONFIGURED)
            return
        self._removed.append(removed)
        self.items.renew()
        self._changed()
        key = first_key(self.shown_keys, "restore_view")
        self._say(f"Removed '{printable(removed.name)}'." + (f" {key} brings it back." if key else ""))

    def action_restore(self) -> None:
        """Bring back what was removed last."""
        if self._removed:
            self.views.save(self._removed.pop())
            self.items.renew()
            self._changed()

    def _say(self, text: str) -> None:
        self.notify(text, timeout=CONFIRM_S, markup=False)
