"""What was published of each experiment elsewhere, a sentence or two: what one may expect to see here in kind.

Source: Gitaly's measurements of gitlab-org/gitlab (2022), git's commit that added the lookup table of bitmaps (2022),
those of VFS for Git and of clones on a network mount, and what was found while gitdash was designed.
"""

from collections.abc import Mapping
from typing import Final

from gitdash.model.experiment import ExperimentKind

_CLONES: Final = (
    "Published (clones on a network mount that differ in how absent names are asked for): 624 s, 4957 s and 577 s."
)
PUBLISHED: Final[Mapping[ExperimentKind, str]] = {
    ExperimentKind.SIZE: "Published (Gitaly, gitlab-org/gitlab): everything reachable 3.6 s with a bitmap against"
    " 13.3 s without; without the lender it flips, 68 s with a bitmap against 6.8 s without.",
    ExperimentKind.FETCH: "Published (Gitaly, gitlab-org/gitlab): a fetch into a member took 28.5 s with the lender's"
    " references offered, and 16.4 s without: 1.74 times.",
    ExperimentKind.CONNECTIVITY: "Published (git, lookup table of bitmaps): a tip 23.1 to 11.2 ms, all branches 22.5 to"
    " 11.2 ms, branches and tags 66.8 to 57.3 ms; with --not --all slower, 28.6 to 35.1 ms.",
    ExperimentKind.LOOKUP: "Published (VFS for Git): 2.5 s for a look-up among many packs, against 2 ms in one. Ours,"
    " with git 2.39 and 800 packs: the first 15 ms, 3 ms with a multi-pack-index, 2 ms in one pack; missing 1.5 ms,"
    " 1.5 ms and 0.05 ms.",
    ExperimentKind.FILESYSTEM: _CLONES,
    ExperimentKind.CLONE: _CLONES,
}
