"""Rules on the commit-graph.

Sources: gitformat-commit-graph(5), git-commit-graph(1), Gitaly's decision to rewrite it (none, monolithic, without
changed-path filters, without generation data). git ignores the graph in shallow repositories and with core.commitGraph
off, so those are not judged; nor is what the repository's own config asks for, as that of every Scalar enlistment does.
Whether it covers the newest commits, and whether what it says is true, only git can say.
"""

from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.rule import Judge, Rule
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import CommitGraphFacts
from gitdash.units import counted

_REWRITE = "`{git} commit-graph write --reachable --changed-paths --split=replace`"
_SIZE = "objects; judged from policy commit_graph_minimum_objects, in a working clone from large_object_count;"

NO_COMMIT_GRAPH = Rule(
    id="no-commit-graph",
    severities=(Severity.NOTICE,),
    title="no commit-graph",
    meaning="git unpacks and parses a commit for every step through the history: log, merge-base and fetch negotiation"
    " are slower than they need be.",
    source=f"{_SIZE} Gitaly writes one wherever there are references",
    remedy=_REWRITE,
    task="commit-graph",
    needs_all_objects=True,
    policy_keys=("commit_graph_minimum_objects", "large_object_count"),
)
MONOLITHIC_COMMIT_GRAPH = Rule(
    id="commit-graph-monolithic",
    severities=(Severity.NOTICE,),
    title="commit-graph in one file",
    meaning="Every update rewrites the whole file, where a chain gets a small layer.",
    source=f"{_SIZE} Gitaly replaces it by a chain",
    remedy=_REWRITE,
    task="commit-graph",
    needs_all_objects=True,
    policy_keys=("commit_graph_minimum_objects", "large_object_count"),
)
NO_BLOOM_FILTERS = Rule(
    id="commit-graph-without-bloom",
    severities=(Severity.NOTICE,),
    title="commit-graph without changed-path filters",
    meaning="`git log -- <path>` and blame compare trees commit by commit."
    " git adds filters only if every layer has them.",
    source=f"{_SIZE} chunks BIDX and BDAT; Gitaly rewrites without them",
    remedy=_REWRITE,
    task="commit-graph",
    needs_all_objects=True,
    policy_keys=("commit_graph_minimum_objects", "large_object_count"),
)
NO_GENERATION_DATA = Rule(
    id="commit-graph-without-generation-data",
    severities=(Severity.NOTICE,),
    title="commit-graph without generation data",
    meaning="Without corrected commit dates git walks further than it needs to answer what is an ancestor of what.",
    source=f"{_SIZE} chunk GDA2; Gitaly rewrites without it; not with commitGraph.generationVersion 1 or in Scalar's"
    " enlistments",
    remedy=_REWRITE,
    task="commit-graph",
    needs_all_objects=True,
    policy_keys=("commit_graph_minimum_objects", "large_object_count"),
)
MISSING_LAYERS = Rule(
    id="commit-graph-missing-layers",
    severities=(Severity.WARNING,),
    title="commit-graph chain names absent layers",
    meaning="git drops the rest of the chain and warns in every command that walks the history.",
    source="layers in commit-graph-chain without a file",
    remedy=_REWRITE,
    task="commit-graph",
    needs_all_objects=True,
)


def _wants_commit_graph(case: Case) -> bool:
    if case.inspection is None or case.inspection.shallow or (case.config and case.config.commit_graph_disabled):
        return False
    return case.object_count >= _least_count(case)


def _least_count(case: Case) -> int:
    """Return from how many objects on a commit-graph is wanted."""
    return case.policy.commit_graph_minimum_objects if case.is_served else case.policy.large_object_count


def _size_formula(case: Case) -> str:
    return f"{case.object_count:,} >= {_least_count(case):,} objects"


def _judged_graph(case: Case) -> CommitGraphFacts | None:
    """Return the graph whose properties count: not what is left of a chain, for that has a finding of its own."""
    graph = case.commit_graph
    return graph if graph is not None and not graph.missing_layer_count and _wants_commit_graph(case) else None


def no_commit_graph(case: Case) -> Iterator[Finding]:
    """Yield a finding if a large repository with references has no commit-graph."""
    if not _wants_commit_graph(case) or case.inspection is None or case.inspection.commit_graph is not None:
        return
    references = case.references
    if references is None or (references.loose_count == 0 and references.packed_count == 0):
        return
    yield NO_COMMIT_GRAPH.finding(
        case,
        Severity.NOTICE,
        f"no commit-graph for {counted(case.object_count, 'object')}",
        {"object_count": case.object_count},
        formula=_size_formula(case),
    )


def commit_graph_monolithic(case: Case) -> Iterator[Finding]:
    """Yield a finding if the commit-graph is one file."""
    graph = _judged_graph(case)
    if graph is not None and graph.chain_length == 0:
        yield MONOLITHIC_COMMIT_GRAPH.finding(
            case,
            Severity.NOTICE,
            f"the commit-graph of {counted(graph.commit_count, 'commit')} is one file and no chain",
            {"commit_count": graph.commit_count, "chain_length": graph.chain_length},
            formula=_size_formula(case),
        )


def commit_graph_without_bloom(case: Case) -> Iterator[Finding]:
    """Yield a finding if a layer of the commit-graph has no changed-path filters."""
    graph = _judged_graph(case)
    if graph is not None and not graph.bloom_filters:
        yield NO_BLOOM_FILTERS.finding(
            case,
            Severity.NOTICE,
            f"the commit-graph of {counted(graph.commit_count, 'commit')} has no changed-path filters",
            {"commit_count": graph.commit_count},
            formula=_size_formula(case),
        )


def commit_graph_without_generation_data(case: Case) -> Iterator[Finding]:
    """Yield a finding if a layer of the commit-graph has no corrected commit dates."""
    graph = _judged_graph(case)
    if graph is not None and not graph.generation_data and not _does_without_generation_data(case.config):
        yield NO_GENERATION_DATA.finding(
            case,
            Severity.NOTICE,
            f"the commit-graph of {counted(graph.commit_count, 'commit')} has no generation data",
            {"commit_count": graph.commit_count},
            formula=_size_formula(case),
        )


def _does_without_generation_data(config: ConfigFacts | None) -> bool:
    """Tell whether none are wanted: git then writes none, and a rewrite would not end the finding."""
    return config is not None and (config.scalar_enlistment or config.commit_graph_generation_version == 1)


def commit_graph_missing_layers(case: Case) -> Iterator[Finding]:
    """Yield a finding if the chain names layers that are not on disk."""
    graph = case.commit_graph
    if graph is not None and graph.missing_layer_count:
        yield MISSING_LAYERS.finding(
            case,
            Severity.WARNING,
            f"the commit-graph chain names {counted(graph.missing_layer_count, 'layer')} without a file,"
            f" of {graph.chain_length}",
            {"missing_layer_count": graph.missing_layer_count, "chain_length": graph.chain_length},
        )


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (MISSING_LAYERS, commit_graph_missing_layers),
    (NO_COMMIT_GRAPH, no_commit_graph),
    (MONOLITHIC_COMMIT_GRAPH, commit_graph_monolithic),
    (NO_BLOOM_FILTERS, commit_graph_without_bloom),
    (NO_GENERATION_DATA, commit_graph_without_generation_data),
)
