"""What an action is: a record that says everything about one thing that a person can do. Pure.

It does not do anything: the screens of its scopes do, and the application for those of every screen.
"""

import enum
from dataclasses import dataclass
from typing import Final


class Scope(enum.StrEnum):
    """Where keys act."""

    EVERYWHERE = "everywhere"
    FLEET = "fleet"
    REPOSITORY = "repository"
    POOLS = "pools"
    JOBS = "jobs"
    VIEWS = "views"
    """The page on which a saved view is chosen."""
    COLUMNS = "columns"
    """The page on which columns are chosen."""
    FETCH = "fetch"
    """The page on which it is chosen how to fetch."""
    PLANS = "plans"
    TASKS = "tasks"
    """The page on which a task is chosen that is added to a plan."""
    LAB = "lab"
    EXPERIMENT = "experiment"
    """One experiment on one repository."""
    PAGE = "page"
    """A page of lines over a screen, such as help."""


LISTS: Final = (
    Scope.FLEET,
    Scope.REPOSITORY,
    Scope.POOLS,
    Scope.JOBS,
    Scope.VIEWS,
    Scope.COLUMNS,
    Scope.FETCH,
    Scope.PLANS,
    Scope.TASKS,
    Scope.LAB,
    Scope.EXPERIMENT,
    Scope.PAGE,
)
"""All screens with lines to move over."""

REPOSITORIES: Final = (Scope.FLEET, Scope.REPOSITORY, Scope.POOLS, Scope.JOBS, Scope.PLANS)
"""All screens on which the cursor may be on a repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that a person can do."""

    name: str
    """The id under which a key can be changed."""
    command: str
    """The method `action_...` of the screen, or of the application, with its argument if it takes one."""
    keys: tuple[str, ...]
    """In Textual's spelling, the one that is shown first."""
    title: str
    """A few words, imperative; the entry of the palette."""
    help: str
    """One sentence."""
    group: str
    scopes: tuple[Scope, ...]
    label: str | None = None
    """One word for the key line; None if it does not stand there."""
    yields: bool = False
    """In the key line it gives way to all others where there is not room for all."""
    in_palette: bool = True
    comes_first: bool = False
    """It acts whatever has the focus, also while something is typed."""
    stand_in: tuple[str, str] | None = None
    """The name of the action that does much the same, and the verb for that: said where this one has lost its keys."""
    series: str = ""
    """A sentence on all that differ from it by a number alone, and follow one another; empty if there are none."""
    tabs: tuple[str, ...] = ()
    """The tabs of the repository screen that it is about; from another it goes there first. Empty: about any."""
    writes: bool = False
    """It may change something or start other programs: not available in read-only mode."""
    needs_terminal: bool = False
    """It gives the terminal to another program: not available where there is none, as in a browser."""


MOVE: Final = "Move"
ORDER: Final = "Sort, filter and group"
MARK: Final = "Mark"
LOOK: Final = "Look"
ACT: Final = "Act"
LEAVE: Final = "Help and leave"
GROUPS: Final = (MOVE, ORDER, MARK, LOOK, ACT, LEAVE)
