"""Refusals because of keys in the repository's config that no override makes harmless for the task.

Pure: inspection has found the keys. What the overrides of every call and the pins of maintenance do neutralise is no
reason to refuse.
"""

from typing import Final

from gitdash.assessment.sentences import listed
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.heuristics import config_of
from gitdash.maintenance.refusal_rule import ALL, PACKING, JudgedRule, RefusalRule
from gitdash.model.config_facts import ConfigConcern, ConfigEffect
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task

_FSCK: Final = frozenset({Task.VERIFY, Task.DEDUPLICATE, Task.UNLINK, Task.RECLAIM})
_CONFIGURED_HOOKS: Final = ((2, 54), (2, 55))
"""Versions that run a hook from the config alone and cannot be told by its event not to: from, before."""


def config_stops_git(report: RepositoryReport, _facts: ActionFacts, task: Task) -> str | None:
    """Refuse where git refuses a value; no override helps, for git reads every occurrence of a key."""
    effects = {ConfigEffect.STOPS_GIT} | ({ConfigEffect.STOPS_MAINTENANCE} if task in PACKING else set())
    concerns = [concern for concern in _concerns(report) if concern.effect in effects]
    return f"git refuses its config: {_keys(concerns)}" if concerns else None


def config_runs_program(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    """Refuse where the config names a program that the task would run in spite of all overrides."""
    first, fixed = _CONFIGURED_HOOKS
    concerns = [
        concern
        for concern in _concerns(report)
        if (task is Task.PACK_REFS and _is_configured_hook(concern) and first <= facts.git_version < fixed)
        or (task is Task.RECLAIM and concern.key == "gc.recentobjectshook")
    ]
    return f"its config would run a program: {_keys(concerns)}" if concerns else None


def _is_configured_hook(concern: ConfigConcern) -> bool:
    return concern.key.startswith("hook.") and concern.key.endswith(".command")


def config_reads_outside(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse where fsck would read a file of the config's choice, which may be one that never ends."""
    concerns = [concern for concern in _concerns(report) if concern.key == "fsck.skiplist"]
    return f"its config makes fsck read {concerns[0].value}: fsck.skipList" if concerns else None


def _concerns(report: RepositoryReport) -> tuple[ConfigConcern, ...]:
    config = config_of(report)
    return () if config is None else config.concerns


def _keys(concerns: list[ConfigConcern]) -> str:
    return listed([concern.key for concern in concerns])


RULES: Final[tuple[JudgedRule, ...]] = (
    (
        RefusalRule(
            id="config-stops-git",
            tasks=ALL,
            meaning="every command dies",
            source="values that git refuses, tried with git 2.39 to 2.55",
        ),
        config_stops_git,
    ),
    (
        RefusalRule(
            id="config-runs-program",
            tasks=frozenset({Task.PACK_REFS, Task.RECLAIM}),
            meaning="a program of the config's choice would run as us",
            source="`hook.NAME.command` with git 2.54, gc.recentObjectsHook",
        ),
        config_runs_program,
    ),
    (
        RefusalRule(
            id="config-reads-outside",
            tasks=_FSCK,
            meaning="a FIFO never ends",
            source="fsck.skipList",
        ),
        config_reads_outside,
    ),
)
"""What the config must not say."""
