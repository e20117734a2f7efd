"""One repository before the rules: its facts, the policy and the moment, and which parts could be read.

A part that is absent and a part that could not be read are both None here, so that no rule draws a conclusion from
what nobody saw; `access.py` is where unreadable parts become a finding. The few questions that many rules ask stand
here once. It judges nothing.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from gitdash.assessment.sentences import shell_word
from gitdash.assessment.subject import Subject
from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts
from gitdash.model.inspection import (
    AlternatesFacts,
    CommitGraphFacts,
    Inspection,
    LockFile,
    LooseFacts,
    MultiPackIndexFacts,
    PackFacts,
    ReferenceFacts,
)
from gitdash.model.policy import Policy
from gitdash.model.repository import RepositoryKind, Role, Unreadable

_Part = TypeVar("_Part")


def readable(part: _Part | Unreadable | None) -> _Part | None:
    """Return the part, or None if it is absent or could not be read."""
    return None if isinstance(part, Unreadable) else part


@dataclass(frozen=True, kw_only=True)
class Case:
    """What every rule gets.

    Parts are kept once they were asked for, and so it has no slots: all rules together ask 250 times a repository,
    which was half of the time to judge one.
    """

    subject: Subject
    policy: Policy
    now_s: float
    """Seconds since the epoch; ages are counted up to it."""

    @cached_property
    def inspection(self) -> Inspection | None:
        """The facts of the files; None if the repository could not be read at all."""
        return readable(self.subject.inspection)

    @cached_property
    def packs(self) -> PackFacts | None:
        """`objects/pack`."""
        return readable(self.inspection.packs) if self.inspection else None

    @cached_property
    def loose(self) -> LooseFacts | None:
        """Loose objects."""
        return readable(self.inspection.loose) if self.inspection else None

    @cached_property
    def multi_pack_index(self) -> MultiPackIndexFacts | None:
        """The multi-pack-index."""
        return readable(self.inspection.multi_pack_index) if self.inspection else None

    @cached_property
    def commit_graph(self) -> CommitGraphFacts | None:
        """The commit-graph."""
        return readable(self.inspection.commit_graph) if self.inspection else None

    @cached_property
    def references(self) -> ReferenceFacts | None:
        """References."""
        return readable(self.inspection.references) if self.inspection else None

    @cached_property
    def alternates(self) -> AlternatesFacts | None:
        """The alternates file."""
        return readable(self.inspection.alternates) if self.inspection else None

    @cached_property
    def config(self) -> ConfigFacts | None:
        """The repository's own config."""
        return readable(self.inspection.config) if self.inspection else None

    @property
    def locks(self) -> tuple[LockFile, ...]:
        """Locks and `gc.pid`."""
        return self.inspection.locks if self.inspection else ()

    def concerns(self, effect: ConfigEffect) -> tuple[ConfigConcern, ...]:
        """Return the keys of the config that have this effect."""
        return tuple(concern for concern in self.config.concerns if concern.effect is effect) if self.config else ()

    @property
    def is_served(self) -> bool:
        """Others clone or fetch from it: it is bare or a pool. Else it is somebody's working clone."""
        return self.subject.repository.kind is RepositoryKind.BARE or self.is_lender

    @property
    def is_member(self) -> bool:
        """It borrows objects."""
        return Role.MEMBER in self.subject.roles

    @property
    def is_lender(self) -> bool:
        """It lends objects, as far as is known."""
        return Role.POOL in self.subject.roles or bool(self.subject.borrowers)

    @cached_property
    def object_count(self) -> int:
        """Objects stored here, counting one that is in two packs twice; packs without a readable index count 0."""
        packed_count = sum(pack.object_count or 0 for pack in self.packs.packs) if self.packs else 0
        return packed_count + (self.loose.count if self.loose else 0)

    @cached_property
    def has_lost_lender(self) -> bool:
        """Some of its objects may be in a store that cannot be used."""
        lenders = self.alternates.alternates if self.alternates else ()
        return any(lender.problem or not lender.exists for lender in lenders)

    @property
    def may_lack_objects(self) -> bool:
        """A lender is lost, or nobody can read who the lenders are."""
        is_unknown = self.inspection is not None and isinstance(self.inspection.alternates, Unreadable)
        return is_unknown or self.has_lost_lender

    @property
    def git_command(self) -> str:
        """The start of a command line that addresses this repository, for a shell.

        `--git-dir` switches git's ownership check off, and so it is for repositories of one's own.
        """
        repository = self.subject.repository
        if repository.kind in {RepositoryKind.WORKTREE, RepositoryKind.LINKED_WORKTREE} or repository.is_foreign:
            return f"git -C {shell_word(repository.path)}"
        return f"git --git-dir={shell_word(repository.git_dir)}"

    @property
    def pack_folder(self) -> bytes:
        """The absolute path of `objects/pack`."""
        return self.subject.repository.common_dir + b"/objects/pack"

    def age_s(self, mtime_s: float) -> float:
        """Return how old something is; 0 for a time in the future."""
        return max(0.0, self.now_s - mtime_s)
