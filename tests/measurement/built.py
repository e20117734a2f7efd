"""What measurement is given, taken from repositories that a test built; files are read whole."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from gitdash.gitcmd.git_program import GitProgram
from gitdash.measurement.size_request import SizeRequest
from gitdash.measurement.stores import Store, StoredPack
from gitdash.model.inspection import ObjectFormat
from gitdash.model.sizes import Question
from tests.support.repositories import GIT, GitRepository, git_version


def store_of(repository: GitRepository) -> Store:
    """The object store of a repository."""
    return store_at(repository.git_dir / "objects")


def store_at(objects_dir: Path) -> Store:
    """An object store."""

    def loose() -> Iterator[tuple[str, int]]:
        for file in objects_dir.glob("[0-9a-f][0-9a-f]/*"):
            yield file.parent.name + file.name, file.stat().st_size

    def multi_pack_index() -> Iterator[bytes]:
        path = objects_dir / "pack" / "multi-pack-index"
        if path.exists():
            yield path.read_bytes()

    return Store(
        identity=str(objects_dir),
        packs=lambda: stored_packs(sorted((objects_dir / "pack").glob("*.pack"))),
        loose=loose,
        multi_pack_index=multi_pack_index,
    )


def stored_packs(packs: Iterable[Path]) -> Iterator[StoredPack]:
    """These pack files with their indexes."""
    for pack in packs:
        index = pack.with_suffix(".idx")
        yield StoredPack(
            name=pack.name.encode(), index=index.read_bytes(), pack=pack.read_bytes(), mtime_s=pack.stat().st_mtime
        )


def objects_bytes(repository: GitRepository) -> int:
    """Bytes of all pack files and loose objects of a repository, without its lenders."""
    objects_dir = repository.git_dir / "objects"
    files = [*(objects_dir / "pack").glob("*.pack"), *objects_dir.glob("[0-9a-f][0-9a-f]/*")]
    return sum(file.stat().st_size for file in files)


def disk_sizes(repository: GitRepository) -> dict[str, int]:
    """What git says of each object in a repository and its lenders."""
    lines = repository.git(
        "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize:disk)"
    ).splitlines()
    return {object_id: int(size) for object_id, size in (line.split() for line in lines)}


def disk_size(repository: GitRepository, object_id: str) -> int:
    """The size of the copy of one object that a git process finds first."""
    return int(repository.git("cat-file", "--batch-check=%(objectsize:disk)", stdin=object_id.encode() + b"\n"))


def references_of(repository: GitRepository) -> tuple[tuple[bytes, str], ...]:
    """Names and ids of the references, HEAD included if it is born."""
    lines = repository.git_bytes("show-ref", "--head", check=False).splitlines()
    return tuple((name, object_id.decode()) for object_id, name in (line.split(b" ", 1) for line in lines))


def git_program() -> GitProgram:
    """The git under test."""
    return GitProgram(path=GIT, version=git_version(), version_text=".".join(map(str, git_version())))


def request_for(
    repository: GitRepository,
    question: Question = Question.REACHABLE,
    *lenders: GitRepository,
    object_format: str = "sha1",
    **more: object,
) -> SizeRequest:
    """A request with what inspection would have found."""
    stores = (repository, *lenders)
    has_alternates_file = (repository.git_dir / "objects" / "info" / "alternates").exists()
    is_known = bool(lenders) or not has_alternates_file
    values: dict[str, object] = {
        "question": question,
        "objects_dir": bytes(repository.git_dir / "objects"),
        "object_format": ObjectFormat(object_format),
        "references": references_of(repository),
        "has_alternates_file": has_alternates_file,
        "lender_objects_dirs": tuple(bytes(store.git_dir / "objects") for store in lenders) if is_known else None,
        "lender_references": tuple(reference for lender in lenders for reference in references_of(lender)),
        "upper_bound_bytes": sum(objects_bytes(store) for store in stores),
    }
    return SizeRequest(**(values | more))  # type: ignore[arg-type]


@dataclass
class RecordingGit:
    """A program that writes down the arguments it gets, one call a line, and becomes git."""

    folder: Path
    program: GitProgram = field(init=False)

    def __post_init__(self) -> None:
        script = self.folder / "recording-git"
        self._log = self.folder / "calls"
        script.write_text(f'#!/bin/sh\nprintf "%s\\037" "$@" >>{self._log}\necho >>{self._log}\nexec {GIT} "$@"\n')
        script.chmod(0o755)
        self.program = GitProgram(path=str(script), version=git_version(), version_text="recorded")

    def calls(self) -> list[list[str]]:
        """The arguments of each call, without `-c` pairs."""
        calls = []
        for line in self._log.read_text().splitlines() if self._log.exists() else []:
            arguments = line.split("\037")[:-1]
            while arguments and arguments[0] == "-c":
                del arguments[:2]
            calls.append(arguments)
        return calls

    def config(self) -> list[list[str]]:
        """The `-c` pairs of each call."""
        lines = self._log.read_text().splitlines()
        return [
            [following for argument, following in pairwise(arguments) if argument == "-c"]
            for arguments in (line.split("\037") for line in lines)
        ]
