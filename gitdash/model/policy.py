"""Policy: the thresholds of all rules as one value. The defaults and their sources stand here, once."""

import msgspec


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds; config can set each, globally and by root. Ages are in seconds."""

    loose_limit: int = 1024
    """More loose objects than this is a finding (Gitaly `LooseObjectLimit`)."""
    loose_stale_age_s: float = 10 * 86_400.0
    """Older loose objects are stale (Gitaly `StaleObjectsGracePeriod`)."""
    loose_stale_limit: int = 1024
    """More stale loose objects than this is a finding (Gitaly `ShouldPruneObjects`)."""
    packs_outside_midx_minimum: int = 2
    """The least number of packs outside the multi-pack-index that is allowed (Gitaly `ShouldRepackObjects`)."""
    packs_outside_midx_log_base: float = 1.8
    """Allowed: ln(pack MiB) / ln(base) (Gitaly `ShouldRepackObjects`)."""
    pack_limit: int = 50
    """More packs than this slow every look-up (git `gc.autoPackLimit`)."""
    loose_references_minimum: int = 16
    """The least number of loose references that is a finding (Gitaly `ShouldRepackReferences`)."""
    loose_references_log_base: float = 1.15
    """Allowed: ln(packed bytes / 100) / ln(base) (Gitaly `ShouldRepackReferences`)."""
    reftable_factor: int = 2
    """Each table must be at least this many times the next one (git `REFTABLE_COMPACTION factor`)."""
    lock_age_s: float = 15 * 60.0
    """config, HEAD, alternates, commit-graph-chain and multi-pack-index locks (Gitaly stale data rules)."""
    reference_lock_age_s: float = 3_600.0
    """packed-refs, refs/**, reftable and index locks (Gitaly stale data rules)."""
    gc_pid_age_s: float = 12 * 3_600.0
    """git honours a `gc.pid` for 12 hours."""
    gc_log_age_s: float = 86_400.0
    """A younger `gc.log` stops automatic gc (git `gc.logExpiry`)."""
    keep_age_s: float = 7 * 86_400.0
    """`.keep` files of transfers (Gitaly stale data rules)."""
    temporary_file_age_s: float = 86_400.0
    """`tmp_*` below objects (Gitaly stale data rules)."""
    temporary_directory_age_s: float = 3 * 86_400.0
    """`tmp_objdir*` (Gitaly stale data rules)."""
    empty_reference_age_s: float = 86_400.0
    """Zero-length loose references (Gitaly stale data rules)."""
    duplicate_notice_bytes: int = 1 << 20
    """Own copies of the lender's objects above this are worth a repack of the member."""
    commit_graph_minimum_objects: int = 5_000
    """A repository with fewer objects does without commit-graph and bitmap: git walks 5,000 in about 10 ms."""
    large_object_count: int = 100_000
    """From here on a walk through the history is felt: a working clone wants a commit-graph, too, and a served
    repository without bitmap is a warning (git walks 100,000 objects of small trees in about 0.3 s)."""
    loose_references_warning_count: int = 1_000
    """This many loose references are a warning, for each is a file to open whenever all references are read."""
    temporary_warning_bytes: int = 100 << 20
    """Abandoned temporary files of this many bytes are a warning; fewer are a notice."""
