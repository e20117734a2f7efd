"""Every rule speaks where it should, and is silent where it should be; no git and no disk."""

import time

import msgspec
import pytest

from gitdash.maintenance.action_facts import Droppable
from gitdash.maintenance.gains import needed_bytes
from gitdash.maintenance.refusals import RULES, common_refusals, refusals_of
from gitdash.maintenance.tasks import ALLOWED_IN_LENDER
from gitdash.model.config_facts import ConfigEffect, Remote
from gitdash.model.inspection import KeepFile, ReferenceBackend
from gitdash.model.repository import Role, StorageLayout, Unreadable
from gitdash.model.task import Task
from tests.assessment.subjects import (
    NOW_S,
    REPOSITORY,
    alternates,
    bitmap,
    concern,
    config_facts,
    inspection,
    lender,
    loose_facts,
    multi_pack_index,
    pack,
    pack_facts,
    reference_facts,
)
from tests.support.maintenance_values import action_facts, held, report

HEALTHY = report()
MEMBER = report(roles=(Role.MEMBER,), alternates=alternates())
LENDER = report(roles=(Role.POOL,), borrowers=(b"/srv/git/b.git",))
EVERY = frozenset(Task)
WRITING = EVERY - {Task.VERIFY}
OUT_OF_PLACE = {Task.DEDUPLICATE: "no-lender", Task.UNLINK: "no-lender", Task.INDEX_PACK: "nothing-to-do"}
"""What a healthy repository that borrows from nobody gives no reason for."""


def rules(task: Task, case=HEALTHY, **facts: object) -> set[str]:
    return {refusal.rule for refusal in refusals_of(task, case, action_facts(**facts))}


def refused_tasks(rule: str, case=HEALTHY, **facts: object) -> frozenset[Task]:
    return frozenset(task for task in Task if rule in rules(task, case, **facts))


@pytest.mark.parametrize("task", Task)
def test_healthy_repository_is_refused_only_what_has_no_place_in_it(task: Task) -> None:
    assert rules(task) == ({OUT_OF_PLACE[task]} if task in OUT_OF_PLACE else set())


def test_every_rule_has_an_id_of_its_own() -> None:
    ids = [rule.id for rule, _ in RULES]
    assert len(set(ids)) == len(ids)


FIRING = [
    ("unreadable", EVERY, report(facts=Unreadable("permission denied")), {}),
    ("unreadable", EVERY, report(config=Unreadable("a FIFO")), {}),
    ("unreadable", EVERY, report(msgspec.structs.replace(REPOSITORY, problem="HEAD is missing")), {}),
    ("unreadable", WRITING, report(packs=Unreadable("permission denied")), {}),
    ("unreadable", WRITING, report(loose=Unreadable("permission denied")), {}),
    ("unreadable", WRITING, report(references=Unreadable("permission denied")), {}),
    ("unreadable", WRITING, report(object_store=Unreadable("permission denied")), {}),
    ("irregular-file", EVERY, HEALTHY, {"irregular_file": "/srv/git/a.git/info/attributes is a FIFO"}),
    ("not-owner", EVERY, report(msgspec.structs.replace(REPOSITORY, foreign_owner_uid=7)), {}),
    (
        "not-owner",
        EVERY,
        report(msgspec.structs.replace(REPOSITORY, foreign_owner_uid=7, trusted_by_config=True)),
        {},
    ),
    ("not-owner", EVERY, HEALTHY, {"owner_uid": 7}),
    ("read-only-mode", WRITING, HEALTHY, {"is_read_only_mode": True}),
    ("mounted-read-only", WRITING, HEALTHY, {"is_mounted_read_only": True}),
    ("paused", EVERY, HEALTHY, {"pause": "the file gitdash.pause"}),
    ("shared-store", WRITING, report(counts_store=False), {}),
    ("symbolic-link", WRITING, HEALTHY, {"links": ("refs/tags",)}),
    ("symbolic-link", WRITING, HEALTHY, {"has_unseen_names": True}),
    ("linked-store", frozenset({Task.RECLAIM, Task.UNLINK}), HEALTHY, {"objects_is_link": True}),
    (
        "shared-with-lender",
        WRITING,
        MEMBER,
        {"shared_with_lender": "its folder objects/pack is the lender's"},
    ),
    (
        "linked-object",
        frozenset(
            {
                Task.LOOSE_OBJECTS,
                Task.INCREMENTAL_REPACK,
                Task.GEOMETRIC_REPACK,
                Task.MULTI_PACK_BITMAP,
                Task.RECLAIM,
                Task.UNLINK,
            }
        ),
        HEALTHY,
        {"linked_object": "pack/pack-1.pack"},
    ),
    ("maintenance-locked", WRITING, HEALTHY, {"maintenance_lock": held()}),
    ("gc-running", WRITING, HEALTHY, {"gc_pid": held("gc.pid")}),
    ("live-lock", WRITING, HEALTHY, {"live_locks": (held("packed-refs.lock", None),)}),
    ("operation-in-progress", WRITING, HEALTHY, {"operations": ("a rebase is in progress",)}),
    ("unknown-format", EVERY, report(config=config_facts(unknown_extensions=("holograms",))), {}),
    ("unknown-format", EVERY, report(reference_backend=ReferenceBackend.REFTABLE), {"git_version": (2, 44, 9)}),
    (
        "precious-objects",
        frozenset(
            {
                Task.LOOSE_OBJECTS,
                Task.INCREMENTAL_REPACK,
                Task.GEOMETRIC_REPACK,
                Task.FULL_REPACK,
                Task.DEDUPLICATE,
                Task.BITMAP,
                Task.MULTI_PACK_BITMAP,
                Task.RECLAIM,
            }
        ),
        report(config=config_facts(precious_objects=True)),
        {},
    ),
    (
        "lender-missing",
        EVERY - {Task.SWEEP, Task.ORPHAN_INDEXES, Task.INDEX_PACK, Task.MULTI_PACK_INDEX, Task.VERIFY},
        report(alternates=alternates(lender(exists=False, problem="missing"))),
        {},
    ),
    (
        "lender-missing",
        EVERY - {Task.SWEEP, Task.ORPHAN_INDEXES, Task.INDEX_PACK, Task.MULTI_PACK_INDEX, Task.VERIFY},
        report(alternates=Unreadable("permission denied")),
        {},
    ),
    (
        "lender-missing",
        EVERY - {Task.SWEEP, Task.ORPHAN_INDEXES, Task.INDEX_PACK, Task.MULTI_PACK_INDEX, Task.VERIFY},
        report(alternates=msgspec.structs.replace(alternates(), incomplete="a lender's file cannot be read")),
        {},
    ),
    (
        "partial-clone",
        frozenset(
            {
                Task.INCREMENTAL_REPACK,
                Task.GEOMETRIC_REPACK,
                Task.FULL_REPACK,
                Task.DEDUPLICATE,
                Task.BITMAP,
                Task.MULTI_PACK_BITMAP,
                Task.UNLINK,
                Task.RECLAIM,
            }
        ),
        report(config=config_facts(partial_clone=True)),
        {},
    ),
    (
        "shallow",
        frozenset({Task.BITMAP, Task.MULTI_PACK_BITMAP, Task.COMMIT_GRAPH, Task.RECLAIM}),
        report(shallow=True, shallow_count=1),
        {},
    ),
    ("worktree-references", frozenset({Task.RECLAIM}), HEALTHY, {"worktree_with_references": "linked"}),
    ("lends-objects", EVERY - ALLOWED_IN_LENDER, LENDER, {}),
    (
        "borrows-objects",
        frozenset({Task.GEOMETRIC_REPACK, Task.FULL_REPACK, Task.MULTI_PACK_BITMAP, Task.RECLAIM}),
        MEMBER,
        {},
    ),
    ("no-lender", frozenset({Task.DEDUPLICATE, Task.UNLINK}), HEALTHY, {}),
    (
        "unreferenced-lender",
        frozenset({Task.DEDUPLICATE}),
        MEMBER,
        {"objection_to_lender": "the lender /srv/pool.git has no reference"},
    ),
    (
        "broken-references",
        frozenset(
            {
                Task.GEOMETRIC_REPACK,
                Task.FULL_REPACK,
                Task.DEDUPLICATE,
                Task.BITMAP,
                Task.MULTI_PACK_BITMAP,
                Task.COMMIT_GRAPH,
                Task.UNLINK,
                Task.RECLAIM,
            }
        ),
        HEALTHY,
        {"broken_references": "bad object refs/heads/x"},
    ),
    (
        "broken-references",
        frozenset(
            {
                Task.GEOMETRIC_REPACK,
                Task.FULL_REPACK,
                Task.DEDUPLICATE,
                Task.BITMAP,
                Task.MULTI_PACK_BITMAP,
                Task.COMMIT_GRAPH,
                Task.UNLINK,
                Task.RECLAIM,
            }
        ),
        report(references=reference_facts(empty_loose_names=("refs/heads/x",), empty_loose_count=1)),
        {},
    ),
    (
        "config-stops-git",
        EVERY,
        report(config=config_facts(concerns=(concern("core.bare", ConfigEffect.STOPS_GIT, "maybe"),))),
        {},
    ),
    (
        "config-stops-git",
        frozenset(
            {
                Task.LOOSE_OBJECTS,
                Task.INCREMENTAL_REPACK,
                Task.GEOMETRIC_REPACK,
                Task.FULL_REPACK,
                Task.DEDUPLICATE,
                Task.BITMAP,
                Task.MULTI_PACK_BITMAP,
                Task.RECLAIM,
            }
        ),
        report(config=config_facts(concerns=(concern("pack.depth", ConfigEffect.STOPS_MAINTENANCE, "deep"),))),
        {},
    ),
    (
        "config-runs-program",
        frozenset({Task.PACK_REFS}),
        report(config=config_facts(concerns=(concern("hook.evil.command", ConfigEffect.RUNS_PROGRAM, "id"),))),
        {"git_version": (2, 54, 1)},
    ),
    (
        "config-runs-program",
        frozenset({Task.RECLAIM}),
        report(config=config_facts(concerns=(concern("gc.recentobjectshook", ConfigEffect.RUNS_PROGRAM, "id"),))),
        {},
    ),
    (
        "config-reads-outside",
        frozenset({Task.VERIFY, Task.DEDUPLICATE, Task.UNLINK, Task.RECLAIM}),
        report(config=config_facts(concerns=(concern("fsck.skiplist", ConfigEffect.READS_OUTSIDE, "/dev/zero"),))),
        {},
    ),
    (
        "multi-pack-index-chain",
        frozenset({Task.INCREMENTAL_REPACK}),
        report(multi_pack_index=multi_pack_index(layer_count=2)),
        {},
    ),
    (
        "kept-packs",
        frozenset({Task.BITMAP}),
        report(packs=pack_facts(packs=(pack(kept=True),), kept_count=1)),
        {},
    ),
    (
        "nothing-to-do",
        frozenset({Task.MULTI_PACK_INDEX, Task.INCREMENTAL_REPACK, Task.MULTI_PACK_BITMAP, Task.INDEX_PACK}),
        report(packs=pack_facts(packs=(), count=0, bytes=0)),
        {},
    ),
    ("nothing-to-do", frozenset({Task.BITMAP, Task.INDEX_PACK}), MEMBER, {}),
    (
        "nothing-to-do",
        frozenset({Task.RECLAIM, Task.INDEX_PACK}),
        HEALTHY,
        {"droppable": Droppable(count=0, bytes=0, is_exact=True)},
    ),
]


@pytest.mark.parametrize(("rule", "tasks", "case", "facts"), FIRING)
def test_rule_refuses_exactly_these_tasks(rule: str, tasks: frozenset[Task], case, facts) -> None:
    assert refused_tasks(rule, case, **facts) == tasks


def test_each_rule_is_seen_to_fire() -> None:
    assert {rule for rule, *_ in FIRING} | {"too-little-space"} == {rule.id for rule, _ in RULES}


SILENT = [
    ("not-owner", HEALTHY, {"owner_uid": None}),
    ("not-owner", HEALTHY, {"owner_uid": 0, "effective_uid": 0}),
    ("unknown-format", report(reference_backend=ReferenceBackend.REFTABLE), {"git_version": (2, 45, 0)}),
    ("lender-missing", MEMBER, {}),
    ("config-stops-git", report(config=config_facts(concerns=(concern("x.y", ConfigEffect.DROPS_OBJECTS),))), {}),
    (
        "config-runs-program",
        report(config=config_facts(concerns=(concern("hook.evil.command", ConfigEffect.RUNS_PROGRAM, "id"),))),
        {"git_version": (2, 53, 9)},
    ),
    (
        "config-runs-program",
        report(config=config_facts(concerns=(concern("hook.evil.command", ConfigEffect.RUNS_PROGRAM, "id"),))),
        {"git_version": (2, 55, 0)},
    ),
    (
        "config-runs-program",
        report(config=config_facts(concerns=(concern("core.fsmonitor", ConfigEffect.RUNS_PROGRAM, "id"),))),
        {},
    ),
    ("multi-pack-index-chain", report(multi_pack_index=multi_pack_index()), {}),
    ("kept-packs", report(alternates=alternates(), packs=pack_facts(packs=(pack(kept=True),))), {}),
]


@pytest.mark.parametrize(("rule", "case", "facts"), SILENT)
def test_rule_says_nothing(rule: str, case, facts) -> None:
    assert refused_tasks(rule, case, **facts) == frozenset()


@pytest.mark.parametrize(("version", "is_refused"), [((2, 47, 3), True), ((2, 54, 9), True), ((2, 55, 0), False)])
def test_geometric_repack_of_a_partial_clone_needs_a_git_that_keeps_promisor_packs_apart(version, is_refused) -> None:
    case = report(packs=pack_facts(packs=(pack(promisor=True),), promisor_count=1))
    assert (Task.GEOMETRIC_REPACK in refused_tasks("partial-clone", case, git_version=version)) == is_refused


@pytest.mark.parametrize(
    ("own", "lent", "expected"),
    [
        ((bitmap(),), bitmap(), set()),
        ((bitmap(),), None, {"nothing-to-do"}),
        ((), bitmap(), {"nothing-to-do"}),
    ],
)
def test_member_may_remove_its_bitmaps_if_the_lender_has_one(own, lent, expected: set[str]) -> None:
    case = report(roles=(Role.MEMBER,), alternates=alternates(), bitmaps=own, lender_bitmap=lent)
    assert rules(Task.BITMAP, case) == expected


STORE_BYTES = 1000 + 100 + 500


@pytest.mark.parametrize("task", [Task.FULL_REPACK, Task.BITMAP, Task.RECLAIM])
@pytest.mark.parametrize(("more_bytes", "is_refused"), [(-1, True), (0, False), (1, False)])
def test_rewrite_needs_free_space_for_twice_the_object_store(task: Task, more_bytes: int, is_refused: bool) -> None:
    case = report(loose=loose_facts(count=3, bytes=500))
    assert needed_bytes(task, case, action_facts()) == 2 * STORE_BYTES
    refused = rules(task, case, free_bytes=2 * STORE_BYTES + more_bytes)
    assert ("too-little-space" in refused) == is_refused


@pytest.mark.parametrize(("more_bytes", "is_refused"), [(-1, True), (0, False), (1, False)])
def test_packing_loose_objects_needs_what_they_take_and_an_index(more_bytes: int, is_refused: bool) -> None:
    case = report(loose=loose_facts(count=3, bytes=500))
    assert ("too-little-space" in rules(Task.LOOSE_OBJECTS, case, free_bytes=500 + 3 * 64 + more_bytes)) == is_refused


@pytest.mark.parametrize(("more_bytes", "is_refused"), [(-1, True), (0, False), (1, False)])
def test_leaving_lenders_on_other_file_systems_needs_room_for_a_copy(more_bytes: int, is_refused: bool) -> None:
    refused = rules(Task.UNLINK, MEMBER, lent_bytes_elsewhere=9000, free_bytes=9000 + more_bytes)
    assert ("too-little-space" in refused) == is_refused


def test_unknown_free_space_speaks_against_nothing() -> None:
    assert refused_tasks("too-little-space", free_bytes=None) == frozenset()


def test_full_disk_leaves_what_writes_nothing() -> None:
    case = report(packs=pack_facts(orphan_index_names=("pack-x.idx",)))
    assert {Task.SWEEP, Task.ORPHAN_INDEXES, Task.VERIFY, Task.UNLINK}.isdisjoint(
        refused_tasks("too-little-space", case, free_bytes=0)
    )


HINTS = [
    report(borrowers=(b"/srv/git/b.git",)),
    report(roles=(Role.POOL,)),
    report(msgspec.structs.replace(REPOSITORY, layout=StorageLayout.GITLAB_POOL)),
    report(msgspec.structs.replace(REPOSITORY, common_dir=b"/srv/@pools/aa/bb/x.git")),
    report(msgspec.structs.replace(REPOSITORY, common_dir=b"/home/me/.scalarCache/id_x")),
    report(msgspec.structs.replace(REPOSITORY, common_dir=b"/var/lib/buildkite/git-mirrors/x")),
    report(references=reference_facts(has_dangling_namespace=True)),
    report(packs=pack_facts(keep_files=(KeepFile(name="pack-1.keep", mtime_s=NOW_S, by_transfer=False),))),
    report(config=config_facts(precious_objects=True)),
    report(config=config_facts(gc_prune_expire="never")),
    report(config=config_facts(gc_auto=0)),
    report(config=config_facts(remotes=(Remote(name="origin", url="https://x/y", mirror=True),))),
]


@pytest.mark.safety
@pytest.mark.parametrize("case", HINTS)
def test_what_may_be_a_lender_gets_the_list_of_a_lender(case) -> None:
    assert refused_tasks("lends-objects", case) == EVERY - ALLOWED_IN_LENDER


@pytest.mark.safety
@pytest.mark.parametrize(
    ("case", "begins"),
    [(HEALTHY, "others may need its objects: /srv/b.git"), (LENDER, "others may borrow from it: 1 repository borrows")],
)
def test_borrower_that_is_away_makes_a_lender_and_is_named(case, begins: str) -> None:
    facts = action_facts(remembered_borrower="/srv/b.git borrowed from it", why_borrowers_are_unknown="nobody looked")
    found = {task: refusals_of(task, case, facts) for task in Task}
    reasons = {task: one.reason for task, all_ in found.items() for one in all_ if one.rule == "lends-objects"}
    assert set(reasons) == EVERY - ALLOWED_IN_LENDER
    assert all(one.startswith(begins) and "/srv/b.git borrowed from it" in one for one in reasons.values())


@pytest.mark.parametrize("path", [b"/home/me/src/pre-commit/.git", b"/srv/@pool/x.git", b"/srv/pools.git"])
def test_name_alone_is_no_hint(path: bytes) -> None:
    case = report(msgspec.structs.replace(REPOSITORY, common_dir=path))
    assert refused_tasks("lends-objects", case) == frozenset()


def test_clone_of_scalar_is_no_lender_because_it_has_no_automatic_gc() -> None:
    case = report(config=config_facts(gc_auto=0, scalar_enlistment=True))
    assert refused_tasks("lends-objects", case) == frozenset()


def test_keep_file_of_a_transfer_is_no_hint() -> None:
    keep = KeepFile(name="pack-1.keep", mtime_s=NOW_S, by_transfer=True)
    assert refused_tasks("lends-objects", report(packs=pack_facts(keep_files=(keep,)))) == frozenset()


def test_reason_names_holder_and_start_of_a_lock() -> None:
    (refusal,) = refusals_of(Task.SWEEP, HEALTHY, action_facts(maintenance_lock=held()))
    since = time.strftime("%H:%M", time.localtime(NOW_S - 3_600))
    assert refusal.reason == f"objects/maintenance.lock, held by PID 4711 since {since}"


def test_lock_that_nobody_is_seen_to_hold_stays_a_reason_and_says_what_to_do() -> None:
    (refusal,) = refusals_of(Task.SWEEP, HEALTHY, action_facts(maintenance_lock=held(holder=None)))
    assert refusal.reason.startswith("objects/maintenance.lock, 1h old, and no process seen holding it; remove it once")


def test_reason_is_printable_whatever_the_repository_says() -> None:
    case = report(facts=Unreadable("a\x1b[31m\u202e"))
    (refusal,) = refusals_of(Task.VERIFY, case, action_facts())
    assert refusal.reason == "a\\x1b[31m\\u202e"


def test_reasons_that_hold_for_everything_are_the_common_ones() -> None:
    facts = action_facts(maintenance_lock=held(), is_read_only_mode=True)
    assert [refusal.rule for refusal in common_refusals(HEALTHY, facts)] == ["read-only-mode", "maintenance-locked"]
    assert common_refusals(LENDER, action_facts()) == ()


def test_partial_clone_is_known_by_its_config_or_its_packs() -> None:
    by_pack = report(facts=inspection(packs=pack_facts(packs=(pack(promisor=True),))))
    by_config = report(config=config_facts(partial_clone=True))
    assert refused_tasks("partial-clone", by_pack) == refused_tasks("partial-clone", by_config) != frozenset()
