"""Entries of the ledger, made by hand: a fetch and tasks that ended in every way, and texts that do harm."""

import msgspec

from gitdash.model.job import Job, JobKind, JobState
from gitdash.model.ledger import (
    LedgerEntry,
    Outcome,
    Phase,
    Reason,
    RecordedCommand,
    ReferenceChange,
    StoreFigures,
)
from gitdash.model.task import Task
from tests.tui.fixture_answers import MEMBER
from tests.tui.fixture_fleet import MIB, NOW_S, ROOT

PHASES = (
    Phase(name="connect", elapsed_s=0.4),
    Phase(name="negotiation", elapsed_s=0.1),
    Phase(name="receive", elapsed_s=2.0),
    Phase(name="index", elapsed_s=1.0),
    Phase(name="connectivity check", elapsed_s=0.5),
)
"""4 s in all."""
CHANGES = (
    ReferenceChange(name="refs/remotes/origin/topic", kind="new", new="a" * 40),
    ReferenceChange(name="refs/remotes/origin/main", kind="updated", old="b" * 40, new="c" * 40),
    ReferenceChange(name="refs/remotes/origin/wip", kind="forced", old="d" * 40, new="e" * 40),
    ReferenceChange(name="refs/remotes/origin/gone", kind="pruned", old="f" * 40),
    ReferenceChange(name="refs/remotes/origin/also-gone", kind="pruned", old="1" * 40),
)
COMMAND = RecordedCommand(
    argv=(
        "git",
        "--git-dir=/run/shadow",
        "-c",
        "core.pager=cat",
        "fetch",
        "--prune",
        "origin",
        "+refs/heads/*:refs/x/*",
    ),
    started_at_s=NOW_S - 64,
    elapsed_s=4.0,
    exit_code=0,
)


def entry(number: int = 1, **changed: object) -> LedgerEntry:
    """A fetch that went well."""
    made = LedgerEntry(
        number=number,
        run="one",
        action="fetch",
        remote="origin",
        path=MEMBER,
        outcome=Outcome.DONE,
        started_at_s=NOW_S - 64,
        elapsed_s=4.0,
        gitdash_version="0.1.0",
        git_version="2.47.3",
        process_id=4242,
        process_started_at_s=NOW_S - 900,
        host="build7",
    )
    return msgspec.structs.replace(made, **changed)


FETCH = entry(
    sentence="5 references changed",
    choices=("alternate refs suppressed: the lender does not have what is wanted", "prune: its config says so"),
    before=StoreFigures(pack_count=3, pack_bytes=5 * MIB, loose_count=12, disk_bytes=6 * MIB, reference_count=40),
    after=StoreFigures(pack_count=4, pack_bytes=9 * MIB, loose_count=12, disk_bytes=10 * MIB, reference_count=39),
    phases=PHASES,
    received_objects=12_034,
    received_bytes=4 * MIB,
    reference_changes=CHANGES,
    reference_change_count=5,
    commands=(COMMAND,),
)
REFUSED_LOGIN = entry(
    2,
    outcome=Outcome.FAILED,
    reason=Reason.PASSWORD,
    sentence="the server asks for a password: a credential helper can give it",
    elapsed_s=0.7,
    phases=(Phase(name="connect", elapsed_s=0.6), Phase(name="other", elapsed_s=0.1)),
    commands=(
        msgspec.structs.replace(
            COMMAND,
            elapsed_s=0.7,
            exit_code=128,
            stderr="fatal: could not read Username for 'https://example.org': terminal prompts disabled\n",
        ),
    ),
)
CUT_OFF = entry(
    3,
    outcome=Outcome.CUT_OFF,
    reason=Reason.CUT_OFF,
    sentence="gitdash ended in the middle of it",
    elapsed_s=None,
    started_at_s=NOW_S - 90_000,
    leftovers=("objects/pack/tmp_pack_Xy12", "objects/maintenance.lock", "gc.pid", "packed-refs.lock"),
)
LOOSE = entry(
    4,
    run="two",
    action="maintain",
    remote=None,
    task=Task.LOOSE_OBJECTS,
    elapsed_s=3.2,
    before=StoreFigures(pack_count=37, loose_count=6_700, disk_bytes=655 * MIB, finding_count=2),
    after=StoreFigures(pack_count=38, loose_count=0, disk_bytes=640 * MIB, finding_count=1),
    choices=("6,700 loose objects, more than 1,024",),
    removed=("objects/17/aa", "objects/17/bb"),
)
REPACK = entry(
    5,
    run="two",
    action="maintain",
    remote=None,
    task=Task.GEOMETRIC_REPACK,
    outcome=Outcome.FAILED,
    reason=Reason.DISK_FULL,
    sentence="no space is left on the volume of the object store",
    elapsed_s=11.0,
)
LOCKED = entry(
    6,
    run="two",
    action="maintain",
    remote=None,
    task=Task.PACK_REFS,
    outcome=Outcome.SKIPPED,
    reason=Reason.LOCK_HELD,
    sentence="objects/maintenance.lock is held by process 77 since 14:02",
    elapsed_s=0.01,
)
ENTRIES = (FETCH, REFUSED_LOGIN, LOOSE, REPACK, LOCKED, CUT_OFF)
"""The newest first."""


def hostile_entry(text: str) -> LedgerEntry:
    """A fetch that says the same wherever it can say something."""
    command = msgspec.structs.replace(COMMAND, argv=("git", text), ending=text, stderr=f"{text}\n{text}")
    return entry(
        remote=text,
        sentence=text,
        outcome=Outcome.FAILED,
        reason=Reason.OTHER,
        choices=(text,),
        phases=(Phase(name=text, elapsed_s=1.0),),
        reference_changes=(ReferenceChange(name=text, kind=text, old=text, new=text),),
        reference_change_count=1,
        removed=(text,),
        leftovers=(text,) * 4,
        commands=(command,),
        before=StoreFigures(bitmap=text),
        after=StoreFigures(bitmap=text * 2),
    )


def _job(number: int, kind: JobKind, state: JobState, *entries: LedgerEntry, **changed: object) -> Job:
    ended_ago_s = number * 10
    made = Job(number=number, kind=kind, path=MEMBER, state=state, asked_at_s=NOW_S - ended_ago_s - 6, entries=entries)
    if state is not JobState.QUEUED:
        made = msgspec.structs.replace(made, started_at_s=NOW_S - ended_ago_s - 5)
    if state.has_ended:
        reason = next((one.sentence for one in entries if not one.outcome.is_good), None)
        made = msgspec.structs.replace(made, ended_at_s=NOW_S - ended_ago_s, reason=reason)
    return msgspec.structs.replace(made, **changed)


ACTING_JOBS = {
    job.number: job
    for job in (
        _job(
            11,
            JobKind.FETCH,
            JobState.RUNNING,
            path=ROOT + b"/infra/deploy.git",
            what="origin",
            step="receiving objects, 3.40 MiB",
            done_count=12_034,
            known_count=40_000,
            started_at_s=NOW_S - 7,
        ),
        _job(
            12,
            JobKind.MAINTAIN,
            JobState.RUNNING,
            path=ROOT + b"/team/api.git",
            step="commit-graph: write the commit-graph",
            done_count=1,
            known_count=5,
            started_at_s=NOW_S - 31,
        ),
        _job(13, JobKind.FETCH, JobState.QUEUED, path=ROOT + b"/clones/gitdash", what="upstream"),
        _job(14, JobKind.FETCH, JobState.DONE, FETCH, what="origin"),
        _job(15, JobKind.FETCH, JobState.FAILED, REFUSED_LOGIN, path=ROOT + b"/team/web.git", what="origin"),
        _job(16, JobKind.MAINTAIN, JobState.FAILED, LOOSE, REPACK, what="loose-objects, geometric-repack"),
        _job(17, JobKind.MAINTAIN, JobState.FAILED, LOCKED, path=ROOT + b"/team/api.git", what="pack-refs"),
    )
}
"""Jobs that change repositories, by number."""
