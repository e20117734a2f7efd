"""A size holds as long as nothing of what it depends on changes."""

from dataclasses import replace

import pytest

from gitdash.measurement.fingerprint import SizeInputs, only_gained_packs, size_fingerprint, size_state
from gitdash.model.sizes import Question

ID, OTHER = "1" * 40, "2" * 40
INPUTS = SizeInputs(
    question=Question.REACHABLE_OWN,
    references=((b"HEAD", ID), (b"refs/heads/main", ID)),
    packs=((b"pack-a.pack", 10), (b"pack-b.pack", 20)),
    alternates=(b"/pool.git/objects",),
    lender_references=((b"refs/heads/main", OTHER),),
    lender_packs=((b"pack-c.pack", 30),),
    shallow=b"",
    excluded_references=("refs/keep-around/*",),
    git_version="2.39.5",
)
CHANGES = [
    {"question": Question.REACHABLE},
    {"references": ((b"HEAD", OTHER), (b"refs/heads/main", ID))},
    {"references": ((b"HEAD", ID), (b"refs/heads/mai", ID))},
    {"references": ()},
    {"packs": ((b"pack-a.pack", 10),)},
    {"packs": ((b"pack-a.pack", 10), (b"pack-b.pack", 21))},
    {"alternates": ()},
    {"alternates": (b"/pool.git", b"/objects")},
    {"lender_references": ((b"refs/heads/main", ID),)},
    {"lender_packs": ((b"pack-c.pack", 30), (b"pack-d.pack", 1))},
    {"shallow": ID.encode()},
    {"excluded_references": ()},
    {"excluded_references": ("refs/keep-around/*", "*")},
    {"git_version": "2.55.0"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_each_input_changes_the_fingerprint(change: dict[str, object]) -> None:
    assert size_fingerprint(replace(INPUTS, **change)) != size_fingerprint(INPUTS)  # type: ignore[arg-type]


def test_order_of_references_and_packs_does_not_matter() -> None:
    turned = replace(INPUTS, references=INPUTS.references[::-1], packs=INPUTS.packs[::-1])
    assert size_fingerprint(turned) == size_fingerprint(INPUTS)
    assert len(size_fingerprint(INPUTS)) == 16


def test_fingerprint_is_the_same_in_every_process() -> None:
    assert size_fingerprint(INPUTS).hex() == "5afd6880334f8d865b42b050ed4ca631"


@pytest.mark.parametrize(
    ("change", "extends"),
    [
        ({}, True),
        ({"references": ((b"HEAD", OTHER),)}, True),
        ({"packs": (*INPUTS.packs, (b"pack-new.pack", 5))}, True),
        ({"packs": INPUTS.packs[:1]}, False),
        ({"packs": (INPUTS.packs[0], (b"pack-b.pack", 21))}, False),
        *((change, False) for change in CHANGES if "references" not in change and "packs" not in change),
    ],
)
def test_old_size_is_a_part_of_the_new_one_if_packs_were_only_added(change: dict[str, object], extends: bool) -> None:
    old = size_state(INPUTS, [ID])
    new = size_state(replace(INPUTS, **change), [ID])  # type: ignore[arg-type]
    assert only_gained_packs(old, new) is extends


def test_state_keeps_the_tips_that_counted() -> None:
    assert size_state(INPUTS, [OTHER]).tips == {OTHER}
