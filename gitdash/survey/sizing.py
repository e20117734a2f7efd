"""One reachable size of one repository: what is stored and still true, else what git answers now.

Puts together what measurement needs: tips and packs of the repository and of all its lenders, and the older size that
the new one may extend. Where a lender is missing there is no answer: git's own would be the undiminished size.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.command_log import commands_for
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.measurement.fingerprint import SizeInputs, SizeState, size_fingerprint, size_state
from gitdash.measurement.reachable import measure_reachable
from gitdash.measurement.size_request import SizeRequest, choose, counted_tips
from gitdash.measurement.strategy import StrategyChoice, StrategyError
from gitdash.model.experiment import StrategyComparison
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question, SizeMeasurement, Sizes, Strategy
from gitdash.survey.alternates import compared_stores, lender_problem
from gitdash.survey.comparing import accelerators, speed_fingerprint
from gitdash.survey.damage import DamageSearch
from gitdash.survey.inspect_now import inspect_now
from gitdash.survey.lenders import Lender, Lenders
from gitdash.survey.older_size import loose_ids_now, pack_text, previous_size
from gitdash.survey.shared_queries import SharedQueries
from gitdash.survey.size_inputs import SizeQuestion, size_inputs, size_request
from gitdash.survey.tips import tips_of, tips_source

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History, StoredSize

_MORE_LOOKS = 2
"""As often as an inspection looks again: a repository may be pushed to all the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSize:
    """A question with all that is needed to answer it."""

    asked: SizeQuestion
    request: SizeRequest
    fingerprint: bytes
    query_key: bytes
    """Equal for questions that are the same query of git; `fingerprint` holds for one question alone."""
    state: SizeState
    loose_ids: bytes | None
    """Ids of the loose objects, as `SizeMeasurement` has them; None as well where they are of no use."""
    lacks_bitmap: bool
    """There is no bitmap that git could use."""
    stored: SizeMeasurement | None
    """The stored answer if it is still true."""
    choice: StrategyChoice
    speed_fingerprint: bytes
    """As long as it is the same, a comparison of strategies holds."""
    comparison: StrategyComparison | None
    """The last one, if it still holds."""


class Sizing:
    """Answers size questions; usable from several threads."""

    def __init__(
        self,
        program: GitProgram,
        *,
        history: "History | None",
        clock: Callable[[], float],
        time_limit_s: float,
        preferred: Strategy | None = None,
        queries: SharedQueries | None = None,
    ) -> None:
        """Take what all questions share; `preferred` is the strategy where it can answer and none is asked for.

        `queries` are those of others who may ask for the same.
        """
        self._program = program
        self._preferred = preferred
        self._history = history
        self._clock = clock
        self._time_limit_s = time_limit_s
        self._queries = queries or SharedQueries()
        self._lenders = Lenders(program, clock)
        self._damage = DamageSearch()

    def __call__(
        self, report: RepositoryReport, question: Question, *, cancel: threading.Event
    ) -> SizeMeasurement | Unreadable:
        """Answer a question without further wishes, as the sizing queue asks it. Raises GitdashError."""
        prepared = self.prepare(report, SizeQuestion(question=question), cancel=cancel)
        return prepared if isinstance(prepared, Unreadable) else self.measure(report, prepared, cancel=cancel)

    def measure(self, report: RepositoryReport, prepared: PreparedSize, *, cancel: threading.Event) -> SizeMeasurement:
        """Return the stored answer, or ask git and store what it says. Raises GitError.

        A size may be impossible only for the files of the report: it is asked for again if they have changed since.
        """
        for _ in range(_MORE_LOOKS):
            try:
                return self._measured(report, prepared, cancel)
            except GitError as error:
                changed = None if error.kind is not GitFailure.FAILED else self._changed(report, prepared, cancel)
                if changed is None:
                    raise
                prepared = changed
        return self._measured(report, prepared, cancel)

    def _changed(
        self, report: RepositoryReport, prepared: PreparedSize, cancel: threading.Event
    ) -> PreparedSize | None:
        """Inspect the repository again; None if a size depends on the same files as before, or is not to be had."""
        repository = report.repository
        inspection = inspect_now(repository.git_dir, repository.common_dir, now_s=self._clock())
        try:
            newer = self.prepare(msgspec.structs.replace(report, inspection=inspection), prepared.asked, cancel=cancel)
        except GitdashError:
            return None
        if isinstance(newer, Unreadable) or _files(newer) == _files(prepared):
            return None
        return newer

    def _measured(self, report: RepositoryReport, prepared: PreparedSize, cancel: threading.Event) -> SizeMeasurement:
        if prepared.stored is not None:
            return prepared.stored
        question = prepared.asked.question
        with commands_for(report.repository.path):
            answer = self._queries.answer(prepared.query_key, question, partial(self._ask, prepared, cancel), cancel)
        measurement = msgspec.structs.replace(answer, question=question, lacks_bitmap=prepared.lacks_bitmap)
        # damage can be mended without a change of packs and references, which stored sizes are recognised by
        if self._history is not None and not measurement.warnings:
            self._history.save_size(
                report.repository.path,
                msgspec.structs.replace(measurement, loose_ids=prepared.loose_ids),
                fingerprint=prepared.fingerprint,
                tips=sorted(prepared.state.tips),
                packs=[pack_text(pack) for pack in sorted(prepared.state.packs)],
            )
        return measurement

    def _ask(self, prepared: PreparedSize, cancel: threading.Event) -> SizeMeasurement:
        return measure_reachable(
            prepared.request, self._program, now_s=self._clock(), time_limit_s=self._time_limit_s, cancel=cancel
        )

    def prepare(
        self, report: RepositoryReport, asked: SizeQuestion, *, cancel: threading.Event
    ) -> PreparedSize | Unreadable:
        """Read what the answer depends on, and say how it will be obtained.

        Unreadable if the repository or a lender cannot be read. Raises StrategyError if the strategy that was asked
        for cannot answer the question, FileError if the shallow file cannot be read.
        """
        with commands_for(report.repository.path):
            return self._prepare(report, asked, cancel)

    def _prepare(
        self, report: RepositoryReport, asked: SizeQuestion, cancel: threading.Event
    ) -> PreparedSize | Unreadable:
        inspection = report.inspection
        if isinstance(inspection, Unreadable):
            return inspection
        parts = (inspection.object_store, inspection.packs, inspection.loose)
        unreadable = next((part for part in parts if isinstance(part, Unreadable)), None) or lender_problem(inspection)
        if unreadable is not None:
            return unreadable
        lenders = [self._lenders.lender(one.path, cancel=cancel) for one in inspection.alternate_stores]
        missing = next((lender for lender in lenders if isinstance(lender, Unreadable)), None)
        if missing is not None:
            return Unreadable(f"a lender cannot be read: {missing.reason}")
        tips = tips_of(tips_source(report.repository, inspection), self._program, cancel)
        if isinstance(tips, Unreadable):
            return tips
        stores = compared_stores(report.repository.common_dir, inspection)
        damage = self._damage.search(stores, inspection.object_format)
        if damage.problem is not None:
            return damage.problem
        readable = [lender for lender in lenders if isinstance(lender, Lender)]
        return self._prepared(report, asked, size_request(report, inspection, tips, readable, asked, damage), readable)

    def _prepared(
        self, report: RepositoryReport, asked: SizeQuestion, request: SizeRequest, lenders: list[Lender]
    ) -> PreparedSize:
        inputs = size_inputs(request, report.inspection, lenders, self._program)
        state = size_state(inputs, counted_tips(request))
        fingerprint = size_fingerprint(inputs) + state.surroundings
        stored = self._last(report, asked) if asked.strategy is None else None
        loose_ids = None
        if stored is not None and stored.fingerprint == fingerprint and _is_worth_keeping(stored.measurement, request):
            answer: SizeMeasurement | None = msgspec.structs.replace(stored.measurement, loose_ids=None)
        else:
            answer = None
            loose_ids = loose_ids_now(state, request.objects_dir, inputs.alternates)
            if stored is not None:
                request = replace(request, previous=previous_size(stored, state, request, inputs.alternates))
            request = self._with_preferred(request)
        own = [accelerators(report.inspection)] if isinstance(report.inspection, Inspection) else []
        speed = speed_fingerprint(fingerprint, (*own, *(lender.accelerators for lender in lenders)))
        comparison = self._comparison(report, asked.question, speed)
        if comparison is not None:
            request = replace(request, winner=comparison.winner)
        return PreparedSize(
            asked=asked,
            request=request,
            fingerprint=fingerprint,
            query_key=_query_key(report.repository.path, request, inputs),
            state=state,
            loose_ids=loose_ids,
            lacks_bitmap=_lacks_bitmap(report.inspection, lenders),
            stored=answer,
            choice=choose(request, self._program),
            speed_fingerprint=speed,
            comparison=comparison,
        )

    def by_rule(self, prepared: PreparedSize) -> Strategy:
        """Return the strategy that the facts alone choose: without wishes, comparisons and older sizes."""
        facts_alone = replace(prepared.request, requested=None, previous=None, winner=None)
        return choose(facts_alone, self._program).strategy

    def _comparison(self, report: RepositoryReport, question: Question, speed: bytes) -> StrategyComparison | None:
        if self._history is None:
            return None
        return self._history.experiments.comparison(report.repository.path, question, speed)

    def _with_preferred(self, request: SizeRequest) -> SizeRequest:
        if self._preferred is None or request.requested is not None or request.previous is not None:
            return request
        preferring = replace(request, requested=self._preferred)
        try:
            choose(preferring, self._program)
        except StrategyError:
            return request
        return preferring

    def _last(self, report: RepositoryReport, asked: SizeQuestion) -> "StoredSize | None":
        if self._history is None:
            return None
        return self._history.last_size(report.repository.path, asked.question, asked.excluded_references)


def _lacks_bitmap(inspection: Inspection | Unreadable, lenders: list[Lender]) -> bool:
    """Tell whether git can use no bitmap; in a shallow repository it uses none."""
    if isinstance(inspection, Unreadable):
        return False
    return inspection.shallow or not (inspection.bitmaps or any(lender.has_bitmap for lender in lenders))


def _is_worth_keeping(size: SizeMeasurement, request: SizeRequest) -> bool:
    """Tell whether it is more than a sum that is not exact, where a full measurement would be."""
    return size.exact or size.strategy is not Strategy.DIFFERENCE or bool(request.lender_objects_dirs)


def _files(prepared: PreparedSize) -> tuple[bytes, int | None]:
    """Return what tells whether the files have changed: references and packs, and the loose objects by their bytes."""
    return prepared.fingerprint, prepared.request.upper_bound_bytes


def _query_key(path: bytes, request: SizeRequest, inputs: SizeInputs) -> bytes:
    """Without alternates both questions are one."""
    same = inputs if request.has_alternates_file else replace(inputs, question=Question.REACHABLE)
    return size_fingerprint(same) + (request.requested or "").encode() + b"\0" + path


def preferred_strategy(settings: "Settings") -> Strategy | None:
    """Return the strategy that the configuration prefers; None for the best one by the facts."""
    return None if settings.size.strategy == "auto" else Strategy(settings.size.strategy)


def with_answer(sizes: Sizes, question: Question, answer: SizeMeasurement | Unreadable) -> Sizes:
    """Return the sizes with one more answer."""
    if question is Question.REACHABLE:
        return msgspec.structs.replace(sizes, reachable=answer)
    return msgspec.structs.replace(sizes, reachable_own=answer)
