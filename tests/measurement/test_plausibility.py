"""What makes a number doubtful."""

import pytest

from gitdash.measurement.plausibility import doubts, is_impossible, lender_was_left_out


@pytest.mark.parametrize(
    ("size_bytes", "facts", "found"),
    [
        (0, {}, []),
        (100, {"upper_bound_bytes": 100, "expected_bytes": 200}, []),
        (0, {"upper_bound_bytes": 0, "expected_bytes": 0}, []),
        (101, {"upper_bound_bytes": 100}, ["101 bytes are more than the 100 bytes"]),
        (18_446_744_071_562_078_193, {"upper_bound_bytes": 10_212}, ["18,446,744,071,562,078,193 bytes are more than"]),
        (-1, {}, ["-1 bytes are less than nothing"]),
        (-1, {"upper_bound_bytes": 5}, ["-1 bytes are less than nothing"]),
        (2128, {"expected_bytes": 10_212}, ["2,128 bytes are less than half of the 10,212 bytes"]),
        (5106, {"expected_bytes": 10_212}, []),
        (5, {"complaint": "bitmap is too short"}, ["git complained: bitmap is too short"]),
        (5, {"complaint": ""}, []),
        (
            7,
            {"complaint": "x", "upper_bound_bytes": 6, "expected_bytes": 20},
            ["git complained: x", "7 bytes are more than", "7 bytes are less than half"],
        ),
    ],
)
def test_doubts_follow_from_the_facts(size_bytes: int, facts: dict[str, object], found: list[str]) -> None:
    reasons = doubts(size_bytes, **facts)  # type: ignore[arg-type]
    assert len(reasons) == len(found)
    assert all(reason.startswith(start) for reason, start in zip(reasons, found, strict=True))


@pytest.mark.parametrize(
    ("size_bytes", "upper_bound_bytes", "impossible"),
    [(-1, None, True), (0, 0, False), (1, 0, True), (1 << 70, None, False)],
)
def test_impossible_is_what_no_store_can_give(size_bytes: int, upper_bound_bytes: int | None, impossible: bool) -> None:
    assert is_impossible(size_bytes, upper_bound_bytes) is impossible


@pytest.mark.parametrize(
    ("stderr", "left_out"),
    [
        ("", False),
        ("error: unable to normalize alternate object path: /gone/objects\n", True),
        ("error: object directory /gone/objects does not exist; check .git/objects/info/alternates\n", True),
        ("error: /x: ignoring alternate object stores, nesting too deep\n", True),
        ("error: bitmap file '/srv/alternate/x.bitmap' is corrupt\n", False),
    ],
)
def test_git_says_when_it_leaves_a_lender_out(stderr: str, left_out: bool) -> None:
    assert lender_was_left_out(stderr) is left_out
