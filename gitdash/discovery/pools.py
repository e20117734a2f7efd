"""Who borrows objects from whom: alternates turned round.

Source: gitrepository-layout(5), `objects/info/alternates`; Gitaly's object pools for the marks of a pool. A lender
holds no list of its borrowers, so only those among the given repositories are known, and those that the caller
remembers. Object stores are told apart by device and inode, for paths differ by links and mounts. Pure: alternates have
been followed already, by inspection.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gitdash.model.inspection import Alternate, AlternatesFacts, ObjectStore
from gitdash.model.repository import Role, StorageLayout, Unreadable

StoreIdentity = tuple[int, int]
"""(device, inode) of an `objects` directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEntry:
    """What the graph needs to know of one repository."""

    path: bytes
    """Its identity, as in `Repository.path`."""
    object_store: ObjectStore | Unreadable
    alternates: AlternatesFacts | Unreadable | None
    """None if there is no alternates file."""
    layout: StorageLayout = StorageLayout.PLAIN
    has_dangling_namespace: bool = False
    is_linked_worktree: bool = False
    """Its object store is another repository's, which stands for both if it is known, too."""


@dataclass(frozen=True, slots=True)
class PoolGraph:
    """The lending and borrowing among some repositories. A path that is not among them is a KeyError."""

    _entries: dict[bytes, PoolEntry]
    _keeper: dict[StoreIdentity, bytes]
    """The repository that stands for each object store."""
    _borrowers: dict[StoreIdentity, tuple[bytes, ...]] = field(default_factory=dict)

    def roles(self, path: bytes) -> tuple[Role, ...]:
        """Return what a repository is to others; never empty.

        An alternates file that cannot be read makes a member: it says that there is a lender, if not which.
        """
        entry = self._entries[path]
        is_pool = (
            entry.layout is StorageLayout.GITLAB_POOL or entry.has_dangling_namespace or bool(self.borrowers(path))
        )
        is_member = isinstance(entry.alternates, Unreadable) or bool(_alternates(entry))
        roles = (Role.MEMBER,) * is_member + (Role.POOL,) * is_pool
        return roles or (Role.PLAIN,)

    def keeper(self, path: bytes) -> bytes:
        """Return the repository that stands for the object store of this one: itself, or another that shares it."""
        identity = _identity(self._entries[path])
        return path if identity is None else self._keeper[identity]

    def borrowers(self, path: bytes) -> tuple[bytes, ...]:
        """Return who borrows from this store, directly or through another, sorted; each borrowing store once."""
        identity = _identity(self._entries[path])
        return () if identity is None else self._borrowers.get(identity, ())

    def lenders(self, path: bytes) -> tuple[bytes, ...]:
        """Return the known repositories whose stores this one borrows from, in git's order."""
        identities = (_alternate_identity(alternate) for alternate in _alternates(self._entries[path]))
        return tuple(self._keeper[identity] for identity in identities if identity in self._keeper)

    def repository_of(self, alternate: Alternate) -> bytes | None:
        """Return the repository that stands for a lender's object store; None if none is known."""
        identity = _alternate_identity(alternate)
        return None if identity is None else self._keeper.get(identity)

    def unknown_lenders(self, path: bytes) -> tuple[Alternate, ...]:
        """Return the alternates that are on disk and belong to no known repository: they lie outside the roots."""
        return tuple(
            alternate
            for alternate in _alternates(self._entries[path])
            if alternate.exists and _alternate_identity(alternate) not in self._keeper
        )

    def counts_store(self, path: bytes) -> bool:
        """Say whether this repository stands for its object store in totals; one that is unreadable counts itself."""
        identity = _identity(self._entries[path])
        return identity is None or self._keeper[identity] == path


def pool_graph(
    entries: Iterable[PoolEntry], others: Mapping[StoreIdentity, Iterable[bytes]] | None = None
) -> PoolGraph:
    """Build the graph; the order of the entries does not matter.

    `others` are paths of repositories that borrow from a store, and are not among the entries.
    """
    by_path = {entry.path: entry for entry in entries}
    keeper = _keepers(by_path.values())
    borrowers = _borrowers_by_store(by_path.values(), keeper)
    for identity, paths in (others or {}).items():
        borrowers[identity] = tuple(sorted({*borrowers.get(identity, ()), *paths}))
    return PoolGraph(by_path, keeper, borrowers)


def _keepers(entries: Iterable[PoolEntry]) -> dict[StoreIdentity, bytes]:
    """Choose for each store the first by path, a repository before its linked worktrees."""
    keeper: dict[StoreIdentity, bytes] = {}
    for entry in sorted(entries, key=lambda entry: (entry.is_linked_worktree, entry.path)):
        identity = _identity(entry)
        if identity is not None:
            keeper.setdefault(identity, entry.path)
    return keeper


def _borrowers_by_store(
    entries: Iterable[PoolEntry], keeper: dict[StoreIdentity, bytes]
) -> dict[StoreIdentity, tuple[bytes, ...]]:
    known = tuple(entries)
    stores = [entry.object_store for entry in known]
    by_path = {store.path: (store.device, store.inode) for store in stores if not isinstance(store, Unreadable)}
    borrowers: dict[StoreIdentity, set[bytes]] = {}
    for entry in known:
        own = _identity(entry)
        borrower = entry.path if own is None else keeper[own]
        for alternate in _alternates(entry):
            # a store in the folder of another is as good as that one's: what is removed there is missed here
            for lender in (_alternate_identity(alternate), by_path.get(alternate.path.rpartition(b"/")[0])):
                if lender is not None and lender != own:
                    borrowers.setdefault(lender, set()).add(borrower)
    return {lender: tuple(sorted(paths)) for lender, paths in borrowers.items()}


def _identity(entry: PoolEntry) -> StoreIdentity | None:
    store = entry.object_store
    return None if isinstance(store, Unreadable) else (store.device, store.inode)


def _alternates(entry: PoolEntry) -> Sequence[Alternate]:
    return entry.alternates.alternates if isinstance(entry.alternates, AlternatesFacts) else ()


def _alternate_identity(alternate: Alternate) -> StoreIdentity | None:
    if alternate.device is None or alternate.inode is None:
        return None
    return alternate.device, alternate.inode
