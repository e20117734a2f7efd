"""What all readers of binary formats share: bounds, fan-out tables, hash functions, the one error.

Source: gitformat-pack(5), gitformat-commit-graph(5), which share the fan-out table and the numbering of hash
functions. Does not open files and does not verify checksums: that costs a pass over the whole file, and git
itself does not do it when it reads.
"""

import re
import struct
from typing import Final, Protocol

from gitdash.errors import GitdashError
from gitdash.model.inspection import ObjectFormat

OBJECT_ID_LENGTH: Final[dict[ObjectFormat, int]] = {ObjectFormat.SHA1: 20, ObjectFormat.SHA256: 32}
"""Bytes of an object id, and of a checksum, for each hash function."""

FAN_OUT_BYTES: Final = 1024
"""256 big-endian 32-bit integers."""

_OBJECT_FORMAT_OF_HASH_VERSION: Final = {1: ObjectFormat.SHA1, 2: ObjectFormat.SHA256}
_HEX_ID: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FAN_OUT: Final = struct.Struct(">256I")


class FormatError(GitdashError):
    """A file's bytes are not what its format says."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} (at byte {offset})")
        self.message = message
        """Short, lower case. Never quotes the file: a config can include any file, and this is shown and stored."""
        self.offset = offset
        """The byte at which reading failed, from the start of the file."""


class Buffer(Protocol):
    """A file's bytes: `bytes` itself, or an open file that reads only the slices that are asked for.

    A slice may be shorter than asked for if the file shrinks meanwhile; readers take that for a short file.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, key: slice, /) -> bytes: ...


def take(buffer: Buffer, offset: int, size_bytes: int, name: str) -> bytes:
    """Return exactly `size_bytes` at `offset`; `name` says what they are in the `FormatError` if they are not there."""
    taken = buffer[offset : offset + size_bytes]
    if len(taken) != size_bytes:
        raise FormatError(f"too short for {name}: {size_bytes} bytes needed, {len(taken)} there", offset)
    return taken


def require_size(buffer: Buffer, minimum_bytes: int, name: str) -> int:
    """Return the buffer's length; raises FormatError at its end if it is below `minimum_bytes`."""
    length = len(buffer)
    if length < minimum_bytes:
        raise FormatError(f"too short for {name}: {minimum_bytes} bytes needed, {length} there", length)
    return length


def require_signature(header: bytes, signature: bytes) -> None:
    """Raise FormatError at byte 0 unless the header starts with the signature."""
    if not header.startswith(signature):
        raise FormatError(f"the signature is not {signature!r}", 0)


def object_format_of(hash_version: int, offset: int) -> ObjectFormat:
    """Return the hash function that a file's hash version names: 1 is sha1, 2 is sha256, all else a FormatError."""
    object_format = _OBJECT_FORMAT_OF_HASH_VERSION.get(hash_version)
    if object_format is None:
        raise FormatError(f"unknown hash version {hash_version}", offset)
    return object_format


def read_fan_out_total(buffer: Buffer, offset: int) -> int:
    """Return the last entry of the fan-out table at `offset`, which is the number of objects.

    Raises FormatError at the first entry that is smaller than the one before.
    """
    fan_out: tuple[int, ...] = _FAN_OUT.unpack(take(buffer, offset, FAN_OUT_BYTES, "fan-out table"))
    if list(fan_out) != sorted(fan_out):
        position = next(index for index in range(1, 256) if fan_out[index] < fan_out[index - 1])
        raise FormatError(f"fan-out decreases at entry {position}", offset + 4 * position)
    return fan_out[255]


def read_chain(data: bytes) -> tuple[str, ...]:
    """Return the ids of a chain file: hexadecimal, one a line, all of one hash function; the last newline may lack.

    A blank line is an error, as it is for git: an empty chain is an empty file.
    """
    ids: list[str] = []
    offset = 0
    for line in data.removesuffix(b"\n").split(b"\n") if data else ():
        if not _HEX_ID.fullmatch(line) or (ids and len(line) != len(ids[0])):
            raise FormatError("not an id of the chain", offset)
        ids.append(line.decode("ascii"))
        offset += len(line) + 1
    return tuple(ids)
