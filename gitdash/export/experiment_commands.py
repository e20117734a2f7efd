"""The commands of an experiment as people read them.

What git gets in every call, the pairs by which gitdash switches off what a repository's configuration may do, is the
same for all variants: here it is left out, and said once. JSON, CSV and markdown have every word.
"""

import shlex
from typing import Final

from gitdash.gitcmd.environment import CONFIG_OVERRIDES, FETCH_CONFIG_OVERRIDES
from gitdash.model.experiment import ExperimentResult, VariantResult
from gitdash.units import counted

_OPTION: Final = "-c"
_OURS: Final = frozenset(f"{one.key}={one.value}" for one in (*CONFIG_OVERRIDES, *FETCH_CONFIG_OVERRIDES))


def short_command(variant: VariantResult) -> str:
    """Return what was timed, to be read, or copied into a shell, without the pairs of every call."""
    return shlex.join(_without_pairs(variant.argv))


def whole_command(variant: VariantResult) -> str:
    """Return all words of what was timed, as a shell takes them."""
    return shlex.join(variant.argv)


def stdin_text(variant: VariantResult) -> str:
    """Return what it was given; empty for nothing."""
    return f"on stdin: {variant.stdin}" if variant.stdin else ""


def left_out_text(result: ExperimentResult) -> str:
    """Return how many pairs are left out of each call; empty if none is."""
    counts = [
        (len(variant.argv) - len(_without_pairs(variant.argv))) // 2 // (variant.argv.count(";") + 1)
        for variant in result.variants
    ]
    most = max(counts, default=0)
    if not most:
        return ""
    return f"commands without {counted(most, 'pair')} of -c that each call gets (--format json has them)"


def _without_pairs(argv: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    for word in argv:
        if word in _OURS and kept and kept[-1] == _OPTION:
            kept.pop()
        else:
            kept.append(word)
    return kept
