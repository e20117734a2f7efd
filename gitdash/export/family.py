"""The relatives of one repository as two trees: whom it borrows from, and who borrows from it.

Source: the lenders in each row, which are git's alternates followed to its depth. Members are known only among the rows
that are given. Pure; it draws nothing, and sums nothing: that is `pools`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gitdash.model.report import Lender
from gitdash.model.summary import RepositorySummary
from gitdash.units import printable_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """One lender or member of a repository, with its place in the tree."""

    path: bytes
    """Of the repository, or of the `objects` directory of one that is not known."""
    name: str
    """Printable."""
    depth: int
    """1 for what the repository borrows from, or lends to, itself. What follows with a greater depth hangs below."""
    exists: bool
    is_known: bool
    problem: str | None
    """Why git cannot use a lender; None for members."""
    summary: RepositorySummary | None
    """Its row, with what it saves and what is duplicate and exclusive in it; None if it is not among the given ones."""
    is_repeated: bool
    """A member that stands in the tree already, with those who borrow from it; here they are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Whom a repository borrows from, and who borrows from it."""

    path: bytes
    summary: RepositorySummary | None
    lenders: tuple[Relative, ...]
    """A tree, each lender before those that it borrows from; git's order."""
    members: tuple[Relative, ...]
    """A tree, each member before those that borrow from it; by path."""


def family(path: bytes, summaries: Iterable[RepositorySummary]) -> Family:
    """Return the relatives of a repository; borrowing in a circle ends where it comes back."""
    rows = {summary.path: summary for summary in summaries}
    summary = rows.get(path)
    lenders = summary.lenders if summary else ()
    return Family(
        path=path,
        summary=summary,
        lenders=tuple(_relative(lender, lender.depth, rows.get(lender.path)) for lender in lenders),
        members=tuple(_members(path, rows)),
    )


def _relative(lender: Lender, depth: int, summary: RepositorySummary | None) -> Relative:
    return Relative(
        path=lender.path,
        name=summary.name if summary else printable_path(lender.path),
        depth=depth,
        exists=lender.exists,
        is_known=lender.is_known,
        problem=lender.problem,
        summary=summary,
        is_repeated=False,
    )


def _members(path: bytes, rows: Mapping[bytes, RepositorySummary]) -> Iterator[Relative]:
    """Yield the tree depth first, without recursion."""
    members, unknown = _links(rows.values())
    seen = {path}
    waiting = [(member, 1) for member in sorted(members.get(path, ()), reverse=True)]
    while waiting:
        member, depth = waiting.pop()
        is_repeated = member in seen
        yield _member(member, depth, rows.get(member), unknown.get(member), is_repeated=is_repeated)
        if not is_repeated:
            seen.add(member)
            waiting += [(one, depth + 1) for one in sorted(members.get(member, ()), reverse=True)]


def _member(
    path: bytes, depth: int, summary: RepositorySummary | None, unknown: Lender | None, *, is_repeated: bool
) -> Relative:
    return Relative(
        path=path,
        name=summary.name if summary else printable_path(path),
        depth=depth,
        exists=unknown is None or unknown.exists,
        is_known=summary is not None or (unknown is not None and unknown.is_known),
        problem=None,
        summary=summary,
        is_repeated=is_repeated,
    )


def _links(
    summaries: Iterable[RepositorySummary],
) -> tuple[Mapping[bytes, set[bytes]], Mapping[bytes, Lender]]:
    """Return who borrows directly from whom by lender, and the lenders in between that are none of the rows.

    A lender between two others may be unknown: the order in which git follows them says who borrows from whom.
    """
    members: defaultdict[bytes, set[bytes]] = defaultdict(set)
    between: dict[bytes, Lender] = {}
    for summary in summaries:
        if not summary.counts_store:
            continue
        above = [summary.path]
        for lender in summary.lenders:
            del above[max(1, lender.depth) :]
            if lender.path != above[-1]:
                members[lender.path].add(above[-1])
            above.append(lender.path)
            between[lender.path] = lender
    return members, between
