"""Fleets to measure on, made without network: a flat folder of bare repositories, and a pool with a member.

python -m benchmarks.fleet FOLDER --repositories 2000
"""

import argparse
import hashlib
import itertools
import os
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

LOOSE_PER_REPOSITORY = 120
BRANCHES_PER_REPOSITORY = 10
OBJECTS_PER_COMMIT = 5
"""A commit, two trees and two blobs."""


def git_environment() -> dict[str, str]:
    """An environment in which git reads no configuration of the user or the system."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def git(*arguments: str, stdin: bytes | Iterable[bytes] = b"") -> bytes:
    """Run git and return its output; `stdin` may be a stream of chunks."""
    process = subprocess.Popen(
        ["git", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=git_environment()
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for chunk in [stdin] if isinstance(stdin, bytes) else stdin:
        process.stdin.write(chunk)
    process.stdin.close()
    output = process.stdout.read()
    if process.wait():
        raise SystemExit(f"git {' '.join(arguments)} failed with {process.returncode}")
    return output


def make_bare_fleet(folder: Path, repository_count: int, *, loose_count: int = LOOSE_PER_REPOSITORY) -> list[Path]:
    """Make bare repositories with 1 pack, loose objects and 10 references each; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    template = folder / "template"
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=b0", str(template))
    git("-C", str(template), "fast-import", "--quiet", stdin=_branches())
    git("-C", str(template), "repack", "-a", "-d", "-q")
    paths = []
    for number in range(repository_count):
        path = folder / f"repository-{number:05d}.git"
        shutil.copytree(template, path)
        _write_loose_blobs(path / "objects", number, loose_count)
        paths.append(path)
    shutil.rmtree(template)
    return paths


def _branches() -> bytes:
    commits = [
        f"commit refs/heads/b{number}\ncommitter C O Mitter <c@example.com> {1_700_000_000 + number} +0000\n"
        f"data 7\nmessage\nM 100644 inline file{number}\ndata 20\n{number:019d}\n\n"
        for number in range(BRANCHES_PER_REPOSITORY)
    ]
    return "".join(commits).encode()


def _write_loose_blobs(objects: Path, number: int, loose_count: int) -> None:
    for blob in range(loose_count):
        body = f"repository {number} blob {blob}\n".encode()
        raw = b"blob %d\0" % len(body) + body
        object_id = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        shard = objects / object_id[:2]
        shard.mkdir(exist_ok=True)
        (shard / object_id[2:]).write_bytes(zlib.compress(raw, 1))


def make_pool_and_member(
    folder: Path, pool_objects: int, member_objects: int, *, first: bytes = b""
) -> tuple[Path, Path]:
    """Make a lender and a member that borrows from it, each packed and the lender with a bitmap; return both.

    `first` is a commit on main, for fast-import, that the lender's history begins with.
    """
    pool, member = folder / "pool.git", folder / "member.git"
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(pool))
    own_commits = history("main", pool_objects // OBJECTS_PER_COMMIT, b"")
    git("-C", str(pool), "fast-import", "--quiet", stdin=itertools.chain([first], own_commits))
    git("-C", str(pool), "repack", "-a", "-d", "-q", "--write-bitmap-index")
    _add_references(pool)
    git("clone", "--quiet", "--bare", "--shared", "--template=", str(pool), str(member))
    tip = git("-C", str(pool), "rev-parse", "main").strip()
    own = history("own", member_objects // OBJECTS_PER_COMMIT, b"from " + tip + b"\n")
    git("-C", str(member), "fast-import", "--quiet", stdin=own)
    git("-C", str(member), "repack", "-a", "-d", "-l", "-q")
    return pool, member


def _add_references(pool: Path) -> None:
    """Give the lender a reference at every hundredth commit: pools keep those of all their members."""
    commits = git("-C", str(pool), "rev-list", "main").split()[::100]
    lines = [b"create refs/remotes/member/%d %s\n" % (number, commit) for number, commit in enumerate(commits)]
    git("-C", str(pool), "update-ref", "--stdin", stdin=lines)
    git("-C", str(pool), "pack-refs", "--all")


def history(branch: str, commit_count: int, first_parent: bytes, *, start_s: int = 1_600_000_000) -> Iterator[bytes]:
    """A line of commits that each change two of the 194 files in one of 64 folders, one a second from `start_s` on."""
    for number in range(commit_count):
        lines = [
            f"commit refs/heads/{branch}\n".encode(),
            f"committer C O Mitter <c@example.com> {start_s + number} +0000\n".encode(),
            b"data 7\nmessage\n",
            first_parent if number == 0 else b"",
        ]
        for side in ("left", "right"):
            content = f"{branch} {number} {side}\n" * 3
            name = f"folder{number % 64}/{side}{number // 64 % 97}"
            lines.append(f"M 100644 inline {name}\ndata {len(content)}\n{content}\n".encode())
        yield b"".join(lines)


def main() -> None:
    """Make a bare fleet by hand, for looking at the dashboard."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repositories", type=int, default=2000)
    options = parser.parse_args()
    make_bare_fleet(options.folder, options.repositories)


if __name__ == "__main__":
    main()
