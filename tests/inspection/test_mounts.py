"""The mount table."""

import os
import subprocess

import pytest

from gitdash.inspection import mounts
from gitdash.inspection.mounts import filesystem_type, parse_mounts

TABLE = b"""22 1 0:20 / / rw - ext4 /dev/root rw
23 22 0:21 / /srv rw shared:1 - nfs4 host:/export rw
24 22 0:22 / /srv/git\\040store rw - fuse.sshfs x rw
25 22 0:23 / /tmp rw - tmpfs tmpfs rw
26 25 0:24 / /tmp rw - xfs /dev/b rw
broken line
"""


def test_the_deepest_and_latest_mount_point_wins(monkeypatch) -> None:
    monkeypatch.setattr(mounts, "read_mounts", lambda: parse_mounts(TABLE))
    assert filesystem_type(b"/home/x") == "ext4"
    assert filesystem_type(b"/") == "ext4"
    assert filesystem_type(b"/srv") == "nfs4"
    assert filesystem_type(b"/srv2/x") == "ext4"
    assert filesystem_type(b"/srv/git store/r.git") == "fuse.sshfs"
    assert filesystem_type(b"/tmp/r.git") == "xfs"


def test_without_a_table_nothing_is_known(monkeypatch) -> None:
    monkeypatch.setattr(mounts, "read_mounts", tuple)
    assert filesystem_type(b"/home/x") is None


def test_the_table_of_this_machine_knows_this_folder() -> None:
    assert filesystem_type(os.fsencode(os.path.realpath(__file__)))


def test_a_file_system_that_is_mounted_later_is_seen_and_so_is_its_end(tmp_path) -> None:
    path = os.fsencode(tmp_path)
    before = filesystem_type(path)
    if subprocess.run(["mount", "-t", "ramfs", "none", tmp_path], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        assert filesystem_type(path) == "ramfs"
        assert filesystem_type(path + b"/below") == "ramfs"
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert filesystem_type(path) == before
    assert before != "ramfs"
