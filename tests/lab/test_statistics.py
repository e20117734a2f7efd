import random

import pytest

from gitdash.lab.statistics import is_narrow, summary_of, verdict_text, winner_of
from gitdash.model.experiment import Summary


def summary(low_s: float, median_s: float, high_s: float, count: int = 7) -> Summary:
    return Summary(count=count, median_s=median_s, minimum_s=low_s, low_s=low_s, high_s=high_s)


@pytest.mark.parametrize(
    ("values", "median_s"),
    [([3.0], 3.0), ([4.0, 1.0, 2.0], 2.0), ([4.0, 1.0, 2.0, 8.0], 3.0), ([10.0, 2.0, 38.0, 23.0, 38.0], 23.0)],
)
def test_the_median_is_the_middle_one_or_the_mean_of_the_two(values: list[float], median_s: float) -> None:
    found = summary_of(values)
    assert (found.median_s, found.minimum_s, found.count) == (median_s, min(values), len(values))


# The bootstrap median of an odd number n of runs is at most the k-th smallest with the chance that at least (n + 1) / 2
# of n draws are among the k smallest (Efron 1979, section 3): 0.058 for n = 5 and k = 1; 0.010 and 0.108 for n = 7 and
# k = 1 and 2; 0.037 for n = 11 and k = 3, 0.0049 for k = 2.
@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(1, 1, 1), (5, 1, 5), (7, 2, 6), (11, 3, 9)],
)
def test_the_interval_has_the_ends_that_the_binomial_distribution_gives(count: int, low: int, high: int) -> None:
    found = summary_of([float(number) for number in range(1, count + 1)])
    assert (found.low_s, found.high_s) == (low, high)


def test_the_same_runs_give_the_same_interval_in_any_process() -> None:
    values = [1.0, 1.5, 1.2, 1.9, 1.1, 1.4]
    assert summary_of(values) == summary_of(list(values))
    random.seed(7)
    assert summary_of(values) == summary_of(values)


def test_the_interval_holds_the_true_median_about_as_often_as_it_says() -> None:
    draw = random.Random(5)
    samples = [[draw.expovariate(1.0) for _ in range(15)] for _ in range(100)]
    held = sum(found.low_s <= 0.6931 <= found.high_s for found in map(summary_of, samples))
    # of 100 trials at 0.95 fewer than 86 would come out once in some 5,000 times
    assert held >= 86


def test_an_interval_is_narrow_up_to_its_part_of_the_median() -> None:
    assert is_narrow(summary(0.98, 1.0, 1.02), 0.05)
    assert not is_narrow(summary(0.97, 1.0, 1.03), 0.05)
    assert is_narrow(summary(0.97, 1.0, 1.03), 0.08)
    assert is_narrow(summary_of([2.0] * 5), 0.05)


@pytest.mark.parametrize(
    ("summaries", "winner"),
    [
        ({}, None),
        ({"a": summary(1, 2, 3)}, None),
        ({"a": summary(1, 2, 3), "b": summary(4, 5, 6)}, "a"),
        ({"b": summary(4, 5, 6), "a": summary(1, 2, 3)}, "a"),
        ({"a": summary(1, 2, 4), "b": summary(4, 5, 6)}, None),
        ({"a": summary(1, 2, 3), "b": summary(2, 5, 6), "c": summary(8, 9, 10)}, None),
        ({"a": summary(1, 2, 3), "b": summary(4, 5, 6), "c": summary(5, 5.5, 7)}, "a"),
        ({"a": summary(1, 2, 3, 5), "b": summary(4, 5, 6, 5)}, "a"),
        ({"a": summary(1, 2, 3, 4), "b": summary(4, 5, 6)}, None),
        ({"a": summary(1, 2, 3), "b": summary(4, 5, 6), "c": summary(8, 8, 8, 1)}, None),
    ],
)
def test_a_winner_lies_below_all_others(summaries: dict[str, Summary], winner: str | None) -> None:
    assert winner_of(summaries) == winner


def test_the_verdict_names_the_winner_and_how_many_times_faster_it_is() -> None:
    titles = {"a": "walk", "b": "bitmap", "c": "union"}
    summaries = {"a": summary(5.0, 6.0, 7.0), "b": summary(1.0, 2.0, 3.0), "c": summary(9.0, 9.0, 9.0)}
    text = verdict_text(summaries, titles)
    assert text.startswith("bitmap is the fastest: ")
    assert "of walk (3.00 times)" in text


def test_without_a_winner_the_verdict_names_two_that_do_not_part() -> None:
    titles = {"a": "walk", "b": "bitmap", "c": "union"}
    summaries = {"a": summary(2.5, 6.0, 7.0), "b": summary(1.0, 2.0, 3.0), "c": summary(9.0, 9.0, 9.0)}
    text = verdict_text(summaries, titles)
    assert text.startswith("No verdict: ")
    assert "bitmap" in text
    assert "walk" in text
    assert "union" not in text
    assert verdict_text({"a": summary(1, 2, 3)}, titles).startswith("Nothing to compare")


def test_too_few_runs_of_one_allow_no_verdict() -> None:
    titles = {"a": "walk", "b": "bitmap"}
    text = verdict_text({"a": summary(1, 2, 3), "b": summary(4, 4, 4, 1)}, titles)
    assert text == "Too few runs for a verdict: bitmap has 1, and 5 are needed."


def test_durations_that_differ_by_little_are_told_apart() -> None:
    titles = {"a": "walk", "b": "bitmap"}
    parted = {"a": summary(0.0031, 0.0031, 0.0032), "b": summary(0.0033, 0.0034, 0.0034)}
    assert "3.10 ms against 3.40 ms of bitmap" in verdict_text(parted, titles)
    touching = {"a": summary(0.0031, 0.0032, 0.0034), "b": summary(0.0033, 0.0034, 0.0034)}
    text = verdict_text(touching, titles)
    assert "walk (3.10 ms to 3.40 ms)" in text
    assert "bitmap (3.30 ms to 3.40 ms)" in text


def test_zero_seconds_divide_nothing() -> None:
    text = verdict_text({"a": summary(0, 0, 0), "b": summary(1, 1, 1)}, {"a": "a", "b": "b"})
    assert "the clock cannot tell" in text
