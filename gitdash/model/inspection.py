"""The facts that inspection reads from files, without running git.

Names follow git's own words. Counts are bare nouns or end in `_count`; sizes end in `_bytes` or are `bytes`.
`mtime_s` is the modification time in seconds since the epoch.
"""

import enum

import msgspec

from gitdash.model.config_facts import ConfigFacts
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.repository import Unreadable
from gitdash.units import sum_bytes


class ObjectFormat(enum.StrEnum):
    """The hash function of a repository (`extensions.objectFormat`)."""

    SHA1 = "sha1"
    SHA256 = "sha256"


class ReferenceBackend(enum.StrEnum):
    """How references are stored (`extensions.refStorage`)."""

    FILES = "files"
    REFTABLE = "reftable"


TEMPORARY_PACK_PREFIX = ".tmp-"
"""What a stopped repack leaves: no object is in it alone."""


class PackFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One pack: a `*.pack` file, whatever its prefix (`pack-`, `loose-`, `from-loose-`, `prefetch-`)."""

    name: str
    """File name without `.pack`."""
    bytes: int
    """Size of the `.pack` file alone."""
    mtime_s: float
    object_count: int | None
    """From the index's fan-out; None if the pack has no readable index."""
    index_bytes: int
    """Size of the `.idx`; 0 if there is none."""
    kept: bool = False
    cruft: bool = False
    promisor: bool = False
    has_index: bool = True
    has_reverse_index: bool = False
    has_bitmap: bool = False
    in_multi_pack_index: bool = False


class KeepFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A `*.keep` file beside a pack."""

    name: str
    mtime_s: float
    by_transfer: bool
    """Its text starts with `receive-pack ` or `fetch-pack `: git wrote it during a transfer. Else a person's."""


class TemporaryFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an interrupted command left: `tmp_pack_*`, `tmp_obj_*`, `tmp_idx_*`, `.tmp-*`, `tmp_objdir*`."""

    path: str
    """Relative to the common directory."""
    bytes: int
    mtime_s: float
    is_directory: bool = False


class PackFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """`objects/pack` as a whole."""

    packs: tuple[PackFile, ...]
    """Sorted by name."""
    count: int
    bytes: int
    """Sum of the `.pack` files."""
    kept_count: int
    kept_bytes: int
    cruft_count: int
    """Cruft packs that are not kept (keep wins, as in git)."""
    cruft_bytes: int
    promisor_count: int
    index_bytes: int
    """Sum of the `.idx` files that belong to a pack."""
    derived_bytes: int
    """Sum of `.rev`, `.bitmap`, `.mtimes` and multi-pack-index files."""
    outside_midx_count: int
    """Packs that the multi-pack-index does not name; all packs if there is none."""
    orphan_index_names: tuple[str, ...]
    """`.idx` files without a pack."""
    missing_index_names: tuple[str, ...]
    """Packs without an `.idx`: git does not see their objects."""
    keep_files: tuple[KeepFile, ...]
    temporary_files: tuple[TemporaryFile, ...]
    """Below `objects/pack`. Those that are no packs are garbage as well. What a stopped repack left with an index is
    none of them: git reads it as any pack."""
    garbage_count: int
    """Entries that are none of git's file kinds, temporary files included, orphan index files not."""
    garbage_bytes: int
    unreadable_names: tuple[str, ...] = ()
    """Files whose header could not be read or is damaged; `problems` in Inspection has the reasons."""


class LooseFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The shards `objects/00` to `objects/ff`."""

    count: int
    bytes: int
    stale_count: int
    """Older than the policy's grace period at `Inspection.inspected_at_s`; part of `count`."""
    stale_bytes: int
    garbage_count: int
    """Files whose name is not lower-case hex; temporary files included."""
    garbage_bytes: int
    shard_17_count: int
    """Files in `objects/17`: git multiplies it by 256 to estimate the number of loose objects."""
    temporary_files: tuple[TemporaryFile, ...] = ()
    """`tmp_obj_*` in shards and directly below `objects`, and `tmp_objdir*` directories."""


class BitmapSource(enum.StrEnum):
    """What kind of index a bitmap belongs to."""

    PACK = "pack"
    MULTI_PACK_INDEX = "multi_pack_index"


class BitmapFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """One `.bitmap` file."""

    name: str
    source: BitmapSource
    version: int
    commit_count: int
    """Commits that have a bitmap of their own."""
    hash_cache: bool
    lookup_table: bool
    pseudo_merges: bool
    bytes: int
    mtime_s: float


class MultiPackIndexFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The multi-pack-index, or its incremental chain."""

    version: int
    pack_count: int
    object_count: int
    layer_count: int
    """1 for a single file; the number of layers of a chain."""
    missing_pack_count: int
    """Packs that it names and that are not on disk."""
    has_reverse_index: bool = False
    bytes: int = 0


class CommitGraphFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """The commit-graph, or its chain, with properties that all layers share."""

    chain_length: int
    """Number of layers of the chain; 0 for a single file."""
    commit_count: int
    bloom_filters: bool
    """Changed-path filters in every layer."""
    generation_data: bool
    """Corrected commit dates in every layer."""
    missing_layer_count: int = 0
    bytes: int = 0


class ReferenceFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """References of the common directory."""

    loose_count: int
    """Files below `refs/`, without lock files; 0 for reftable."""
    packed_count: int | None
    """None for reftable: counting them would need the tables' contents."""
    packed_bytes: int
    """Size of `packed-refs`; 0 if absent or reftable."""
    unlisted_count: int = 0
    """How many of those two counts git does not list: packed ones that a loose one of the same name hides, and loose
    ones that are empty files."""
    empty_loose_names: tuple[str, ...] = ()
    """Zero-length loose references, at most 20: what a power loss leaves."""
    empty_loose_count: int = 0
    """All of them."""
    empty_loose_oldest_mtime_s: float | None = None
    has_dangling_namespace: bool = False
    """`refs/dangling/*` exists: the mark of a Gitaly object pool."""
    reftable_bytes: tuple[int, ...] = ()
    """Sizes of the tables in the order of `tables.list`; empty for the files backend."""
    reftable_missing_count: int = 0
    """Tables that are listed and not on disk."""
    reftable_unlisted_count: int = 0
    """Files in `reftable/` that are not in `tables.list`."""

    @property
    def count(self) -> int | None:
        """References as git lists them, but for loose ones that only a look into them tells are broken.

        None for reftable.
        """
        return None if self.packed_count is None else self.loose_count + self.packed_count - self.unlisted_count


class Alternate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object store that this repository borrows from, directly or through another."""

    path: bytes
    """Absolute, symlinks resolved where it exists: the lender's `objects` directory."""
    exists: bool
    depth: int
    """1 for an entry of the repository's own alternates file."""
    problem: str | None = None
    """Why git cannot use it: missing, unreadable, not a directory, nested too deep."""
    device: int | None = None
    inode: int | None = None
    """Identity of the directory; None if it does not exist."""


class AlternatesFacts(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """`objects/info/alternates`, followed to git's depth."""

    alternates: tuple[Alternate, ...]
    """In git's order; without duplicates and without the store itself."""
    mtime_s: float
    """Of the repository's own alternates file."""
    comment_count: int = 0
    incomplete: str | None = None
    """Why stores may be missing from the list, such as a lender's alternates file that cannot be read; None if none."""


class LockFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A lock, or `gc.pid`."""

    path: str
    """Relative to the git directory."""
    mtime_s: float
    bytes: int
    holder_pid: int | None = None
    """A live process that has it open, or that `gc.pid` names; None if none was seen."""
    holder_host: str | None = None
    """The host that `gc.pid` names, if it is another one."""


class ObjectStore(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """The identity of an `objects` directory: totals count each once."""

    path: bytes
    """Real path."""
    device: int
    inode: int


class Problem(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A file that could not be read or is damaged. It costs its own cell, never the row."""

    path: str
    """Relative to the common directory."""
    reason: str
    file_count: int = 1
    """How many files it stands for; more than one without a path."""


class Inspection(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Everything that the files of one repository say."""

    inspected_at_s: float
    valid_until_s: float | None
    """When a fact that depends on an age changes of itself; None if no fact does."""
    fingerprint: bytes
    """Digest of folder mtimes and of the mtime and size of every file outside `objects`: equal means unchanged."""
    object_store: ObjectStore | Unreadable
    object_format: ObjectFormat
    reference_backend: ReferenceBackend
    shallow: bool
    shallow_count: int
    """Commits in the shallow file."""
    head: str | Unreadable | None
    """`refs/heads/main`, or a commit id if detached; None for reftable, whose tables only git reads."""
    packs: PackFacts | Unreadable
    loose: LooseFacts | Unreadable
    bitmaps: tuple[BitmapFacts, ...]
    """Local ones, multi-pack bitmaps first."""
    multi_pack_index: MultiPackIndexFacts | Unreadable | None
    commit_graph: CommitGraphFacts | Unreadable | None
    references: ReferenceFacts | Unreadable
    alternates: AlternatesFacts | Unreadable | None
    """None if there is no alternates file."""
    locks: tuple[LockFile, ...]
    gc_log: str | None
    """First line of `gc.log`, at most 200 characters; None if absent or empty."""
    gc_log_mtime_s: float | None
    config: ConfigFacts | Unreadable
    disk: DiskFacts | Unreadable
    last_full_repack_s: float | None
    """Gitaly's `.gitaly-full-repack-timestamp`, else the mtime of the oldest pack that is neither kept nor cruft."""
    filesystem_type: str | None = None
    """From the mount table (`ext4`, `nfs4`); None if unknown."""
    problems: tuple[Problem, ...] = ()
    watched: bytes = b""
    """The paths whose lstat(2) the fingerprint is made of; empty if only a walk can tell whether anything changed."""
    left_out_lock_count: int = 0
    """Locks of references that are not in `locks`, where these would be too many: without a holder, and older than
    those that are, but for the oldest."""

    @property
    def alternate_stores(self) -> tuple[Alternate, ...]:
        """The object stores that are borrowed from, nested ones included; none if they cannot be read."""
        return self.alternates.alternates if isinstance(self.alternates, AlternatesFacts) else ()

    @property
    def objects_bytes(self) -> int | Unreadable:
        """What packs and loose objects take, reachable or not."""
        if isinstance(self.packs, Unreadable):
            return self.packs
        return self.loose if isinstance(self.loose, Unreadable) else sum_bytes((self.packs.bytes, self.loose.bytes))
