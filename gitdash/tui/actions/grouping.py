"""What groups rows of the fleet."""

from typing import Final

from gitdash.tui.actions.action import ORDER, Action, Scope

GROUPING: Final = (
    Action(
        name="group_next",
        command="group_next",
        keys=("z",),
        title="Group the rows",
        help="Group rows by root, by pool, by state, by identical findings, and then no more.",
        group=ORDER,
        scopes=(Scope.FLEET,),
        label="group",
        yields=True,
    ),
    Action(
        name="close_group",
        command="close_group",
        keys=("left",),
        title="Close the group",
        help="Close the group, or go from a row to the head of its group.",
        group=ORDER,
        scopes=(Scope.FLEET,),
    ),
    Action(
        name="open_group",
        command="open_group",
        keys=("right",),
        title="Open the group",
        help="Open the group, or go to its first row; a click on its sign opens and closes it.",
        group=ORDER,
        scopes=(Scope.FLEET,),
    ),
    Action(
        name="close_all_groups",
        command="set_all_groups(False)",
        keys=("minus",),
        title="Close all groups",
        help="Close all groups.",
        group=ORDER,
        scopes=(Scope.FLEET,),
    ),
    Action(
        name="open_all_groups",
        command="set_all_groups(True)",
        keys=("plus",),
        title="Open all groups",
        help="Open all groups.",
        group=ORDER,
        scopes=(Scope.FLEET,),
    ),
)
