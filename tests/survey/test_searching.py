"""Searches in which a folder does not answer, or late, and the patience with which anything is waited for."""

import threading
import time
from collections.abc import Container, Iterator

import pytest

from gitdash.discovery.search import Place, Result
from gitdash.model.repository import NotRepository
from gitdash.survey import searching as searching_module
from gitdash.survey.events import Waiting
from gitdash.survey.patience import is_below_any, within
from gitdash.survey.searching import Searching

LIMIT_S = 0.1


class Folders:
    """Stands in for discovery: each folder comes out, but for those where the system call never returns."""

    def __init__(self, *names: str, dead: str = "") -> None:
        self.names = names
        self.dead = dead
        self.mended = threading.Event()
        """The system calls return after all."""
        self.touched: list[str] = []
        self.left_behind: list[threading.Event] = []

    def __call__(self, place: Place, avoided: Container[bytes], cancel: threading.Event) -> Iterator[Result]:
        for name in self.names:
            place.path = name.encode()
            if place.path in avoided:
                continue
            self.touched.append(name)
            if name in self.dead.split():
                self.left_behind.append(cancel)
                self.mended.wait(20)
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
        (b"b", "not one"),
        (b"c", "not one"),
        (b"dead", "did not answer within 0.1 s"),
        (b"deader", "did not answer within 0.1 s"),
    ]
    assert searching.silent == [b"dead", b"deader"]
    assert folders.touched == ["a", "dead", "a", "b", "deader", "a", "b", "c"]
    assert all(cancel.is_set() for cancel in folders.left_behind)
    assert b"dead" in {wait.path for wait in waits}


def test_rest_comes_before_the_time_limit_and_a_folder_that_answers_late_with_all_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching_module, "NOTED_S", 0.3)
    folders = Folders("a", "dead", "b", "deader", "c", dead="dead deader")
    searching = Searching(folders, time_limit_s=30, cancel=threading.Event())
    paths: list[bytes] = []
    began_s = time.monotonic()
    for one in searching.results():
        if isinstance(one, NotRepository):
            paths.append(one.path)
            assert one.reason == "not one"
        elif len(paths) == 3:
            # All but what is dead: that is what is waited for.
            assert paths == [b"a", b"b", b"c"]
            assert one.path == b"dead"
            folders.mended.set()
    assert sorted(paths) == [b"a", b"b", b"c", b"dead", b"deader"]
    assert searching.silent == []
    assert time.monotonic() - began_s < 10
    assert all(cancel.is_set() for cancel in folders.left_behind)


def test_folder_that_is_dead_below_one_that_answers_late_keeps_nothing_else_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching_module, "NOTED_S", 0.3)
    late, dead = threading.Event(), threading.Event()

    def start(place: Place, avoided: Container[bytes], cancel: threading.Event) -> Iterator[Result]:
        tree = [(b"late", late), (b"late/dead", dead), (b"late/well", None), (b"well", None)]
        is_without_late = b"late" in avoided
        for path, answers in tree:
            place.path = path
            if path in avoided or (is_without_late and path.startswith(b"late/")):
                continue
            if answers is not None:
                answers.wait(20)
            yield NotRepository(path=path, reason="not one")

    searching = Searching(start, time_limit_s=1.5, cancel=threading.Event())
    reasons: dict[bytes, str] = {}
    for one in searching.results():
        if isinstance(one, NotRepository):
            reasons[one.path] = one.reason
        if b"well" in reasons:
            late.set()
    assert reasons == {
        b"well": "not one",
        b"late": "not one",
        b"late/well": "not one",
        b"late/dead": "did not answer within 1.5 s",
    }
    assert searching.silent == [b"late/dead"]
    dead.set()


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
