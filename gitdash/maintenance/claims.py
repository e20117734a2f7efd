"""Claims: what an action needs for itself, and which actions may not write at the same time.

One writer at a time for each object store, where a pool and its members count as one. A family is the object stores of
a repository, of its lenders, and of everything known to borrow from any of these. Stores are told apart by device and
inode, for paths differ by links and mounts; the real path stands beside them for a store that one report could read
and another could not. Borrowers that nobody scanned are not known here. Pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitdash.model.inspection import Alternate, Inspection, ObjectStore
from gitdash.model.report import RepositoryReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What one action needs while it runs."""

    repository: bytes
    """Path of the repository; it is acted on by one action at a time, whether that writes or not."""
    family: frozenset[bytes]
    """Names of object stores: two writers whose families meet never run at the same time."""
    writes: bool
    """Whether it changes anything; a reader waits for no family."""
    host: str | None = None
    """The remote host that it talks to; None if to none."""
    volume: int | None = None
    """Number of the device (st_dev) that it keeps busy; None if that is not known."""


class Families:
    """The families of some repositories. Built once for all actions that are started together."""

    __slots__ = ("_families", "_relatives_of")

    def __init__(self, reports: Iterable[RepositoryReport]) -> None:
        by_path = {report.repository.path: report for report in reports}
        self._relatives_of: dict[bytes, set[bytes]] = {}
        """For the first name of each store that lends: the names of those that borrow from it, and its other names."""
        self._families: dict[frozenset[bytes], frozenset[bytes]] = {}
        for report in by_path.values():
            for lender in report.alternate_stores:
                names = _alternate_names(lender)
                self._relatives_of.setdefault(names[0], set()).update(names, _store_names(report))
            for path in report.borrowers:
                known = by_path.get(path)
                names = (path,) if known is None else _store_names(known)
                self._relatives_of.setdefault(_store_names(report)[0], set()).update(names)
        for report in by_path.values():
            own = _store_names(report)
            if own[0] in self._relatives_of:
                self._relatives_of[own[0]].update(own)

    def family(self, report: RepositoryReport) -> frozenset[bytes]:
        """Return the family of a repository; members of one lender get the very same set, so that it costs little."""
        own = _store_names(report)
        stores = [_alternate_names(lender) for lender in report.alternate_stores]
        if not stores or own[0] in self._relatives_of:
            stores.append(own)
        key = frozenset(names[0] for names in stores)
        family = self._families.get(key)
        if family is None:
            family = self._families[key] = frozenset(self._relatives(stores))
        return family if family.issuperset(own) else family.union(own)

    def _relatives(self, stores: Iterable[tuple[bytes, ...]]) -> Iterator[bytes]:
        for names in stores:
            yield from names
            yield from self._relatives_of.get(names[0], ())


def claims_of(report: RepositoryReport, *, families: Families, writes: bool, host: str | None = None) -> Claims:
    """Return what an action on a repository needs; its volume is that of the object store, if that could be read."""
    store = _store(report)
    return Claims(
        repository=report.repository.path,
        family=families.family(report),
        writes=writes,
        host=host,
        volume=None if store is None else store.device,
    )


def _store(report: RepositoryReport) -> ObjectStore | None:
    if not isinstance(report.inspection, Inspection):
        return None
    store = report.inspection.object_store
    return store if isinstance(store, ObjectStore) else None


def _store_names(report: RepositoryReport) -> tuple[bytes, ...]:
    """Return the names of a repository's own store, the best first."""
    store = _store(report)
    if store is None:
        return (report.repository.common_dir + b"/objects",)
    return _identity(store.device, store.inode), store.path


def _alternate_names(lender: Alternate) -> tuple[bytes, ...]:
    if lender.device is None or lender.inode is None:
        return (lender.path,)
    return _identity(lender.device, lender.inode), lender.path


def _identity(device: int, inode: int) -> bytes:
    # No path begins like this: those are absolute.
    return b"%d:%d" % (device, inode)
