"""What can be done on the screen of one repository."""

from typing import Final

from gitdash.tui.actions.action import LOOK, Action, Scope

REPOSITORY: Final = (
    Action(
        name="next_tab",
        command="move_tabs(1)",
        keys=("right", "tab", "l"),
        title="Next tab",
        help="Show the next tab.",
        group=LOOK,
        scopes=(Scope.REPOSITORY,),
        label="tab",
        in_palette=False,
    ),
    Action(
        name="previous_tab",
        command="move_tabs(-1)",
        keys=("left", "shift+tab", "h"),
        title="Previous tab",
        help="Show the tab before.",
        group=LOOK,
        scopes=(Scope.REPOSITORY,),
        in_palette=False,
    ),
    *(
        Action(
            name=f"tab_{number}",
            command=f"show_tab({number - 1})",
            keys=(str(number),),
            title=f"Show tab {number}",
            help=f"Show the {ordinal} tab.",
            group=LOOK,
            scopes=(Scope.REPOSITORY,),
            in_palette=False,
        )
        for number, ordinal in enumerate(
            ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"), start=1
        )
    ),
)
