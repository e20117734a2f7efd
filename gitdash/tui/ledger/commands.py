"""Git commands for people: without what is the same in each of gitdash's. Pure."""

import shlex
from collections.abc import Sequence
from typing import Final

_GIT_DIR: Final = "--git-dir="


def short_command(argv: Sequence[str]) -> tuple[str, str]:
    """Return a command without where it runs and without its own `-c` pairs, and how many of those there are."""
    kept: list[str] = []
    pair_count = 0
    words = iter(argv)
    for word in words:
        if word == "-c":
            next(words, None)
            pair_count += 1
        elif not word.startswith(_GIT_DIR):
            kept.append(word)
    return shlex.join(kept), f"  +{pair_count} -c" if pair_count else ""
