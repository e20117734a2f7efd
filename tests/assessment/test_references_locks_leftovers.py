"""References, locks, gc.log, gc.pid, keep files and temporary files: each at its threshold."""

import pytest

from gitdash.assessment.locks import LOCK_KINDS
from gitdash.assessment.subject import Subject
from gitdash.model.inspection import KeepFile, TemporaryFile
from gitdash.model.policy import Policy
from gitdash.model.repository import Repository, RepositoryKind
from tests.assessment.subjects import (
    DAY_S,
    HOUR_S,
    NOW_S,
    alternates,
    finding_of,
    found,
    judge,
    lock,
    loose_facts,
    pack_facts,
    reference_facts,
    subject,
)


@pytest.mark.parametrize(
    ("packed_bytes", "limit_count"),
    [(1 << 10, 16), (10 << 10, 33), (100 << 10, 49), (1 << 20, 66), (10 << 20, 82), (100 << 20, 99)],
)
@pytest.mark.parametrize("distance", [-1, 0, 1])
def test_loose_references_are_found_from_the_limit_on(packed_bytes: int, limit_count: int, distance: int) -> None:
    references = reference_facts(loose_count=limit_count + distance, packed_bytes=packed_bytes)
    expected = {"loose-references": "notice"} if distance >= 0 else {}
    assert found(subject(references=references)) == expected


@pytest.mark.parametrize(("loose_count", "severity"), [(999, "notice"), (1000, "warning")])
def test_very_many_loose_references_are_a_warning(loose_count: int, severity: str) -> None:
    assert found(subject(references=reference_facts(loose_count=loose_count))) == {"loose-references": severity}


def test_no_loose_reference_is_never_too_many() -> None:
    judged = subject(references=reference_facts(loose_count=0))
    assert found(judged, Policy(loose_references_minimum=0)) == {}


@pytest.mark.parametrize(("first_bytes", "fires"), [(387, False), (386, True)])
def test_reftable_stack_that_breaks_the_progression_is_a_notice(first_bytes: int, fires: bool) -> None:
    references = reference_facts(loose_count=0, packed_count=None, reftable_bytes=(first_bytes, 239, 165))
    assert found(subject(references=references)) == ({"reftable-stack": "notice"} if fires else {})


def test_missing_table_is_critical() -> None:
    references = reference_facts(loose_count=0, packed_count=None, reftable_bytes=(300,), reftable_missing_count=1)
    assert found(subject(references=references)) == {"reftable-missing-tables": "critical"}


@pytest.mark.parametrize(("age_s", "fires"), [(HOUR_S, False), (DAY_S - 1, False), (DAY_S, True), (25 * HOUR_S, True)])
def test_empty_loose_reference_is_a_warning_after_a_day(age_s: float, fires: bool) -> None:
    references = reference_facts(
        empty_loose_names=("refs/heads/x",), empty_loose_count=1, empty_loose_oldest_mtime_s=NOW_S - age_s
    )
    assert found(subject(references=references)) == ({"empty-references": "warning"} if fires else {})


def test_all_empty_references_are_counted_though_only_some_are_named() -> None:
    references = reference_facts(
        empty_loose_names=tuple(f"refs/heads/{number:02}" for number in range(20)),
        empty_loose_count=30,
        empty_loose_oldest_mtime_s=NOW_S - DAY_S,
    )
    finding = finding_of("empty-references", subject(references=references))
    assert finding.summary.startswith("30 empty loose references")
    assert finding.summary.endswith(": refs/heads/00, refs/heads/01, refs/heads/02 and 27 more")
    assert finding.evidence["empty_count"] == 30
    assert finding.remedy.count("/srv/git/a.git/refs/heads/") == 10
    assert "and so with 20 more" in finding.remedy


QUARTER_S = 900.0


@pytest.mark.parametrize(
    ("path", "limit_s"),
    [
        ("config.lock", QUARTER_S),
        ("HEAD.lock", QUARTER_S),
        ("info/attributes.lock", QUARTER_S),
        ("objects/info/alternates.lock", QUARTER_S),
        ("objects/info/commit-graphs/commit-graph-chain.lock", QUARTER_S),
        ("objects/info/commit-graph.lock", QUARTER_S),
        ("objects/pack/multi-pack-index.lock", QUARTER_S),
        ("packed-refs.new", QUARTER_S),
        ("packed-refs.lock", HOUR_S),
        ("refs/heads/main.lock", HOUR_S),
        ("refs/tags/deep/er.lock", HOUR_S),
        ("reftable/tables.list.lock", HOUR_S),
        ("index.lock", HOUR_S),
        ("shallow.lock", HOUR_S),
        ("FETCH_HEAD.lock", HOUR_S),
    ],
)
def test_lock_is_stale_at_the_age_of_its_kind(path: str, limit_s: float) -> None:
    assert found(subject(locks=(lock(path, limit_s - 1),))) == {}
    assert found(subject(locks=(lock(path, limit_s),))) == {"stale-lock": "warning"}
    assert found(subject(locks=(lock(path, -50),))) == {}


def test_each_kind_of_lock_says_what_it_stops() -> None:
    summary = finding_of("stale-lock", subject(locks=(lock("packed-refs.lock", 2 * HOUR_S),))).summary
    assert summary == ("packed-refs.lock, 2h old, no process seen holding it; stops packing and deleting references")
    assert len({kind.name for kind in LOCK_KINDS}) == len(LOCK_KINDS)


def test_lock_with_a_live_holder_is_a_notice_that_names_it() -> None:
    finding = finding_of("stale-lock", subject(locks=(lock("index.lock", 3 * HOUR_S, holder_pid=4711),)))
    assert finding.severity == "notice"
    assert "held by process 4711" in finding.summary
    assert finding.remedy == "wait for process 4711, or end it"


def test_locks_of_one_kind_are_one_finding() -> None:
    locks = tuple(lock(f"refs/heads/{number}.lock", 2 * HOUR_S + number) for number in range(500))
    finding = finding_of("stale-lock", subject(locks=locks))
    assert finding.summary.startswith("refs/heads/499.lock and 499 others like it, 2h old")
    assert finding.evidence["lock_count"] == 500


def test_remedy_names_ten_files_and_counts_the_rest() -> None:
    locks = tuple(lock(f"refs/heads/{number}.lock", 2 * HOUR_S) for number in range(500))
    remedy = finding_of("stale-lock", subject(locks=locks)).remedy
    assert remedy.count("/srv/git/a.git/refs/heads/") == 10
    assert remedy.endswith("`, and so with 490 more")


def test_locks_left_out_by_inspection_are_counted_with_those_that_are_stale() -> None:
    locks = (lock("refs/heads/a.lock", DAY_S), lock("refs/heads/b.lock", 2 * HOUR_S))
    finding = finding_of("stale-lock", subject(locks=locks, left_out_lock_count=70))
    assert finding.summary.startswith("refs/heads/a.lock and 71 others like it, 1d old")
    assert finding.evidence["lock_count"] == 72
    assert finding.remedy.endswith("`, and so with 70 more")
    young = (lock("refs/heads/a.lock", DAY_S), lock("refs/heads/b.lock", HOUR_S - 1), lock("shallow.lock", HOUR_S))
    stale = [one for one in judge(subject(locks=young, left_out_lock_count=70)) if one.rule == "stale-lock"]
    assert [one.evidence["lock_count"] for one in stale] == [1, 1]


def test_remedy_names_no_file_whose_name_is_shown_escaped() -> None:
    locks = (lock("refs/heads/a\\x1b.lock", 2 * HOUR_S),)
    assert finding_of("stale-lock", subject(locks=locks)).remedy.endswith("then `rm --` with the path of each")


def test_shared_lock_is_not_repeated_for_a_linked_worktree() -> None:
    linked = Repository(
        path=b"/w", git_dir=b"/r/worktrees/w", common_dir=b"/r", kind=RepositoryKind.LINKED_WORKTREE, root=b"/"
    )
    locks = (lock("packed-refs.lock", DAY_S), lock("index.lock", DAY_S))
    assert stale_locks(subject(linked, locks=locks, counts_store=False)) == ["index.lock"]
    assert stale_locks(subject(linked, locks=locks)) == ["packed-refs.lock", "index.lock"]


def stale_locks(judged: Subject) -> list[object]:
    return [finding.evidence["path"] for finding in judge(judged) if finding.rule == "stale-lock"]


@pytest.mark.parametrize(("age_s", "fires"), [(HOUR_S - 1, False), (HOUR_S, True)])
def test_maintenance_lock_says_that_maintenance_does_nothing(age_s: float, fires: bool) -> None:
    judged = subject(locks=(lock("objects/maintenance.lock", age_s),))
    assert found(judged) == ({"maintenance-lock": "warning"} if fires else {})
    if fires:
        assert "silently does nothing" in finding_of("maintenance-lock", judged).summary


def test_maintenance_that_still_runs_is_a_notice() -> None:
    judged = subject(locks=(lock("objects/maintenance.lock", DAY_S, holder_pid=12),))
    assert found(judged) == {"maintenance-lock": "notice"}


@pytest.mark.parametrize(
    ("holder", "words"),
    [
        ({}, "its process is gone"),
        ({"holder_pid": 7}, "process 7 still runs"),
        ({"holder_host": "other"}, "its process is on host other"),
    ],
)
def test_gc_pid_is_a_notice_after_twelve_hours(holder: dict[str, object], words: str) -> None:
    assert found(subject(locks=(lock("gc.pid", 12 * HOUR_S - 1, **holder),))) == {}
    judged = subject(locks=(lock("gc.pid", 12 * HOUR_S, **holder),))
    assert found(judged) == {"gc-pid": "notice"}
    assert words in finding_of("gc-pid", judged).summary


@pytest.mark.parametrize(("age_s", "severity"), [(DAY_S - 1, "warning"), (DAY_S, "notice")])
def test_gc_log_blocks_automatic_gc_for_a_day(age_s: float, severity: str) -> None:
    judged = subject(gc_log="error: Could not read abc", gc_log_mtime_s=NOW_S - age_s)
    finding = finding_of("gc-log", judged)
    assert finding.severity == severity
    assert "error: Could not read abc" in finding.summary


@pytest.mark.parametrize(
    ("age_s", "by_transfer", "fires"),
    [(7 * DAY_S - 1, True, False), (7 * DAY_S, True, True), (700 * DAY_S, False, False)],
)
def test_keep_of_a_transfer_is_stale_after_a_week_and_that_of_a_person_never(
    age_s: float, by_transfer: bool, fires: bool
) -> None:
    keep = KeepFile(name="pack-1.keep", mtime_s=NOW_S - age_s, by_transfer=by_transfer)
    assert found(subject(packs=pack_facts(keep_files=(keep,)))) == ({"stale-keep": "warning"} if fires else {})


@pytest.mark.parametrize(
    ("age_s", "is_directory", "fires"),
    [(DAY_S, False, False), (DAY_S + 1, False, True), (3 * DAY_S, True, False), (3 * DAY_S + 1, True, True)],
)
def test_temporary_files_are_abandoned_after_a_day_and_folders_after_three(
    age_s: float, is_directory: bool, fires: bool
) -> None:
    left = TemporaryFile(path="objects/x", bytes=10, mtime_s=NOW_S - age_s, is_directory=is_directory)
    assert found(subject(loose=loose_facts(temporary_files=(left,)))) == (
        {"temporary-files": "notice"} if fires else {}
    )


def test_temporary_files_of_packs_and_shards_are_added_up() -> None:
    old = NOW_S - 4 * DAY_S
    pack_left = TemporaryFile(path="objects/pack/tmp_pack_a", bytes=100 << 20, mtime_s=old)
    shard_left = TemporaryFile(path="objects/17/tmp_obj_b", bytes=5, mtime_s=old - DAY_S)
    judged = subject(packs=pack_facts(temporary_files=(pack_left,)), loose=loose_facts(temporary_files=(shard_left,)))
    finding = finding_of("temporary-files", judged)
    assert finding.severity == "warning"
    assert finding.evidence == {
        "temporary_count": 2,
        "temporary_bytes": (100 << 20) + 5,
        "oldest_age_s": 5 * DAY_S,
    }


def test_references_without_any_object_are_critical() -> None:
    empty = pack_facts(packs=(), count=0, bytes=0)
    judged = subject(packs=empty)
    assert found(judged) == {"objects-gone": "critical"}
    assert finding_of("objects-gone", judged).summary == "11 references and no objects"
    assert found(subject(packs=empty, loose=loose_facts(count=1))) == {}
    unborn = reference_facts(loose_count=0, packed_count=0, packed_bytes=0)
    assert found(subject(packs=empty, references=unborn)) == {}
    assert "objects-gone" not in found(subject(packs=empty, alternates=alternates()))
