"""Stale garbage goes when it is old, ours and open in no process; everything else stays."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from gitdash.assessment.locks import LOCK_KINDS, LockKind
from gitdash.maintenance import sweeping
from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.planning import plan
from gitdash.maintenance.stale_files import look_for_leftovers
from gitdash.model.ledger import Outcome
from gitdash.model.policy import Policy
from gitdash.model.task import Task
from gitdash.units import human_age
from tests.support.chaos import small_volume
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GitRepository
from tests.support.task_runs import program, report_of, run

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
AGES_S = {
    "config.lock": 15 * MINUTE_S,
    "HEAD.lock": 15 * MINUTE_S,
    "info/attributes.lock": 15 * MINUTE_S,
    "objects/info/alternates.lock": 15 * MINUTE_S,
    "objects/info/commit-graphs/commit-graph-chain.lock": 15 * MINUTE_S,
    "objects/pack/multi-pack-index.lock": 15 * MINUTE_S,
    "packed-refs.new": 15 * MINUTE_S,
    "packed-refs.lock": HOUR_S,
    "refs/heads/main.lock": HOUR_S,
    "refs/remotes/origin/x/y.lock": HOUR_S,
    "reftable/tables.list.lock": HOUR_S,
    "objects/pack/tmp_pack_aBc012": DAY_S,
    "objects/pack/tmp_idx_aBc012": DAY_S,
    "objects/pack/.tmp-4194305-pack-0123.pack": DAY_S,
    "objects/17/tmp_obj_aBc012": DAY_S,
    "objects/17/tmp_object_aBc012": DAY_S,
    "objects/tmp_notes": DAY_S,
    "objects/pack/tmp_import": DAY_S,
    "objects/pack/tmp_pack_abc": DAY_S,
    "objects/info/commit-graphs/tmp_mine": DAY_S,
    "objects/pack/multi-pack-index.d/tmp_midx_aBc012": DAY_S,
}
"""What is swept, by the age that Gitaly gives it; no process has the number 4194305."""
STAYS = (
    "index.lock",
    "shallow.lock",
    "objects/maintenance.lock.old",
    "objects/info/commit-graph.lock",
    "objects/pack/multi-pack-index.lock.x",
    "objects/pack/pack-1.pack.x",
    "refs/heads/tmp_branch",
    "tmp_pack_top",
    "logs/HEAD.lock",
    "gitdash.lock",
    "objects/pack/tmp_import.pack",
    "objects/pack/tmp_import.keep",
    "objects/pack/tmp_pack_aBc01.",
    "objects/pack/tmp_",
    "objects/pack/below/tmp_pack_aBc012",
    "objects/pack/.tmp-4194305-notes",
    "objects/pack/.tmp-notes-pack-0123.pack",
    "objects/17/.tmp-4194305-pack-0123.pack",
)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    return repository


def leave(repository: GitRepository, name: str, age_s: float, content: bytes = b"x") -> Path:
    path = repository.git_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    moment_s = time.time() - age_s
    os.utime(path, (moment_s, moment_s))
    return path


@pytest.mark.parametrize("name", AGES_S)
def test_each_kind_goes_at_its_age_and_not_before(repository: GitRepository, name: str) -> None:
    if not name.startswith("objects/") or "lock" in name:
        # a lock that is younger than it is called stale at keeps a task from running at all
        path = leave(repository, name, AGES_S[name] + 1)
    else:
        path = leave(repository, name, AGES_S[name] - 60)
        assert run(repository, Task.SWEEP).outcome is Outcome.NOTHING_TO_DO
        assert path.exists()
        leave(repository, name, AGES_S[name] + 1)
    result = run(repository, Task.SWEEP)
    if result.outcome is Outcome.REFUSED:
        leave(repository, name, 2 * HOUR_S)
        result = run(repository, Task.SWEEP)
    assert result.outcome is Outcome.DONE, result.sentence
    assert result.removed == (name,)
    assert not path.exists()


@pytest.mark.parametrize("name", STAYS)
def test_what_is_on_no_list_stays(repository: GitRepository, name: str) -> None:
    path = leave(repository, name, 400 * DAY_S)
    run(repository, Task.SWEEP)
    assert path.exists()


def test_what_a_process_has_open_stays(repository: GitRepository) -> None:
    path = leave(repository, "objects/pack/tmp_pack_aBc012", 30 * DAY_S)
    with path.open("rb"):
        assert run(repository, Task.SWEEP).outcome is Outcome.NOTHING_TO_DO
    assert path.exists()
    assert run(repository, Task.SWEEP).removed == ("objects/pack/tmp_pack_aBc012",)


def test_what_a_process_opens_right_before_it_goes_stays_and_is_told(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = leave(repository, "objects/pack/tmp_pack_aBc012", 30 * DAY_S)
    look = sweeping.look_for_leftovers
    opened = []

    def look_and_open(*arguments: Any) -> object:
        found = look(*arguments)
        opened.append(path.open("rb"))
        return found

    monkeypatch.setattr(sweeping, "look_for_leftovers", look_and_open)
    result = run(repository, Task.SWEEP)
    opened[0].close()
    assert path.exists()
    assert f"objects/pack/tmp_pack_aBc012 stays: process {os.getpid()} has it open" in result.sentence


@pytest.mark.safety
def test_what_a_process_has_open_by_another_name_stays(repository: GitRepository, tmp_path: Path) -> None:
    path = leave(repository, "objects/pack/tmp_pack_aBc012", 30 * DAY_S)
    os.link(path, tmp_path / "other name")
    with (tmp_path / "other name").open("rb"):
        assert run(repository, Task.SWEEP).outcome is Outcome.NOTHING_TO_DO
    assert path.exists()
    assert run(repository, Task.SWEEP).removed == ("objects/pack/tmp_pack_aBc012",)


def test_what_a_repack_that_lives_made_stays(repository: GitRepository) -> None:
    path = leave(repository, f"objects/pack/.tmp-{os.getpid()}-pack-0123.pack", 30 * DAY_S)
    run(repository, Task.SWEEP)
    assert path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_another_user_owns_stays(repository: GitRepository) -> None:
    path = leave(repository, "objects/pack/tmp_pack_aBc012", 30 * DAY_S)
    os.chown(path, 12345, 12345)
    run(repository, Task.SWEEP)
    assert path.exists()


@pytest.mark.safety
def test_what_a_link_leads_to_stays(repository: GitRepository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("tmp_pack_target", "tmp_obj_folder"):
        (outside / name).write_bytes(b"precious")
        os.utime(outside / name, (0, 0))
    link = repository.git_dir / "objects" / "pack" / "tmp_pack_link01"
    link.symlink_to(outside / "tmp_pack_target")
    os.utime(link, (0, 0), follow_symlinks=False)
    (repository.git_dir / "objects" / "zz").symlink_to(outside)
    folder = repository.git_dir / "objects" / "tmp_objdir-incoming-link01"
    folder.symlink_to(outside)
    os.utime(folder, (0, 0), follow_symlinks=False)
    fifo = repository.git_dir / "objects" / "pack" / "tmp_pack_fifo01"
    os.mkfifo(fifo)
    os.utime(fifo, (0, 0))
    run(repository, Task.SWEEP)
    assert sorted(path.name for path in outside.iterdir()) == ["tmp_obj_folder", "tmp_pack_target"]
    assert link.is_symlink()
    assert fifo.exists()


def test_a_quarantine_goes_whole_after_three_days_if_all_of_it_is_old(repository: GitRepository) -> None:
    old, mixed = (repository.git_dir / "objects" / f"tmp_objdir-incoming-{name}" for name in ("01dold", "mIxed1"))
    for folder in (old, mixed):
        leave(repository, f"{folder.relative_to(repository.git_dir)}/ab/{'c' * 38}", 4 * DAY_S)
    leave(repository, f"{mixed.relative_to(repository.git_dir)}/ab/{'d' * 38}", 2 * DAY_S)
    for folder in (old, mixed):
        for path in (folder / "ab", folder):
            os.utime(path, (time.time() - 4 * DAY_S,) * 2)
    result = run(repository, Task.SWEEP)
    assert not old.exists()
    assert sorted(path.name for path in (mixed / "ab").iterdir()) == ["c" * 38, "d" * 38]
    assert "objects/tmp_objdir-incoming-01dold" in result.removed


def leave_folder(repository: GitRepository, name: str, *below: str) -> Path:
    for path in below:
        leave(repository, f"objects/{name}/{path}", 400 * DAY_S)
    folder = repository.git_dir / "objects" / name
    for path in (*folder.rglob("*"), folder):
        if path.is_dir():
            os.utime(path, (0, 0))
    return folder


WHOLE_QUARANTINE = (
    f"pack/pack-{'a' * 40}.pack",
    f"pack/pack-{'a' * 40}.idx",
    f"pack/pack-{'a' * 40}.keep",
    "pack/tmp_pack_aBc012",
    f"17/{'a' * 38}",
    f"18/{'b' * 62}",
    "18/tmp_obj_aBc012",
    "bulk_fsync_aBc012",
)


@pytest.mark.parametrize(
    "name",
    ["incoming-aBc012", "tmp_objdir-incoming-aBc012", "tmp_objdir-bulk-fsync-aBc012", "tmp_objdir-remerge-diff-aBc012"],
)
def test_a_quarantine_of_each_name_goes_with_all_that_git_writes_there(repository: GitRepository, name: str) -> None:
    folder = leave_folder(repository, name, *WHOLE_QUARANTINE)
    assert run(repository, Task.SWEEP).removed_count
    assert not folder.exists()


@pytest.mark.safety
@pytest.mark.parametrize(
    "name", ["incoming-mine", "incoming-backup1", "tmp_objdir-mine", "tmp_objdir_aBc012", "incoming-"]
)
def test_a_folder_that_git_did_not_name_stays(repository: GitRepository, name: str) -> None:
    folder = leave_folder(repository, name, *WHOLE_QUARANTINE)
    run(repository, Task.SWEEP)
    assert all((folder / path).exists() for path in WHOLE_QUARANTINE)


@pytest.mark.safety
@pytest.mark.parametrize(
    "mine",
    ["thesis.txt", "pack/thesis.txt", f"17/{'a' * 37}", f"aa/bb/{'c' * 38}", "info/notes", f"17x/{'a' * 38}", "mine/x"],
)
def test_a_folder_named_like_a_quarantine_stays_for_anything_in_it_that_git_did_not_write(
    repository: GitRepository, mine: str
) -> None:
    folder = leave_folder(repository, "incoming-backup", *WHOLE_QUARANTINE, mine)
    result = run(repository, Task.SWEEP)
    assert all((folder / path).exists() for path in (*WHOLE_QUARANTINE, mine))
    assert "incoming-backup stays: git does not write" in result.sentence


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("is_own", [True, False], ids=["by itself", "by another"])
def test_a_store_that_is_borrowed_from_stays_whatever_its_name(
    repository: GitRepository, tmp_path: Path, is_own: bool
) -> None:
    other = GitRepository.init(tmp_path / "other.git")
    other.commit({"b": "1"})
    other.repack()
    store = repository.git_dir / "objects" / "incoming-aBc012"
    shutil.copytree(other.git_dir / "objects" / "pack", store / "pack")
    borrower = repository if is_own else GitRepository.init(tmp_path / "borrower.git")
    (borrower.git_dir / "objects" / "info").mkdir(exist_ok=True)
    (borrower.git_dir / "objects" / "info" / "alternates").write_text(f"{store}\n")
    borrower.git("update-ref", "refs/heads/borrowed", other.git("rev-parse", "main"))
    grow_old(repository)
    for folder in (store / "pack", store):
        os.utime(folder, (0, 0))
    assert complaints(borrower) == ""
    result = run(repository, Task.SWEEP, borrowers=[] if is_own else [borrower])
    assert complaints(borrower) == ""
    assert f"{borrower.path} borrows objects from it" in result.sentence


@pytest.mark.parametrize(
    ("content", "age_s", "goes"),
    [
        (b"fetch-pack 123 on host\n", 8 * DAY_S, True),
        (b"receive-pack 123 on host\n", 8 * DAY_S, True),
        (b"receive-pack 123 on host\n", 6 * DAY_S, False),
        (b"", 400 * DAY_S, False),
        (b"kept for release 1.0\n", 400 * DAY_S, False),
    ],
)
def test_a_mark_of_a_transfer_goes_and_a_persons_stays(
    repository: GitRepository, content: bytes, age_s: float, goes: bool
) -> None:
    repository.repack()
    keep = leave(repository, f"objects/pack/{repository.packs()[0].stem}.keep", age_s, content)
    run(repository, Task.SWEEP)
    assert keep.exists() is not goes
    assert len(repository.packs()) == 1


def test_an_empty_reference_is_reported_and_stays(repository: GitRepository) -> None:
    path = leave(repository, "refs/heads/empty", 3 * DAY_S, b"")
    result = run(repository, Task.SWEEP)
    assert "refs/heads/empty stays: an empty reference is damage" in result.sentence
    assert path.exists()


def test_index_files_go_only_without_their_pack(repository: GitRepository) -> None:
    repository.repack()
    pack = repository.packs()[0]
    orphan = pack.parent / f"pack-{'0' * 40}.idx"
    orphan.write_bytes(pack.with_suffix(".idx").read_bytes())
    result = run(repository, Task.ORPHAN_INDEXES)
    assert result.removed == (f"objects/pack/{orphan.name}",)
    assert pack.with_suffix(".idx").exists()
    assert not orphan.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk_does_not_keep_it_from_making_room(tmp_path: Path) -> None:
    with small_volume(tmp_path / "volume", 1 << 20) as volume:
        if volume is None:
            pytest.skip("no file system can be mounted here")
        repository = GitRepository.init(volume / "one.git")
        repository.commit({"a": "1"})
        path = leave(repository, "objects/pack/tmp_pack_aBc012", 2 * DAY_S, b"x" * 100_000)
        with pytest.raises(OSError, match="No space left"):
            (volume / "filler").write_bytes(b"x" * (1 << 20))
        result = run(repository, Task.SWEEP)
        assert result.outcome is Outcome.DONE, result.sentence
        assert not path.exists()
        assert not (repository.git_dir / "objects" / "maintenance.lock").exists()


def leave_pack_of_stopped_repack(repository: GitRepository) -> list[Path]:
    """What a `git repack` leaves that is killed between its pack and its renames; no process has the number."""
    folder = repository.git_dir / "objects" / "pack"
    listed = repository.git("rev-list", "--objects", "--no-object-names", "--all").encode()
    repository.git("pack-objects", "-q", os.fspath(folder / ".tmp-4194305-pack"), stdin=listed + b"\n")
    return sorted(folder.glob(".tmp-4194305-pack-*"))


@pytest.mark.oracle
@pytest.mark.safety
def test_a_complete_pack_of_a_stopped_repack_stays_for_git_reads_it(repository: GitRepository) -> None:
    files = leave_pack_of_stopped_repack(repository)
    repository.git("prune-packed")
    grow_old(repository)
    result = run(repository, Task.SWEEP)
    assert complaints(repository) == ""
    assert result.removed == ()
    assert all(path.exists() for path in files)


@pytest.mark.safety
def test_a_pack_that_the_multi_pack_index_names_stays_without_its_index(repository: GitRepository) -> None:
    files = leave_pack_of_stopped_repack(repository)
    repository.git("multi-pack-index", "write")
    next(path for path in files if path.suffix == ".idx").unlink()
    grow_old(repository)
    run(repository, Task.SWEEP)
    assert next(path for path in files if path.suffix == ".pack").exists()


@pytest.mark.oracle
def test_incremental_repacks_take_in_what_a_stopped_repack_left(repository: GitRepository) -> None:
    files = leave_pack_of_stopped_repack(repository)
    repository.git("prune-packed")
    for number in range(2):
        repository.commit({"a": f"{number} more"})
        repository.git("repack", "-d", "-q")
    grow_old(repository)
    before = visible_objects(repository)
    for _ in range(2):
        assert run(repository, Task.INCREMENTAL_REPACK).outcome is Outcome.DONE
    assert not any(path.exists() for path in files if path.suffix in {".pack", ".idx"})
    assert visible_objects(repository) == before
    assert complaints(repository) == ""


def test_a_pack_of_a_stopped_repack_without_an_index_goes(repository: GitRepository) -> None:
    pack = leave(repository, "objects/pack/.tmp-4194305-pack-0123.pack", 2 * DAY_S)
    other = leave(repository, "objects/pack/.tmp-4194305-pack-4567.idx", 2 * DAY_S)
    run(repository, Task.SWEEP)
    assert not pack.exists()
    assert not other.exists()


@pytest.mark.parametrize("kind", LOCK_KINDS, ids=lambda kind: kind.name)
def test_findings_name_sweep_for_the_locks_that_it_removes(repository: GitRepository, kind: LockKind) -> None:
    endings = {"refs/": "refs/heads/main.lock", "reftable/": "reftable/tables.list.lock"}
    lock = leave(repository, endings.get(kind.name, kind.name), 5 * DAY_S)
    findings = [finding for finding in report_of(repository).findings if finding.rule == "stale-lock"]
    assert [finding.task for finding in findings] == ["sweep" if kind.is_swept else None]
    result = run(repository, Task.SWEEP)
    assert lock.exists() is not kind.is_swept
    assert result.outcome is (Outcome.DONE if kind.is_swept else Outcome.NOTHING_TO_DO)
    if not kind.is_swept:
        assert "remove it once you know that no git runs here" in result.sentence


def test_a_plan_from_findings_says_what_to_do_about_an_old_index_lock_and_plans_no_sweep(
    repository: GitRepository,
) -> None:
    leave(repository, "index.lock", 3 * DAY_S)
    report = report_of(repository)
    made = plan(report, read_facts(report, program=program(), now_s=time.time()))
    assert Task.SWEEP not in {planned.task for planned in made.tasks}
    (unmended,) = [one for one in made.unmended if one.rule == "stale-lock"]
    assert "index.lock" in unmended.remedy


@pytest.mark.parametrize("task", [Task.PACK_REFS, Task.COMMIT_GRAPH])
def test_a_lock_that_others_need_does_not_make_a_task_that_changed_nothing_skipped(
    repository: GitRepository, task: Task
) -> None:
    run(repository, task)
    leave(repository, "index.lock", 3 * DAY_S)
    assert run(repository, task).outcome is Outcome.NOTHING_TO_DO


def test_a_gc_pid_of_another_host_is_left_to_people_and_never_promised(repository: GitRepository) -> None:
    leave(repository, "gc.pid", 2 * DAY_S, b"4711 elsewhere")
    report = report_of(repository)
    assert {finding.task for finding in report.findings if finding.rule == "gc-pid"} == {None}
    made = plan(report, read_facts(report, program=program(), now_s=time.time()), [Task.SWEEP])
    assert made.tasks[0].is_needless
    assert "gc.pid stays" in made.tasks[0].refusals[0].reason


def test_a_file_that_is_too_young_is_told_with_its_age(repository: GitRepository) -> None:
    leave(repository, "objects/pack/tmp_pack_abcdef", 2 * HOUR_S)
    result = run(repository, Task.SWEEP)
    assert result.outcome is Outcome.NOTHING_TO_DO
    assert "objects/pack/tmp_pack_abcdef stays: 2h old, and it goes when it is 1d old" in result.sentence


@pytest.mark.parametrize(("keep_age_s", "old_enough_s"), [(3 * DAY_S, 7 * DAY_S), (14 * DAY_S, 14 * DAY_S)])
def test_configured_ages_are_kept_and_are_never_less_than_gits_own_work_may_need(
    repository: GitRepository, keep_age_s: float, old_enough_s: float
) -> None:
    policy = Policy(keep_age_s=keep_age_s)
    path = leave(repository, "objects/pack/pack-1.keep", old_enough_s - 60)
    path.write_text("fetch-pack 17 on host\n")
    os.utime(path, (time.time() - old_enough_s + 60,) * 2)
    (young,) = look_for_leftovers(report_of(repository), time.time(), (), policy)
    (old,) = look_for_leftovers(report_of(repository), time.time() + 61, (), policy)
    assert young.file.kept_because is not None
    assert f"it goes when it is {human_age(old_enough_s)} old" in young.file.kept_because
    assert old.file.kept_because is None
