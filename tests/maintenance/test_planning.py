"""Plans as values: order, what covers what, what is replaced, and what no plan may hold; no git and no disk."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.assessment.rules import JUDGES
from gitdash.maintenance.action_facts import Droppable, StaleFile
from gitdash.maintenance.gains import gain
from gitdash.maintenance.heuristics import batch_bytes, replaces_commit_graph, wants_bitmap, wants_pseudo_merges
from gitdash.maintenance.lending import lending_hints
from gitdash.maintenance.pins import PINS
from gitdash.maintenance.planning import ORDER, plan
from gitdash.maintenance.tasks import ALLOWED_IN_LENDER, steps_of
from gitdash.model.inspection import BitmapSource, Inspection, KeepFile, LooseFacts, ObjectStore, PackFacts
from gitdash.model.plan import Plan, Step
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import RepositoryKind, Role, StorageLayout, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Sizes
from gitdash.model.task import Task
from tests.assessment.subjects import (
    NOW_S,
    REPOSITORY,
    WORKING_CLONE,
    alternates,
    bitmap,
    commit_graph,
    config_facts,
    lender,
    loose_facts,
    multi_pack_index,
    pack,
    pack_facts,
    packs_of,
    reference_facts,
)
from tests.support.maintenance_values import action_facts, finding, held, report

MEMBER = {"roles": (Role.MEMBER,), "alternates": alternates()}


def tasks(*named: str | None, **changes: Any) -> list[Task]:
    """What a plan from findings of these tasks would do."""
    case = report(findings=tuple(finding(name) for name in named), **changes)
    return [planned.task for planned in plan(case, action_facts()).tasks]


def all_steps(*plans: Plan) -> list[Step]:
    steps = [step for planned in plans for task in planned.tasks for step in task.steps]
    return steps + [repair for step in steps for repair in step.recovery]


def test_plan_without_findings_is_empty() -> None:
    assert tasks() == tasks(None) == []


def test_order_is_leftovers_packs_references_commit_graph() -> None:
    named = ("commit-graph", "pack-refs", "geometric-repack", "orphan-indexes", "index-pack", "sweep")
    assert tasks(*named) == [
        Task.SWEEP,
        Task.INDEX_PACK,
        Task.ORPHAN_INDEXES,
        Task.GEOMETRIC_REPACK,
        Task.PACK_REFS,
        Task.COMMIT_GRAPH,
    ]


def test_every_task_has_a_place_in_the_order() -> None:
    assert sorted(ORDER) == sorted(Task)


def test_two_findings_of_one_task_are_one_task_with_both_reasons() -> None:
    case = report(findings=(finding("sweep", "a lock"), finding("sweep", "old files")))
    (planned,) = plan(case, action_facts()).tasks
    assert planned.because == ("a lock", "old files")


@pytest.mark.parametrize(
    ("named", "left"),
    [
        (("loose-objects", "geometric-repack"), [Task.GEOMETRIC_REPACK]),
        (("geometric-repack", "full-repack"), [Task.FULL_REPACK]),
        (("multi-pack-index", "incremental-repack"), [Task.INCREMENTAL_REPACK]),
        (("loose-objects", "multi-pack-bitmap"), [Task.MULTI_PACK_BITMAP]),
        (("loose-objects", "incremental-repack"), [Task.LOOSE_OBJECTS, Task.INCREMENTAL_REPACK]),
        (("loose-objects", "pack-refs"), [Task.LOOSE_OBJECTS, Task.PACK_REFS]),
    ],
)
def test_larger_task_covers_the_smaller(named: tuple[str, ...], left: list[Task]) -> None:
    assert tasks(*named) == left


SEVERAL_BITMAPS = {"bitmaps": (bitmap(), bitmap())}


@pytest.mark.safety
@pytest.mark.parametrize("task", Task)
def test_readers_are_closed_wherever_git_may_delete_or_replace_packs_or_their_indexes(task: Task) -> None:
    # git-repack(1) -d, and git-multi-pack-index(1): expire and repack delete packs, write replaces the index of all
    subjects = (report(), report(bitmaps=(bitmap(), bitmap(BitmapSource.MULTI_PACK_INDEX))), report(**MEMBER))
    steps = [step for subject in subjects for step in steps_of(task, subject, action_facts())]
    commands = [one for step in steps for one in (step, *step.recovery) if one.arguments]
    for command in commands:
        words = command.arguments
        deletes = (words[0] == "repack" and "-d" in words) or (
            words[0] == "multi-pack-index" and not {"expire", "repack", "write"}.isdisjoint(words)
        )
        assert command.replaces_packs or not deletes, words


def test_bitmaps_of_packs_go_where_the_multi_pack_index_has_one() -> None:
    both = {"bitmaps": (bitmap(), bitmap(BitmapSource.MULTI_PACK_INDEX))}
    assert tasks("bitmap", **both) == [Task.MULTI_PACK_BITMAP]
    assert steps_of(Task.MULTI_PACK_BITMAP, report(**both), action_facts())[-1].act == "remove-pack-bitmaps"
    only = {"bitmaps": (bitmap(BitmapSource.MULTI_PACK_INDEX),)}
    assert steps_of(Task.MULTI_PACK_BITMAP, report(**only), action_facts())[-1].act is None


def test_rewrite_that_leaves_one_bitmap_covers_all_packing() -> None:
    assert tasks("loose-objects", "geometric-repack", "bitmap", **SEVERAL_BITMAPS) == [Task.BITMAP]


def test_missing_bitmap_is_written_without_rewriting_packs() -> None:
    assert tasks("bitmap") == [Task.MULTI_PACK_BITMAP]
    assert tasks("bitmap", config=config_facts(multi_pack_index_disabled=True)) == [Task.BITMAP]


@pytest.mark.parametrize(
    ("object_count", "left"),
    [(4_999, [Task.GEOMETRIC_REPACK, Task.MULTI_PACK_BITMAP]), (5_000, [Task.GEOMETRIC_REPACK])],
)
def test_repack_covers_a_missing_bitmap_where_it_writes_one(object_count: int, left: list[Task]) -> None:
    assert tasks("geometric-repack", "bitmap", packs=packs_of(object_count)) == left


def test_covering_task_says_why_for_both() -> None:
    case = report(findings=(finding("loose-objects", "many loose"), finding("geometric-repack", "many packs")))
    (planned,) = plan(case, action_facts()).tasks
    assert planned.because == ("many packs", "many loose")


def test_task_that_may_not_run_covers_nothing() -> None:
    named = (finding("loose-objects"), finding("bitmap"))
    case = report(findings=named, shallow=True, shallow_count=1, bitmaps=(bitmap(),))
    planned = plan(case, action_facts()).tasks
    assert [(task.task, bool(task.refusals)) for task in planned] == [(Task.LOOSE_OBJECTS, False), (Task.BITMAP, True)]


def test_damaged_multi_pack_index_is_mended_before_packs_are_read() -> None:
    named = ("sweep", "geometric-repack", "multi-pack-index")
    damaged = multi_pack_index(missing_pack_count=1)
    assert tasks(*named, multi_pack_index=damaged) == [Task.MULTI_PACK_INDEX, Task.SWEEP, Task.GEOMETRIC_REPACK]
    assert tasks(*named, multi_pack_index=multi_pack_index()) == [Task.SWEEP, Task.GEOMETRIC_REPACK]


def test_member_joins_packs_without_losing_own_copies() -> None:
    assert tasks("geometric-repack", **MEMBER) == [Task.INCREMENTAL_REPACK]


def test_partial_clone_gets_an_index_where_git_would_join_promisor_packs() -> None:
    partial = report(findings=(finding("geometric-repack"),), config=config_facts(partial_clone=True))
    old, new = (plan(partial, action_facts(git_version=version)).tasks for version in ((2, 54, 9), (2, 55, 0)))
    assert [task.task for task in old] == [Task.MULTI_PACK_INDEX]
    assert [task.task for task in new] == [Task.GEOMETRIC_REPACK]


def test_kept_packs_get_a_bitmap_over_several_packs() -> None:
    assert tasks("bitmap", packs=pack_facts(packs=(pack(kept=True), pack("pack-2")))) == [Task.MULTI_PACK_BITMAP]


def test_member_loses_its_bitmaps_and_bitmap_covers_nothing_there() -> None:
    left = tasks("loose-objects", "bitmap", bitmaps=(bitmap(),), lender_bitmap=bitmap(), **MEMBER)
    assert left == [Task.LOOSE_OBJECTS, Task.BITMAP]
    assert [step.act for step in steps_of(Task.BITMAP, report(bitmaps=(bitmap(),), **MEMBER), action_facts())] == [
        "remove-bitmaps"
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # two of 0 MiB may be outside: a third would be a finding of its own
        ({"packs": pack_facts(count=2, outside_midx_count=2)}, Task.GEOMETRIC_REPACK),
        ({"packs": pack_facts(count=1, outside_midx_count=1)}, Task.LOOSE_OBJECTS),
        (
            {"packs": pack_facts(count=9, outside_midx_count=1), "multi_pack_index": multi_pack_index()},
            Task.LOOSE_OBJECTS,
        ),
        # ln 100 / ln 1.8 = 7.8
        ({"packs": pack_facts(count=6, outside_midx_count=6, bytes=100 << 20)}, Task.LOOSE_OBJECTS),
        ({"packs": pack_facts(count=7, outside_midx_count=7, bytes=100 << 20)}, Task.GEOMETRIC_REPACK),
        ({"packs": pack_facts(packs=(), count=0, outside_midx_count=0)}, Task.LOOSE_OBJECTS),
        ({"packs": pack_facts(count=2, outside_midx_count=2), **MEMBER}, Task.LOOSE_OBJECTS),
        (
            {"packs": pack_facts(count=2, outside_midx_count=2), "config": config_facts(partial_clone=True)},
            Task.LOOSE_OBJECTS,
        ),
    ],
)
def test_loose_objects_are_packed_so_that_no_pack_is_left_to_be_joined(changes: Any, expected: Task) -> None:
    assert tasks("loose-objects", **changes) == [expected]


@pytest.mark.parametrize("task", [Task.LOOSE_OBJECTS, Task.GEOMETRIC_REPACK, Task.MULTI_PACK_BITMAP, Task.FULL_REPACK])
def test_plan_says_that_old_loose_objects_become_new_for_reclaim(task: Task) -> None:
    def notes(stale_count: int, **changes: Any) -> str:
        case = report(loose=loose_facts(count=9, stale_count=stale_count), **changes)
        (planned,) = plan(case, action_facts(), [task]).tasks
        return " ".join(planned.notes)

    is_warned = task is not Task.FULL_REPACK
    assert ("reclaim first" in notes(9)) is is_warned
    assert "reclaim first" not in notes(0)
    # nothing is ever reclaimed there
    assert "reclaim first" not in notes(9, borrowers=(b"/srv/git/fork.git",))


def test_gain_of_a_full_repack_says_what_there_is() -> None:
    one, two = pack_facts(), pack_facts(packs=(pack("pack-1"), pack("pack-2")), count=2)
    some = loose_facts(count=7, bytes=2048)

    def gained(packs: PackFacts, loose: LooseFacts) -> str:
        return gain(Task.FULL_REPACK, report(packs=packs, loose=loose), action_facts())

    assert gained(one, loose_facts()) == "1 pack is written anew, and what is unreachable stays"
    assert gained(two, loose_facts()) == "2 packs become one pack, and what is unreachable stays"
    assert gained(one, some) == "1 pack and 7 loose objects of 2.00 KiB become one pack, and what is unreachable stays"


def test_deduplication_after_unlink_has_nothing_to_gain() -> None:
    asked = plan(report(**MEMBER), action_facts(), [Task.DEDUPLICATE, Task.UNLINK])
    assert [task.task for task in asked.tasks] == [Task.UNLINK, Task.DEDUPLICATE]
    assert asked.tasks[1].gain == "nothing is to be gained: unlink, which comes first, leaves no lender"
    stays = plan(report(**MEMBER, borrowers=(b"/srv/git/fork.git",)), action_facts(), [Task.DEDUPLICATE, Task.UNLINK])
    assert "unlink" not in stays.tasks[1].gain


def test_tasks_asked_for_stay_as_asked_and_come_in_order() -> None:
    asked = plan(report(), action_facts(), [Task.VERIFY, Task.FULL_REPACK, Task.LOOSE_OBJECTS, Task.VERIFY])
    assert [task.task for task in asked.tasks] == [Task.LOOSE_OBJECTS, Task.FULL_REPACK, Task.VERIFY]
    assert {task.because for task in asked.tasks} == {("asked for",)}


def test_refused_task_of_a_finding_is_in_the_plan_with_its_reason() -> None:
    case = report(findings=(finding("loose-objects"),))
    made = plan(case, action_facts(maintenance_lock=held()))
    assert [refusal.rule for refusal in made.tasks[0].refusals] == ["maintenance-locked"]
    assert made.refusals == made.tasks[0].refusals
    assert made.runnable == ()


def test_plan_says_where_git_is_called() -> None:
    made = plan(report(WORKING_CLONE), action_facts())
    assert (made.path, made.common_dir) == (b"/home/me/a", b"/home/me/a/.git")


def test_answer_of_git_stands_beside_ours() -> None:
    facts = action_facts(is_needed=((Task.PACK_REFS, True), (Task.COMMIT_GRAPH, False)))
    made = plan(report(), facts, [Task.PACK_REFS, Task.COMMIT_GRAPH, Task.SWEEP])
    assert [task.notes for task in made.tasks] == [
        (),
        ("git maintenance is-needed --auto says yes",),
        ("git maintenance is-needed --auto says no",),
    ]


def test_gain_of_a_geometric_repack_counts_the_packs_that_are_joined() -> None:
    packs = (pack("pack-1", object_count=9), pack("pack-2", object_count=2), pack("pack-3", object_count=2))
    case = report(packs=pack_facts(packs=packs), loose=loose_facts(count=7, bytes=2048))
    assert (
        gain(Task.GEOMETRIC_REPACK, case, action_facts())
        == "joins 2 of 3 packs (1.95 KiB) and 7 loose objects of 2.00 KiB"
    )


def test_gain_of_a_sweep_counts_what_goes_and_its_notes_say_what_stays_and_why() -> None:
    assert gain(Task.SWEEP, report(), action_facts()) == "removes what stopped commands left"
    files = (
        StaleFile(path="objects/pack/tmp_pack_x", bytes=2048),
        StaleFile(path="objects/pack/pack-1.keep", bytes=0),
        StaleFile(path="config.lock", bytes=0),
        StaleFile(path="objects/pack/tmp_pack_y", bytes=9000, kept_because="2h old, and it goes when it is 1d old"),
        StaleFile(path="objects/pack/tmp_pack_z", bytes=9000, kept_because="2h old, and it goes when it is 1d old"),
    )
    facts = action_facts(stale_files=files)
    assert gain(Task.SWEEP, report(), facts) == "removes 1 temporary file of 2.00 KiB, 1 mark of a transfer, 1 lock"
    (planned,) = plan(report(), facts, [Task.SWEEP]).tasks
    assert planned.refusals == ()
    assert planned.notes == ("objects/pack/tmp_pack_y and 1 more stay: 2h old, and it goes when it is 1d old",)


def test_plan_says_where_a_task_removes_if_the_object_store_is_a_link() -> None:
    store = ObjectStore(path=b"/srv/their store/objects", device=1, inode=2)
    case = report()
    assert isinstance(case.inspection, Inspection)
    case = msgspec.structs.replace(case, inspection=msgspec.structs.replace(case.inspection, object_store=store))
    said = "objects is a symbolic link: what this writes and removes lies in /srv/their store/objects"
    asked = [Task.SWEEP, Task.GEOMETRIC_REPACK, Task.PACK_REFS, Task.VERIFY]
    linked = plan(case, action_facts(objects_is_link=True), asked)
    assert {planned.task for planned in linked.tasks if said in planned.notes} == {Task.SWEEP, Task.GEOMETRIC_REPACK}
    assert not any(said in planned.notes for planned in plan(case, action_facts(), asked).tasks)


def test_a_sweep_that_would_remove_nothing_is_needless_and_says_why() -> None:
    young = StaleFile(path="objects/pack/tmp_pack_y", bytes=9000, kept_because="2h old, and it goes when it is 1d old")
    (planned,) = plan(report(), action_facts(stale_files=(young,)), [Task.SWEEP]).tasks
    assert planned.is_needless
    assert "2h old, and it goes when it is 1d old" in planned.refusals[0].reason
    (planned,) = plan(report(), action_facts(stale_files=()), [Task.SWEEP]).tasks
    assert planned.is_needless


def test_gain_of_deduplication_is_what_was_measured() -> None:
    sizes = ExclusiveSizes(
        exclusive_bytes=1, exclusive_count=1, duplicate_bytes=451_288, duplicate_count=504, elapsed_s=0.1,
        measured_at_s=NOW_S,
    )  # fmt: skip
    case = report(sizes=Sizes(exclusive=sizes), **MEMBER)
    assert gain(Task.DEDUPLICATE, case, action_facts()) == "frees up to 441 KiB in 504 objects"
    assert gain(Task.DEDUPLICATE, report(**MEMBER), action_facts()).endswith("how much is not measured")


def test_deduplication_that_would_free_nothing_is_planned_only_if_it_is_asked_for() -> None:
    def case_with(duplicate_bytes: int) -> RepositoryReport:
        sizes = ExclusiveSizes(
            exclusive_bytes=1, exclusive_count=1, duplicate_bytes=duplicate_bytes, duplicate_count=duplicate_bytes,
            elapsed_s=0.1, measured_at_s=NOW_S,
        )  # fmt: skip
        return report(sizes=Sizes(exclusive=sizes), findings=(finding("deduplicate"),), **MEMBER)

    assert [task.task for task in plan(case_with(1), action_facts()).tasks] == [Task.DEDUPLICATE]
    assert plan(case_with(0), action_facts()).tasks == ()
    (asked,) = plan(case_with(0), action_facts(), [Task.DEDUPLICATE]).tasks
    assert asked.gain.startswith("nothing is to be gained")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Droppable(count=3, bytes=2_048, is_exact=True), "drops for good 3 objects of 2.00 KiB, "),
        (Droppable(count=3, bytes=2_048, is_exact=False), "drops for good at most 3 objects of 2.00 KiB, "),
        (Droppable(count=0, bytes=0, is_exact=True), "nothing is to be gained: "),
        (None, "drops for good what is unreachable for two weeks; how much that is has not been counted"),
    ],
)
def test_plan_to_reclaim_says_how_sure_its_count_is(found: Droppable | None, expected: str) -> None:
    assert gain(Task.RECLAIM, report(), action_facts(droppable=found)).startswith(expected)


@pytest.mark.parametrize("task", Task)
def test_every_task_has_a_gain_and_steps(task: Task) -> None:
    case = report(packs=pack_facts(missing_index_names=("pack-9.pack",)))
    assert gain(task, case, action_facts())
    assert steps_of(task, case, action_facts())


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), 1),
        ((7,), 1),
        ((9, 5, 4), 6),
        ((5, 9, 9), 10),
        ((2**31, 2**31 - 3), 2**31 - 2),
        ((2**31, 2**31 - 2), 2**31 - 1),
        ((2**31, 2**31 - 1), 2**31 - 1),
        ((2**40, 2**40), 2**31 - 1),
    ],
)
def test_batch_is_the_second_largest_pack_and_one_byte(sizes: tuple[int, ...], expected: int) -> None:
    assert batch_bytes(pack(f"pack-{number}", bytes=size) for number, size in enumerate(sizes)) == expected


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (None, True),
        (Unreadable("damaged"), True),
        (commit_graph(chain_length=0), True),
        (commit_graph(chain_length=1), False),
        (commit_graph(bloom_filters=False), True),
        (commit_graph(generation_data=False), True),
        (commit_graph(missing_layer_count=1), True),
    ],
)
def test_commit_graph_is_replaced_unless_every_layer_is_complete(graph, expected: bool) -> None:
    assert replaces_commit_graph(graph) == expected
    (written, _) = [
        step for step in steps_of(Task.COMMIT_GRAPH, report(commit_graph=graph), action_facts()) if step.act is None
    ]
    assert ("--split=replace" in written.arguments) == expected


@pytest.mark.parametrize(("object_count", "expected"), [(4_999, False), (5_000, True), (5_001, True)])
def test_repack_of_a_served_repository_writes_a_bitmap_from_5000_objects_on(object_count: int, expected: bool) -> None:
    assert wants_bitmap(report(packs=packs_of(object_count))) == expected
    assert not wants_bitmap(report(WORKING_CLONE, packs=packs_of(object_count)))


def test_repack_keeps_a_bitmap_that_is_there_but_writes_none_that_cannot_be_complete() -> None:
    assert wants_bitmap(report(WORKING_CLONE, bitmaps=(bitmap(),)))
    assert not wants_bitmap(report(bitmaps=(bitmap(),), **MEMBER))
    assert not wants_bitmap(report(bitmaps=(bitmap(),), shallow=True))


@pytest.mark.parametrize(("loose_count", "expected"), [(989, False), (990, True), (991, True)])
def test_pseudo_merges_help_from_1000_references_on(loose_count: int, expected: bool) -> None:
    case = report(references=reference_facts(loose_count=loose_count, packed_count=10))
    assert wants_pseudo_merges(case) == expected


@pytest.mark.parametrize(("version", "expected"), [((2, 45, 9), False), ((2, 46, 0), True), ((2, 46, 1), True)])
def test_pseudo_merges_are_asked_of_a_git_that_knows_them(version: tuple[int, ...], expected: bool) -> None:
    case = report(roles=(Role.POOL,), borrowers=(b"/b",))
    (step,) = steps_of(Task.BITMAP, case, action_facts(git_version=version))
    assert (("bitmapPseudoMerge.gitdash.pattern", "refs/") in step.config) == expected


def test_no_pseudo_merges_where_a_reference_leads_to_no_commit() -> None:
    case = report(roles=(Role.POOL,), borrowers=(b"/b",))
    (step,) = steps_of(Task.BITMAP, case, action_facts(git_version=(2, 55, 0), has_reference_to_no_commit=True))
    assert "bitmapPseudoMerge.gitdash.pattern" not in dict(step.config)


def test_every_git_step_carries_every_pin() -> None:
    pairs = {(pin.key, pin.value) for pin in PINS}
    made = plan(report(), action_facts(), list(Task))
    git_steps = [step for step in all_steps(made) if step.act is None]
    assert git_steps
    assert all(pairs <= set(step.config) for step in git_steps)
    assert all(pin.reason.strip() for pin in PINS)


def test_bitmap_of_a_multi_pack_index_survives_writing_it_anew() -> None:
    case = report(bitmaps=(bitmap(BitmapSource.MULTI_PACK_INDEX),), multi_pack_index=multi_pack_index())
    assert "--bitmap" in steps_of(Task.MULTI_PACK_INDEX, case, action_facts())[1].arguments
    assert "--bitmap" not in steps_of(Task.MULTI_PACK_INDEX, report(), action_facts())[1].arguments


def test_findings_name_only_tasks_that_exist_and_never_reclaim() -> None:
    named = {rule.task for rule, _ in JUDGES if rule.task is not None}
    assert named <= {task.value for task in Task} - {Task.RECLAIM.value}
    assert Task.ORPHAN_INDEXES.value in named


booleans = st.booleans()
versions = st.sampled_from([(2, 39, 5), (2, 45, 0), (2, 47, 3), (2, 54, 1), (2, 55, 0), (3, 0, 0)])
packs = st.lists(
    st.builds(
        lambda count, kept, cruft, promisor, indexed: pack(
            f"pack-{count}", object_count=count, kept=kept, cruft=cruft, promisor=promisor, has_index=indexed
        ),
        st.integers(0, 10_000),
        booleans,
        booleans,
        booleans,
        booleans,
    ),
    max_size=4,
)


@st.composite
def repositories(draw):
    """Any repository: roles, hints, damage, and what its findings name."""
    layout = draw(st.sampled_from(StorageLayout))
    kind = draw(st.sampled_from([RepositoryKind.BARE, RepositoryKind.WORKTREE]))
    drawn = tuple(draw(packs))
    keep = (KeepFile(name="k", mtime_s=NOW_S, by_transfer=draw(booleans)),) if draw(booleans) else ()
    return report(
        msgspec.structs.replace(REPOSITORY, layout=layout, kind=kind),
        roles=draw(st.sampled_from([(Role.PLAIN,), (Role.MEMBER,), (Role.POOL,), (Role.MEMBER, Role.POOL)])),
        borrowers=draw(st.sampled_from([(), (b"/b",)])),
        alternates=draw(st.sampled_from([None, alternates(), alternates(lender(exists=False)), Unreadable("x")])),
        packs=pack_facts(packs=drawn, count=len(drawn), keep_files=keep, missing_index_names=("pack-9.pack",)),
        bitmaps=draw(st.sampled_from([(), (bitmap(),), (bitmap(BitmapSource.MULTI_PACK_INDEX),)])),
        multi_pack_index=draw(
            st.sampled_from([None, multi_pack_index(), multi_pack_index(missing_pack_count=1), Unreadable("x")])
        ),
        commit_graph=draw(st.sampled_from([None, commit_graph(), Unreadable("x")])),
        references=reference_facts(has_dangling_namespace=draw(booleans)),
        config=config_facts(
            gc_auto=draw(st.sampled_from([None, 0, 6700])),
            gc_prune_expire=draw(st.sampled_from([None, "never", "now"])),
            precious_objects=draw(booleans),
            partial_clone=draw(booleans),
        ),
        shallow=draw(booleans),
        findings=tuple(map(finding, draw(st.lists(st.sampled_from([task.value for task in Task]), max_size=6)))),
    )


facts_of_any_moment = st.builds(
    lambda version, free, locked, broken, linked: action_facts(
        git_version=version,
        free_bytes=free,
        maintenance_lock=held() if locked else None,
        broken_references="bad object" if broken else None,
        objects_is_link=linked,
    ),
    versions,
    st.sampled_from([None, 0, 1 << 40]),
    booleans,
    booleans,
    booleans,
)

FORBIDDEN_WORDS = {"gc", "maintenance", "prune", "--prune-expire", "-A", "--unpack-unreachable", "--prune=now"}


def drops_objects(step: Step) -> bool:
    """Whether a git command of a step could take an object away, by what git's manual says of it."""
    words = step.arguments
    if not words:
        return False
    if words[0] in FORBIDDEN_WORDS or any(word.startswith("--expire") for word in words):
        return True
    if words[0] != "repack":
        return False
    keeps = {"-k", "--keep-unreachable"} & set(words)
    expiry = [word for word in words if word.startswith("--cruft-expiration")]
    is_cruft = "--cruft" in words
    all_into_one = bool({"-a", "-A"} & set(words)) and not keeps
    return all_into_one or (is_cruft and expiry != ["--cruft-expiration=never"]) or bool(expiry and not is_cruft)


@pytest.mark.safety
@given(repositories(), facts_of_any_moment)
def test_lender_and_what_may_be_one_get_nothing_but_their_list(case, facts) -> None:
    runnable = {task.task for made in (plan(case, facts), plan(case, facts, list(Task))) for task in made.runnable}
    if lending_hints(case):
        assert runnable <= ALLOWED_IN_LENDER


@pytest.mark.safety
@given(repositories(), facts_of_any_moment)
def test_no_plan_from_findings_drops_anything(case, facts) -> None:
    made = plan(case, facts)
    assert Task.RECLAIM not in {task.task for task in made.tasks}
    assert not any(map(drops_objects, all_steps(made)))


@pytest.mark.safety
@given(repositories(), facts_of_any_moment)
def test_no_task_but_reclaim_has_a_command_that_drops_objects(case, facts) -> None:
    made = plan(case, facts, [task for task in Task if task is not Task.RECLAIM])
    assert not any(map(drops_objects, all_steps(made)))
    assert not any("prune" in step.arguments[:1] for step in all_steps(made))


@pytest.mark.safety
@given(repositories(), facts_of_any_moment)
def test_member_keeps_its_own_copies_but_where_lenders_are_checked_first(case, facts) -> None:
    if not (Role.MEMBER in case.roles or case.inspection.alternates is not None):
        return
    for planned in plan(case, facts, list(Task)).runnable:
        removing = [step for step in planned.steps if step.arguments[:1] == ("prune-packed",) or "-d" in step.arguments]
        if removing:
            assert planned.task is Task.DEDUPLICATE
            assert planned.steps[0].act == "check-lenders"


@given(repositories(), facts_of_any_moment)
def test_plan_has_no_task_twice_and_keeps_the_order(case, facts) -> None:
    planned = [task.task for task in plan(case, facts).tasks]
    assert len(set(planned)) == len(planned)
    rest = [task for task in planned if task is not Task.MULTI_PACK_INDEX]
    assert rest == sorted(rest, key=ORDER.index)


@pytest.mark.safety
def test_detector_of_dropping_commands_knows_them() -> None:
    commands = [
        ("gc",), ("maintenance", "run"), ("prune",), ("reflog", "expire", "--expire=now"), ("repack", "-a", "-d"),
        ("repack", "-A", "-d"), ("repack", "--cruft", "-d"), ("repack", "--cruft", "--cruft-expiration=now", "-d"),
    ]  # fmt: skip
    assert all(drops_objects(Step(does="x", arguments=words)) for words in commands)
    harmless = [("repack", "-a", "-d", "-k"), ("repack", "-d"), ("multi-pack-index", "expire"), ()]
    assert not any(drops_objects(Step(does="x", arguments=words)) for words in harmless)
