"""Plans as the dashboard gets them in tests and pictures: fixed, and made by no git."""

import os

from gitdash.maintenance.steps import ACTS, CHECK_LENDERS, SWEEP, act_step, git_step, verification
from gitdash.model.plan import Plan, PlannedTask, Refusal, Step
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from tests.tui.fixture_fleet import DUPLICATES, HOSTILE_NAMES, LOOSE, MIB, NO_BITMAP, PACKS_OUTSIDE, ROOT, STALE_LOCK

MEMBER = ROOT + b"/@hashed/6b/86/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b.git"
DEPLOY = ROOT + b"/infra/deploy.git"
WEB = ROOT + b"/team/web.git"
LOST = ROOT + b"/lost.git"
EMPTY = ROOT + b"/empty.git"

LOCKED = Refusal(
    rule="live-lock",
    reason="another git is at work: packed-refs.lock, no process seen holding it for 2h",
)
LENDER_UNSAFE = Refusal(
    rule="lender-unverified",
    reason="what the lender /srv/git/@pools/4b has of it is not seen to be reachable there",
)
TOO_LITTLE = Refusal(rule="too-little-space", reason="it needs 2.58 GiB of free space, and 1.20 GiB are free")


def repack(*options: str) -> Step:
    """The step of a repack."""
    return git_step("join packs until each has twice the objects of the next smaller", "repack", *options)


def member_plan() -> Plan:
    """A task that may run, and one that may not."""
    return Plan(
        path=MEMBER,
        common_dir=MEMBER,
        tasks=(
            PlannedTask(
                task=Task.DEDUPLICATE,
                because=(DUPLICATES.summary,),
                steps=(
                    act_step(CHECK_LENDERS),
                    git_step("repack without what the lenders have", "repack", "-a", "-d", "-l", "-k"),
                    verification(),
                ),
                gain="frees up to 4.41 MiB in 504 objects",
                needed_bytes=118 * MIB,
                refusals=(LENDER_UNSAFE,),
                notes=("afterwards these objects are in the lenders alone; a lender that drops them breaks this one",),
            ),
            PlannedTask(
                task=Task.INCREMENTAL_REPACK,
                because=(PACKS_OUTSIDE.summary,),
                steps=(
                    git_step(
                        "write the multi-pack-index",
                        "multi-pack-index",
                        "write",
                        config=(("core.multiPackIndex", "true"),),
                    ),
                    git_step("expire packs that it does not need", "multi-pack-index", "expire"),
                ),
                gain="one index over 37 packs; may join 36 of 55.1 MiB",
                needed_bytes=58 * MIB,
                notes=(
                    "packs that become superfluous go with the next run, for others may still read them",
                    "git maintenance is-needed --auto says yes",
                ),
            ),
        ),
    )


def deploy_plan() -> Plan:
    """All is refused for one reason, and one task for a second one."""
    return Plan(
        path=DEPLOY,
        common_dir=DEPLOY,
        refusals=(LOCKED,),
        tasks=(
            PlannedTask(
                task=Task.SWEEP,
                because=(STALE_LOCK.summary,),
                steps=(act_step(SWEEP),),
                gain="frees up to 0 B of 0 temporary files, and removes stale locks",
                refusals=(LOCKED,),
            ),
            PlannedTask(
                task=Task.BITMAP,
                because=(NO_BITMAP.summary, LOOSE.summary),
                steps=(git_step("pack everything with a bitmap", "repack", "-a", "-d", "-l", "-b"),),
                gain="answers clones, fetches and size queries over 655k objects without a walk",
                needed_bytes=2640 * MIB,
                refusals=(LOCKED, TOO_LITTLE),
            ),
        ),
    )


def web_plan(*tasks: Task) -> Plan:
    """Two tasks that may run, and further ones that were asked for."""
    return Plan(
        path=WEB,
        common_dir=WEB,
        tasks=(
            PlannedTask(
                task=Task.BITMAP,
                because=(NO_BITMAP.summary,),
                steps=(
                    git_step(
                        "pack everything into one pack with a bitmap",
                        "repack",
                        "-a",
                        "-d",
                        "-l",
                        "--cruft",
                        "--write-bitmap-index",
                        config=(("pack.writeBitmapLookupTable", "true"),),
                        replaces_packs=True,
                    ),
                ),
                gain="answers clones, fetches and size queries over 655k objects without a walk",
                needed_bytes=1310 * MIB,
            ),
            PlannedTask(
                task=Task.PACK_REFS,
                because=("asked for",),
                steps=(git_step("pack loose references", "pack-refs", "--all"),),
                gain="packs 310 loose references",
            ),
            *(
                PlannedTask(task=task, because=("asked for",), steps=(verification(),), gain="as asked")
                for task in tasks
                if task not in {Task.BITMAP, Task.PACK_REFS}
            ),
        ),
    )


def hostile_plan(name: bytes) -> Plan:
    """A repository whose name and whose packs' names are made to do harm."""
    path = ROOT + b"/strange/" + name
    pack = os.fsdecode(path + b"/objects/pack/\x1b[2J[/]`id`.pack")
    return Plan(
        path=path,
        common_dir=path,
        tasks=(
            PlannedTask(
                task=Task.INDEX_PACK,
                because=("\x1b]52;c;cHduZWQ=\x07 has no index",),
                steps=(
                    git_step("index \x1b[2J[/]", "index-pack", pack),
                    Step(does=ACTS[SWEEP], act=SWEEP, shell=f"rm -f -- '{os.fsdecode(b'x')}'"),
                ),
                gain="makes \x9b31m visible",
                notes=("\u202efdp",),
                refusals=(Refusal(rule="x", reason="[@click=app.quit]no[/] \x07"),),
            ),
        ),
    )


PLANS = {
    MEMBER: member_plan(),
    DEPLOY: deploy_plan(),
    WEB: web_plan(),
    LOST: Unreadable("permission denied"),
    EMPTY: Plan(path=EMPTY, common_dir=EMPTY, tasks=()),
}
HOSTILE_PLANS = {hostile_plan(name).path: hostile_plan(name) for name in HOSTILE_NAMES}
