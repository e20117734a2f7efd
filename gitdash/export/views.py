"""Views that come with gitdash, and what is checked and kept of those that people make. Pure.

Each of them answers a question that somebody has who looks after many repositories. Whether a condition can be run,
SQLite says when the view is opened. It does not read the configuration, nor the state file.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from gitdash.export.columns import ColumnError, column_named
from gitdash.model.view import View
from gitdash.units import printable


@dataclass(frozen=True, slots=True)
class BuiltInView:
    """A view that comes with gitdash."""

    help: str
    """One sentence: what it answers."""
    view: View


BUILT_IN_VIEWS: Final = (
    BuiltInView(
        "What is critical, unreadable or a warning, with the same findings together.",
        View(
            name="needs attention",
            filter="=state IN ('critical', 'warning', 'unreadable')",
            sort="state",
            columns=("name", "state", "why", "findings", "disk", "age"),
            group="findings",
        ),
    ),
    BuiltInView(
        "What takes the space, and whether it is history or garbage.",
        View(
            name="biggest",
            sort="disk",
            columns=("name", "state", "role", "disk", "reachable", "exclusive", "garbage", "stale_loose", "borrowers"),
        ),
    ),
    BuiltInView(
        "What stopped commands have left in the object stores, the most first.",
        View(
            name="garbage",
            filter="=garbage > 0",
            sort="garbage",
            columns=("name", "state", "garbage", "disk", "loose", "stale_loose", "root"),
        ),
    ),
    BuiltInView(
        "Members that still store what their lender has: a repack would free it.",
        View(
            name="duplicates left",
            filter="=duplicate > 0",
            sort="duplicate",
            columns=("name", "role", "duplicate", "saved", "exclusive", "disk", "packs"),
            group="pool",
        ),
    ),
    BuiltInView(
        "Who borrows objects from whom: a gc in a lender can break its members.",
        View(
            name="pools and members",
            filter="=borrowers > 0 OR alternates > 0",
            sort="borrowers",
            columns=("name", "role", "state", "borrowers", "alternates", "exclusive", "saved", "disk"),
            group="pool",
        ),
    ),
    BuiltInView(
        "What keeps later commands from working: locks, keep files, and the marks of a gc that failed or hangs.",
        View(
            name="locks and leftovers",
            filter="=rules LIKE '%lock%' OR rules LIKE '%stale-keep%'"
            " OR rules LIKE '%gc-log%' OR rules LIKE '%gc-pid%'",
            sort="state",
            columns=("name", "state", "why", "rules", "age"),
        ),
    ),
    BuiltInView(
        "Where clones and look-ups wait: no bitmap, too many packs, too many loose objects.",
        View(
            name="slow to read",
            filter="=rules LIKE '%no-bitmap%' OR rules LIKE '%packs-outside-midx%' OR rules LIKE '%many-packs%'"
            " OR rules LIKE '%loose-objects%'",
            sort="packs",
            columns=("name", "state", "packs", "outside_midx", "loose", "bitmap", "refs", "disk"),
        ),
    ),
    BuiltInView(
        "Where a figure is missing or not to be relied on, because something could not be read or measured.",
        View(
            name="not a number",
            filter="=state = 'unreadable' OR rules LIKE '%unreadable%' OR rules LIKE '%disk-incomplete%'"
            " OR rules LIKE '%measurement-notes%'",
            sort="state",
            columns=("name", "state", "why", "disk", "exclusive", "reachable", "own"),
        ),
    ),
)


def known_parts(view: View) -> tuple[View, tuple[str, ...]]:
    """Return a view with the keys of its columns, without those that there are not; and a sentence for each of these.

    A column may be given by either of its names, and only once. The filter is printable, as what it is compared with.
    """
    problems = []
    keys = []
    for name in view.columns:
        try:
            keys.append(column_named(name).key)
        except ColumnError as error:
            problems.append(f"view '{printable(view.name)}': {error}")
    sort = ""
    if view.sort:
        try:
            sort = view.sort[: view.sort.startswith("-")] + column_named(view.sort.removeprefix("-")).key
        except ColumnError as error:
            problems.append(f"view '{printable(view.name)}': {error}")
    checked = msgspec.structs.replace(
        view, filter=printable(view.filter), columns=tuple(dict.fromkeys(keys)), sort=sort
    )
    return checked, tuple(problems)


def encode_views(views: Iterable[View]) -> bytes:
    """Return views as JSON, for the state file."""
    return msgspec.json.encode(list(views))


def decode_views(data: bytes) -> tuple[View, ...]:
    """Return the views in the JSON of a state file; what is no view, as from another version, is left out."""
    views = []
    try:
        entries = msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return ()
    for entry in entries:
        try:
            views.append(msgspec.json.decode(entry, type=View))
        except msgspec.DecodeError:
            continue
    return tuple(views)
