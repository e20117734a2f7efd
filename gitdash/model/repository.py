"""What discovery finds: repositories, and candidates that are none."""

import enum

import msgspec


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """A part that exists but could not be read. It is neither absent nor zero."""

    reason: str
    """One clause for people, lower case, without the path of the repository."""


class RepositoryKind(enum.StrEnum):
    """How a repository lies on disk."""

    BARE = "bare"
    WORKTREE = "worktree"
    """A work tree with a `.git` directory."""
    LINKED_WORKTREE = "linked_worktree"
    """A work tree with a `.git` file whose object store is another repository's (`commondir`)."""
    SUBMODULE = "submodule"
    """A git directory below another's `modules`."""


class Role(enum.StrEnum):
    """What a repository is to others; a repository that borrows and lends is both member and pool."""

    PLAIN = "plain"
    MEMBER = "member"
    POOL = "pool"


class StorageLayout(enum.StrEnum):
    """Naming schemes of forges that say what a repository is for."""

    PLAIN = "plain"
    GITLAB_HASHED = "gitlab_hashed"
    """`@hashed/xx/yy/<64 hex>.git`."""
    GITLAB_POOL = "gitlab_pool"
    """`@pools/xx/yy/<64 hex>.git` or `@cluster/pools/xx/yy/<digits>`."""


class Repository(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A repository that discovery found. Its identity is `path`."""

    path: bytes
    """Absolute: the work tree, or the git directory where there is none."""
    git_dir: bytes
    """Absolute: HEAD and the index live here."""
    common_dir: bytes
    """Absolute: objects, refs and config live here; equals `git_dir` except in a linked worktree."""
    kind: RepositoryKind
    layout: StorageLayout = StorageLayout.PLAIN
    root: bytes
    """The root below which it was found."""
    foreign_owner_uid: int | None = None
    """The other user's id if git's ownership check would refuse it; None if it is ours."""
    foreign_path: bytes | None = None
    """The first of work tree, `.git` entry and git directory that another user owns."""
    trusted_by_config: bool = False
    """The user's config vouches for this root's ownership (`[[root]] trust_owner = true`)."""
    problem: str | None = None
    """Why it cannot be taken for a repository although it clearly was one; then nothing else of it is read."""

    @property
    def has_own_store(self) -> bool:
        """Whether objects are its own: those of a linked worktree are another repository's."""
        return self.kind is not RepositoryKind.LINKED_WORKTREE

    @property
    def is_foreign(self) -> bool:
        """Whether it is another user's, and the user's config does not vouch for it."""
        return self.foreign_owner_uid is not None and not self.trusted_by_config


class NotRepository(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Something that looked like a repository, or a folder that could not be searched."""

    path: bytes
    reason: str
    is_plain_file: bool = False
    """A file with the name of a repository: people call other things so, too, such as git its test data."""
