"""Files and file systems that do not answer: each costs its own row, and neither the others nor a key wait for it."""

import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gitdash.config.settings import ScanSettings, Settings
from gitdash.discovery import search
from gitdash.errors import ExitCode
from gitdash.history.store import History, open_history
from gitdash.model.job import JobKind, JobState
from gitdash.model.report import State
from gitdash.model.repository import NotRepository, Unreadable
from gitdash.survey import inspecting, searching, single, workers
from tests.support import dead_folders
from tests.support.processes import left_after
from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository
from tests.tui.test_terminal import KEY_TO_PAINT_LIMIT_S, SLACK
from tests.tui.watched_feed import watched_feed

PROJECT = os.fspath(Path(__file__).parents[2])
QUIT_LIMIT_S = 1.0


def _repository(root: Path, name: str) -> GitRepository:
    repository = GitRepository.init(root / name)
    repository.commit({"file": f"content of {name}"})
    repository.repack()
    return repository


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Two repositories and a folder with another one."""
    root = tmp_path / "fleet"
    for name in ("a.git", "dead/below.git", "z.git"):
        _repository(root, name)
    return root


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state" / "state.db")) as opened:
        yield opened


def _path(root: Path, name: str) -> bytes:
    return os.fsencode(root / name)


def _hanging(time_limit_s: float) -> Settings:
    return Settings(scan=ScanSettings(time_limit_s=time_limit_s, workers=1))


def _replace_by_fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)


@pytest.mark.safety
def test_fifo_in_place_of_any_file_costs_no_more_than_its_own_row(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    names = {
        "head": "HEAD",
        "config": "config",
        "packed-refs": "packed-refs",
        "alternates": "objects/info/alternates",
        "commit-graph": "objects/info/commit-graph",
        "multi-pack-index": "objects/pack/multi-pack-index",
        "shallow": "shallow",
        "main": "refs/heads/main",
    }
    for name, file in names.items():
        _replace_by_fifo(_repository(root, f"{name}.git").path / file)
    for suffix in ("pack", "idx"):
        repository = _repository(root, f"{suffix}.git")
        _replace_by_fifo(next((repository.path / "objects/pack").glob(f"*.{suffix}")))
    _repository(root, "well.git")
    with watched_feed(root, settings=_hanging(5.0)) as watched:
        began_s = time.monotonic()
        watched.until_over()
        assert time.monotonic() - began_s < 20
        rows = {summary.name: summary for summary in watched.seen.summaries.values()}
        skipped = {os.path.basename(one.path) for one in watched.seen.skipped or ()}
    assert {os.fsencode(f"{name}.git") for name in (*names, "pack", "idx", "well")} == skipped.union(
        map(os.fsencode, rows)
    )
    assert isinstance(rows["well.git"].reachable_bytes, int)
    assert not any("did not answer" in (row.worst_summary or "") for row in rows.values())


@pytest.mark.safety
def test_repository_that_hangs_is_a_row_that_says_so_and_the_rest_goes_on(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORKER_MODULE", dead_folders.WORKER_MODULE)
    monkeypatch.setattr(inspecting, "NOTED_S", 0.2)
    _repository(fleet, "hang.git")
    with watched_feed(fleet, settings=_hanging(1.0)) as watched:
        watched.until(lambda seen: seen.progress is not None and seen.progress.waiting is not None)
        assert watched.seen.progress is not None
        assert watched.seen.progress.waiting is not None
        assert watched.seen.progress.waiting.step == "inspecting"
        watched.until_over()
        rows = {summary.name: summary for summary in watched.seen.summaries.values()}
    assert rows["hang.git"].state is State.UNREADABLE
    assert rows["hang.git"].disk_bytes == Unreadable("did not answer within 1 s")
    assert isinstance(rows["a.git"].reachable_bytes, int)
    assert isinstance(rows["z.git"].reachable_bytes, int)


@pytest.fixture
def dead_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search._RootSearch, "_look_at", dead_folders.look_at)


@pytest.mark.safety
@pytest.mark.parametrize("keeps_state", [True, False])
def test_folder_that_does_not_answer_is_named_and_left_out_and_what_was_known_below_it_stays(
    fleet: Path, history: History, keeps_state: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = history if keeps_state else None
    monkeypatch.setattr(inspecting, "NOTED_S", 0.2)
    with watched_feed(fleet, history=kept, settings=_hanging(0.6)) as watched:
        watched.until_over()
        assert len(watched.seen.summaries) == 3
        monkeypatch.setattr(search._RootSearch, "_look_at", dead_folders.look_at)
        dead = _path(fleet, "dead")
        (fleet / "a.git").rename(fleet.parent / "elsewhere.git")
        watched.feed.rescan(None)
        watched.until(lambda seen: seen.progress is not None and seen.progress.waiting is not None)
        assert watched.seen.progress is not None
        assert watched.seen.progress.waiting is not None
        assert (watched.seen.progress.waiting.step, watched.seen.progress.waiting.path) == ("searching", dead)
        watched.until_over()
        assert watched.seen.skipped == (NotRepository(path=dead, reason="did not answer within 0.6 s"),)
        assert watched.seen.notices == [
            f"{fleet}/dead did not answer within 0.6 s: what was known below it stays as it was"
        ]
        assert watched.seen.forgotten == [_path(fleet, "a.git")]
        watched.feed.rescan(None)
        watched.until_over()
        assert watched.seen.forgotten == [_path(fleet, "a.git")]
    if keeps_state:
        assert set(history.paths([os.fsencode(fleet)])) == {_path(fleet, "dead/below.git"), _path(fleet, "z.git")}


@pytest.mark.usefixtures("dead_search")
def test_what_lies_before_and_after_the_folder_is_inspected_while_it_is_silent(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NOTED_S", 0.2)
    with watched_feed(fleet, settings=_hanging(600.0)) as watched:
        watched.until(lambda seen: {_path(fleet, "a.git"), _path(fleet, "z.git")} <= set(seen.summaries))
        assert watched.seen.skipped == ()
        watched.feed.cancel_job(1)
        watched.until_over("cancelled")


@pytest.mark.safety
def test_another_look_that_hangs_fails_after_its_time_limit_and_can_be_cancelled_before(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect = single.inspect_now

    def hang(git_dir: bytes, *arguments: object, **more: object) -> object:
        if git_dir.endswith(b"a.git"):
            threading.Event().wait(dead_folders.HANG_S)
        return inspect(git_dir, *arguments, **more)  # type: ignore[arg-type]

    path, other = _path(fleet, "a.git"), _path(fleet, "z.git")
    with watched_feed(fleet, settings=_hanging(1.0)) as watched:
        watched.until_over()
        monkeypatch.setattr(single, "inspect_now", hang)
        watched.feed.rescan(path)
        watched.feed.rescan(other)
        job = watched.until_job(JobState.FAILED, JobKind.RESCAN, path)
        assert job.reason == "did not answer within 1 s"
        assert watched.seen.summaries[path].state is State.UNREADABLE
        watched.until_job(JobState.DONE, JobKind.RESCAN, other)
    with watched_feed(fleet, settings=_hanging(60.0)) as watched:
        watched.until_over()
        watched.feed.measure(path)
        running = watched.until_job(JobState.RUNNING, JobKind.MEASURE, path, is_part=False)
        watched.feed.cancel_job(running.number)
        watched.until_job(JobState.CANCELLED, JobKind.MEASURE, path, is_part=False)
        assert isinstance(watched.seen.summaries[path].disk_bytes, int)


def test_keys_are_answered_and_quitting_works_while_a_search_and_a_worker_hang(fleet: Path) -> None:
    # the search comes to c/hang.git before it comes to dead
    for name in ("b.git", "bb.git", "c/hang.git"):
        _repository(fleet, name)
    argv = [sys.executable, "-m", "tests.support.dead_folders", "60", os.fspath(fleet)]
    with PtySession(argv, folder=PROJECT, columns=160) as session:
        session.wait_for_text("searching")
        session.wait_for_text("bb.git")
        session.send(b"g")
        times_s = [session.key_to_paint(key, "▌") for key in (b"j", b"k") * 10]
        assert statistics.median(times_s) <= KEY_TO_PAINT_LIMIT_S * SLACK
        session.key_to_paint(b"J", "survey")
        children = psutil.Process(session.pid).children(recursive=True)
        assert children
        began_s = time.monotonic()
        session.send(b"\x11")
        assert session.wait_for_exit(limit_s=10) == ExitCode.DONE
        assert time.monotonic() - began_s <= QUIT_LIMIT_S
    assert left_after(children, QUIT_LIMIT_S) == []
    assert b"Traceback" not in session.output
