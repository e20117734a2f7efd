"""Experiments as the dashboard gets them in tests and pictures: fixed, and measured by nobody."""

from collections.abc import Sequence

import msgspec

from gitdash.model.experiment import (
    CacheState,
    ExperimentKind,
    ExperimentResult,
    ExperimentRun,
    Summary,
    VariantResult,
)
from gitdash.tui.experiments import (
    ExperimentChoice,
    ExperimentUnderWay,
    LabAnswer,
    OfferedExperiment,
    OfferedQuestion,
)
from tests.tui.fixture_fleet import HOSTILE_NAMES, NOW_S, ROOT

WEB = ROOT + b"/team/web.git"
OTHER = ROOT + b"/infra/deploy.git"
EVERYTHING = "everything"
WITHOUT_LENDER = "without the lender"
NO_GIT = "needs git 2.46, this is 2.39.5"

BITMAP = VariantResult(
    name="bitmap",
    title="with bitmap",
    explanation="Reads from the bitmap what the newest of its commits reach, and walks only what is newer.",
    exact=True,
)
WALK = VariantResult(name="walk", title="without bitmap", explanation="Opens every commit and every tree.", exact=True)
PSEUDO_MERGES = VariantResult(
    name="pseudo-merges",
    title="with pseudo-merges",
    explanation="A copy whose bitmap also covers groups of references.",
    skipped=NO_GIT,
)
UNION = VariantResult(
    name="union-minus-lender", title="union minus lender", explanation="Two counts from bitmaps, subtracted."
)


def runs_of(name: str, *walls_s: float, first: int = 1) -> tuple[ExperimentRun, ...]:
    """Runs that took so long."""
    return tuple(
        ExperimentRun(
            variant=name,
            number=number,
            wall_s=wall_s,
            user_s=wall_s / 2,
            system_s=wall_s / 4,
            peak_memory_bytes=12 << 20,
            read_bytes=0,
            answer=58_358_935,
            load_1m=0.25,
            started_at_s=NOW_S - 90,
        )
        for number, wall_s in enumerate(walls_s, first)
    )


def measured(variant: VariantResult, *walls_s: float) -> VariantResult:
    """A variant with runs; its interval is the whole range, as it is of five."""
    ordered = sorted(walls_s)
    summary = Summary(
        count=len(ordered),
        median_s=ordered[len(ordered) // 2],
        minimum_s=ordered[0],
        low_s=ordered[0],
        high_s=ordered[-1],
    )
    argv = ("git", "rev-list", "--disk-usage", "--objects", "--stdin", f"--note=it's {variant.name}")
    return msgspec.structs.replace(variant, runs=runs_of(variant.name, *walls_s), summary=summary, argv=argv)


def size_result(number: int, *, path: bytes = WEB, age_s: float = 90.0, factor: float = 1.0) -> ExperimentResult:
    """A result of `size` in which the bitmap has won."""
    return ExperimentResult(
        number=number,
        kind=ExperimentKind.SIZE,
        question=EVERYTHING,
        path=path,
        fingerprint=b"\x01\x02",
        cache=CacheState.WARM,
        variants=(
            measured(BITMAP, *(factor * wall_s for wall_s in (0.0121, 0.0118, 0.0125, 0.0119, 0.0123))),
            measured(WALK, *(factor * wall_s for wall_s in (0.0420, 0.0431, 0.0418, 0.0425, 0.0440))),
            PSEUDO_MERGES,
        ),
        winner="bitmap",
        verdict="with bitmap is the fastest: 12 ms against 43 ms of without bitmap (3.51 times).",
        started_at_s=NOW_S - age_s,
        elapsed_s=1.5,
        gitdash_version="0.4.0",
        git_version="2.39.5",
        host="nas",
        processor_count=2,
        filesystem_type="ext4",
    )


def offers() -> tuple[OfferedExperiment, ...]:
    """What is offered: one experiment with two questions, one that cannot be made, one with an option of its own."""
    return (
        OfferedExperiment(
            kind=ExperimentKind.SIZE,
            title="how the reachable size is obtained",
            explanation="What is reachable can be counted from bitmaps, by a walk, or as a difference of two counts.",
            questions=(
                OfferedQuestion(text=EVERYTHING, variants=(BITMAP, WALK, PSEUDO_MERGES)),
                OfferedQuestion(text=WITHOUT_LENDER, variants=(WALK, UNION)),
            ),
        ),
        OfferedExperiment(
            kind=ExperimentKind.FETCH,
            title="alternate refs offered, and suppressed",
            explanation="A fetch asks what the lender has.",
            questions=(OfferedQuestion(text="", variants=(), problem="it has no remote"),),
        ),
        OfferedExperiment(
            kind=ExperimentKind.LOOKUP,
            title="objects among packs",
            explanation="Each pack is asked in turn.",
            questions=(OfferedQuestion(text="", variants=(msgspec.structs.replace(WALK, name="as-it-is"),)),),
        ),
    )


def answer(
    earlier: Sequence[ExperimentResult] | None = None, others: Sequence[ExperimentResult] | None = None
) -> LabAnswer:
    """What the lab says of a repository."""
    return LabAnswer(
        offers=offers(),
        earlier=tuple(earlier) if earlier is not None else (size_result(12), size_result(9, age_s=864_000, factor=1.4)),
        others=tuple(others) if others is not None else (size_result(7, path=OTHER, age_s=200_000, factor=9.0),),
    )


def under_way(job_number: int = 1, *, choice: ExperimentChoice | None = None) -> ExperimentUnderWay:
    """An experiment with some runs."""
    return ExperimentUnderWay(
        job_number=job_number,
        path=WEB,
        kind=ExperimentKind.SIZE,
        choice=choice or ExperimentChoice(question=EVERYTHING),
        step="run 5: bitmap",
        variants=(measured(BITMAP, 0.0125, 0.0121, 0.0118), measured(WALK, 0.042, 0.043)),
    )


def hostile_answer() -> LabAnswer:
    """What the lab says where other repositories' names are meant to do harm."""
    return answer(
        others=[size_result(20 + number, path=ROOT + b"/" + name) for number, name in enumerate(HOSTILE_NAMES)]
    )
