"""The commands of a task, as they are shown and as they are copied. Pure.

Every git command of gitdash has `--git-dir`, and some 60 pairs of `-c` that no configuration of a repository may
change, the same in each. What is shown leaves them out, and says them once; what is copied has them, as has the script
(`maintenance.script`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.gitcmd.environment import CONFIG_OVERRIDES, config_arguments
from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.maintenance.steps import in_shell
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


def shown_steps(steps: Sequence[Step]) -> Iterator[ShownStep]:
    """Yield all steps, each followed by what is done if it fails."""
    for step in steps:
        yield _shown(step, is_recovery=False)
        for repair in step.recovery:
            yield _shown(repair, is_recovery=True)


def in_all_commands(common_dir: bytes) -> str:
    """Return what each git command has besides what is shown."""
    return f"each with {PAIR_COUNT} pairs of -c, the same everywhere, and --git-dir={shell_word(common_dir)}"


def whole_commands(steps: Sequence[Step], common_dir: bytes) -> tuple[str, ...]:
    """Return what a shell would run, with every pair of `-c`; not what is only done if something fails."""
    commands = (_by_shell(step, common_dir) if step.act is not None else _whole(step, common_dir) for step in steps)
    return tuple(command for command in commands if command is not None)


def _shown(step: Step, *, is_recovery: bool) -> ShownStep:
    own = [f"{key}={value}" for key, value in step.config if (key, value) not in PINNED_CONFIG]
    command = _git(step, [word for pair in own for word in ("-c", pair)])
    return ShownStep(
        step.does, command if step.act is None else in_shell(step, "git"), step.act is not None, is_recovery
    )


def _whole(step: Step, common_dir: bytes) -> str:
    return _git(step, config_arguments(step.config), f"--git-dir={shell_word(common_dir)} ")


def _by_shell(step: Step, common_dir: bytes) -> str | None:
    pairs = " ".join(map(_word, config_arguments(step.config)))
    return in_shell(step, f"git --git-dir={shell_word(common_dir)} {pairs}")


def _git(step: Step, config: Sequence[str], where: str = "") -> str:
    words = " ".join(map(_word, [*config, *step.arguments]))
    given = f"printf %s {_word(step.stdin)} | " if step.stdin else ""
    return f"{given}git {where}{words}"


def _word(text: str) -> str:
    return shell_word(text.encode("utf-8", "surrogateescape"))
