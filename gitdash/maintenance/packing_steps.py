"""The steps of tasks that write packs.

Sources: git-repack(1), git-pack-objects(1), git-prune(1), Gitaly's housekeeping. Why members and lenders differ stands
in `tasks`. Pure.
"""

import os
from typing import Final

from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.heuristics import (
    has_kept_pack,
    is_member,
    may_have_pseudo_merges,
    own_bitmap_names,
    wants_bitmap,
)
from gitdash.maintenance.lending import lending_hints
from gitdash.maintenance.steps import (
    CHECK_LENDERS,
    GIT,
    GIVE_UP_LENT_COPIES,
    REMOVE_BITMAPS,
    REMOVE_PACKED_LOOSE,
    act_step,
    copies_check,
    git_step,
    in_objects,
    removal,
    verification,
)
from gitdash.model.plan import Step
from gitdash.model.report import RepositoryReport

RECLAIM_EXPIRY: Final = "2.weeks.ago"
"""What RECLAIM drops is older than this: git's own `gc.pruneExpire`, and no grace may be shorter."""

PSEUDO_MERGE_CONFIG: Final = (("bitmapPseudoMerge.gitdash.pattern", "refs/"),)
"""All references, in git's own groups by age."""


def loose_objects(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """Pack all, then remove loose copies of what its own packs hold: a lender may be named between the two.

    `prune-packed`, which counts what a lender has packed, too, is for a shell, after it has looked for lenders.
    """
    by_shell = None if is_member(report) else f"{GIT} prune-packed --quiet"
    return _pack_loose(report), copies_check(report), act_step(REMOVE_PACKED_LOOSE, by_shell=by_shell)


def _pack_loose(report: RepositoryReport) -> Step:
    return git_step(
        "pack loose objects, unreachable ones too",
        "pack-objects",
        "--pack-loose-unreachable",
        *(("--local",) if is_member(report) else ()),
        "--incremental",
        "--non-empty",
        os.fsdecode(in_objects(report, b"pack/pack")),
    )


def geometric_repack(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """Loose objects go into the new pack, unreachable ones too; kept and cruft packs stay as they are.

    What a pack has that stays is left out of the new one, whether that pack is whole or not: it is read before.
    """
    return (
        copies_check(report),
        git_step(
            "join packs until each has twice the objects of the next smaller",
            "repack",
            "--geometric=2",
            "-d",
            *_server_info_option(facts),
            "--write-midx",
            *_bitmap_option(report),
            config=bitmap_config(report, facts),
            replaces_packs=True,
        ),
    )


def _bitmap_option(report: RepositoryReport) -> tuple[str, ...]:
    return ("--write-bitmap-index",) if wants_bitmap(report) else ("--no-write-bitmap-index",)


def full_repack(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """A bitmap, where one belongs, is that of the multi-pack-index: it covers kept packs, too."""
    return (
        *_kept_copies_check(report),
        git_step(
            "pack everything, and keep what is unreachable",
            *_keeping_everything(report, facts),
            "--write-midx",
            *_bitmap_option(report),
            config=bitmap_config(report, facts),
            replaces_packs=True,
        ),
    )


def _kept_copies_check(report: RepositoryReport) -> tuple[Step, ...]:
    """A rewrite of all packs reads each object, and a good copy where another is damaged; kept packs it trusts."""
    return (copies_check(report),) if has_kept_pack(report) else ()


def _keeping_everything(report: RepositoryReport, facts: ActionFacts) -> tuple[str, ...]:
    """Return the command that packs all into one pack and drops nothing.

    A lender's unreachable objects are as good as any other: borrowers may reach them, and so they go into the same
    pack, where bitmaps and deltas see them (Gitaly does so in pools). Elsewhere they go into a cruft pack, which keeps
    the age of each. The order of the letters is git-repack(1)'s; `-k` is `--keep-unreachable`. Without `-l`: it has no
    lender when this is planned, and if it has one when git runs, nothing may be left out because that one has it.
    """
    if lending_hints(report):
        return "repack", "-a", "-d", "-k", *_server_info_option(facts)
    return "repack", "--cruft", "--cruft-expiration=never", "-d", *_server_info_option(facts)


def _server_info_option(facts: ActionFacts) -> tuple[str, ...]:
    """Have git list packs and references for a server of files only where it has before.

    It takes long with many references, and writes to folders (`info`) that nothing else here writes to.
    """
    return () if facts.has_server_info else ("-n",)


def bitmap(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """In a member all bitmaps go: git opens one, and only the lender's can be complete."""
    if is_member(report):
        names = tuple(b"pack/" + os.fsencode(name) for name in own_bitmap_names(report) if "\\" not in name)
        return (act_step(REMOVE_BITMAPS, by_shell=removal(report, names) if names else None, replaces_packs=True),)
    return (
        git_step(
            "pack everything, keep what is unreachable, and write a bitmap",
            *_keeping_everything(report, facts),
            "--write-bitmap-index",
            config=bitmap_config(report, facts),
            replaces_packs=True,
        ),
    )


def bitmap_config(report: RepositoryReport, facts: ActionFacts) -> tuple[tuple[str, str], ...]:
    """Return what makes git write pseudo-merges, where they help, and git knows them and can make them.

    git takes each reference for that of a commit, whatever the pattern says: with a tag of a blob 2.47 dies of it, with
    one of a tree 2.55 does, too.
    """
    may_have = may_have_pseudo_merges(report, facts.git_version) and not facts.has_reference_to_no_commit
    return PSEUDO_MERGE_CONFIG if may_have else ()


def deduplicate(report: RepositoryReport, _facts: ActionFacts) -> tuple[Step, ...]:
    """The one task by which a member gives up its own copies of what lenders have."""
    return (
        act_step(CHECK_LENDERS),
        *_kept_copies_check(report),
        act_step(GIVE_UP_LENT_COPIES, replaces_packs=True),
        verification(),
    )


def reclaim(report: RepositoryReport, facts: ActionFacts) -> tuple[Step, ...]:
    """First what is packed, then what is loose; the repack explodes nothing into loose objects."""
    return (
        verification(),
        *_kept_copies_check(report),
        git_step(
            f"drop packed objects that are unreachable for longer than {RECLAIM_EXPIRY.removesuffix('.ago')}",
            "repack",
            "--cruft",
            f"--cruft-expiration={RECLAIM_EXPIRY}",
            "-d",
            *_server_info_option(facts),
            "--no-write-bitmap-index",
            replaces_packs=True,
        ),
        git_step("drop such loose objects", "prune", f"--expire={RECLAIM_EXPIRY}"),
        verification(),
    )
