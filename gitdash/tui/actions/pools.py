"""What can be done on the screen of lenders."""

from typing import Final

from gitdash.tui.actions.action import LOOK, Action, Scope

POOLS: Final = (
    Action(
        name="open_lender",
        command="open",
        keys=("enter",),
        title="Open this repository",
        help="Show everything that is known of the repository; a double click does the same.",
        group=LOOK,
        scopes=(Scope.POOLS,),
        label="open",
    ),
)
