"""What the answers of variants say of each other: which are exact, and by how much the others are off. Pure."""

from collections.abc import Collection, Mapping

import msgspec

from gitdash.model.experiment import ExperimentResult, VariantResult
from gitdash.units import counted


def judged(
    result: ExperimentResult, *, trusted: Collection[str], unit: str, remarks: Mapping[str, str]
) -> ExperimentResult:
    """Return the result with `exact` and a note for each variant that has run.

    Exact is what equals the answer of the trusted variants. Where these do not agree, nothing is, and nobody wins.

    Args:
        result: As the runs gave it.
        trusted: Names of variants that answer exactly by how they work.
        unit: Of the answer, such as `byte`.
        remarks: Why the answer of a variant differs, where that is no fault of it.
    """
    answers = {variant.name: variant.runs[-1].answer for variant in result.variants if variant.runs}
    exact = {answers[name] for name in trusted if name in answers}
    if len(exact) > 1:
        said = ", ".join(f"{name} {_counted(answers[name], unit)}" for name in sorted(trusted) if name in answers)
        return msgspec.structs.replace(
            result,
            variants=tuple(_with(variant, None, "") for variant in result.variants),
            winner=None,
            verdict=f"No verdict: what should be equal is not: {said}.",
            notes=(*result.notes, "A bitmap, a commit-graph or a multi-pack-index may lie: check the repository."),
        )
    known = next(iter(exact), None)
    variants = tuple(
        _judged(variant, answers[variant.name], known, unit, remarks.get(variant.name, ""))
        if variant.name in answers
        else variant
        for variant in result.variants
    )
    return msgspec.structs.replace(result, variants=variants, verdict=_verdict(result, variants))


def _judged(variant: VariantResult, answer: int | None, known: int | None, unit: str, remark: str) -> VariantResult:
    if answer is None or known is None:
        return _with(variant, None, "it is not known whether this is exact")
    if answer == known:
        return _with(variant, True, "")
    off = f"counts {_counted(abs(answer - known), unit)} {'more' if answer > known else 'less'}"
    return _with(variant, False, f"{off}: {remark}" if remark else off)


def _with(variant: VariantResult, exact: bool | None, note: str) -> VariantResult:
    return msgspec.structs.replace(variant, exact=exact, note="; ".join(filter(None, (variant.note, note))))


def _verdict(result: ExperimentResult, variants: Collection[VariantResult]) -> str:
    won = next((variant for variant in variants if variant.name == result.winner), None)
    if won is None or won.exact is not False:
        return result.verdict
    return f"{result.verdict} But it is not exact: it {won.note}."


def _counted(count: int | None, unit: str) -> str:
    return "nothing" if count is None else counted(count, unit)
