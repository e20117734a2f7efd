"""The strategy is a table of facts."""

import pytest

from gitdash.measurement.strategy import StrategyError, StrategyFacts, choose_strategy
from gitdash.model.sizes import Question, Strategy

ALL, OWN = Question.REACHABLE, Question.REACHABLE_OWN
BITMAP, WALK, UNION, DIFFERENCE = Strategy.BITMAP, Strategy.WALK, Strategy.UNION, Strategy.DIFFERENCE
OLD, NEW = (2, 45, 9), (2, 46)


def facts(
    alternates: bool,
    version: tuple[int, ...] = OLD,
    *,
    pseudo: bool = False,
    grew: bool = False,
    winner: Strategy | None = None,
) -> StrategyFacts:
    return StrategyFacts(
        has_alternates_file=alternates,
        git_version=version,
        lender_has_pseudo_merges=pseudo,
        extends_previous=grew,
        winner=winner,
    )


@pytest.mark.parametrize(
    ("question", "requested", "known", "chosen", "reason"),
    [
        (ALL, None, facts(False), BITMAP, "everything reachable"),
        (ALL, None, facts(True), BITMAP, "everything reachable"),
        (ALL, None, facts(True, NEW, pseudo=True), BITMAP, "everything reachable"),
        (OWN, None, facts(False), BITMAP, "no lender to leave out"),
        (OWN, None, facts(True), WALK, "its bitmap describes just what is left out"),
        (OWN, None, facts(True, NEW), WALK, "its bitmap describes just what is left out"),
        (OWN, None, facts(True, OLD, pseudo=True), WALK, "its bitmap describes just what is left out"),
        (OWN, None, facts(True, NEW, pseudo=True), BITMAP, "pseudo-merges"),
        (OWN, None, facts(True, (3, 0), pseudo=True), BITMAP, "pseudo-merges"),
        (ALL, None, facts(False, grew=True), DIFFERENCE, "only gained commits"),
        (OWN, None, facts(True, grew=True), DIFFERENCE, "only gained commits"),
        (OWN, None, facts(True, winner=UNION), UNION, "fastest on this repository"),
        (OWN, None, facts(True, winner=BITMAP), BITMAP, "fastest on this repository"),
        (OWN, None, facts(True, grew=True, winner=UNION), DIFFERENCE, "only gained commits"),
        (ALL, None, facts(False, winner=UNION), BITMAP, "everything reachable"),
        (OWN, None, facts(False, winner=UNION), BITMAP, "no lender to leave out"),
        (ALL, WALK, facts(False), WALK, "asked for"),
        (ALL, WALK, facts(True, grew=True), WALK, "asked for"),
        (OWN, BITMAP, facts(True), BITMAP, "asked for"),
        (OWN, WALK, facts(True, NEW, pseudo=True), WALK, "asked for"),
        (OWN, UNION, facts(True), UNION, "asked for"),
        (ALL, DIFFERENCE, facts(True, grew=True), DIFFERENCE, "asked for"),
    ],
)
def test_strategy_follows_from_the_facts(
    question: Question, requested: Strategy | None, known: StrategyFacts, chosen: Strategy, reason: str
) -> None:
    choice = choose_strategy(question, requested, known)
    assert choice.strategy is chosen
    assert reason in choice.reason
    assert choice.cost


@pytest.mark.parametrize(
    ("question", "requested", "known", "sentence"),
    [
        (
            ALL,
            UNION,
            facts(True),
            "strategy union subtracts what the lender has, and the question is everything reachable",
        ),
        (
            ALL,
            UNION,
            facts(False),
            "strategy union subtracts what the lender has, and the question is everything reachable",
        ),
        (
            OWN,
            UNION,
            facts(False),
            "strategy union subtracts what the lender has, and this repository has no alternates",
        ),
        (OWN, DIFFERENCE, facts(True), "strategy difference adds to an older measurement, and there is none that this"),
        (
            ALL,
            DIFFERENCE,
            facts(False),
            "strategy difference adds to an older measurement, and there is none that this",
        ),
    ],
)
def test_nonsense_is_refused_with_a_sentence(
    question: Question, requested: Strategy, known: StrategyFacts, sentence: str
) -> None:
    with pytest.raises(StrategyError) as caught:
        choose_strategy(question, requested, known)
    assert str(caught.value).startswith(sentence)


def test_cost_of_a_walk_with_the_lender_left_out_says_that_it_is_an_upper_bound() -> None:
    assert "upper bound" in choose_strategy(OWN, None, facts(True)).cost
    assert "upper bound" not in choose_strategy(OWN, WALK, facts(False)).cost
