"""Where the demo fleet is made, and that only a folder of our own is ever removed."""

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.demo.folder import MARKER, DemoError, given_folder, in_use, remove, sweep_abandoned, temporary_folder

DAY_S = 86_400.0
NOW_S = 1_800_000_000.0


@pytest.fixture(autouse=True)
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made in a test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(folder))
    return folder


def left_over(age_s: float = 2 * DAY_S) -> Path:
    """A folder as a killed run leaves it."""
    folder = Path(os.fsdecode(temporary_folder()))
    (folder / "fleet" / "a.git").mkdir(parents=True)
    (folder / "fleet" / "a.git" / "HEAD").write_text("ref: refs/heads/main\n")
    os.utime(folder / os.fsdecode(MARKER), (NOW_S - age_s, NOW_S - age_s))
    return folder


@pytest.mark.parametrize("exists", [True, False])
def test_named_folder_is_marked(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "here"
    if exists:
        folder.mkdir()
    with given_folder(os.fsencode(folder)) as made:
        assert made == os.fsencode(folder)
    assert [path.name for path in folder.iterdir()] == [".gitdash-demo"]


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", ".gitdash-demo"])
def test_folder_with_content_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / name).write_text("mine")
    with pytest.raises(DemoError, match="is not empty"), given_folder(os.fsencode(tmp_path / "here")):
        pass
    assert [path.name for path in (tmp_path / "here").iterdir()] == [name]
    assert (tmp_path / "here" / name).read_text() == "mine"


def test_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DemoError, match="not a directory"), given_folder(os.fsencode(tmp_path / "file")):
        pass
    assert (tmp_path / "file").read_text() == "mine"


def test_folder_whose_parent_is_missing_is_refused(tmp_path: Path) -> None:
    missing = os.fsencode(tmp_path / "a" / "b")
    with pytest.raises(DemoError, match="no such file or directory"), given_folder(missing):
        pass
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_named_folder_is_as_before_when_the_fleet_cannot_be_made(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "here"
    if exists:
        folder.mkdir()
    with contextlib.suppress(KeyboardInterrupt), given_folder(os.fsencode(folder)):
        for name in ("stock", "fleet", "elsewhere"):
            (folder / name / "a.git").mkdir(parents=True)
            (folder / name / "a.git" / "HEAD").write_text("ref: refs/heads/main\n")
        raise KeyboardInterrupt
    assert folder.exists() == exists
    assert not exists or list(folder.iterdir()) == []


@pytest.mark.safety
def test_what_somebody_else_put_into_a_named_folder_stays_when_the_fleet_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("mine")
    folder = tmp_path / "here"
    with contextlib.suppress(KeyboardInterrupt), given_folder(os.fsencode(folder)):
        (folder / "notes.txt").write_text("mine")
        (folder / "fleet").symlink_to(tmp_path / "outside")
        raise KeyboardInterrupt
    assert (folder / "notes.txt").read_text() == "mine"
    assert (tmp_path / "outside" / "file").read_text() == "mine"


def test_marker_that_cannot_be_written_leaves_nothing(tmp_path: Path, temporary_files: Path) -> None:
    def have_no_room() -> None:
        # as on a full disk a file can be made, and nothing be written to it
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    code = (
        "import os, signal, sys, tempfile; from gitdash.demo.folder import DemoError, given_folder, temporary_folder\n"
        "tempfile.tempdir = sys.argv[2]\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for make in (lambda: given_folder(os.fsencode(sys.argv[1])).__enter__(), temporary_folder):\n"
        "    try: make()\n"
        "    except DemoError as error: print(error)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "here", temporary_files],
        preexec_fn=have_no_room,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert [line.rpartition(": ")[2] for line in finished.stdout.splitlines()] == ["file too large"] * 2
    assert not (tmp_path / "here").exists()
    assert list(temporary_files.iterdir()) == []


def test_only_we_can_enter_a_temporary_folder() -> None:
    assert os.stat(temporary_folder()).st_mode & 0o777 == 0o700


def test_removal_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    folder = temporary_folder()
    os.symlink(os.fsencode(tmp_path / "mine"), folder + b"/link")
    os.mkdir(folder + b"/inner")
    os.symlink(os.fsencode(tmp_path / "mine"), folder + b"/inner/link")
    remove(folder)
    assert not os.path.lexists(folder)
    assert (tmp_path / "mine" / "file").read_text() == "mine"


def test_what_a_killed_run_left_is_swept_after_a_day() -> None:
    old, young = left_over(), left_over(age_s=DAY_S - 60)
    sweep_abandoned(NOW_S)
    assert not old.exists()
    assert (young / "fleet" / "a.git" / "HEAD").exists()


def test_fleet_that_somebody_looks_at_is_not_swept() -> None:
    folder = left_over()
    with in_use(os.fsencode(folder)):
        sweep_abandoned(NOW_S)
        assert (folder / "fleet" / "a.git" / "HEAD").exists()
    sweep_abandoned(NOW_S)
    assert not folder.exists()


def marker_of(folder: Path) -> Path:
    return folder / os.fsdecode(MARKER)


def without_marker(folder: Path) -> None:
    marker_of(folder).unlink()


def with_other_marker(folder: Path) -> None:
    marker = marker_of(folder)
    old = marker.stat()
    marker.write_bytes(b"x" * old.st_size)
    os.utime(marker, (old.st_mtime, old.st_mtime))


def with_linked_marker(folder: Path) -> None:
    marker = marker_of(folder)
    marker.rename(folder / "elsewhere")
    marker.symlink_to("elsewhere")


def with_pipe_as_marker(folder: Path) -> None:
    marker = marker_of(folder)
    marker.unlink()
    os.mkfifo(marker)
    os.utime(marker, (NOW_S - 2 * DAY_S, NOW_S - 2 * DAY_S))


def renamed(folder: Path) -> None:
    folder.rename(folder.with_name("photographs"))


def of_another_user(folder: Path) -> None:
    os.chown(folder, 65_534, 65_534)


@pytest.mark.safety
@pytest.mark.parametrize(
    "change",
    [without_marker, with_other_marker, with_linked_marker, with_pipe_as_marker, renamed]
    + ([of_another_user] if os.geteuid() == 0 else []),
)
def test_folder_that_is_not_certainly_ours_is_never_swept(
    temporary_files: Path, change: Callable[[Path], None]
) -> None:
    change(left_over())
    before = sorted(path.relative_to(temporary_files) for path in temporary_files.rglob("*"))
    sweep_abandoned(NOW_S)
    assert sorted(path.relative_to(temporary_files) for path in temporary_files.rglob("*")) == before


@pytest.mark.safety
def test_link_to_a_left_over_folder_is_not_followed(tmp_path: Path, temporary_files: Path) -> None:
    folder = left_over()
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    sweep_abandoned(NOW_S)
    assert folder.is_symlink()
    assert (tmp_path / "moved" / "fleet" / "a.git" / "HEAD").exists()


def test_temporary_folder_that_cannot_be_made_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent/temporary")
    with pytest.raises(DemoError, match="cannot make a temporary folder: no such file"):
        temporary_folder()
    sweep_abandoned(NOW_S)


def test_folder_that_lost_its_marker_is_unmade_all_the_same(tmp_path: Path) -> None:
    def interrupted() -> None:
        with given_folder(os.fsencode(tmp_path / "here")) as made:
            os.unlink(made + b"/" + MARKER)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not (tmp_path / "here").exists()
