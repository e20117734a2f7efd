"""One task under way: what it says of itself, what it leaves, and what readers meet meanwhile."""

import dataclasses
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.maintenance import running
from gitdash.maintenance.figures import figures_of
from gitdash.maintenance.running import DEFAULT_TIME_LIMIT_S, TaskResult
from gitdash.maintenance.work import Work
from gitdash.model.ledger import Outcome, Reason
from gitdash.model.plan import Step
from gitdash.model.progress import CommandProgress
from gitdash.model.task import Task
from tests.support import task_runs
from tests.support.chaos import in_child, small_volume
from tests.support.meanwhile import Meanwhile
from tests.support.old_stores import complaints, grow_old, visible_objects
from tests.support.repositories import GIT, GitRepository, clean_environment
from tests.support.task_runs import make_lender_and_member, planned, program, report_of, run


def make_repository(folder: Path, *, commit_count: int = 3) -> GitRepository:
    """A bare repository with loose objects and loose references."""
    repository = GitRepository.init(folder / "one.git")
    for number in range(commit_count):
        repository.commit({"a": str(number)}, reference=f"refs/heads/b{number}")
    return repository


class OnStep(list[str]):
    """Events that do something when the first step begins."""

    def __init__(self, act: object) -> None:
        super().__init__()
        self._act = act

    def append(self, event: str) -> None:
        if not self:
            assert callable(self._act)
            self._act()
        super().append(event)


def test_pack_refs_is_done_once_and_then_there_is_nothing_to_do(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    first = run(repository, Task.PACK_REFS)
    assert first.outcome is Outcome.DONE
    assert first.removed == ("refs/heads/b0", "refs/heads/b1", "refs/heads/b2")
    assert [command.argv[-3:] for command in first.commands] == [("pack-refs", "--all", "--prune")]
    assert run(repository, Task.PACK_REFS).outcome is Outcome.NOTHING_TO_DO


def test_figures_before_and_after_are_those_of_git(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    result = run(repository, Task.LOOSE_OBJECTS)
    assert result.before is not None
    assert result.after is not None
    assert (result.before.loose_count, result.before.pack_count) == (9, 0)
    assert (result.after.loose_count, result.after.pack_count) == (0, 1)
    assert result.after.pack_bytes == repository.packs()[0].stat().st_size
    assert "packs 0 -> 1, loose objects 9 -> 0" in result.sentence


def test_lock_of_ours_counts_in_no_figure(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    before = figures_of(report_of(repository)).disk_bytes
    result = run(repository, Task.LOOSE_OBJECTS)
    assert result.before is not None
    assert result.after is not None
    assert result.before.disk_bytes == before
    assert result.after.disk_bytes == figures_of(report_of(repository)).disk_bytes


def test_progress_of_git_is_heard_and_not_kept(tmp_path: Path) -> None:
    heard: list[CommandProgress] = []
    result = run(make_repository(tmp_path), Task.FULL_REPACK, on_progress=heard.append)
    assert CommandProgress(phase="writing objects", done_count=9, total_count=9) in heard
    assert [command.stderr for command in result.commands] == [""] * len(result.commands)


def test_a_file_that_is_written_again_and_is_the_same_is_no_change(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    repository.repack()
    assert run(repository, Task.MULTI_PACK_INDEX).outcome is Outcome.DONE
    index = repository.git_dir / "objects" / "pack" / "multi-pack-index"
    grow_old(repository)
    content = index.read_bytes()
    assert run(repository, Task.MULTI_PACK_INDEX).outcome is Outcome.NOTHING_TO_DO
    assert index.read_bytes() == content


def test_exit_code_0_beside_a_lock_is_no_success(tmp_path: Path) -> None:
    """git's own commit-graph write passes by a chain that is locked, with a warning and exit code 0."""
    repository = make_repository(tmp_path)
    folder = repository.git_dir / "objects" / "info" / "commit-graphs"
    result = run(repository, Task.COMMIT_GRAPH, events=OnStep(lambda: lock_chain(folder)))
    assert (result.outcome, result.reason) != (Outcome.DONE, None)
    assert result.reason is Reason.LOCK_HELD, result.sentence


@pytest.mark.parametrize("is_passing", [True, False])
def test_lock_that_git_meets_is_given_a_moment_and_nothing_is_repaired_for_it(
    tmp_path: Path, *, is_passing: bool
) -> None:
    repository = make_repository(tmp_path)
    repository.git("repack", "-d", "-q")
    repository.git("multi-pack-index", "write")
    repository.commit({"a": "4"}, reference="refs/heads/b4")
    repository.git("repack", "-d", "-q")
    index = repository.git_dir / "objects/pack/multi-pack-index"
    content, lock = index.read_bytes(), Path(f"{index}.lock")

    def end_of_push() -> None:
        if is_passing:
            lock.unlink(missing_ok=True)

    result = run(repository, Task.MULTI_PACK_INDEX, events=OnStep(lock.touch), cancel=Meanwhile(end_of_push))
    commands = [command.exit_code for command in result.commands]
    if is_passing:
        assert result.outcome is Outcome.DONE, result.sentence
        assert commands[0] != 0 == commands[1]
        assert index.read_bytes() != content
    else:
        assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.LOCK_HELD)
        assert len(commands) == 2
        assert index.read_bytes() == content


def lock_chain(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "commit-graph-chain.lock").touch()


def test_facts_are_read_again_under_the_lock(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    report = report_of(repository)
    (repository.git_dir / "gitdash.pause").touch()
    result = run(repository, Task.PACK_REFS, asked=None)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED)
    assert report.state.value
    assert not result.commands
    assert (repository.git_dir / "refs" / "heads" / "b0").exists()


def test_a_second_look_does_not_forget_who_borrows(tmp_path: Path) -> None:
    """A repository by itself does not tell: only the survey that made the report saw the borrower."""
    lender, member = make_lender_and_member(tmp_path)
    report = report_of(lender, borrowers=[member])
    result = running.run_task(
        report,
        planned(Task.RECLAIM, report),
        look=lambda: report_of(lender),
        program=program(),
        cancel=threading.Event(),
        on_step=lambda *_: None,
        close_readers=lambda: None,
        warm_readers=lambda: None,
        now_s=time.time(),
        confirmed_name=b"lender.git",
    )
    assert result.outcome is Outcome.REFUSED
    assert "1 repository borrows from it" in result.sentence


def test_a_repository_that_vanishes_in_the_middle_is_said_to_have(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    result = run(repository, Task.PACK_REFS, events=OnStep(lambda: repository.path.rename(tmp_path / "elsewhere")))
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.VANISHED)
    assert not list(tmp_path.glob("elsewhere/objects/maintenance.lock"))
    assert list(tmp_path.iterdir()) == [tmp_path / "elsewhere"]


def test_a_repository_that_is_gone_before_is_said_to_be(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    report = report_of(repository)
    shutil.rmtree(repository.path)
    result = running.run_task(
        report,
        msgspec.structs.replace(_empty_task(), task=Task.PACK_REFS),
        look=lambda: report,
        program=program(),
        cancel=threading.Event(),
        on_step=lambda *_: None,
        close_readers=lambda: None,
        warm_readers=lambda: None,
        now_s=time.time(),
    )
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.VANISHED)


def _empty_task() -> running.PlannedTask:
    return running.PlannedTask(task=Task.VERIFY, because=(), steps=(), gain="")


@pytest.mark.oracle
def test_damage_is_called_corrupt(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    blob = repository.git("rev-parse", "b1:a")
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    result = run(repository, Task.VERIFY)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.CORRUPT)
    assert "not everything reachable is there" in result.sentence


def test_verify_takes_no_lock_and_writes_nothing(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    (repository.git_dir / "objects" / "maintenance.lock").touch()
    before = {path: path.stat().st_mtime_ns for path in repository.path.rglob("*")}
    result = run(repository, Task.VERIFY)
    assert (result.outcome, result.sentence) == (Outcome.DONE, "everything reachable is there")
    assert {path: path.stat().st_mtime_ns for path in repository.path.rglob("*")} == before


@pytest.mark.parametrize(
    ("task", "path"),
    [
        (Task.MULTI_PACK_INDEX, "objects/pack/multi-pack-index"),
        (Task.COMMIT_GRAPH, "objects/info/commit-graphs/graph-*.graph"),
    ],
)
@pytest.mark.oracle
def test_a_derived_file_that_does_not_verify_is_made_anew(tmp_path: Path, task: Task, path: str) -> None:
    repository = make_repository(tmp_path)
    repository.repack()
    damaged: list[Path] = []

    class Damaging(list[str]):
        def append(self, does: str) -> None:
            if does == "verify it" and not damaged:
                damaged.append(next(repository.git_dir.glob(path)))
                content = bytearray(damaged[0].read_bytes())
                content[-30] ^= 0xFF
                damaged[0].unlink()
                damaged[0].write_bytes(content)

    result = run(repository, task, events=Damaging())
    assert damaged
    assert result.outcome is Outcome.DONE, result.sentence
    assert "was removed and written anew" in result.sentence
    command = "multi-pack-index" if task is Task.MULTI_PACK_INDEX else "commit-graph"
    repository.git(command, "verify")


def test_a_cancelled_task_says_so_and_starts_nothing_more(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    cancel = threading.Event()
    result = run(repository, Task.MULTI_PACK_BITMAP, cancel=cancel, events=OnStep(cancel.set))
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, Reason.CANCELLED)
    assert not repository.packs()
    assert not (repository.git_dir / "objects" / "maintenance.lock").exists()


def test_a_time_limit_ends_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository(tmp_path)
    hangs = tmp_path / "git"
    hangs.write_text(f'#!/bin/sh\ncase " $* " in *" pack-refs "*) exec sleep 60;; esac\nexec {GIT} "$@"\n')
    hangs.chmod(0o755)
    hanging = dataclasses.replace(program(), path=os.fspath(hangs))
    monkeypatch.setattr(task_runs, "program", lambda: hanging)
    result = run(repository, Task.PACK_REFS, time_limit_s=0.3)
    assert (result.outcome, result.reason) == (Outcome.TIMED_OUT, Reason.TIMED_OUT)
    assert DEFAULT_TIME_LIMIT_S == 6 * 3600
    assert not complaints(repository)


@pytest.mark.oracle
def test_what_a_killed_git_left_is_named(tmp_path: Path) -> None:
    """A git that cannot clean up: it is killed as it waits for a full pipe, with its lock in place."""
    repository = make_repository(tmp_path)

    def leave_lock() -> None:
        (repository.git_dir / "packed-refs.lock").touch()

    result = run(repository, Task.PACK_REFS, events=OnStep(leave_lock))
    assert result.outcome in {Outcome.FAILED, Outcome.SKIPPED}
    assert result.reason is Reason.LOCK_HELD
    assert result.leftovers == ("packed-refs.lock",)
    assert "left behind: packed-refs.lock" in result.sentence


def test_readers_are_closed_before_packs_go_and_warmed_after_even_if_it_fails(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    events: list[str] = []
    run(repository, Task.FULL_REPACK, events=events)
    assert events[-2:] == ["close readers", "warm readers"]
    events.clear()
    result = run(repository, Task.FULL_REPACK, events=events, time_limit_s=0.0)
    assert result.outcome is Outcome.TIMED_OUT
    assert events[-2:] == ["close readers", "warm readers"]


@pytest.mark.oracle
def test_look_ups_during_repacks_all_succeed(tmp_path: Path) -> None:
    repository = make_repository(tmp_path, commit_count=6)
    tips = repository.git("for-each-ref", "--format=%(objectname)").split()
    over = threading.Event()
    failures: list[str] = []
    counts = [0]

    def look() -> None:
        command = [GIT, "-C", os.fspath(repository.path), "cat-file", "--batch-check"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
        ) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            while not over.is_set():
                for tip in tips:
                    reader.stdin.write(tip + "\n")
                    reader.stdin.flush()
                    answer = reader.stdout.readline()
                    counts[0] += 1
                    if " commit " not in answer:
                        failures.append(answer)
            reader.stdin.close()

    thread = threading.Thread(target=look)
    thread.start()
    for task in (Task.LOOSE_OBJECTS, Task.GEOMETRIC_REPACK, Task.FULL_REPACK, Task.BITMAP, Task.INCREMENTAL_REPACK):
        assert run(repository, task).outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, task
        repository.commit({"b": task.value}, reference="refs/heads/more")
    over.set()
    thread.join()
    assert counts[0] > 100
    assert not failures


@pytest.mark.safety
def test_a_full_disk_leaves_the_repository_as_it_was(tmp_path: Path) -> None:
    with small_volume(tmp_path / "volume", 1 << 20) as volume:
        repository = make_repository(tmp_path if volume is None else volume)
        repository.blob(os.urandom(100_000))
        repository.git("repack", "-a", "-d", "-q", "-k")
        repository.commit({"a": "more"}, reference="refs/heads/b0")
        before = files_of(repository)
        objects = visible_objects(repository)
        results: list[TaskResult] = []
        if volume is not None:
            events = OnStep(lambda: (volume / "filler").write_bytes(b"\0" * (room_bytes(volume) - 8192)))
            results.append(run(repository, Task.FULL_REPACK, events=events))
            (volume / "filler").unlink()
            assert (results[0].outcome, results[0].reason) == (Outcome.FAILED, Reason.DISK_FULL), results[0].sentence
        else:
            with in_child(lambda: run_with_limit(repository)):
                pass
        assert files_of(repository) == before
        assert visible_objects(repository) == objects
        assert not complaints(repository)
        assert not (repository.git_dir / "objects" / "maintenance.lock").exists()
        assert run(repository, Task.FULL_REPACK).outcome is Outcome.DONE


def run_with_limit(repository: GitRepository) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    run(repository, Task.FULL_REPACK)


def room_bytes(folder: Path) -> int:
    volume = os.statvfs(folder)
    return volume.f_bavail * volume.f_frsize


def files_of(repository: GitRepository) -> dict[str, bytes]:
    return {
        os.fspath(path.relative_to(repository.path)): path.read_bytes()
        for path in sorted(repository.path.rglob("*"))
        if path.is_file() and not path.name.startswith(("tmp_", ".tmp-"))
    }


RUNS_A_TASK = """
import sys
from pathlib import Path
from gitdash.model.task import Task
from tests.support.repositories import GitRepository
from tests.support.task_runs import run

class Waiting(list):
    def append(self, _):
        print("begun", flush=True)
        sys.stdin.read()

run(GitRepository(Path(sys.argv[1])), Task.PACK_REFS, events=Waiting())
"""


def test_a_gitdash_that_is_killed_leaves_a_lock_that_is_known_as_its_own(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS_A_TASK, os.fspath(repository.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    lock = repository.git_dir / "objects" / "maintenance.lock"
    assert lock.read_text().split()[:2] == ["gitdash", str(process.pid)]
    assert run(repository, Task.PACK_REFS).outcome is Outcome.SKIPPED
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert lock.exists()
    assert run(repository, Task.PACK_REFS).outcome is Outcome.DONE
    assert not lock.exists()


@pytest.mark.safety
def test_steps_that_would_take_a_members_copies_are_refused_whoever_plans_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, member = make_lender_and_member(tmp_path)
    for arguments in (("prune-packed",), ("repack", "-d", "-q"), ("repack", "-a", "-d", "-l", "-k")):
        steps = (Step(does="harm", arguments=arguments),)
        monkeypatch.setattr(running, "steps_of", lambda *_, steps=steps: steps)
        result = run(member, Task.PACK_REFS)
        assert result.outcome is Outcome.REFUSED, arguments
        assert not result.commands


@pytest.mark.oracle
def test_nothing_that_is_pushed_during_maintenance_is_lost(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    source = GitRepository.init(tmp_path / "source.git")
    over = threading.Event()
    pushed: list[str] = []

    def push() -> None:
        while not over.is_set():
            tip = source.commit({"a": f"{len(pushed)} pushed"})
            reference = f"refs/heads/pushed{len(pushed)}"
            source.git("push", "--quiet", os.fspath(repository.path), f"{tip}:{reference}")
            pushed.append(tip)

    thread = threading.Thread(target=push)
    thread.start()
    outcomes = {
        task: run(repository, task).outcome
        for _ in range(2)
        for task in (Task.LOOSE_OBJECTS, Task.PACK_REFS, Task.FULL_REPACK, Task.INCREMENTAL_REPACK, Task.COMMIT_GRAPH)
    }
    over.set()
    thread.join()
    assert len(pushed) > 5
    # a push that holds a lock of a reference at that moment is a reason to refuse
    assert set(outcomes.values()) <= {Outcome.DONE, Outcome.NOTHING_TO_DO, Outcome.REFUSED}
    tips = set(repository.git("for-each-ref", "--format=%(objectname)", "refs/heads/pushed*").split())
    assert tips == set(pushed)
    assert not complaints(repository)


def test_of_a_long_message_the_end_is_kept_for_there_it_says_what_the_command_died_of(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    heads = repository.git_dir / "refs/heads"
    for number in range(200):
        (heads / f"broken-{number:03}").write_text("1" * 40 + "\n")
    work = Work(
        report=report_of(repository), program=program(), cancel=threading.Event(), time_limit_s=60.0, started_at_s=0.0
    )
    with pytest.raises(GitError):
        work.git(["fsck", "--connectivity-only"])
    (command,) = work.commands
    assert len(command.stderr.encode()) == 4096
    assert f"error: refs/heads/broken-199: invalid sha1 pointer {'1' * 40}" in command.stderr.splitlines()
