"""The views that can be opened: those of the configuration, those that people have saved, and those of gitdash. Pure.

Those that people made come first, and so have the keys 1 to 9. One of theirs stands in for one of gitdash that has the
same name.
"""

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gitdash.export.views import BUILT_IN_VIEWS, known_parts
from gitdash.model.view import View


class Origin(enum.StrEnum):
    """Where a view comes from, in words."""

    CONFIGURED = "from the configuration"
    OWN = "saved here"
    BUILT_IN = "comes with gitdash"


@dataclass(frozen=True, slots=True)
class ListedView:
    """One view that can be opened."""

    view: View
    origin: Origin
    help: str = ""
    """One sentence; empty for those that people made."""


class SavedViews:
    """All views. `note` is told what is to be remembered: a name, and its view or None for none any more."""

    def __init__(
        self,
        configured: Iterable[View] = (),
        own: Iterable[View] = (),
        note: Callable[[str, View | None], None] = lambda _name, _view: None,
    ) -> None:
        checked = [known_parts(view) for view in configured]
        self._configured = [view for view, _ in checked]
        self.problems = [problem for _, problems in checked for problem in problems]
        """What is wrong in the configuration; sentences."""
        self._own = {view.name: known_parts(view)[0] for view in own}
        self._note = note

    def listed(self) -> Sequence[ListedView]:
        """Return all views in the order of their keys."""
        made = [ListedView(view, Origin.CONFIGURED) for view in self._configured]
        names = {entry.view.name for entry in made}
        made += [ListedView(view, Origin.OWN) for name, view in self._own.items() if name not in names]
        names |= self._own.keys()
        built_in = [ListedView(entry.view, Origin.BUILT_IN, entry.help) for entry in BUILT_IN_VIEWS]
        return [*made, *(entry for entry in built_in if entry.view.name not in names)]

    def question_for(self, name: str) -> str | None:
        """Return what to ask before a view is saved under that name; None if nothing."""
        if any(view.name == name for view in self._configured):
            return "The configuration has a view of this name, which comes first. Enter again saves it."
        if name in self._own:
            return "There is a view of this name. Enter again replaces it."
        if any(entry.view.name == name for entry in BUILT_IN_VIEWS):
            return "gitdash has a view of this name. Enter again puts yours in its place until you remove it."
        return None

    def has(self, view: View) -> bool:
        """Tell whether exactly this view can be opened."""
        return any(entry.view == view for entry in self.listed())

    def save(self, view: View) -> None:
        """Keep a view under its name, in place of another."""
        self._own[view.name] = view
        self._note(view.name, view)

    def remove(self, name: str) -> View | None:
        """Forget a view that somebody has saved, and return it; None if there is none."""
        view = self._own.pop(name, None)
        if view is not None:
            self._note(name, None)
        return view
