import os
from pathlib import Path

import pytest

from gitdash.gitcmd.ownership import foreign_owner

OURS = os.geteuid()
OTHERS = 12345

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")


def made(path: Path) -> bytes:
    path.mkdir(parents=True)
    return os.fsencode(path)


def test_what_is_all_ours_has_no_foreign_owner(tmp_path: Path) -> None:
    assert foreign_owner([made(tmp_path / "a"), made(tmp_path / "b")], OURS) is None


def test_the_first_foreign_path_is_named_with_its_owner(tmp_path: Path) -> None:
    path = made(tmp_path / "a")
    assert foreign_owner([path], OTHERS) == (path, OURS)


@needs_root
@pytest.mark.parametrize("foreign", [0, 1, 2])
def test_one_foreign_of_work_tree_entry_and_git_dir_is_enough(tmp_path: Path, foreign: int) -> None:
    paths = [made(tmp_path / name) for name in "abc"]
    os.chown(paths[foreign], OTHERS, OTHERS)
    assert foreign_owner(paths, OURS) == (paths[foreign], OTHERS)


@needs_root
def test_a_link_of_ours_to_something_foreign_is_foreign(tmp_path: Path) -> None:
    os.chown(made(tmp_path / "theirs"), OTHERS, OTHERS)
    (tmp_path / "link").symlink_to("theirs")
    link = os.fsencode(tmp_path / "link")
    assert foreign_owner([link], OURS) == (link, OTHERS)


@needs_root
def test_a_foreign_link_to_something_of_ours_is_foreign(tmp_path: Path) -> None:
    made(tmp_path / "ours")
    (tmp_path / "link").symlink_to("ours")
    link = os.fsencode(tmp_path / "link")
    os.chown(link, OTHERS, OTHERS, follow_symlinks=False)
    assert foreign_owner([link], OURS) == (link, OTHERS)


@needs_root
def test_root_does_not_trust_the_user_who_called_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", str(OTHERS))
    path = made(tmp_path / "a")
    os.chown(path, OTHERS, OTHERS)
    assert foreign_owner([path], OURS) == (path, OTHERS)


def test_what_cannot_be_looked_at_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"")
    paths = [tmp_path / "missing", tmp_path / "loop", tmp_path / "file" / "below", tmp_path / ("n" * 300)]
    assert foreign_owner([*map(os.fsencode, paths), b"nul\0nul"], OURS) is None
