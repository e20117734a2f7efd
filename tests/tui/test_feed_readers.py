"""Readers that the dashboard keeps open, while maintenance that it was asked for replaces packs."""

import contextlib
import os
from pathlib import Path

import psutil
import pytest

from gitdash.history.store import open_history
from gitdash.model.job import JobKind, JobState
from gitdash.model.lookup import LookupTimes
from gitdash.model.plan import Plan
from gitdash.model.task import Task
from gitdash.survey.readers import OPEN_LIMIT
from tests.support.repositories import GitRepository
from tests.tui.watched_feed import WatchedFeed, watched_feed


@pytest.fixture
def lender(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "fleet" / "lender.git")
    for number in range(3):
        made.commit({"a": str(number)})
        made.git("repack", "-d", "-q")
    return made


@pytest.fixture
def member(lender: GitRepository) -> GitRepository:
    made = GitRepository.init(lender.path.parent / "member.git")
    made.borrow_from(lender)
    made.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    return made


def _readers() -> dict[int, str]:
    """Processes of ours that answer for single objects, and what they have mapped; those that are only timed, not."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error, OSError):
            if any(word.startswith("--batch-check=") for word in child.cmdline()):
                found[child.pid] = Path(f"/proc/{child.pid}/maps").read_text()
    return found


def _readers_with(pack: Path) -> dict[int, str]:
    return {pid: maps for pid, maps in _readers().items() if pack.stem in maps}


def _time(watched: WatchedFeed, *repositories: GitRepository) -> None:
    paths = {os.fsencode(repository.path) for repository in repositories}
    watched.seen.lookup_times.clear()
    for path in paths:
        watched.feed.request_lookup_times(path)
    watched.until(lambda seen: seen.lookup_times.keys() == paths)
    assert all(isinstance(times, LookupTimes) for times in watched.seen.lookup_times.values())


def _repack(watched: WatchedFeed, repository: GitRepository) -> None:
    path = os.fsencode(repository.path)
    watched.feed.request_plans([path], [Task.FULL_REPACK])
    watched.until(lambda seen: path in seen.plans)
    plan = watched.seen.plans[path]
    assert isinstance(plan, Plan)
    watched.seen.lookup_times.clear()
    watched.feed.run_plans([plan])
    watched.until_job(JobState.DONE, JobKind.MAINTAIN, path)


def test_readers_of_a_lender_and_of_its_member_are_opened_anew(
    lender: GitRepository, member: GitRepository, tmp_path: Path
) -> None:
    with (
        open_history(os.fspath(tmp_path / "state.db")) as history,
        watched_feed(lender.path.parent, history=history) as watched,
    ):
        watched.until_over()
        _time(watched, lender, member)
        before = _readers()
        assert len(before) == 2
        _repack(watched, lender)
        (pack,) = lender.packs()
        # each step that replaces packs has them timed after it
        watched.until(lambda seen: len(_readers_with(pack)) == len(seen.lookup_times) == 2)
        after = _readers_with(pack)
        assert not after.keys() & before.keys()
        mapped = [line for maps in after.values() for line in maps.splitlines() if "/objects/" in line]
        assert mapped
        assert not [line for line in mapped if line.endswith("(deleted)")]


def test_what_nobody_looks_at_gets_no_reader(lender: GitRepository, tmp_path: Path) -> None:
    with (
        open_history(os.fspath(tmp_path / "state.db")) as history,
        watched_feed(lender.path.parent, history=history) as watched,
    ):
        watched.until_over()
        _repack(watched, lender)
        watched.until_job(JobState.DONE, JobKind.RESCAN, os.fsencode(lender.path))
        assert _readers() == {}
        assert watched.seen.lookup_times == {}


def test_tab_that_is_in_view_gets_a_reader_even_if_its_own_has_ended(lender: GitRepository, tmp_path: Path) -> None:
    """Others have taken its place."""
    others = [GitRepository.init(lender.path.parent / f"{number}.git") for number in range(OPEN_LIMIT)]
    for other in others:
        other.commit({"a": "1"})
    with (
        open_history(os.fspath(tmp_path / "state.db")) as history,
        watched_feed(lender.path.parent, history=history) as watched,
    ):
        watched.until_over()
        _time(watched, lender)
        (pid,) = _readers()
        _time(watched, *others)
        assert pid not in _readers()
        _repack(watched, lender)
        (pack,) = lender.packs()
        watched.until(lambda seen: bool(_readers_with(pack)) and os.fsencode(lender.path) in seen.lookup_times)
