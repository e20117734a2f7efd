"""Pauses between starts on one host: figures worked out by hand."""

import pytest

from gitdash.maintenance.pacing import HostPace


def test_host_waits_its_usual_pause_after_a_start() -> None:
    pace = HostPace(usual_pause_s=0.5)
    assert pace.delay_s(100.0) == 0.0
    pace.started(100.0)
    assert (pace.delay_s(100.0), pace.delay_s(100.25), pace.delay_s(100.5)) == (0.5, 0.25, 0.0)


def test_each_refusal_doubles_the_pause_up_to_a_minute() -> None:
    pace = HostPace(usual_pause_s=0.2)
    pauses_s = []
    for _ in range(10):
        pace.refused(0.0)
        pauses_s.append(pace.pause_s)
    assert pauses_s == [0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0, 60.0]
    assert pace.delay_s(0.0) == 60.0


def test_each_success_halves_the_pause_down_to_the_usual_one() -> None:
    pace = HostPace(usual_pause_s=0.2)
    for _ in range(3):
        pace.refused(0.0)
    pauses_s = []
    for _ in range(5):
        pace.succeeded()
        pauses_s.append(pace.pause_s)
    assert pauses_s == [0.8, 0.4, 0.2, 0.2, 0.2]


def test_host_without_a_pause_gets_one_when_it_refuses_and_loses_it_again() -> None:
    pace = HostPace(usual_pause_s=0.0)
    pace.started(5.0)
    assert pace.delay_s(5.0) == 0.0
    pace.refused(5.0)
    assert pace.delay_s(5.0) == pytest.approx(0.2)
    for _ in range(2):
        pace.succeeded()
    assert pace.pause_s == 0.0


def test_pause_longer_than_a_minute_that_was_asked_for_stays() -> None:
    pace = HostPace(usual_pause_s=90.0)
    pace.refused(0.0)
    assert pace.pause_s == 90.0


def test_refusal_never_brings_the_next_start_nearer() -> None:
    pace = HostPace(usual_pause_s=30.0)
    pace.started(0.0)
    pace.succeeded()
    pace.refused(0.0)
    assert pace.delay_s(0.0) == 60.0
    pace.succeeded()
    pace.refused(0.0)
    assert pace.delay_s(0.0) == 60.0
