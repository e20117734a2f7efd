"""The multi-pack-index, its layers and its chain."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.multi_pack_index import read_multi_pack_index, read_multi_pack_index_chain
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.formats.handmade import chunk_offset, chunk_row_offset, fan_out, multi_pack_index
from tests.formats.hostile import (
    HOSTILE,
    RecordingBuffer,
    corrupt,
    is_refused,
    lengths_where_a_cut_goes_unseen,
    mutations,
)
from tests.support.repositories import GitRepository, git_version

REQUIRED = (b"PNAM", b"OIDF", b"OIDL", b"OOFF")
VALID = multi_pack_index(more_chunks=[(b"LOFF", bytes(16)), (b"RIDX", bytes(12)), (b"BTMP", bytes(16))])


def index_names(repository: GitRepository) -> list[bytes]:
    return sorted(path.with_suffix(".idx").name.encode() for path in repository.packs())


def objects_of_git(repository: GitRepository) -> int:
    return len(repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines())


def three_packs(path, object_format) -> GitRepository:
    repository = GitRepository.init(path, object_format=object_format)
    for number in range(3):
        repository.commit({f"file{number}": f"content {number}"})
        repository.git("repack", "-d", "-q")
    return repository


@pytest.mark.oracle
def test_packs_and_objects_are_those_of_git(many_packs):
    index = read_multi_pack_index(many_packs.one("pack/multi-pack-index").read_bytes())
    assert list(index.pack_names) == index_names(many_packs.repository)
    assert index.object_count == objects_of_git(many_packs.repository)
    assert (index.version, index.object_format, index.base_count) == (1, many_packs.object_format, 0)
    assert set(REQUIRED) <= set(index.chunk_ids)
    assert b"RIDX" in index.chunk_ids
    assert (b"BTMP" in index.chunk_ids) == (git_version() >= (2, 44))


@pytest.mark.oracle
def test_checksum_names_the_bitmap_of_git(many_packs):
    index = read_multi_pack_index(many_packs.one("pack/multi-pack-index").read_bytes())
    assert many_packs.one("pack/multi-pack-index-*.bitmap").name == f"multi-pack-index-{index.checksum}.bitmap"


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 54), reason="version 2 exists since git 2.54")
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_version_2_of_git_is_read(tmp_path, object_format):
    repository = three_packs(tmp_path / "v2.git", object_format)
    repository.git("-c", "midx.version=2", "multi-pack-index", "write")
    index = read_multi_pack_index((repository.git_dir / "objects/pack/multi-pack-index").read_bytes())
    assert index.version == 2
    assert sorted(index.pack_names) == index_names(repository)
    assert index.object_count == objects_of_git(repository)


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 47), reason="incremental multi-pack-indexes exist since git 2.47")
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_layers_of_git_are_named_by_the_chain_and_share_no_object(tmp_path, object_format):
    repository = GitRepository.init(tmp_path / "layers.git", object_format=object_format)
    for number in range(3):
        repository.commit({f"file{number}": f"content {number}"})
        repository.git("repack", "-d", "-q")
        repository.git("multi-pack-index", "write", "--incremental")
    folder = repository.git_dir / "objects/pack/multi-pack-index.d"
    chain = read_multi_pack_index_chain((folder / "multi-pack-index-chain").read_bytes())
    layers = [read_multi_pack_index((folder / f"multi-pack-index-{name}.midx").read_bytes()) for name in chain]
    assert tuple(layer.checksum for layer in layers) == chain
    assert len(chain) == len(list(folder.glob("*.midx"))) > 1
    assert sum(layer.object_count for layer in layers) == objects_of_git(repository)
    assert sorted(name for layer in layers for name in layer.pack_names) == index_names(repository)


@pytest.mark.parametrize("object_format", ObjectFormat)
@pytest.mark.parametrize("version", [1, 2])
def test_header_by_hand(version, object_format):
    data = multi_pack_index(
        version=version, object_format=object_format, base_count=3, more_chunks=[(b"BASE", bytes(60))]
    )
    index = read_multi_pack_index(data)
    assert (index.version, index.object_format, index.base_count) == (version, object_format, 3)
    assert index.pack_names == (b"pack-a.idx", b"pack-b.idx")
    assert index.object_count == 3
    assert index.chunk_ids == (*REQUIRED, b"BASE")


def test_unknown_optional_chunks_are_skipped():
    assert read_multi_pack_index(multi_pack_index(more_chunks=[(b"NEW!", b"12345678")])).chunk_ids[-1] == b"NEW!"


def test_pack_names_need_no_order_in_version_2():
    names = (b"pack-b.idx", b"pack-a.idx")
    assert read_multi_pack_index(multi_pack_index(version=2, pack_names=names)).pack_names == names
    assert is_refused(read_multi_pack_index, multi_pack_index(version=1, pack_names=names))


def test_only_header_table_names_fan_out_and_checksum_are_read():
    object_count = 10_000_000
    names = b"".join(b"pack-%040d.idx\0" % number for number in range(1000))
    names += bytes(-len(names) % 4)
    sizes = {b"PNAM": len(names), b"OIDF": 1024, b"OIDL": 20 * object_count, b"OOFF": 8 * object_count}
    table, offset = b"", 12 + 5 * 12
    for chunk_id, size in sizes.items():
        table += struct.pack(">4sQ", chunk_id, offset)
        offset += size
    table += struct.pack(">4sQ", bytes(4), offset)
    head = struct.pack(">4sBBBBI", b"MIDX", 1, 1, 4, 0, 1000) + table + names
    counts = bytes(1020) + object_count.to_bytes(4, "big")
    buffer = RecordingBuffer(offset + 20, {0: head + counts})
    index = read_multi_pack_index(buffer)
    assert (index.object_count, len(index.pack_names)) == (object_count, 1000)
    assert len(buffer) > 280_000_000
    assert buffer.read_bytes < len(head) + 4096


@pytest.mark.safety
@pytest.mark.parametrize("object_format", ObjectFormat)
def test_every_cut_is_seen(object_format):
    data = multi_pack_index(object_format=object_format)
    assert lengths_where_a_cut_goes_unseen(read_multi_pack_index, data) == []


@pytest.mark.safety
def test_every_cut_of_a_file_of_git_is_seen(many_packs):
    data = many_packs.one("pack/multi-pack-index").read_bytes()
    assert lengths_where_a_cut_goes_unseen(read_multi_pack_index, data) == []


@pytest.mark.safety
@pytest.mark.parametrize("chunk_id", REQUIRED)
def test_a_required_chunk_must_be_there(chunk_id):
    with pytest.raises(FormatError, match="absent"):
        read_multi_pack_index(multi_pack_index(absent=[chunk_id]))


@pytest.mark.safety
@pytest.mark.parametrize("chunk_id", [*REQUIRED, b"LOFF", b"RIDX", b"BTMP"])
@pytest.mark.parametrize("content", [b"", b"\0\0\0\0", bytes(5000)])
def test_a_chunk_of_the_wrong_size_is_refused(chunk_id, content):
    if chunk_id == b"LOFF" and len(content) % 8 == 0:
        content = content + bytes(4)
    assert is_refused(read_multi_pack_index, multi_pack_index(replaced={chunk_id: content}))


@pytest.mark.safety
@pytest.mark.parametrize("name", [b"../../../tmp/evil.idx", b"a/b", b"/etc/passwd", b".", b"..", b"", b"x" * 256])
def test_a_pack_name_that_could_lead_elsewhere_is_refused(name):
    assert is_refused(read_multi_pack_index, multi_pack_index(version=2, pack_names=[b"zz.idx", name]))


@pytest.mark.safety
@pytest.mark.parametrize(
    ("offset", "replacement", "error_offset"),
    [
        pytest.param(0, b"X", 0, id="signature"),
        pytest.param(4, b"\0", 4, id="version 0"),
        pytest.param(4, b"\x09", 4, id="version 9"),
        pytest.param(5, b"\3", 5, id="hash version 3"),
        pytest.param(6, b"\6", 12 + 12 * 6, id="fewer chunks than rows"),
        pytest.param(6, b"\xff", None, id="255 chunks"),
        pytest.param(8, b"\xff\xff\xff\xff", 8, id="2^32-1 packs"),
        pytest.param(8, b"\0\0\0\3", chunk_offset(VALID, b"BTMP"), id="one pack more"),
        pytest.param(chunk_row_offset(VALID, b"OIDL"), b"OIDF", chunk_row_offset(VALID, b"OIDL"), id="chunk twice"),
        pytest.param(chunk_row_offset(VALID, b"OIDL"), bytes(4), chunk_row_offset(VALID, b"OIDL"), id="early end"),
        pytest.param(
            chunk_row_offset(VALID, b"PNAM") + 4, bytes(8), chunk_row_offset(VALID, b"PNAM") + 4, id="into header"
        ),
        pytest.param(
            chunk_row_offset(VALID, b"OOFF") + 4, b"\xff" * 8, chunk_row_offset(VALID, b"OOFF") + 4, id="offset 2^64-1"
        ),
        pytest.param(chunk_row_offset(VALID, b"OOFF") + 11, b"\x01", None, id="not aligned"),
        pytest.param(
            chunk_offset(VALID, b"OIDF") + 40, b"\xff\xff\xff\xff", chunk_offset(VALID, b"OIDF") + 44, id="fan-out"
        ),
        pytest.param(
            chunk_offset(VALID, b"OIDF") + 1020, b"\xff\xff\xff\xff", chunk_offset(VALID, b"OIDL"), id="2^32-1 objects"
        ),
    ],
)
def test_a_broken_field_is_refused_at_its_offset(offset, replacement, error_offset):
    with pytest.raises(FormatError) as caught:
        read_multi_pack_index(corrupt(VALID, offset, replacement))
    assert error_offset is None or caught.value.offset == error_offset


@pytest.mark.safety
@pytest.mark.parametrize("pack_count", [1, 3, 4])
def test_more_or_fewer_names_than_packs_are_refused(pack_count):
    data = multi_pack_index()
    with pytest.raises(FormatError) as caught:
        read_multi_pack_index(corrupt(data, 8, pack_count.to_bytes(4, "big")))
    names_end = chunk_offset(data, b"PNAM") + 22  # two names of 10 bytes and their NULs; padding is no name
    assert caught.value.offset in {chunk_offset(data, b"PNAM"), names_end}


@pytest.mark.safety
def test_names_and_rows_that_fill_the_chunk_only_when_they_wrap_are_refused():
    # 2^29 + 1 objects of 8 bytes are 8 bytes modulo 2^32
    counts = corrupt(fan_out(range(1)), 1020, ((1 << 29) + 1).to_bytes(4, "big"))
    assert is_refused(read_multi_pack_index, multi_pack_index(replaced={b"OIDF": counts, b"OOFF": bytes(8)}))


@pytest.mark.safety
@HOSTILE
@given(
    st.one_of(
        st.binary(max_size=300),
        mutations(VALID),
        mutations(multi_pack_index(version=2, object_format=ObjectFormat.SHA256)),
    )
)
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_multi_pack_index, data)


def test_a_chain_is_read_with_and_without_its_last_newline():
    first, second = "a" * 40, "b" * 40
    for data in (f"{first}\n{second}\n", f"{first}\n{second}"):
        assert read_multi_pack_index_chain(data.encode()) == (first, second)
    assert read_multi_pack_index_chain(b"") == ()
    assert read_multi_pack_index_chain(b"c" * 64) == ("c" * 64,)


@pytest.mark.safety
@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\n", 0),
        (b"../../evil\n", 0),
        (b"a" * 39, 0),
        (b"A" * 40, 0),
        (b"a" * 40 + b"\n\n" + b"b" * 40, 41),
        (b"a" * 40 + b"\n" + b"b" * 64, 41),
        (b"a" * 40 + b"\r\n", 0),
        (b"a" * 40 + b"\0", 0),
    ],
)
def test_a_chain_of_anything_but_ids_is_refused(data, offset):
    with pytest.raises(FormatError) as caught:
        read_multi_pack_index_chain(data)
    assert caught.value.offset == offset


@pytest.mark.safety
def test_a_cut_of_a_chain_is_seen_except_at_line_ends():
    data = b"a" * 40 + b"\n" + b"b" * 40 + b"\n"
    # a chain has no count and no checksum: whole lines that are gone cannot be missed
    assert lengths_where_a_cut_goes_unseen(read_multi_pack_index_chain, data) == [0, 40, 41, 81]


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=100), mutations(b"a" * 40 + b"\n" + b"b" * 40 + b"\n")))
def test_any_chain_gives_a_value_or_a_format_error(data):
    is_refused(read_multi_pack_index_chain, data)
