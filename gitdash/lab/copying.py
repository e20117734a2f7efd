"""What a throw-away copy is made of. Nothing here runs git, and nothing of the original is opened for writing.

What git never changes in place - packs with all that belongs to them, loose objects, the multi-pack-index,
commit-graphs: git replaces these by rename(2) - is a hard link, so a copy takes next to no room. What names something
- HEAD, references, the shallow file - is copied, and the list of alternates gets absolute paths. The config is ours:
nothing of the original's is in it. Source: gitrepository-layout(5), link(2), gitformat-pack(5).

A hard link shares its times with the original, and git sets the time of a file anew when it is to write an object that
is there already (`freshen_packed_object`, `freshen_loose_object` in object-file.c). So whoever uses a copy must not
let git write single objects; by our config fetches and pushes keep their packs.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.store_files import irregular_file, irregular_reference_file
from gitdash.inspection.files import FileMissingError, read_file
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.request import ExperimentError
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import AlternatesFacts, Inspection, ObjectFormat, ReferenceBackend
from gitdash.model.report import RepositoryReport
from gitdash.units import printable_path

_REFERENCE_LIMIT_BYTES: Final = 1024**3
"""A packed-refs file of ten million references."""
_FAN_OUT: Final = re.compile(rb"[0-9a-f]{2}")
_LOOSE_OBJECT: Final = re.compile(rb"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_IN_PACK: Final = re.compile(rb"(?!tmp_).+\.(?:pack|idx|rev|bitmap|mtimes|keep|promisor)|multi-pack-index.*(?<!\.lock)")
_CHAIN: Final = re.compile(rb".+(?<!\.lock)")
_LINKED_FOLDERS: Final = (
    (b"info", re.compile(rb"commit-graph")),
    (b"info/commit-graphs", _CHAIN),
    (b"pack", _IN_PACK),
    (b"pack/multi-pack-index.d", _CHAIN),
)
_ATTEMPTS: Final = 3
"""At a folder in which another process has removed what was listed before it was linked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowAwayCopy:
    """A bare repository of our own with the objects and references of another."""

    git_dir: bytes
    """Absolute."""

    @property
    def objects_dir(self) -> bytes:
        """Its object folder."""
        return self.git_dir + b"/objects"


def fill(report: RepositoryReport, git_dir: bytes) -> ThrowAwayCopy:
    """Make the copy at a path where nothing is. Raises OSError, FileError and ExperimentError."""
    inspection = _require_readable(report)
    common_dir, copy = report.repository.common_dir, ThrowAwayCopy(git_dir=git_dir)
    for name in (b"", b"/refs", b"/objects", b"/objects/info", b"/objects/pack"):
        os.mkdir(git_dir + name, 0o700)
    _write(git_dir + b"/config", _config(inspection))
    # references first, for what they lead to is there by then; loose ones before packed ones, as git reads them
    for name in (*_files_below(common_dir, b"refs"), *_files_below(common_dir, b"reftable")):
        _copy(common_dir, name, git_dir)
    for name in (b"packed-refs", b"HEAD", b"shallow"):
        _copy(common_dir, name, git_dir)
    _write(copy.objects_dir + b"/info/alternates", _alternates(inspection))
    _link_objects(object_folders(report)[0], copy.objects_dir)
    return copy


def _require_readable(report: RepositoryReport) -> Inspection:
    """Raise ExperimentError if the original was not read, or holds something that git would wait for."""
    if not isinstance(report.inspection, Inspection):
        raise ExperimentError(f"the repository cannot be read: {report.inspection.reason}")
    irregular = irregular_file(object_folders(report)[0]) or irregular_reference_file(report.repository.common_dir)
    if irregular is not None:
        raise ExperimentError(f"{printable_path(irregular[0])} is {irregular[1]}, and git would open it")
    return report.inspection


def _config(inspection: Inspection) -> bytes:
    extensions, remote = [], ""
    if inspection.object_format is not ObjectFormat.SHA1:
        extensions.append(f"\tobjectFormat = {inspection.object_format.value}\n")
    if inspection.reference_backend is not ReferenceBackend.FILES:
        extensions.append(f"\trefStorage = {inspection.reference_backend.value}\n")
    if isinstance(inspection.config, ConfigFacts) and inspection.config.partial_clone:
        # without an address: what is missing stays missing, and git takes it for promised
        extensions.append("\tpartialClone = origin\n")
        remote = '[remote "origin"]\n\tpromisor = true\n'
    text = (
        f"[core]\n\trepositoryformatversion = {1 if extensions else 0}\n\tbare = true\n"
        "\tlogAllRefUpdates = false\n[transfer]\n\tunpackLimit = 1\n[fetch]\n\tunpackLimit = 1\n"
        "[receive]\n\tunpackLimit = 1\n" + remote
    )
    if extensions:
        text += "[extensions]\n" + "".join(extensions)
    return text.encode()


def _alternates(inspection: Inspection) -> bytes:
    found = inspection.alternates
    lenders = found.alternates if isinstance(found, AlternatesFacts) else ()
    paths = [lender.path for lender in lenders if lender.exists and lender.depth == 1]
    for path in paths:
        if b"\n" in path:
            raise ExperimentError("the path of a lender has a line break in it, which a copy cannot name")
    return b"".join(path + b"\n" for path in paths)


def _files_below(folder: bytes, name: bytes) -> Iterator[bytes]:
    """Return paths relative to `folder` of what lies below one of its entries, locks left out."""
    for parent, _, names in os.walk(os.path.join(folder, name)):
        relative = parent[len(folder) + 1 :]
        yield from (os.path.join(relative, found) for found in names if not found.endswith(b".lock"))


def _copy(common_dir: bytes, name: bytes, git_dir: bytes) -> None:
    """Copy one file; one that is not there, or is gone by now, is none."""
    try:
        content = read_file(os.path.join(common_dir, name), _REFERENCE_LIMIT_BYTES)
    except FileMissingError:
        return
    target = os.path.join(git_dir, name)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    _write(target, content)


def _write(path: bytes, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)


def _link_objects(source: bytes, target: bytes) -> None:
    # packs after loose objects: one that is packed meanwhile is then in a pack that is listed later
    loose = [(name, _LOOSE_OBJECT) for name in os.listdir(source) if _FAN_OUT.fullmatch(name)]
    for name, wanted in (*loose, *_LINKED_FOLDERS):
        for attempts_left in reversed(range(_ATTEMPTS)):
            if _link_folder(source, target, name, wanted):
                break
            if not attempts_left:
                raise ExperimentError("files come and go: another process repacks the repository")


def _link_folder(source: bytes, target: bytes, name: bytes, wanted: re.Pattern[bytes]) -> bool:
    """Link the files of one folder; return False if one was gone by then, and nothing of the folder is linked."""
    listed = [entry for entry in _listed(os.path.join(source, name)) if wanted.fullmatch(entry)]
    if listed:
        os.makedirs(os.path.join(target, name), mode=0o700, exist_ok=True)
    for entry in listed:
        if not _link(os.path.join(source, name, entry), os.path.join(target, name, entry)):
            shutil.rmtree(os.path.join(target, name))
            return False
    return True


def _listed(folder: bytes) -> Iterable[bytes]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return ()


def _link(source: bytes, target: bytes) -> bool:
    """Link one file, or what a symbolic link leads to; return False if it is gone."""
    try:
        if not os.path.isdir(source):
            os.link(os.path.realpath(source), target)
    except FileNotFoundError:
        return False
    return True
