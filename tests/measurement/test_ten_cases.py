"""The ten cases of Gitaly's TestSize, to the byte, with the presence or absence of `--use-bitmap-index`.

The expected numbers come from Gitaly's test; git is asked besides, in the repository itself, with `--all`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitdash.measurement.reachable import measure_reachable
from gitdash.model.sizes import Question
from tests.measurement.built import RecordingGit, request_for
from tests.support.repositories import GitRepository

SCROOGE = {
    "GIT_AUTHOR_NAME": "Scrooge McDuck",
    "GIT_AUTHOR_EMAIL": "scrooge@mcduck.com",
    "GIT_AUTHOR_DATE": "1572776879 +0100",
    "GIT_COMMITTER_NAME": "Scrooge McDuck",
    "GIT_COMMITTER_EMAIL": "scrooge@mcduck.com",
    "GIT_COMMITTER_DATE": "1572776879 +0100",
}


def write_commit(
    repository: GitRepository,
    name: str,
    content: bytes,
    *,
    reference: str | None = "refs/heads/main",
    message: str = "message",
    parent: str | None = None,
) -> str:
    blob = repository.blob(content)
    tree = repository.git("mktree", "-z", "--missing", stdin=f"100644 blob {blob}\t{name}\0".encode())
    parents = ["-p", parent] if parent else []
    commit = repository.git("commit-tree", "-F", "-", *parents, tree, stdin=message.encode(), **SCROOGE)
    if reference:
        repository.git("update-ref", reference, commit)
    return commit


@dataclass
class Built:
    """What a case leaves behind."""

    own: GitRepository
    lenders: tuple[GitRepository, ...] = ()
    excluded: tuple[str, ...] = ()


def pair(folder: Path, object_format: str) -> tuple[GitRepository, GitRepository]:
    member = GitRepository.init(folder / "member.git", object_format=object_format)
    pool = GitRepository.init(folder / "pool.git", object_format=object_format)
    member.borrow_from(pool)
    return member, pool


def empty(folder: Path, object_format: str) -> Built:
    return Built(GitRepository.init(folder / "own.git", object_format=object_format))


def referenced(folder: Path, object_format: str) -> Built:
    built = empty(folder, object_format)
    write_commit(built.own, "file", b"a" * 1000)
    return built


def unreferenced(folder: Path, object_format: str) -> Built:
    built = empty(folder, object_format)
    write_commit(built.own, "file", b"a" * 1000, reference=None)
    return built


def modified(folder: Path, object_format: str) -> Built:
    built = empty(folder, object_format)
    first = write_commit(built.own, "file", b"a" * 1000)
    write_commit(built.own, "file", b"a" * 1001, message="modification", parent=first)
    return built


def modified_and_repacked(folder: Path, object_format: str) -> Built:
    built = modified(folder, object_format)
    built.own.git("repack", "-a", "-d", "-q")
    return built


def one_reference_excluded(folder: Path, object_format: str) -> Built:
    built = empty(folder, object_format)
    write_commit(built.own, "1kbblob", b"a" * 1000, reference="refs/heads/exclude-me")
    write_commit(built.own, "1kbblob", b"x" * 2000, reference="refs/heads/include-me")
    built.excluded = ("refs/heads/exclude-me",)
    return built


def everything_excluded(folder: Path, object_format: str) -> Built:
    built = empty(folder, object_format)
    write_commit(built.own, "1kbblob", b"a" * 1000, reference="refs/heads/exclude-me")
    built.excluded = ("refs/heads/*",)
    return built


def with_alternate(folder: Path, object_format: str) -> Built:
    member, pool = pair(folder, object_format)
    for repository in (member, pool):
        write_commit(repository, "1kbblob", b"a" * 1000)
    return Built(member, (pool,))


def with_additional(folder: Path, object_format: str) -> Built:
    member, pool = pair(folder, object_format)
    for repository, content in ((member, b"0"), (pool, b"1")):
        root = write_commit(repository, "1kbblob", b"a" * 1000, reference=None)
        write_commit(repository, "1kbblob", content, parent=root)
    return Built(member, (pool,))


REACHABLE, OWN = Question.REACHABLE, Question.REACHABLE_OWN
CASES = [
    ("empty repository", empty, REACHABLE, 0, 0, True),
    ("referenced commit", referenced, REACHABLE, 203, 230, True),
    ("unreferenced commit", unreferenced, REACHABLE, 0, 0, True),
    ("modification without repack", modified, REACHABLE, 439, 510, True),
    ("modification after repack", modified_and_repacked, REACHABLE, 398, 465, True),
    ("excluded single reference", one_reference_excluded, REACHABLE, 217, 245, True),
    ("excluded everything", everything_excluded, REACHABLE, 0, 0, True),
    ("repository with alternate", with_alternate, REACHABLE, 207, 234, True),
    ("exclude alternate, identical", with_alternate, OWN, 0, 0, False),
    ("exclude alternate, additional", with_additional, OWN, 224, 268, False),
    ("additional, without exclusion", with_additional, REACHABLE, 431, 502, True),
    ("exclude alternate, but there is none", referenced, OWN, 203, 230, True),
]


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize(
    ("build", "question", "sha1_bytes", "sha256_bytes", "uses_bitmap"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_case_holds_to_the_byte(
    build: Callable[[Path, str], Built],
    question: Question,
    sha1_bytes: int,
    sha256_bytes: int,
    uses_bitmap: bool,
    object_format: str,
    tmp_path: Path,
) -> None:
    built = build(tmp_path, object_format)
    recording = RecordingGit(tmp_path)
    request = request_for(
        built.own, question, *built.lenders, object_format=object_format, excluded_references=built.excluded
    )
    size = measure_reachable(request, recording.program, now_s=7.0, time_limit_s=30.0)
    assert size.bytes == (sha1_bytes if object_format == "sha1" else sha256_bytes)
    (call,) = recording.calls()
    assert ("--use-bitmap-index" in call) is uses_bitmap
    assert size.argv == ("git", *call)
    assert (size.question, size.measured_at_s, size.notes) == (question, 7.0, ())
    assert size.excluded_references == built.excluded
    excludes = [f"--exclude={pattern}" for pattern in built.excluded]
    lent = ["--not", "--alternate-refs", "--not"] if question is OWN else []
    assert size.bytes == int(built.own.git("rev-list", *excludes, *lent, "--all", "--objects", "--disk-usage"))


@pytest.mark.oracle
def test_excluded_references_and_excluded_alternate_together(tmp_path: Path) -> None:
    built = with_additional(tmp_path, "sha1")
    write_commit(built.own, "more", b"m" * 3000, reference="refs/keep-around/1")
    write_commit(built.own, "kept", b"k" * 3000, reference="refs/heads/kept")
    request = request_for(built.own, OWN, *built.lenders, excluded_references=("refs/keep-around/*",))
    size = measure_reachable(request, RecordingGit(tmp_path).program, now_s=0.0, time_limit_s=30.0)
    arguments = ["--exclude=refs/keep-around/*", "--not", "--alternate-refs", "--not", "--all", "--objects"]
    assert size.bytes == int(built.own.git("rev-list", *arguments, "--disk-usage"))
    everything = request_for(built.own, OWN, *built.lenders)
    more = measure_reachable(everything, RecordingGit(tmp_path).program, now_s=0.0, time_limit_s=30.0)
    assert more.bytes > size.bytes
