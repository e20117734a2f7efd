"""Tasks run for real on repositories that a test built: reports as the command line makes them, and planned tasks."""

import dataclasses
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import msgspec
import pytest

from gitdash.config.settings import Settings
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.action_facts import ActionFacts, Neighbourhood
from gitdash.maintenance.running import TaskResult, run_task
from gitdash.maintenance.tasks import steps_of
from gitdash.model.plan import PlannedTask
from gitdash.model.progress import CommandProgress
from gitdash.model.report import RepositoryReport
from gitdash.model.task import Task
from gitdash.survey.single import find_repository, report_single
from tests.support.repositories import GIT, GitRepository


@cache
def program() -> GitProgram:
    """The git under test."""
    return find_git(GIT)


def run_through(wrapper: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a shell script, and have tasks run it as their git for the rest of the test."""
    wrapper.write_text(text)
    wrapper.chmod(0o755)
    wrapped = dataclasses.replace(program(), path=os.fspath(wrapper))
    monkeypatch.setattr(sys.modules[__name__], "program", lambda: wrapped)


def report_of(repository: GitRepository, *, borrowers: Sequence[GitRepository] = ()) -> RepositoryReport:
    """What a survey says of one repository, and that others are known to borrow from it."""
    settings = Settings()
    found = find_repository(os.fsencode(repository.path), settings=settings, effective_uid=os.geteuid())
    single = report_single(
        found,
        settings=settings,
        history=None,
        program=program(),
        effective_uid=os.geteuid(),
        now_s=time.time(),
    )
    paths = tuple(sorted(os.fsencode(borrower.path) for borrower in borrowers))
    return msgspec.structs.replace(single.report, borrowers=paths)


def planned(task: Task, report: RepositoryReport) -> PlannedTask:
    """A task with the steps that a plan gives it, and without the refusals."""
    facts = ActionFacts(
        read_at_s=time.time(),
        git_version=program().version,
        effective_uid=os.geteuid(),
        owner_uid=os.geteuid(),
        free_bytes=None,
    )
    return PlannedTask(task=task, because=("asked for",), steps=steps_of(task, report, facts), gain="")


def run(
    repository: GitRepository,
    task: Task,
    *,
    borrowers: Sequence[GitRepository] = (),
    cancel: threading.Event | None = None,
    events: list[str] | None = None,
    on_progress: Callable[[CommandProgress], None] | None = None,
    time_limit_s: float = 60.0,
    confirmed_name: bytes | None = None,
    asked: PlannedTask | None = None,
    look_around: Callable[[], Neighbourhood] | None = None,
) -> TaskResult:
    """Run one task as the command line would; `events` hears of steps and readers."""
    report = report_of(repository, borrowers=borrowers)
    heard = events if events is not None else []
    return run_task(
        report,
        asked or planned(task, report),
        look=lambda: report_of(repository, borrowers=borrowers),
        program=program(),
        cancel=cancel or threading.Event(),
        look_around=look_around,
        on_step=lambda does, _number, _count: heard.append(does),
        close_readers=lambda: heard.append("close readers"),
        warm_readers=lambda: heard.append("warm readers"),
        now_s=time.time(),
        time_limit_s=time_limit_s,
        on_progress=on_progress,
        confirmed_name=confirmed_name,
    )


def make_lender_and_member(
    folder: Path, *, object_format: str = "sha1", reference_backend: str | None = None
) -> tuple[GitRepository, GitRepository]:
    """A lender with branches main and topic, and a member with a branch on topic and a commit of its own."""
    lender = GitRepository.init(folder / "lender.git", object_format=object_format, reference_backend=reference_backend)
    lender.commit({"a": "1"})
    lender.commit({"a": "2"}, reference="refs/heads/topic", parents=[lender.git("rev-parse", "main")])
    member = GitRepository.init(folder / "member.git", object_format=object_format, reference_backend=reference_backend)
    member.borrow_from(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    member.git("update-ref", "refs/heads/keep", lender.git("rev-parse", "topic"))
    member.clock_s = lender.clock_s
    member.commit({"own": "x"})
    return lender, member
