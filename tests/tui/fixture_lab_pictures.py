"""The lab of one repository as the pictures show it: what gitdash offers there, with results that nobody measured."""

import random
from collections.abc import Mapping, Sequence

import msgspec

from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.fetch_sources import HELD_TIP, NEW_COMMIT, REAL_REMOTE
from gitdash.lab.size_variants import EVERYTHING, SIZE_WAYS, WITHOUT_LENDER
from gitdash.lab.statistics import summary_of, verdict_text, winner_of
from gitdash.model.experiment import CacheState, ExperimentKind, ExperimentResult, VariantResult
from gitdash.tui.experiments import LabAnswer, OfferedExperiment, OfferedQuestion
from tests.tui.fixture_answers import MEMBER, POOL
from tests.tui.fixture_fleet import NOW_S
from tests.tui.fixture_lab import runs_of

_GIT = "2.39.5"
_MEDIANS_S = {
    "bitmap-without-lender": 0.268,
    "walk-without-lender": 0.0681,
    "union-minus-lender": 0.0523,
    "fresh-bitmap": 0.0312,
    "multi-pack-bitmap": 0.0441,
}
_EVERYTHING_S = {"bitmap": 0.0361, "walk": 0.133, "fresh-bitmap": 0.0293}
_FETCHES_S = {"as-configured": 0.285, "suppressed": 0.164}
_FETCHES = {"as-configured": "offering the lender's references", "suppressed": "suppressing the lender's references"}


def pictured_lab() -> LabAnswer:
    """All experiments, two of which were made."""
    return LabAnswer(
        offers=tuple(_offer(kind, _questions(kind)) for kind in ExperimentKind),
        earlier=(
            _result(31, ExperimentKind.SIZE, WITHOUT_LENDER, _MEDIANS_S, age_s=190.0),
            _result(30, ExperimentKind.SIZE, EVERYTHING, _EVERYTHING_S, age_s=300.0),
            _result(12, ExperimentKind.SIZE, WITHOUT_LENDER, _slower(1.22), age_s=9 * 86_400.0, fingerprint=b"\3"),
            _result(28, ExperimentKind.FETCH, NEW_COMMIT, _FETCHES_S, age_s=4_000.0),
        ),
        others=(_result(7, ExperimentKind.SIZE, WITHOUT_LENDER, _slower(3.4), path=POOL, age_s=15 * 86_400.0),),
    )


def _slower(factor: float) -> dict[str, float]:
    return {name: factor * median_s for name, median_s in _MEDIANS_S.items()}


def _offer(kind: ExperimentKind, questions: Sequence[OfferedQuestion]) -> OfferedExperiment:
    experiment = EXPERIMENTS[kind]
    return OfferedExperiment(
        kind=kind, title=experiment.title, explanation=experiment.explanation, questions=tuple(questions)
    )


def _questions(kind: ExperimentKind) -> list[OfferedQuestion]:
    if kind is ExperimentKind.SIZE:
        return [OfferedQuestion(text=text, variants=_ways(text)) for text in (WITHOUT_LENDER, EVERYTHING)]
    if kind is ExperimentKind.FETCH:
        variants = tuple(_named(name, title) for name, title in _FETCHES.items())
        real = OfferedQuestion(text=REAL_REMOTE, variants=(), problem="it has no remote")
        return [*(OfferedQuestion(text=text, variants=variants) for text in (NEW_COMMIT, HELD_TIP)), real]
    names = {
        ExperimentKind.CONNECTIVITY: ("as-it-is", "table-read", "table-not-read", "walk"),
        ExperimentKind.LOOKUP: ("as-it-is", "multi-pack-index", "one-pack"),
        ExperimentKind.FILESYSTEM: ("look-up-present", "look-up-absent", "look-up-absent-again", "write"),
        ExperimentKind.CLONE: ("clone", "clone-linked"),
    }[kind]
    return [OfferedQuestion(text="", variants=tuple(_named(name, name.replace("-", " ")) for name in names))]


def _named(name: str, title: str) -> VariantResult:
    return VariantResult(name=name, title=title, explanation="")


def _ways(question: str) -> tuple[VariantResult, ...]:
    return tuple(
        VariantResult(
            name=way.name,
            title=way.title,
            explanation=way.explanation,
            exact=True,
            skipped=_why_not(way.since),
        )
        for way in SIZE_WAYS
        if question in way.questions
    )


def _why_not(since: tuple[int, ...]) -> str | None:
    return f"needs git {'.'.join(map(str, since))}, this is {_GIT}" if since else None


def _result(
    number: int,
    kind: ExperimentKind,
    question: str,
    medians_s: Mapping[str, float],
    *,
    age_s: float,
    path: bytes = MEMBER,
    fingerprint: bytes = b"\1\2",
) -> ExperimentResult:
    offered = {one.text: one.variants for one in _questions(kind)}[question]
    variants = tuple(_measured(variant, medians_s.get(variant.name), seed=number) for variant in offered)
    summaries = {one.name: one.summary for one in variants if one.summary is not None}
    return ExperimentResult(
        number=number,
        kind=kind,
        question=question,
        path=path,
        fingerprint=fingerprint,
        cache=CacheState.WARM,
        variants=variants,
        winner=winner_of(summaries),
        verdict=verdict_text(summaries, {one.name: one.title for one in variants}),
        started_at_s=NOW_S - age_s,
        elapsed_s=21.0,
        gitdash_version="0.1.0",
        git_version=_GIT,
        host="nas",
        processor_count=8,
        filesystem_type="ext4",
    )


def _measured(variant: VariantResult, median_s: float | None, *, seed: int) -> VariantResult:
    if median_s is None:
        return variant
    draw = random.Random(f"{seed} {variant.name}")
    walls_s = [median_s * (1 + draw.gammavariate(2, 0.05)) for _ in range(7)]
    return msgspec.structs.replace(variant, runs=runs_of(variant.name, *walls_s), summary=summary_of(walls_s))
