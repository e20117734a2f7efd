"""A process that inspects: `python -m gitdash.inspection.worker`.

Requests come on stdin and replies leave on stdout, each as four bytes of length, big-endian, and msgpack. Requests
are answered in order; the end of stdin ends the process. It has one thread, so it may change its current folder:
short relative paths halve the cost of lstat(2).

Whatever goes wrong with one repository is its reply: `Unreadable` with the reason. Runs no git and starts nothing.
"""

import os
import stat
import struct
import sys
import time
from typing import Final

import msgspec

from gitdash.inspection.files import FileError
from gitdash.inspection.repository import Moment, Place, inspect_if_changed
from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable
from gitdash.units import printable

LENGTH: Final = struct.Struct(">I")
"""The length of a message, before it."""

_READ_BYTES: Final = 1 << 18
_FLUSH_INTERVAL_S: Final = 0.02
"""Replies wait at most so long for others, to leave in one write."""


class InspectionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Inspect one repository."""

    number: int
    """Comes back in the reply."""
    git_dir: bytes
    common_dir: bytes
    known_fingerprint: bytes | None
    """Of an inspection that is still valid; an equal one makes the reply `None`."""
    now_s: float
    loose_stale_age_s: float


class InspectionReply(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    number: int
    inspection: Inspection | Unreadable | None
    """None: unchanged since the known fingerprint."""


def answer(request: InspectionRequest) -> InspectionReply:
    """Inspect one repository; changes the current folder."""
    try:
        inspection = _inspect(request)
    except FileError as error:
        return InspectionReply(number=request.number, inspection=Unreadable(error.reason))
    except Exception as error:  # noqa: BLE001 - one repository must not cost the others their worker
        reason = printable(f"gitdash failed: {type(error).__name__}: {error}")
        return InspectionReply(number=request.number, inspection=Unreadable(reason))
    return InspectionReply(number=request.number, inspection=inspection)


def _inspect(request: InspectionRequest) -> Inspection | None:
    common_dir = request.common_dir
    is_entered = _enter(common_dir)
    place = Place(
        git_dir=request.git_dir,
        common_dir=common_dir,
        real_common_dir=os.path.dirname(os.getcwdb()) if is_entered else os.path.realpath(common_dir),
        common_prefix=b"../" if is_entered else common_dir + b"/",
        objects_prefix=b"" if is_entered else common_dir + b"/objects/",
    )
    moment = Moment(now_s=request.now_s, loose_stale_age_s=request.loose_stale_age_s)
    return inspect_if_changed(place, request.known_fingerprint, moment)


def _enter(common_dir: bytes) -> bool:
    """Change to `objects`, where most of the work is; False if that is not possible, or the way back is not `..`."""
    path = common_dir + b"/objects"
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            return False
        os.chdir(path)
    except OSError:
        return False
    return True


def serve(source: int, target: int) -> None:
    """Answer requests from one file descriptor on another until the first ends."""
    encoder = msgspec.msgpack.Encoder()
    decoder = msgspec.msgpack.Decoder(InspectionRequest)
    received = bytearray()
    while chunk := os.read(source, _READ_BYTES):
        received += chunk
        pending = bytearray()
        last_flush_s = time.monotonic()
        start = 0
        while (body := _message(received, start)) is not None:
            start += LENGTH.size + len(body)
            reply = encoder.encode(answer(decoder.decode(body)))
            pending += LENGTH.pack(len(reply)) + reply
            if time.monotonic() - last_flush_s > _FLUSH_INTERVAL_S:
                _write(target, pending)
                last_flush_s = time.monotonic()
        _write(target, pending)
        del received[:start]


def _message(received: bytearray, start: int) -> bytes | None:
    """Return the complete message that starts there, or None."""
    if len(received) - start < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(received, start)
    end = start + LENGTH.size + length
    return bytes(received[start + LENGTH.size : end]) if end <= len(received) else None


def _write(target: int, pending: bytearray) -> None:
    while pending:
        del pending[: os.write(target, pending)]


def main() -> None:
    """Serve stdin and stdout."""
    try:
        serve(sys.stdin.fileno(), sys.stdout.fileno())
    except (BrokenPipeError, KeyboardInterrupt):
        # the survey has ended, or is being ended: it does not want the rest
        sys.exit(1)


if __name__ == "__main__":
    main()
