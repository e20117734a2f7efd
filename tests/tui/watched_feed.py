"""A feed over real repositories whose changes are added up, and a git that waits."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gitdash.config.settings import Settings
from gitdash.gitcmd.installed import find_git
from gitdash.history.store import History
from gitdash.model.job import Job, JobKind, JobState
from gitdash.tui.feed.survey_feed import SurveyFeed
from gitdash.tui.source import Changes
from tests.support.repositories import GIT

LIMIT_S = 30.0


class WatchedFeed:
    """A feed, and all that it has said."""

    def __init__(self, feed: SurveyFeed) -> None:
        self.feed = feed
        self.seen = Changes()

    def until(self, is_reached: Callable[[Changes], bool]) -> Changes:
        """Take changes until all of them together satisfy a condition, and return these."""
        deadline_s = time.monotonic() + LIMIT_S
        while not is_reached(self.seen):
            assert time.monotonic() < deadline_s, self.seen
            if (changes := self.feed.take()) is None:
                threading.Event().wait(0.005)
                continue
            self._add(changes)
        return self.seen

    def _add(self, changes: Changes) -> None:
        seen = self.seen
        seen.summaries |= changes.summaries
        seen.reports |= changes.reports
        seen.jobs |= changes.jobs
        for number in changes.forgotten_jobs:
            del seen.jobs[number]
        seen.busy |= changes.busy
        seen.forgotten += changes.forgotten
        seen.forgotten_jobs += changes.forgotten_jobs
        seen.notices += changes.notices
        seen.skipped = seen.skipped if changes.skipped is None else changes.skipped
        seen.progress = changes.progress or seen.progress
        seen.plans |= changes.plans
        seen.entries |= changes.entries
        seen.experiments |= changes.experiments
        seen.experiment_runs |= changes.experiment_runs
        seen.namespaces |= changes.namespaces
        seen.lookup_times |= changes.lookup_times
        for path, answers in changes.objects.items():
            seen.objects.setdefault(path, []).extend(answers)
        seen.failure = changes.failure or seen.failure

    def until_over(self, step: str = "surveyed") -> None:
        """Wait for the end of a survey."""
        self.until(lambda seen: seen.progress is not None and seen.progress.step == step)
        self.seen.progress = None

    def until_job(
        self, state: JobState, kind: JobKind, path: bytes | None = None, *, is_part: bool | None = None
    ) -> Job:
        """Wait until the latest job of a kind and a repository stands there, and return it."""

        def is_meant(job: Job) -> bool:
            return job.kind is kind and path in {None, job.path} and is_part in {None, job.part_of is not None}

        def latest() -> Job | None:
            return max(filter(is_meant, self.seen.jobs.values()), key=lambda job: job.number, default=None)

        self.until(lambda _: (job := latest()) is not None and job.state is state)
        job = latest()
        assert job is not None
        return job


@contextmanager
def watched_feed(
    root: Path,
    *,
    history: History | None = None,
    settings: Settings | None = None,
    git: str = GIT,
    read_only: bool = False,
) -> Iterator[WatchedFeed]:
    """Run a feed over what lies below a folder."""
    feed = SurveyFeed(
        [os.fsencode(root)],
        settings=settings or Settings(),
        history=history,
        program=find_git(git),
        clock=time.time,
        registry_dir=os.fsencode(root) + b"-lab",
        read_only=read_only,
    )
    feed.start(lambda: None)
    try:
        yield WatchedFeed(feed)
    finally:
        feed.stop()


class WaitingGit:
    """A git whose size queries wait, each until its repository is let go; a file in a folder stands for that."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.program = folder / "waiting-git"
        self.program.write_text(
            "#!/bin/sh\n"
            'case "$*" in *rev-list*)\n'
            f'  while ! [ -e "{folder}/go" ]; do sleep 0.02; done;;\n'
            "esac\n"
            f'exec {GIT} "$@"\n'
        )
        self.program.chmod(0o755)

    def let_go(self) -> None:
        """Let all queries go, those to come as well."""
        (self._folder / "go").touch()
