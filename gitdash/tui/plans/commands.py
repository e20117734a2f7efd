"""The commands of a task, as they are shown and as they are copied. Pure.

Every git command of gitdash has pairs of `-c` that no configuration of a repository may change: some 60, the same in
each. What is shown leaves them out, and says so; what is copied has them, as has the script (`maintenance.script`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.gitcmd.environment import CONFIG_OVERRIDES, config_arguments
from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.model.plan import Step

PAIR_COUNT: Final = len(CONFIG_OVERRIDES) + len(PINNED_CONFIG)
"""Pairs of `-c` that are left out of what is shown."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step for people."""

    does: str
    """As in `Step`."""
    command: str | None
    """One line for a shell; None where gitdash alone can do it."""
    is_own: bool
    """gitdash does it without git."""
    is_recovery: bool
    """It is done if the step above fails, which is then tried once more."""


def shown_steps(steps: Sequence[Step], common_dir: bytes) -> Iterator[ShownStep]:
    """Yield all steps, each followed by what is done if it fails."""
    for step in steps:
        yield _shown(step, common_dir, is_recovery=False)
        for repair in step.recovery:
            yield _shown(repair, common_dir, is_recovery=True)


def whole_commands(steps: Sequence[Step], common_dir: bytes) -> tuple[str, ...]:
    """Return what a shell would run, with every pair of `-c`; not what is only done if something fails."""
    commands = (step.shell if step.act is not None else _git(step, common_dir, is_whole=True) for step in steps)
    return tuple(command for command in commands if command is not None)


def _shown(step: Step, common_dir: bytes, *, is_recovery: bool) -> ShownStep:
    command = step.shell if step.act is not None else _git(step, common_dir, is_whole=False)
    return ShownStep(step.does, command, step.act is not None, is_recovery)


def _git(step: Step, common_dir: bytes, *, is_whole: bool) -> str:
    own = tuple(pair for pair in step.config if pair not in PINNED_CONFIG)
    config = (
        config_arguments(step.config) if is_whole else [word for key, value in own for word in ("-c", f"{key}={value}")]
    )
    words = " ".join(map(_word, [*config, *step.arguments]))
    given = f"printf %s {_word(step.stdin)} | " if step.stdin else ""
    return f"{given}git --git-dir={shell_word(common_dir)} {words}"


def _word(text: str) -> str:
    return shell_word(text.encode("utf-8", "surrogateescape"))
