"""What git says of its progress, as it was said by git 2.39 and 2.55, in pieces of any size."""

import pytest

from gitdash.gitcmd.fetch_progress import ProgressReader
from gitdash.model.fetch import FetchProgress

SAID = (
    b"remote: Enumerating objects: 3, done.        \n"
    b"remote: Counting objects:  33% (1/3)        \rremote: Counting objects: 100% (3/3), done.        \n"
    b"Receiving objects:  50% (1/2)\rReceiving objects: 100% (2/2), 1.50 MiB | 2.00 MiB/s, done.\n"
    b"Resolving deltas: 100% (7/7), done.\n"
    b"From /srv/up\n   1234567..89abcde  main       -> origin/main\n"
)


def read(said: bytes, step: int) -> tuple[list[FetchProgress], list[str]]:
    told: list[FetchProgress] = []
    lines: list[str] = []
    reader = ProgressReader(told.append, lines.append)
    for start in range(0, len(said), step):
        reader.feed(said[start : start + step])
    reader.end()
    return told, lines


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_counts_and_bytes_are_those_that_git_says(step: int) -> None:
    told, lines = read(SAID, step)
    ends = {progress.phase: progress for progress in told}
    assert (ends["counting objects"].done_count, ends["counting objects"].total_count) == (3, 3)
    assert (ends["receiving objects"].done_count, ends["receiving objects"].total_count) == (2, 2)
    assert ends["receiving objects"].received_bytes == 1_572_864
    assert ends["resolving deltas"].done_count == 7
    assert lines == [
        "remote: Enumerating objects: 3, done.        ",
        "From /srv/up",
        "   1234567..89abcde  main       -> origin/main",
    ]


def test_objects_that_are_unpacked_as_they_come_are_received() -> None:
    told, _ = read(b"Unpacking objects: 100% (3/3), 242 bytes | 242.00 KiB/s, done.\n", 100)
    assert [(one.phase, one.done_count, one.received_bytes) for one in told] == [("receiving objects", 3, 242)]


def test_last_line_without_an_end_counts() -> None:
    assert read(b"fatal: early EOF", 5) == ([], ["fatal: early EOF"])


@pytest.mark.safety
@pytest.mark.parametrize(
    "said",
    [
        b"Receiving objects: 100% (" + b"9" * 4000 + b"/1)\n",
        b"Receiving objects: " + b"9" * 30 + b"% (1/1)\n",
        b"remote: Counting objects: \xff\xfe\n",
        b"Receiving objects: \x1b[2J\n",
    ],
)
def test_progress_that_cannot_be_is_passed_over(said: bytes) -> None:
    assert read(said, 100) == ([], [])


@pytest.mark.safety
def test_line_without_end_takes_no_memory() -> None:
    lines: list[str] = []
    reader = ProgressReader(None, lines.append)
    for _ in range(1000):
        reader.feed(b"x" * 10_000)
    reader.end()
    assert [len(line) for line in lines] == [4096]


@pytest.mark.parametrize("step", [1, 10_000])
def test_where_nobody_watches_what_came_in_the_end_is_told_without_the_parser(step: int) -> None:
    told: list[FetchProgress] = []
    reader = ProgressReader(told.append, [].append, is_watched=False)
    for start in range(0, len(SAID), step):
        reader.feed(SAID[start : start + step])
    reader.end()
    assert [(one.phase, one.done_count, one.total_count, one.received_bytes) for one in told] == [
        ("receiving objects", 2, 2, 1_572_864)
    ]
    assert reader._parser is None


@pytest.mark.parametrize(
    "line",
    [
        b"Receiving objects:  50% (1/2)",
        b"Receiving objects: 100% (9/9), done.\n",
        b"Receiving objects:   3% (3/100), 999 bytes\r",
        b"Receiving objects:   3% (3/100), 2.25 GiB | 7.00 KiB/s   \r",
        b"Unpacking objects: 100% (3/3), 242 bytes | 242.00 KiB/s, done.\n",
    ],
)
def test_without_the_parser_the_last_line_says_what_it_says_with_it(line: bytes) -> None:
    told: list[FetchProgress] = []
    reader = ProgressReader(told.append, [].append, is_watched=False)
    reader.feed(line)
    reader.end()
    assert told == read(line, 100)[0][-1:]
    assert told


@pytest.mark.safety
def test_progress_that_cannot_be_is_passed_over_without_the_parser_too() -> None:
    told: list[FetchProgress] = []
    reader = ProgressReader(told.append, [].append, is_watched=False)
    for line in (b"Receiving objects: 100% (" + b"9" * 4000 + b"/1)\n", b"Receiving objects: \x1b[2J\n"):
        reader.feed(line)
        reader.end()
    assert not told


def test_nobody_who_listens_spares_the_parser() -> None:
    lines: list[str] = []
    reader = ProgressReader(None, lines.append)
    reader.feed(SAID)
    assert reader._parser is None
    assert len(lines) == 3
