"""The comparison that a finding prints: by hand for each rule, and true as it is printed."""

import math
import re
from typing import Any

import msgspec
import pytest

from gitdash.assessment.figures import compared_ages, figure
from gitdash.assessment.rules import RULES
from gitdash.assessment.subject import LenderFacts
from gitdash.model.config_facts import ConfigEffect
from gitdash.model.inspection import KeepFile, TemporaryFile
from gitdash.model.policy import Policy
from gitdash.model.repository import Role
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from tests.assessment.subjects import (
    DAY_S,
    MIB,
    NOW_S,
    WORKING_CLONE,
    alternates,
    bitmap,
    commit_graph,
    concern,
    config_facts,
    finding_of,
    judge,
    lender,
    lock,
    loose_facts,
    multi_pack_index,
    pack,
    pack_facts,
    packs_of,
    reference_facts,
    subject,
)

MEMBER = (Role.MEMBER,)


def temporary(age_s: float, size_bytes: int = 5, *, is_directory: bool = False) -> TemporaryFile:
    return TemporaryFile(path="objects/x", bytes=size_bytes, mtime_s=NOW_S - age_s, is_directory=is_directory)


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


def second_copies(size_bytes: int) -> Sizes:
    found = duplicates(0).exclusive
    return Sizes(exclusive=msgspec.structs.replace(found, redundant_bytes=size_bytes, redundant_count=1))


def reachable(size_bytes: int) -> Sizes:
    return Sizes(
        reachable=SizeMeasurement(
            question=Question.REACHABLE,
            bytes=size_bytes,
            strategy=Strategy.WALK,
            exact=True,
            elapsed_s=0.1,
            measured_at_s=NOW_S,
            argv=(),
            git_version="2",
        )
    )


def no_index(age_s: float) -> Any:
    return pack(has_index=False, object_count=None, mtime_s=NOW_S - age_s)


LARGE = packs_of(100_000)
GRAPHLESS = {"packs": LARGE, "bitmaps": (bitmap(),)}
KEPT = pack_facts(count=60, kept_count=2, outside_midx_count=0)

TABLE = [
    (
        "packs-outside-midx",
        {"packs": pack_facts(count=37, outside_midx_count=37, bytes=1200 * MIB + 5)},
        "37 > floor(max(2, ln(1,200) / ln(1.8))) = 12",
    ),
    ("packs-outside-midx", {"packs": pack_facts(count=3, outside_midx_count=3, bytes=MIB - 1)}, "3 > 2, the minimum"),
    ("many-packs", {"packs": KEPT, "multi_pack_index": multi_pack_index()}, "60 - 2 kept = 58 > 50 packs"),
    (
        "pack-without-index",
        {"packs": pack_facts(packs=(no_index(9000), no_index(1000.7)), missing_index_names=("a", "b"))},
        "youngest 1,000 s >= 900 s",
    ),
    ("loose-objects", {"loose": loose_facts(count=1500, shard_17_count=6)}, "1,500 > 1,024 objects"),
    (
        "loose-objects",
        {"loose": loose_facts(count=7500, shard_17_count=29)},
        "7,500 > 1,024 objects; git's estimate 29 x 256 = 7,424 > 6,912",
    ),
    (
        "loose-objects",
        {"loose": loose_facts(count=1500, shard_17_count=2), "config": config_facts(gc_auto=100)},
        "1,500 > 1,024 objects; git's estimate 2 x 256 = 512 > 256",
    ),
    (
        "stale-loose-objects",
        {"loose": loose_facts(count=1100, stale_count=1100)},
        "1,100 > 1,024 objects older than 864,000 s",
    ),
    (
        "loose-references",
        {"references": reference_facts(loose_count=70, packed_bytes=MIB)},
        "70 >= floor(max(16, ln(1,048,576 / 100) / ln(1.15))) = 66",
    ),
    ("loose-references", {"references": reference_facts(loose_count=16, packed_bytes=0)}, "16 >= 16, the minimum"),
    (
        "loose-references",
        {"references": reference_facts(loose_count=2000, packed_bytes=0)},
        "2,000 >= 16, the minimum; and >= 1,000",
    ),
    (
        "reftable-stack",
        {"references": reference_facts(loose_count=0, packed_count=None, reftable_bytes=(900, 238, 165, 1))},
        "238 - 91 < 2 x (165 - 91) = 148",
    ),
    (
        "empty-references",
        {
            "references": reference_facts(
                empty_loose_names=("refs/heads/x",), empty_loose_count=1, empty_loose_oldest_mtime_s=NOW_S - 90_000.9
            )
        },
        "oldest 90,000 s >= 86,400 s",
    ),
    ("stale-lock", {"locks": (lock("packed-refs.lock", 7200),)}, "age 7,200 s >= 3,600 s"),
    ("stale-lock", {"locks": (lock("config.lock", 7200.9),)}, "age 7,200 s >= 900 s"),
    ("maintenance-lock", {"locks": (lock("objects/maintenance.lock", 4000),)}, "age 4,000 s >= 3,600 s"),
    ("gc-pid", {"locks": (lock("gc.pid", 50_000),)}, "age 50,000 s >= 43,200 s"),
    ("gc-log", {"gc_log": "error", "gc_log_mtime_s": NOW_S - 3600}, "age 3,600 s < 86,400 s"),
    ("gc-log", {"gc_log": "error", "gc_log_mtime_s": NOW_S - 100_000}, "age 100,000 s >= 86,400 s"),
    (
        "stale-keep",
        {"packs": pack_facts(keep_files=(KeepFile(name="a.keep", mtime_s=NOW_S - 700_000, by_transfer=True),))},
        "oldest 700,000 s >= 604,800 s",
    ),
    (
        "temporary-files",
        {"packs": pack_facts(temporary_files=(temporary(86_400.5),))},
        "oldest 86,401 s > 86,400 s",
    ),
    (
        "temporary-files",
        {"loose": loose_facts(temporary_files=(temporary(300_000, 200 * MIB, is_directory=True), temporary(90_000)))},
        "oldest 300,000 s > 259,200 s; 209,715,205 >= 104,857,600 bytes",
    ),
    ("no-bitmap", {"packs": packs_of(12_000)}, "12,000 >= 5,000 objects"),
    ("no-bitmap", {"packs": packs_of(120_000)}, "120,000 >= 100,000 objects"),
    (
        "several-bitmaps",
        {
            "roles": MEMBER,
            "alternates": alternates(),
            "bitmaps": (bitmap(),),
            "lenders": (LenderFacts(path=b"/p", bitmap_count=1),),
        },
        "1 here + 1 in lenders = 2 > 1 bitmap",
    ),
    ("no-commit-graph", GRAPHLESS, "100,000 >= 5,000 objects"),
    ("no-commit-graph", GRAPHLESS | {"repository": WORKING_CLONE}, "100,000 >= 100,000 objects"),
    ("commit-graph-monolithic", GRAPHLESS | {"commit_graph": commit_graph(chain_length=0)}, "100,000 >= 5,000 objects"),
    (
        "commit-graph-without-bloom",
        GRAPHLESS | {"commit_graph": commit_graph(bloom_filters=False)},
        "100,000 >= 5,000 objects",
    ),
    (
        "commit-graph-without-generation-data",
        GRAPHLESS | {"commit_graph": commit_graph(generation_data=False)},
        "100,000 >= 5,000 objects",
    ),
    (
        "duplicate-objects",
        {"roles": MEMBER, "alternates": alternates(), "sizes": duplicates(2 * MIB)},
        "2,097,152 > 1,048,576 bytes",
    ),
    (
        "duplicate-objects",
        {"sizes": second_copies(2 * MIB)},
        "2,097,152 > 1,048,576 bytes; 2,097,152 x 10 > 2,097,157",
    ),
    (
        "alternates-newer-than-repack",
        {"roles": MEMBER, "alternates": alternates(mtime_s=NOW_S - DAY_S), "last_full_repack_s": NOW_S - 3 * DAY_S},
        "joined 172,800 s after the last full repack > 0 s",
    ),
    (
        "nested-alternates",
        {"roles": MEMBER, "alternates": alternates(lender(), lender(b"/d/objects", depth=2))},
        "depth 2 > 1",
    ),
    (
        "several-alternates",
        {"roles": MEMBER, "alternates": alternates(lender(), lender(b"/d/objects"))},
        "2 > 1 lender",
    ),
    (
        "shallow-hides-objects",
        {"shallow": True, "packs": pack_facts(bytes=3000), "sizes": reachable(1000)},
        "1,000 < 2/3 x 3,000 = 2,000 bytes",
    ),
]


@pytest.mark.parametrize(("rule", "facts", "formula"), TABLE, ids=lambda value: value if isinstance(value, str) else "")
def test_formula_has_the_numbers_filled_in(rule: str, facts: dict[str, Any], formula: str) -> None:
    assert finding_of(rule, subject(**facts)).formula == formula


@pytest.mark.parametrize("formula", [formula for _, _, formula in TABLE])
def test_formula_is_true_as_it_is_printed(formula: str) -> None:
    first = formula.partition(" ")[0]
    for part in formula.replace("; and", f"; {first}").split("; "):
        arithmetic = re.sub(r"(?<=\d),(?=\d)", "", part).replace(" x ", " * ").replace(" = ", " == ")
        arithmetic = re.sub(r"(?!\b(?:ln|floor|max)\()\b[a-z][a-z']*\b", "", arithmetic).rstrip(" ,")
        arithmetic = re.sub(r" +\d+ *$", "", arithmetic) if "older than" in part else arithmetic
        assert eval(arithmetic, {"ln": math.log, "floor": math.floor, "max": max}) is True, arithmetic


def test_every_threshold_of_the_policy_is_named_by_a_rule_and_no_rule_names_another() -> None:
    named = {key for rule in RULES for key in rule.policy_keys}
    assert named == {field.name for field in msgspec.structs.fields(Policy)}


def test_rule_with_a_threshold_prints_its_comparison() -> None:
    assert {rule.id for rule in RULES if rule.policy_keys} <= {rule for rule, _, _ in TABLE}


def test_rule_that_compares_nothing_prints_nothing() -> None:
    facts = {
        "shallow": True,
        "config": config_facts(concerns=(concern("core.hookspath", ConfigEffect.RUNS_PROGRAM),)),
        "multi_pack_index": multi_pack_index(missing_pack_count=1),
    }
    formulas = {finding.rule: finding.formula for finding in judge(subject(**facts))}
    assert formulas == {"midx-names-absent-packs": None, "config-runs-program": None, "shallow": None}


def test_thresholds_are_those_of_the_policy() -> None:
    policy = Policy(packs_outside_midx_minimum=4, packs_outside_midx_log_base=1.25, lock_age_s=0.5)
    packs = pack_facts(count=37, outside_midx_count=37, bytes=100 * MIB)
    judged = subject(packs=packs, locks=(lock("config.lock", 0.75),))
    found = {finding.rule: finding.formula for finding in judge(judged, policy)}
    assert found == {
        "packs-outside-midx": "37 > floor(max(4, ln(100) / ln(1.25))) = 20",
        "stale-lock": "age 0.75 s >= 0.5 s",
    }
    flat = finding_of("packs-outside-midx", judged, msgspec.structs.replace(policy, packs_outside_midx_log_base=1.0))
    assert flat.formula == "37 > 4, the minimum"


@pytest.mark.safety
def test_formula_is_short_whatever_a_repository_holds() -> None:
    huge = 2**63 - 1
    cases = [
        {"packs": pack_facts(count=10_000_000, outside_midx_count=10_000_000, bytes=huge)},
        {"references": reference_facts(loose_count=10_000_000, packed_bytes=huge)},
        {"references": reference_facts(loose_count=0, packed_count=None, reftable_bytes=(huge - 1, huge))},
        {"roles": MEMBER, "alternates": alternates(mtime_s=float(huge)), "sizes": duplicates(huge)},
        {"roles": MEMBER, "alternates": alternates(mtime_s=float(huge)), "last_full_repack_s": -float(huge)},
        {"shallow": True, "packs": pack_facts(bytes=huge), "sizes": reachable(5 * 10**18)},
        {"packs": pack_facts(temporary_files=(temporary(9e18, huge),))},
        {"locks": (lock("config.lock", 9e18),), "gc_log": "x", "gc_log_mtime_s": -9e18},
    ]
    for facts in cases:
        formulas = [finding.formula for finding in judge(subject(**facts)) if finding.formula is not None]
        assert formulas, facts
        assert all(len(formula) <= 100 and formula.isprintable() for formula in formulas), formulas


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1024, "1,024"),
        (3600.0, "3,600"),
        (1.8, "1.8"),
        (1999.3333, "1,999.333"),
        (0.0001, "0"),
        (1e300, "1e+300"),
        (math.inf, "inf"),
    ],
)
def test_figures_are_in_full(value: float, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("age_s", "sign", "limit_s", "text"),
    [
        (900.0, ">=", 900.0, "age 900 s >= 900 s"),
        (900.9, ">=", 900.0, "age 900 s >= 900 s"),
        (899.9, "<", 900.0, "age 899 s < 900 s"),
        (900.1, ">", 900.0, "age 901 s > 900 s"),
        (0.5, ">", 0.25, "age 0.5 s > 0.25 s"),
        (10.0, "<", math.inf, "age 10 s < inf s"),
    ],
)
def test_age_is_cut_so_that_the_comparison_stays_true(age_s: float, sign: Any, limit_s: float, text: str) -> None:
    assert compared_ages(age_s, sign, limit_s) == text
