"""Fetches of tests: from a report made now, by the options that a test gives."""

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from gitdash.config.settings import Settings
from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.planning import plan_fetch
from gitdash.maintenance.fetching.remotes import read_remotes
from gitdash.maintenance.fetching.running import fetch
from gitdash.model.fetch import FetchPlan, FetchProgress, FetchResult
from gitdash.model.report import RepositoryReport
from gitdash.survey.single import find_repository, report_single
from tests.support.repositories import GIT

LOCAL = ("file",)


def report_of(path: str | os.PathLike[str]) -> RepositoryReport:
    """Inspect a repository now."""
    settings, uid = Settings(), os.geteuid()
    found = find_repository(os.fsencode(path), settings=settings, effective_uid=uid)
    return report_single(
        found, settings=settings, history=None, program=find_git(GIT), effective_uid=uid, now_s=time.time()
    ).facts


def planned(path: str | os.PathLike[str], **options: Any) -> tuple[RepositoryReport, FetchPlan]:
    """Plan a fetch; paths on this machine are allowed unless a test says otherwise."""
    program, report = find_git(GIT), report_of(path)
    chosen = FetchOptions(**({"time_limit_s": 30.0, "protocols": LOCAL} | options))
    return report, plan_fetch(report, chosen, config=read_remotes(report, program), git_version=program.version)


def fetched(
    path: str | os.PathLike[str],
    *,
    cancel: threading.Event | None = None,
    on_progress: Callable[[FetchProgress], None] | None = None,
    **options: Any,
) -> FetchResult:
    """Plan a fetch from the one remote that there is, and do it."""
    report, plan = planned(path, **options)
    assert not plan.refusals, plan.refusals
    (remote,) = plan.remotes
    return fetch(report, remote, program=find_git(GIT), now_s=time.time(), cancel=cancel, on_progress=on_progress)
