"""The steps of tasks that write what is derived from packs and references, or check it.

Sources: git-multi-pack-index(1), git-commit-graph(1), git-pack-refs(1), git-index-pack(1); the recovery of VFS for Git:
what does not verify is removed and written anew. Pure.
"""

import os

from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.heuristics import (
    batch_bytes,
    can_have_bitmap,
    has_damaged_index,
    has_multi_pack_bitmap,
    pack_bitmap_names,
    packs_of,
    replaces_commit_graph,
)
from gitdash.maintenance.packing_steps import bitmap_config, loose_objects
from gitdash.maintenance.shell_words import posix_word
from gitdash.maintenance.steps import (
    REMOVE_COMMIT_GRAPH,
    REMOVE_MULTI_PACK_INDEX,
    REMOVE_ORPHAN_INDEXES,
    REMOVE_PACK_BITMAPS,
    act_step,
    copies_check,
    git_step,
    in_objects,
    removal,
)
from gitdash.model.inspection import Inspection, ReferenceBackend
from gitdash.model.plan import Step
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable


def incremental_repack(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Packs that the last step makes superfluous go with the next run, so that whoever reads them can finish."""
    written = _written_index(report)
    verified = _verified_index(report, written)
    return (
        *_repair(report),
        copies_check(report),
        written,
        git_step("remove superfluous packs", "multi-pack-index", "expire", replaces_packs=True),
        verified,
        git_step(
            "join small packs",
            "multi-pack-index",
            "repack",
            f"--batch-size={batch_bytes(packs_of(report))}",
            replaces_packs=True,
        ),
        verified,
    )


def multi_pack_index(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Write and verify. git looks for no other copy of what the index finds in a damaged pack."""
    written = _written_index(report)
    return *_repair(report), copies_check(report), written, _verified_index(report, written)


def multi_pack_bitmap(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """Loose objects are packed before, for a bitmap must be able to name all that is reachable.

    git opens one bitmap: those of packs go at the end.
    """
    written = git_step(
        "write the multi-pack-index with a bitmap",
        "multi-pack-index",
        "write",
        "--bitmap",
        config=bitmap_config(report, facts),
        replaces_packs=True,
    )
    verified = _verified_index(report, written)
    names = tuple(b"pack/" + os.fsencode(name) for name in pack_bitmap_names(report) if "\\" not in name)
    removed = (act_step(REMOVE_PACK_BITMAPS, by_shell=removal(report, names), replaces_packs=True),) if names else ()
    return *_repair(report), *loose_objects(report, facts), written, verified, *removed


def _repair(report: RepositoryReport) -> tuple[Step, ...]:
    """One that names absent packs, or cannot be read, goes first: git keeps such names when it updates an index."""
    return (_removed_index(report),) if has_damaged_index(report) else ()


def _written_index(report: RepositoryReport) -> Step:
    """Keep a bitmap that is there: without `--bitmap` git removes that of the old index.

    A reader that is open has the old index mapped, and would not look for the new one before it misses an object.
    """
    bitmap = ("--bitmap",) if has_multi_pack_bitmap(report) and can_have_bitmap(report) else ()
    return git_step("write the multi-pack-index", "multi-pack-index", "write", *bitmap, replaces_packs=True)


def _verified_index(report: RepositoryReport, written: Step) -> Step:
    recovery = (_removed_index(report), written)
    return git_step("verify it", "multi-pack-index", "verify", recovery=recovery)


def _removed_index(report: RepositoryReport) -> Step:
    single = removal(report, (b"pack/multi-pack-index", b"pack/multi-pack-index.d"))
    others = f"{posix_word(in_objects(report, b'pack'))}/multi-pack-index-*"
    return act_step(REMOVE_MULTI_PACK_INDEX, by_shell=f"{single} {others}", replaces_packs=True)


def commit_graph(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Write a layer more or all anew, and verify; one that cannot be read goes first."""
    graph = report.inspection.commit_graph if isinstance(report.inspection, Inspection) else None
    removed = _removed_graph(report)
    repair = (removed,) if isinstance(graph, Unreadable) else ()
    split = ("--split=replace",) if replaces_commit_graph(graph) else ("--split", "--size-multiple=4")
    recovery = (removed, _written_graph("--split=replace"))
    verified = git_step("verify it", "commit-graph", "verify", recovery=recovery)
    return *repair, _written_graph(*split), verified


def _written_graph(*split: str) -> Step:
    return git_step("write the commit-graph", "commit-graph", "write", "--reachable", "--changed-paths", *split)


def _removed_graph(report: RepositoryReport) -> Step:
    return act_step(REMOVE_COMMIT_GRAPH, by_shell=removal(report, (b"info/commit-graph", b"info/commit-graphs")))


def pack_refs(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Pack all, tags and branches; with reftables the same command makes one table of all."""
    is_reftable = (
        isinstance(report.inspection, Inspection) and report.inspection.reference_backend is ReferenceBackend.REFTABLE
    )
    does = "compact the tables of references" if is_reftable else "pack loose references"
    return (git_step(does, "pack-refs", "--all", "--prune"),)


def index_pack(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """A name with an escape in it may not be the name on disk: it is left alone."""
    facts = report.inspection.packs if isinstance(report.inspection, Inspection) else None
    names = () if facts is None or isinstance(facts, Unreadable) else facts.missing_index_names
    return tuple(
        git_step(
            f"make the index of {name}",
            "index-pack",
            os.fsdecode(in_objects(report, b"pack/" + name.encode())),
            replaces_packs=True,
        )
        for name in names
        if "\\" not in name and not name.startswith(".")
    )


def orphan_indexes(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """The shell, too, looks again whether the pack is gone."""
    facts = report.inspection.packs if isinstance(report.inspection, Inspection) else None
    names = () if facts is None or isinstance(facts, Unreadable) else facts.orphan_index_names
    commands = [
        f"[ -e {_pack_word(report, name.removesuffix('.idx') + '.pack')} ] || rm -f -- {_pack_word(report, name)}"
        for name in names
        if "\\" not in name
    ]
    return (act_step(REMOVE_ORPHAN_INDEXES, by_shell="; ".join(commands) or None, replaces_packs=True),)


def _pack_word(report: RepositoryReport, name: str) -> str:
    return posix_word(in_objects(report, b"pack/" + name.encode()))
