"""One demo fleet for all tests of this folder, as a survey sees it."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from gitdash.config.settings import Settings
from gitdash.demo.fleet import Omission, build_fleet
from gitdash.demo.workshop import Workshop
from gitdash.gitcmd.installed import find_git
from gitdash.model.report import RepositoryReport
from gitdash.survey.events import Report
from gitdash.survey.survey import SizesWanted, SurveyRequest, run_survey
from tests.support.repositories import GIT


@dataclass(frozen=True)
class BuiltFleet:
    root: bytes
    omissions: tuple[Omission, ...]
    reports: dict[bytes, RepositoryReport]
    """By the path below the root."""


def build(folder: bytes) -> tuple[bytes, tuple[Omission, ...]]:
    workshop = Workshop(program=find_git(GIT), folder=folder, now_s=time.time())
    return workshop.root, build_fleet(workshop, lambda _done_count, _all_count: None)


def reports(root: bytes, sizes: SizesWanted = SizesWanted.ALL) -> Iterator[RepositoryReport]:
    request = SurveyRequest(
        roots=(root,),
        settings=Settings(),
        sizes=sizes,
        now_s=time.time(),
        clock=time.time,
        program=find_git(GIT),
        history=None,
        effective_uid=os.geteuid(),
    )
    for event in run_survey(request, cancel=threading.Event()):
        if isinstance(event, Report):
            yield event.report


@pytest.fixture(scope="package")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> BuiltFleet:
    root, omissions = build(os.fsencode(tmp_path_factory.mktemp("demo")))
    # what is reported later about a repository knows its sizes
    found = {report.repository.path.removeprefix(root + b"/"): report for report in reports(root)}
    return BuiltFleet(root, omissions, found)
