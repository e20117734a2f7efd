"""What a decision to act needs besides a report: one record, read by `facts` and judged by `refusals`.

Values only. Nothing here reads or decides.
"""

import msgspec

from gitdash.history.records import GivenUp, Loan
from gitdash.model.task import Task


class HeldLock(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A lock, `gc.pid` or `maintenance.lock` that another process holds, or may hold."""

    path: str
    """Relative to the common directory. Printable."""
    since_s: float
    """When the file changed last, seconds since the epoch."""
    holder: str | None = None
    """`process 4711`, `process 4711 on host build7`; None if nobody knows. Printable."""
    left_by: str | None = None
    """Which job of gitdash left it, one clause; None if none is known to have. Printable."""


class StaleFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something of the kinds that commands leave behind when they are stopped."""

    path: str
    """Relative to the common directory. Printable."""
    bytes: int
    kept_because: str | None = None
    """Why sweep leaves it, one clause; None if it goes. Printable."""


class Droppable(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What RECLAIM would drop now."""

    count: int
    """Objects."""
    bytes: int
    """On disk, as they lie there now."""
    is_exact: bool
    """False if this is the most that it can be."""


class Neighbourhood(msgspec.Struct, frozen=True, kw_only=True):
    """Who may need the objects of a repository."""

    paths: frozenset[bytes] = frozenset()
    """Repositories, and folders that may be some; not the one that it is about."""
    loans: tuple[Loan, ...] = ()
    """What others borrowed from it when they were last seen, whether they are there now or not."""
    given_up: frozenset[GivenUp] = frozenset()
    """Git directories of which a person said that what is missing there is gone for good."""
    objection: str | None = None
    """What keeps these from being all that there are, one clause; None if nothing that can be told. Printable."""
    searched: tuple[bytes, ...] = ()
    """Folders below which they were looked for now."""


NOBODY_LOOKED_FOR = Neighbourhood()
"""For tasks that take nothing from anybody."""


class ActionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks for or against acting on one repository now, and is not in its report."""

    read_at_s: float
    """Seconds since the epoch."""
    git_version: tuple[int, ...]
    """Such as (2, 39, 5)."""
    effective_uid: int
    owner_uid: int | None
    """Of the `objects` directory; None if it cannot be looked at."""
    free_bytes: int | None
    """For whoever is not root, on the volume of the object store; None if the file system does not say."""
    is_read_only_mode: bool = False
    """gitdash was told to change nothing."""
    is_mounted_read_only: bool = False
    lent_bytes_elsewhere: int = 0
    """What lenders on other file systems hold: no hard link leads there, so leaving them copies it."""
    objects_is_link: bool = False
    """`objects` is a symbolic link: other repositories may have the same store without saying so."""
    store_elsewhere: str | None = None
    """Who or what else has this object store, or borrows from it, one clause; None if nothing is known to.

    Printable.
    """
    remembered_borrower: str | None = None
    """Who borrowed from it when last seen, and what to do about that, one clause; None if nobody is known to have.

    Printable.
    """
    why_borrowers_are_unknown: str | None = None
    """What keeps anybody from knowing all who borrow, one clause; None if nothing that can be told. Printable."""
    searched_for_borrowers: tuple[str, ...] = ()
    """Folders below which borrowers were looked for. Printable."""
    has_server_info: bool = False
    """`objects/info/packs` is there: a server of files may need it to be right."""
    links: tuple[str, ...] = ()
    """Symbolic links at names through which git writes, `objects` apart; below the common directory. Printable."""
    has_unseen_names: bool = False
    """Not every name could be looked at for links."""
    linked_object: str | None = None
    """A pack, an index or a loose object that is a symbolic link, relative to the store. Printable."""
    shared_with_lender: str | None = None
    """What this store and a lender's have in common, one clause; None if nothing. Printable."""
    objection_to_lender: str | None = None
    """Why a lender's references cannot tell what it keeps, one clause; None if a walk has to tell. Printable."""
    pause: str | None = None
    """Where the pause marker stands: `gitdash.pause in config`, `the file gitdash.pause`; None if there is none."""
    worktree_with_references: str | None = None
    """A linked work tree that has references of its own. Printable."""
    operations: tuple[str, ...] = ()
    """Operations in progress in any work tree, such as `a rebase in /srv/x`. Printable."""
    maintenance_lock: HeldLock | None = None
    """`objects/maintenance.lock` of another process; this process's own does not count."""
    gc_pid: HeldLock | None = None
    """A `gc.pid` that git would honour: its process lives, or is on another host, and it is younger than 12 hours."""
    live_locks: tuple[HeldLock, ...] = ()
    """Other locks with a live holder, or too young to be called stale."""
    stale_files: tuple[StaleFile, ...] | None = None
    """What sweep looks at, with what becomes of it; None if nobody looked."""
    droppable: Droppable | None = None
    """None if nobody counted, or it cannot be told."""
    irregular_file: str | None = None
    """A file that git would open and might wait for, a FIFO say, or a config's include that cannot be followed; None if
    there is none. Printable."""
    has_reference_to_no_commit: bool = False
    """A reference leads to a blob or a tree, or git did not tell; asked only where pseudo-merges may be made."""
    broken_references: str | None = None
    """What git says of references that it cannot follow; None if all are whole, or git was not asked. Printable."""
    is_needed: tuple[tuple[Task, bool], ...] = ()
    """What `git maintenance is-needed --auto` answers for each task that it knows; empty before git 2.53."""

    def git_is_at_least(self, *version: int) -> bool:
        """Return whether git has what came with `version`."""
        return self.git_version >= version
