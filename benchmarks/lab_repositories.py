"""Repositories in the shapes of those about which figures were published, made without network, for the lab's table.

Each is smaller than the original: what is to come out alike is the ratio of two ways, not their seconds.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks import acting
from benchmarks.fleet import OBJECTS_PER_COMMIT, git, history, make_pool_and_member

POOL_OBJECTS = 100_000
TAGGED_OBJECTS = 200_000
AHEAD_OBJECTS = 300_000
WIDE_FOLDER_FILES = 2_000
MEMBER_OBJECTS = 1_000
SIDE_COMMITS = 4_000
PLAIN_REFERENCES = 20_000
TAGS = 800
BRANCHES = 40
PACKS = 800
CLONED_COMMITS = 11_432
"""Of three objects each: 34,296."""


def sized_member(folder: Path, scale: float) -> Path:
    """A member with 200 commits; its lender has a bitmap, and thousands of references newer than it.

    4,000 of these are commits beside the history, each with a new tree of 2,000 entries: that is what costs a bitmap
    dear, and a walk from the member's references nothing.
    """
    pool, member = make_pool_and_member(folder, round(POOL_OBJECTS * scale), MEMBER_OBJECTS, first=_wide_folder())
    commits = git("-C", str(pool), "rev-list", "main").decode().split()
    git("-C", str(pool), "fast-import", "--quiet", stdin=_side_commits(commits, round(SIDE_COMMITS * scale)))
    count = round(PLAIN_REFERENCES * scale)
    lines = [f"create refs/keep/{number} {commits[number % len(commits)]}\n" for number in range(count)]
    git("-C", str(pool), "update-ref", "--stdin", stdin="".join(lines).encode())
    git("-C", str(pool), "pack-refs", "--all")
    return member


def _wide_folder() -> bytes:
    files = "".join(f"M 100644 inline wide/{number}\ndata 5\n{number:05d}\n" for number in range(WIDE_FOLDER_FILES))
    return f"commit refs/heads/main\ncommitter C <c@example.com> 1600000000 +0000\ndata 0\n{files}\n".encode()


def _side_commits(commits: list[str], count: int) -> Iterator[bytes]:
    """Commits that stand beside the history, at places all over it."""
    for number in range(count):
        parent = commits[number * len(commits) // count]
        yield acting.commit(f"side/{number}", number, f"wide/{number % WIDE_FOLDER_FILES}", parent=parent)


def fetching_member(folder: Path, scale: float) -> Path:
    """A member far behind its lender, which has 50,000 references, and 300,000 objects more."""
    folder.mkdir(parents=True)
    lender, _, member = acting.make_pool(folder, round(acting.LENDER_REFERENCES * scale))
    tip = git("-C", str(lender), "rev-parse", "main").strip()
    commit_count = round(AHEAD_OBJECTS * scale) // OBJECTS_PER_COMMIT
    more = history("main", commit_count, b"from " + tip + b"\n", start_s=1_701_000_000)
    git("-C", str(lender), "fast-import", "--quiet", stdin=more)
    return member


def with_tags(folder: Path, scale: float) -> Path:
    """One history with many tags along it, and branches at its end."""
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(folder))
    commit_count = round(TAGGED_OBJECTS * scale) // OBJECTS_PER_COMMIT
    git("-C", str(folder), "fast-import", "--quiet", stdin=history("main", commit_count, b""))
    commits = git("-C", str(folder), "rev-list", "main").decode().split()
    every = max(len(commits) // TAGS, 1)
    lines = [f"create refs/tags/t{number} {commit}\n" for number, commit in enumerate(commits[::every])]
    lines += [f"create refs/heads/b{number} {commit}\n" for number, commit in enumerate(commits[:BRANCHES])]
    git("-C", str(folder), "update-ref", "--stdin", stdin="".join(lines).encode())
    git("-C", str(folder), "pack-refs", "--all")
    return folder


def in_packs(folder: Path, scale: float) -> Path:
    """A repository with 800 packs of one commit each, whose HEAD is a commit in the middle."""
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(folder))
    git("-C", str(folder), "config", "core.fsync", "none")
    packs = (acting.commit("main", number, f"f{number}") + b"checkpoint\n\n" for number in range(round(PACKS * scale)))
    git("-C", str(folder), "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", stdin=packs)
    commits = git("-C", str(folder), "rev-list", "main").decode().split()
    git("-C", str(folder), "update-ref", "refs/heads/middle", commits[len(commits) // 2])
    git("-C", str(folder), "symbolic-ref", "HEAD", "refs/heads/middle")
    return folder


def to_clone(folder: Path, scale: float) -> Path:
    """A repository of 34,296 objects in one pack."""
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(folder))
    commits = (acting.commit("main", number, f"f{number % 50}") for number in range(round(CLONED_COMMITS * scale)))
    git("-C", str(folder), "fast-import", "--quiet", stdin=commits)
    return folder
