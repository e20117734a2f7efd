"""Refusals because of what surrounds a repository at the moment: others at work, room, permission, somebody's word.

Pure: `facts` has read it all.
"""

from typing import Final

from gitdash.assessment.sentences import listed
from gitdash.maintenance.action_facts import ActionFacts, HeldLock
from gitdash.maintenance.gains import needed_bytes
from gitdash.maintenance.heuristics import config_of
from gitdash.maintenance.lock import clock_text
from gitdash.maintenance.refusal_rule import ALL, CHANGING, JudgedRule, RefusalRule
from gitdash.maintenance.stale_files import BY_HAND
from gitdash.model.inspection import Inspection, ReferenceBackend
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.task import Task
from gitdash.units import human_age, human_bytes

_REFTABLE_SINCE: Final = (2, 45)


def unreadable(report: RepositoryReport, _facts: ActionFacts, task: Task) -> str | None:
    """Refuse to act on what could not be read."""
    if report.repository.problem is not None:
        return report.repository.problem
    inspection = report.inspection
    if isinstance(inspection, Unreadable):
        return inspection.reason
    parts: list[tuple[str, object]] = [("the config", inspection.config)]
    if task in CHANGING:
        parts += [
            ("the object store", inspection.object_store),
            ("objects/pack", inspection.packs),
            ("loose objects", inspection.loose),
            ("references", inspection.references),
        ]
    reasons = (f"{name} cannot be read: {part.reason}" for name, part in parts if isinstance(part, Unreadable))
    return next(reasons, None)


def irregular_file(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse where git would wait for what never answers."""
    return None if facts.irregular_file is None else f"git would open what is no file: {facts.irregular_file}"


def not_owner(report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse in repositories of others, even those whose ownership the user vouches for: new files would be ours."""
    owner_uid = report.repository.foreign_owner_uid
    if owner_uid is None and facts.owner_uid not in {None, facts.effective_uid}:
        owner_uid = facts.owner_uid
    return None if owner_uid is None else f"user {owner_uid} owns it, and this is user {facts.effective_uid}"


def read_only_mode(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse while gitdash is told to change nothing."""
    return "gitdash runs in read-only mode" if facts.is_read_only_mode else None


def mounted_read_only(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse where nothing can be written."""
    return "its file system is mounted read-only" if facts.is_mounted_read_only else None


def paused(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse where somebody asked to be left alone."""
    return None if facts.pause is None else f"paused by {facts.pause}"


def shared_store(report: RepositoryReport, _facts: ActionFacts, _task: Task) -> str | None:
    """Refuse in all but one of the repositories that have the same object store."""
    if report.counts_store:
        return None
    return "another repository of the survey has the same object store: act on that one"


def maintenance_locked(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse while another process has the lock of maintenance; how old it is proves nothing."""
    lock = facts.maintenance_lock
    if lock is None:
        return None
    advice = "" if lock.holder else "; remove it once you know that no maintenance runs, on any host that mounts it"
    return _held(lock, facts.read_at_s) + advice


def gc_running(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse while a gc runs."""
    return None if facts.gc_pid is None else _held(facts.gc_pid, facts.read_at_s)


def live_lock(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse while another git is at work; a lock that one of gitdash's left may be taken for that of another."""
    at_work = [_held(lock, facts.read_at_s) for lock in facts.live_locks if lock.left_by is None]
    if at_work:
        return f"another git is at work: {listed(at_work, 2)}"
    left = [_left(lock, facts) for lock in facts.live_locks]
    return "; ".join(left[:2]) or None


def _left(lock: HeldLock, facts: ActionFacts) -> str:
    why = next((file.kept_because for file in facts.stale_files or () if file.path == lock.path), None)
    way = BY_HAND
    if why is not None and why != BY_HAND:
        way = f"sweep keeps it for now: {why}; you may remove it if you know that no git runs here"
    return f"{_held(lock, facts.read_at_s)}: {lock.left_by}; {way}"


def _held(lock: HeldLock, now_s: float) -> str:
    if lock.holder:
        return f"{lock.path}, held by {lock.holder} since {clock_text(lock.since_s, now_s)}"
    age = human_age(max(now_s - lock.since_s, 0.0))
    return f"{lock.path}, {'made just now' if age == 'now' else f'{age} old'}, and no process seen holding it"


def operation_in_progress(_report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse in the middle of somebody's rebase, merge or bisect."""
    return listed(facts.operations) if facts.operations else None


def unknown_format(report: RepositoryReport, facts: ActionFacts, _task: Task) -> str | None:
    """Refuse what gitdash or this git does not understand."""
    config = config_of(report)
    if config is not None and config.unknown_extensions:
        return f"it demands what gitdash does not know: {listed(config.unknown_extensions)}"
    is_reftable = (
        isinstance(report.inspection, Inspection) and report.inspection.reference_backend is ReferenceBackend.REFTABLE
    )
    if is_reftable and not facts.git_is_at_least(*_REFTABLE_SINCE):
        return f"its references are in reftables, which need git {'.'.join(map(str, _REFTABLE_SINCE))} or newer"
    return None


def too_little_space(report: RepositoryReport, facts: ActionFacts, task: Task) -> str | None:
    """Refuse what may fill the disk; exactly as much as is needed is enough."""
    need_bytes = needed_bytes(task, report, facts)
    if not need_bytes or facts.free_bytes is None or facts.free_bytes >= need_bytes:
        return None
    return f"needs {human_bytes(need_bytes)} of free space, and there are {human_bytes(facts.free_bytes)}"


RULES: Final[tuple[JudgedRule, ...]] = (
    (
        RefusalRule(
            id="unreadable",
            tasks=ALL,
            meaning="what cannot be read cannot be judged",
            source="files; what is unreadable is not absent",
        ),
        unreadable,
    ),
    (
        RefusalRule(
            id="irregular-file",
            tasks=ALL,
            meaning="git opens a FIFO and waits for ever",
            source="the object store and those of lenders, refs, logs, index, work trees, the config's includes,"
            " info/attributes, info/grafts",
        ),
        irregular_file,
    ),
    (
        RefusalRule(
            id="not-owner",
            tasks=ALL,
            meaning="git would run what another user's config says, and new files would be ours",
            source="git-config(1) safe.directory; --git-dir switches git's own check off",
        ),
        not_owner,
    ),
    (
        RefusalRule(
            id="read-only-mode",
            tasks=CHANGING,
            meaning="gitdash was told to change nothing",
            source="`--read-only`",
        ),
        read_only_mode,
    ),
    (
        RefusalRule(
            id="mounted-read-only",
            tasks=CHANGING,
            meaning="nothing can be written",
            source="statvfs(3) ST_RDONLY",
        ),
        mounted_read_only,
    ),
    (
        RefusalRule(
            id="paused",
            tasks=ALL,
            meaning="somebody asked for it to be left alone",
            source="`gitdash.pause` true in its config, or a file `gitdash.pause` in its git directory",
        ),
        paused,
    ),
    (
        RefusalRule(
            id="shared-store",
            tasks=CHANGING,
            meaning="two rows would change one object store, or drop what the other needs",
            source="gitrepository-layout(5) commondir; symbolic links",
        ),
        shared_store,
    ),
    (
        RefusalRule(
            id="maintenance-locked",
            tasks=CHANGING,
            meaning="two maintenances of one store undo each other's work",
            source="git-maintenance(1) objects/maintenance.lock",
        ),
        maintenance_locked,
    ),
    (
        RefusalRule(
            id="gc-running",
            tasks=CHANGING,
            meaning="the same, with git gc",
            source="git-gc(1) gc.pid, honoured for 12 hours",
        ),
        gc_running,
    ),
    (
        RefusalRule(
            id="live-lock",
            tasks=CHANGING,
            meaning="a command is in the middle of something",
            source="locks with a live holder, or younger than the age at which they are called stale, that are still"
            " there 0.2 s later",
        ),
        live_lock,
    ),
    (
        RefusalRule(
            id="operation-in-progress",
            tasks=CHANGING,
            meaning="a rebase, merge or bisect holds commits that few references know",
            source="rebase-merge and -apply, MERGE_HEAD, MERGE_AUTOSTASH, CHERRY_PICK_HEAD, REVERT_HEAD, sequencer,"
            " BISECT_LOG, NOTES_MERGE_PARTIAL of any work tree",
        ),
        operation_in_progress,
    ),
    (
        RefusalRule(
            id="unknown-format",
            tasks=ALL,
            meaning="who does not know an extension must not touch the repository",
            source="gitrepository-layout(5) extensions",
        ),
        unknown_format,
    ),
    (
        RefusalRule(
            id="too-little-space",
            tasks=CHANGING,
            meaning="a full disk stops every writer on it",
            source="twice the object store before all packs are rewritten, else what the task writes",
        ),
        too_little_space,
    ),
)
"""What must hold now."""
