"""All actions, in the order of the help page."""

from typing import Final

from textual.binding import Binding

from gitdash.tui.actions.action import Action, Scope
from gitdash.tui.actions.everywhere import EVERYWHERE
from gitdash.tui.actions.fetches import FETCHES
from gitdash.tui.actions.fleet import FLEET
from gitdash.tui.actions.grouping import GROUPING
from gitdash.tui.actions.jobs import JOBS
from gitdash.tui.actions.lab import LAB
from gitdash.tui.actions.marking import MARKING
from gitdash.tui.actions.moves import MOVES
from gitdash.tui.actions.plans import PLANS
from gitdash.tui.actions.pools import POOLS
from gitdash.tui.actions.repository import REPOSITORY
from gitdash.tui.actions.views import VIEWS

ACTIONS: Final[tuple[Action, ...]] = (
    *MOVES,
    *FLEET,
    *GROUPING,
    *MARKING,
    *VIEWS,
    *FETCHES,
    *REPOSITORY,
    *POOLS,
    *JOBS,
    *PLANS,
    *LAB,
    *EVERYWHERE,
)


def actions_of(scope: Scope) -> tuple[Action, ...]:
    """Return what can be done in a scope, without what can be done everywhere."""
    return tuple(action for action in ACTIONS if scope in action.scopes)


def is_offered(action: Action, *, read_only: bool, has_terminal: bool) -> bool:
    """Tell whether key line, help and palette name an action; its key acts, and says why not, in any case.

    `has_terminal` says that there is one which can be given to another program.
    """
    return not (action.writes and read_only) and (has_terminal or not action.needs_terminal)


def bindings_of(scope: Scope) -> list[Binding]:
    """Return a scope's actions as Textual takes them; their ids are the names under which keys can be changed."""
    return [
        Binding(
            ",".join(action.keys),
            action.command,
            action.title,
            id=action.name,
            tooltip=action.help,
            priority=action.comes_first,
            show=action.label is not None,
        )
        for action in actions_of(scope)
    ]
