"""A fixed fleet for the dashboard's tests: made of values, without git and disk, at a fixed time.

Its names include what a scanned folder can be called to do harm.
"""

from collections.abc import Iterator, Sequence

from gitdash.export.family import Family
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.finding import Finding, Severity
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
    Problem,
    ReferenceBackend,
    ReferenceFacts,
)
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import summarize

NOW_S = 1_750_000_000.0
ROOT = b"/srv/git"

HOSTILE_NAMES = (
    b"[/]",
    b"[@click=app.quit]x[/]",
    b"\x1b]52;c;cHduZWQ=\x07",
    b"\x1b[2Jcleared",
    "\u202efdp.tig".encode(),
    "\x9b31mC1".encode(),
    b"new\nline",
    b"nul\x01",
    b"-rf",
    b"caf\xe9",
    "日本語のリポジトリ".encode(),
    "emoji-🚀".encode(),
    b"long-" + b"x" * 300,
    b"$(touch pwned)",
)


def pack_facts(count: int, size_bytes: int, *, outside: int = 0, garbage_bytes: int = 0) -> PackFacts:
    """`objects/pack` with so many packs."""
    return PackFacts(
        packs=(),
        count=count,
        bytes=size_bytes,
        kept_count=0,
        kept_bytes=0,
        cruft_count=0,
        cruft_bytes=0,
        promisor_count=0,
        index_bytes=size_bytes // 20,
        derived_bytes=0,
        outside_midx_count=outside,
        orphan_index_names=(),
        missing_index_names=(),
        keep_files=(),
        temporary_files=(),
        garbage_count=1 if garbage_bytes else 0,
        garbage_bytes=garbage_bytes,
    )


def inspection(
    *,
    packs: PackFacts | Unreadable,
    loose_count: int = 0,
    bitmap: BitmapSource | None = None,
    references: int = 12,
    alternates: Sequence[bytes] = (),
    inode: int = 1,
    locks: tuple[LockFile, ...] = (),
    problems: tuple[Problem, ...] = (),
    inspected_ago_s: float = 45,
    object_format: ObjectFormat = ObjectFormat.SHA1,
) -> Inspection:
    """Facts of one repository."""
    pack_bytes = 0 if isinstance(packs, Unreadable) else packs.bytes
    loose = LooseFacts(
        count=loose_count,
        bytes=loose_count * 412,
        stale_count=loose_count // 3,
        stale_bytes=loose_count * 137,
        garbage_count=0,
        garbage_bytes=0,
        shard_17_count=loose_count // 256,
    )
    return Inspection(
        inspected_at_s=NOW_S - inspected_ago_s,
        valid_until_s=None,
        fingerprint=b"f",
        object_store=ObjectStore(path=b"/o/%d" % inode, device=1, inode=inode),
        object_format=object_format,
        reference_backend=ReferenceBackend.FILES,
        shallow=False,
        shallow_count=0,
        head="refs/heads/main",
        packs=packs,
        loose=loose,
        bitmaps=(_bitmap(bitmap),) if bitmap else (),
        multi_pack_index=MultiPackIndexFacts(
            version=1, pack_count=3, object_count=41_233, layer_count=1, missing_pack_count=0
        )
        if bitmap is BitmapSource.MULTI_PACK_INDEX
        else None,
        commit_graph=CommitGraphFacts(
            chain_length=0, commit_count=9_120, bloom_filters=bool(bitmap), generation_data=True
        ),
        references=ReferenceFacts(loose_count=2, packed_count=references - 2, packed_bytes=references * 60),
        alternates=AlternatesFacts(
            alternates=tuple(Alternate(path=path, exists=True, depth=1) for path in alternates),
            mtime_s=NOW_S - 86_400,
        )
        if alternates
        else None,
        locks=locks,
        gc_log=None,
        gc_log_mtime_s=None,
        config=ConfigFacts(
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
        ),
        disk=DiskFacts(
            bytes=pack_bytes + loose_count * 412 + 48_000,
            allocated_bytes=pack_bytes + loose_count * 4096 + 90_112,
            file_count=loose_count + 38,
            objects_bytes=pack_bytes + loose_count * 412,
        ),
        last_full_repack_s=None,
        problems=problems,
    )


def _bitmap(source: BitmapSource) -> BitmapFacts:
    return BitmapFacts(
        name="x.bitmap",
        source=source,
        version=1,
        commit_count=312,
        hash_cache=True,
        lookup_table=False,
        pseudo_merges=False,
        bytes=90_000,
        mtime_s=NOW_S - 86_400,
    )


def measured(question: Question, size_bytes: int, *, exact: bool = True, age_s: float = 7_200) -> SizeMeasurement:
    """One answer of git."""
    return SizeMeasurement(
        question=question,
        bytes=size_bytes,
        strategy=Strategy.BITMAP if exact else Strategy.WALK,
        exact=exact,
        elapsed_s=3.61,
        measured_at_s=NOW_S - age_s,
        argv=("git", "rev-list"),
        git_version="2.47.3",
    )


def exclusive(exclusive_bytes: int, duplicate_bytes: int = 0, duplicate_count: int = 0) -> ExclusiveSizes:
    """The index difference."""
    return ExclusiveSizes(
        exclusive_bytes=exclusive_bytes,
        exclusive_count=1_000,
        duplicate_bytes=duplicate_bytes,
        duplicate_count=duplicate_count,
        elapsed_s=0.11,
        measured_at_s=NOW_S - 45,
    )


def finding(rule: str, severity: Severity, summary: str, remedy: str, formula: str | None = None) -> Finding:
    """One judgement."""
    return Finding(rule=rule, severity=severity, summary=summary, remedy=remedy, formula=formula)


def report(
    name: bytes,
    facts: Inspection | Unreadable,
    *,
    kind: RepositoryKind = RepositoryKind.BARE,
    roles: tuple[Role, ...] = (Role.PLAIN,),
    sizes: Sizes | None = None,
    findings: tuple[Finding, ...] = (),
    state: State = State.OK,
    borrowers: tuple[bytes, ...] = (),
    counts_store: bool = True,
) -> RepositoryReport:
    """Everything known of one repository below ROOT."""
    path = ROOT + b"/" + name
    git_dir = {
        RepositoryKind.BARE: path,
        RepositoryKind.WORKTREE: path + b"/.git",
        RepositoryKind.LINKED_WORKTREE: ROOT + b"/clones/gitdash/.git/worktrees/review",
        RepositoryKind.SUBMODULE: path,
    }[kind]
    return RepositoryReport(
        repository=Repository(path=path, git_dir=git_dir, common_dir=git_dir, kind=kind, root=ROOT),
        roles=roles,
        borrowers=borrowers,
        inspection=facts,
        sizes=sizes or Sizes(),
        findings=findings,
        state=state,
        counts_store=counts_store,
    )


MIB = 1 << 20
_POOL = b"@pools/4b/22/4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a.git"
_MEMBER = b"@hashed/6b/86/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b.git"

PACKS_OUTSIDE = finding(
    "packs-outside-midx",
    Severity.WARNING,
    "37 packs outside the multi-pack-index, 6 allowed at 56.0 MiB",
    "`git repack --geometric=2 -d -l --write-midx`",
)
STALE_LOCK = finding(
    "stale-lock",
    Severity.CRITICAL,
    "packed-refs.lock, 2h old, no process seen holding it; stops packing and deleting references",
    "see that no git runs here, on any host that mounts it, then remove the file",
)
DUPLICATES = finding(
    "duplicate-objects",
    Severity.NOTICE,
    "4.41 MiB in 504 objects are stored here although a lender has them",
    "`git repack -a -d -l -k`, when the lender is seen to keep those objects reachable",
    formula="4,624,221 > 1,048,576 bytes",
)
MISSING_LENDER = finding(
    "missing-lender",
    Severity.CRITICAL,
    "1 lender cannot be used: /srv/git/@pools/gone.git/objects (missing)",
    "bring the lender back to that path, or write its new path into objects/info/alternates; do not repack before",
)
NO_BITMAP = finding(
    "no-bitmap",
    Severity.NOTICE,
    "no bitmap for 655k objects",
    "`git repack --geometric=2 -d -l --write-midx --write-bitmap-index`",
)
LOOSE = finding(
    "loose-objects",
    Severity.WARNING,
    "541k loose objects of 213 MiB, more than 1,024",
    "`git repack -d -l` packs the reachable ones, `git repack --geometric=2 -d -l` all",
)


def fixed_reports() -> Iterator[RepositoryReport]:
    """The fleet: every state, role and kind, what is unreadable, absent, unmeasured or bounded, and hostile names."""
    lock = LockFile(path="packed-refs.lock", mtime_s=NOW_S - 7_200, bytes=0)
    yield report(
        _POOL,
        inspection(packs=pack_facts(2, 1230 * MIB), bitmap=BitmapSource.PACK, references=21_043, inode=1),
        roles=(Role.POOL,),
        sizes=Sizes(
            exclusive=exclusive(1231 * MIB),
            reachable=measured(Question.REACHABLE, 1229 * MIB),
            reachable_own=measured(Question.REACHABLE_OWN, 1229 * MIB),
        ),
        borrowers=(ROOT + b"/" + _MEMBER,),
    )
    yield report(
        _MEMBER,
        inspection(
            packs=pack_facts(37, 56 * MIB, outside=37), alternates=(ROOT + b"/" + _POOL + b"/objects",), inode=2
        ),
        roles=(Role.MEMBER,),
        sizes=Sizes(
            exclusive=exclusive(54_186_002, 4_624_221, 504),
            reachable=measured(Question.REACHABLE, 1284 * MIB),
            reachable_own=measured(Question.REACHABLE_OWN, 58_810_223, exact=False),
        ),
        findings=(PACKS_OUTSIDE, DUPLICATES),
        state=State.WARNING,
    )
    yield report(
        b"infra/deploy.git",
        inspection(packs=pack_facts(4, 812 * MIB), loose_count=541_000, locks=(lock,), inode=3),
        sizes=Sizes(exclusive=exclusive(1024 * MIB)),
        findings=(STALE_LOCK, LOOSE, NO_BITMAP),
        state=State.CRITICAL,
    )
    yield report(
        b"mirror/linux.git",
        inspection(
            packs=pack_facts(3, 4_810 * MIB),
            bitmap=BitmapSource.MULTI_PACK_INDEX,
            references=655_136,
            inode=4,
            inspected_ago_s=5 * 3_600,
        ),
        roles=(Role.MEMBER, Role.POOL),
        sizes=Sizes(
            exclusive=exclusive(4_700 * MIB),
            reachable=measured(Question.REACHABLE, 4_790 * MIB, age_s=3 * 86_400),
            reachable_own=measured(Question.REACHABLE_OWN, 4_790 * MIB, age_s=3 * 86_400),
        ),
    )
    yield report(
        b"team/api.git",
        inspection(packs=pack_facts(1, 12 * MIB), alternates=(b"/srv/git/@pools/gone.git/objects",), inode=5),
        roles=(Role.MEMBER,),
        sizes=Sizes(
            exclusive=Unreadable("the lender is missing"),
            reachable=Unreadable("the lender is missing"),
            reachable_own=Unreadable("the lender is missing"),
        ),
        findings=(MISSING_LENDER,),
        state=State.CRITICAL,
    )
    yield report(
        b"team/web.git",
        inspection(packs=pack_facts(1, 655 * MIB), references=310, inode=6),
        findings=(NO_BITMAP,),
        state=State.NOTICE,
    )
    yield report(b"lost.git", Unreadable("permission denied"), state=State.UNREADABLE)
    yield report(
        b"damaged.git",
        inspection(
            packs=Unreadable("permission denied"),
            problems=(Problem(path="objects/pack", reason="permission denied"),),
            inode=8,
        ),
        state=State.WARNING,
        findings=(
            finding("unreadable-part", Severity.WARNING, "objects/pack: permission denied", "give read access to it"),
        ),
    )
    yield report(b"clones/gitdash", inspection(packs=pack_facts(1, 3 * MIB), inode=9), kind=RepositoryKind.WORKTREE)
    yield report(
        b"clones/gitdash-review",
        inspection(packs=pack_facts(1, 3 * MIB), inode=9),
        kind=RepositoryKind.LINKED_WORKTREE,
        counts_store=False,
    )
    yield report(
        b"clones/gitdash/.git/modules/themes",
        inspection(packs=pack_facts(1, MIB), inode=10),
        kind=RepositoryKind.SUBMODULE,
    )
    yield report(
        b"other/owner.git",
        inspection(packs=pack_facts(1, 2 * MIB), inode=11, object_format=ObjectFormat.SHA256),
        state=State.FOREIGN,
    )
    yield report(b"empty.git", inspection(packs=pack_facts(0, 0), references=2, inode=12))
    for number, name in enumerate(HOSTILE_NAMES):
        yield report(b"strange/" + name, inspection(packs=pack_facts(1, (number + 1) * MIB), inode=20 + number))


def fixed_summaries() -> list[RepositorySummary]:
    """The rows of the fixed fleet."""
    return [summarize(entry) for entry in fixed_reports()]


def many_summaries(count: int) -> list[RepositorySummary]:
    """A large fleet of plausible rows, the same each time."""
    states = (State.OK, State.OK, State.OK, State.NOTICE, State.WARNING, State.CRITICAL)
    template = fixed_summaries()[1]
    rows = []
    for number in range(count):
        state = states[number * 7 % len(states)]
        name = f"@hashed/{number % 256:02x}/{number // 256 % 256:02x}/{number:064x}.git"
        rows.append(
            RepositorySummary(
                path=ROOT + b"/" + name.encode(),
                name=name,
                root=ROOT,
                kind=RepositoryKind.BARE,
                role=("plain", "member", "pool")[number % 3],
                state=state,
                disk_bytes=number * 7_919 % 900_000_007,
                exclusive_bytes=number * 104_729 % 900_000_007,
                duplicate_bytes=number % 5_000,
                reachable_bytes=None if number % 4 else number * 1_299_709 % 900_000_007,
                reachable_own_bytes=None,
                objects_bytes=number * 7_919 % 900_000_007,
                pack_count=number % 60,
                pack_bytes=number * 7_919 % 900_000_007,
                outside_midx_count=number % 60,
                loose_count=number * 31 % 5_000,
                loose_stale_count=0,
                bitmap=(None, "pack", "midx", "lender")[number % 4],
                reference_count=number * 17 % 70_000,
                borrower_count=0,
                alternate_count=0,
                garbage_bytes=0,
                object_format="sha1",
                finding_count=0 if state is State.OK else 1,
                worst_rule=None if state is State.OK else "packs-outside-midx",
                worst_summary=None if state is State.OK else template.worst_summary,
                inspected_at_s=NOW_S - number % 90_000,
            )
        )
    return rows


def no_family() -> Family:
    """That of a repository which neither lends nor borrows."""
    return Family(path=ROOT + b"/alone", summary=None, lenders=(), members=())
