"""What makes rows belong together, and what people call that: by root, by pool, by state, by findings. Pure.

The titles of rules are taken from `gitdash.assessment`, imported when they are first needed: the first paint of a
fleet that is not grouped does not wait for them.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from gitdash.model.report import State
from gitdash.model.summary import RepositorySummary
from gitdash.model.view import Grouping
from gitdash.units import printable, printable_path

if TYPE_CHECKING:
    from gitdash.assessment.rule import Rule

GROUPING_TITLES: Final[Mapping[Grouping, str]] = {
    "none": "",
    "root": "by root",
    "pool": "by pool",
    "state": "by state",
    "findings": "by findings",
}
"""In the order in which a key goes through them; nothing is said where rows are not grouped."""
NO_POOL: Final = None
"""The key of the group of those that neither lend nor borrow."""
_TITLES_SHOWN: Final = 3
_PLAIN_STATES: Final = {State.OK: "ok", State.FOREIGN: "another user owns it", State.UNREADABLE: "cannot be read"}
"""States that say all there is to say."""


def _root(summary: RepositorySummary) -> Hashable:
    return summary.root


def _pool(summary: RepositorySummary) -> Hashable:
    """Return the path of the lender, which leads its own group; one that borrows, too, leads that of its members."""
    if "pool" in summary.role:
        return summary.path
    return next((lender.path for lender in summary.lenders if lender.depth == 1), NO_POOL)


def _state(summary: RepositorySummary) -> Hashable:
    if summary.state in _PLAIN_STATES:
        return summary.state, None
    facts = _facts()
    return summary.state, next((rule for rule in summary.rules if rule not in facts), summary.worst_rule)


def _findings(summary: RepositorySummary) -> Hashable:
    return tuple(sorted(summary.rules))


GROUP_KEYS: Final[Mapping[Grouping, Callable[[RepositorySummary], Hashable]]] = {
    "root": _root,
    "pool": _pool,
    "state": _state,
    "findings": _findings,
}


def title_of(kind: Grouping, key: Hashable, name_of: Callable[[bytes], str | None]) -> str:
    """Return what people call a group. Printable.

    `name_of` gives the name of a repository by its path, or None if it is not in the fleet.
    """
    if kind == "state" and isinstance(key, tuple):
        state, rule = key
        return _PLAIN_STATES.get(state) or (_title(rule) if rule else str(state))
    if kind == "findings" and isinstance(key, tuple):
        return _titles_text(key)
    if not isinstance(key, bytes):
        return "no pool"
    if kind == "root":
        return printable_path(key)
    return name_of(key) or f"{printable_path(key)} (not in this fleet)"


def _titles_text(rules: tuple[str, ...]) -> str:
    if not rules:
        return "no findings"
    titles = [_title(rule) for rule in rules]
    more = len(titles) - _TITLES_SHOWN
    return ", ".join(titles[:_TITLES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def rules_of(kind: Grouping, key: Hashable) -> list["Rule"]:
    """Return the rules that make a group what it is; none for a group that is not one of findings."""
    if not isinstance(key, tuple) or kind not in {"state", "findings"}:
        return []
    names = key if kind == "findings" else key[1:]
    known = _rules()
    return [known[name] for name in names if isinstance(name, str) and name in known]


def _title(rule: str) -> str:
    known = _rules().get(rule)
    return printable(rule) if known is None else known.title


@cache
def _rules() -> Mapping[str, "Rule"]:
    from gitdash.assessment.rules import RULES

    return {rule.id: rule for rule in RULES}


@cache
def _facts() -> frozenset[str]:
    return frozenset(rule.id for rule in _rules().values() if rule.is_fact)
