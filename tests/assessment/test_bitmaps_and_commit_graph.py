"""Bitmaps across repository and lender, and the commit-graph."""

from typing import Any

import pytest

from gitdash.assessment.subject import LenderFacts, lender_facts
from gitdash.model.inspection import BitmapSource, CommitGraphFacts, Problem
from gitdash.model.repository import Repository, Role, Unreadable
from tests.assessment.subjects import (
    REPOSITORY,
    WORKING_CLONE,
    bitmap,
    commit_graph,
    config_facts,
    finding_of,
    found,
    inspection,
    pack_facts,
    packs_of,
    reference_facts,
    subject,
)


@pytest.mark.parametrize(
    ("object_count", "severity"), [(4_999, None), (5_000, "notice"), (99_999, "notice"), (100_000, "warning")]
)
def test_bare_repository_without_bitmap_is_judged_by_its_objects(object_count: int, severity: str | None) -> None:
    assert found(subject(packs=packs_of(object_count))).get("no-bitmap") == severity


@pytest.mark.parametrize(
    "changes",
    [
        {"bitmaps": (bitmap(),)},
        {"roles": (Role.MEMBER,)},
        {"roles": (Role.MEMBER, Role.POOL)},
        {"shallow": True},
        {"config": config_facts(partial_clone=True)},
        {"config": config_facts(scalar_enlistment=True)},
        {"problems": (Problem(path="objects/pack/pack-1.bitmap", reason="bad signature"),)},
        {"repository": WORKING_CLONE},
    ],
    ids=["has one", "member", "member and pool", "shallow", "partial", "scalar", "unreadable", "working clone"],
)
def test_bitmap_is_not_asked_for_where_none_belongs(changes: dict[str, Any]) -> None:
    assert "no-bitmap" not in found(subject(**{"packs": packs_of(500_000)} | changes))


def test_unreadable_bitmap_is_not_absent() -> None:
    packs = pack_facts(packs=packs_of(500_000).packs, unreadable_names=("pack-1.bitmap",))
    assert "no-bitmap" not in found(subject(packs=packs))
    assert "no-bitmap" not in found(subject(packs=Unreadable("permission denied")))


def test_working_clone_that_lends_wants_a_bitmap() -> None:
    judged = subject(WORKING_CLONE, packs=packs_of(6_000), borrowers=(b"/srv/b",))
    assert found(judged)["no-bitmap"] == "notice"


def test_config_that_switches_bitmaps_off_is_named() -> None:
    judged = subject(packs=packs_of(6_000), config=config_facts(bitmaps_disabled=True))
    assert finding_of("no-bitmap", judged).summary == "no bitmap for 6,000 objects; the config switches bitmaps off"


MIDX = bitmap(BitmapSource.MULTI_PACK_INDEX)
WITH = LenderFacts(path=b"/p/objects", bitmap_count=1)
WITHOUT = LenderFacts(path=b"/q/objects", bitmap_count=0)
UNKNOWN = LenderFacts(path=b"/r/objects")


@pytest.mark.parametrize(
    ("local", "lenders", "severity"),
    [
        ((), (), None),
        ((bitmap(),), (), None),
        ((bitmap(), bitmap()), (), "notice"),
        ((MIDX, bitmap()), (), "notice"),
        ((MIDX, MIDX), (), None),
        ((bitmap(),), (WITH,), "warning"),
        ((bitmap(),), (WITHOUT,), None),
        ((bitmap(),), (UNKNOWN,), None),
        ((), (WITH,), None),
        ((), (WITH, WITH), "warning"),
    ],
)
def test_several_bitmaps_are_counted_across_repository_and_lenders(
    local: tuple[Any, ...], lenders: tuple[LenderFacts, ...], severity: str | None
) -> None:
    judged = subject(roles=(Role.MEMBER,), bitmaps=local, lenders=lenders)
    assert found(judged).get("several-bitmaps") == severity


def test_lender_that_was_not_read_has_an_unknown_number_of_bitmaps() -> None:
    assert lender_facts(b"/p", None).bitmap_count is None
    assert lender_facts(b"/p", Unreadable("gone")).bitmap_count is None
    assert lender_facts(b"/p", inspection(bitmaps=(bitmap(),))).bitmap_count == 1


@pytest.mark.parametrize(
    ("repository", "object_count", "fires"),
    [
        (None, 4_999, False),
        (None, 5_000, True),
        (WORKING_CLONE, 5_000, False),
        (WORKING_CLONE, 99_999, False),
        (WORKING_CLONE, 100_000, True),
    ],
)
def test_commit_graph_is_missed_in_large_repositories(repository: Any, object_count: int, fires: bool) -> None:
    arguments = {} if repository is None else {"repository": repository}
    judged = subject(**arguments, packs=packs_of(object_count), bitmaps=(bitmap(),))
    assert found(judged) == ({"no-commit-graph": "notice"} if fires else {})


def test_commit_graph_is_not_missed_without_references_or_where_git_ignores_it() -> None:
    large = {"packs": packs_of(10_000), "bitmaps": (bitmap(),)}
    assert found(subject(**large, references=reference_facts(loose_count=0, packed_count=0, packed_bytes=0))) == {}
    assert "no-commit-graph" not in found(subject(**large, shallow=True, shallow_count=1))
    assert "no-commit-graph" not in found(subject(**large, commit_graph=Unreadable("bad signature")))
    assert "no-commit-graph" not in found(subject(**large, references=Unreadable("bad")))


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"chain_length": 0}, "commit-graph-monolithic"),
        ({"bloom_filters": False}, "commit-graph-without-bloom"),
        ({"generation_data": False}, "commit-graph-without-generation-data"),
    ],
)
def test_commit_graph_that_gitaly_would_replace_is_a_notice(changes: dict[str, Any], rule: str) -> None:
    large = {"packs": packs_of(10_000), "bitmaps": (bitmap(),)}
    assert found(subject(**large, commit_graph=commit_graph(**changes))) == {rule: "notice"}
    assert found(subject(**large, commit_graph=commit_graph())) == {}
    assert found(subject(bitmaps=(bitmap(),), commit_graph=commit_graph(**changes))) == {}


@pytest.mark.parametrize(
    ("config", "fires"),
    [
        (config_facts(), True),
        (config_facts(commit_graph_generation_version=2), True),
        (config_facts(commit_graph_generation_version=1), False),
        (config_facts(gc_auto=0, bitmaps_disabled=True, scalar_enlistment=True), False),
        (Unreadable("bad config line 3"), True),
    ],
)
@pytest.mark.parametrize("repository", [REPOSITORY, WORKING_CLONE])
def test_generation_data_is_not_missed_where_the_config_forgoes_it(
    config: Any, fires: bool, repository: Repository
) -> None:
    graph = commit_graph(generation_data=False)
    judged = subject(repository, packs=packs_of(200_000), bitmaps=(bitmap(),), commit_graph=graph, config=config)
    assert ("commit-graph-without-generation-data" in found(judged)) is fires
    small = subject(repository, packs=packs_of(100), bitmaps=(bitmap(),), commit_graph=graph)
    assert found(small) == {}


@pytest.mark.parametrize("graph", [None, commit_graph(chain_length=0, bloom_filters=False, generation_data=False)])
def test_commit_graph_that_git_never_reads_is_not_judged(graph: CommitGraphFacts | None) -> None:
    large = {"packs": packs_of(200_000), "bitmaps": (bitmap(),), "commit_graph": graph}
    assert found(subject(**large, config=config_facts(commit_graph_disabled=True))) == {}
    assert found(subject(**large)) != {}


@pytest.mark.parametrize("missing_layer_count", [1, 2])
def test_what_is_left_of_a_commit_graph_chain_is_not_judged(missing_layer_count: int) -> None:
    graph = commit_graph(missing_layer_count=missing_layer_count, bloom_filters=False, generation_data=False)
    judged = subject(packs=packs_of(200_000), bitmaps=(bitmap(),), commit_graph=graph)
    assert found(judged) == {"commit-graph-missing-layers": "warning"}


def test_commit_graph_chain_with_absent_layers_is_a_warning_at_any_size() -> None:
    finding = finding_of("commit-graph-missing-layers", subject(commit_graph=commit_graph(missing_layer_count=1)))
    assert finding.severity == "warning"
    assert finding.summary == "the commit-graph chain names 1 layer without a file, of 2"
    assert "commit-graph-missing-layers" not in found(subject(commit_graph=commit_graph()))
