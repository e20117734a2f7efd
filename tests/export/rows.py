"""Summaries made of values."""

from typing import Any

import msgspec

from gitdash.model.report import State
from gitdash.model.repository import RepositoryKind
from gitdash.model.summary import RepositorySummary

NOW_S = 1_700_000_000.0


def summary(name: str = "a.git", **changes: Any) -> RepositorySummary:
    facts = RepositorySummary(
        path=b"/srv/git/" + name.encode("utf-8", "surrogateescape"),
        name=name,
        root=b"/srv/git",
        kind=RepositoryKind.BARE,
        role="plain",
        state=State.OK,
        disk_bytes=2048,
        exclusive_bytes=1024,
        duplicate_bytes=0,
        reachable_bytes=1536,
        reachable_own_bytes=None,
        objects_bytes=1024,
        pack_count=1,
        pack_bytes=1000,
        outside_midx_count=1,
        loose_count=0,
        loose_stale_count=0,
        bitmap=None,
        reference_count=11,
        borrower_count=0,
        alternate_count=0,
        garbage_bytes=0,
        object_format="sha1",
        finding_count=0,
        worst_rule=None,
        worst_summary=None,
        inspected_at_s=NOW_S - 300,
    )
    return msgspec.structs.replace(facts, **changes)
