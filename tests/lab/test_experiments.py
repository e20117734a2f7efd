"""The list of experiments: what is said of each, in one manner."""

import pytest

from gitdash.lab.experiments import EXPERIMENTS
from gitdash.model.experiment import ExperimentKind


def test_every_kind_is_in_the_list() -> None:
    assert set(EXPERIMENTS) == set(ExperimentKind)


@pytest.mark.parametrize("kind", ExperimentKind)
def test_titles_are_parts_of_a_sentence_and_explanations_whole_ones(kind: ExperimentKind) -> None:
    title, explanation = EXPERIMENTS[kind].title, EXPERIMENTS[kind].explanation
    assert title[0].islower()
    assert title[-1] not in ".:?!"
    assert explanation[0].isupper()
    assert explanation[-1] == "."
