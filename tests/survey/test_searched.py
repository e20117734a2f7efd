"""What a survey remembers of where it looked, and which of that lies around a repository now."""

import os
import threading
from pathlib import Path

import pytest

from gitdash.config.settings import Settings
from gitdash.history.records import SearchedFolder
from gitdash.history.store import History, open_history
from gitdash.maintenance.action_facts import Neighbourhood
from gitdash.survey.neighbourhood import look_around
from gitdash.survey.searched import remember_searched, searched_around
from tests.support.bare import bare_repository
from tests.support.unprivileged import unprivileged

pytestmark = pytest.mark.safety


def around(history: History, path: Path) -> list[tuple[str, bool]]:
    return [(os.fsdecode(one.path), one.is_whole) for one in searched_around(history, os.fsencode(path))]


def remember(history: History, *roots: Path, silent: tuple[Path, ...] = ()) -> None:
    remember_searched(history, list(map(os.fsencode, roots)), list(map(os.fsencode, silent)))


@pytest.fixture
def history(tmp_path: Path) -> History:
    return open_history(os.fspath(tmp_path / "state.db"))


def test_folder_around_is_one_above_and_not_beside_nor_the_repository_itself(tmp_path: Path, history: History) -> None:
    (tmp_path / "q" / "r").mkdir(parents=True)
    (tmp_path / "q2").mkdir()
    with history:
        remember(history, tmp_path / "q2", tmp_path / "q" / "r", tmp_path / "q")
        assert around(history, tmp_path / "q" / "r") == [(f"{tmp_path}/q", True)]
        remember(history, Path("/"))
        assert around(history, tmp_path / "q" / "r") == [("/", True), (f"{tmp_path}/q", True)]


def test_folder_below_which_something_was_silent_is_not_whole_until_all_of_it_answers(
    tmp_path: Path, history: History
) -> None:
    (tmp_path / "q" / "a" / "r").mkdir(parents=True)
    with history:
        remember(history, tmp_path / "q", tmp_path / "q" / "a", silent=(tmp_path / "q" / "b",))
        found = [(f"{tmp_path}/q", False), (f"{tmp_path}/q/a", True)]
        assert around(history, tmp_path / "q" / "a" / "r") == found
        remember(history, tmp_path / "q")
        remember(history, tmp_path / "q", silent=(tmp_path / "q",))
        assert around(history, tmp_path / "q" / "a" / "r") == [(name, True) for name, _ in found]


def neighbourhood(history: History, path: Path) -> Neighbourhood:
    settings, cancel = Settings(), threading.Event()
    return look_around(
        bare_repository(path), settings=settings, history=history, effective_uid=os.geteuid(), cancel=cancel
    )


def test_nothing_is_reclaimed_below_what_never_answered_as_a_whole(tmp_path: Path, history: History) -> None:
    (tmp_path / "q" / "a" / "r").mkdir(parents=True)
    with history:
        remember(history, tmp_path / "q", tmp_path / "q" / "a", silent=(tmp_path / "q" / "b",))
        found = neighbourhood(history, tmp_path / "q" / "a" / "r")
    expected = f"{tmp_path}/q never answered as a whole when it was searched; `gitdash scan {tmp_path}/q` asks again"
    assert found.objection == expected
    assert found.searched == (os.fsencode(tmp_path / "q"), os.fsencode(tmp_path / "q" / "a"))


def test_folder_that_cannot_be_searched_refuses_with_the_way_out() -> None:
    with unprivileged() as folder:
        (folder / "q" / "a" / "r").mkdir(parents=True)
        (folder / "q" / "b").mkdir(mode=0o300)
        with open_history(os.fspath(folder / "state.db")) as history:
            remember(history, folder / "q", folder / "q" / "a")
            found = neighbourhood(history, folder / "q" / "a" / "r")
        (folder / "q" / "b").chmod(0o700)
    way_out = f"if nobody below {folder}/q borrows: `gitdash forget --searched {folder}/q`"
    assert found.objection == f"{folder}/q/b cannot be searched: permission denied; {way_out}"


def test_renamed_folder_and_one_behind_a_link_are_known_again(tmp_path: Path, history: History) -> None:
    (tmp_path / "q" / "r").mkdir(parents=True)
    (tmp_path / "link").symlink_to("q")
    with history:
        remember(history, tmp_path / "link")
        assert around(history, tmp_path / "q" / "r") == [(f"{tmp_path}/q", True)]
        assert around(history, tmp_path / "link" / "r") == [(f"{tmp_path}/link", True)]
        (tmp_path / "link").unlink()
        (tmp_path / "q").rename(tmp_path / "q3")
        assert around(history, tmp_path / "q3" / "r") == [(f"{tmp_path}/q3", True)]
        # another folder of the same name: that one was searched once, and this has the name
        (tmp_path / "q" / "r").mkdir(parents=True)
        assert around(history, tmp_path / "q" / "r") == [(f"{tmp_path}/q", True)]


def test_root_of_an_older_state_file_is_followed_through_links(tmp_path: Path, history: History) -> None:
    (tmp_path / "q" / "r").mkdir(parents=True)
    (tmp_path / "link").symlink_to("q")
    with history:
        path = os.fsencode(tmp_path / "link")
        history.searched.save([SearchedFolder(path=path, real_path=b"", place=None, is_whole=True)])
        assert around(history, tmp_path / "q" / "r") == [(f"{tmp_path}/q", True)]
