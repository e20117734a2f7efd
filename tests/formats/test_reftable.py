"""Tables of the reftable backend: only their ends are read."""

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.reftable import check_reftable
from tests.formats.hostile import HOSTILE, corrupt, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import GitRepository, git_version


def table(version: int = 1) -> bytes:
    header = struct.pack(">4sB19x", b"REFT", version) + (b"sha1" if version == 2 else b"")
    footer = header + bytes(40)
    return header + b"r" * 30 + footer + zlib.crc32(footer).to_bytes(4, "big")


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 45), reason="git knows no reftable")
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_every_table_of_git_is_whole(object_format: str, tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format, reference_backend="reftable")
    names = {path.name: path.read_bytes() for path in (repository.path / "reftable").glob("*.ref")}
    commit = repository.commit({"a": "1"})
    for number in range(300):
        repository.git("update-ref", f"refs/heads/b{number}", commit) if number < 3 else None
    repository.git(
        "update-ref", "--stdin", stdin=b"".join(b"create refs/t/%d %s\n" % (n, commit.encode()) for n in range(300))
    )
    names |= {path.name: path.read_bytes() for path in (repository.path / "reftable").glob("*.ref")}
    assert len(names) > 1
    for content in names.values():
        check_reftable(content)
        assert lengths_where_a_cut_goes_unseen(check_reftable, content[:40] + content[-100:]) == []


@pytest.mark.safety
@pytest.mark.parametrize("version", [1, 2])
def test_every_cut_and_every_broken_end_is_seen(version: int) -> None:
    data = table(version)
    check_reftable(data)
    assert lengths_where_a_cut_goes_unseen(check_reftable, data) == []
    ends = [*range(24), *range(data.rindex(b"r") + 1, len(data))]
    for offset in ends:
        assert is_refused(check_reftable, corrupt(data, offset, bytes((data[offset] ^ 0x41,)))), offset


@pytest.mark.safety
@HOSTILE
@given(st.one_of(mutations(table()), mutations(table(2)), st.binary(max_size=200)))
def test_no_bytes_end_in_another_error(data: bytes) -> None:
    is_refused(check_reftable, data)
