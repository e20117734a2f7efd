"""A FUSE file system that passes everything through to a folder, delays each look-up, and keeps a record of them.

What NFS's `lookupcache=all` and `pos` differ in, whether absence is remembered, is libfuse's `negative_timeout`. The
file system itself is `fuse_pass_through`, in a process of its own. Needs /dev/fuse, fusermount3 and mfusepy.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_START_LIMIT_S = 20.0
_PROGRAM = Path(__file__).with_name("fuse_pass_through.py")
_KINDS = (
    (re.compile(r"objects/[0-9a-f]{2}/[0-9a-f]{38,62}"), "object"),
    (re.compile(r"objects/[0-9a-f]{2}/.*"), "new object"),
    (re.compile(r"objects/[0-9a-f]{2}"), "fan-out folder"),
    (re.compile(r"objects/pack/.*"), "pack"),
    (re.compile(r"objects(/.*)?"), "other below objects"),
    (re.compile(r".*"), "elsewhere"),
)


def why_not() -> str | None:
    """Say why no FUSE file system can be mounted here; None if one can."""
    if importlib.util.find_spec("mfusepy") is None:
        return "mfusepy is not installed"
    if shutil.which("fusermount3") is None and shutil.which("fusermount") is None:
        return "fusermount is not installed"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse: {error.strerror}"
    return None


@dataclass(frozen=True)
class FuseMount:
    """A mounted file system."""

    path: Path
    """Where it is mounted."""
    backing: Path
    """What lies below it."""
    log: Path
    process_id: int
    """Of the program behind it."""

    def look_ups(self, git_dir: Path) -> Counter[tuple[str, bool]]:
        """Count what was asked since the last `forget` below a git directory: by kind, and whether it was there."""
        prefix = os.fspath(git_dir.relative_to(self.path)) + "/"
        counts: Counter[tuple[str, bool]] = Counter()
        for line in self.log.read_text(errors="surrogateescape").splitlines():
            found, _, path = line.partition(" ")
            if path.startswith(prefix):
                relative = path.removeprefix(prefix)
                kind = next(kind for pattern, kind in _KINDS if pattern.fullmatch(relative))
                counts[kind, found == "1"] += 1
        return counts

    def forget(self) -> None:
        """Begin to count from nothing."""
        os.truncate(self.log, 0)


@contextlib.contextmanager
def fuse_mount(folder: Path, *, delay_s: float = 0.0, negative_timeout_s: float = 0.0) -> Iterator[FuseMount]:
    """Mount a pass-through below `folder`; each look-up takes `delay_s` longer, absence is remembered for a time."""
    backing, point, log = folder / "backing", folder / "mount", folder / "look-ups"
    backing.mkdir()
    point.mkdir()
    log.touch()
    command = [sys.executable, _PROGRAM, backing, point, log, str(delay_s), str(negative_timeout_s)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        _await_mount(process, point)
        yield FuseMount(path=point, backing=backing, log=log, process_id=process.pid)
    finally:
        _unmount(point)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stderr):
            if pipe is not None:
                pipe.close()


def _await_mount(process: subprocess.Popen[bytes], point: Path) -> None:
    until_s = time.monotonic() + _START_LIMIT_S
    while not os.path.ismount(point):
        if process.poll() is not None or time.monotonic() > until_s:
            said = process.stderr.read().decode() if process.stderr and process.poll() is not None else ""
            raise RuntimeError(f"no FUSE file system was mounted: {said}")
        time.sleep(0.01)


def _unmount(point: Path) -> None:
    program = shutil.which("fusermount3") or shutil.which("fusermount") or "fusermount"
    for options in (["-u"], ["-u", "-z"]):
        if not os.path.ismount(point):
            return
        subprocess.run([program, *options, point], capture_output=True, check=False)
