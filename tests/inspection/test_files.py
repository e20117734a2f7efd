"""The door: what is opened and what is refused."""

import os
import socket
from pathlib import Path

import pytest

from gitdash.inspection.files import FileBuffer, FileError, FileMissingError, open_buffer, read_file, read_start


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 5000)
    assert read_file(os.fsencode(tmp_path / "f"), 5000) == b"x" * 5000


def test_a_file_over_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 11)
    with pytest.raises(FileError, match="11 bytes are too many to read, the limit is 10"):
        read_file(os.fsencode(tmp_path / "f"), 10)


def test_a_sparse_file_of_a_terabyte_costs_nothing(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileError, match="too many to read"):
        read_file(os.fsencode(tmp_path / "f"), 1 << 20)
    assert read_start(os.fsencode(tmp_path / "f"), 4) == b"\0\0\0\0"


def test_the_start_of_a_short_file_is_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert read_start(os.fsencode(tmp_path / "f"), 100) == b"abc"


def test_a_missing_file_has_its_own_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    for name in ("nothing", "f/below-a-file"):
        with pytest.raises(FileMissingError):
            read_file(os.fsencode(tmp_path / name), 10)


@pytest.mark.safety
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "a FIFO, not a regular file"),
        (lambda path: path.mkdir(), "a folder, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "a symbolic link, not a regular file"),
        (lambda path: path.symlink_to("/etc/passwd"), "a symbolic link, not a regular file"),
        (lambda path: socket.socket(socket.AF_UNIX).bind(os.fspath(path)), "a socket, not a regular file"),
    ],
    ids=["fifo", "folder", "link to a device", "link to a file", "socket"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_only_regular_files_are_opened(tmp_path: Path, make, reason: str) -> None:
    path = tmp_path / "f"
    make(path)
    for read in (lambda name: read_file(name, 10), lambda name: read_start(name, 10)):
        with pytest.raises(FileError) as caught:
            read(os.fsencode(path))
        assert caught.value.reason == reason
    with pytest.raises(FileError), open_buffer(os.fsencode(path)):
        pass


@pytest.mark.safety
def test_a_file_that_became_a_fifo_or_a_link_after_it_was_listed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    listed = os.lstat(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match="a FIFO"):
        read_file(os.fsencode(path), 10, listed=listed)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(FileError, match="a symbolic link"):
        read_file(os.fsencode(path), 10, listed=listed)


def test_an_error_prints_whatever_the_path_is(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\x1b[31m\xff"
    with pytest.raises(FileError) as caught:
        read_file(path, 10)
    assert caught.value.path == path
    assert str(caught.value).isprintable()


def test_a_buffer_reads_the_slices_that_bytes_would_give(tmp_path: Path) -> None:
    content = bytes(range(256)) * 20
    (tmp_path / "f").write_bytes(content)
    with open_buffer(os.fsencode(tmp_path / "f")) as buffer:
        assert len(buffer) == len(content)
        for start, stop in ((0, 4), (2040, 2060), (3000, 3000), (4000, 99999), (-20, None), (10, 5), (None, None)):
            assert buffer[start:stop] == content[start:stop]


def test_a_buffer_whose_file_is_cut_short_gives_less_and_does_not_die(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 10_000)
    with open_buffer(os.fsencode(path)) as buffer:
        os.truncate(path, 5000)
        assert isinstance(buffer, FileBuffer)
        assert buffer[4000:6000] == b"x" * 1000
        assert buffer[6000:7000] == b""


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    path = os.fsencode(tmp_path / "f")
    before = len(os.listdir("/proc/self/fd"))
    read_file(path, 100)
    with pytest.raises(FileError):
        read_file(path, 10)
    with open_buffer(path) as buffer:
        assert buffer[:3] == b"xxx"
    assert len(os.listdir("/proc/self/fd")) == before
