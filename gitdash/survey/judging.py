"""From inspections to reports: the pool graph over all repositories, then the rules for each.

A stored judgement is used again only if all that went into it is the same: files, lenders, borrowers, policy and
version, and nothing in it can grow into a finding with time alone. Pure: what lies on disk has been read already.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from gitdash import __version__
from gitdash.discovery.pools import PoolEntry, PoolGraph, StoreIdentity, pool_graph
from gitdash.model.inspection import BitmapFacts, Inspection, PackFacts, ReferenceFacts
from gitdash.model.policy import Policy
from gitdash.model.report import Lender, RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Unreadable
from gitdash.model.sizes import ExclusiveSizes, SizeMeasurement, Sizes
from gitdash.survey.alternates import compared_stores

if TYPE_CHECKING:
    from gitdash.assessment.subject import LenderFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """One repository with what its files said, and the report that was stored for it."""

    repository: Repository
    inspection: Inspection | Unreadable
    stored: RepositoryReport | None = None
    """The last report if the files are unchanged since; else None."""
    before: RepositoryReport | None = None
    """The last report, whatever has changed since."""
    is_reused: bool = False
    """The inspection is that of the stored report."""


class Judge:
    """Turns inspected repositories into reports, with the knowledge of all of them."""

    def __init__(
        self,
        inspected: Iterable[Inspected],
        *,
        policy_for: Callable[[bytes], Policy],
        outside_fingerprint: Callable[[bytes], bytes],
        stores_fingerprint: Callable[[Sequence[bytes]], bytes],
        git_version: str | None,
        now_s: float,
    ) -> None:
        """Build the pool graph.

        `outside_fingerprint` reads that of a lender outside the roots, by objects folder; `stores_fingerprint` that of
        object stores together.
        """
        self._inspected = {one.repository.path: one for one in inspected}
        self._policy_for = policy_for
        self._outside_fingerprint = outside_fingerprint
        self._stores_fingerprint = stores_fingerprint
        self._now_s = now_s
        self._git_version = git_version
        self.graph: PoolGraph = pool_graph(map(_pool_entry, self._inspected.values()))

    def know(self, other_borrowers: Mapping[StoreIdentity, Iterable[bytes]]) -> None:
        """Take into account who borrows from a store, by earlier surveys, and was not inspected."""
        if other_borrowers:
            self.graph = pool_graph(map(_pool_entry, self._inspected.values()), other_borrowers)

    def paths(self) -> list[bytes]:
        """Return the paths of all repositories in order of discovery."""
        return list(self._inspected)

    def report(self, path: bytes) -> tuple[RepositoryReport, bool]:
        """Return the report of one repository, and whether it is the stored one.

        The rules are imported where one is judged: a survey in which nothing changed does without (10 ms).
        """
        one = self._inspected[path]
        facts = self.facts(path)
        if one.stored is not None and self._is_still_true(one, one.stored, facts):
            return msgspec.structs.replace(facts, findings=one.stored.findings, state=one.stored.state), True
        return self.judge(facts, self._policy_for(path)), False

    def facts(self, path: bytes) -> RepositoryReport:
        """Return the report of one repository before it is judged: no findings, and no other state than readable."""
        one = self._inspected[path]
        lenders_fingerprint = self._lenders_fingerprint(one)
        is_same = one.stored is not None and one.stored.lenders_fingerprint == lenders_fingerprint
        sizes = _of_git(one.stored.sizes, self._git_version) if one.stored is not None and is_same else Sizes()
        if sizes.exclusive is None:
            sizes = msgspec.structs.replace(sizes, exclusive=self._exclusive_before(one))
        return RepositoryReport(
            repository=one.repository,
            roles=self.graph.roles(path),
            borrowers=self.graph.borrowers(path),
            lenders=self._lenders(one.inspection),
            inspection=one.inspection,
            sizes=sizes,
            findings=(),
            state=State.UNREADABLE if isinstance(one.inspection, Unreadable) else State.OK,
            counts_store=self.graph.counts_store(path),
            lender_bitmap=self._lender_bitmap(path),
            lenders_fingerprint=lenders_fingerprint,
            judged_by=policy_digest(self._policy_for(path)),
        )

    def judge(self, report: RepositoryReport, policy: Policy) -> RepositoryReport:
        """Return the report with the findings that its facts and sizes give."""
        from gitdash.assessment.rules import assess, state_of
        from gitdash.assessment.subject import Subject

        subject = Subject(
            repository=report.repository,
            roles=report.roles,
            inspection=report.inspection,
            borrowers=report.borrowers,
            sizes=report.sizes,
            lenders=self._lender_facts(report.repository.path),
            lenders_outside=tuple(alternate.path for alternate in self.graph.unknown_lenders(report.repository.path)),
            counts_store=report.counts_store,
        )
        findings = assess(subject, policy, self._now_s)
        return msgspec.structs.replace(
            report, findings=findings, state=state_of(findings, report.repository, report.inspection)
        )

    def with_sizes(self, report: RepositoryReport, sizes: Sizes) -> RepositoryReport:
        """Return the report with other sizes, judged again."""
        changed = msgspec.structs.replace(
            report, sizes=msgspec.structs.replace(sizes, git_version=self._git_version or sizes.git_version)
        )
        return self.judge(changed, self._policy_for(report.repository.path))

    def _is_still_true(self, one: Inspected, stored: RepositoryReport, facts: RepositoryReport) -> bool:
        return (
            one.is_reused
            and stored.lenders_fingerprint == facts.lenders_fingerprint
            and stored.judged_by == facts.judged_by
            and stored.repository == facts.repository
            and stored.counts_store == facts.counts_store
            and stored.borrowers == facts.borrowers
            and stored.lenders == facts.lenders
            and stored.roles == facts.roles
            and not _grows_older(stored.inspection)
        )

    def _exclusive_before(self, one: Inspected) -> ExclusiveSizes | None:
        """Return the figures if the object stores are the same, whatever else has changed, such as references."""
        known = one.before.sizes.exclusive if one.before is not None else None
        if isinstance(one.inspection, Unreadable) or not isinstance(known, ExclusiveSizes):
            return None
        stores = compared_stores(one.repository.common_dir, one.inspection)
        is_same = known.stores_fingerprint != b"" and known.stores_fingerprint == self._stores_fingerprint(stores)
        return known if is_same else None

    def _lenders(self, inspection: Inspection | Unreadable) -> tuple[Lender, ...]:
        alternates = () if isinstance(inspection, Unreadable) else inspection.alternate_stores
        keepers = [self.graph.repository_of(alternate) for alternate in alternates]
        return tuple(
            Lender(
                path=alternate.path if keeper is None else keeper,
                depth=alternate.depth,
                exists=alternate.exists,
                is_known=keeper is not None,
                problem=alternate.problem,
            )
            for alternate, keeper in zip(alternates, keepers, strict=True)
        )

    def _lenders_fingerprint(self, one: Inspected) -> bytes:
        if isinstance(one.inspection, Unreadable) or not one.inspection.alternate_stores:
            return b""
        digest = hashlib.sha256()
        known = [self._inspected[path].inspection for path in self.graph.lenders(one.repository.path)]
        for inspection in known:
            digest.update(inspection.fingerprint if isinstance(inspection, Inspection) else b"unreadable")
        for alternate in self.graph.unknown_lenders(one.repository.path):
            digest.update(self._outside_fingerprint(alternate.path))
        return digest.digest()[:16]

    def _lender_facts(self, path: bytes) -> "tuple[LenderFacts, ...]":
        from gitdash.assessment.subject import lender_facts

        lenders = [self._inspected[lender] for lender in self.graph.lenders(path)]
        known = tuple(lender_facts(one.repository.common_dir + b"/objects", one.inspection) for one in lenders)
        return known + tuple(lender_facts(alternate.path, None) for alternate in self.graph.unknown_lenders(path))

    def _lender_bitmap(self, path: bytes) -> BitmapFacts | None:
        for lender in self.graph.lenders(path):
            inspection = self._inspected[lender].inspection
            if isinstance(inspection, Inspection) and inspection.bitmaps:
                return inspection.bitmaps[0]
        return None


@cache
def policy_digest(policy: Policy) -> bytes:
    """Return what a judgement is marked with: it changes with the policy and with the version of gitdash."""
    return hashlib.sha256(__version__.encode() + msgspec.msgpack.encode(policy)).digest()[:16]


def _of_git(sizes: Sizes, git_version: str | None) -> Sizes:
    """Return the sizes without the answers of another git, and without its failures, which this one may not have."""

    def is_of_git(size: SizeMeasurement | Unreadable | None) -> bool:
        return (size.git_version if isinstance(size, SizeMeasurement) else sizes.git_version) == git_version

    if git_version is None or (is_of_git(sizes.reachable) and is_of_git(sizes.reachable_own)):
        return sizes
    return msgspec.structs.replace(
        sizes,
        reachable=sizes.reachable if is_of_git(sizes.reachable) else None,
        reachable_own=sizes.reachable_own if is_of_git(sizes.reachable_own) else None,
    )


def _pool_entry(one: Inspected) -> PoolEntry:
    inspection = one.inspection
    if isinstance(inspection, Unreadable):
        return PoolEntry(
            path=one.repository.path, object_store=inspection, alternates=None, layout=one.repository.layout
        )
    references = inspection.references
    return PoolEntry(
        path=one.repository.path,
        object_store=inspection.object_store,
        alternates=inspection.alternates,
        layout=one.repository.layout,
        has_dangling_namespace=isinstance(references, ReferenceFacts) and references.has_dangling_namespace,
        is_linked_worktree=one.repository.kind is RepositoryKind.LINKED_WORKTREE,
    )


def _grows_older(inspection: Inspection | Unreadable) -> bool:
    """Tell whether a fact may become a finding by its age alone: then it is judged each time."""
    if isinstance(inspection, Unreadable):
        return True
    packs, loose, references = inspection.packs, inspection.loose, inspection.references
    return bool(
        inspection.locks
        or inspection.gc_log
        or inspection.alternates is not None
        or (isinstance(packs, PackFacts) and _may_age(packs))
        or (not isinstance(loose, Unreadable) and loose.temporary_files)
        or (isinstance(references, ReferenceFacts) and references.empty_loose_names)
    )


def _may_age(packs: PackFacts) -> bool:
    return bool(packs.keep_files or packs.temporary_files or packs.missing_index_names or packs.count > 1)
