"""What is chosen of a fetch before it is started, and the page that shows it. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.model.fetch import PROTOCOLS
from gitdash.tui.drawing.cells import Line, Piece, Tone, fit, shorten_middle
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import wrapped
from gitdash.units import human_duration, printable

_TITLE_WIDTH: Final = 20
_VALUE_WIDTH: Final = 20
_BESIDE_LEAST: Final = 90
"""From this width on the sentence stands beside the value, not below it."""
_NAMED: Final = ("name", "group")
"""Which remotes: values that a person has to type something for."""


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of a choice."""

    name: str
    sentence: str
    change: dict[str, object]
    """What it makes of the options."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One choice."""

    key: str
    title: str
    values: tuple[_Value, ...]
    value_of: Callable[[FetchOptions, FetchOptions], str]
    """Returns the name of the value that holds, by the options and those that are configured."""

    def values_beside(self, configured: FetchOptions) -> Sequence[_Value]:
        """Return the values to choose among: what is configured has a name of its own, and no second one."""
        return [value for value in self.values if value.change.get("protocols") != configured.protocols]


_USUAL: Final = "origin"
"""What git calls the remote that a repository was cloned from."""


def _which_remotes(options: FetchOptions, _configured: FetchOptions) -> str:
    if options.remotes:
        return _USUAL if options.remotes == (_USUAL,) else "name"
    return "all" if options.group is None else "group"


def _which_protocols(options: FetchOptions, configured: FetchOptions) -> str:
    if options.protocols == configured.protocols:
        return "configured"
    return "file" if options.protocols == ("file",) else "any"


_LINES: Final = (
    _Line(
        "remotes",
        "remotes",
        (
            _Value("all", "From every remote in the config of each repository.", {"remotes": (), "group": None}),
            _Value(
                _USUAL,
                "From the remote of this name only; where there is none, nothing is done.",
                {"remotes": (_USUAL,), "group": None},
            ),
            _Value("name", "From the remote of the name that you typed; where there is none, nothing is done.", {}),
            _Value("group", "From the remotes that `remotes.<group>` in the config of each repository names.", {}),
        ),
        _which_remotes,
    ),
    _Line(
        "alternate_refs",
        "lender's references",
        (
            _Value(
                "auto",
                "A member keeps them to itself, which spares walking them, unless its lender already has what is"
                " wanted; the job says which it was, and why.",
                {"alternate_refs": "auto"},
            ),
            _Value(
                "suppress",
                "A member never offers them: quick however many there are, but what the lender has may be sent again.",
                {"alternate_refs": "suppress"},
            ),
            _Value(
                "use",
                "A member always offers them: nothing is sent twice, but walking 50,000 of them takes seconds.",
                {"alternate_refs": "use"},
            ),
        ),
        lambda options, _: options.alternate_refs,
    ),
    _Line(
        "prune",
        "prune",
        (
            _Value(
                "config",
                "References whose source is gone are removed where the config of the repository, or your own, says so.",
                {"prune": None},
            ),
            _Value("yes", "References whose source is gone are removed; their objects stay.", {"prune": True}),
            _Value("no", "No reference is removed, whatever the config says.", {"prune": False}),
        ),
        lambda options, _: {None: "config", True: "yes", False: "no"}[options.prune],
    ),
    _Line(
        "dry_run",
        "dry run",
        (
            _Value("no", "References are updated, and what they need is received.", {"dry_run": False}),
            _Value(
                "yes",
                "Only says which references would change: what would come is downloaded, and dropped.",
                {"dry_run": True},
            ),
        ),
        lambda options, _: "yes" if options.dry_run else "no",
    ),
    _Line(
        "protocols",
        "protocols",
        (
            _Value("configured", "By what [fetch] in the configuration allows.", {}),
            _Value("file", "From paths on this machine only.", {"protocols": ("file",)}),
            _Value(
                "any",
                "By any protocol that names no program; http and git are not encrypted.",
                {"protocols": PROTOCOLS},
            ),
        ),
        _which_protocols,
    ),
)


class FetchChoice:
    """The options of a fetch while they are chosen."""

    def __init__(self, configured: FetchOptions) -> None:
        """Begin with what the configuration says."""
        self.configured = configured
        self.options = configured

    def turn(self, number: int, step: int) -> str | None:
        """Take the next value of a choice, or the one before it for -1.

        Returns what has to be typed for it, `name` or `group`, and then changes nothing: `named` does.
        """
        line = _LINES[number]
        values = line.values_beside(self.configured)
        names = [value.name for value in values]
        value = values[(names.index(line.value_of(self.options, self.configured)) + step) % len(names)]
        if value.name in _NAMED:
            return value.name
        change = {"protocols": self.configured.protocols} if value.name == "configured" else value.change
        self.options = msgspec.structs.replace(self.options, **change)
        return None

    def named(self, kind: str, text: str) -> None:
        """Fetch from the remote, or the group of remotes, of this name."""
        is_group = kind == "group"
        self.options = msgspec.structs.replace(
            self.options, remotes=() if is_group else (text,), group=text if is_group else None
        )


def fetch_page(choice: FetchChoice, what: str, width: int) -> Page:
    """Return the page: into what is fetched, the choices, and what stays as it is configured. `what` is printable."""
    lines: list[Line] = [[Piece(f" Fetches into {shorten_middle(what, width - 16)}.", Tone.STRONG)]]
    items = []
    for line in _LINES:
        items.append(len(lines))
        lines.extend(_choice_lines(choice, line, width))
    lines += wrapped(_configured_text(choice.options), Tone.DIM, width)
    return Page(lines, items)


def _choice_lines(choice: FetchChoice, line: _Line, width: int) -> list[Line]:
    name = line.value_of(choice.options, choice.configured)
    value = next(value for value in line.values if value.name == name)
    is_other = name != line.value_of(choice.configured, choice.configured)
    shown = fit(f"< {_shown_value(choice.options, name)} >", _VALUE_WIDTH)
    head = [
        Piece(f" {fit(line.title, _TITLE_WIDTH)} ", Tone.STRONG),
        Piece(f"{shown} ", Tone.ACCENT if is_other else Tone.KEY),
    ]
    if width < _BESIDE_LEAST:
        return [head, *wrapped(value.sentence, Tone.DIM, width, indent=5)]
    first, *others = wrapped(value.sentence, Tone.DIM, width, indent=_TITLE_WIDTH + _VALUE_WIDTH + 3)
    return [[*head, *first[1:]], *others]


def _shown_value(options: FetchOptions, name: str) -> str:
    if name == "name":
        return printable(options.remotes[0])
    return f"group {printable(options.group)}" if name == "group" and options.group is not None else name


def _configured_text(options: FetchOptions) -> str:
    protocols = _either(options.protocols)
    limit = human_duration(options.time_limit_s)
    return (
        f"By {protocols} only, for {limit} at most each: [fetch] in the configuration says what holds without a choice."
    )


def _either(words: Sequence[str]) -> str:
    *before, last = words or ("none",)
    return f"{', '.join(before)} or {last}" if before else last
