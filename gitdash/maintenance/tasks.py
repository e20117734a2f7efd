"""What each task consists of: the exact git commands, and the acts of gitdash's own, in order.

Sources: git-repack(1), git-pack-objects(1), git-multi-pack-index(1), git-commit-graph(1), git-fsck(1), git-prune(1);
Gitaly's housekeeping and the steps of VFS for Git; each tried with git 2.39.5, 2.47.3 and 2.55.0, with packed, loose,
unreachable and borrowed objects. Pure: whether a task may run, `refusals` says.

Two things decide how a command is put. Nothing but RECLAIM drops an object: repacks keep what is unreachable, by a
cruft pack without expiry or, in a lender, by `--keep-unreachable`. And in a member `prune-packed`, which every
`repack -d` runs, and `--local` both remove own copies of what a lender has: only DEDUPLICATE does that, after the
lenders are checked. So in a member loose objects are packed as elsewhere, and what is then removed are loose copies of
what *own* packs have, which no git command does, and so gitdash does it itself.
"""

import os
from collections.abc import Callable
from typing import Final

from gitdash.assessment.sentences import shell_word
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.heuristics import (
    batch_bytes,
    can_have_bitmap,
    has_multi_pack_bitmap,
    is_member,
    own_bitmap_names,
    packs_of,
    replaces_commit_graph,
    wants_bitmap,
    wants_pseudo_merges,
)
from gitdash.maintenance.lending import lending_hints
from gitdash.maintenance.pins import PINNED_CONFIG
from gitdash.model.inspection import Inspection, MultiPackIndexFacts, ReferenceBackend
from gitdash.model.plan import Step
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task

ALLOWED_IN_LENDER: Final = frozenset(
    {
        Task.LOOSE_OBJECTS,
        Task.INCREMENTAL_REPACK,
        Task.GEOMETRIC_REPACK,
        Task.FULL_REPACK,
        Task.BITMAP,
        Task.MULTI_PACK_BITMAP,
        Task.MULTI_PACK_INDEX,
        Task.COMMIT_GRAPH,
        Task.PACK_REFS,
        Task.INDEX_PACK,
        Task.SWEEP,
        Task.ORPHAN_INDEXES,
        Task.VERIFY,
    }
)
"""What may be done to a repository from which others borrow: all that keeps every object where borrowers find it."""

RECLAIM_GRACE_S: Final = 14 * 86_400.0
"""What RECLAIM drops is older than this: git's own `gc.pruneExpire`, and the least that a person may ask for."""
_RECLAIM_EXPIRY: Final = "2.weeks.ago"

CHECK_LENDERS: Final = "check-lenders"
LEAVE_LENDERS: Final = "leave-lenders"
LINK_LENT_OBJECTS: Final = "link-lent-objects"
REMOVE_BITMAPS: Final = "remove-bitmaps"
REMOVE_COMMIT_GRAPH: Final = "remove-commit-graph"
REMOVE_MULTI_PACK_INDEX: Final = "remove-multi-pack-index"
REMOVE_ORPHAN_INDEXES: Final = "remove-orphan-indexes"
REMOVE_PACKED_LOOSE: Final = "remove-packed-loose"
SWEEP: Final = "sweep"
ACTS: Final = {
    CHECK_LENDERS: "see that every lender is there, that everything reachable here is there with them, and that what"
    " they have of it is reachable there",
    LEAVE_LENDERS: "set the alternates file aside as a backup, see that everything reachable is here, and put the file"
    " back if anything is not",
    LINK_LENT_OBJECTS: "make hard links here to all objects of all lenders, or copies across file systems",
    REMOVE_BITMAPS: "remove the bitmap files of this repository",
    REMOVE_COMMIT_GRAPH: "remove the commit-graph or its chain",
    REMOVE_MULTI_PACK_INDEX: "remove the multi-pack-index, its bitmap and its chain",
    REMOVE_ORPHAN_INDEXES: "remove index files whose pack is gone",
    REMOVE_PACKED_LOOSE: "remove loose objects that an index of this repository's own packs lists",
    SWEEP: "remove temporary files, locks and transfer marks that are older than their age and open in no process",
}
"""Acts of gitdash's own, by name, and what each does."""

PSEUDO_MERGE_CONFIG: Final = (("bitmapPseudoMerge.gitdash.pattern", "refs/"),)
"""All references, in git's own groups by age."""
_PSEUDO_MERGES_SINCE: Final = (2, 46)


def steps_of(task: Task, report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """Return what a task does to a repository, in order; git is called with the common directory as `--git-dir`."""
    return _STEPS[task](report, facts)


def _git(
    does: str,
    *arguments: str,
    config: tuple[tuple[str, str], ...] = (),
    replaces_packs: bool = False,
    recovery: tuple[Step, ...] = (),
) -> Step:
    return Step(
        does=does,
        arguments=arguments,
        config=PINNED_CONFIG + config,
        replaces_packs=replaces_packs,
        recovery=recovery,
    )


def _act(name: str, *, by_shell: str | None = None, replaces_packs: bool = False) -> Step:
    return Step(does=ACTS[name], act=name, shell=by_shell, replaces_packs=replaces_packs)


def _objects(report: RepositoryReport, below: bytes) -> bytes:
    return report.repository.common_dir + b"/objects/" + below


def _remove(report: RepositoryReport, below: tuple[bytes, ...]) -> str:
    words = " ".join(shell_word(_objects(report, name)) for name in below)
    return f"rm -rf -- {words}"


def _loose_objects(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Without `-q` of prune-packed it talks; `--pack-loose-unreachable` takes what no reference reaches, too."""
    removal = (
        _act(REMOVE_PACKED_LOOSE)
        if is_member(report)
        else _git("remove loose copies of what is packed", "prune-packed", "--quiet")
    )
    return _pack_loose(report), removal


def _pack_loose(report: RepositoryReport) -> Step:
    return _git(
        "pack loose objects, unreachable ones too",
        "pack-objects",
        "--pack-loose-unreachable",
        "--local",
        "--incremental",
        "--non-empty",
        "--quiet",
        os.fsdecode(_objects(report, b"pack/pack")),
    )


def _incremental_repack(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Packs that the last step makes superfluous go with the next run, so that whoever reads them can finish."""
    return (
        *_renewed_index(report),
        _git("remove packs that it does not need", "multi-pack-index", "expire", "--no-progress", replaces_packs=True),
        _verified_index(report),
        _git(
            "join small packs",
            "multi-pack-index",
            "repack",
            f"--batch-size={batch_bytes(packs_of(report))}",
            "--no-progress",
            replaces_packs=True,
        ),
        _verified_index(report),
    )


def _multi_pack_index(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    return *_renewed_index(report), _verified_index(report)


def _renewed_index(report: RepositoryReport) -> tuple[Step, ...]:
    """One that names absent packs, or cannot be read, goes first: git keeps such names when it updates an index."""
    index = report.inspection.multi_pack_index if isinstance(report.inspection, Inspection) else None
    is_damaged = isinstance(index, Unreadable) or (
        isinstance(index, MultiPackIndexFacts) and index.missing_pack_count > 0
    )
    removal = (_removed_index(report),) if is_damaged else ()
    return *removal, _written_index(report)


def _written_index(report: RepositoryReport) -> Step:
    """Keep a bitmap that is there: without `--bitmap` git removes that of the old index."""
    bitmap = ("--bitmap",) if has_multi_pack_bitmap(report) and can_have_bitmap(report) else ()
    return _git("write the multi-pack-index", "multi-pack-index", "write", *bitmap, "--no-progress")


def _verified_index(report: RepositoryReport) -> Step:
    return _git(
        "verify it",
        "multi-pack-index",
        "verify",
        "--no-progress",
        recovery=(_removed_index(report), _written_index(report)),
    )


def _removed_index(report: RepositoryReport) -> Step:
    removal = _remove(report, (b"pack/multi-pack-index", b"pack/multi-pack-index.d"))
    folder = shell_word(_objects(report, b"pack"))
    return _act(REMOVE_MULTI_PACK_INDEX, by_shell=f"{removal} {folder}/multi-pack-index-*", replaces_packs=True)


def _geometric_repack(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    return (
        _git(
            "join packs until each has twice the objects of the next smaller",
            "repack",
            "--geometric=2",
            "-d",
            "-l",
            "--quiet",
            "--write-midx",
            *_bitmap_option(report),
            config=_bitmap_config(report, facts),
            replaces_packs=True,
        ),
    )


def _bitmap_option(report: RepositoryReport) -> tuple[str, ...]:
    return ("--write-bitmap-index",) if wants_bitmap(report) else ("--no-write-bitmap-index",)


def _full_repack(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    return (
        _git(
            "pack everything, and keep what is unreachable",
            *_keeping_everything(report),
            "--write-midx",
            *_bitmap_option(report),
            config=_bitmap_config(report, facts),
            replaces_packs=True,
        ),
    )


def _keeping_everything(report: RepositoryReport) -> tuple[str, ...]:
    """Return the command that packs all into one pack and drops nothing.

    A lender's unreachable objects are as good as any other: borrowers may reach them, and so they go into the same
    pack, where bitmaps and deltas see them (Gitaly does so in pools). Elsewhere they go into a cruft pack, which keeps
    the age of each. The order of the letters is git-repack(1)'s; `-k` is `--keep-unreachable`.
    """
    if lending_hints(report):
        return "repack", "-a", "-d", "-l", "-k", "--quiet"
    return "repack", "--cruft", "--cruft-expiration=never", "-d", "-l", "--quiet"


def _bitmap(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """In a member all bitmaps go: git opens one, and only the lender's can be complete."""
    if is_member(report):
        names = tuple(b"pack/" + os.fsencode(name) for name in own_bitmap_names(report) if "\\" not in name)
        return (_act(REMOVE_BITMAPS, by_shell=_remove(report, names) if names else None, replaces_packs=True),)
    return (
        _git(
            "pack everything, keep what is unreachable, and write a bitmap",
            *_keeping_everything(report),
            "--write-bitmap-index",
            config=_bitmap_config(report, facts),
            replaces_packs=True,
        ),
    )


def _multi_pack_bitmap(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """Loose objects are packed before, for a bitmap must be able to name all that is reachable."""
    return (
        *_loose_objects(report, facts),
        _git(
            "write the multi-pack-index with a bitmap",
            "multi-pack-index",
            "write",
            "--bitmap",
            "--no-progress",
            config=_bitmap_config(report, facts),
        ),
        _verified_index(report),
    )


def _bitmap_config(report: RepositoryReport, facts: ActionFacts) -> tuple[tuple[str, str], ...]:
    has_pseudo_merges = facts.git_is_at_least(*_PSEUDO_MERGES_SINCE) and wants_pseudo_merges(report)
    return PSEUDO_MERGE_CONFIG if has_pseudo_merges else ()


def _deduplicate(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    return (
        _act(CHECK_LENDERS),
        _git(
            "repack without what the lenders have, and keep what is unreachable",
            "repack",
            "-a",
            "-d",
            "-l",
            "-k",
            "--quiet",
            "--no-write-bitmap-index",
            replaces_packs=True,
        ),
        _verification(),
    )


def _commit_graph(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    graph = report.inspection.commit_graph if isinstance(report.inspection, Inspection) else None
    removal = (_removed_graph(report),) if isinstance(graph, Unreadable) else ()
    split = ("--split=replace",) if replaces_commit_graph(graph) else ("--split", "--size-multiple=4")
    again = _written_graph("--split=replace")
    verified = _git("verify it", "commit-graph", "verify", "--no-progress", recovery=(_removed_graph(report), again))
    return *removal, _written_graph(*split), verified


def _written_graph(*split: str) -> Step:
    return _git(
        "write the commit-graph", "commit-graph", "write", "--reachable", "--changed-paths", *split, "--no-progress"
    )


def _removed_graph(report: RepositoryReport) -> Step:
    return _act(REMOVE_COMMIT_GRAPH, by_shell=_remove(report, (b"info/commit-graph", b"info/commit-graphs")))


def _pack_refs(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    is_reftable = (
        isinstance(report.inspection, Inspection) and report.inspection.reference_backend is ReferenceBackend.REFTABLE
    )
    does = "compact the tables of references" if is_reftable else "pack loose references"
    return (_git(does, "pack-refs", "--all", "--prune"),)


def _index_pack(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """A name with an escape in it may not be the name on disk: it is left alone."""
    facts = report.inspection.packs if isinstance(report.inspection, Inspection) else None
    names = () if facts is None or isinstance(facts, Unreadable) else facts.missing_index_names
    return tuple(
        _git(
            f"make the index of {name}",
            "index-pack",
            os.fsdecode(_objects(report, b"pack/" + name.encode() + b".pack")),
            replaces_packs=True,
        )
        for name in names
        if "\\" not in name and not name.startswith(".")
    )


def _sweep(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """No shell can see which process has a file open, so none should do it."""
    return (_act(SWEEP),)


def _orphan_indexes(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    facts = report.inspection.packs if isinstance(report.inspection, Inspection) else None
    names = () if facts is None or isinstance(facts, Unreadable) else facts.orphan_index_names
    commands = [
        f"[ -e {_pack_word(report, name.removesuffix('.idx') + '.pack')} ] || rm -f -- {_pack_word(report, name)}"
        for name in names
        if "\\" not in name
    ]
    return (_act(REMOVE_ORPHAN_INDEXES, by_shell="; ".join(commands) or None, replaces_packs=True),)


def _pack_word(report: RepositoryReport, name: str) -> str:
    return shell_word(_objects(report, b"pack/" + name.encode()))


def _verify(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    return (_verification(),)


def _verification() -> Step:
    """Lenders are part of what git checks; `--no-dangling` keeps it from listing what nobody misses."""
    return _git(
        "see that everything reachable is there",
        "fsck",
        "--connectivity-only",
        "--no-dangling",
        "--no-progress",
    )


def _unlink(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    return _act(LINK_LENT_OBJECTS, replaces_packs=True), _act(LEAVE_LENDERS, replaces_packs=True), _verification()


def _reclaim(_report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """First what is packed, then what is loose; the repack explodes nothing into loose objects."""
    return (
        _verification(),
        _git(
            f"drop packed objects that are unreachable for longer than {_RECLAIM_EXPIRY.removesuffix('.ago')}",
            "repack",
            "--cruft",
            f"--cruft-expiration={_RECLAIM_EXPIRY}",
            "-d",
            "-l",
            "--quiet",
            "--no-write-bitmap-index",
            replaces_packs=True,
        ),
        _git("drop such loose objects", "prune", f"--expire={_RECLAIM_EXPIRY}", "--no-progress"),
        _verification(),
    )


_STEPS: Final[dict[Task, Callable[[RepositoryReport, ActionFacts], tuple[Step, ...]]]] = {
    Task.LOOSE_OBJECTS: _loose_objects,
    Task.INCREMENTAL_REPACK: _incremental_repack,
    Task.GEOMETRIC_REPACK: _geometric_repack,
    Task.FULL_REPACK: _full_repack,
    Task.DEDUPLICATE: _deduplicate,
    Task.BITMAP: _bitmap,
    Task.MULTI_PACK_BITMAP: _multi_pack_bitmap,
    Task.MULTI_PACK_INDEX: _multi_pack_index,
    Task.COMMIT_GRAPH: _commit_graph,
    Task.PACK_REFS: _pack_refs,
    Task.INDEX_PACK: _index_pack,
    Task.SWEEP: _sweep,
    Task.ORPHAN_INDEXES: _orphan_indexes,
    Task.VERIFY: _verify,
    Task.UNLINK: _unlink,
    Task.RECLAIM: _reclaim,
}
