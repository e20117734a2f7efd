"""Runs surveys in the test's own process."""

import os
import threading
from collections.abc import Iterable
from pathlib import Path

from gitdash.config.settings import Settings
from gitdash.gitcmd.installed import find_git
from gitdash.history.store import History
from gitdash.survey.events import Finished, Report, SurveyEvent
from gitdash.survey.survey import SizesWanted, SurveyRequest, run_survey
from tests.support.repositories import GIT

NOW_S = 1_900_000_000.0


def request(
    root: Path,
    *,
    sizes: SizesWanted = SizesWanted.DISK,
    history: History | None = None,
    settings: Settings | None = None,
    now_s: float = NOW_S,
    reports_early: bool = False,
) -> SurveyRequest:
    return SurveyRequest(
        roots=(os.fsencode(root),),
        settings=settings or Settings(),
        sizes=sizes,
        now_s=now_s,
        clock=lambda: now_s,
        program=find_git(GIT),
        history=history,
        effective_uid=os.geteuid(),
        reports_early=reports_early,
    )


def survey(root: Path, **options: object) -> list[SurveyEvent]:
    return list(run_survey(request(root, **options), cancel=threading.Event()))  # type: ignore[arg-type]


def last_reports(events: Iterable[SurveyEvent]) -> dict[str, Report]:
    """The last report of each repository by the last part of its path."""
    return {os.fsdecode(os.path.basename(event.summary.path)): event for event in events if isinstance(event, Report)}


def finished(events: Iterable[SurveyEvent]) -> Finished:
    (event,) = (event for event in events if isinstance(event, Finished))
    return event
