"""The one door for writes: no link is followed, nothing is overwritten, only regular files of ours are removed."""

import ast
import os
from pathlib import Path

import pytest

import gitdash.maintenance
from gitdash.maintenance import writing
from gitdash.maintenance.writing import (
    WriteRefusedError,
    create_file,
    link_file,
    make_folder,
    open_folder,
    remove_file,
    remove_folder,
    rename_file,
)

pytestmark = pytest.mark.safety

CHANGING = {
    "chmod",
    "chown",
    "link",
    "makedirs",
    "mkdir",
    "remove",
    "removedirs",
    "rename",
    "replace",
    "rmdir",
    "symlink",
    "truncate",
    "unlink",
    "utime",
    "write",
}


def always(_: os.stat_result) -> bool:
    return True


def test_no_other_module_of_maintenance_changes_files() -> None:
    folder = Path(gitdash.maintenance.__path__[0])
    found = {
        (path.name, node.attr)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if (node.value.id == "os" and node.attr in CHANGING) or node.value.id == "shutil"
    }
    assert {name for name, _ in found} == {"writing.py"}
    assert {"unlink", "rename", "link", "mkdir", "rmdir"} <= {attribute for _, attribute in found}


def test_a_link_on_the_way_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "outside" / "pack").mkdir(parents=True)
    (tmp_path / "outside" / "pack" / "tmp_x").write_bytes(b"precious")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "link").symlink_to(tmp_path / "outside")
    base = os.fsencode(tmp_path / "base")
    with pytest.raises(OSError, match=r"link|Not a directory"):
        remove_file(base, b"link/pack/tmp_x", is_expected=always)
    with pytest.raises(OSError, match=r"link|Not a directory"):
        make_folder(base, b"link/new")
    with pytest.raises(OSError, match=r"link|Not a directory"), open_folder(base, b"link"):
        raise AssertionError("it was entered")
    assert sorted(path.name for path in (tmp_path / "outside").rglob("*")) == ["pack", "tmp_x"]


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_is_no_regular_file_is_not_removed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    {"link": lambda: path.symlink_to(target), "folder": path.mkdir, "fifo": lambda: os.mkfifo(path)}[kind]()
    with pytest.raises(WriteRefusedError):
        remove_file(os.fsencode(tmp_path), b"x", is_expected=always)
    assert path.is_symlink() or path.exists()
    assert target.read_bytes() == b"precious"


def test_what_is_gone_or_has_changed_is_left(tmp_path: Path) -> None:
    base = os.fsencode(tmp_path)
    (tmp_path / "x").write_bytes(b"1")
    assert remove_file(base, b"y", is_expected=always) is None
    assert remove_file(base, b"no/such/folder", is_expected=always) is None
    assert remove_file(base, b"x", is_expected=lambda found: found.st_size == 2) is None
    assert (tmp_path / "x").exists()
    assert remove_file(base, b"x", is_expected=lambda found: found.st_size == 1) == 1
    assert not (tmp_path / "x").exists()


def test_a_folder_goes_only_if_all_in_it_may(tmp_path: Path) -> None:
    base = os.fsencode(tmp_path)
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "z").write_bytes(b"123")
    (tmp_path / "precious").write_bytes(b"p")
    (tmp_path / "x" / "link").symlink_to(tmp_path / "precious")
    with pytest.raises(WriteRefusedError):
        remove_folder(base, b"x", is_expected=always)
    assert (tmp_path / "x" / "y" / "z").exists()
    (tmp_path / "x" / "link").unlink()
    assert remove_folder(base, b"x", is_expected=lambda found: found.st_size != 3) is None
    assert (tmp_path / "x" / "y" / "z").exists()
    assert remove_folder(base, b"x", is_expected=always) == 3
    assert os.listdir(tmp_path) == ["precious"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    base = os.fsencode(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode())
        (tmp_path / f"{name}.d").mkdir()
        (tmp_path / f"{name}.d" / "same").write_bytes(name.encode())
    with pytest.raises(FileExistsError):
        rename_file(base, b"", b"a", b"b")
    with pytest.raises(FileExistsError):
        link_file(base + b"/a.d", base + b"/b.d", b"same")
    with open_folder(base) as folder, pytest.raises(FileExistsError):
        create_file(folder, b"a", b"new")
    assert (tmp_path / "b").read_bytes() == b"b"
    assert (tmp_path / "b.d" / "same").read_bytes() == b"b"
    assert (tmp_path / "a").read_bytes() == b"a"


def test_a_file_is_written_whole_however_little_the_system_takes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:3]))
    with open_folder(os.fsencode(tmp_path)) as folder:
        os.close(create_file(folder, b"lock", b"gitdash 4711 1.5 host\n"))
    assert (tmp_path / "lock").read_bytes() == b"gitdash 4711 1.5 host\n"


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    (tmp_path / "from" / "x").write_bytes(b"content")
    base = os.fsencode(tmp_path)

    def no_link(*_: object, **__: object) -> None:
        raise OSError(18, "cross-device link")

    def no_room(reading: int, writing: int) -> None:
        os.write(writing, os.read(reading, 3))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", no_link)
    with monkeypatch.context() as full:
        full.setattr(writing, "_copy_bytes", no_room)
        with pytest.raises(OSError, match="No space left"):
            link_file(base + b"/from", base + b"/to", b"x")
        assert not os.listdir(tmp_path / "to")
    assert link_file(base + b"/from", base + b"/to", b"x") == 7
    assert (tmp_path / "to" / "x").read_bytes() == b"content"
