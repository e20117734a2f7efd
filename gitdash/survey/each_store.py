"""Which of several repositories an action is done in, where some of them have one object store in common. Pure."""

from collections.abc import Iterable

from gitdash.model.repository import Repository


def each_store_once(repositories: Iterable[Repository]) -> list[Repository]:
    """Return one repository of each store, in order: that whose own it is, else the first of its linked worktrees."""
    chosen: dict[bytes, Repository] = {}
    for repository in repositories:
        other = chosen.setdefault(repository.common_dir, repository)
        if repository.has_own_store and not other.has_own_store:
            chosen[repository.common_dir] = repository
    return [*chosen.values()]
