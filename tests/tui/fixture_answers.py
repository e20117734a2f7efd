"""What the dashboard is told of one repository and of jobs in the pictures: fixed, and told by no git."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gitdash.model.command import CommandRecord
from gitdash.model.finding import Finding, Severity
from gitdash.model.inspection import Inspection, PackFile
from gitdash.model.job import Job, JobFigures, JobKind, JobState
from gitdash.model.lookup import LookupTimes, ObjectAnswer
from gitdash.model.namespaces import ReferenceNamespace, ReferenceNamespaces
from gitdash.model.report import Lender, RepositoryReport, State
from gitdash.model.repository import NotRepository, Role
from gitdash.model.sizes import Question, Sizes
from tests.tui.fixture_fleet import (
    MIB,
    NOW_S,
    ROOT,
    exclusive,
    finding,
    fixed_reports,
    inspection,
    measured,
    pack_facts,
    report,
)
from tests.tui.many_packs import facts_of

MONOTONIC_S = 5_000.0
"""The present on the clock of durations."""
MEMBER = ROOT + b"/@hashed/6b/86/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b.git"
POOL = ROOT + b"/@pools/4b/22/4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a.git"
_SECOND = b"@hashed/d4/73/d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35.git"
UNREADABLE = ROOT + b"/lost.git"
SKIPPED = (
    NotRepository(path=ROOT + b"/backup/api.git.old", reason="objects is missing"),
    NotRepository(path=ROOT + b"/clones/empty", reason="an empty folder"),
    NotRepository(path=ROOT + b"/private", reason="permission denied"),
    NotRepository(path=ROOT + b"/strange/\x1b[2J[/]", reason="permission denied"),
)
_FORMULAS = {
    "packs-outside-midx": "37 > floor(max(2, ln(56) / ln(1.8))) = 6",
    "loose-objects": "541,000 > 1,024",
    "stale-lock": "age 7,200 s >= 3,600 s",
}
TIP = "6b86b273ff34fce19d6b804eff5a3f5747ada4ea"


_SECOND_DUPLICATES = finding(
    "duplicate-objects",
    Severity.NOTICE,
    "64.0 MiB in 70,112 objects are stored here although a lender has them",
    "`git repack -a -d -l -k`, when the lender is seen to keep those objects reachable",
    formula="67,108,864 > 1,048,576 bytes",
)
_UNREADABLE_FINDING = finding(
    "repository-unreadable",
    Severity.CRITICAL,
    "cannot be read: permission denied",
    "mend what the reason says, from a backup or another clone; if it never was a repository, exclude its folder by"
    " `scan.exclude`",
)


def pictured_reports() -> Iterator[RepositoryReport]:
    """The fixed fleet with a pool of two members, the packs of one of them, and the comparisons of the rules."""
    lender = Lender(path=POOL, depth=1, exists=True, is_known=True)
    gone = Lender(path=ROOT + b"/@pools/gone.git/objects", depth=1, exists=False, is_known=False, problem="missing")
    second = _second_member()
    for known in fixed_reports():
        path = known.repository.path
        changes: dict[str, Any] = {"findings": tuple(_with_formula(one) for one in known.findings)}
        if path == POOL:
            changes |= {"borrowers": (MEMBER, second.repository.path)}
        elif path == MEMBER:
            assert isinstance(known.inspection, Inspection)
            changes |= {
                "lenders": (lender,),
                "inspection": msgspec.structs.replace(known.inspection, packs=facts_of(_packs())),
            }
        elif path == ROOT + b"/team/api.git":
            changes |= {"lenders": (gone,)}
        elif path == UNREADABLE:
            changes |= {"findings": (_UNREADABLE_FINDING,)}
        yield msgspec.structs.replace(known, **changes)
    yield msgspec.structs.replace(second, lenders=(lender,))


def _second_member() -> RepositoryReport:
    return report(
        _SECOND,
        inspection(packs=pack_facts(3, 88 * MIB), alternates=(POOL + b"/objects",), inode=30),
        roles=(Role.MEMBER,),
        sizes=Sizes(
            exclusive=exclusive(24 * MIB, 64 * MIB, 70_112),
            reachable=measured(Question.REACHABLE, 1_260 * MIB),
            reachable_own=measured(Question.REACHABLE_OWN, 24 * MIB, exact=False),
        ),
        findings=(_SECOND_DUPLICATES,),
        state=State.NOTICE,
    )


def _with_formula(judged: Finding) -> Finding:
    return msgspec.structs.replace(judged, formula=_FORMULAS.get(judged.rule, judged.formula))


def _packs() -> list[PackFile]:
    """37 packs of 56 MiB: three large ones in a geometric progression, and what 34 pushes left."""
    large = [(26 * MIB, 161_400), (17 * MIB, 22_300), (9 * MIB, 9_100)]
    small = [(4 * MIB // 34 + number * 1_024 - 17 * 1_024, 60 + number * 23 % 310) for number in range(34)]
    return [
        PackFile(
            name=f"pack-{number * 2_654_435_761 % 2**32:08x}{number:032x}",
            bytes=size_bytes,
            mtime_s=NOW_S - 3_600 * (40 - number),
            object_count=object_count,
            index_bytes=1_072 + 28 * object_count,
            has_reverse_index=number < 3,
        )
        for number, (size_bytes, object_count) in enumerate([*large, *small])
    ]


NAMESPACES = ReferenceNamespaces(
    namespaces=tuple(
        ReferenceNamespace(name=name, loose_count=loose, packed_count=packed, count=count, examples=examples)
        for name, loose, packed, count, examples in (
            ("refs/merge-requests", 12, 18_430, 18_440, ("refs/merge-requests/1/head", "refs/merge-requests/2/head")),
            ("refs/keep-around", 0, 2_107, 2_107, ("refs/keep-around/03a1f0",)),
            ("refs/heads", 9, 240, 244, ("refs/heads/main", "refs/heads/stable")),
            ("refs/tags", 0, 61, 61, ("refs/tags/v1.0",)),
            ("(root)", 1, 0, 1, ("HEAD",)),
        )
    ),
    head="refs/heads/main",
    elapsed_s=0.034,
)
LOOKUP_TIMES = LookupTimes(first_s=0.0152, warm_s=0.000_011, missing_s=0.0015, object_id=TIP, pack_count=40)
ANSWERS = (
    ObjectAnswer(
        asked="6b86b27",
        object_id=TIP,
        type="commit",
        bytes=261,
        stored_bytes=172,
        elapsed_s=0.000_4,
    ),
    ObjectAnswer(asked="ffff", object_id=None, elapsed_s=0.0016, problem="there is no such object"),
)


def _command(
    number: int, started_s: float, elapsed_s: float | None, *arguments: str, **ending: object
) -> CommandRecord:
    return CommandRecord(
        number=number,
        path=MEMBER,
        argv=("git", *arguments),
        started_s=started_s,
        elapsed_s=elapsed_s,
        exit_code=ending.get("exit_code", None if elapsed_s is None else 0),  # type: ignore[arg-type]
        ending=ending.get("ending"),  # type: ignore[arg-type]
        stderr=str(ending.get("stderr", "")),
    )


COMMANDS = (
    _command(3, 4_100.0, 3.61, "rev-list", "--disk-usage", "--objects", "--use-bitmap-index", "--stdin"),
    _command(
        7,
        4_400.0,
        0.02,
        "rev-list",
        "--disk-usage",
        "--objects",
        "--stdin",
        exit_code=128,
        stderr="fatal: bad object 6b86b273ff34fce19d6b804eff5a3f5747ada4ea\n",
    ),
    _command(9, 4_996.8, None, "rev-list", "--disk-usage", "--objects", "--stdin"),
)

JOBS = {
    1: Job(
        number=1,
        kind=JobKind.SURVEY,
        path=None,
        state=JobState.RUNNING,
        step="measuring",
        done_count=1_210,
        known_count=4_000,
        asked_at_s=NOW_S - 95,
        started_at_s=NOW_S - 95,
    ),
    2: Job(
        number=2,
        kind=JobKind.MEASURE,
        path=MEMBER,
        state=JobState.RUNNING,
        step="reachable",
        asked_at_s=NOW_S - 12,
        started_at_s=NOW_S - 4,
    ),
    3: Job(
        number=3,
        kind=JobKind.RESCAN,
        path=ROOT + b"/infra/deploy.git",
        state=JobState.QUEUED,
        asked_at_s=NOW_S - 3,
    ),
    4: Job(
        number=4,
        kind=JobKind.RESCAN,
        path=ROOT + b"/team/web.git",
        state=JobState.DONE,
        asked_at_s=NOW_S - 400,
        started_at_s=NOW_S - 400,
        ended_at_s=NOW_S - 398,
        before=JobFigures(pack_count=37, loose_count=6_700, disk_bytes=687_194_767, finding_count=2),
        after=JobFigures(pack_count=1, loose_count=0, disk_bytes=512_000_000, finding_count=0),
    ),
    5: Job(
        number=5,
        kind=JobKind.MEASURE,
        path=ROOT + b"/team/api.git",
        state=JobState.FAILED,
        asked_at_s=NOW_S - 1_200,
        started_at_s=NOW_S - 1_190,
        ended_at_s=NOW_S - 590,
        reason="git rev-list did not answer within 600 s",
    ),
}
