"""The pools of a fleet for people: who lends to whom, what that saves, and what could take objects from borrowers.

Source: the lenders in each row, which are git's alternates followed to its depth. Who borrows is known only among the
rows that are given, and counted where an earlier survey saw it. Rows that stand for no object store of their own, such
as linked worktrees, are nobody's members. Pure; it draws nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gitdash.model.report import Lender, State
from gitdash.model.repository import Unreadable
from gitdash.model.saved import SavedSum
from gitdash.model.sizes import Bound
from gitdash.model.summary import RepositorySummary
from gitdash.units import LARGEST_BYTES, human_bytes, printable_path

_STATE_RANKS = {state: rank for rank, state in enumerate(State)}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSum:
    """A sum over members, as far as their figures are known."""

    bytes: int
    known_count: int
    unknown_count: int
    bound: Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """One lender with those who borrow from it."""

    path: bytes
    """Of the repository, or of the `objects` directory of a lender that is none of the given rows."""
    name: str
    """Printable."""
    exists: bool
    is_known: bool
    """It belongs to a repository of the survey."""
    problem: str | None
    """Why git cannot use it for one of its borrowers; None if all can. Printable."""
    lost_count: int
    """Repositories that borrow from it, directly or not, and cannot."""
    summary: RepositorySummary | None
    """Its row, if that is among the given ones."""
    members: tuple[bytes, ...]
    """Paths of the repositories whose own alternates file names it, sorted."""
    indirect_member_count: int
    """Repositories that reach it through another lender only."""
    unseen_member_count: int
    """Borrowers that earlier surveys saw and that are not among the given rows."""
    depth: int
    """How many links the longest chain of borrowers below it has: 1 if none of its members lends on, 0 without any."""
    duplicate: KnownSum
    """What members store although a lender of theirs has it: what a repack of them would free. This sum and the next
    are over `members`."""
    saved: KnownSum
    """What members read from their lenders. One that has several lenders counts with all of it for each of them, for
    nobody knows how much it reads from which."""
    net_bytes: int | None
    """Saved bytes, less its own objects if it is a pool and nothing else, whose members are all it is there for. None
    if no member's saved bytes are known, or its own are not. The bound is that of `saved`."""
    unsafe: tuple[str, ...]
    """Ids of the rules about lending that it broke itself, and of those by which its borrowers miss or do not know it;
    sorted."""
    state: State
    """The worst of its own and its members'."""


def cost_text(saved_bytes: int, bound: Bound) -> str:
    """Return what is paid where less than nothing is saved; what is saved at least is what is paid at most."""
    sign = {Bound.LOWER: Bound.UPPER, Bound.UPPER: Bound.LOWER}.get(bound, bound).sign
    return sign + human_bytes(-saved_bytes)


def pool_forest(summaries: Iterable[RepositorySummary]) -> tuple[PoolRow, ...]:
    """Return all lenders by path: repositories that lend or are pools, and lenders that are missing or unknown.

    10,000 repositories in 300 pools take 25 ms.
    """
    rows = {summary.path: summary for summary in summaries}
    borrowers: defaultdict[bytes, list[tuple[RepositorySummary, Lender]]] = defaultdict(list)
    for summary in rows.values():
        if summary.counts_store:
            for lender in summary.lenders:
                if lender.path != summary.path:
                    borrowers[lender.path].append((summary, lender))
    pools = {path for path, summary in rows.items() if summary.borrower_count or summary.role.endswith("pool")}
    return tuple(_pool_row(path, rows.get(path), borrowers.get(path, [])) for path in sorted(pools | borrowers.keys()))


def _pool_row(
    path: bytes, summary: RepositorySummary | None, borrowers: list[tuple[RepositorySummary, Lender]]
) -> PoolRow:
    direct = {borrower.path: borrower for borrower, lender in borrowers if lender.depth == 1}
    all_count = len({borrower.path for borrower, _ in borrowers})
    broken = {
        borrower.path: lender for borrower, lender in borrowers if lender.problem is not None or not lender.exists
    }
    saved = _saved(direct.values())
    return PoolRow(
        path=path,
        name=summary.name if summary else printable_path(path),
        exists=all(lender.exists for _, lender in borrowers),
        is_known=summary is not None or any(lender.is_known for _, lender in borrowers),
        problem=next((lender.problem for lender in broken.values() if lender.problem is not None), None),
        lost_count=len(broken),
        summary=summary,
        members=tuple(sorted(direct)),
        indirect_member_count=all_count - len(direct),
        unseen_member_count=max(0, summary.borrower_count - all_count) if summary else 0,
        depth=max((lender.depth for _, lender in borrowers), default=0),
        duplicate=_sum(member.duplicate_bytes for member in direct.values()),
        saved=saved,
        net_bytes=_net_bytes(summary, saved),
        unsafe=_unsafe(summary, borrowers),
        state=max(
            (row.state for row in (summary, *direct.values()) if row is not None),
            key=_STATE_RANKS.__getitem__,
            default=State.OK,
        ),
    )


def _saved(members: Iterable[RepositorySummary]) -> KnownSum:
    total = SavedSum()
    for member in members:
        total.add_member(member)
    return KnownSum(
        bytes=total.bytes, known_count=total.known_count, unknown_count=total.unknown_count, bound=total.bound
    )


def _sum(sizes: Iterable[int | Unreadable | None]) -> KnownSum:
    all_sizes = list(sizes)
    known = [size for size in all_sizes if isinstance(size, int)]
    unknown_count = len(all_sizes) - len(known)
    return KnownSum(
        bytes=min(sum(known), LARGEST_BYTES),
        known_count=len(known),
        unknown_count=unknown_count,
        bound=Bound.LOWER if unknown_count else Bound.EXACT,
    )


def _net_bytes(summary: RepositorySummary | None, saved: KnownSum) -> int | None:
    if not saved.known_count:
        return None
    if summary is None or not summary.is_dedicated_pool:
        return saved.bytes
    return saved.bytes - summary.objects_bytes if isinstance(summary.objects_bytes, int) else None


def _unsafe(
    summary: RepositorySummary | None, borrowers: Iterable[tuple[RepositorySummary, Lender]]
) -> tuple[str, ...]:
    """Return its own rules about lending, and of its borrowers' those that are about this lender and no other.

    The rules are imported where pools are looked at: a dashboard that opens without does without (10 ms).
    """
    from gitdash.assessment.alternates import LENDER_OUTSIDE_ROOTS, MISSING_LENDER
    from gitdash.assessment.rules import LENDING_RULES

    found = LENDING_RULES.intersection(summary.rules if summary else ())
    for borrower, lender in borrowers:
        if lender.problem is not None or not lender.exists:
            found |= {MISSING_LENDER.id}.intersection(borrower.rules)
        elif not lender.is_known:
            found |= {LENDER_OUTSIDE_ROOTS.id}.intersection(borrower.rules)
    return tuple(sorted(found))
