"""The Log of a repository: commands, the newest first, and those that gave the sizes."""

from typing import Any

import msgspec
import pytest

from gitdash.model.command import CommandRecord
from gitdash.model.sizes import Question, Sizes
from gitdash.tui.drawing.cells import line_length
from gitdash.tui.repository.log import log_page, logged_commands
from tests.tui.fixture_fleet import measured
from tests.tui.repository_pages import HOSTILE_TEXTS, entry, texts_of, view_of

ARGV = ("git", "-c", "pack.threads=1", "--git-dir=/srv/git/a.git", "rev-list", "--all", "--not", "a b")


def record(number: int, **changed: Any) -> CommandRecord:
    known = {"argv": ARGV, "started_s": 100.0 * number, "elapsed_s": 2.5, "exit_code": 0, **changed}
    return CommandRecord(number=number, path=b"/srv/git/a.git", **known)


def texts(*records: CommandRecord, width: int = 160, **known: Any) -> list[str]:
    return texts_of(log_page(view_of(entry(), commands=records, monotonic_s=1_000.0, **known), width))


def test_newest_is_first_with_age_seconds_exit_and_a_short_command() -> None:
    shown = texts(record(8), record(9, exit_code=128))
    assert shown[0].startswith("2 git commands, the newest first")
    assert " ".join(shown[2].split()) == "1m ago 2.5 s exit 128 git rev-list --all --not 'a b' +1 -c"
    assert [line.split()[0] for line in shown if "exit 0" in line] == ["3m"]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"exit_code": None, "ending": "timed out"}, "timed out"),
        ({"exit_code": None, "ending": "signal 9"}, "signal 9"),
        ({"exit_code": 1, "ending": "cancelled"}, "cancelled"),
        ({"exit_code": None, "elapsed_s": None}, "running"),
        ({"exit_code": 1}, "exit 1"),
    ],
)
def test_ending_of_a_command_is_a_word(changed: dict[str, Any], word: str) -> None:
    assert word in texts(record(9, **changed))[2]


def test_command_that_runs_shows_for_how_long() -> None:
    assert "1 m 40 s" in texts(record(9, elapsed_s=None, exit_code=None))[2]


def test_command_under_the_cursor_shows_all_of_it_and_its_stderr() -> None:
    older = record(8, stderr="warning: one\nfatal: two")
    shown = texts(older, record(9), chosen=8)
    assert "fatal: two" not in texts(older, record(9))
    assert shown[-3:] == [
        "git -c pack.threads=1 --git-dir=/srv/git/a.git rev-list --all --not 'a b'",
        "warning: one",
        "fatal: two",
    ]


def test_copied_command_is_quoted_and_is_that_of_the_item() -> None:
    view = view_of(entry(), commands=(record(8), record(9, argv=("git", "cat-file", "a'b;c"))))
    assert logged_commands(view, 0) == ("git cat-file 'a'\"'\"'b;c'",)
    assert logged_commands(view, 1) == ("git -c pack.threads=1 --git-dir=/srv/git/a.git rev-list --all --not 'a b'",)
    assert logged_commands(view, 2) == ()


def test_what_gave_the_sizes_is_listed_with_its_figure_and_age() -> None:
    reachable = msgspec.structs.replace(measured(Question.REACHABLE, 2_048, exact=False), argv=("git", "rev-list"))
    sized = msgspec.structs.replace(entry(), sizes=Sizes(reachable=reachable))
    page = log_page(view_of(sized, monotonic_s=1_000.0, commands=(record(9),)), 160)
    shown = texts_of(page)
    assert "What gave the sizes that are shown" in shown
    assert shown[page.items[1]].split() == ["2h", "ago", "3.6", "s", "<=2.00", "KiB", "git", "rev-list"]
    assert logged_commands(view_of(sized, commands=(record(9),)), 1) == ("git rev-list",)
    alone = texts_of(log_page(view_of(sized), 160))
    assert "remembered" in " ".join(alone)
    assert any(text.startswith("reachable: an upper bound") for text in alone)


def test_size_whose_command_is_in_the_log_is_not_listed_twice() -> None:
    reachable = msgspec.structs.replace(measured(Question.REACHABLE, 2_048), argv=ARGV)
    sized = msgspec.structs.replace(entry(), sizes=Sizes(reachable=reachable))
    page = log_page(view_of(sized, commands=(record(9),)), 160)
    assert len(page.items) == 1
    assert "What gave the sizes that are shown" not in texts_of(page)


def test_log_of_nothing_says_why() -> None:
    assert texts()[0].startswith("No git command has run")
    assert log_page(view_of(None), 80).items == []


@pytest.mark.safety
@pytest.mark.parametrize("width", [59, 79, 199])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_any_argument_and_any_complaint_stay_within_the_width(text: str, width: int) -> None:
    view = view_of(
        entry(), commands=(record(9, argv=("git", text, text), stderr=f"{text}\n{text}", ending=text, exit_code=None),)
    )
    page = log_page(view, width)
    below = [line for number, line in enumerate(page.lines) if number not in page.items]
    assert max(map(line_length, below)) <= width
    assert all(command.isprintable() for command in logged_commands(view, 0))
