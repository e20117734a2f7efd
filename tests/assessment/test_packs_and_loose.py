"""Packs, multi-pack-index and loose objects."""

import msgspec
import pytest

from gitdash.model.policy import Policy
from gitdash.model.repository import Role, Unreadable
from tests.assessment.subjects import (
    DAY_S,
    MIB,
    NOW_S,
    WORKING_CLONE,
    config_facts,
    finding_of,
    found,
    loose_facts,
    multi_pack_index,
    pack,
    pack_facts,
    subject,
)


@pytest.mark.parametrize(
    ("pack_count", "tracked_count", "pack_mib", "fires"),
    [
        (10, 8, 10, False),
        (10, 7, 10, False),
        (10, 6, 10, True),
        (10, 5, 10, True),
        (20, 9, 1000, False),
        (20, 8, 1000, True),
        (2, 0, 1, False),
        (3, 0, 1, True),
    ],
)
def test_packs_outside_midx_over_the_limit_are_found(
    pack_count: int, tracked_count: int, pack_mib: int, fires: bool
) -> None:
    packs = pack_facts(count=pack_count, bytes=pack_mib * MIB, outside_midx_count=pack_count - tracked_count)
    rules = found(subject(packs=packs, multi_pack_index=multi_pack_index(pack_count=tracked_count)))
    assert ("packs-outside-midx" in rules) is fires


def test_packs_outside_midx_says_its_numbers() -> None:
    finding = finding_of(
        "packs-outside-midx", subject(packs=pack_facts(count=37, bytes=1 << 30, outside_midx_count=37))
    )
    assert finding.severity == "warning"
    assert finding.summary == "37 packs and no multi-pack-index, 11 allowed at 1.00 GiB"
    assert finding.remedy == "`git --git-dir=/srv/git/a.git repack --geometric=2 -d -l --write-midx`"
    assert finding.task == "geometric-repack"
    assert finding.evidence == {"outside_midx_count": 37, "allowed_count": 11, "pack_bytes": 1 << 30}


def test_packs_are_outside_a_multi_pack_index_only_where_there_is_one() -> None:
    packs = pack_facts(count=40, bytes=1 << 30, outside_midx_count=37)
    finding = finding_of("packs-outside-midx", subject(packs=packs, multi_pack_index=multi_pack_index(pack_count=3)))
    assert finding.summary == "37 packs outside the multi-pack-index, 11 allowed at 1.00 GiB"


def test_packs_outside_midx_is_a_notice_in_a_working_clone() -> None:
    rules = found(subject(WORKING_CLONE, packs=pack_facts(count=4, outside_midx_count=4)))
    assert rules == {"packs-outside-midx": "notice"}


def test_disabled_midx_covers_no_pack() -> None:
    judged = subject(
        packs=pack_facts(count=9, outside_midx_count=0),
        multi_pack_index=multi_pack_index(),
        config=config_facts(multi_pack_index_disabled=True),
    )
    assert finding_of("packs-outside-midx", judged).evidence["outside_midx_count"] == 9


def test_unreadable_midx_does_not_put_packs_outside() -> None:
    judged = subject(packs=pack_facts(count=9, outside_midx_count=9), multi_pack_index=Unreadable("version 9"))
    assert found(judged) == {"unreadable-parts": "warning"}


def test_remedy_for_a_member_removes_nothing() -> None:
    judged = subject(roles=(Role.MEMBER,), packs=pack_facts(count=9, outside_midx_count=9))
    remedy = finding_of("packs-outside-midx", judged).remedy
    assert "multi-pack-index write" in remedy
    assert "repack" not in remedy


@pytest.mark.parametrize(
    "partial", [{"config": config_facts(partial_clone=True)}, {"packs": pack_facts(count=60, promisor_count=1)}]
)
@pytest.mark.parametrize(("rule", "outside_count"), [("packs-outside-midx", 60), ("many-packs", 0)])
def test_remedy_for_a_partial_clone_joins_no_promisor_packs(partial: dict, rule: str, outside_count: int) -> None:
    packs = partial.get("packs", pack_facts(count=60))
    packs = msgspec.structs.replace(packs, outside_midx_count=outside_count)
    remedy = finding_of(rule, subject(**{**partial, "packs": packs})).remedy
    assert remedy == "`git --git-dir=/srv/git/a.git multi-pack-index write`"


@pytest.mark.parametrize(
    ("pack_count", "kept_count", "outside_count", "severity"),
    [(50, 0, 2, None), (51, 0, 2, "notice"), (51, 1, 2, None), (52, 1, 2, "notice")],
)
def test_many_packs_are_those_without_keep(
    pack_count: int, kept_count: int, outside_count: int, severity: str | None
) -> None:
    packs = pack_facts(count=pack_count, kept_count=kept_count, outside_midx_count=outside_count)
    assert found(subject(packs=packs)).get("many-packs") == severity


def test_many_packs_outside_midx_are_one_finding() -> None:
    packs = pack_facts(count=60, outside_midx_count=60)
    assert found(subject(packs=packs)) == {"packs-outside-midx": "warning"}
    assert found(subject(WORKING_CLONE, packs=packs)) == {"packs-outside-midx": "warning"}
    assert found(subject(WORKING_CLONE, packs=pack_facts(count=50, outside_midx_count=50))) == {
        "packs-outside-midx": "notice"
    }
    generous = Policy(packs_outside_midx_minimum=100)
    assert found(subject(packs=packs), generous) == {"many-packs": "warning"}


def test_midx_that_names_absent_packs_is_critical() -> None:
    judged = subject(multi_pack_index=multi_pack_index(missing_pack_count=7))
    finding = finding_of("midx-names-absent-packs", judged)
    assert finding.severity == "critical"
    assert finding.summary == "the multi-pack-index names 7 packs that are not there, of 8"
    assert "midx-names-absent-packs" not in found(subject(multi_pack_index=multi_pack_index()))


@pytest.mark.parametrize(("age_s", "fires"), [(899, False), (900, True)])
def test_pack_without_index_is_critical_once_nobody_writes_it(age_s: int, fires: bool) -> None:
    packs = pack_facts(
        packs=(pack("pack-x", mtime_s=NOW_S - age_s, object_count=None, has_index=False),),
        missing_index_names=("pack-x.pack",),
    )
    assert found(subject(packs=packs)) == ({"pack-without-index": "critical"} if fires else {})


def test_orphan_index_is_a_notice() -> None:
    finding = finding_of("orphan-index", subject(packs=pack_facts(orphan_index_names=("a", "b", "c", "d", "e"))))
    assert finding.severity == "notice"
    assert finding.summary == "5 index files without a pack: a, b, c and 2 more"


@pytest.mark.parametrize(("loose_count", "severity"), [(1023, None), (1024, None), (1025, "warning")])
def test_loose_objects_over_the_limit_are_found(loose_count: int, severity: str | None) -> None:
    judged = subject(loose=loose_facts(count=loose_count, bytes=loose_count * 200))
    assert found(judged).get("loose-objects") == severity


def test_loose_objects_say_exact_numbers_near_the_limit() -> None:
    finding = finding_of("loose-objects", subject(loose=loose_facts(count=1025, bytes=2048, shard_17_count=4)))
    assert finding.summary == "1,025 loose objects of 2.00 KiB, more than 1,024"
    assert finding.evidence["estimated_count"] == 1024


@pytest.mark.parametrize(("shard_17_count", "severity"), [(27, "notice"), (28, "warning")])
def test_loose_objects_of_a_working_clone_warn_where_git_would_have_packed(shard_17_count: int, severity: str) -> None:
    judged = subject(WORKING_CLONE, loose=loose_facts(count=7000, shard_17_count=shard_17_count))
    assert found(judged) == {"loose-objects": severity}


def test_limit_on_loose_objects_comes_from_the_policy() -> None:
    judged = subject(loose=loose_facts(count=11))
    assert found(judged, Policy(loose_limit=10)) == {"loose-objects": "warning"}
    assert found(judged, Policy(loose_limit=11)) == {}


@pytest.mark.parametrize(("stale_count", "fires"), [(1000, False), (1024, False), (1025, True)])
def test_stale_loose_objects_over_the_limit_are_found(stale_count: int, fires: bool) -> None:
    judged = subject(loose=loose_facts(count=stale_count, stale_count=stale_count))
    assert ("stale-loose-objects" in found(judged)) is fires


def test_stale_loose_objects_name_the_grace_and_drop_nothing() -> None:
    finding = finding_of("stale-loose-objects", subject(loose=loose_facts(count=2000, stale_count=2000)))
    assert "older than 10 days" in finding.summary
    assert "--cruft-expiration=never" in finding.remedy
    half_a_day = Policy(loose_stale_age_s=DAY_S / 2)
    judged = subject(loose=loose_facts(count=2000, stale_count=2000))
    assert "older than 12 h 00 m" in finding_of("stale-loose-objects", judged, half_a_day).summary


def test_remedy_for_loose_objects_of_a_member_warns_of_the_lender() -> None:
    judged = subject(roles=(Role.MEMBER,), loose=loose_facts(count=2000))
    assert "first see that the lender keeps" in finding_of("loose-objects", judged).remedy
