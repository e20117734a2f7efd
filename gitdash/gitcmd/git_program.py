"""The git that is run, and what one call of it said. It starts nothing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitdash.gitcmd.usage import ProcessUsage

DEFAULT_MEMORY_LIMIT_BYTES: Final = min(8 * 1024**3, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
"""Half of the machine, at most 8 GiB: `rev-list --objects` needs some 200 bytes an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitProgram:
    """A git that runs and is new enough."""

    path: str
    """Absolute."""
    version: tuple[int, ...]
    """Such as (2, 39, 5)."""
    version_text: str
    """What `git version` says after these two words."""
    memory_limit_bytes: int = DEFAULT_MEMORY_LIMIT_BYTES
    """Data that one process of it may allocate."""
    wrapper: tuple[str, ...] = ()
    """The program and the options that start it, such as strace's; empty for git itself."""
    is_measured: bool = False
    """Whether it is wanted what each call used, with the exact peak of memory: a millisecond before git begins, and
    where that cannot be had, a look at all its processes every few milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitOutput:
    """What one git call said."""

    stdout: bytes
    """All of it."""
    stderr: str
    """Masked; of a long one the first and the last part. It counts even when the exit code is 0."""
    exit_code: int
    """Negative for a signal."""
    elapsed_s: float
    """From before the start to after the end; of a measured call from when there is a process that becomes git."""
    argv: tuple[str, ...]
    """`git`, added `-c` pairs, `--git-dir`, arguments; masked. The pairs of `CONFIG_OVERRIDES`, the same in every call,
    are left out."""
    usage: ProcessUsage | None = None
    """What it and its helpers used; None if its end was not seen, or nobody measures."""
    command: tuple[str | bytes, ...] = field(default=(), repr=False)
    """All that was started, unmasked: the wrapper, the path of git, every `-c` pair, the arguments."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Added to the environment of the table."""
    stdin: bytes = field(default=b"", repr=False)
    """All that it was given."""
