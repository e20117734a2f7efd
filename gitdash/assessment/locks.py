"""Rules on locks and on what stops git's own maintenance: stale locks, `maintenance.lock`, `gc.pid`, `gc.log`.

Sources: Gitaly's stale data rules for the ages, git-maintenance(1) and git-gc(1) for what each one stops. A lock is
never removed here: its age is evidence, a live holder is a reason to wait, and a holder on another host cannot be seen.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from gitdash.assessment.case import Case
from gitdash.assessment.commands import file_command
from gitdash.assessment.figures import compared_ages
from gitdash.assessment.rule import Judge, Rule
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import LockFile
from gitdash.model.policy import Policy
from gitdash.model.repository import RepositoryKind
from gitdash.units import counted, human_age

_LOOK = "see that no git runs here, on any host that mounts it, then"
_REMOVE = f"{_LOOK} remove the file"

STALE_LOCK = Rule(
    id="stale-lock",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="stale lock",
    meaning="A lock that outlived its command: every later command that needs it fails. A notice if a live process has"
    " it open.",
    source="seconds since the file changed; 15 minutes or 1 hour by kind, Gitaly stale data rules",
    remedy=_REMOVE,
    task="sweep",
    per_store=False,
    policy_keys=("lock_age_s", "reference_lock_age_s"),
)
MAINTENANCE_LOCK = Rule(
    id="maintenance-lock",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="maintenance is locked out",
    meaning="While objects/maintenance.lock exists, `git maintenance run` ends with exit code 0, says nothing and does"
    " nothing.",
    source="seconds since the file changed, policy reference_lock_age_s; git-maintenance(1)",
    remedy=_REMOVE,
    policy_keys=("reference_lock_age_s",),
)
GC_PID = Rule(
    id="gc-pid",
    severities=(Severity.NOTICE,),
    title="gc.pid of a gc that ended or hangs",
    meaning="git honours it for twelve hours; an older one is a leftover or a gc that hangs.",
    source="seconds since the file changed, 12 hours; git-gc(1)",
    remedy=_REMOVE,
    policy_keys=("gc_pid_age_s",),
)
GC_LOG = Rule(
    id="gc-log",
    severities=(Severity.NOTICE, Severity.WARNING),
    title="automatic gc failed",
    meaning="git wrote why its last automatic gc failed. While gc.log is younger than a day none is tried; an older one"
    " says that none has succeeded since.",
    source="seconds since gc.log changed; git gc.logExpiry 1 day",
    remedy="mend what the message says, then remove gc.log",
    policy_keys=("gc_log_age_s",),
)


_REFERENCES = "refs/"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockKind:
    """One kind of lock."""

    name: str
    """Path below the git directory, or a prefix if it ends with a slash."""
    age_s: Callable[[Policy], float]
    """From what age it is stale."""
    stops: str
    """What does not work while it exists."""
    is_swept: bool = True
    """The task sweep removes it; others an editor, a hook or another host may hold for days."""
    per_store: bool = True
    """It belongs to the common directory, which linked worktrees share."""

    def covers(self, path: str) -> bool:
        """Return whether the lock at `path` is of this kind."""
        return path.startswith(self.name) if self.name.endswith("/") else path == self.name


def _lock_age_s(policy: Policy) -> float:
    return policy.lock_age_s


def _reference_lock_age_s(policy: Policy) -> float:
    return policy.reference_lock_age_s


LOCK_KINDS: tuple[LockKind, ...] = (
    LockKind(name="config.lock", age_s=_lock_age_s, stops="changes of the config"),
    LockKind(name="HEAD.lock", age_s=_lock_age_s, stops="commits and switching branches", per_store=False),
    LockKind(name="info/attributes.lock", age_s=_lock_age_s, stops="changes of the attributes"),
    LockKind(name="objects/info/alternates.lock", age_s=_lock_age_s, stops="changes of the alternates"),
    LockKind(
        name="objects/info/commit-graphs/commit-graph-chain.lock",
        age_s=_lock_age_s,
        stops="updates of the commit-graph, which git may even report as done",
    ),
    LockKind(
        name="objects/info/commit-graph.lock",
        age_s=_lock_age_s,
        stops="updates of the commit-graph",
        is_swept=False,
    ),
    LockKind(
        name="objects/pack/multi-pack-index.lock",
        age_s=_lock_age_s,
        stops="updates of the multi-pack-index, so that packs pile up",
    ),
    LockKind(name="packed-refs.new", age_s=_lock_age_s, stops="packing references"),
    LockKind(name="packed-refs.lock", age_s=_reference_lock_age_s, stops="packing and deleting references"),
    LockKind(name=_REFERENCES, age_s=_reference_lock_age_s, stops="updates of the reference"),
    LockKind(name="reftable/", age_s=_reference_lock_age_s, stops="updates of all references"),
    LockKind(
        name="index.lock",
        age_s=_reference_lock_age_s,
        stops="commits and everything that stages",
        is_swept=False,
        per_store=False,
    ),
    LockKind(name="shallow.lock", age_s=_reference_lock_age_s, stops="shallow fetches", is_swept=False),
)
"""What is locked, from what age that is odd, and what it stops; the first that covers a path counts."""
OTHER_LOCK = LockKind(name="", age_s=_reference_lock_age_s, stops="the commands that need it", is_swept=False)

_MAINTENANCE_LOCK_PATH = "objects/maintenance.lock"
_GC_PID_PATH = "gc.pid"


def kind_of(path: str) -> LockKind:
    """Return the kind of a lock."""
    return next((kind for kind in LOCK_KINDS if kind.covers(path)), OTHER_LOCK)


def stale_lock(case: Case) -> Iterator[Finding]:
    """Yield a finding for each kind of lock that is older than its kind allows."""
    by_kind: dict[str, list[LockFile]] = {}
    for lock in case.locks:
        if lock.path not in {_MAINTENANCE_LOCK_PATH, _GC_PID_PATH} and _is_ours_to_judge(case, lock):
            kind = kind_of(lock.path)
            if case.age_s(lock.mtime_s) >= kind.age_s(case.policy):
                by_kind.setdefault(kind.name, []).append(lock)
    for locks in by_kind.values():
        yield _stale_lock_finding(case, locks)


def _is_ours_to_judge(case: Case, lock: LockFile) -> bool:
    """The shared locks of a linked worktree belong into the row of its repository, where there is one."""
    is_repeated = case.subject.repository.kind is RepositoryKind.LINKED_WORKTREE and not case.subject.counts_store
    return not (is_repeated and kind_of(lock.path).per_store)


def _stale_lock_finding(case: Case, locks: list[LockFile]) -> Finding:
    held = [lock for lock in locks if lock.holder_pid is not None]
    abandoned = [lock for lock in locks if lock.holder_pid is None]
    shown_lock = min(abandoned or held, key=lambda lock: lock.mtime_s)
    age_s = case.age_s(shown_lock.mtime_s)
    left_out_count = _left_out_count(case, abandoned)
    lock_count = len(locks) + left_out_count
    others = f" and {counted(lock_count - 1, 'other')} like it" if lock_count > 1 else ""
    holder = "no process seen holding it" if abandoned else f"held by process {shown_lock.holder_pid}"
    finding = STALE_LOCK.finding(
        case,
        Severity.WARNING if abandoned else Severity.NOTICE,
        f"{shown_lock.path}{others}, {human_age(age_s)} old, {holder}; stops {kind_of(shown_lock.path).stops}",
        {"path": shown_lock.path, "lock_count": lock_count, "held_count": len(held), "age_s": age_s},
        remedy=_remove(case, abandoned, left_out_count) if abandoned else _wait(shown_lock),
        formula=compared_ages(age_s, ">=", kind_of(shown_lock.path).age_s(case.policy)),
    )
    is_for_sweep = bool(abandoned) and kind_of(shown_lock.path).is_swept
    return finding if is_for_sweep else msgspec.structs.replace(finding, task=None)


def _left_out_count(case: Case, abandoned: list[LockFile]) -> int:
    """Return how many more of their kind are stale: those left out, which are older than each but the oldest."""
    is_of_references = len(abandoned) > 1 and abandoned[0].path.startswith(_REFERENCES)
    return case.inspection.left_out_lock_count if case.inspection is not None and is_of_references else 0


def _remove(case: Case, locks: list[LockFile], left_out_count: int = 0) -> str:
    paths = [lock.path for lock in locks]
    command = file_command("rm --", case.subject.repository.git_dir, paths, more_count=left_out_count)
    return f"{_LOOK} {command}"


def _wait(lock: LockFile) -> str:
    return f"wait for process {lock.holder_pid}, or end it"


def maintenance_lock(case: Case) -> Iterator[Finding]:
    """Yield a finding if maintenance has been locked out for longer than it takes."""
    for lock in case.locks:
        age_s = case.age_s(lock.mtime_s)
        if lock.path != _MAINTENANCE_LOCK_PATH or age_s < case.policy.reference_lock_age_s:
            continue
        is_held = lock.holder_pid is not None
        holder = f"process {lock.holder_pid} holds it" if is_held else "no process seen holding it"
        yield MAINTENANCE_LOCK.finding(
            case,
            Severity.NOTICE if is_held else Severity.WARNING,
            f"objects/maintenance.lock is {human_age(age_s)} old, {holder}: maintenance silently does nothing",
            {"age_s": age_s},
            remedy=_wait(lock) if is_held else _remove(case, [lock]),
            formula=compared_ages(age_s, ">=", case.policy.reference_lock_age_s),
        )


def gc_pid(case: Case) -> Iterator[Finding]:
    """Yield a finding if `gc.pid` is older than git honours it."""
    for lock in case.locks:
        age_s = case.age_s(lock.mtime_s)
        if lock.path != _GC_PID_PATH or age_s < case.policy.gc_pid_age_s:
            continue
        if lock.holder_pid is not None:
            whose = f"process {lock.holder_pid} still runs"
        elif lock.holder_host is not None:
            whose = f"its process is on host {lock.holder_host}"
        else:
            whose = "its process is gone"
        yield GC_PID.finding(
            case,
            Severity.NOTICE,
            f"gc.pid is {human_age(age_s)} old, and {whose}",
            {"age_s": age_s},
            remedy=_remove(case, [lock]) if lock.holder_pid is None else _wait(lock),
            formula=compared_ages(age_s, ">=", case.policy.gc_pid_age_s),
        )


def gc_log(case: Case) -> Iterator[Finding]:
    """Yield a finding if the last automatic gc failed."""
    inspection = case.inspection
    if inspection is None or inspection.gc_log is None:
        return
    age_s = case.age_s(inspection.gc_log_mtime_s) if inspection.gc_log_mtime_s is not None else 0.0
    is_blocking = age_s < case.policy.gc_log_age_s
    effect = "blocks automatic gc" if is_blocking else "automatic gc has not succeeded since"
    yield GC_LOG.finding(
        case,
        Severity.WARNING if is_blocking else Severity.NOTICE,
        f"gc.log, {human_age(age_s)} old, {effect}: {inspection.gc_log}",
        {"age_s": age_s},
        remedy="mend what the message says, then "
        + file_command("rm --", case.subject.repository.common_dir, ["gc.log"]),
        formula=compared_ages(age_s, "<" if is_blocking else ">=", case.policy.gc_log_age_s),
    )


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (MAINTENANCE_LOCK, maintenance_lock),
    (STALE_LOCK, stale_lock),
    (GC_LOG, gc_log),
    (GC_PID, gc_pid),
)
