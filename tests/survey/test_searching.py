"""A search in which one folder does not answer, and the patience with which anything is waited for."""

import threading
import time
from collections.abc import Iterator

import pytest

from gitdash.discovery.search import Place, Result
from gitdash.model.repository import NotRepository
from gitdash.survey.events import Waiting
from gitdash.survey.patience import is_below_any, within
from gitdash.survey.searching import Searching

LIMIT_S = 0.1


class Folders:
    """Stands in for discovery: each folder comes out, but for those where the system call never returns."""

    def __init__(self, *names: str, dead: str = "") -> None:
        self.names = names
        self.dead = dead
        self.touched: list[str] = []
        self.left_behind: list[threading.Event] = []

    def __call__(self, place: Place, avoided: frozenset[bytes], cancel: threading.Event) -> Iterator[Result]:
        for name in self.names:
            place.path = name.encode()
            if place.path in avoided:
                continue
            self.touched.append(name)
            if name in self.dead.split():
                self.left_behind.append(cancel)
                threading.Event().wait(20)
            yield NotRepository(path=place.path, reason="not one")


def found(folders: Folders) -> tuple[Searching, list[NotRepository], list[Waiting]]:
    searching = Searching(folders, time_limit_s=LIMIT_S, cancel=threading.Event())
    results = list(searching.results())
    waits = [one for one in results if isinstance(one, Waiting)]
    return searching, [one for one in results if isinstance(one, NotRepository)], waits


def test_folder_that_does_not_answer_costs_only_what_lies_below_it() -> None:
    folders = Folders("a", "dead", "b", "deader", "c", dead="dead deader")
    searching, results, waits = found(folders)
    assert [(one.path, one.reason) for one in results] == [
        (b"a", "not one"),
        (b"dead", "did not answer within 0.1 s"),
        (b"b", "not one"),
        (b"deader", "did not answer within 0.1 s"),
        (b"c", "not one"),
    ]
    assert searching.silent == [b"dead", b"deader"]
    assert folders.touched == ["a", "dead", "a", "b", "deader", "a", "b", "c"]
    assert all(cancel.is_set() for cancel in folders.left_behind)
    assert {wait.path for wait in waits} >= {b"dead", b"deader"}


def test_what_was_found_before_the_silence_comes_out_at_once() -> None:
    searching = Searching(Folders("a", "dead", dead="dead"), time_limit_s=30, cancel=threading.Event())
    results = searching.results()
    began_s = time.monotonic()
    first = next(one for one in results if isinstance(one, NotRepository))
    assert first.path == b"a"
    waiting = next(one for one in results if isinstance(one, Waiting) and one.path == b"dead")
    assert waiting.step == "searching"
    assert time.monotonic() - began_s < 10
    results.close()


def test_search_ends_when_the_survey_is_cancelled_in_the_middle_of_silence() -> None:
    cancel = threading.Event()
    searching = Searching(Folders("dead", dead="dead"), time_limit_s=30, cancel=cancel)
    for one in searching.results():
        assert isinstance(one, Waiting)
        cancel.set()
    assert searching.silent == []


def test_search_is_not_far_ahead_of_who_reads_it() -> None:
    folders = Folders(*map(str, range(5_000)))
    results = Searching(folders, time_limit_s=30, cancel=threading.Event()).results()
    next(one for one in results if isinstance(one, NotRepository))
    deadline_s = time.monotonic() + 10
    while len(folders.touched) < 1_000 and time.monotonic() < deadline_s:
        threading.Event().wait(0.01)
    assert 1_000 <= len(folders.touched) < 1_200
    assert sum(isinstance(one, NotRepository) for one in results) == 4_999


def test_error_of_a_search_reaches_who_waits_for_it() -> None:
    def start(*_: object) -> Iterator[Result]:
        raise PermissionError("no")

    with pytest.raises(PermissionError):
        list(Searching(start, time_limit_s=30, cancel=threading.Event()).results())


def test_patience_gives_answers_and_errors_on_and_ends() -> None:
    assert within(30, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(30, lambda: 1 // 0)
    with pytest.raises(TimeoutError):
        within(0.05, lambda: threading.Event().wait(20))
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(TimeoutError):
        within(30, lambda: threading.Event().wait(20), cancel=cancel)


@pytest.mark.parametrize(
    ("path", "is_below"),
    [(b"/mnt/dead", True), (b"/mnt/dead/a.git", True), (b"/mnt/deadly", False), (b"/mnt", False)],
)
def test_below_is_told_by_whole_components(path: bytes, is_below: bool) -> None:
    assert is_below_any(path, [b"/elsewhere", b"/mnt/dead"]) is is_below
    assert is_below_any(path, [b"/"])
    assert not is_below_any(path, [])
