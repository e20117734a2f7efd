"""What the type of a mount means for git. Pure.

Source: filesystems(5), and psutil's disk partitions where a system has no mount table. What options mean stands in
`mount_options`. What a table says is what is asked for; how long a look-up takes, `filesystem` measures.
"""

import enum
import re
from collections.abc import Sequence
from typing import Final, Protocol

from gitdash.inspection.mounts import Mount, parse_options
from gitdash.units import printable

_EFS_SERVER: Final = re.compile(r"([a-z0-9-]+\.)?fs-[0-9a-f]+\.efs\.")
"""`fs-ID.efs.REGION.amazonaws.com`, with the zone before it where one is named."""
_NFS_PORT: Final = "2049"


class Place(enum.StrEnum):
    """Where the files of a file system are."""

    LOCAL = "local"
    MEMORY = "memory"
    NETWORK = "network"
    PROGRAM = "program"
    """Behind a program of the user's, see fuse(4)."""
    LAYERS = "layers"
    """In other file systems, one upon the other."""
    HOST = "host"
    """In the host of this virtual machine."""
    UNKNOWN = "unknown"


class Partition(Protocol):
    """What psutil says of a mount."""

    @property
    def device(self) -> str: ...  # noqa: D102 - names of psutil's
    @property
    def mountpoint(self) -> str: ...  # noqa: D102
    @property
    def fstype(self) -> str: ...  # noqa: D102
    @property
    def opts(self) -> str: ...  # noqa: D102


def mounts_of_partitions(partitions: Sequence[Partition]) -> tuple[Mount, ...]:
    """Return the mounts that psutil lists, as `mount_of` takes them."""
    mounts = (
        Mount(
            mount_point=partition.mountpoint.encode("utf-8", "surrogateescape").rstrip(b"/"),
            type_name=printable(partition.fstype),
            source=printable(partition.device),
            options=parse_options(printable(partition.opts)),
        )
        for partition in reversed(partitions)
    )
    return tuple(sorted(mounts, key=lambda mount: len(mount.mount_point), reverse=True))


def place_of(mount: Mount) -> Place:
    """Say where the files of a mount are."""
    if mount.type_name in _PLACES:
        return _PLACES[mount.type_name]
    return Place.PROGRAM if mount.type_name.startswith("fuse") else Place.UNKNOWN


def is_read_by_others(type_name: str) -> bool:
    """Say whether a program or a server reads the disk for us, which the system does not count as our reading."""
    place = _PLACES.get(type_name)
    return type_name.startswith("fuse") or place in {Place.NETWORK, Place.HOST}


def is_memory(type_name: str) -> bool:
    """Say whether files of it are in memory and nowhere else, so that they are never read from a disk."""
    return _PLACES.get(type_name) is Place.MEMORY


def filesystem_name(mount: Mount) -> str:
    """Return what people call the file system, such as `Amazon EFS (nfs4)`."""
    if is_efs(mount):
        return f"Amazon EFS ({mount.type_name})"
    if is_tunnelled(mount):
        return f"NFS through a tunnel on this machine, as Amazon EFS's mount program makes it ({mount.type_name})"
    name = _NAMES.get(mount.type_name)
    return f"{name} ({mount.type_name})" if name else mount.type_name


def is_efs(mount: Mount) -> bool:
    """Say whether it is Amazon's EFS by the name of its server; by an address nobody can tell."""
    server = mount.source.partition(":")[0]
    return mount.type_name == "efs" or (mount.type_name == "nfs4" and _EFS_SERVER.match(server) is not None)


def is_tunnelled(mount: Mount) -> bool:
    """Say whether the server is this machine on a port of its own, as with EFS's mount program and TLS."""
    return (
        mount.type_name == "nfs4"
        and mount.source.partition(":")[0] in {"127.0.0.1", "localhost"}
        and mount.value_of("port") not in {None, "0", _NFS_PORT}
    )


_NAMES: Final = {
    "nfs": "NFS version 2 or 3",
    "nfs4": "NFS version 4",
    "cifs": "SMB",
    "smb3": "SMB",
    "fuse.sshfs": "SSHFS",
    "fuse.s3fs": "S3 as a file system",
    "fuse.rclone": "a cloud by rclone",
    "fuse.glusterfs": "GlusterFS",
    "fuseblk": "a FUSE file system on a disk, such as NTFS-3G",
    "9p": "9P, a folder of the host",
    "virtiofs": "virtio-fs, a folder of the host",
    "vboxsf": "VirtualBox shared folder",
    "overlay": "overlay, as in containers",
    "ceph": "CephFS",
}
_PLACES: Final = {
    **dict.fromkeys(("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "apfs", "hfs"), Place.LOCAL),
    **dict.fromkeys(("vfat", "exfat", "ntfs", "ntfs3", "fuseblk", "squashfs", "erofs", "jfs", "ufs"), Place.LOCAL),
    **dict.fromkeys(("tmpfs", "ramfs", "devtmpfs"), Place.MEMORY),
    **dict.fromkeys(("nfs", "nfs4", "efs", "cifs", "smb3", "smbfs", "afs", "afpfs"), Place.NETWORK),
    **dict.fromkeys(("ceph", "lustre", "gfs2", "ocfs2", "beegfs", "gpfs", "pvfs2"), Place.NETWORK),
    **dict.fromkeys(("9p", "virtiofs", "vboxsf", "prl_fs", "drvfs"), Place.HOST),
    **dict.fromkeys(("overlay", "aufs"), Place.LAYERS),
}
