"""Questions about one repository, asked of a feed over real repositories: answers, what hangs, and what is left."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitdash.model.lookup import LookupTimes
from gitdash.model.namespaces import ReferenceNamespaces
from gitdash.model.repository import Unreadable
from gitdash.tui.feed.lanes import Lanes
from tests.support.processes import children_where
from tests.support.repositories import GitRepository
from tests.tui.watched_feed import WatchedFeed, watched_feed

LIMIT_S = 30.0


@contextmanager
def _surveyed(root: Path) -> Iterator[WatchedFeed]:
    with watched_feed(root) as watched:
        watched.until_over()
        yield watched


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "fleet" / "a.git")
    made.commit({"file": "content"})
    made.repack()
    made.git("update-ref", "refs/keep-around/1", "HEAD")
    return made


def _path(repository: GitRepository) -> bytes:
    return os.fsencode(repository.path)


def _readers() -> list[int]:
    """Processes of ours that answer for single objects."""
    readers = children_where(lambda child: any(word.startswith("--batch-check") for word in child.cmdline()))
    return [reader.pid for reader in readers]


@pytest.mark.oracle
def test_namespaces_are_counted_as_git_lists_them(repository: GitRepository) -> None:
    with _surveyed(repository.path.parent) as watched:
        watched.feed.request_namespaces(_path(repository))
        found = watched.until(lambda seen: bool(seen.namespaces)).namespaces[_path(repository)]
    assert isinstance(found, ReferenceNamespaces)
    listed = repository.git("for-each-ref", "--format=%(refname)").split()
    counts = {one.name: one.count for one in found.namespaces if one.name.startswith("refs/")}
    assert counts == {
        folder: len([name for name in listed if name.startswith(folder + "/")])
        for folder in ("refs/heads", "refs/keep-around")
    }


@pytest.mark.oracle
def test_object_is_looked_up_by_its_beginning_and_the_log_has_the_reader(repository: GitRepository) -> None:
    object_id = repository.git("rev-parse", "HEAD").strip()
    with _surveyed(repository.path.parent) as watched:
        feed, path = watched.feed, _path(repository)
        before = feed.commands_version(path)
        for text in (object_id[:8], "f" * 40, "main"):
            feed.look_up(path, text)
        answers = watched.until(lambda seen: len(seen.objects.get(path, ())) == 3).objects[path]
        assert [answer.asked for answer in answers] == [object_id[:8], "f" * 40, "main"]
        assert (answers[0].object_id, answers[0].type) == (object_id, "commit")
        assert answers[0].bytes == int(repository.git("cat-file", "-s", object_id))
        assert answers[1].object_id is None
        assert "hexadecimal" in (answers[2].problem or "")
        assert feed.commands_version(path) > before
        assert any("cat-file" in record.argv and record.elapsed_s is None for record in feed.commands(path))


def test_timing_leaves_one_reader_open_and_closing_ends_it(repository: GitRepository) -> None:
    with _surveyed(repository.path.parent) as watched:
        path = _path(repository)
        watched.feed.request_lookup_times(path)
        times = watched.until(lambda seen: bool(seen.lookup_times)).lookup_times[path]
        assert isinstance(times, LookupTimes)
        assert len(_readers()) == 1
        watched.feed.close_readers(path)
        _wait_until(lambda: not _readers())


def test_stopping_leaves_no_reader(repository: GitRepository) -> None:
    with _surveyed(repository.path.parent) as watched:
        path = _path(repository)
        watched.feed.request_lookup_times(path)
        watched.until(lambda seen: bool(seen.lookup_times))
        assert _readers()
        started_s = time.monotonic()
        watched.feed.stop()
        assert time.monotonic() - started_s < 3
        assert not _readers()


def test_what_is_not_known_is_answered_with_a_reason(tmp_path: Path) -> None:
    with _surveyed(tmp_path) as watched:
        for ask in (watched.feed.request_namespaces, watched.feed.request_lookup_times):
            ask(b"/nowhere")
        watched.feed.look_up(b"/nowhere", "abcd\n\x1b[2J")
        watched.feed.close_readers(b"/nowhere")
        seen = watched.until(lambda seen: bool(seen.namespaces and seen.lookup_times and seen.objects))
    assert isinstance(seen.namespaces[b"/nowhere"], Unreadable)
    assert isinstance(seen.lookup_times[b"/nowhere"], Unreadable)
    [answer] = seen.objects[b"/nowhere"]
    assert answer.problem == "nothing is known of this repository yet"
    assert answer.asked.isprintable()


@pytest.mark.safety
def test_a_count_that_hangs_holds_up_no_look_up_and_no_stop(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, released = threading.Event(), threading.Event()
    calls: list[bytes] = []

    def hang(report: object, **_: object) -> Unreadable:
        calls.append(b"")
        entered.set()
        released.wait(LIMIT_S)
        return Unreadable("released")

    monkeypatch.setattr("gitdash.survey.namespaces.namespaces_of", hang)
    object_id = repository.git("rev-parse", "HEAD").strip()
    with _surveyed(repository.path.parent) as watched:
        path = _path(repository)
        try:
            watched.feed.request_namespaces(path)
            assert entered.wait(LIMIT_S)
            watched.feed.request_namespaces(path)
            watched.feed.look_up(path, object_id)
            [answer] = watched.until(lambda seen: bool(seen.objects)).objects[path]
            assert answer.object_id == object_id
            assert not watched.seen.namespaces
            started_s = time.monotonic()
            watched.feed.stop()
            assert time.monotonic() - started_s < 3
        finally:
            released.set()
    assert len(calls) == 1


def test_lane_does_its_work_in_order_and_its_thread_ends() -> None:
    done: list[int] = []
    lanes = Lanes(lambda run: run())
    held = threading.Event()
    lanes.add("a", lambda: held.wait(LIMIT_S) and None)
    for number in range(100):
        lanes.add("a", lambda number=number: done.append(number))
    lanes.add("b", lambda: done.append(-1))
    _wait_until(lambda: done == [-1])
    assert not lanes.wait(0.0)
    held.set()
    assert lanes.wait(LIMIT_S)
    assert done == [-1, *range(100)]
    lanes.add("a", lambda: done.append(-2))
    assert lanes.wait(LIMIT_S)
    assert done[-1] == -2


def _wait_until(is_reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not is_reached():
        assert time.monotonic() < deadline_s
        threading.Event().wait(0.01)
