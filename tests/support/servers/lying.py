"""A server of the pack protocol, version 0, that says what the test wants it to say.

Source: gitprotocol-common(5), gitprotocol-pack(5). A client that asks for version 2 takes version 0, too.
"""

import contextlib
import hashlib
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice, repeat

from tests.support.repositories import GitRepository
from tests.support.servers.listening import Listener, listening

FLUSH = b"0000"
PACK_CHANNEL, TALK_CHANNEL, ERROR_CHANNEL = 1, 2, 3


def packet(data: bytes) -> bytes:
    """One pkt-line."""
    return b"%04x" % (len(data) + 4) + data


@dataclass
class Lies:
    """What such a server tells."""

    references: Sequence[tuple[str, bytes]]
    """Object id and name of each reference that it advertises."""
    pack: bytes = b""
    """What it sends as the pack."""
    talk: bytes = b""
    """What it says before, for the screen of the user."""
    error: bytes | None = None
    """What it says last, as the reason for which it cannot go on."""
    refusal: bytes | None = None
    """If given, all that it says."""
    flood: bytes = b""
    """If given, what it says for the screen again and again, before the pack that never comes."""
    endless_references: bool = False
    """The advertisement has no end."""
    capabilities: bytes = b"side-band-64k ofs-delta"
    asked: list[bytes] = field(default_factory=list)
    """What the client wanted and had."""

    def advertisement(self) -> bytes:
        first = b"\0" + self.capabilities
        lines = []
        for object_id, name in self.references:
            lines.append(packet(object_id.encode() + b" " + name + first + b"\n"))
            first = b""
        return b"".join(lines) + FLUSH

    def answer(self) -> bytes:
        said = [packet(b"NAK\n")]
        if self.talk:
            said.append(packet(bytes([TALK_CHANNEL]) + self.talk))
        parts = (self.pack[start : start + 65000] for start in range(0, len(self.pack), 65000))
        said += (packet(bytes([PACK_CHANNEL]) + part) for part in parts)
        if self.error is not None:
            said.append(packet(bytes([ERROR_CHANNEL]) + self.error))
        return b"".join([*said, FLUSH])


@contextlib.contextmanager
def lying_daemon(lies: Lies) -> Iterator[Listener]:
    """Serve `lies` as git://127.0.0.1:PORT/whatever."""

    def handle(connection: socket.socket, listener: Listener) -> None:
        with connection.makefile("rb") as reading:
            _read_packet(reading)
            if lies.endless_references:
                _repeat(connection, listener, lies.advertisement().removesuffix(FLUSH), more_references())
            if lies.refusal is not None:
                connection.sendall(packet(b"ERR " + lies.refusal))
                return
            connection.sendall(lies.advertisement())
            wants = list(iter(lambda: _read_packet(reading), b""))
            lies.asked += wants
            while wants and (line := _read_packet(reading)) != b"done\n":
                lies.asked.append(line)
                if line == b"":
                    connection.sendall(packet(b"NAK\n"))
            if wants and lies.flood:
                _repeat(connection, listener, packet(b"NAK\n"), repeat(packet(bytes([TALK_CHANNEL]) + lies.flood)))
            elif wants:
                connection.sendall(lies.answer())
            # A reset would take away from the client what it has not read yet.
            connection.shutdown(socket.SHUT_WR)
            reading.read()

    with listening(handle) as listener:
        yield listener


def more_references() -> Iterator[bytes]:
    """References to one object, each with another name, for ever."""
    return (packet(b"%040x refs/heads/%d\n" % (1, number)) for number in count())


def _repeat(connection: socket.socket, listener: Listener, first: bytes, parts: Iterator[bytes]) -> None:
    connection.sendall(first)
    while not listener.closing.is_set():
        connection.sendall(b"".join(islice(parts, 1000)))


def _read_packet(reading) -> bytes:
    """Read one pkt-line; a flush, or the end, is empty."""
    length = reading.read(4)
    if len(length) < 4:
        raise ConnectionError("the client has gone")
    return reading.read(int(length, 16) - 4) if length != FLUSH else b""


def whole_pack(repository: GitRepository, *names: str) -> bytes:
    """A pack of everything that is reachable from `names`."""
    return repository.git_bytes("pack-objects", "--revs", "--stdout", "-q", stdin="\n".join([*names, ""]).encode())


def pack_of(repository: GitRepository, *object_ids: str) -> bytes:
    """A pack of exactly these objects."""
    return repository.git_bytes("pack-objects", "--stdout", "-q", stdin="\n".join([*object_ids, ""]).encode())


def with_count(pack: bytes, object_count: int) -> bytes:
    """The same pack, but with another number of objects in its header and a trailer that fits."""
    return _with_trailer(pack[:8] + struct.pack(">I", object_count) + pack[12:-20])


def with_bad_trailer(pack: bytes) -> bytes:
    """The same pack, the last byte of its checksum changed."""
    return pack[:-1] + bytes([pack[-1] ^ 1])


def with_bad_body(pack: bytes) -> bytes:
    """The same pack, a byte of the first object's zlib stream changed, with a trailer that fits."""
    return _with_trailer(pack[:16] + bytes([pack[16] ^ 0xFF]) + pack[17:-20])


def _with_trailer(body: bytes) -> bytes:
    return body + hashlib.sha1(body, usedforsecurity=False).digest()
