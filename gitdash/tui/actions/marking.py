"""What marks rows of the fleet."""

from typing import Final

from gitdash.tui.actions.action import MARK, Action, Scope

MARKING: Final = (
    Action(
        name="mark",
        command="mark",
        keys=("space",),
        title="Mark the row",
        help="Mark or unmark the row, or all rows of a group, and go on; a click on the left margin does the same."
        " What acts on a row acts on all marked ones if there are any.",
        group=MARK,
        scopes=(Scope.FLEET,),
        label="mark",
    ),
    Action(
        name="mark_range",
        command="mark_range",
        keys=("v",),
        title="Mark a range of rows",
        help="Begin a range that follows the cursor; again marks it, and it can be dropped."
        " Shift and a click mark up to there.",
        group=MARK,
        scopes=(Scope.FLEET,),
    ),
    Action(
        name="mark_all",
        command="mark_all",
        keys=("a",),
        title="Mark all rows",
        help="Mark all rows that pass the filter, those of closed groups too; again unmarks them.",
        group=MARK,
        scopes=(Scope.FLEET,),
    ),
    Action(
        name="invert_marks",
        command="invert_marks",
        keys=("asterisk",),
        title="Invert the marks",
        help="Of the rows that pass the filter, mark those that are not marked and unmark the others.",
        group=MARK,
        scopes=(Scope.FLEET,),
    ),
)
