"""Where something of our own may lie on the file system of a repository without lying in any repository.

Source: gitrepository-layout(5). A submodule lies in another repository's git directory, and a repository may lie in
another's work tree: so the place is beside the outermost. What is made there, `copies.marked_folder` removes.
"""

import os

from gitdash.inspection.mounts import Mount, mount_of, read_mounts
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.mounts import mounts_of_partitions
from gitdash.lab.request import ExperimentError, for_people
from gitdash.model.report import RepositoryReport
from gitdash.units import human_bytes, printable_path


def folder_beside(report: RepositoryReport) -> bytes:
    """Return the folder beside a repository, on the file system of its objects.

    Raises ExperimentError if that lies on another one, or cannot be written.
    """
    objects_dir = os.path.realpath(object_folders(report)[0])
    outermost = folder = os.path.dirname(objects_dir)
    while folder != b"/":
        if _is_repository(folder):
            outermost = folder
        folder = os.path.dirname(folder)
    parent = os.path.dirname(outermost)
    with for_people(f"{printable_path(objects_dir)} cannot be looked at"):
        is_same = os.stat(parent).st_dev == os.stat(objects_dir).st_dev
    if not is_same:
        raise ExperimentError(
            f"{printable_path(parent)}, which is beside the repository, lies on another file system than its objects,"
            " and nothing is written into a repository to measure"
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ExperimentError(f"nothing can be written beside the repository, in {printable_path(parent)}")
    return parent


def require_room(folder: bytes, needed_bytes: int) -> None:
    """Raise ExperimentError if a volume has less room than is needed."""
    with for_people(f"{printable_path(folder)} cannot be looked at"):
        volume = os.statvfs(folder)
    free_bytes = volume.f_bavail * volume.f_frsize
    if free_bytes < needed_bytes:
        raise ExperimentError(
            f"{human_bytes(needed_bytes)} are needed in {printable_path(folder)},"
            f" where {human_bytes(free_bytes)} are free"
        )


def mount_of_report(report: RepositoryReport) -> Mount | None:
    """Return the mount on which a repository's objects lie, by the mount table of now; None if that has none."""
    path = os.path.realpath(object_folders(report)[0])
    mounts = read_mounts()
    if not mounts:
        import psutil  # type: ignore[import-untyped]

        mounts = mounts_of_partitions(psutil.disk_partitions(all=True))
    return mount_of(path, mounts)


def _is_repository(folder: bytes) -> bool:
    """Say whether a folder is a work tree or a git directory, by what lies in it."""
    if os.path.lexists(folder + b"/.git"):
        return True
    return all(os.path.lexists(folder + b"/" + name) for name in (b"HEAD", b"objects", b"refs"))
