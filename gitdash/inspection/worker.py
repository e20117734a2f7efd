"""A process that inspects, and counts references: `python -m gitdash.inspection.worker`.

Requests come on stdin and replies leave on stdout, see `messages`. Requests are answered in order; the end of stdin
ends the process. It has one thread, so it may change its current folder: short relative paths halve the cost of
lstat(2). What inspects is imported for the first repository that changed: it takes 55 ms, and where nothing did the
whole process takes 20.

Whatever goes wrong with one repository is its reply: `Unreadable` with the reason. Runs no git and starts nothing.
"""

import gc
import os
import stat
import sys
import time

from gitdash.inspection.messages import (
    EMPTY,
    LENGTH,
    InspectionReply,
    InspectionRequest,
    NamespacesReply,
    NamespacesRequest,
    complete_message,
    read_request,
    reply_message,
)
from gitdash.inspection.watch import has_alternates, watched_fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitdash.model.inspection import Inspection
    from gitdash.model.repository import Unreadable

_COLLECT_INTERVAL = 50_000
"""New objects between two looks for cycles: one repository has hundreds of objects and mostly no cycle."""
_READ_BYTES = 1 << 18
_FLUSH_INTERVAL_S = 0.02
"""Replies wait at most so long for others, to leave in one write."""


def answer(request: InspectionRequest) -> InspectionReply:
    """Inspect one repository; changes the current folder."""
    inspection: Inspection | Unreadable | None
    try:
        is_entered = _enter(request.common_dir)
        inspection = None if is_entered and _is_unchanged(request) else _inspect(request, is_entered=is_entered)
    except Exception as error:  # noqa: BLE001 - one repository must not cost the others their worker
        inspection = _unreadable(error)
    return InspectionReply(number=request.number, inspection=inspection)


def _is_unchanged(request: InspectionRequest) -> bool:
    if request.known_fingerprint is None or not request.watched:
        return False
    alternates_text = b""
    if has_alternates(request.watched):
        from gitdash.inspection import fingerprint

        alternates_text = fingerprint.alternates_text(request.common_dir)
    return watched_fingerprint(request.watched, alternates_text) == request.known_fingerprint


def _inspect(request: InspectionRequest, *, is_entered: bool) -> "Inspection | None":
    from gitdash.inspection.repository import Moment, Place, inspect_if_changed

    common_dir = request.common_dir
    place = Place(
        git_dir=request.git_dir,
        common_dir=common_dir,
        real_common_dir=os.path.dirname(os.getcwdb()) if is_entered else os.path.realpath(common_dir),
        common_prefix=b"../" if is_entered else common_dir + b"/",
        objects_prefix=b"" if is_entered else common_dir + b"/objects/",
    )
    moment = Moment(now_s=request.now_s, loose_stale_age_s=request.loose_stale_age_s)
    return inspect_if_changed(place, request.known_fingerprint, moment)


def _unreadable(error: Exception) -> "Unreadable":
    from gitdash.inspection.reading import unreadable

    return unreadable(error)


def count(request: NamespacesRequest) -> NamespacesReply:
    """Count the references of one repository by namespace."""
    try:
        from gitdash.formats.reading import OBJECT_ID_LENGTH
        from gitdash.inspection.namespaces import read_namespaces

        (object_format,) = (one for one, length in OBJECT_ID_LENGTH.items() if length == request.id_bytes)
        namespaces = read_namespaces(request.git_dir, request.common_dir, object_format)
    except Exception as error:  # noqa: BLE001 - as above
        return NamespacesReply(number=request.number, namespaces=_unreadable(error))
    return NamespacesReply(number=request.number, namespaces=namespaces)


def _reply(request: InspectionRequest | NamespacesRequest) -> bytes:
    if isinstance(request, NamespacesRequest):
        return reply_message(count(request))
    reply = answer(request)
    try:
        return reply_message(reply)
    except Exception as error:  # noqa: BLE001 - a record that has no bytes must not cost the others their worker
        return reply_message(InspectionReply(number=request.number, inspection=_unreadable(error)))


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
    received = bytearray()
    while chunk := os.read(source, _READ_BYTES):
        received += chunk
        pending = bytearray()
        last_flush_s = time.monotonic()
        start = 0
        while (body := complete_message(received, start)) is not None:
            start += LENGTH.size + len(body)
            pending += _reply(read_request(body)) if body else EMPTY
            if time.monotonic() - last_flush_s > _FLUSH_INTERVAL_S:
                _write(target, pending)
                last_flush_s = time.monotonic()
        _write(target, pending)
        del received[:start]


def _write(target: int, pending: bytearray) -> None:
    while pending:
        del pending[: os.write(target, pending)]


def main() -> None:
    """Serve stdin and stdout."""
    gc.set_threshold(_COLLECT_INTERVAL)
    try:
        serve(sys.stdin.fileno(), sys.stdout.fileno())
    except (BrokenPipeError, KeyboardInterrupt):
        # the survey has ended, or is being ended: it does not want the rest
        sys.exit(1)


if __name__ == "__main__":
    main()
