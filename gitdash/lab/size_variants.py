"""The ways to a reachable size that are compared. A table; nothing is run here.

Source: git-config(1) `pack.useBitmapBoundaryTraversal` (git 2.42), `bitmapPseudoMerge`
(git 2.46).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitdash.lab.bitmap_copies import BitmapForm
from gitdash.maintenance.packing_steps import PSEUDO_MERGE_CONFIG
from gitdash.measurement.strategy import PSEUDO_MERGES_SINCE
from gitdash.model.inspection import BitmapFacts
from gitdash.model.sizes import Question, Strategy

EVERYTHING: Final = "everything"
WITHOUT_LENDER: Final = "without the lender"

QUESTIONS: Final[Mapping[str, Question]] = {
    EVERYTHING: Question.REACHABLE,
    WITHOUT_LENDER: Question.REACHABLE_OWN,
}
STRATEGIES: Final[Mapping[str, Strategy]] = {
    "bitmap": Strategy.BITMAP,
    "walk": Strategy.WALK,
    "bitmap-without-lender": Strategy.BITMAP,
    "walk-without-lender": Strategy.WALK,
    "union-minus-lender": Strategy.UNION,
}
"""The variants that are strategies of `gitdash size` on the repository as it is."""

_BOUNDARY_SINCE: Final = (2, 42)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeWay:
    """One way to a size."""

    name: str
    title: str
    explanation: str
    questions: tuple[str, ...]
    strategy: Strategy
    config: tuple[tuple[str, str], ...] = ()
    """Pairs for `-c` in the query."""
    form: BitmapForm | None = None
    """The bitmap of the copy on which it is gone; None for the repository as it is."""
    since: tuple[int, ...] = ()
    """The first git that can."""
    is_approximate: bool = False
    """It may count too much although git says that it used a bitmap."""


def _problem_of_pseudo_merges(bitmap: BitmapFacts) -> str | None:
    if bitmap.pseudo_merges:
        return None
    return "git made no pseudo-merges: too few references, or none that is old enough"


FRESH: Final = BitmapForm(does="packing a copy anew, with a bitmap")
PSEUDO_MERGES: Final = BitmapForm(
    does="packing a copy anew, with pseudo-merges",
    config=PSEUDO_MERGE_CONFIG,
    problem_of=_problem_of_pseudo_merges,
)
MULTI_PACK: Final = BitmapForm(does="writing a multi-pack bitmap for a copy", is_multi_pack=True)

SIZE_WAYS: Final = (
    SizeWay(
        name="bitmap",
        title="with bitmap",
        explanation="Reads from the bitmap what the newest of its commits reach, and walks only what is newer. It"
        " should win by far: its cost grows with what was added since the bitmap was written, not with the history.",
        questions=(EVERYTHING,),
        strategy=Strategy.BITMAP,
    ),
    SizeWay(
        name="walk",
        title="without bitmap",
        explanation="Opens every commit and every tree. It should win only in small repositories, where there is less"
        " to open than a bitmap has to unfold.",
        questions=(EVERYTHING,),
        strategy=Strategy.WALK,
    ),
    SizeWay(
        name="bitmap-without-lender",
        title="without the lender, with bitmap",
        explanation="Makes one bitmap of all that the lender's references reach, and one of the rest. It should lose"
        " where the lender has many references without a bitmap of their own, for git makes one for each. Exact.",
        questions=(WITHOUT_LENDER,),
        strategy=Strategy.BITMAP,
    ),
    SizeWay(
        name="walk-without-lender",
        title="without the lender, without bitmap",
        explanation="Walks from the repository's own references to the lender's. It should win where little lies"
        " between them. It counts again what only the lender's deeper history has.",
        questions=(WITHOUT_LENDER,),
        strategy=Strategy.WALK,
    ),
    SizeWay(
        name="union-minus-lender",
        title="own and lender's, less lender's",
        explanation="Two queries that leave nothing out: all that both reach, less what the lender reaches. It should"
        " win where leaving out by bitmap is slow. Exact if no object is stored twice.",
        questions=(WITHOUT_LENDER,),
        strategy=Strategy.UNION,
    ),
    SizeWay(
        name="boundary-traversal",
        title="without the lender, bitmap of the boundary",
        explanation="Uses the bitmaps that the lender's references have, and walks only to the boundary between both."
        " It should win over the bitmap where many of the lender's references have none. Like a walk it may count too"
        " much.",
        questions=(WITHOUT_LENDER,),
        strategy=Strategy.BITMAP,
        config=(("pack.useBitmapBoundaryTraversal", "true"),),
        since=_BOUNDARY_SINCE,
        is_approximate=True,
    ),
    SizeWay(
        name="fresh-bitmap",
        title="copy with a fresh bitmap",
        explanation="As with bitmap, in a copy that was packed anew, or whose lender was: nothing is newer than the"
        " bitmap. It shows what a repack would gain.",
        questions=(EVERYTHING, WITHOUT_LENDER),
        strategy=Strategy.BITMAP,
        form=FRESH,
    ),
    SizeWay(
        name="pseudo-merges",
        title="copy with pseudo-merge bitmaps",
        explanation="As with a fresh bitmap, with bitmaps that stand for many references at once. It should win where"
        " there are thousands of references.",
        questions=(EVERYTHING, WITHOUT_LENDER),
        strategy=Strategy.BITMAP,
        form=PSEUDO_MERGES,
        since=PSEUDO_MERGES_SINCE,
    ),
    SizeWay(
        name="multi-pack-bitmap",
        title="copy with a multi-pack bitmap",
        explanation="As with bitmap, in a copy whose packs, or whose lender's, stay as they are, under a"
        " multi-pack-index with a bitmap. It should come near the fresh bitmap, without a full repack.",
        questions=(EVERYTHING, WITHOUT_LENDER),
        strategy=Strategy.BITMAP,
        form=MULTI_PACK,
    ),
)
