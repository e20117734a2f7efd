"""The dashboard's source over real repositories: what a survey, another look and a stop do."""

import io
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitdash.config.settings import Settings
from gitdash.discovery.roots import RootError
from gitdash.gitcmd.installed import find_git
from gitdash.history.store import History, open_history
from gitdash.model.job import JobKind, JobState
from gitdash.model.report import State, Totals
from gitdash.model.sizes import SizeMeasurement
from gitdash.survey.events import Finished
from gitdash.tui.app import NoTerminalError, run_dashboard
from gitdash.tui.feed.survey_feed import SurveyFeed
from gitdash.tui.feed.survey_track import SurveyTrack
from gitdash.tui.source import Changes
from tests.support.repositories import GIT, GitRepository
from tests.tui.fixture_fleet import many_summaries
from tests.tui.watched_feed import WaitingGit, WatchedFeed, watched_feed

LIMIT_S = 30.0


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Three repositories; the last one borrows from the first."""
    root = tmp_path / "fleet"
    for name in ("a", "b", "c"):
        repository = GitRepository.init(root / f"{name}.git")
        repository.commit({"file": f"content of {name}"})
        repository.repack()
    GitRepository(root / "c.git").borrow_from(GitRepository(root / "a.git"))
    return root


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state" / "state.db")) as opened:
        yield opened


def _path(root: Path, name: str) -> bytes:
    return os.fsencode(root / name)


@pytest.mark.parametrize("keeps_state", [True, False])
@pytest.mark.oracle
def test_survey_fills_rows_with_the_sizes_that_git_says(fleet: Path, history: History, keeps_state: bool) -> None:
    with watched_feed(fleet, history=history if keeps_state else None) as watched:
        watched.until_over()
        assert [row.name for row in sorted(watched.seen.summaries.values(), key=lambda row: row.name)] == [
            "a.git",
            "b.git",
            "c.git",
        ]
        row = watched.seen.summaries[_path(fleet, "b.git")]
        expected = GitRepository(fleet / "b.git").git("rev-list", "--all", "--objects", "--disk-usage")
        assert row.reachable_bytes == int(expected)
        assert watched.seen.summaries[_path(fleet, "a.git")].role == "pool"
        watched.feed.request_report(_path(fleet, "c.git"))
        watched.until(lambda seen: _path(fleet, "c.git") in seen.reports)
        report = watched.seen.reports[_path(fleet, "c.git")]
        assert report is not None
        assert isinstance(report.sizes.reachable, SizeMeasurement)
        assert not report.sizes.reachable.from_history, "it was measured in this run"
    if keeps_state:
        with watched_feed(fleet, history=history) as watched:
            watched.until_over()
            watched.feed.request_report(_path(fleet, "c.git"))
            watched.until(lambda seen: _path(fleet, "c.git") in seen.reports)
            report = watched.seen.reports[_path(fleet, "c.git")]
            assert report is not None
            assert isinstance(report.sizes.reachable, SizeMeasurement)
            assert report.sizes.reachable.from_history


def test_dashboard_is_woken_once_until_it_takes_what_happened(fleet: Path) -> None:
    woken: list[int] = []
    feed = SurveyFeed(
        [os.fsencode(fleet)],
        settings=Settings(),
        history=None,
        program=find_git(GIT),
        clock=time.time,
        registry_dir=os.fsencode(fleet) + b"-lab",
    )
    feed.start(lambda: woken.append(1))
    try:
        _wait_until(lambda: bool(woken))
        watched = WatchedFeed(feed)
        feed.request_report(b"/nowhere")
        watched.until_over()
        watched.until(lambda seen: b"/nowhere" in seen.reports)
        assert feed.take() is None
        woken.clear()
        feed.request_report(b"/nowhere")
        _wait_until(lambda: bool(woken))
        feed.request_report(b"/elsewhere")
        _wait_until(lambda: feed._changes is not None and b"/elsewhere" in feed._changes.reports)
        assert woken == [1]
    finally:
        feed.stop()


def test_report_of_an_unknown_repository_is_none(fleet: Path) -> None:
    with watched_feed(fleet) as watched:
        watched.feed.request_report(b"/nowhere")
        watched.until(lambda seen: b"/nowhere" in seen.reports)
        assert watched.seen.reports[b"/nowhere"] is None


def test_another_look_sees_what_changed_and_keeps_what_only_a_survey_knows(fleet: Path, history: History) -> None:
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        path = _path(fleet, "a.git")
        before = watched.seen.summaries[path]
        GitRepository(fleet / "a.git").blob(b"a loose object")
        watched.feed.rescan(path)
        watched.until(lambda seen: seen.busy.get(path) is False)
        after = watched.seen.summaries[path]
        assert before.loose_count == 0
        assert after.loose_count == 1
        assert after.role == before.role == "pool"
        assert after.borrower_count == before.borrower_count == 1
        stored = history.report(path)
        assert stored is not None
        assert len(stored.borrowers) == 1


@pytest.mark.oracle
def test_measuring_now_gives_both_sizes_of_what_is_there_now(fleet: Path, history: History) -> None:
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        repository = GitRepository(fleet / "b.git")
        repository.commit({"file": "another content", "more": "x" * 1000})
        path = _path(fleet, "b.git")
        watched.feed.measure(path)
        watched.until(lambda seen: seen.busy.get(path) is False)
        row = watched.seen.summaries[path]
        expected = int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
        assert row.reachable_bytes == expected
        assert row.reachable_own_bytes == expected


@pytest.mark.parametrize("keeps_state", [True, False])
@pytest.mark.oracle
def test_another_look_at_a_changed_repository_measures_its_sizes_anew_and_shows_the_former_ones_meanwhile(
    fleet: Path, history: History, keeps_state: bool
) -> None:
    with watched_feed(fleet, history=history if keeps_state else None) as watched:
        watched.until_over()
        repository = GitRepository(fleet / "b.git")
        path = _path(fleet, "b.git")
        former = watched.seen.summaries[path].reachable_bytes
        assert former is not None
        repository.commit({"file": "another content", "more": "x" * 1000})
        expected = int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
        watched.feed.rescan(path)
        shown: list[object] = []

        def is_measured(seen: Changes) -> bool:
            shown.append(seen.summaries[path].reachable_bytes)
            return seen.summaries[path].reachable_bytes == expected and seen.busy.get(path) is False

        watched.until(is_measured)
        assert set(shown) == {former, expected}


def test_repository_that_is_gone_says_so_when_looked_at_and_leaves_when_all_is_surveyed(fleet: Path) -> None:
    with watched_feed(fleet) as watched:
        watched.until_over()
        path = _path(fleet, "b.git")
        (fleet / "b.git").rename(fleet.parent / "elsewhere.git")
        watched.feed.rescan(path)
        watched.until(lambda seen: seen.busy.get(path) is False)
        assert watched.seen.summaries[path].state is State.UNREADABLE
        assert watched.seen.summaries[path].reachable_bytes is None
        watched.feed.rescan(None)
        watched.until_over()
        assert watched.seen.forgotten == [path]


def test_surveying_again_finds_the_new_and_forgets_the_gone(fleet: Path, history: History) -> None:
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        GitRepository.init(fleet / "new.git")
        (fleet / "b.git").rename(fleet.parent / "elsewhere.git")
        watched.feed.rescan(None)
        watched.until_over()
        assert _path(fleet, "new.git") in watched.seen.summaries
        assert watched.seen.forgotten == [_path(fleet, "b.git")]


def test_what_is_no_repository_is_counted_when_all_is_done(fleet: Path) -> None:
    (fleet / "empty.git").mkdir()
    with watched_feed(fleet) as watched:
        watched.until(lambda seen: seen.progress is not None and seen.progress.step == "surveyed")
        assert watched.seen.progress is not None
        assert watched.seen.progress.other_count == 1
        assert watched.seen.skipped is not None
        assert [one.path for one in watched.seen.skipped] == [_path(fleet, "empty.git")]
        watched.until_over()
        (fleet / "empty.git").rmdir()
        watched.feed.rescan(None)
        watched.until_over()
        assert watched.seen.skipped == ()


def test_root_that_does_not_exist_is_refused_before_anything_is_painted(tmp_path: Path) -> None:
    feed = SurveyFeed(
        [os.fsencode(tmp_path / "none")],
        settings=Settings(),
        history=None,
        program=find_git(GIT),
        clock=time.time,
        registry_dir=os.fsencode(tmp_path / "lab"),
    )
    with pytest.raises(RootError):
        feed.check_roots()


def test_root_that_vanishes_ends_the_survey_with_its_reason(tmp_path: Path) -> None:
    with watched_feed(tmp_path / "none") as watched:
        watched.until(lambda seen: seen.failure is not None)
        assert isinstance(watched.seen.failure, RootError)


def test_rows_of_another_version_are_told_of_and_found_again(fleet: Path, tmp_path: Path) -> None:
    state = os.fspath(tmp_path / "older.db")
    with open_history(state) as history, watched_feed(fleet, history=history) as watched:
        watched.until_over()
    with sqlite3.connect(state) as connection:
        connection.execute("UPDATE repositories SET summary = x'00' WHERE path = ?", (_path(fleet, "b.git"),))
    connection.close()
    with open_history(state) as history:
        roots = [os.fsencode(fleet)]
        painted_count = len(history.summaries(roots))
        feed = SurveyFeed(
            roots,
            settings=Settings(),
            history=history,
            program=find_git(GIT),
            clock=time.time,
            registry_dir=os.fsencode(tmp_path / "lab"),
            painted_count=painted_count,
        )
        feed.start(lambda: None)
        try:
            watched = WatchedFeed(feed)
            watched.until_over()
        finally:
            feed.stop()
    assert watched.seen.notices == [
        "1 row of the state file is of another version of gitdash and will be looked at anew"
    ]
    assert _path(fleet, "b.git") in watched.seen.summaries


def test_error_of_ours_ends_the_survey_rather_than_leaving_it_silent(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise NameError("a mistake")

    monkeypatch.setattr("gitdash.survey.survey.run_survey", fail)
    with watched_feed(fleet) as watched:
        watched.until(lambda seen: seen.failure is not None)
        assert isinstance(watched.seen.failure, NameError)


@pytest.mark.safety
def _wait_until(is_reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not is_reached():
        assert time.monotonic() < deadline_s
        threading.Event().wait(0.01)


def test_dashboard_without_a_terminal_says_what_to_use_instead(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(NoTerminalError, match="gitdash scan"):
        run_dashboard([os.fsencode(fleet)], settings=Settings(), history=None, git=find_git(GIT), registry_dir=b"")


def _survey_end(gone: tuple[bytes, ...] = ()) -> Finished:
    totals = Totals(
        repository_count=0,
        object_store_count=0,
        disk_bytes=0,
        exclusive_bytes=0,
        duplicate_bytes=0,
        unreadable_count=0,
        notice_count=0,
        warning_count=0,
        critical_count=0,
    )
    return Finished(totals=totals, reused_count=0, gone_paths=gone, silent_paths=(), elapsed_s=0.0)


def test_look_at_what_a_survey_then_finds_gone_puts_no_row_back() -> None:
    gone, kept = many_summaries(2)
    changes = Changes()
    changes.summaries = {row.path: row for row in (gone, kept)}
    SurveyTrack(time.time).note(_survey_end((gone.path,)), changes)
    assert changes.forgotten == [gone.path]
    assert set(changes.summaries) == {kept.path}


def test_dashboard_is_left_within_a_second_though_all_its_threads_hang(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    for name in ("surveying.Surveying.serve", "again.LookAgain.serve", "known_reports.KnownReports.serve"):
        monkeypatch.setattr(f"gitdash.tui.feed.{name}", lambda *_: let_go.wait())
    monkeypatch.setattr("gitdash.tui.feed.lab.Lab.sweep", lambda _: let_go.wait())
    monkeypatch.setattr("gitdash.tui.feed.acting.Acting.say_what_was_cut_off", lambda _: let_go.wait())
    try:
        with watched_feed(fleet) as watched:
            began_s = time.monotonic()
            watched.feed.stop()
            elapsed_s = time.monotonic() - began_s
    finally:
        let_go.set()
    assert elapsed_s < 1.0


@pytest.mark.oracle
def test_newer_size_is_shown_meanwhile_though_a_measurement_before_it_was_cancelled(
    fleet: Path, tmp_path: Path
) -> None:
    git = WaitingGit(tmp_path)
    git.let_go()
    path = _path(fleet, "b.git")
    repository = GitRepository(fleet / "b.git")
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        watched.until_over()
        oldest = watched.seen.summaries[path].reachable_bytes
        (tmp_path / "go").unlink()
        watched.feed.measure(_path(fleet, "a.git"))
        watched.until_job(JobState.RUNNING, JobKind.MEASURE, _path(fleet, "a.git"))
        repository.commit({"file": "another content", "more": "x" * 1000})
        watched.feed.rescan(path)
        watched.feed.cancel_job(watched.until_job(JobState.QUEUED, JobKind.MEASURE, path).number)
        git.let_go()
        watched.until_job(JobState.DONE, JobKind.MEASURE, _path(fleet, "a.git"))
        watched.feed.rescan(None)
        watched.until_over()
        newest = int(repository.git("rev-list", "--all", "--objects", "--disk-usage"))
        watched.until(lambda seen: seen.summaries[path].reachable_bytes == newest)
        shown: list[object] = []
        watched.feed.measure(path)
        count = max(watched.seen.jobs)

        def is_measured(seen: Changes) -> bool:
            shown.append(seen.summaries[path].reachable_bytes)
            return max(seen.jobs) > count and seen.jobs[max(seen.jobs)].state is JobState.DONE

        watched.until(is_measured)
        assert newest != oldest
        assert set(shown) == {newest}
