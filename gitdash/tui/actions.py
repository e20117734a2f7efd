"""What a person can do, declared once: keys, key line, help and command palette all derive from here. Pure.

It does not do anything: `Dashboard` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.tui.drawing.cells import Line, Piece, Tone
from gitdash.tui.drawing.wrap import wrapped


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that a person can do."""

    name: str
    """The id under which a key can be changed."""
    command: str
    """The method `action_...` of `Dashboard`, with its argument if it takes one."""
    keys: tuple[str, ...]
    """In Textual's spelling, the one that is shown first."""
    shown_keys: str
    """For people."""
    title: str
    """A few words, imperative; the entry of the palette."""
    help: str
    """One sentence."""
    group: str
    label: str | None = None
    """One word for the key line; None if it does not stand there."""
    in_palette: bool = True


MOVE: Final = "Move"
ORDER: Final = "Sort and filter"
LOOK: Final = "Look"
ACT: Final = "Act"
LEAVE: Final = "Help and leave"

ACTIONS: Final = (
    Action(
        name="cursor_down",
        command="move_rows(1)",
        keys=("down", "j"),
        shown_keys="down j",
        title="Next row",
        help="Move the cursor down.",
        group=MOVE,
        in_palette=False,
    ),
    Action(
        name="cursor_up",
        command="move_rows(-1)",
        keys=("up", "k"),
        shown_keys="up k",
        title="Previous row",
        help="Move the cursor up.",
        group=MOVE,
        in_palette=False,
    ),
    Action(
        name="page_down",
        command="move_half_pages(2)",
        keys=("pagedown",),
        shown_keys="pgdn",
        title="Next page",
        help="Move the cursor down by a page.",
        group=MOVE,
        in_palette=False,
    ),
    Action(
        name="page_up",
        command="move_half_pages(-2)",
        keys=("pageup",),
        shown_keys="pgup",
        title="Previous page",
        help="Move the cursor up by a page.",
        group=MOVE,
        in_palette=False,
    ),
    Action(
        name="half_page_down",
        command="move_half_pages(1)",
        keys=("ctrl+d",),
        shown_keys="ctrl+d",
        title="Half a page down",
        help="Move the cursor down by half a page.",
        group=MOVE,
        in_palette=False,
    ),
    Action(
        name="half_page_up",
        command="move_half_pages(-1)",
        keys=("ctrl+u",),
        shown_keys="ctrl+u",
        title="Half a page up",
        help="Move the cursor up by half a page.",
        group=MOVE,
        in_palette=False,
    ),
    Action(
        name="first_row",
        command="move_to_end(False)",
        keys=("home", "g"),
        shown_keys="home g",
        title="First row",
        help="Move the cursor to the first row.",
        group=MOVE,
    ),
    Action(
        name="last_row",
        command="move_to_end(True)",
        keys=("end", "G"),
        shown_keys="end G",
        title="Last row",
        help="Move the cursor to the last row.",
        group=MOVE,
    ),
    Action(
        name="filter",
        command="filter",
        keys=("slash",),
        shown_keys="/",
        title="Filter rows",
        help="Show only rows that contain every word: in path, kind, role, state, rules or worst finding.",
        group=ORDER,
        label="filter",
    ),
    Action(
        name="clear_filter",
        command="clear_filter",
        keys=("escape",),
        shown_keys="esc",
        title="Clear the filter",
        help="Show all rows again.",
        group=ORDER,
    ),
    Action(
        name="sort_previous",
        command="sort_by_neighbour(-1)",
        keys=("less_than_sign",),
        shown_keys="<",
        title="Sort by the column to the left",
        help="Sort by the column left of the sorted one.",
        group=ORDER,
    ),
    Action(
        name="sort_next",
        command="sort_by_neighbour(1)",
        keys=("greater_than_sign",),
        shown_keys=">",
        title="Sort by the column to the right",
        help="Sort by the column right of the sorted one; a click on a head does the same.",
        group=ORDER,
        label="sort",
    ),
    Action(
        name="reverse_sort",
        command="reverse_sort",
        keys=("o",),
        shown_keys="o",
        title="Reverse the order",
        help="Reverse the order; the unreadable and the absent stay last.",
        group=ORDER,
        label="order",
    ),
    Action(
        name="open",
        command="open",
        keys=("enter",),
        shown_keys="enter",
        title="Open the repository",
        help="Show everything that is known of the repository; a double click does the same.",
        group=LOOK,
        label="open",
    ),
    Action(
        name="toggle_detail",
        command="toggle_detail",
        keys=("d",),
        shown_keys="d",
        title="Show or hide the detail pane",
        help="Show or hide the detail pane.",
        group=LOOK,
        label="detail",
    ),
    Action(
        name="show_skipped",
        command="show_skipped",
        keys=("e",),
        shown_keys="e",
        title="Show what was skipped",
        help="Show what looked like a repository and is none, or could not be searched, with the reason of each.",
        group=LOOK,
    ),
    Action(
        name="measure",
        command="measure",
        keys=("s",),
        shown_keys="s",
        title="Measure the sizes of this repository now",
        help="Let git measure what is reachable here, ahead of all others.",
        group=ACT,
        label="size",
    ),
    Action(
        name="rescan",
        command="rescan",
        keys=("r",),
        shown_keys="r",
        title="Look at this repository again",
        help="Read the files of this repository again, and let git measure anew what has changed.",
        group=ACT,
        label="rescan",
    ),
    Action(
        name="rescan_all",
        command="rescan_all",
        keys=("R",),
        shown_keys="R",
        title="Look at all repositories again",
        help="Search the roots and read all repositories again.",
        group=ACT,
    ),
    Action(
        name="copy_path",
        command="copy_path",
        keys=("y",),
        shown_keys="y",
        title="Copy the path",
        help="Copy the path of this repository, quoted for the shell where it needs to be.",
        group=ACT,
        label="copy",
    ),
    Action(
        name="command_palette",
        command="command_palette",
        keys=("ctrl+p",),
        shown_keys="ctrl+p",
        title="Open the command palette",
        help="Find a command or a repository by name; themes are there, too.",
        group=LEAVE,
        label="palette",
        in_palette=False,
    ),
    Action(
        name="help",
        command="help",
        keys=("question_mark", "f1"),
        shown_keys="? F1",
        title="Show help",
        help="Show this page.",
        group=LEAVE,
        label="help",
    ),
    Action(
        name="suspend",
        command="suspend_process",
        keys=("ctrl+z",),
        shown_keys="ctrl+z",
        title="Go back to the shell for a while",
        help="Stop the dashboard and go back to the shell; `fg` brings it back. Processes of git go on meanwhile.",
        group=LEAVE,
        in_palette=False,
    ),
    Action(
        name="quit",
        command="quit",
        keys=("q", "ctrl+q"),
        shown_keys="q ctrl+q",
        title="Quit",
        help="Stop all work and leave; on a page over the table, q closes the page.",
        group=LEAVE,
        label="quit",
    ),
    Action(
        name="interrupt",
        command="interrupt",
        keys=("ctrl+c",),
        shown_keys="ctrl+c",
        title="Interrupt",
        help="Stop all work and leave with exit code 130.",
        group=LEAVE,
        in_palette=False,
    ),
)

_KEY_WIDTH: Final = 12


@dataclass(frozen=True, slots=True)
class KeyLine:
    """The line of the most used keys, and where each can be clicked."""

    pieces: list[Piece]
    spans: tuple[tuple[int, int, str], ...]
    """First cell, cell after the last, command of the action."""


def key_line(width: int) -> KeyLine:
    """Return as many keys as fit into `width` cells; help and quit always do, whatever is left out."""
    labelled = [action for action in ACTIONS if action.label]
    while sum(_label_width(action) for action in labelled) > width and len(labelled) > 2:
        labelled.pop(-3)
    pieces: list[Piece] = []
    spans = []
    left = 0
    for action in labelled:
        end = left + _label_width(action)
        pieces += [Piece(f" {_short_key(action)} ", Tone.KEY), Piece(f"{action.label}  ", Tone.DIM)]
        spans.append((left, end, action.command))
        left = end
    return KeyLine(pieces, tuple(spans))


def help_lines(width: int, columns: Sequence[tuple[str, str]]) -> list[Line]:
    """Return the help page: all actions by group, then the columns (name and sentence), then the signs."""
    lines: list[Line] = []
    for group in dict.fromkeys(action.group for action in ACTIONS):
        entries = [(action.shown_keys, action.help) for action in ACTIONS if action.group == group]
        lines += [*_section(group, entries, width), []]
    return [*lines, *_section("Columns", columns, width), [], *_section("Signs", _SIGNS, width)]


_SIGNS: Final = (
    ("-", "Absent: there is none."),
    ("(blank)", "A size that has not been measured yet."),
    ("…", "Not looked at yet."),
    ("?", "There, but it could not be read; the detail says why."),
    ("<=", "An upper bound, not the exact figure."),
    (">=", "A lower bound: it lacks what is unreadable or has not been measured."),
    ("~", "A figure that may be too high or too low."),
    ("·", "Before a row: work on it is going on."),
)


def _section(title: str, entries: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lines: list[Line] = [[Piece(f" {title}", Tone.ACCENT)]]
    for left, sentence in entries:
        shown = left
        for part in wrapped(sentence, Tone.PLAIN, width, indent=_KEY_WIDTH + 3):
            lines.append([Piece(f"   {shown:<{_KEY_WIDTH}}", Tone.STRONG), *part[1:]])
            shown = ""
    return lines


def _short_key(action: Action) -> str:
    return "< >" if action.name == "sort_next" else action.shown_keys.split()[0].replace("ctrl+", "^")


def _label_width(action: Action) -> int:
    return len(_short_key(action)) + len(action.label or "") + 4
