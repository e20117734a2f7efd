"""The experiment `fetch`: whether a borrower's fetch is faster with its lender's references offered, or without.

Each run fetches into a copy of its own, which goes with what came, by the engine that gitdash itself fetches with. What
is fetched from is a stand-in on this machine, a copy with something more, or the real remote of the repository. The
better choice differs with what comes: for a new commit the walk over the lender's references is in vain, for a tip that
the lender holds it spares the transfer, or the walk over all that comes. What comes stays packed, be it ever so little:
where git writes single objects it sets the time of the packs that have them already, those of the lender too
(`freshen_packed_object` in object-file.c). Source: git-config(1) `core.alternateRefsCommand`, `fetch.unpackLimit`.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import msgspec

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitOutput
from gitdash.lab.commands import argv_of, stdin_of
from gitdash.lab.copies import throw_away_copy
from gitdash.lab.copying import ThrowAwayCopy
from gitdash.lab.fetch_sources import HELD_TIP, NEW_COMMIT, REAL_REMOTE, Source, local_source, real_source
from gitdash.lab.joined import joined
from gitdash.lab.listed import cannot_run
from gitdash.lab.method import run_interleaved
from gitdash.lab.questions import asked
from gitdash.lab.references import Lent, lenders_of
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.steady import Fingerprint, run_steadily
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.maintenance.fetching.alternate_refs import AlternateRefsFacts, alternate_refs_choice
from gitdash.maintenance.fetching.options import FetchOptions
from gitdash.maintenance.fetching.planning import plan_fetch
from gitdash.maintenance.fetching.running import fetch
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.fetch import FetchPlan, FetchResult, RemotePlan
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import RepositoryKind
from gitdash.units import printable

TITLE: Final = "whether to offer the lender's references in a fetch"
EXPLANATION: Final = (
    "A repository that borrows can name its lender's references to the server, so that what the lender has is not sent."
    " With many references that alone may take longer than the fetch. Which is better depends on what comes."
)

QUESTIONS: Final = (NEW_COMMIT, HELD_TIP, REAL_REMOTE)

_KEEP_PACKED: Final = ("fetch.unpackLimit", "1")
_CONFIGURED: Final = "as-configured"
_SUPPRESSED: Final = "suppressed"
_CHOICES: Final[dict[str, Literal["use", "suppress"]]] = {_CONFIGURED: "use", _SUPPRESSED: "suppress"}
_TITLES: Final = {_CONFIGURED: "offering the lender's references", _SUPPRESSED: "suppressing the lender's references"}
_EXPLANATIONS: Final = {
    _CONFIGURED: "As git does it: asks the lender for its references, names them to the server, and leaves out what"
    " they reach when it checks what came. It should win for what the lender has already.",
    _SUPPRESSED: "With core.alternateRefsCommand=exit 0 # nothing of the lender is named. It should win for what is new"
    " to both, the more so the more references the lender has.",
}


def questions(request: ExperimentRequest) -> Sequence[str]:
    """Return what can be asked: something new first, or the real remote if the options say so."""
    if request.options.get("real_remote"):
        return REAL_REMOTE, NEW_COMMIT, HELD_TIP
    return QUESTIONS


def contacted(request: ExperimentRequest) -> str:
    """Return the remote and the URL that are asked for what the real remote has.

    Raises ExperimentError, also if gitdash would not fetch from there, and GitError.
    """
    source = real_source(request)
    options = FetchOptions(remotes=(source.remote,), protocols=source.protocols)
    plan = plan_fetch(request.report, options, config=source.config, git_version=request.program.version)
    _require_no_refusal(plan)
    return ", ".join(f"{printable(remote.name)}, {remote.shown_url}" for remote in plan.remotes)


def variants(request: ExperimentRequest) -> Sequence[Variant]:
    """Return the variants as they would be run here. Raises ExperimentError."""
    lenders = lenders_of(request.report, now_s=request.clock())
    return [_listed(name, _why_not(lenders)) for name in _CHOICES]


def run(request: ExperimentRequest) -> ExperimentResult:
    """Make the experiment. Raises ExperimentError, GitError, FileError and FormatError."""
    return run_steadily(request, _run)


def _run(request: ExperimentRequest, fingerprint: Fingerprint) -> ExperimentResult:
    question = asked(request, dict.fromkeys(questions(request), tuple(_CHOICES)))
    lenders = lenders_of(request.report, now_s=request.clock())
    with contextlib.ExitStack() as resources:
        fetching = _Fetching(request=request)
        made: list[Variant] = [_listed(name, _why_not(lenders)) for name in _CHOICES]
        if lenders:
            try:
                source = _source(request, question, lenders, resources)
            except (ExperimentError, GitError) as error:
                made = [_listed(name, printable(str(error))) for name in _CHOICES]
            else:
                made = [fetching.variant(name, source) for name in _CHOICES]
        result = run_interleaved(made, request, kind=ExperimentKind.FETCH, question=question, fingerprint=fingerprint)
    return fetching.concluded(result, question)


def _why_not(lenders: tuple[Lent, ...]) -> str | None:
    return None if lenders else "it borrows from no other repository, so there are no references of a lender"


def _source(
    request: ExperimentRequest, question: str, lenders: tuple[Lent, ...], resources: contextlib.ExitStack
) -> Source:
    if question == REAL_REMOTE:
        return real_source(request)
    return local_source(request, question, lenders, resources)


def _listed(name: str, why_not: str | None) -> Variant:
    return Variant(name=name, title=_TITLES[name], explanation=_EXPLANATIONS[name], run=cannot_run, skipped=why_not)


@dataclass(slots=True, kw_only=True)
class _Fetching:
    """One experiment under way."""

    request: ExperimentRequest
    has_run: bool = False

    def variant(self, name: str, source: Source) -> Variant:
        """Return a variant that can be run."""
        return replace(_listed(name, None), run=lambda context: self._run(name, source, context))

    def concluded(self, result: ExperimentResult, question: str) -> ExperimentResult:
        """Say what gitdash would choose."""
        notes = result.notes
        if self.has_run and question != REAL_REMOTE:
            facts = AlternateRefsFacts(
                asked="auto", has_lender=True, missing_count=1, held_count=int(question == HELD_TIP)
            )
            choice, why = alternate_refs_choice(facts)
            name = next(name for name, chosen in _CHOICES.items() if chosen == choice)
            notes = (*notes, f"By its rule gitdash would fetch this {_TITLES[name]}: {why}.")
        return msgspec.structs.replace(result, notes=notes)

    def _run(self, name: str, source: Source, context: RunContext) -> Measured:
        """Fetch once, into a copy that nothing was fetched into before."""
        request = self.request
        with throw_away_copy(request.report, room_needed_bytes=0, registry_dir=request.registry_dir) as copy:
            report = report_of_copy(request.report, copy)
            outputs: list[GitOutput] = []
            result = fetch(
                report,
                _plan(request, report, source, name, context),
                program=replace(request.program, is_measured=True),
                now_s=request.clock(),
                cancel=context.cancel,
                on_output=outputs.append,
            )
        if not result.outcome.is_good:
            raise ExperimentError(result.sentence)
        self.has_run = True
        fetched = [output for output in outputs if "fetch" in output.argv]
        return replace(
            joined(outputs, wall_s=result.elapsed_s),
            phases=result.phases,
            counts=_counts(result),
            argv=argv_of(fetched),
            stdin=stdin_of(fetched),
        )


def report_of_copy(report: RepositoryReport, copy: ThrowAwayCopy) -> RepositoryReport:
    """Return the report of a repository as one of its copy."""
    repository = msgspec.structs.replace(
        report.repository,
        path=copy.git_dir,
        git_dir=copy.git_dir,
        common_dir=copy.git_dir,
        kind=RepositoryKind.BARE,
        foreign_owner_uid=None,
        foreign_path=None,
    )
    return msgspec.structs.replace(report, repository=repository)


def _plan(
    request: ExperimentRequest, report: RepositoryReport, source: Source, name: str, context: RunContext
) -> RemotePlan:
    """Return how one fetch is made. Raises ExperimentError if something speaks against it."""
    options = FetchOptions(
        remotes=(source.remote,),
        alternate_refs=_CHOICES[name],
        time_limit_s=context.time_limit_s,
        protocols=source.protocols,
    )
    plan = plan_fetch(source.report or report, options, config=source.config, git_version=request.program.version)
    _require_no_refusal(plan)
    (remote,) = plan.remotes
    return msgspec.structs.replace(remote, config=(*remote.config, _KEEP_PACKED))


def _require_no_refusal(plan: FetchPlan) -> None:
    refusals = (*plan.refusals, *(refusal for remote in plan.remotes for refusal in remote.refusals))
    if refusals:
        raise ExperimentError(f"gitdash would not fetch from it: {refusals[0].reason}")


def _counts(result: FetchResult) -> dict[str, int]:
    return {
        "received-objects": result.received_objects or 0,
        "received-bytes": result.received_bytes or 0,
        "references": result.reference_change_count,
    }
