"""What an experiment says of the strategies for a size, and how long that holds.

The winner is remembered under the fingerprint, and used until it changes. A size depends
on references and packs; how long each strategy takes for it depends on bitmaps and commit-graphs, too. Pure.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from gitdash.model.experiment import ExperimentResult, StrategyComparison, Summary
from gitdash.model.inspection import Inspection
from gitdash.model.sizes import Question, Strategy

_DIGEST_BYTES: Final = 16


def accelerators(inspection: Inspection) -> bytes:
    """Return a digest of the derived files that make git faster."""
    files = (inspection.bitmaps, inspection.multi_pack_index, inspection.commit_graph)
    return hashlib.blake2b(msgspec.msgpack.encode(files), digest_size=_DIGEST_BYTES).digest()


def speed_fingerprint(size_fingerprint: bytes, stores: Iterable[bytes]) -> bytes:
    """Return a digest that is equal as long as a comparison holds; `stores` are accelerators, of the lenders, too."""
    digest = hashlib.blake2b(size_fingerprint, digest_size=_DIGEST_BYTES)
    for store in stores:
        digest.update(len(store).to_bytes(8, "big") + store)
    return digest.digest()


def comparison_of(
    result: ExperimentResult, question: Question, strategies: Mapping[str, Strategy], by_rule: Strategy
) -> StrategyComparison | None:
    """Return what an experiment says of the strategies that its variants of these names are.

    Only an exact answer, or the kind of answer that the rule gives, too, can win. None if the rule's choice was not
    measured, or nothing beside it, or one of them in too few runs, or if the experiment was ended early.
    """
    variants = {strategies[one.name]: one for one in result.variants if one.name in strategies}
    summaries = {
        strategy: variant.summary
        for strategy, variant in variants.items()
        if variant.summary is not None and (strategy is by_rule or variant.exact)
    }
    if not result.is_complete or by_rule not in summaries or len(summaries) < 2:
        return None
    if not all(summary.allows_verdict for summary in summaries.values()):
        return None
    best = min(summaries, key=lambda strategy: summaries[strategy].median_s)
    return StrategyComparison(
        question=question,
        by_rule=by_rule,
        by_rule_s=summaries[by_rule].median_s,
        best=best,
        best_s=summaries[best].median_s,
        winner=best if _is_below(best, summaries) else None,
        measured_at_s=result.started_at_s,
        git_version=result.git_version,
    )


def _is_below(best: Strategy, summaries: Mapping[Strategy, Summary]) -> bool:
    """Tell whether the interval of one lies below all others."""
    high_s = summaries[best].high_s
    return all(high_s < other.low_s for strategy, other in summaries.items() if strategy is not best)
