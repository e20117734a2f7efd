"""Fetches from one remote of a repository, with an entry in the ledger, and figures before and after."""

import threading
from functools import partial
from typing import Final

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.command_log import commands_for
from gitdash.maintenance.fetching.planning import NOTHING_TO_FETCH
from gitdash.maintenance.fetching.running import fetch
from gitdash.maintenance.figures import figures_of
from gitdash.maintenance.outcomes import classify
from gitdash.model.fetch import FetchProgress, RemotePlan
from gitdash.model.inspection import Inspection, LooseFacts
from gitdash.model.ledger import LedgerEntry, Outcome, Reason, StoreFigures
from gitdash.model.plan import Refusal
from gitdash.model.report import RepositoryReport
from gitdash.survey.action_means import ActionMeans, ActionWatch
from gitdash.units import printable

ACTION: Final = "fetch"


def fetch_remote(
    report: RepositoryReport,
    remote: RemotePlan,
    means: ActionMeans,
    watch: ActionWatch,
    run: str,
    cancel: threading.Event,
) -> LedgerEntry:
    """Fetch, and return what the ledger says of it."""
    recorded_path = means.recorded_path(report.repository)
    other = None if remote.is_preview else means.books.done_elsewhere(ACTION, recorded_path, printable(remote.name))
    entry = means.books.begin(
        ACTION,
        recorded_path,
        run=run,
        remote=printable(remote.name),
        choices=remote.choices,
        is_preview=remote.is_preview,
    )
    ended: LedgerEntry | None = None
    if other is not None:
        ended = entry.end(
            Outcome.SKIPPED,
            Reason.SAME_UNDER_WAY,
            f"process {other.process_id} on {other.host} fetches from it already",
        )
        watch.ends([ended])
        return ended
    try:
        with commands_for(report.repository.path, entry.begin_command):
            # another remote of the same repository may have been fetched from since it was planned
            current = means.read_again(report)
            before = _figures(current)
            entry.note_before(before)
            watch.begins(before)
            result = fetch(
                report,
                remote,
                program=means.program,
                now_s=means.clock(),
                cancel=cancel,
                on_progress=partial(_tell, watch) if watch.shows_progress else None,
                looks_at_loose=not _has_only_objects_in_shards(current),
            )
            after = before if remote.is_preview else _figures(means.read_again(current))
            ended = entry.end_fetch(result, before=before, after=after)
    except GitdashError as error:
        verdict = classify(error)
        ended = entry.end(verdict.outcome, verdict.reason, verdict.sentence)
    finally:
        if ended is None:
            ended = entry.end(Outcome.FAILED, Reason.OTHER, "gitdash itself failed")
        watch.ends([ended])
    return ended


def refused_fetch(
    report: RepositoryReport,
    remote: str | None,
    refusals: tuple[Refusal, ...],
    means: ActionMeans,
    run: str,
    *,
    is_named: bool,
) -> LedgerEntry:
    """Write down what is not fetched, and why.

    Of repositories that nobody named, some have nothing to fetch from: with those there is nothing to do.
    """
    entry = means.books.begin(ACTION, means.recorded_path(report.repository), run=run, remote=remote)
    why = "; ".join(refusal.reason for refusal in refusals)
    nothing = [refusal.reason for refusal in refusals if refusal.rule in NOTHING_TO_FETCH]
    if nothing and not is_named:
        # what else speaks against it is no matter then
        return entry.end(Outcome.NOTHING_TO_DO, None, "; ".join(nothing))
    return entry.end(Outcome.REFUSED, Reason.REFUSED, why)


def _figures(report: RepositoryReport) -> StoreFigures:
    """Return the figures; of findings nothing is known, for nobody has judged."""
    return msgspec.structs.replace(figures_of(report), finding_count=None)


def _has_only_objects_in_shards(report: RepositoryReport) -> bool:
    """Tell whether each entry of each shard was seen to be a file with the name of an object."""
    inspection = report.inspection
    return (
        isinstance(inspection, Inspection)
        and isinstance(inspection.loose, LooseFacts)
        and not inspection.loose.garbage_count
    )


def _tell(watch: ActionWatch, progress: FetchProgress) -> None:
    watch.advances(progress.phase, progress.done_count, progress.total_count, received_bytes=progress.received_bytes)
