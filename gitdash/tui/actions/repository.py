"""What can be done on the screen of one repository."""

from typing import Final

from gitdash.tui.actions.action import ACT, LOOK, ORDER, Action, Scope

REPOSITORY: Final = (
    Action(
        name="open_relative",
        command="open_relative",
        keys=("enter",),
        title="Open this lender or borrower",
        help="On the tab Pool: show the lender or the borrower under the cursor, with its own lenders and borrowers. A"
        " double click does the same.",
        group=LOOK,
        scopes=(Scope.REPOSITORY,),
        tabs=("pool",),
        label="open",
    ),
    Action(
        name="explain_sizes",
        command="explain_sizes",
        keys=("w",),
        title="Explain why the sizes differ",
        help="Show or hide why the five sizes of this repository differ, step by step.",
        group=LOOK,
        scopes=(Scope.REPOSITORY,),
        tabs=("overview",),
        label="why",
    ),
    Action(
        name="sort_packs_previous",
        command="sort_packs_by_neighbour(-1)",
        keys=("less_than_sign",),
        title="Sort packs by the column to the left",
        help="Sort the packs by the column left of the sorted one.",
        group=ORDER,
        scopes=(Scope.REPOSITORY,),
        tabs=("packs",),
    ),
    Action(
        name="sort_packs_next",
        command="sort_packs_by_neighbour(1)",
        keys=("greater_than_sign",),
        title="Sort packs by the column to the right",
        help="Sort the packs by the column right of the sorted one.",
        group=ORDER,
        scopes=(Scope.REPOSITORY,),
        tabs=("packs",),
        label="sort",
    ),
    Action(
        name="reverse_packs",
        command="reverse_packs",
        keys=("O",),
        title="Reverse the order of the packs",
        help="Reverse the order of the packs; those whose figure is not known stay last.",
        group=ORDER,
        scopes=(Scope.REPOSITORY,),
        tabs=("packs",),
        label="order",
    ),
    Action(
        name="ask_object",
        command="ask_object",
        keys=("slash",),
        title="Look up an object",
        help="Type an object id, or the first four digits or more of it; the key line then has the keys for that.",
        group=LOOK,
        scopes=(Scope.REPOSITORY,),
        tabs=("objects",),
        label="id",
    ),
    Action(
        name="copy_shown",
        command="copy",
        keys=("y",),
        title="Copy the command, the id or the path",
        help="Copy what the cursor is on: a command of the finding, of the log or of the history, the next one if it"
        " has several, or the id of the object; on other tabs the path of the repository.",
        group=ACT,
        scopes=(Scope.REPOSITORY,),
        label="copy",
    ),
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
            series="Show the tab of that number.",
            group=LOOK,
            scopes=(Scope.REPOSITORY,),
            in_palette=False,
        )
        for number, ordinal in enumerate(
            ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"), start=1
        )
    ),
)
