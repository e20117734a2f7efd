"""What a rule is that speaks against tasks: a record that says everything about it, and a pure function.

The sets of tasks that several rules share stand here once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from gitdash.maintenance.action_facts import ActionFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task

ALL: Final = frozenset(Task)
CHANGING: Final = frozenset(task for task in Task if task.changes_repository)
REWRITING: Final = frozenset({Task.FULL_REPACK, Task.BITMAP, Task.DEDUPLICATE, Task.RECLAIM})
"""They write all packs anew."""
PACKING: Final = REWRITING | {
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.GEOMETRIC_REPACK,
    Task.MULTI_PACK_BITMAP,
}
"""They write packs and remove packs or loose objects."""
Judge: TypeAlias = Callable[[RepositoryReport, ActionFacts, Task], str | None]
"""Returns the reason, one clause with the evidence, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRule:
    """One rule, declared once; README and plans derive from it."""

    id: str
    """Kebab case; never renamed."""
    tasks: frozenset[Task]
    """It may speak against these."""
    meaning: str
    """What would go wrong otherwise, one sentence."""
    source: str
    """Where the rule comes from."""


JudgedRule: TypeAlias = tuple[RefusalRule, Judge]
