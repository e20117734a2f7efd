"""For any bytes the readers of ids and offsets return arrays or a FormatError."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.formats.multi_pack_index_arrays import read_named_copies
from gitdash.formats.pack_index_arrays import read_object_ids, read_packed_objects
from gitdash.formats.reading import FormatError
from gitdash.model.inspection import ObjectFormat
from tests.support.repositories import GitRepository

VERSIONS = ["1", "2", "2,0x40"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, int]]:
    """Indexes of every version with the size of their pack, and a multi-pack-index."""
    own = GitRepository.init(tmp_path_factory.mktemp("arrays") / "own.git")
    for number in range(3):
        own.commit({"file": f"{number}"})
    own.repack()
    own.commit({"file": "more"})
    own.git("repack", "-q", "-d")
    own.git("multi-pack-index", "write")
    pack = max(own.packs(), key=lambda path: path.stat().st_size)
    found = {"midx": (pack.with_name("multi-pack-index").read_bytes(), 0)}
    for version in VERSIONS:
        index = Path(f"{pack}.{version}.idx")
        own.git("index-pack", f"--index-version={version}", "-o", index, pack)
        found[version] = (index.read_bytes(), pack.stat().st_size)
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("version", VERSIONS)
def test_arrays_of_a_whole_index_are_read(version: str, files: dict[str, tuple[bytes, int]]) -> None:
    index, pack_bytes = files[version]
    objects = read_packed_objects(index, ObjectFormat.SHA1, pack_bytes)
    assert int(objects.sizes_bytes.sum()) == pack_bytes - 12 - 20
    assert objects.object_ids.tolist() == read_object_ids(index, ObjectFormat.SHA1).tolist()


@pytest.mark.safety
@pytest.mark.parametrize("version", VERSIONS)
def test_index_cut_at_any_length_is_a_format_error(version: str, files: dict[str, tuple[bytes, int]]) -> None:
    index, pack_bytes = files[version]
    for length in range(len(index)):
        with pytest.raises(FormatError):
            read_packed_objects(index[:length], ObjectFormat.SHA1, pack_bytes)


@pytest.mark.safety
@pytest.mark.parametrize("version", VERSIONS)
def test_byte_changed_anywhere_is_read_or_a_format_error(version: str, files: dict[str, tuple[bytes, int]]) -> None:
    index, pack_bytes = files[version]
    unseen = 0
    for position in range(len(index)):
        changed = index[:position] + bytes((index[position] ^ 0xFF,)) + index[position + 1 :]
        try:
            objects = read_packed_objects(changed, ObjectFormat.SHA1, pack_bytes)
        except FormatError:
            continue
        unseen += 1
        assert int(objects.sizes_bytes.sum()) == pack_bytes - 12 - 20
    # ids keep their order where only a later byte differs; CRCs and checksums are not read here
    assert unseen < len(index) / 2


@pytest.mark.safety
def test_multi_pack_index_cut_or_changed_anywhere_is_read_or_a_format_error(
    files: dict[str, tuple[bytes, int]],
) -> None:
    whole, _ = files["midx"]
    named = read_named_copies(whole)
    assert len(named.pack_names) == 2
    assert sorted(set(named.pack_numbers.tolist())) == [0, 1]
    for length in range(len(whole)):
        with pytest.raises(FormatError):
            read_named_copies(whole[:length])
    for position in range(len(whole)):
        changed = whole[:position] + bytes((whole[position] ^ 0xFF,)) + whole[position + 1 :]
        try:
            copies = read_named_copies(changed)
        except FormatError:
            continue
        assert all(number < len(copies.pack_names) for number in copies.pack_numbers.tolist())


@pytest.mark.safety
@settings(max_examples=150, deadline=None, database=None)
@given(st.binary(max_size=1400), st.sampled_from([b"", b"\xfftOc\0\0\0\2", b"MIDX\1\1\4\0"]), st.integers(0, 1 << 40))
def test_any_bytes_are_read_or_a_format_error(data: bytes, head: bytes, pack_bytes: int) -> None:
    for object_format in ObjectFormat:
        for zeros in (b"", bytes(1024)):
            content = head + zeros + data
            with contextlib.suppress(FormatError):
                read_packed_objects(content, object_format, pack_bytes)
            with contextlib.suppress(FormatError):
                read_named_copies(content)
