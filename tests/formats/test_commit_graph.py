"""The commit-graph, its layers and its chain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.commit_graph import read_commit_graph, read_commit_graph_chain
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import chunk_offset, chunk_row_offset, commit_graph
from tests.formats.hostile import (
    HOSTILE,
    RecordingBuffer,
    corrupt,
    is_refused,
    lengths_where_a_cut_goes_unseen,
    mutations,
)
from tests.support.repositories import GitRepository

REQUIRED = (b"OIDF", b"OIDL", b"CDAT")
OPTIONAL = [(b"GDA2", bytes(12)), (b"GDO2", bytes(8)), (b"EDGE", bytes(4)), (b"BIDX", bytes(12)), (b"BDAT", bytes(13))]
VALID = commit_graph(base_count=2, more_chunks=OPTIONAL)


def commits_of_git(repository: GitRepository) -> int:
    return int(repository.git("rev-list", "--all", "--count"))


@pytest.mark.oracle
def test_commits_are_those_of_git(built):
    graph = read_commit_graph(built.one("info/commit-graph").read_bytes())
    assert graph.commit_count == commits_of_git(built.repository)
    assert (graph.version, graph.object_format, graph.base_count) == (1, built.object_format, 0)
    assert {*REQUIRED, b"GDA2", b"BIDX", b"BDAT", b"EDGE"} <= set(graph.chunk_ids)


@pytest.mark.oracle
def test_filters_and_generation_data_are_absent_if_git_did_not_write_them(rewritable):
    rewritable.git(
        "-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable", "--no-changed-paths"
    )
    graph = read_commit_graph(rewritable.one("info/commit-graph").read_bytes())
    assert not {b"GDA2", b"BIDX", b"BDAT"} & set(graph.chunk_ids)


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_generation_data_overflow_is_read(tmp_path, object_format):
    repository = GitRepository.init(tmp_path / "overflow.git", object_format=object_format)
    repository.clock_s = 1 << 32
    repository.commit({"a": "of the future"})
    repository.clock_s = 1_000_000
    repository.commit({"a": "of the past"})
    repository.git("commit-graph", "write", "--reachable")
    data = (repository.git_dir / "objects/info/commit-graph").read_bytes()
    if b"GDO2" not in data:
        pytest.skip("this git writes no overflow chunk (2.47 does not)")
    graph = read_commit_graph(data)
    assert b"GDO2" in graph.chunk_ids
    assert graph.commit_count == 2


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_layers_of_git_are_named_by_the_chain_and_count_their_bases(tmp_path, object_format):
    repository = GitRepository.init(tmp_path / "chain.git", object_format=object_format)
    for number in range(3):
        repository.commit({"a": str(number)})
        repository.git("commit-graph", "write", "--reachable", "--split=no-merge")
    folder = repository.git_dir / "objects/info/commit-graphs"
    chain = read_commit_graph_chain((folder / "commit-graph-chain").read_bytes())
    layers = [read_commit_graph((folder / f"graph-{name}.graph").read_bytes()) for name in chain]
    assert tuple(layer.checksum for layer in layers) == chain
    assert [layer.base_count for layer in layers] == [0, 1, 2]
    assert sum(layer.commit_count for layer in layers) == commits_of_git(repository)


@pytest.mark.parametrize("object_format", ObjectFormat)
def test_header_by_hand(object_format):
    graph = read_commit_graph(commit_graph(object_format=object_format, base_count=2, more_chunks=OPTIONAL))
    assert (graph.version, graph.object_format, graph.commit_count, graph.base_count) == (1, object_format, 3, 2)
    assert graph.chunk_ids == (*REQUIRED, b"BASE", *(chunk_id for chunk_id, _ in OPTIONAL))


def test_unknown_optional_chunks_are_skipped():
    graph = read_commit_graph(commit_graph(more_chunks=[(b"GDAT", b"odd"), (b"NEW!", b"")]))
    assert graph.chunk_ids == (*REQUIRED, b"GDAT", b"NEW!")


def test_only_header_table_fan_out_and_checksum_are_read():
    graph = commit_graph(commit_count=250, more_chunks=[(b"XTRA", bytes(1 << 20))])
    buffer = RecordingBuffer(len(graph), {0: graph})
    assert read_commit_graph(buffer).commit_count == 250
    assert buffer.read_bytes < 2048


@pytest.mark.safety
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_every_cut_is_seen(object_format):
    assert lengths_where_a_cut_goes_unseen(read_commit_graph, commit_graph(object_format=object_format)) == []


@pytest.mark.safety
def test_every_cut_of_a_file_of_git_is_seen(built):
    data = built.one("info/commit-graph").read_bytes()
    assert lengths_where_a_cut_goes_unseen(read_commit_graph, data) == []


@pytest.mark.safety
@pytest.mark.parametrize("chunk_id", [*REQUIRED, b"BASE"])
def test_a_required_chunk_must_be_there(chunk_id):
    with pytest.raises(FormatError, match="absent"):
        read_commit_graph(commit_graph(base_count=1, absent=[chunk_id]))


@pytest.mark.safety
@pytest.mark.parametrize("chunk_id", [*REQUIRED, b"BASE", b"GDA2", b"GDO2", b"EDGE", b"BIDX", b"BDAT"])
def test_a_chunk_of_the_wrong_size_is_refused(chunk_id):
    content = b"odd"
    data = commit_graph(base_count=2, more_chunks=OPTIONAL, replaced={chunk_id: content})
    with pytest.raises(FormatError) as caught:
        read_commit_graph(data)
    assert caught.value.offset == chunk_offset(data, chunk_id)


@pytest.mark.safety
@pytest.mark.parametrize(
    ("offset", "replacement", "error_offset"),
    [
        pytest.param(0, b"X", 0, id="signature"),
        pytest.param(4, b"\2", 4, id="version 2"),
        pytest.param(4, b"\0", 4, id="version 0"),
        pytest.param(5, b"\0", 5, id="hash version 0"),
        pytest.param(6, b"\3", 8 + 12 * 3, id="fewer chunks than rows"),
        pytest.param(7, b"\3", chunk_offset(VALID, b"BASE"), id="one base more"),
        pytest.param(chunk_row_offset(VALID, b"CDAT"), b"OIDL", chunk_row_offset(VALID, b"CDAT"), id="chunk twice"),
        pytest.param(chunk_row_offset(VALID, b"CDAT"), bytes(4), chunk_row_offset(VALID, b"CDAT"), id="early end"),
        pytest.param(
            chunk_row_offset(VALID, b"CDAT") + 4, b"\xff" * 8, chunk_row_offset(VALID, b"CDAT") + 4, id="offset"
        ),
        pytest.param(
            chunk_offset(VALID, b"OIDF") + 40, b"\xff\xff\xff\xff", chunk_offset(VALID, b"OIDF") + 44, id="fan-out"
        ),
        pytest.param(
            chunk_offset(VALID, b"OIDF") + 1020, b"\xff\xff\xff\xff", chunk_offset(VALID, b"OIDL"), id="2^32-1 commits"
        ),
    ],
)
def test_a_broken_field_is_refused_at_its_offset(offset, replacement, error_offset):
    with pytest.raises(FormatError) as caught:
        read_commit_graph(corrupt(VALID, offset, replacement))
    assert caught.value.offset == error_offset


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=300), mutations(VALID), mutations(commit_graph(object_format=ObjectFormat.SHA256))))
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_commit_graph, data)


@pytest.mark.safety
def test_a_cut_of_a_chain_is_seen_except_at_line_ends():
    data = b"a" * 40 + b"\n" + b"b" * 40 + b"\n"
    # a chain has no count and no checksum: whole lines that are gone cannot be missed
    assert lengths_where_a_cut_goes_unseen(read_commit_graph_chain, data) == [0, 40, 41, 81]


@pytest.mark.safety
@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_a_cut_of_a_chain_of_git_is_seen_except_at_line_ends(tmp_path, object_format):
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format)
    for number in range(3):
        repository.commit({"a": f"{number}"})
        repository.git("commit-graph", "write", "--reachable", "--split=no-merge")
    data = (repository.git_dir / "objects" / "info" / "commit-graphs" / "commit-graph-chain").read_bytes()
    ends = [number for number, byte in enumerate(data) if byte == ord("\n")]
    assert len(ends) == len(read_commit_graph_chain(data)) == 3
    # 40 letters of an id of SHA-256 are one of SHA-1, of a layer that is absent
    unseen = sorted({0, 40, *ends, *(end + 1 for end in ends)} - {len(data)})
    assert lengths_where_a_cut_goes_unseen(read_commit_graph_chain, data) == unseen


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=100), mutations(b"a" * 40 + b"\n" + b"b" * 40 + b"\n")))
def test_any_chain_gives_a_value_or_a_format_error(data):
    is_refused(read_commit_graph_chain, data)
