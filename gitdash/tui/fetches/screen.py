"""The page on which a person chooses how to fetch."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, Final, Protocol, cast

from textual.binding import BindingType
from typing_extensions import override

from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.tui.actions.action import Scope
from gitdash.tui.actions.declared import bindings_of
from gitdash.tui.fetches.choice import FetchChoice, fetch_page
from gitdash.tui.pages.chooser import HELP_BINDING, ChooserScreen
from gitdash.tui.pages.name_screen import NameScreen
from gitdash.tui.repeated_key import RepeatedKey


class FetchApp(Protocol):
    """What the page needs of the application that it is opened in."""

    repeated_key: RepeatedKey


_ASKED: Final = {
    "name": ("Name of a remote", "Such as origin. Repositories without a remote of this name are left alone."),
    "group": ("Name of a group of remotes", "One that `git config remotes.<group>` has in these repositories."),
}


class FetchScreen(ChooserScreen, inherit_bindings=False):
    """The options of a fetch; `start` gets them and returns whether it is being done."""

    SCOPE = Scope.FETCH
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Scope.FETCH), HELP_BINDING]

    def __init__(
        self,
        what: str,
        configured: FetchOptions,
        shown_keys: Mapping[str, str],
        *,
        start: Callable[[FetchOptions], bool],
    ) -> None:
        """Take the repositories' name for people, printable, and what the configuration says of fetches."""
        super().__init__("Fetch", lambda width: fetch_page(self.choice, what, width), shown_keys)
        self.choice = FetchChoice(configured)
        self._start = start

    def action_turn(self, step: int) -> None:
        """Take the next value of the choice under the cursor; ask for the name that it needs."""
        kind = self.choice.turn(self.items.selected, step)
        if kind is None:
            self.items.renew()
            return
        title, hint = _ASKED[kind]
        page = NameScreen(
            title,
            hint,
            question_for=lambda _name: None,
            take=partial(self._named, kind),
            verb="take",
            shown_keys=self.shown_keys,
        )
        self.app.call_next(self.app.push_screen, page)

    def _named(self, kind: str, text: str) -> None:
        self.choice.named(kind, text)
        self.items.renew()

    @override
    def action_accept(self) -> None:
        """Start; the presses that follow in one burst are not for the screen below."""
        self.take_once(self._start_once)

    def _start_once(self) -> bool:
        is_started = self._start(self.choice.options)
        if is_started:
            cast(FetchApp, self.app).repeated_key.spend()
        return is_started
