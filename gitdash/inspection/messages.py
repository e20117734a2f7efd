"""What a survey and its workers say to each other.

Each message is four bytes of length, big-endian, and a body. A request is a letter, a header and byte strings, so that
a worker that finds nothing changed needs no decoder; an answer to that is a number alone. Other answers are msgpack.

    offset  size  field of a request to inspect, after the letter `I`
    0       4     number
    4       8     now, seconds since the epoch
    12      8     age at which loose objects are stale, in seconds
    20      4     length of the git directory's path
    24      4     length of the common directory's path
    28      4     length of the known fingerprint; 0 for none
    32            these three, then the watched paths up to the end

    offset  size  field of a request to count references by namespace, after the letter `N`
    0       4     number
    4       1     bytes of an object id: 20 or 32
    5       4     length of the git directory's path
    9             this, then the common directory's path up to the end

Imports little, as `watch` does; msgspec takes 25 ms.
"""

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitdash.model.inspection import Inspection
    from gitdash.model.namespaces import ReferenceNamespaces
    from gitdash.model.repository import Unreadable

LENGTH = struct.Struct(">I")
"""The length of a message, before it."""
EMPTY = LENGTH.pack(0)
"""A message without body: asks whether the other side is up, and is the answer to that."""

_INSPECT = b"I"
_COUNT = b"N"
_REQUEST = struct.Struct(">IddIII")
_COUNT_REQUEST = struct.Struct(">IBI")
_NUMBER = struct.Struct(">I")


class InspectionRequest:
    """Inspect one repository."""

    __slots__ = ("common_dir", "git_dir", "known_fingerprint", "loose_stale_age_s", "now_s", "number", "watched")

    def __init__(  # noqa: PLR0913 - a record, which `dataclasses` would make for 15 ms
        self,
        *,
        number: int,
        git_dir: bytes,
        common_dir: bytes,
        known_fingerprint: bytes | None,
        watched: bytes = b"",
        now_s: float,
        loose_stale_age_s: float,
    ) -> None:
        self.number = number
        """Comes back in the reply; from 0 to 2**32 - 1."""
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.known_fingerprint = known_fingerprint
        """Of an inspection that is still valid; an equal one makes the reply `None`."""
        self.watched = watched
        """`Inspection.watched` of that inspection."""
        self.now_s = now_s
        self.loose_stale_age_s = loose_stale_age_s


class NamespacesRequest:
    """Count the references of one repository by namespace."""

    __slots__ = ("common_dir", "git_dir", "id_bytes", "number")

    def __init__(self, *, number: int, git_dir: bytes, common_dir: bytes, id_bytes: int) -> None:
        self.number = number
        """Comes back in the reply; from 0 to 2**32 - 1."""
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.id_bytes = id_bytes
        """Says which hash function the repository has."""


class InspectionReply:
    """What came of it."""

    __slots__ = ("inspection", "number")

    def __init__(self, *, number: int, inspection: "Inspection | Unreadable | None") -> None:
        self.number = number
        self.inspection = inspection
        """None: unchanged since the known fingerprint."""


class NamespacesReply:
    """What came of a request to count."""

    __slots__ = ("namespaces", "number")

    def __init__(self, *, number: int, namespaces: "ReferenceNamespaces | Unreadable") -> None:
        self.number = number
        self.namespaces = namespaces


def request_message(request: InspectionRequest | NamespacesRequest) -> bytes:
    """Return a request as a message."""
    if isinstance(request, NamespacesRequest):
        count_header = _COUNT_REQUEST.pack(request.number, request.id_bytes, len(request.git_dir))
        return _message(_COUNT + count_header + request.git_dir + request.common_dir)
    known_fingerprint = request.known_fingerprint or b""
    header = _REQUEST.pack(
        request.number,
        request.now_s,
        request.loose_stale_age_s,
        len(request.git_dir),
        len(request.common_dir),
        len(known_fingerprint),
    )
    return _message(_INSPECT + header + request.git_dir + request.common_dir + known_fingerprint + request.watched)


def read_request(body: bytes) -> InspectionRequest | NamespacesRequest:
    """Return the request that the body of a message is."""
    return _read_count_request(body) if body.startswith(_COUNT) else _read_inspection_request(body)


def _read_inspection_request(body: bytes) -> InspectionRequest:
    number, now_s, loose_stale_age_s, git_dir_length, common_dir_length, fingerprint_length = _REQUEST.unpack_from(
        body, len(_INSPECT)
    )
    git_dir_at = len(_INSPECT) + _REQUEST.size
    common_dir_at = git_dir_at + git_dir_length
    fingerprint_at = common_dir_at + common_dir_length
    watched_at = fingerprint_at + fingerprint_length
    return InspectionRequest(
        number=number,
        git_dir=body[git_dir_at:common_dir_at],
        common_dir=body[common_dir_at:fingerprint_at],
        known_fingerprint=body[fingerprint_at:watched_at] or None,
        watched=body[watched_at:],
        now_s=now_s,
        loose_stale_age_s=loose_stale_age_s,
    )


def _read_count_request(body: bytes) -> NamespacesRequest:
    number, id_bytes, git_dir_length = _COUNT_REQUEST.unpack_from(body, len(_COUNT))
    git_dir_at = len(_COUNT) + _COUNT_REQUEST.size
    common_dir_at = git_dir_at + git_dir_length
    return NamespacesRequest(
        number=number, git_dir=body[git_dir_at:common_dir_at], common_dir=body[common_dir_at:], id_bytes=id_bytes
    )


def reply_message(reply: InspectionReply | NamespacesReply) -> bytes:
    """Return a reply as a message."""
    number = _NUMBER.pack(reply.number)
    if isinstance(reply, NamespacesReply):
        import msgspec

        return _message(number + msgspec.msgpack.encode(reply.namespaces))
    if reply.inspection is None:
        return _message(number)
    from gitdash.inspection.inspection_bytes import encode

    return _message(number + encode(reply.inspection))


def read_reply(body: bytes) -> InspectionReply:
    """Return the reply that the body of a message is."""
    (number,) = _NUMBER.unpack_from(body)
    if len(body) == _NUMBER.size:
        return InspectionReply(number=number, inspection=None)
    from gitdash.inspection.inspection_bytes import decode

    return InspectionReply(number=number, inspection=decode(body[_NUMBER.size :]))


def read_namespaces_reply(body: bytes) -> NamespacesReply:
    """Return the reply to a request to count that the body of a message is."""
    import msgspec

    from gitdash.model.namespaces import ReferenceNamespaces
    from gitdash.model.repository import Unreadable

    (number,) = _NUMBER.unpack_from(body)
    namespaces = msgspec.msgpack.decode(body[_NUMBER.size :], type=ReferenceNamespaces | Unreadable)
    return NamespacesReply(number=number, namespaces=namespaces)


def complete_message(received: bytearray, start: int) -> bytes | None:
    """Return the body of the message that starts there, or None if it is not all there."""
    if len(received) - start < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(received, start)
    end = start + LENGTH.size + length
    return bytes(received[start + LENGTH.size : end]) if end <= len(received) else None


def _message(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body
