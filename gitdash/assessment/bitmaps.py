"""Rules on reachability bitmaps, across a repository and its lenders.

Sources: gitformat-bitmap(5), git-config(1) `repack.writeBitmaps`, Gitaly's check of bitmaps over a repository and its
pool. A member gets none (git cannot write one for packs that are not closed under reachability): its lender should have
it. Whether a bitmap is up to date only git can say.
"""

from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.commands import file_command
from gitdash.assessment.rule import Judge, Rule
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import BitmapSource
from gitdash.units import counted, human_count

NO_BITMAP = Rule(
    id="no-bitmap",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="no bitmap",
    meaning="Every clone and every size query walks the whole history. Judged where one belongs: in bare repositories"
    " and pools with many objects; not in members, shallow or partial repositories.",
    source="objects; from policy commit_graph_minimum_objects a notice, from large_object_count a warning",
    remedy="`{git} repack --geometric=2 -d -l --write-midx --write-bitmap-index`",
    task="bitmap",
    needs_all_objects=True,
    policy_keys=("commit_graph_minimum_objects", "large_object_count"),
)
SEVERAL_BITMAPS = Rule(
    id="several-bitmaps",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="several bitmaps",
    meaning="git opens one bitmap and ignores the others, so with one here and one in a lender it is a matter of order"
    " which it is; those in one repository only waste space.",
    source="bitmap files; one is right; Gitaly counts over a repository and its pool",
    remedy="remove the member's own .bitmap files: they hold no object, and the lender's serves the member, too",
    task="bitmap",
    needs_all_objects=True,
)


def no_bitmap(case: Case) -> Iterator[Finding]:
    """Yield a finding if a repository that others clone has no bitmap, neither of its own nor of a lender."""
    if not case.is_served or case.is_member or _has_or_may_have_bitmap(case) or _cannot_use_bitmap(case):
        return
    object_count = case.object_count
    if object_count < case.policy.commit_graph_minimum_objects:
        return
    is_disabled = case.config is not None and case.config.bitmaps_disabled
    is_large = object_count >= case.policy.large_object_count
    least_count = case.policy.large_object_count if is_large else case.policy.commit_graph_minimum_objects
    yield NO_BITMAP.finding(
        case,
        Severity.WARNING if is_large else Severity.NOTICE,
        f"no bitmap for {counted(object_count, 'object')}"
        + ("; the config switches bitmaps off" if is_disabled else ""),
        {"object_count": object_count},
        formula=f"{object_count:,} >= {least_count:,} objects",
    )


def _has_or_may_have_bitmap(case: Case) -> bool:
    """A bitmap that could not be read is not absent."""
    if case.inspection is None or case.packs is None or case.inspection.bitmaps:
        return True
    return any(name.endswith(".bitmap") for name in case.packs.unreadable_names) or any(
        problem.path.endswith(".bitmap") for problem in case.inspection.problems
    )


def _cannot_use_bitmap(case: Case) -> bool:
    """A shallow repository cannot use one, a partial one cannot be closed, and Scalar does without by design."""
    is_shallow = case.inspection is not None and case.inspection.shallow
    config = case.config
    return is_shallow or (config is not None and (config.partial_clone or config.scalar_enlistment))


def several_bitmaps(case: Case) -> Iterator[Finding]:
    """Yield a finding if git has more than one bitmap to choose from; the layers of a chain count as one."""
    bitmaps = case.inspection.bitmaps if case.inspection else ()
    pack_count = sum(bitmap.source is BitmapSource.PACK for bitmap in bitmaps)
    local_count = pack_count + (pack_count < len(bitmaps))
    lender_count = sum(bool(lender.bitmap_count) for lender in case.subject.lenders)
    if local_count + lender_count < 2:
        return
    is_across = lender_count > 0
    where = (
        f"{human_count(local_count)} here, {counted(lender_count, 'lender')} with one"
        if is_across
        else "all of them here"
    )
    yield SEVERAL_BITMAPS.finding(
        case,
        Severity.WARNING if is_across else Severity.NOTICE,
        f"{counted(local_count + lender_count, 'bitmap')} to choose from ({where}); git uses one",
        {"local_bitmap_count": local_count, "lender_bitmap_count": lender_count},
        remedy=_one_bitmap_remedy(case, lender_count),
        formula=f"{local_count:,} here + {lender_count:,} in lenders = {local_count + lender_count:,} > 1 bitmap",
    )


def _one_bitmap_remedy(case: Case, lender_count: int) -> str:
    """Say which bitmaps to remove: all where a lender has one, else all but the one that git opens."""
    bitmaps = case.inspection.bitmaps if case.inspection else ()
    of_packs = [bitmap for bitmap in bitmaps if bitmap.source is BitmapSource.PACK]
    if not bitmaps:
        return "none is needed here; one pool that fetches from all lenders can replace them"
    if lender_count == 0 and len(of_packs) == len(bitmaps):
        return "`{git} repack -a -d -l -k --write-bitmap-index` leaves one"
    superfluous = of_packs if lender_count == 0 else bitmaps
    removal = file_command("rm --", case.pack_folder, [bitmap.name for bitmap in superfluous])
    left = "that of the multi-pack-index stays" if lender_count == 0 else "the lender's serves here, too"
    return f"{removal}: they hold no object, and {left}"


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (NO_BITMAP, no_bitmap),
    (SEVERAL_BITMAPS, several_bitmaps),
)
