"""Members, lenders and pools."""

from typing import Any

import msgspec
import pytest

from gitdash.assessment.alternates import DUPLICATE_OBJECTS
from gitdash.model.config_facts import ConfigEffect, Remote
from gitdash.model.inspection import AlternatesFacts
from gitdash.model.policy import Policy
from gitdash.model.repository import Repository, RepositoryKind, Role, StorageLayout, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Sizes
from tests.assessment.subjects import (
    DAY_S,
    NOW_S,
    REPOSITORY,
    alternates,
    concern,
    config_facts,
    finding_of,
    found,
    lender,
    subject,
)

MEMBER = (Role.MEMBER,)


def duplicates(size_bytes: int) -> Sizes:
    return Sizes(
        exclusive=ExclusiveSizes(
            exclusive_bytes=5,
            exclusive_count=1,
            duplicate_bytes=size_bytes,
            duplicate_count=504,
            elapsed_s=0.1,
            measured_at_s=NOW_S,
        )
    )


@pytest.mark.parametrize(
    "broken", [lender(exists=False), lender(problem="nested too deep"), lender(exists=False, problem="not a directory")]
)
def test_lender_that_cannot_be_used_is_critical(broken: Any) -> None:
    assert found(subject(roles=MEMBER, alternates=alternates(broken))) == {"missing-lender": "critical"}


def test_missing_lender_names_path_and_reason() -> None:
    judged = subject(roles=MEMBER, alternates=alternates(lender(b"/gone\x1b\xff/objects", exists=False)))
    finding = finding_of("missing-lender", judged)
    assert finding.summary == "1 lender cannot be used: /gone\\x1b\\xff/objects (missing)"


def test_healthy_member_has_no_finding() -> None:
    assert found(subject(roles=MEMBER, alternates=alternates())) == {}
    assert found(subject(roles=MEMBER, alternates=AlternatesFacts(alternates=(), mtime_s=NOW_S))) == {}


def test_unreadable_alternates_are_no_missing_lender() -> None:
    assert found(subject(alternates=Unreadable("permission denied"))) == {"unreadable-parts": "warning"}


def test_nested_lenders_are_a_notice_and_not_several() -> None:
    judged = subject(roles=MEMBER, alternates=alternates(lender(), lender(b"/deep/objects", depth=2)))
    assert found(judged) == {"nested-alternates": "notice"}
    assert finding_of("nested-alternates", judged).evidence == {"depth_count": 2}


def test_several_lenders_are_a_notice() -> None:
    judged = subject(roles=MEMBER, alternates=alternates(lender(), lender(b"/other/objects")))
    assert found(judged) == {"several-alternates": "notice"}


@pytest.mark.parametrize(
    ("joined_after_s", "repacked_at_s", "sizes", "fires"),
    [
        (1, NOW_S - DAY_S, Sizes(), True),
        (0, NOW_S - DAY_S, Sizes(), False),
        (-1, NOW_S - DAY_S, Sizes(), False),
        (1, None, Sizes(), False),
        (1, NOW_S - DAY_S, duplicates(1 << 20), False),
        (1, NOW_S - DAY_S, duplicates((1 << 20) + 1), True),
        (1, NOW_S - DAY_S, Sizes(exclusive=Unreadable("broken index")), True),
    ],
)
def test_member_that_joined_after_its_last_repack_is_a_notice(
    joined_after_s: float, repacked_at_s: float | None, sizes: Sizes, fires: bool
) -> None:
    judged = subject(
        roles=MEMBER,
        alternates=alternates(mtime_s=NOW_S - DAY_S + joined_after_s),
        last_full_repack_s=repacked_at_s,
        sizes=sizes,
    )
    assert ("alternates-newer-than-repack" in found(judged)) is fires


def test_remedy_for_own_copies_names_what_looks_at_the_lender_before_what_does_not() -> None:
    remedy = DUPLICATE_OBJECTS.remedy
    assert remedy.index("the task deduplicate") < remedy.index("repack -a -d -l -k")


@pytest.mark.parametrize(
    ("joined_age_s", "repack_age_s", "summary"),
    [
        (1, 1.5, "joined its lender 1s ago, after its last full repack (1s ago)"),
        (0.2, 0.5, "joined its lender just now, after its last full repack (just now)"),
        (3 * DAY_S, 5 * DAY_S, "joined its lender 3d ago, after its last full repack (5d ago)"),
    ],
)
def test_member_that_joined_later_says_when(joined_age_s: float, repack_age_s: float, summary: str) -> None:
    judged = subject(
        roles=MEMBER,
        alternates=alternates(mtime_s=NOW_S - joined_age_s),
        last_full_repack_s=NOW_S - repack_age_s,
    )
    assert finding_of("alternates-newer-than-repack", judged).summary == summary


@pytest.mark.parametrize(("size_bytes", "fires"), [(451_288, False), (1 << 20, False), ((1 << 20) + 1, True)])
def test_duplicates_of_a_member_are_a_notice_above_one_mebibyte(size_bytes: int, fires: bool) -> None:
    judged = subject(roles=MEMBER, alternates=alternates(), sizes=duplicates(size_bytes))
    assert found(judged) == ({"duplicate-objects": "notice"} if fires else {})


@pytest.mark.parametrize(
    ("stored_bytes", "second_bytes", "fires"),
    [
        (300 << 20, 300 << 20, True),
        (9 << 20, 1 << 20, False),
        ((9 << 20) - 1, (1 << 20) + 1, True),
        # more than a mebibyte, but a tenth exactly
        (90 << 20, 10 << 20, False),
        ((90 << 20) - 1, (10 << 20) + 1, True),
    ],
)
def test_second_copies_without_a_lender_are_a_notice_from_a_tenth_of_what_is_stored(
    stored_bytes: int, second_bytes: int, fires: bool
) -> None:
    assert duplicates(0).exclusive is not None
    sizes = msgspec.structs.replace(
        duplicates(0).exclusive,
        exclusive_bytes=stored_bytes,
        duplicate_count=0,
        redundant_bytes=second_bytes,
        redundant_count=7,
    )
    judged = subject(sizes=Sizes(exclusive=sizes))
    assert found(judged) == ({"duplicate-objects": "notice"} if fires else {})
    if fires:
        finding = finding_of("duplicate-objects", judged)
        assert finding.task == "full-repack"
        assert "second copies of 7 objects" in finding.summary


def test_limit_on_duplicates_comes_from_the_policy() -> None:
    judged = subject(roles=MEMBER, alternates=alternates(), sizes=duplicates(451_288))
    finding = finding_of("duplicate-objects", judged, Policy(duplicate_notice_bytes=0))
    assert finding.summary == "441 KiB in 504 objects are stored here although a lender has them"


def test_hidden_references_matter_to_members_alone() -> None:
    config = config_facts(concerns=(concern("core.alternaterefscommand", ConfigEffect.HIDES_ALTERNATE_REFS),))
    assert found(subject(roles=MEMBER, alternates=alternates(), config=config)) == {
        "alternate-references-hidden": "notice"
    }
    assert found(subject(config=config)) == {}


def test_lender_outside_the_roots_is_a_notice() -> None:
    judged = subject(roles=MEMBER, alternates=alternates(), lenders_outside=(b"/mnt/pool/objects",))
    assert found(judged) == {"lender-outside-roots": "notice"}
    assert "/mnt/pool/objects" in finding_of("lender-outside-roots", judged).summary


def test_store_that_two_repositories_share_unknown_to_git_is_a_notice() -> None:
    assert found(subject(counts_store=False)) == {"shared-object-store": "notice"}
    linked = Repository(
        path=b"/w", git_dir=b"/r/worktrees/w", common_dir=b"/r", kind=RepositoryKind.LINKED_WORKTREE, root=b"/"
    )
    assert found(subject(linked, counts_store=False)) == {}


DROPS = (concern("gc.pruneexpire", ConfigEffect.DROPS_OBJECTS),)


@pytest.mark.parametrize("gc_auto", [0, None, 100])
@pytest.mark.parametrize("lending", [{"borrowers": (b"/srv/b",)}, {"roles": (Role.POOL,)}])
def test_lender_whose_config_drops_objects_has_one_finding(lending: dict[str, Any], gc_auto: int | None) -> None:
    judged = subject(**lending, config=config_facts(concerns=DROPS, gc_auto=gc_auto, gc_prune_expire="now"))
    assert found(judged) == {"pool-drops-objects": "critical"}
    summary = finding_of("pool-drops-objects", judged).summary
    assert summary.endswith("drops objects: gc.pruneexpire=now" + ("" if gc_auto == 0 else "; automatic gc is on"))


def test_automatic_gc_names_the_expiry_that_is_set() -> None:
    judged = subject(borrowers=(b"/srv/b",), config=config_facts(gc_prune_expire="2.weeks.ago"))
    assert finding_of("pool-automatic-gc", judged).summary.endswith("objects by gc.pruneExpire 2.weeks.ago")
    unset = subject(borrowers=(b"/srv/b",))
    assert finding_of("pool-automatic-gc", unset).summary.endswith("objects after two weeks")


MIRRORS = (concern("remote.origin.fetch", ConfigEffect.DROPS_OBJECTS, "+refs/*:refs/*"),)


def test_mirror_that_lends_is_a_warning_until_it_keeps_everything() -> None:
    lending = {"borrowers": (b"/srv/b",)}
    judged = subject(**lending, config=config_facts(concerns=MIRRORS, gc_auto=0))
    assert found(judged) == {"pool-drops-objects": "warning"}
    assert "remote.origin.fetch=+refs/*:refs/*" in finding_of("pool-drops-objects", judged).summary
    assert found(subject(**lending, config=config_facts(concerns=MIRRORS, gc_prune_expire="never"))) == {}


def test_mirror_is_not_told_that_it_mirrors() -> None:
    remote = Remote(name="origin", url="https://example.com/a", mirror=True)
    assert found(subject(config=config_facts(concerns=MIRRORS, remotes=(remote,)))) == {}
    assert found(subject(config=config_facts(concerns=MIRRORS))) == {"config-drops-objects": "notice"}
    both = config_facts(concerns=MIRRORS + DROPS, remotes=(remote,))
    assert finding_of("config-drops-objects", subject(config=both)).evidence["keys"] == "gc.pruneexpire"


def test_config_that_drops_objects_is_a_notice_where_nobody_borrows() -> None:
    assert found(subject(config=config_facts(concerns=DROPS))) == {"config-drops-objects": "notice"}


@pytest.mark.parametrize(
    ("config", "fires"),
    [
        ({}, True),
        ({"gc_auto": 6700}, True),
        ({"gc_auto": 0}, False),
        ({"maintenance_auto": False}, False),
        ({"maintenance_auto": True}, True),
        ({"gc_prune_expire": "never"}, False),
        ({"gc_prune_expire": "2.weeks.ago"}, True),
        ({"precious_objects": True}, False),
    ],
)
def test_lender_with_automatic_gc_is_a_warning(config: dict[str, Any], fires: bool) -> None:
    rules = found(subject(borrowers=(b"/srv/b", b"/srv/c"), config=config_facts(**config)))
    assert ("pool-automatic-gc" in rules) is fires
    assert "pool-automatic-gc" not in found(subject(config=config_facts(**config)))


def test_lender_says_how_many_borrow() -> None:
    finding = finding_of("pool-automatic-gc", subject(borrowers=(b"/srv/b", b"/srv/c")))
    assert finding.severity == "warning"
    assert finding.summary.startswith("lends to 2 repositories")
    assert "gc.pruneExpire never" in finding.remedy


def test_pool_of_a_forge_with_automatic_gc_is_a_notice() -> None:
    pool = msgspec.structs.replace(REPOSITORY, layout=StorageLayout.GITLAB_POOL)
    assert found(subject(pool, roles=(Role.POOL,))) == {"pool-automatic-gc": "notice"}


def test_lender_whose_config_is_unreadable_is_not_judged_by_it() -> None:
    assert found(subject(borrowers=(b"/srv/b",), config=Unreadable("line 3"))) == {"unreadable-parts": "warning"}
