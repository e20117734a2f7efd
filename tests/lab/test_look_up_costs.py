"""Predictions by arithmetic, and what two look-ups say of absence."""

import pytest

from gitdash.lab.look_up_costs import (
    NamedObjects,
    Remembrance,
    clone_predictions,
    found,
    prediction_notes,
    remembrance,
    verdict,
)
from gitdash.model.experiment import Summary


def summaries(count=5, **medians_s):
    """What the runs of operations say, all of them alike."""
    return {
        name.replace("_", "-"): Summary(count=count, median_s=one, minimum_s=one, low_s=one, high_s=one)
        for name, one in medians_s.items()
    }


def test_prediction_multiplies_look_ups_with_what_one_costs():
    by_object, by_folder, unpacking = clone_predictions(34_296, 0.005, NamedObjects())
    assert (by_object.look_up_count, by_object.cost_s) == (34_296, pytest.approx(171.48))
    assert (by_folder.look_up_count, by_folder.cost_s) == (256, pytest.approx(1.28))
    assert (unpacking.look_up_count, unpacking.cost_s) == (495, pytest.approx(2.475))


def test_clone_asks_for_tips_besides_fan_out_folders():
    by_object, by_folder, _ = clone_predictions(34_296, 0.003, NamedObjects(count=3_202, distinct_count=3_202))
    # 3,202 tips, and 256 folders, once for them and once for what comes
    assert (by_object.look_up_count, by_folder.look_up_count) == (34_296, 3_714)


@pytest.mark.parametrize(("object_count", "folder_count"), [(0, 0), (1, 1), (256, 162), (10_000, 256)])
def test_few_objects_touch_fewer_fan_out_folders(object_count, folder_count):
    assert clone_predictions(object_count, 1.0, NamedObjects())[1].look_up_count == folder_count


@pytest.mark.parametrize(
    ("absent_s", "again_s", "expected"),
    [
        (2e-6, 1e-6, Remembrance.CHEAP),
        (2e-6, 2e-6, Remembrance.CHEAP),
        (0.003, 0.000_02, Remembrance.REMEMBERED),
        (0.003, 0.0029, Remembrance.ASKED_AGAIN),
        (0.003, 0.002, Remembrance.ASKED_AGAIN),
    ],
)
def test_absence_is_remembered_if_asking_again_costs_far_less(absent_s, again_s, expected):
    assert remembrance(absent_s, again_s) is expected


def test_verdict_needs_both_look_ups():
    assert verdict(summaries(look_up_absent=0.003)).startswith("No verdict")
    said = verdict(summaries(look_up_absent=0.003, look_up_absent_again=0.0031))
    assert said == "Absence is not remembered here: a look-up of an absent name takes 3.00 ms, asked again 3.10 ms."


def test_four_runs_say_nothing_of_absence():
    few = summaries(4, look_up_absent=0.003, look_up_absent_again=0.0031)
    assert found(few) is None
    assert verdict(few) == "Too few runs for a verdict: the first look-up of an absent name has 4, and 5 are needed."


def test_keeping_packs_is_advised_only_where_look_ups_cost_something():
    dear = prediction_notes(1000, summaries(look_up_absent=0.003, look_up_absent_again=0.003), NamedObjects())
    cheap = prediction_notes(1000, summaries(look_up_absent=2e-6, look_up_absent_again=1e-6), NamedObjects())
    assert any("fetch.unpackLimit=1" in note for note in dear)
    assert not any("fetch.unpackLimit=1" in note for note in cheap)
    assert prediction_notes(1000, {}, NamedObjects()) == ()
