"""The multi-pack-index and the commit-graph, with git as the oracle."""

import os
import shutil
from pathlib import Path

import pytest

from gitdash.inspection import commit_graph
from gitdash.inspection.commit_graph import inspect_commit_graph
from gitdash.inspection.files import FileBuffer, FileMissingError, open_buffer
from gitdash.inspection.listing import Listing, list_git_directory
from gitdash.inspection.reading import Problems
from gitdash.model.inspection import CommitGraphFacts, MultiPackIndexFacts, PackFacts
from gitdash.model.repository import Unreadable
from tests.inspection.conftest import Inspect
from tests.inspection.oracle import count_objects, needs_git
from tests.support.repositories import GitRepository


def with_packs(repository: GitRepository, count: int) -> None:
    for number in range(count):
        repository.commit({f"f{number}": f"{number}"})
        repository.git("repack", "-d", "-q")


def pack_folder(repository: GitRepository) -> Path:
    return repository.git_dir / "objects" / "pack"


@pytest.mark.oracle
def test_a_multi_pack_index_covers_the_packs_that_git_wrote_into_it(
    repository: GitRepository, inspect: Inspect
) -> None:
    with_packs(repository, 3)
    assert inspect(repository).multi_pack_index is None
    repository.git("multi-pack-index", "write")
    with_packs(repository, 5)
    inspection = inspect(repository)
    midx = inspection.multi_pack_index
    assert isinstance(midx, MultiPackIndexFacts)
    assert (midx.pack_count, midx.layer_count, midx.missing_pack_count) == (3, 1, 0)
    assert midx.bytes == (pack_folder(repository) / "multi-pack-index").stat().st_size
    packs = inspection.packs
    assert isinstance(packs, PackFacts)
    assert packs.outside_midx_count == packs.count - 3
    inside = [pack for pack in packs.packs if pack.in_multi_pack_index]
    assert sum(pack.object_count or 0 for pack in inside) == midx.object_count
    assert packs.garbage_count == count_objects(repository)["garbage"] == 0
    assert packs.derived_bytes >= midx.bytes


@pytest.mark.oracle
def test_the_bitmap_of_a_multi_pack_index_comes_first(repository: GitRepository, inspect: Inspect) -> None:
    with_packs(repository, 2)
    repository.git("repack", "-adbq")
    with_packs(repository, 4)
    repository.git("multi-pack-index", "write", "--bitmap")
    inspection = inspect(repository)
    assert inspection.bitmaps[0].source == "multi_pack_index"
    midx = inspection.multi_pack_index
    assert isinstance(midx, MultiPackIndexFacts)
    assert midx.has_reverse_index
    assert not isinstance(inspection.packs, Unreadable)
    assert inspection.packs.garbage_count == count_objects(repository)["garbage"] == 0


def test_packs_that_the_multi_pack_index_names_and_that_are_gone_are_counted(
    sha1_repository: GitRepository, inspect: Inspect
) -> None:
    with_packs(sha1_repository, 3)
    sha1_repository.git("multi-pack-index", "write")
    for path in pack_folder(sha1_repository).glob(sha1_repository.packs()[0].stem + ".*"):
        path.unlink()
    midx = inspect(sha1_repository).multi_pack_index
    assert isinstance(midx, MultiPackIndexFacts)
    assert (midx.pack_count, midx.missing_pack_count) == (3, 1)


@needs_git(2, 47)
def test_a_chain_of_multi_pack_indexes_is_added_up(sha1_repository: GitRepository, inspect: Inspect) -> None:
    repository = sha1_repository
    with_packs(repository, 2)
    repository.git("multi-pack-index", "write", "--incremental")
    repository.commit({"more": "1"})
    repository.git("repack", "-d", "-q")
    repository.git("multi-pack-index", "write", "--incremental")
    inspection = inspect(repository)
    midx = inspection.multi_pack_index
    assert isinstance(midx, MultiPackIndexFacts)
    assert (midx.pack_count, midx.layer_count, midx.missing_pack_count) == (3, 2, 0)
    assert isinstance(inspection.packs, PackFacts)
    assert inspection.packs.outside_midx_count == 0
    assert midx.object_count == sum(pack.object_count or 0 for pack in inspection.packs.packs)
    assert inspection.packs.garbage_count == 0


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["short", "magic", "fifo", "link to a device"])
def test_a_damaged_multi_pack_index_is_unreadable_and_its_packs_still_count(
    sha1_repository: GitRepository, inspect: Inspect, kind: str
) -> None:
    with_packs(sha1_repository, 2)
    sha1_repository.git("multi-pack-index", "write")
    path = pack_folder(sha1_repository) / "multi-pack-index"
    os.chmod(path, 0o644)
    content = path.read_bytes()
    if kind == "short":
        path.write_bytes(content[:30])
    elif kind == "magic":
        path.write_bytes(b"MIDY" + content[4:])
    else:
        path.unlink()
        if kind == "fifo":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.multi_pack_index, Unreadable)
    assert isinstance(inspection.packs, PackFacts)
    assert (inspection.packs.count, inspection.packs.outside_midx_count) == (2, 2)


@pytest.mark.oracle
@pytest.mark.parametrize("bloom", [False, True])
def test_a_single_commit_graph_is_described(repository: GitRepository, inspect: Inspect, bloom: bool) -> None:
    for number in range(4):
        repository.commit({"a": f"{number}"})
    assert inspect(repository).commit_graph is None
    repository.git("commit-graph", "write", "--reachable", *(["--changed-paths"] if bloom else []))
    graph = inspect(repository).commit_graph
    assert isinstance(graph, CommitGraphFacts)
    assert (graph.chain_length, graph.commit_count, graph.bloom_filters) == (0, 4, bloom)
    assert graph.commit_count == int(repository.git("rev-list", "--count", "--all"))
    assert graph.generation_data
    assert graph.bytes == (repository.git_dir / "objects" / "info" / "commit-graph").stat().st_size


def test_a_commit_graph_without_generation_data_is_told(sha1_repository: GitRepository, inspect: Inspect) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable")
    graph = inspect(sha1_repository).commit_graph
    assert isinstance(graph, CommitGraphFacts)
    assert not graph.generation_data


@pytest.mark.oracle
def test_a_chain_has_what_all_its_layers_have(repository: GitRepository, inspect: Inspect) -> None:
    write = ("commit-graph", "write", "--reachable", "--split=no-merge")
    repository.commit({"a": "1"})
    repository.git(*write)
    for number in range(3):
        repository.commit({"a": f"more {number}"})
    repository.git(*write)
    graph = inspect(repository).commit_graph
    assert isinstance(graph, CommitGraphFacts)
    assert (graph.chain_length, graph.commit_count, graph.missing_layer_count) == (2, 4, 0)
    assert not graph.bloom_filters
    folder = repository.git_dir / "objects" / "info" / "commit-graphs"
    assert graph.bytes == sum(path.stat().st_size for path in folder.glob("*.graph"))
    (folder / ("graph-" + (folder / "commit-graph-chain").read_text().split()[0] + ".graph")).unlink()
    graph = inspect(repository).commit_graph
    assert isinstance(graph, CommitGraphFacts)
    assert (graph.chain_length, graph.commit_count, graph.missing_layer_count) == (2, 3, 1)


def listing_of(repository: GitRepository) -> Listing:
    return list_git_directory(os.fsencode(repository.git_dir) + b"/")


@pytest.mark.parametrize("flags", [(), ("--split=no-merge",)], ids=["single file", "chain"])
def test_a_commit_graph_that_vanishes_after_it_was_listed_asks_for_another_look(
    sha1_repository: GitRepository, flags: tuple[str, ...]
) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("commit-graph", "write", "--reachable", *flags)
    listing = listing_of(sha1_repository)
    shutil.rmtree(sha1_repository.git_dir / "objects" / "info")
    problems = Problems()
    assert inspect_commit_graph(listing, problems) is None
    assert problems.file_vanished
    assert problems.records() == ()


def test_layers_of_a_chain_that_git_replaces_meanwhile_are_not_missing(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = ("commit-graph", "write", "--reachable")
    sha1_repository.commit({"a": "1"})
    sha1_repository.git(*write, "--split=no-merge")
    listing = listing_of(sha1_repository)
    sha1_repository.commit({"a": "2"})

    def replace_first(path: bytes) -> FileBuffer:
        monkeypatch.undo()
        sha1_repository.git(*write, "--split=replace", "--expire-time=now")
        (folder,) = sha1_repository.git_dir.glob("objects/info/commit-graphs")
        chain = (folder / "commit-graph-chain").read_text().split()
        for layer in folder.glob("*.graph"):
            if layer.stem.removeprefix("graph-") not in chain:
                layer.unlink()
        return open_buffer(path)

    monkeypatch.setattr(commit_graph, "open_buffer", replace_first)
    problems = Problems()
    graph = inspect_commit_graph(listing, problems)
    assert isinstance(graph, CommitGraphFacts)
    assert (graph.chain_length, graph.commit_count, graph.missing_layer_count) == (1, 2, 0)


def test_a_chain_that_never_rests_is_no_damage(sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("commit-graph", "write", "--reachable", "--split=no-merge")
    listing = listing_of(sha1_repository)
    chain = sha1_repository.git_dir / "objects" / "info" / "commit-graphs" / "commit-graph-chain"

    def replace_always(path: bytes) -> FileBuffer:
        chain.write_text(f"{os.urandom(20).hex()}\n")
        raise FileMissingError(path, "missing")

    monkeypatch.setattr(commit_graph, "open_buffer", replace_always)
    problems = Problems()
    assert inspect_commit_graph(listing, problems) is None
    assert problems.file_vanished
    assert problems.records() == ()


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["short", "fifo", "chain garbage", "chain traversal"])
def test_a_damaged_commit_graph_costs_its_own_cell(sha1_repository: GitRepository, inspect: Inspect, kind: str) -> None:
    info = sha1_repository.git_dir / "objects" / "info"
    (info / "commit-graphs").mkdir(parents=True)
    if kind == "short":
        (info / "commit-graph").write_bytes(b"CGPH\1")
    elif kind == "fifo":
        os.mkfifo(info / "commit-graph")
    else:
        text = "../../../../etc/passwd\n" if kind == "chain traversal" else "\0\0"
        (info / "commit-graphs" / "commit-graph-chain").write_text(text)
    inspection = inspect(sha1_repository)
    assert isinstance(inspection.commit_graph, Unreadable)
    assert inspection.commit_graph.reason.isprintable()
    assert not isinstance(inspection.packs, Unreadable)
