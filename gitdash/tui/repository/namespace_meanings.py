"""What well-known reference namespaces are for, one clause each. Pure.

Sources: gitrepository-layout(5), git-notes(1), git-replace(1), git-bisect(1), git-filter-branch(1),
git-maintenance(1) `prefetch`, git-bundle(1); documentation of Gitaly ("object pools", "keep-around"), GitLab, GitHub,
Gerrit and Jujutsu.
"""

from typing import Final

_MEANINGS: Final = {
    "refs/heads": "branches",
    "refs/tags": "tags",
    "refs": "directly in refs, such as refs/stash",
    "refs/remotes": "what was fetched from a remote; in a Gitaly pool, references of the repository it is made from",
    "refs/notes": "notes on commits (git notes)",
    "refs/replace": "objects that stand in for others (git replace); gitdash switches them off",
    "refs/bisect": "marks of a bisection that is under way",
    "refs/original": "what filter-branch has rewritten, kept as it was",
    "refs/rewritten": "labels of a rebase that is under way",
    "refs/worktree": "references of one worktree alone",
    "refs/prefetch": "what git maintenance has fetched ahead of time",
    "refs/bundles": "tips of bundles that a fetch has taken in",
    "refs/keep-around": "GitLab: commits that must not go though no branch has them any more; they only ever grow",
    "refs/merge-requests": "GitLab: the head of each merge request, and what merging it would give",
    "refs/pipelines": "GitLab: commits that a pipeline is built from; deleted when it is done",
    "refs/environments": "GitLab: the commit of each deployment",
    "refs/dangling": "Gitaly pool: objects that no reference of the source has any more, kept because members may",
    "refs/tmp": "GitLab: references of operations that are under way; old ones were left behind",
    "refs/internal": "Gitaly: its own marks",
    "refs/pull": "GitHub, Gitea: the head of each pull request, and what merging it would give",
    "refs/changes": "Gerrit: each patch set of each change",
    "refs/cache-automerge": "Gerrit: automatic merges, to show what a person changed in them",
    "refs/meta": "Gerrit: configuration of the project",
    "refs/users": "Gerrit: settings of each user",
    "refs/jj": "Jujutsu: commits that its operation log knows",
    "refs/branchless": "git-branchless: commits that its event log knows",
    "(root)": "references outside of refs, such as HEAD",
    "(others)": "namespaces that are too many to be named",
}
_REMOTES: Final = "refs/remotes"
"""Has a namespace for each remote."""


def meaning_of(name: str) -> str:
    """Return what a namespace is for, by its name as `ReferenceNamespace` has it; empty if it is not known."""
    return _MEANINGS.get(_REMOTES if name.startswith(_REMOTES + "/") else name, "")
