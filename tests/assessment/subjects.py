"""Subjects for the rules, made of values: a healthy bare repository, and changes to it."""

from typing import Any

import msgspec

from gitdash.assessment.rules import assess
from gitdash.assessment.subject import Subject
from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.finding import Finding
from gitdash.model.inspection import (
    Alternate,
    AlternatesFacts,
    BitmapFacts,
    BitmapSource,
    CommitGraphFacts,
    Inspection,
    LockFile,
    LooseFacts,
    MultiPackIndexFacts,
    ObjectFormat,
    ObjectStore,
    PackFacts,
    PackFile,
    ReferenceBackend,
    ReferenceFacts,
)
from gitdash.model.policy import Policy
from gitdash.model.repository import Repository, RepositoryKind, Role

NOW_S = 1_700_000_000.0
HOUR_S = 3_600.0
DAY_S = 86_400.0
MIB = 1 << 20

REPOSITORY = Repository(
    path=b"/srv/git/a.git",
    git_dir=b"/srv/git/a.git",
    common_dir=b"/srv/git/a.git",
    kind=RepositoryKind.BARE,
    root=b"/srv/git",
)
WORKING_CLONE = msgspec.structs.replace(
    REPOSITORY,
    path=b"/home/me/a",
    git_dir=b"/home/me/a/.git",
    common_dir=b"/home/me/a/.git",
    kind=RepositoryKind.WORKTREE,
)


def pack(name: str = "pack-1", **changes: Any) -> PackFile:
    facts = PackFile(name=name, bytes=1000, mtime_s=NOW_S - DAY_S, object_count=50, index_bytes=100)
    return msgspec.structs.replace(facts, **changes)


def pack_facts(**changes: Any) -> PackFacts:
    facts = PackFacts(
        packs=(pack(),),
        count=1,
        bytes=1000,
        kept_count=0,
        kept_bytes=0,
        cruft_count=0,
        cruft_bytes=0,
        promisor_count=0,
        index_bytes=100,
        derived_bytes=0,
        outside_midx_count=1,
        orphan_index_names=(),
        missing_index_names=(),
        keep_files=(),
        temporary_files=(),
        garbage_count=0,
        garbage_bytes=0,
    )
    return msgspec.structs.replace(facts, **changes)


def packs_of(object_count: int) -> PackFacts:
    """One pack with so many objects."""
    return pack_facts(packs=(pack(object_count=object_count),))


def loose_facts(**changes: Any) -> LooseFacts:
    facts = LooseFacts(
        count=0, bytes=0, stale_count=0, stale_bytes=0, garbage_count=0, garbage_bytes=0, shard_17_count=0
    )
    return msgspec.structs.replace(facts, **changes)


def reference_facts(**changes: Any) -> ReferenceFacts:
    return msgspec.structs.replace(ReferenceFacts(loose_count=1, packed_count=10, packed_bytes=700), **changes)


def config_facts(**changes: Any) -> ConfigFacts:
    facts = ConfigFacts(
        repository_format_version=0,
        unknown_extensions=(),
        precious_objects=False,
        partial_clone=False,
        gc_auto=None,
        multi_pack_index_disabled=False,
        bitmaps_disabled=False,
        scalar_enlistment=False,
        remotes=(),
        concerns=(),
    )
    return msgspec.structs.replace(facts, **changes)


def concern(key: str, effect: ConfigEffect, value: str = "now") -> ConfigConcern:
    return ConfigConcern(key=key, value=value, source="config", effect=effect, answer="overridden")


def bitmap(source: BitmapSource = BitmapSource.PACK) -> BitmapFacts:
    return BitmapFacts(
        name="pack-1.bitmap",
        source=source,
        version=1,
        commit_count=12,
        hash_cache=True,
        lookup_table=False,
        pseudo_merges=False,
        bytes=400,
        mtime_s=NOW_S - DAY_S,
    )


def commit_graph(**changes: Any) -> CommitGraphFacts:
    facts = CommitGraphFacts(chain_length=2, commit_count=2000, bloom_filters=True, generation_data=True)
    return msgspec.structs.replace(facts, **changes)


def multi_pack_index(**changes: Any) -> MultiPackIndexFacts:
    facts = MultiPackIndexFacts(version=1, pack_count=8, object_count=50, layer_count=1, missing_pack_count=0)
    return msgspec.structs.replace(facts, **changes)


def lender(path: bytes = b"/srv/git/pool.git/objects", **changes: Any) -> Alternate:
    return msgspec.structs.replace(Alternate(path=path, exists=True, depth=1), **changes)


def alternates(*lenders: Alternate, mtime_s: float = NOW_S - 30 * DAY_S) -> AlternatesFacts:
    return AlternatesFacts(alternates=lenders or (lender(),), mtime_s=mtime_s)


def lock(path: str, age_s: float, **changes: Any) -> LockFile:
    return msgspec.structs.replace(LockFile(path=path, mtime_s=NOW_S - age_s, bytes=0), **changes)


def inspection(**changes: Any) -> Inspection:
    """A healthy small repository: one pack, few references, nothing left over."""
    facts = Inspection(
        inspected_at_s=NOW_S,
        valid_until_s=None,
        fingerprint=b"f",
        object_store=ObjectStore(path=b"/srv/git/a.git/objects", device=1, inode=2),
        object_format=ObjectFormat.SHA1,
        reference_backend=ReferenceBackend.FILES,
        shallow=False,
        shallow_count=0,
        head="refs/heads/main",
        packs=pack_facts(),
        loose=loose_facts(),
        bitmaps=(),
        multi_pack_index=None,
        commit_graph=None,
        references=reference_facts(),
        alternates=None,
        locks=(),
        gc_log=None,
        gc_log_mtime_s=None,
        config=config_facts(),
        disk=DiskFacts(bytes=5000, allocated_bytes=8192, file_count=20, objects_bytes=1100),
        last_full_repack_s=NOW_S - DAY_S,
    )
    return msgspec.structs.replace(facts, **changes)


def subject(repository: Repository = REPOSITORY, **changes: Any) -> Subject:
    """A subject; names of Subject go to it, all others change the inspection."""
    own = {name: changes.pop(name) for name in list(changes) if name in Subject.__slots__}
    facts: dict[str, Any] = {"roles": (Role.PLAIN,), "inspection": inspection(**changes)}
    return Subject(repository=repository, **(facts | own))


def judge(judged: Subject, policy: Policy | None = None) -> tuple[Finding, ...]:
    return assess(judged, policy or Policy(), NOW_S)


def found(judged: Subject, policy: Policy | None = None) -> dict[str, str]:
    """Rule id to severity of all findings."""
    return {finding.rule: finding.severity.value for finding in judge(judged, policy)}


def finding_of(rule: str, judged: Subject, policy: Policy | None = None) -> Finding:
    """The one finding of a rule."""
    (finding,) = [finding for finding in judge(judged, policy) if finding.rule == rule]
    return finding
