"""Histories as input of `git fast-import`, with fixed dates, so that object ids are the same each time.

Source: git-fast-import(1). Pure: text in, bytes out.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

TreeFiles = Mapping[str, bytes]
"""What a commit has, by path."""

_CLOCK_START_S = 1_700_000_000
_COMMIT_INTERVAL_S = 3_600
_COMMITTER = "Demo <demo@example.com>"
_MODULES = ("parser", "writer", "cache", "index")


def words(seed: str, size_bytes: int) -> bytes:
    """Return hexadecimal text in lines that neither compresses well nor resembles that of another seed."""
    digits = hashlib.shake_256(seed.encode()).hexdigest(size_bytes // 2)
    return "\n".join(digits[start : start + 64] for start in range(0, len(digits), 64)).encode() + b"\n"


def small_history() -> bytes:
    """Return 24 commits, each of which rewrites one of four files, and two tags."""
    return b"".join((*_commits(_small_commits()), _tag("v1.0", 12), _tag("v1.1", 24)))


def _small_commits() -> Iterator[TreeFiles]:
    for number in range(24):
        name = _MODULES[number % len(_MODULES)]
        yield {"README.md": b"# Demo\n", f"src/{name}.txt": words(f"{name} {number}", 4_000)}


def small_history_with_asset() -> bytes:
    """Return the small history and a commit with a file of 1.25 MiB, which is worth sharing."""
    asset = {"assets/film.bin": hashlib.shake_256(b"film").digest(5 << 18)}
    return small_history() + b"".join(_commits([asset], first_number=24))


def large_history() -> bytes:
    """Return 480 commits of eleven objects each: more than the 5,280 from which bitmap and commit-graph are due."""
    return b"".join(_commits(_large_commits()))


def _large_commits() -> Iterator[TreeFiles]:
    for number in range(480):
        yield {f"src/{name}.txt": f"{name} {number}\n".encode() for name in "abcdefgh"}


def history_in_packs(pack_count: int) -> bytes:
    """Return as many commits; fast-import closes a pack after each."""
    files = ({f"file{number}.txt": words(f"pack {number}", 300)} for number in range(pack_count))
    return b"checkpoint\n\n".join(_commits(files))


def commit_upon(tip: str, name: str) -> bytes:
    """Return one commit on top of an object that exists already."""
    return b"".join(_commits([{f"{name}.txt": words(name, 2_000)}], first_number=100, parent=tip))


def _commits(each_files: Iterable[TreeFiles], *, first_number: int = 0, parent: str = "") -> Iterator[bytes]:
    """Yield commits on `main`; files of earlier commits stay."""
    for number, files in enumerate(each_files, first_number):
        message = f"Change number {number + 1}\n".encode()
        head = [
            "commit refs/heads/main",
            f"mark :{number + 1}",
            f"committer {_COMMITTER} {_CLOCK_START_S + number * _COMMIT_INTERVAL_S} +0000",
        ]
        lines = "\n".join(head).encode() + b"\n" + _block(message)
        if parent and number == first_number:
            lines += f"from {parent}\n".encode()
        yield lines + b"".join(f"M 100644 inline {name}\n".encode() + _block(data) for name, data in files.items())


def _tag(name: str, mark: int) -> bytes:
    return f"reset refs/tags/{name}\nfrom :{mark}\n\n".encode()


def _block(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
