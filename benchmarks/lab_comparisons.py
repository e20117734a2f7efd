"""What was published of each experiment of the lab, as ratios of two ways. A table; nothing is run here.

Source: Gitaly's measurements of gitlab-org/gitlab (2022), git's commit that added the lookup table of bitmaps (2022),
VFS for Git; what was found with git 2.39 while gitdash was designed is named `ours`.
"""

from dataclasses import dataclass
from typing import Final

from gitdash.lab.connectivity import QUESTIONS
from gitdash.lab.fetch_sources import HELD_TIP, NEW_COMMIT
from gitdash.lab.lookup import MISSING
from gitdash.lab.size_variants import EVERYTHING, WITHOUT_LENDER
from gitdash.model.experiment import ExperimentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two ways that were compared elsewhere."""

    kind: ExperimentKind
    question: str
    compared: str
    """In words: the first way, the second."""
    ways: tuple[str, str]
    """Names of variants."""
    published: str
    published_ratio: float
    why: str
    """What explains that ours is more or less."""
    phase: str = ""
    """The part of a run that counts, by wall time; empty for processor time of all of it."""


_TIP, _BRANCHES, _BRANCHES_AND_TAGS, _NEW_TIP, *_ = QUESTIONS


def _table_read(question: str, compared: str, not_read_ms: float, read_ms: float) -> Comparison:
    """Return what was published of git's lookup table, for one question."""
    return Comparison(
        kind=ExperimentKind.CONNECTIVITY,
        question=question,
        compared=compared,
        ways=("table-not-read", "table-read"),
        published=f"{not_read_ms} ms, {read_ms} ms",
        published_ratio=not_read_ms / read_ms,
        why="half of the time of a tip is git's start here, and the bitmap has some 300 commits to pass over and takes"
        " 1 MB",
    )


def _of_800_packs(phase: str, compared: str, way: str, *, published: str, ratio: float, why: str) -> Comparison:
    """Return what was published of look-ups among 800 packs, against one other way."""
    return Comparison(
        kind=ExperimentKind.LOOKUP,
        question=MISSING,
        compared=compared,
        ways=("as-it-is", way),
        published=published,
        published_ratio=ratio,
        phase=phase,
        why=why,
    )


COMPARISONS: Final = (
    Comparison(
        kind=ExperimentKind.SIZE,
        question=EVERYTHING,
        compared="walk, bitmap",
        ways=("walk", "bitmap"),
        published="13.3 s, 3.6 s",
        published_ratio=13.29 / 3.59,
        why="the lender's bitmap has all but the member's own 200 commits; theirs presumably left more to walk",
    ),
    Comparison(
        kind=ExperimentKind.SIZE,
        question=WITHOUT_LENDER,
        compared="without the lender: bitmap, walk",
        ways=("bitmap-without-lender", "walk-without-lender"),
        published="68.1 s, 6.8 s",
        published_ratio=68.1 / 6.83,
        why="4,000 of the lender's 24,000 references are newer than its bitmap, each with a tree of 2,000 names to"
        " open. The shape decides: in a first one, with trees of 64 names and 200,000 objects, the bitmap won, 0.3 s"
        " against 0.8 s with git 2.39.5, and both were equal with 2.55.0",
    ),
    Comparison(
        kind=ExperimentKind.FETCH,
        question=NEW_COMMIT,
        compared="a new commit: lender's references offered, suppressed",
        ways=("as-configured", "suppressed"),
        published="28.5 s, 16.4 s",
        published_ratio=28.5 / 16.4,
        why="one commit is sent, so hardly anything but the 50,000 references costs; theirs presumably sent more",
    ),
    Comparison(
        kind=ExperimentKind.FETCH,
        question=HELD_TIP,
        compared="a tip that the lender holds: offered, suppressed",
        ways=("as-configured", "suppressed"),
        published="0.8 s, 3.3 s (ours)",
        published_ratio=0.8 / 3.3,
        why="300,000 objects lie between member and tip, which the check after the fetch walks if it is suppressed."
        " With 30,000 between them suppressing won, 0.08 s against 0.75 s",
    ),
    _table_read(_TIP, "a tip: lookup table not read, read", 23.1, 11.2),
    _table_read(_BRANCHES, "all branches: not read, read", 22.5, 11.2),
    _table_read(_BRANCHES_AND_TAGS, "branches and tags: not read, read", 66.8, 57.3),
    _table_read(_NEW_TIP, "a tip, `--not --all`: not read, read", 28.6, 35.1),
    _of_800_packs(
        "first",
        "the first: 800 packs, one pack (VFS for Git)",
        "one-pack",
        published="2.5 s, 2 ms",
        ratio=1_250,
        why="packs of three objects, all in memory; theirs were those of a far larger repository",
    ),
    _of_800_packs(
        "first",
        "the first: 800 packs, multi-pack-index",
        "multi-pack-index",
        published="15 ms, 3 ms (ours)",
        ratio=5,
        why="the object is in a pack in the middle; first look-ups vary much",
    ),
    _of_800_packs(
        "missing",
        "missing: 800 packs, multi-pack-index",
        "multi-pack-index",
        published="1.5 ms, 1.5 ms (ours)",
        ratio=1,
        why="with both git reads the folder of 800 packs again before it gives up; the index can spare no more than"
        " the search in each of them",
    ),
    _of_800_packs(
        "missing",
        "missing: 800 packs, one pack",
        "one-pack",
        published="1.5 ms, 0.05 ms (ours)",
        ratio=30,
        why="there is one file to list and one to search",
    ),
)
