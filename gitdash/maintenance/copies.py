"""Whether copies of objects are whole, before another copy of them goes: git itself goes by what indexes list.

`prune-packed`, `multi-pack-index expire`, `repack --geometric` and `repack -l` remove a copy because an index names
another, and look at nothing else: where that pack is cut short or zeroed, the good copy goes (tried with git 2.39.5,
2.47.3 and 2.55.0). So every copy in a pack of what is here twice is read and held against its id. A full repack needs
none of this but for packs that it keeps: it reads each object, and takes another copy where one is damaged.

git reads through a view of one pack alone, in a git directory of our own. Sources: git-cat-file(1) "BATCH OUTPUT",
git-verify-pack(1), gitformat-pack(5).
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.errors import GitdashError
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.output import first_complaint
from gitdash.gitcmd.shadow import ShadowGitDir, shadow_git_dir
from gitdash.gitcmd.store_view import make_pack_view, make_store_view
from gitdash.maintenance.verifying import is_about_objects
from gitdash.maintenance.work import Work, corrupt, refused
from gitdash.model.inspection import ObjectFormat
from gitdash.units import counted, printable, printable_path

_CHUNK_BYTES: Final = 16 << 20
"""Of content that one call of git hands over: memory is a few times this, and each call begins with no delta base."""
_LARGE_BYTES: Final = 256 << 20
"""An object from here on is not held in memory: its whole pack is verified instead."""
_CHUNK_COUNT: Final = 50_000
_WHOLE_PACK_SHARE: Final = 2
"""From half of its objects on the whole pack is verified: each costs as much there, and git does it in threads."""
_HASHES: Final = {ObjectFormat.SHA1: hashlib.sha1, ObjectFormat.SHA256: hashlib.sha256}
_KEPT_BECAUSE: Final = "nothing that it has was removed elsewhere, for other copies may be the good ones"


def check_copies(work: Work) -> None:
    """Show that each packed copy of what this store has twice is whole. Raises TaskStoppedError CORRUPT, GitError."""
    from gitdash.maintenance.object_sets import doubled_objects

    objects_dir, object_format = work.objects_dir, work.inspection.object_format
    try:
        doubled = doubled_objects(objects_dir, object_format)
    except GitdashError as error:
        raise corrupt(f"a pack or its index is damaged: {error}; {_KEPT_BECAUSE}") from error
    _check_packs(work, objects_dir, doubled)


def check_lent_copies(work: Work, objects_dir: bytes, object_ids: Sequence[str]) -> None:
    """Show that each copy that a lender itself has of these objects is whole. Raises like `check_copies`."""
    from gitdash.maintenance.object_sets import copies_by_pack

    object_format = work.inspection.object_format
    try:
        packed, loose = copies_by_pack(objects_dir, object_ids, object_format)
    except GitdashError as error:
        raise corrupt(f"a pack or its index is damaged: {error}; {_KEPT_BECAUSE}") from error
    _check_packs(work, objects_dir, packed)
    with shadow_git_dir(object_format=object_format, objects_dir=objects_dir) as shadow:
        # without what the store borrows
        view = make_store_view(os.path.join(shadow.path, b"objects"), objects_dir, ())
        environment = shadow.environment | {"GIT_OBJECT_DIRECTORY": os.fsdecode(view)}
        if not _check_each(work, environment, loose, f"a loose object of {printable_path(objects_dir)}"):
            raise refused(f"a loose object of {printable_path(objects_dir)} is too large to be checked: pack it first")


def _check_packs(work: Work, objects_dir: bytes, by_pack: Sequence[tuple[bytes, Sequence[str], int]]) -> None:
    """Check some objects of some packs, given by the name of the pack without suffix, and how many objects it has."""
    if not by_pack:
        return
    with shadow_git_dir(object_format=work.inspection.object_format, objects_dir=objects_dir) as shadow:
        for number, (stem, object_ids, object_count) in enumerate(by_pack):
            work.refuse_if_cancelled()
            name = printable_path(objects_dir + b"/pack/" + stem + b".pack")
            if len(object_ids) * _WHOLE_PACK_SHARE >= object_count:
                _verify_pack(work, shadow, objects_dir, stem)
                continue
            folder = os.path.join(shadow.path, b"objects", b"view%d" % number)
            environment = shadow.environment | {
                "GIT_OBJECT_DIRECTORY": os.fsdecode(make_pack_view(folder, objects_dir, stem))
            }
            if not _check_each(work, environment, object_ids, name):
                _verify_pack(work, shadow, objects_dir, stem)


def _verify_pack(work: Work, shadow: ShadowGitDir, objects_dir: bytes, stem: bytes) -> None:
    """Have git read all of a pack. The git directory is empty: else each object is compared with its other copies."""
    empty = shadow.environment | {"GIT_OBJECT_DIRECTORY": os.path.join(os.fsdecode(shadow.path), "objects")}
    try:
        work.git(["verify-pack", objects_dir + b"/pack/" + stem + b".idx"], environment=empty)
    except GitError as error:
        raise _damage(error, printable_path(objects_dir + b"/pack/" + stem + b".pack")) from error


def _check_each(work: Work, environment: dict[str, str], object_ids: Sequence[str], name: str) -> bool:
    """Read objects and hold each against its id; False if one is too large for that, before any was read."""
    sizes = list(_sizes(work, environment, object_ids, name))
    if any(size_bytes >= _LARGE_BYTES for _, size_bytes in sizes):
        return False
    new_hash = _HASHES[work.inspection.object_format]
    for chunk in _chunks(sizes):
        work.refuse_if_cancelled()
        try:
            output = work.git(["cat-file", "--batch", "--buffer"], environment=environment, stdin=_lines(chunk))
        except GitError as error:
            raise _damage(error, name) from error
        rest = memoryview(output.stdout)
        for object_id in chunk:
            header, _, _ = bytes(rest[:200]).partition(b"\n")
            asked, _, what = header.partition(b" ")
            kind, _, size = what.partition(b" ")
            if asked.decode() != object_id or not size.isdigit():
                raise corrupt(f"{name} is damaged: object {object_id} is not whole; {_KEPT_BECAUSE}")
            start, end = len(header) + 1, len(header) + 1 + int(size)
            digest = new_hash(kind + b" " + size + b"\0")
            digest.update(rest[start:end])
            if digest.hexdigest() != object_id:
                raise corrupt(f"{name} is damaged: object {object_id} has another content; {_KEPT_BECAUSE}")
            rest = rest[end + 1 :]
    return True


def _sizes(work: Work, environment: dict[str, str], object_ids: Sequence[str], name: str) -> Iterator[tuple[str, int]]:
    for start in range(0, len(object_ids), _CHUNK_COUNT):
        some = object_ids[start : start + _CHUNK_COUNT]
        option = "--batch-check=%(objectsize)"
        try:
            output = work.git(["cat-file", option, "--buffer"], environment=environment, stdin=_lines(some))
        except GitError as error:
            raise _damage(error, name) from error
        lines = output.stdout.decode("ascii", "replace").splitlines()
        broken = [object_id for object_id, line in zip(some, lines, strict=False) if not line.isdigit()]
        if broken or len(lines) != len(some):
            what = f"{counted(max(len(broken), 1), 'object')} cannot be read"
            complaint = first_complaint(output.stderr)
            raise corrupt(f"{name} is damaged: {printable(complaint) or what}; {_KEPT_BECAUSE}")
        yield from zip(some, map(int, lines), strict=True)


def _chunks(sizes: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    chunk: list[str] = []
    chunk_bytes = 0
    for object_id, size_bytes in sizes:
        if chunk and (chunk_bytes + size_bytes > _CHUNK_BYTES or len(chunk) >= _CHUNK_COUNT):
            yield chunk
            chunk, chunk_bytes = [], 0
        chunk.append(object_id)
        chunk_bytes += size_bytes
    if chunk:
        yield chunk


def _lines(object_ids: Sequence[str]) -> bytes:
    return "".join(object_id + "\n" for object_id in object_ids).encode()


def _damage(error: GitError, name: str) -> GitdashError:
    """What git says of objects is damage; a time limit or a signal is not."""
    if not is_about_objects(error):
        return error
    complaint = printable(first_complaint(error.stderr) or str(error))
    return corrupt(f"{name} is damaged: {complaint}; {_KEPT_BECAUSE}")
