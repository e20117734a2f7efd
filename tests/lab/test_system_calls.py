"""Counts of what strace 6.1 wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.lab.system_calls import count_absent, count_calls

TABLE = b"""% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 46.27    0.010442        1740         6         1 wait4
 12.38    0.002795           6       452       233 openat
  2.88    0.000649           1       390        72 newfstatat
  0.83    0.000188           1       104        40 access
  0.58    0.000132           3        40           getdents64
  1.30    0.000293         146         2           fsync
------ ----------- ----------- --------- --------- ----------------
100.00    0.022568           8      2564       371 total
"""
LINES = rb"""15218 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory)
15218 newfstatat(AT_FDCWD, "/srv/r\303\244/lab-7/clone.git/commondir", 0x7ffd, AT_SYMLINK_NOFOLLOW) = -1 ENOENT (No such file or directory)
15218 openat(AT_FDCWD, "/srv/r\303\244/lab-7/clone.git/objects/32", O_RDONLY|O_DIRECTORY) = -1 ENOENT (No such file or directory)
15218 openat(AT_FDCWD, "/srv/r\303\244/lab-7/clone.git/objects/33/", O_RDONLY|O_DIRECTORY) = -1 ENOENT (No such file or directory)
15218 openat(AT_FDCWD, "/srv/lab-7/clone.git/objects/32/0123456789012345678901234567890123456789", O_RDONLY) = -1 ENOENT (No such file or directory)
15218 openat(AT_FDCWD, "/srv/lab-7/clone.git/objects/pack/multi-pack-index", O_RDONLY) = -1 ENOENT (No such file or directory)
15218 openat(AT_FDCWD, "/srv/lab-7/clone.git/objects/info/alternates", O_RDONLY) = -1 ENOENT (No such file or directory)
15218 readlink("/srv/lab-7/clone.git/config", 0x55, 32) = -1 EINVAL (Invalid argument)
15218 openat(AT_FDCWD, "/srv/lab-7/source.git/objects/32", O_RDONLY) = -1 ENOENT (No such file or directory)
15218 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
15218 +++ exited with 0 +++
"""  # noqa: E501


def test_calls_are_counted_by_what_they_look_up():
    assert count_calls(TABLE) == {
        "open": 452,
        "open-failed": 233,
        "stat": 390,
        "stat-failed": 72,
        "access": 104,
        "access-failed": 40,
        "getdents64": 40,
        "fsync": 2,
        "all": 2564,
        "all-failed": 371,
    }


def test_steps_have_one_name_on_every_machine():
    """arm64 has these alone, as the kernel's asm-generic/unistd.h says."""
    lines = [f"  1.00    0.000100           1        {count}           {name}" for name, count in NEWER.items()]
    assert count_calls("\n".join(lines).encode()) == {"mkdir": 3, "rename": 9, "link": 6, "unlink": 7}


NEWER = {"mkdirat": 3, "renameat": 4, "renameat2": 5, "linkat": 6, "unlinkat": 7}


def test_absent_names_of_the_clone_are_counted_by_kind_and_others_not():
    assert count_absent(LINES.splitlines(), b"lab-7/clone.git") == {
        "absent-outside-objects": 1,
        "absent-fan-out-folder": 2,
        "absent-object": 1,
        "absent-pack": 1,
        "absent-other-below-objects": 1,
    }


@pytest.mark.safety
@given(st.binary(max_size=300))
def test_any_bytes_are_counted_or_left_out(data):
    assert all(count > 0 for count in count_calls(data).values())
    assert count_absent(data.splitlines(), b"clone.git") == {} or b"clone.git" in data
