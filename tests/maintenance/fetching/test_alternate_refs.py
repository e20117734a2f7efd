"""The rule about the references of a lender."""

import pytest

from gitdash.maintenance.fetching.alternate_refs import (
    AlternateRefsFacts,
    alternate_refs_choice,
    commits_between,
    list_remote_arguments,
    missing_tips,
)


@pytest.mark.parametrize(
    ("facts", "choice"),
    [
        (AlternateRefsFacts(asked="auto", has_lender=False), "suppress"),
        (AlternateRefsFacts(asked="auto", has_lender=True), "suppress"),
        (AlternateRefsFacts(asked="auto", has_lender=True, missing_count=0), "suppress"),
        (AlternateRefsFacts(asked="auto", has_lender=True, missing_count=3), "suppress"),
        (AlternateRefsFacts(asked="auto", has_lender=True, missing_count=3, held_count=1), "use"),
        (AlternateRefsFacts(asked="auto", has_lender=True, missing_count=3, held_count=3), "use"),
        (
            AlternateRefsFacts(
                asked="auto",
                has_lender=True,
                missing_count=3,
                held_count=3,
                lent_reference_count=9_000,
                behind_count=40,
            ),
            "suppress",
        ),
        (
            AlternateRefsFacts(
                asked="auto", has_lender=True, missing_count=3, held_count=3, lent_reference_count=9_000
            ),
            "use",
        ),
        (AlternateRefsFacts(asked="use", has_lender=True, missing_count=3), "use"),
        (AlternateRefsFacts(asked="suppress", has_lender=True, missing_count=3, held_count=3), "suppress"),
    ],
)
def test_references_of_a_lender_are_named_where_it_has_what_is_wanted(facts: AlternateRefsFacts, choice: str) -> None:
    assert alternate_refs_choice(facts)[0] == choice


def test_of_more_tips_than_the_lender_is_asked_for_so_much_is_said() -> None:
    facts = AlternateRefsFacts(asked="auto", has_lender=True, missing_count=10_000, asked_count=500)
    assert alternate_refs_choice(facts)[1] == "the lender has none of the first 500 of 10.0k wanted tips"


@pytest.mark.parametrize(
    ("tips", "present", "expected"),
    [
        (["e"], ["b"], 3),
        (["e", "c"], ["b"], 3),
        (["b"], ["b"], 0),
        # a root is the end of what there is
        (["b"], [], 2),
        # beyond what was listed
        (["z"], ["b"], None),
        (["f"], ["b"], None),
        # a merge whose other side began before what is present
        (["m"], ["b"], 5),
    ],
)
def test_commits_between_are_counted_as_far_as_they_are_listed(
    tips: list[str], present: list[str], expected: int | None
) -> None:
    listed = "m e x\nf y\ne d\nd c\nc b\nx b\nb a\na\n"
    assert commits_between(tips, present, listed) == expected


def test_missing_are_wanted_tips_that_no_reference_names() -> None:
    listed = "aaa\trefs/heads/main\nbbb\trefs/heads/new\nccc\trefs/tags/v1\nbbb\trefs/heads/same\nddd\trefs/heads/old\n"
    present = {"refs/remotes/origin/main": "aaa", "refs/heads/elsewhere": "ddd"}
    assert missing_tips(listed, ["+refs/heads/*:refs/remotes/origin/*"], present) == ("bbb",)


@pytest.mark.parametrize(
    ("refspecs", "heads_only"),
    [
        (["+refs/heads/*:refs/remotes/o/*", "^refs/heads/x"], True),
        (["+refs/heads/*:refs/remotes/o/*", "+refs/tags/*:refs/tags/*"], False),
        (["+refs/*:refs/*"], False),
    ],
)
def test_remote_is_asked_for_branches_only_where_that_is_enough(refspecs: list[str], heads_only: bool) -> None:
    assert ("--heads" in list_remote_arguments("origin", refspecs)) is heads_only
