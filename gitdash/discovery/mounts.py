"""File systems that hold no repositories and must not be searched: `proc`, `sysfs`, triggers of automounts.

Source: proc(5), `filesystems` ("nodev"), and autofs(5). Asked only where a search crosses into another file system.
"""

import os
from typing import Final

_WITHOUT_REPOSITORIES: Final = frozenset(
    {
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
        "fuse.gvfsd-fuse", "fuse.portal", "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs",
        "securityfs", "selinuxfs", "sysfs", "tracefs",
    }
)  # fmt: skip


def special_filesystem(mount_point: bytes) -> str | None:
    """Return the type of the file system mounted at `mount_point` if it holds no repositories, else None."""
    import psutil  # type: ignore[import-untyped]

    text = os.path.realpath(os.fsdecode(mount_point))
    types = [partition.fstype for partition in psutil.disk_partitions(all=True) if partition.mountpoint == text]
    return types[-1] if types and types[-1] in _WITHOUT_REPOSITORIES else None
