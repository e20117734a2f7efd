"""The whole: which rules there are, order, states, and what a healthy repository looks like."""

import itertools
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.assessment.rules import JUDGES, RULES, assess, state_of
from gitdash.assessment.subject import Subject
from gitdash.model.config_facts import ConfigEffect
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import KeepFile, TemporaryFile
from gitdash.model.policy import Policy
from gitdash.model.report import State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Sizes
from tests.assessment.subjects import (
    DAY_S,
    NOW_S,
    REPOSITORY,
    WORKING_CLONE,
    alternates,
    bitmap,
    commit_graph,
    concern,
    config_facts,
    found,
    inspection,
    judge,
    lender,
    lock,
    loose_facts,
    multi_pack_index,
    pack,
    pack_facts,
    reference_facts,
    subject,
)

PARTS = (
    "packs", "loose", "multi_pack_index", "commit_graph", "references", "alternates", "config", "disk", "head",
    "object_store",
)  # fmt: skip


def test_rule_ids_are_unique_kebab_case_words() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in ids)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_says_everything_about_itself(rule) -> None:
    assert rule.severities
    assert [*rule.severities] == sorted(rule.severities, key=lambda severity: severity.rank)
    assert all(text.strip() for text in (rule.title, rule.meaning, rule.source, rule.remedy))


def test_no_remedy_drops_an_unreachable_object() -> None:
    remedies = " ".join(rule.remedy for rule in RULES)
    assert not re.search(r"\bprune\b|gc --|gc`|--cruft-expiration=(?!never)|prune-packed|unpack-unreachable", remedies)
    for command in re.findall(r"repack [^`]*", remedies):
        assert "-k" in command or not re.search(r"(^| )-(a|ad)( |$)", command)


@pytest.mark.parametrize("repository", [REPOSITORY, WORKING_CLONE], ids=["bare", "working clone"])
def test_healthy_small_repository_is_ok(repository: Repository) -> None:
    judged = subject(repository)
    assert judge(judged) == ()
    assert state_of((), repository, judged.inspection) is State.OK


def test_empty_repository_is_ok() -> None:
    empty = subject(
        packs=pack_facts(packs=(), count=0, bytes=0, outside_midx_count=0),
        references=reference_facts(loose_count=0, packed_count=0, packed_bytes=0),
        last_full_repack_s=None,
    )
    assert judge(empty) == ()


def test_fresh_working_clone_of_a_large_project_is_ok() -> None:
    packs = pack_facts(packs=(pack(object_count=90_000, bytes=80 << 20),), bytes=80 << 20)
    assert judge(subject(WORKING_CLONE, packs=packs)) == ()


def test_scalar_enlistment_is_not_scolded_for_its_design() -> None:
    scalar = config_facts(gc_auto=0, bitmaps_disabled=True, scalar_enlistment=True)
    packs = pack_facts(
        packs=tuple(pack(f"prefetch-{number}-x", object_count=9_000) for number in range(10)),
        count=10,
        bytes=1 << 30,
        outside_midx_count=1,
    )
    loose = loose_facts(count=900, shard_17_count=40)
    assert judge(subject(WORKING_CLONE, packs=packs, loose=loose, config=scalar)) == ()


def wreck(**changes: object) -> Subject:
    """A repository in which nearly everything is wrong."""
    old = NOW_S - 30 * DAY_S
    effects = tuple(concern(f"a.{effect.value}", effect) for effect in ConfigEffect)
    left = TemporaryFile(path="objects/pack/tmp_pack_1", bytes=5, mtime_s=old)
    facts = {
        "roles": (Role.MEMBER, Role.POOL),
        "borrowers": (b"/b",),
        "packs": pack_facts(
            count=60,
            packs=(pack(mtime_s=old, has_index=False),),
            outside_midx_count=60,
            orphan_index_names=("o",),
            missing_index_names=("pack-1.pack",),
            keep_files=(KeepFile(name="k", mtime_s=old, by_transfer=True),),
            temporary_files=(left,),
        ),
        "loose": loose_facts(count=9000, stale_count=9000, shard_17_count=30),
        "multi_pack_index": multi_pack_index(missing_pack_count=1),
        "references": reference_facts(
            loose_count=5000, empty_loose_names=("refs/heads/x",), empty_loose_count=1, empty_loose_oldest_mtime_s=old
        ),
        "alternates": alternates(lender(exists=False), lender(b"/o/objects"), mtime_s=NOW_S),
        "config": config_facts(concerns=effects, unknown_extensions=("x",), precious_objects=False),
        "locks": (lock("index.lock", DAY_S), lock("objects/maintenance.lock", DAY_S), lock("gc.pid", DAY_S)),
        "gc_log": "error",
        "gc_log_mtime_s": old,
        "shallow": True,
    }
    return subject(**(facts | changes))


def test_findings_come_worst_first() -> None:
    ranks = [finding.severity.rank for finding in judge(wreck())]
    assert len(ranks) > 20
    assert ranks == sorted(ranks, reverse=True)
    assert judge(wreck())[0].rule == "missing-lender"


def all_judged(**changes) -> list[Finding]:
    """What all rules find in the wreck, where graphs, bitmaps and copies are judged as well."""
    sizes = Sizes(
        exclusive=ExclusiveSizes(
            exclusive_bytes=1,
            exclusive_count=1,
            duplicate_bytes=1 << 30,
            duplicate_count=1,
            elapsed_s=0.1,
            measured_at_s=NOW_S,
        )
    )
    graph = commit_graph(chain_length=0, bloom_filters=False, generation_data=False)
    shared = {"shallow": False, "sizes": sizes, "last_full_repack_s": NOW_S - DAY_S, "bitmaps": (bitmap(), bitmap())}
    large = {"packs": pack_facts(count=60, packs=(pack(object_count=10**6),), outside_midx_count=60)}
    kinds = (
        {"packs": wreck().inspection.packs},
        {"commit_graph": None},
        {"commit_graph": graph},
        {"commit_graph": msgspec.structs.replace(graph, missing_layer_count=1)},
    )
    return [finding for kind in kinds for finding in judge(wreck(**(shared | large | kind | changes)))]


def repacking(findings: list[Finding]) -> set[str]:
    pattern = r"\brepack -|commit-graph write|pack-objects"
    return {finding.rule for finding in findings if re.search(pattern, finding.remedy)}


@pytest.mark.parametrize(
    "broken",
    [
        alternates(lender(exists=False), mtime_s=NOW_S),
        alternates(lender(), lender(b"/o/objects", depth=2, problem="not a folder"), mtime_s=NOW_S),
        Unreadable("permission denied"),
    ],
    ids=["missing", "no folder", "unreadable file"],
)
def test_nobody_is_told_to_repack_while_a_lender_is_missing(broken) -> None:
    roles = (Role.MEMBER,)
    whole = alternates(lender(), lender(b"/o/objects", depth=2), mtime_s=NOW_S)
    assert repacking(all_judged(roles=roles, alternates=whole)) >= {
        "alternates-newer-than-repack",
        "duplicate-objects",
        "loose-objects",
        "nested-alternates",
        "stale-loose-objects",
        "several-bitmaps",
        "no-commit-graph",
        "commit-graph-monolithic",
        "commit-graph-without-bloom",
        "commit-graph-without-generation-data",
        "commit-graph-missing-layers",
    }
    assert repacking(all_judged(roles=roles, alternates=broken)) == set()


FOREIGN = msgspec.structs.replace(REPOSITORY, foreign_owner_uid=5)
FOR_ANYONE = {rule.id for rule in RULES if rule.for_anyone}


@pytest.mark.parametrize("kind", [*RepositoryKind])
def test_remedies_in_a_repository_of_another_user_are_for_its_owner(kind: RepositoryKind) -> None:
    repository = msgspec.structs.replace(FOREIGN, kind=kind)
    findings = all_judged(repository=repository, alternates=alternates(mtime_s=NOW_S))
    assert len({finding.rule for finding in findings}) > 30
    assert [finding.remedy for finding in findings if "--git-dir" in finding.remedy] == []
    for finding in findings:
        if "`" in finding.remedy:
            assert finding.remedy.startswith("as its owner: ") is (finding.rule not in FOR_ANYONE), finding
    trusted = msgspec.structs.replace(repository, trusted_by_config=True)
    assert not any("owner: " in finding.remedy for finding in all_judged(repository=trusted))


def test_only_remedies_that_run_nothing_in_a_repository_are_for_anyone() -> None:
    assert {"foreign-owner", "measurement-notes"} == FOR_ANYONE


def test_finding_has_a_severity_that_its_rule_declares() -> None:
    declared = {rule.id: rule.severities for rule in RULES}
    for finding in judge(wreck()):
        assert finding.severity in declared[finding.rule]


def test_sentences_are_printable_and_without_placeholder() -> None:
    hostile = wreck(gc_log="\x1b[31mred\u202e", locks=(lock("refs/\x07.lock", DAY_S),))
    for finding in judge(hostile):
        assert finding.summary.isprintable()
        assert finding.remedy.isprintable()
        assert "{git}" not in finding.remedy


def test_sentence_does_not_begin_with_the_name_of_its_rule() -> None:
    for judged in (wreck(), wreck(roles=(Role.PLAIN,), borrowers=(), shallow_count=1)):
        for finding in judge(judged):
            assert not finding.summary.startswith(finding.rule.replace("-", " ") + ":"), finding


def test_evidence_carries_its_unit_in_the_key() -> None:
    units = ("_count", "_bytes", "_s", "_uid", "path", "keys", "extensions", "reason")
    for finding in judge(wreck()):
        assert all(key.endswith(units) for key in finding.evidence), finding


@pytest.mark.parametrize("parts", [(part,) for part in PARTS] + [PARTS] + [*itertools.combinations(PARTS, 2)])
def test_unreadable_part_neither_crashes_nor_claims_absence(parts: tuple[str, ...]) -> None:
    healthy = subject(**dict.fromkeys(parts, Unreadable("permission denied")))
    expected = {"unreadable-parts"} if set(parts) != {"object_store"} else set()
    assert set(found(healthy)) == expected
    wrecked = found(wreck(**dict.fromkeys(parts, Unreadable("permission denied"))))
    # many packs are many whether or not an index covers them, and then have no other finding that says so
    assert not set(wrecked) - set(found(wreck())) - {"unreadable-parts", "many-packs"}


def test_repository_that_could_not_be_read_has_one_critical_finding() -> None:
    judged = subject(inspection=Unreadable("permission denied"))
    assert found(judged) == {"repository-unreadable": "critical"}
    assert state_of(judge(judged), REPOSITORY, judged.inspection) is State.UNREADABLE


def test_facts_of_the_store_are_judged_once_for_all_linked_worktrees() -> None:
    linked = msgspec.structs.replace(REPOSITORY, kind=RepositoryKind.LINKED_WORKTREE)
    packs = pack_facts(count=9, outside_midx_count=9)
    assert found(subject(linked, packs=packs)) == {"packs-outside-midx": "notice"}
    assert found(subject(linked, packs=packs, counts_store=False)) == {}


def finding(severity: Severity) -> Finding:
    return Finding(rule="x", severity=severity, summary="s", remedy="r")


@pytest.mark.parametrize(
    ("severities", "state"),
    [
        ([], State.OK),
        ([Severity.NOTICE], State.NOTICE),
        ([Severity.NOTICE, Severity.WARNING], State.WARNING),
        ([Severity.CRITICAL, Severity.NOTICE], State.CRITICAL),
    ],
)
def test_state_is_the_worst_severity(severities: list[Severity], state: State) -> None:
    assert state_of([finding(severity) for severity in severities], REPOSITORY, inspection()) is state


def test_plain_fact_is_found_and_does_not_raise_the_state() -> None:
    facts = subject(
        roles=(Role.MEMBER,),
        alternates=alternates(),
        shallow=True,
        shallow_count=1,
        config=config_facts(
            partial_clone=True,
            precious_objects=True,
            concerns=(concern("core.alternaterefscommand", ConfigEffect.HIDES_ALTERNATE_REFS),),
        ),
    )
    assert set(found(facts).values()) == {"notice"}
    assert set(found(facts)) == {rule.id for rule in RULES if rule.is_fact}
    assert state_of(judge(facts), REPOSITORY, facts.inspection) is State.OK
    also = subject(shallow=True, shallow_count=1, loose=loose_facts(count=9000))
    assert state_of(judge(also), REPOSITORY, also.inspection) is State.WARNING


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.is_fact], ids=lambda rule: rule.id)
def test_plain_fact_is_a_notice_that_asks_for_nothing(rule) -> None:
    assert rule.severities == (Severity.NOTICE,)
    assert rule.remedy.startswith("none is needed")


def test_state_of_a_foreign_repository_is_foreign_unless_the_config_vouches_for_it() -> None:
    foreign = msgspec.structs.replace(REPOSITORY, foreign_owner_uid=5)
    assert state_of([finding(Severity.CRITICAL)], foreign, inspection()) is State.FOREIGN
    trusted = msgspec.structs.replace(foreign, trusted_by_config=True)
    assert state_of([finding(Severity.CRITICAL)], trusted, inspection()) is State.CRITICAL


COUNTS = st.integers(0, 2**62)


@settings(max_examples=40, deadline=None, database=None)
@given(
    counts=st.tuples(COUNTS, COUNTS, COUNTS, COUNTS),
    ages=st.tuples(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12)),
    roles=st.sampled_from([(Role.PLAIN,), (Role.MEMBER,), (Role.POOL,), (Role.MEMBER, Role.POOL)]),
    kind=st.sampled_from([*RepositoryKind]),
)
def test_any_numbers_give_findings_and_no_error(counts, ages, roles, kind) -> None:
    first, second, third, fourth = counts
    judged = wreck(
        roles=roles,
        packs=pack_facts(count=first, bytes=second, outside_midx_count=third, kept_count=fourth),
        loose=loose_facts(count=fourth, stale_count=third, bytes=second, shard_17_count=first),
        references=reference_facts(loose_count=first, packed_bytes=second, reftable_bytes=(third, fourth)),
        locks=(lock("index.lock", ages[0]), lock("gc.pid", ages[1])),
        last_full_repack_s=ages[0],
        alternates=alternates(mtime_s=ages[1]),
    )
    repository = msgspec.structs.replace(REPOSITORY, kind=kind)
    changed = Subject(repository=repository, roles=roles, inspection=judged.inspection, sizes=Sizes())
    assert assess(changed, Policy(), NOW_S) == assess(changed, Policy(), NOW_S)


def test_every_rule_has_its_judge_once() -> None:
    assert len({judge_of for _, judge_of in JUDGES}) == len(JUDGES)
