"""What strace says of a command: system calls and failed ones, and names that were asked for and not there, by kind.

Source: strace(1), the table of `-c` and the lines of `-Z`, which are those of calls that failed. Pure: it reads what
strace wrote, which holds names of files and so nothing that is trusted. Lines that it cannot read count for nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_SUMMARY: Final = re.compile(rb"\s*[0-9.]+\s+[0-9.]+\s+\d+\s+(\d+)\s+(?:(\d+)\s+)?([a-z_0-9]+)\s*")
_FAILED: Final = re.compile(rb'(?:\d+\s+)?[a-z_0-9]+\((?:[^"]*?)"((?:[^"\\]|\\.)*)".* = -1 ENOENT\b.*')
_KINDS: Final = (
    (re.compile(rb"objects/[0-9a-f]{2}"), "fan-out-folder"),
    (re.compile(rb"objects/[0-9a-f]{2}/.*"), "object"),
    (re.compile(rb"objects/pack/.*"), "pack"),
    (re.compile(rb"objects(/.*)?"), "other-below-objects"),
    (re.compile(rb".*"), "outside-objects"),
)
_LOOK_UPS: Final = {
    "openat": "open",
    "open": "open",
    "stat": "stat",
    "lstat": "stat",
    "newfstatat": "stat",
    "fstatat64": "stat",
    "statx": "stat",
    "access": "access",
    "faccessat": "access",
    "faccessat2": "access",
}
"""System calls that look a name up, by what they are called on any machine."""
_STEPS: Final = {
    "getdents64": "getdents64",
    "mkdir": "mkdir",
    "mkdirat": "mkdir",
    "rename": "rename",
    "renameat": "rename",
    "renameat2": "rename",
    "link": "link",
    "linkat": "link",
    "unlink": "unlink",
    "unlinkat": "unlink",
    "fsync": "fsync",
    "read": "read",
    "write": "write",
    "pread64": "pread64",
}
"""Others that are told apart; newer machines have those that end in `at` alone."""
_TOTAL: Final = "total"


def count_calls(table: bytes) -> dict[str, int]:
    """Return calls, and `-failed` ones, by kind, with `all` for all of them; empty if there is no table."""
    counts: Counter[str] = Counter()
    for line in table.splitlines():
        found = _SUMMARY.fullmatch(line)
        if found is None:
            continue
        name = found[3].decode()
        kind = "all" if name == _TOTAL else _LOOK_UPS.get(name) or _STEPS.get(name)
        if kind is not None:
            counts[kind] += int(found[1])
            counts[f"{kind}-failed"] += int(found[2] or 0)
    return {kind: count for kind, count in counts.items() if count}


def count_absent(lines: Iterable[bytes], folder: bytes) -> dict[str, int]:
    """Return how often a name below a folder was asked for and not there, by kind, each beginning with `absent-`.

    `folder` is the end of the git directory's path, distinct enough to know it by, in ASCII: strace escapes the rest.
    """
    marker = b"/" + folder + b"/"
    counts: Counter[str] = Counter()
    for line in lines:
        found = _FAILED.fullmatch(line.rstrip())
        if found is None:
            continue
        _, separator, name = found[1].partition(marker)
        if separator:
            relative = name.rstrip(b"/")
            counts["absent-" + next(kind for pattern, kind in _KINDS if pattern.fullmatch(relative))] += 1
    return dict(counts)
