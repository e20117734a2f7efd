"""What is kept of git's stderr: the first and the last part, at line boundaries, with credentials masked.

One git call can write a line for each of 20,000 bad alternates, and stderr counts even with exit code 0. Pure.
"""

from typing import Final

from gitdash.gitcmd.masking import mask_credentials

PART_LIMIT_BYTES: Final = 16 * 1024
"""What is kept of the beginning, and again of the end: some 150 lines each."""


class BoundedText:
    """Collects bytes as they come, and keeps the beginning and the end of them."""

    __slots__ = ("_head", "_tail", "length_bytes")

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.length_bytes = 0

    def append(self, data: bytes) -> None:
        """Add what was read."""
        self.length_bytes += len(data)
        room = PART_LIMIT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * PART_LIMIT_BYTES:
            del self._tail[:-PART_LIMIT_BYTES]

    def text(self) -> str:
        """Return what was kept, masked. Lines that were cut are dropped: half a token cannot be recognised."""
        if len(self._head) + len(self._tail) == self.length_bytes:
            return _masked(bytes(self._head + self._tail))
        head = bytes(self._head[: self._head.rfind(b"\n") + 1])
        end = bytes(self._tail[-PART_LIMIT_BYTES:])
        tail = end[end.find(b"\n") + 1 :] if b"\n" in end else b""
        left_out = self.length_bytes - len(head) - len(tail)
        return f"{_masked(head)}[... {left_out} bytes left out ...]\n{_masked(tail)}"


def _masked(data: bytes) -> str:
    return mask_credentials(data.decode("utf-8", "surrogateescape"))


def first_complaint(stderr: str) -> str:
    """Return the line that says why git failed: the first `fatal:` or `error:`, else the first line, else empty."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    for start in ("fatal: ", "error: "):
        for line in lines:
            if line.startswith(start):
                return line.removeprefix(start)
    return lines[0] if lines else ""
