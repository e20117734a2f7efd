"""How a reachable size is obtained: one decision, made of facts, with its reason and its cost in words.

The rule is Gitaly's of 2022: bitmaps for everything that is reachable, none where a lender is excluded. Its reason: the
bitmap is usually the lender's, covers only what is to be left out, and git fills in a bitmap for each of the lender's
references that has none. Pseudo-merge bitmaps (git 2.46, git-config(1) `bitmapPseudoMerge`) remove that reason.
Measurements for gitlab-org/gitlab: 13.3 s by a walk and 3.6 s with bitmap; without the lender 6.8 s and 68 s.

Pure. Does not look at disk and does not run git.
"""

from dataclasses import dataclass
from typing import Final

from gitdash.errors import GitdashError
from gitdash.model.sizes import Question, Strategy

PSEUDO_MERGES_SINCE: Final = (2, 46)
"""The first git that uses pseudo-merge bitmaps."""


class StrategyError(GitdashError):
    """The strategy that was asked for cannot answer the question here; the text is one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyFacts:
    """What the decision depends on."""

    has_alternates_file: bool
    """`objects/info/alternates` exists, or could not be looked at."""
    lender_has_pseudo_merges: bool = False
    """A lender's bitmap has pseudo-merges."""
    git_version: tuple[int, ...] = ()
    """Such as (2, 39, 5)."""
    extends_previous: bool = False
    """There is a measurement of the same question, and since then references only gained commits and packs were only
    added."""
    winner: Strategy | None = None
    """The fastest in a comparison on this repository, as long as nothing has changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyChoice:
    """A strategy, and why."""

    strategy: Strategy
    """What will be done."""
    reason: str
    """One clause."""
    cost: str
    """One clause: what it takes, compared with the others."""


def choose_strategy(question: Question, requested: Strategy | None, facts: StrategyFacts) -> StrategyChoice:
    """Return the strategy for a question; `requested` None means the best one by the facts.

    Raises StrategyError if the requested one makes no sense here.
    """
    excludes_lender = question is Question.REACHABLE_OWN and facts.has_alternates_file
    if requested is not None:
        _refuse_nonsense(question, requested, facts)
        return _choice(requested, "it was asked for", excludes_lender=excludes_lender)
    if facts.extends_previous:
        reason = "since the last measurement references only gained commits and packs were only added"
        return _choice(Strategy.DIFFERENCE, reason, excludes_lender=excludes_lender)
    if facts.winner is not None and _nonsense(question, facts.winner, facts) is None:
        return _choice(facts.winner, "it was the fastest on this repository", excludes_lender=excludes_lender)
    return _by_rule(question, facts, excludes_lender=excludes_lender)


def _by_rule(question: Question, facts: StrategyFacts, *, excludes_lender: bool) -> StrategyChoice:
    if not excludes_lender:
        reason = (
            "everything reachable is asked for, which bitmaps know at once"
            if question is Question.REACHABLE
            else "there is no lender to leave out, so everything reachable is asked for"
        )
        return _choice(Strategy.BITMAP, reason, excludes_lender=False)
    if facts.lender_has_pseudo_merges and facts.git_version >= PSEUDO_MERGES_SINCE:
        reason = "the lender's bitmap has pseudo-merges, which stand for its references all at once"
        return _choice(Strategy.BITMAP, reason, excludes_lender=True)
    reason = "the lender is left out, and its bitmap describes just what is left out"
    return _choice(Strategy.WALK, reason, excludes_lender=True)


def _refuse_nonsense(question: Question, requested: Strategy, facts: StrategyFacts) -> None:
    nonsense = _nonsense(question, requested, facts)
    if nonsense is not None:
        raise StrategyError(nonsense)


def _nonsense(question: Question, strategy: Strategy, facts: StrategyFacts) -> str | None:
    if strategy is Strategy.UNION and question is Question.REACHABLE:
        return "strategy union subtracts what the lender has, and the question is everything reachable"
    if strategy is Strategy.UNION and not facts.has_alternates_file:
        return "strategy union subtracts what the lender has, and this repository has no alternates"
    if strategy is Strategy.DIFFERENCE and not facts.extends_previous:
        return "strategy difference adds to an older measurement, and there is none that this repository only grew from"
    return None


_COSTS: Final = {
    (Strategy.BITMAP, False): "reads the bitmap and walks only what is newer: about a quarter of the time of a walk",
    (Strategy.BITMAP, True): "git makes a bitmap for each of the lender's references that has none: with pseudo-merges"
    " half the time of a walk, without them up to ten times as long",
    (Strategy.WALK, False): "opens every commit and tree: the cost grows with the whole history",
    (Strategy.WALK, True): "opens the commits and trees since the lender's references, and reads all these references;"
    " an upper bound, for it counts again what the lender's deeper history has",
    (Strategy.UNION, True): "two queries with bitmap, of this repository with its lender and of the lender: twice the"
    " time of one, and no upper bound",
    (Strategy.DIFFERENCE, False): "walks only what is new: the cost grows with the change, not with the repository",
    (Strategy.DIFFERENCE, True): "walks only what is new: the cost grows with the change, not with the repository",
}


def _choice(strategy: Strategy, reason: str, *, excludes_lender: bool) -> StrategyChoice:
    return StrategyChoice(strategy=strategy, reason=reason, cost=_COSTS[strategy, excludes_lender])
