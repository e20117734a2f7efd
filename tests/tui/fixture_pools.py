"""A fleet with pools made of values: one that a forge made, a chain, a missing lender, and one outside the roots."""

from typing import Any

from gitdash.model.report import Lender, State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Bound
from gitdash.model.summary import RepositorySummary
from tests.export.rows import summary

MIB = 1 << 20
GONE = b"/srv/git/@pools/gone.git/objects"
OUTSIDE = b"/srv/other/base.git/objects"


def at(name: str) -> bytes:
    return b"/srv/git/" + name.encode()


def known(name: str, depth: int = 1) -> Lender:
    return Lender(path=at(name), depth=depth, exists=True, is_known=True)


def gone(depth: int = 1) -> Lender:
    return Lender(path=GONE, depth=depth, exists=False, is_known=False, problem="no such file or directory")


def outside() -> Lender:
    return Lender(path=OUTSIDE, depth=1, exists=True, is_known=False)


def member(name: str, *lenders: Lender, **changes: Any) -> RepositorySummary:
    facts = {
        "role": "member",
        "saved_bytes": 300 * MIB,
        "saved_bound": Bound.LOWER,
        "duplicate_bytes": 2 * MIB,
        "objects_bytes": 9 * MIB,
        "exclusive_bytes": 7 * MIB,
    }
    return summary(name, lenders=lenders, alternate_count=len(lenders), **(facts | changes))


def pool(name: str, borrower_count: int, **changes: Any) -> RepositorySummary:
    facts = {"role": "pool", "objects_bytes": 600 * MIB, "exclusive_bytes": 600 * MIB}
    return summary(name, borrower_count=borrower_count, **(facts | changes))


def pool_summaries() -> list[RepositorySummary]:
    """Six lenders, eight members, and one that is neither."""
    return [
        pool("pool.git", 4, is_dedicated_pool=True, rules=("pool-drops-objects",), state=State.WARNING),
        member("fork-a.git", known("pool.git")),
        member("fork-b.git", known("pool.git"), saved_bytes=None),
        pool("base.git", 3),
        member("middle.git", known("base.git"), role="member+pool", borrower_count=2, state=State.NOTICE),
        member("top.git", known("middle.git"), known("base.git", 2)),
        member("second.git", known("middle.git"), known("base.git", 2)),
        member(
            "api.git",
            gone(),
            rules=("missing-lender",),
            state=State.CRITICAL,
            saved_bytes=Unreadable("a lender is missing"),
            duplicate_bytes=Unreadable("a lender is missing"),
            exclusive_bytes=Unreadable("a lender is missing"),
        ),
        member("web.git", gone(), rules=("missing-lender",), state=State.CRITICAL, saved_bytes=None),
        member("out.git", outside(), rules=("lender-outside-roots",), state=State.NOTICE),
        pool("lonely.git", 0, is_dedicated_pool=True),
        summary("plain.git"),
    ]
