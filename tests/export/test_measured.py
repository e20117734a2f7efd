"""A remembered size never reads like a fresh one, however young it is."""

import pytest

from gitdash.export.measured import measured_text
from gitdash.model.sizes import Question, SizeMeasurement, Strategy

NOW_S = 1_700_000_000.0


def measured(age_s: float, *, from_history: bool) -> str:
    size = SizeMeasurement(
        question=Question.REACHABLE,
        bytes=1,
        strategy=Strategy.WALK,
        exact=True,
        elapsed_s=0.1,
        measured_at_s=NOW_S - age_s,
        argv=(),
        git_version="2.39.5",
        from_history=from_history,
    )
    return measured_text(size, NOW_S)


@pytest.mark.parametrize(
    ("age_s", "fresh", "remembered"),
    [
        (-2.0, "measured now", "remembered, measured less than 1s ago"),
        (0.0, "measured now", "remembered, measured less than 1s ago"),
        (0.9, "measured now", "remembered, measured less than 1s ago"),
        (3.2, "measured 3s ago", "remembered, measured 3s ago"),
        (7200.0, "measured 2h ago", "remembered, measured 2h ago"),
    ],
)
def test_what_is_remembered_says_so(age_s: float, fresh: str, remembered: str) -> None:
    assert measured(age_s, from_history=False) == fresh
    assert measured(age_s, from_history=True) == remembered
