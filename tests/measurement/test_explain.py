"""What `--explain` says has the numbers of the repository in it."""

import msgspec
import pytest

from gitdash.measurement.explain import HOW_GIT_RAN, explain_difference, explain_size, why_no_bitmap
from gitdash.measurement.strategy import StrategyFacts, choose_strategy
from gitdash.model.disk_facts import DiskFacts
from gitdash.model.inspection import (
    Alternate,
    AlternatesFacts,
    BitmapFacts,
    BitmapSource,
    Inspection,
    LooseFacts,
    ObjectFormat,
    ObjectStore,
    PackFacts,
    ReferenceBackend,
)
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy

REACHABLE = SizeMeasurement(
    question=Question.REACHABLE,
    bytes=5000,
    strategy=Strategy.BITMAP,
    exact=True,
    elapsed_s=0.004,
    measured_at_s=0.0,
    argv=("git", "rev-list", "--objects"),
    git_version="2.39.5",
    excluded_references=("refs/keep-around/*",),
    notes=("something to know",),
)
OWN = msgspec.structs.replace(
    REACHABLE, question=Question.REACHABLE_OWN, bytes=800, strategy=Strategy.WALK, exact=False, excluded_references=()
)
EXCLUSIVE = ExclusiveSizes(
    exclusive_bytes=700,
    exclusive_count=7,
    duplicate_bytes=200,
    duplicate_count=2,
    redundant_bytes=50,
    redundant_count=1,
    elapsed_s=0.0,
    measured_at_s=0.0,
)
INSPECTION = Inspection(
    inspected_at_s=0.0,
    valid_until_s=None,
    fingerprint=b"",
    object_store=ObjectStore(path=b"/r/objects", device=1, inode=1),
    object_format=ObjectFormat.SHA1,
    reference_backend=ReferenceBackend.FILES,
    shallow=False,
    shallow_count=0,
    head="refs/heads/main",
    packs=PackFacts(
        packs=(),
        count=1,
        bytes=900,
        kept_count=0,
        kept_bytes=0,
        cruft_count=0,
        cruft_bytes=0,
        promisor_count=0,
        index_bytes=0,
        derived_bytes=0,
        outside_midx_count=0,
        orphan_index_names=(),
        missing_index_names=(),
        keep_files=(),
        temporary_files=(),
        garbage_count=0,
        garbage_bytes=0,
    ),
    loose=LooseFacts(
        count=1, bytes=82, stale_count=0, stale_bytes=0, garbage_count=0, garbage_bytes=0, shard_17_count=0
    ),
    bitmaps=(),
    multi_pack_index=None,
    commit_graph=None,
    references=Unreadable("not looked at"),
    alternates=AlternatesFacts(alternates=(), mtime_s=0.0),
    locks=(),
    gc_log=None,
    gc_log_mtime_s=None,
    config=Unreadable("not looked at"),
    disk=DiskFacts(bytes=2000, allocated_bytes=4096, file_count=9, objects_bytes=1500),
    last_full_repack_s=None,
)

BITMAP = BitmapFacts(
    name="pack-1.bitmap",
    mtime_s=0.0,
    source=BitmapSource.PACK,
    version=1,
    hash_cache=False,
    lookup_table=False,
    pseudo_merges=False,
    commit_count=1,
    bytes=100,
)


def report(inspection: Inspection | Unreadable, **sizes: object) -> RepositoryReport:
    return RepositoryReport(
        repository=Repository(path=b"/r", git_dir=b"/r", common_dir=b"/r", kind=RepositoryKind.BARE, root=b"/"),
        roles=(Role.MEMBER,),
        borrowers=(),
        inspection=inspection,
        sizes=Sizes(**sizes),  # type: ignore[arg-type]
        findings=(),
        state=State.OK,
    )


def test_one_size_is_explained_with_strategy_reason_cost_and_command() -> None:
    choice = choose_strategy(Question.REACHABLE, None, StrategyFacts(has_alternates_file=True))
    assert explain_size(choice, REACHABLE) == (
        "question: reachable: everything that the references reach: what a full clone costs on disk",
        f"strategy: bitmap: {choice.reason}",
        f"cost: {choice.cost}",
        "answer: 5,000 bytes (4.88 KiB), exact, in 4 ms",
        "left out: references that match refs/keep-around/*",
        "command: git rev-list --objects",
        f"  {HOW_GIT_RAN}",
        "note: something to know",
    )


def test_answer_by_another_strategy_is_said() -> None:
    choice = choose_strategy(Question.REACHABLE, None, StrategyFacts(has_alternates_file=True))
    assert "in the end: walk gave the answer; the notes say why" in explain_size(choice, OWN)


@pytest.mark.parametrize(
    ("changes", "lender_bitmap", "reason"),
    [
        ({"alternates": None}, None, "there is no bitmap here"),
        ({}, None, "there is no bitmap here nor in a lender"),
        ({"shallow": True, "bitmaps": (BITMAP,)}, None, "git uses no bitmap in a shallow repository"),
        ({"bitmaps": (BITMAP,)}, None, None),
        ({}, BITMAP, None),
    ],
)
def test_it_is_known_why_git_uses_no_bitmap(
    changes: dict[str, object], lender_bitmap: BitmapFacts | None, reason: str | None
) -> None:
    inspection = msgspec.structs.replace(INSPECTION, **changes)
    assert why_no_bitmap(msgspec.structs.replace(report(inspection), lender_bitmap=lender_bitmap)) == reason
    assert why_no_bitmap(report(Unreadable("gone"))) is None


@pytest.mark.parametrize("strategy", [Strategy.BITMAP, Strategy.UNION])
def test_where_there_is_no_bitmap_a_walk_is_explained(strategy: Strategy) -> None:
    facts = StrategyFacts(has_alternates_file=True)
    choice = choose_strategy(Question.REACHABLE_OWN, strategy, facts)
    told = explain_size(choice, OWN, no_bitmap="there is no bitmap here")
    assert told[1] == f"strategy: {strategy.value}: there is no bitmap here, so git walks, option or not"
    assert "walk" in told[2]
    assert "reads the bitmap" not in told[2]
    walk = choose_strategy(Question.REACHABLE, Strategy.WALK, facts)
    assert explain_size(walk, OWN, no_bitmap="there is no bitmap here") == explain_size(walk, OWN)


def test_remembered_answer_is_told_apart_from_what_would_be_done_now() -> None:
    choice = choose_strategy(
        Question.REACHABLE, None, StrategyFacts(has_alternates_file=False, winner=Strategy.WALK, git_version=(2, 39))
    )
    remembered = msgspec.structs.replace(REACHABLE, strategy=Strategy.BITMAP, from_history=True, notes=())
    told = explain_size(choice, remembered)
    assert [line.partition(":")[0] for line in told[:4]] == [
        "question",
        "answer",
        "strategy if it were asked now",
        "cost",
    ]
    assert "remembered: bitmap gave it in" in told[1]
    assert "walk: it was the fastest" in told[2]
    assert not any("notes say why" in line for line in told)


def test_notes_are_named_only_where_there_are_some() -> None:
    choice = choose_strategy(Question.REACHABLE_OWN, Strategy.UNION, StrategyFacts(has_alternates_file=True))
    without = msgspec.structs.replace(OWN, notes=())
    assert "in the end: walk gave the answer" in explain_size(choice, without)


def test_five_figures_are_explained_step_by_step() -> None:
    told = explain_difference(report(INSPECTION, exclusive=EXCLUSIVE, reachable=REACHABLE, reachable_own=OWN))
    text = "\n".join(told)
    for part in (
        "disk: 2,000 bytes (1.95 KiB)",
        "1,018 bytes of it are indexes",
        "objects: 982 bytes",
        "exclusive: 700 bytes in 7 objects",
        "duplicate: 200 bytes in 2 objects",
        "50 bytes more are second copies of 1 object in the same store",
        "32 bytes remain of `objects`: the header and checksum of each pack",
        "reachable: 5,000 bytes (4.88 KiB), exact",
        "it counts what lenders hold, too",
        "own: 800 bytes, an upper bound",
        "4,200 bytes (4.10 KiB) of `reachable` come with the lender's references",
        "100 bytes above `exclusive`",
    ):
        assert part in text


ONE_COPY = msgspec.structs.replace(
    EXCLUSIVE, duplicate_bytes=0, duplicate_count=0, redundant_bytes=0, redundant_count=0
)


def _lenders(count: int) -> Inspection:
    alternates = tuple(Alternate(path=b"/p%d/objects" % number, exists=True, depth=1) for number in range(count))
    return msgspec.structs.replace(INSPECTION, alternates=AlternatesFacts(alternates=alternates, mtime_s=0.0))


@pytest.mark.parametrize(
    ("lender_count", "changes", "is_said"),
    [
        (1, {}, False),
        (2, {}, True),
        (1, {"duplicate_count": 1}, True),
        (0, {"redundant_count": 1}, True),
        (0, {}, False),
    ],
)
def test_exact_answers_may_differ_where_an_object_may_be_stored_twice(
    lender_count: int, changes: dict[str, int], is_said: bool
) -> None:
    exclusive = msgspec.structs.replace(ONE_COPY, **changes)
    told = explain_difference(report(_lenders(lender_count), exclusive=exclusive, reachable=REACHABLE))
    assert any("two exact answers may differ" in line for line in told) is is_said


def test_repository_without_lender_is_explained_otherwise() -> None:
    alone = msgspec.structs.replace(INSPECTION, alternates=None)
    reachable = msgspec.structs.replace(REACHABLE, bytes=600, excluded_references=())
    told = explain_difference(report(alone, exclusive=EXCLUSIVE, reachable=reachable, reachable_own=OWN))
    assert "  100 bytes of the objects here are reachable from no reference" in told
    assert "  there is no lender, so it is the same question as `reachable`" in told


@pytest.mark.parametrize(
    ("part", "label"), [("exclusive", "exclusive"), ("reachable", "reachable"), ("reachable_own", "own")]
)
def test_part_that_could_not_be_read_is_said_and_not_shown_as_zero(part: str, label: str) -> None:
    told = explain_difference(report(INSPECTION, **{part: Unreadable("the lender is missing")}))
    assert f"{label}: unreadable: the lender is missing" in told


def test_what_is_not_known_is_not_mentioned() -> None:
    told = explain_difference(report(INSPECTION))
    assert not any(line.startswith(("exclusive", "reachable")) for line in told)
    assert explain_difference(report(Unreadable("gone"))) == ("sizes cannot be compared: gone",)
    dark = msgspec.structs.replace(INSPECTION, disk=Unreadable("no"), packs=Unreadable("no"))
    assert explain_difference(report(dark, exclusive=EXCLUSIVE))[0] == "disk: unreadable: no"
