"""A derived file that lies does not make a wrong number: it is noticed, and git is asked again without it."""

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.measurement.checksums import has_valid_checksum
from gitdash.measurement.queries import UntrustworthySizeError
from gitdash.measurement.reachable import measure_reachable
from gitdash.measurement.size_request import SizeRequest
from gitdash.model.inspection import ObjectFormat
from gitdash.model.sizes import Question, SizeMeasurement, Strategy
from tests.measurement.built import disk_sizes, git_program, objects_bytes, request_for
from tests.support.repositories import GitRepository

NO_PARENT = 0x70000000


def measure(request: SizeRequest) -> SizeMeasurement:
    return measure_reachable(request, git_program(), now_s=0.0, time_limit_s=30.0)


def history(path: Path, *repack: str) -> GitRepository:
    own = GitRepository.init(path)
    for number in range(12):
        own.commit({"file": f"{number}\n" * 60, f"name{number}": f"{number}"})
    # bare repositories would get a bitmap by default
    own.git("-c", "repack.writeBitmaps=false", "repack", "-q", "-a", "-d", *repack)
    return own


def replace(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


def with_checksum(content: bytes) -> bytes:
    return content[:-20] + hashlib.sha1(content[:-20]).digest()


def without_parents(graph: bytes) -> bytes:
    """The commit-graph with no parents in it; its checksum is left as it was."""
    chunk_count = graph[6]
    rows = [struct.unpack_from(">4sQ", graph, 8 + 12 * number) for number in range(chunk_count + 1)]
    start, end = next(
        (offset, rows[number + 1][1]) for number, (chunk_id, offset) in enumerate(rows) if chunk_id == b"CDAT"
    )
    lying = bytearray(graph)
    for row in range(start, end, 36):
        struct.pack_into(">II", lying, row + 20, NO_PARENT, NO_PARENT)
    return bytes(lying)


@pytest.fixture
def lying_graph(tmp_path: Path) -> tuple[GitRepository, Path]:
    own = history(tmp_path / "own.git")
    own.git("commit-graph", "write", "--reachable")
    path = own.git_dir / "objects" / "info" / "commit-graph"
    replace(path, without_parents(path.read_bytes()))
    return own, path


@pytest.mark.oracle
@pytest.mark.safety
def test_lying_commit_graph_is_noticed_by_what_is_stored(lying_graph: tuple[GitRepository, Path]) -> None:
    own, path = lying_graph
    replace(path, with_checksum(path.read_bytes()))
    true_bytes = sum(disk_sizes(own).values())
    lie = int(own.git("rev-list", "--all", "--objects", "--disk-usage"))
    assert lie < true_bytes / 2
    assert measure(request_for(own)).bytes == lie
    size = measure(request_for(own, expected_bytes=objects_bytes(own)))
    assert size.bytes == true_bytes
    assert size.strategy is Strategy.WALK
    assert "--use-bitmap-index" not in size.argv
    assert "core.commitGraph=false" in size.argv
    assert len(size.notes) == 1
    assert size.notes[0].startswith(
        f"commit-graph, bitmap or multi-pack-index may lie: {lie:,} bytes with them, {true_bytes:,} bytes without: "
    )


@pytest.mark.oracle
@pytest.mark.safety
def test_damaged_commit_graph_is_noticed_by_its_checksum(lying_graph: tuple[GitRepository, Path]) -> None:
    own, path = lying_graph
    assert not has_valid_checksum(path.read_bytes(), ObjectFormat.SHA1)
    size = measure(request_for(own, damaged_files=("commit-graph",)))
    assert size.bytes == sum(disk_sizes(own).values())
    assert size.notes == size.warnings == ("measured without derived files, for damage in commit-graph",)
    assert "core.commitGraph=false" in size.argv


def lying_bitmaps(own: GitRepository, path: Path) -> Iterator[int]:
    """Flip bits of a bitmap until git answers with exit code 0 and another number; give that number."""
    whole = path.read_bytes()
    true_bytes = sum(disk_sizes(own).values())
    for position in range(40, len(whole) - 20):
        replace(path, whole[:position] + bytes((whole[position] ^ 0x55,)) + whole[position + 1 :])
        answer = own.git("rev-list", "--all", "--objects", "--disk-usage", "--use-bitmap-index", check=False)
        if answer.isdigit() and int(answer) != true_bytes:
            yield int(answer)
    replace(path, whole)


@pytest.mark.oracle
@pytest.mark.safety
def test_lying_bitmap_is_noticed_by_its_checksum(tmp_path: Path) -> None:
    own = history(tmp_path / "own.git", "-b")
    (path,) = own.packs()[0].parent.glob("*.bitmap")
    lie = next(lying_bitmaps(own, path))
    assert not has_valid_checksum(path.read_bytes(), ObjectFormat.SHA1)
    size = measure(request_for(own, damaged_files=("bitmap",)))
    assert size.bytes == sum(disk_sizes(own).values()) != lie


@pytest.mark.oracle
@pytest.mark.safety
def test_truncated_bitmap_makes_git_complain_and_is_noted(tmp_path: Path) -> None:
    own = history(tmp_path / "own.git", "-b")
    (path,) = own.packs()[0].parent.glob("*.bitmap")
    replace(path, path.read_bytes()[:40])
    size = measure(request_for(own))
    assert size.bytes == sum(disk_sizes(own).values())
    assert size.exact
    assert len(size.notes) == 1
    assert "with the same result: git complained: " in size.notes[0]


@pytest.mark.oracle
@pytest.mark.safety
def test_multi_pack_index_that_stops_git_is_gone_around(tmp_path: Path) -> None:
    own = history(tmp_path / "own.git")
    true_bytes = sum(disk_sizes(own).values())
    own.git("multi-pack-index", "write")
    request = request_for(own)
    path = own.git_dir / "objects" / "pack" / "multi-pack-index"
    replace(path, b"XXXX" + path.read_bytes()[4:])
    size = measure(request)
    assert size.bytes == true_bytes
    assert size.notes[0].startswith("measured without derived files, with them git rev-list failed: ")


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("offset", [b"\x7f\xff\xff\xff", b"\x80\0\0\0"])
def test_damaged_offsets_raise_and_give_no_number(offset: bytes, tmp_path: Path) -> None:
    own = history(tmp_path / "own.git", "-b")
    index = own.packs()[0].with_suffix(".idx")
    content = bytearray(index.read_bytes())
    count = int.from_bytes(content[1028:1032], "big")
    start = 1032 + count * 24
    content[start : start + 4 * count] = offset * count
    replace(index, bytes(content))
    with pytest.raises(GitError):
        measure(request_for(own, upper_bound_bytes=objects_bytes(own)))


@pytest.mark.safety
def test_number_above_all_files_raises_if_git_stays_with_it(tmp_path: Path) -> None:
    own = history(tmp_path / "own.git")
    with pytest.raises(UntrustworthySizeError, match="more than the 10 bytes of all packs and loose objects"):
        measure(request_for(own, upper_bound_bytes=10))


@pytest.mark.safety
def test_missing_blob_raises_and_gives_no_number(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    blob = own.git("rev-parse", "main:file")
    (own.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError):
        measure(request_for(own))


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("strategy", [Strategy.BITMAP, Strategy.UNION, Strategy.WALK])
def test_doubt_about_a_size_without_the_lender_is_settled_by_a_like_answer(strategy: Strategy, tmp_path: Path) -> None:
    pool = history(tmp_path / "pool.git", "-b")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(pool)
    member.git("update-ref", "refs/heads/main", pool.git("rev-parse", "main"))
    member.commit({"own": "own\n" * 200})
    question = Question.REACHABLE_OWN
    trusted = measure(request_for(member, question, pool, requested=strategy, every_object_once=True))
    doubted = measure(
        request_for(member, question, pool, requested=strategy, every_object_once=True, damaged_files=("bitmap",))
    )
    assert doubted.bytes == trusted.bytes
    # git before 2.42 does not say whether its bitmap answer is exact; a union is
    assert doubted.exact or not trusted.exact
    assert doubted.notes[-1] == doubted.warnings[0] == "measured without derived files, for damage in bitmap"


@pytest.mark.parametrize("object_format", list(ObjectFormat))
def test_checksums_of_files_that_git_wrote_are_valid(object_format: ObjectFormat, tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git", object_format=object_format.value)
    own.commit({"file": "content"})
    own.repack("-b")
    own.git("commit-graph", "write", "--reachable")
    own.git("multi-pack-index", "write")
    pack = own.packs()[0]
    files = [
        pack,
        pack.with_suffix(".idx"),
        pack.with_suffix(".bitmap"),
        pack.with_name("multi-pack-index"),
        own.git_dir / "objects" / "info" / "commit-graph",
    ]
    buffers = [(file.name, file.read_bytes()) for file in files]
    assert all(has_valid_checksum(content, object_format) for _, content in buffers)
    flipped = [bytes((content[0] ^ 1,)) + content[1:] for _, content in buffers]
    assert not any(has_valid_checksum(content, object_format) for content in flipped)
    assert not any(has_valid_checksum(content[:-1], object_format) for _, content in buffers)
    assert not has_valid_checksum(b"short", object_format)
