"""Fetching: on the screens with repositories, and on the page where it is chosen how."""

from typing import Final

from gitdash.tui.actions.action import ACT, Action, Scope

_WHERE: Final = (Scope.FLEET, Scope.REPOSITORY, Scope.POOLS)

FETCHES: Final = (
    Action(
        name="fetch",
        command="fetch",
        keys=("f",),
        title="Fetch",
        help="Fetch from all remotes into this repository, or into all marked ones, as the configuration says; the"
        " screen of jobs shows how far that is.",
        group=ACT,
        scopes=_WHERE,
        label="fetch",
        writes=True,
    ),
    Action(
        name="choose_fetch",
        command="choose_fetch",
        keys=("F",),
        title="Fetch, and choose how",
        help="Choose remotes, pruning, what is done with a lender's references, or a dry run, and then fetch.",
        group=ACT,
        scopes=_WHERE,
        writes=True,
    ),
    Action(
        name="fetch_choice_next",
        command="turn(1)",
        keys=("space", "right", "l"),
        title="Next value",
        help="Take the next value of this choice.",
        group=ACT,
        scopes=(Scope.FETCH,),
        label="change",
    ),
    Action(
        name="fetch_choice_previous",
        command="turn(-1)",
        keys=("left", "h"),
        title="Previous value",
        help="Take the value before it.",
        group=ACT,
        scopes=(Scope.FETCH,),
    ),
    Action(
        name="start_fetch",
        command="accept",
        keys=("enter",),
        title="Start the fetch",
        help="Fetch as chosen; to go back fetches nothing.",
        group=ACT,
        scopes=(Scope.FETCH,),
        label="fetch",
    ),
)
