"""Results of experiments, made by hand, for tests of what stores and shows them."""

from gitdash.model.experiment import (
    CacheState,
    ExperimentKind,
    ExperimentResult,
    ExperimentRun,
    Summary,
    VariantResult,
)

MOMENT_S = 1_700_000_000.0


def run(variant: str, number: int, wall_s: float, **more) -> ExperimentRun:
    fields = {
        "variant": variant,
        "number": number,
        "wall_s": wall_s,
        "user_s": wall_s / 2,
        "system_s": wall_s / 4,
        "peak_memory_bytes": 8 * 1024**2,
        "read_bytes": 0,
        "answer": 4096,
        "load_1m": 0.5,
        "started_at_s": MOMENT_S + number,
    }
    return ExperimentRun(**(fields | more))


def variant(name: str, seconds: tuple[float, ...], summary: Summary | None, **more) -> VariantResult:
    fields = {
        "name": name,
        "title": name.replace("-", " "),
        "explanation": f"What {name} does, and why.",
        "argv": ("git", "rev-list", f"--{name}"),
        "exact": True,
        "runs": tuple(run(name, number, wall_s) for number, wall_s in enumerate(seconds, 1)),
        "summary": summary,
    }
    return VariantResult(**(fields | more))


def variants() -> tuple[VariantResult, ...]:
    """A fast one, a slow one that counts too much, and one that was not run."""
    return (
        variant(
            "bitmap",
            (0.1, 0.12, 0.11, 0.1, 0.14),
            Summary(count=5, median_s=0.11, minimum_s=0.1, low_s=0.1, high_s=0.14),
        ),
        variant(
            "walk",
            (0.4, 0.44, 0.42, 0.5, 0.41),
            Summary(count=5, median_s=0.42, minimum_s=0.4, low_s=0.4, high_s=0.5),
            exact=False,
            note="counts 1,024 bytes more",
        ),
        variant("pseudo-merges", (), None, skipped="needs git 2.46", exact=None),
    )


def result(**more) -> ExperimentResult:
    fields = {
        "number": 0,
        "kind": ExperimentKind.SIZE,
        "path": b"/srv/\xff.git",
        "fingerprint": b"print",
        "cache": CacheState.WARM,
        "variants": variants(),
        "winner": "bitmap",
        "verdict": "bitmap is 3.8 times as fast as walk",
        "started_at_s": MOMENT_S,
        "elapsed_s": 4.5,
        "gitdash_version": "0.1.0",
        "git_version": "2.39.5",
        "host": "somewhere",
        "processor_count": 2,
        "filesystem_type": "ext4",
    }
    return ExperimentResult(**(fields | more))
