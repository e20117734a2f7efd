"""What a run started, word for word, to stand beside its result.

Copies and the folder that stands for a repository without its configuration are gone by then; their paths are what git
got.
"""

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from gitdash.gitcmd.environment import CONFIG_OVERRIDES, FETCH_CONFIG_OVERRIDES
from gitdash.gitcmd.git_program import GitOutput
from gitdash.gitcmd.masking import mask_credentials
from gitdash.maintenance.fetching.ssh_command import SSH_OPTIONS
from gitdash.measurement.answers import NEXT_QUERY
from gitdash.units import counted, printable

_SEPARATOR: Final = (NEXT_QUERY,)
_OURS: Final = frozenset(f"{one.key}={one.value}" for one in (*CONFIG_OVERRIDES, *FETCH_CONFIG_OVERRIDES))
"""Pairs in which nothing is secret, although a key such as log.showSignature looks like it."""


def masked(word: str) -> str:
    """Return a word of a command as it may be shown and kept."""
    if word in _OURS:
        return word
    return SSH_OPTIONS.join(printable(mask_credentials(part)) for part in word.split(SSH_OPTIONS))


def argv_of(outputs: Sequence[GitOutput]) -> tuple[str, ...]:
    """Return all words of all commands: variables first, as a shell takes them, `;` between commands."""
    return one_after_another(
        (*(f"{name}={value}" for name, value in output.variables.items()), *map(os.fsdecode, output.command))
        for output in outputs
    )


def one_after_another(commands: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return commands as one, `;` between them."""
    return tuple(chain.from_iterable((*_SEPARATOR, *words) for words in commands))[1:]


def stdin_of(outputs: Sequence[GitOutput]) -> str:
    """Return what the commands were given on stdin, a few words for each; empty for nothing."""
    return "; ".join(_few_words(output.stdin) for output in outputs if output.stdin)


def _few_words(stdin: bytes) -> str:
    lines = stdin.decode("utf-8", "surrogateescape").splitlines()
    if len(lines) == 1:
        return lines[0]
    return f"{counted(len(lines), 'line')}, from {lines[0]} to {lines[-1]}"
