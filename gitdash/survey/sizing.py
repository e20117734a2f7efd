"""One reachable size of one repository: what is stored and still true, else what git answers now.

Puts together what measurement needs: tips and packs of the repository and of all its lenders, and the older size that
the new one may extend. Where a lender is missing there is no answer: git's own would be the undiminished size.
"""

import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from gitdash.errors import GitdashError
from gitdash.gitcmd.command_log import commands_for
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.files import FileError, read_file
from gitdash.inspection.references import ReferenceTips
from gitdash.measurement.fingerprint import SizeInputs, SizeState, size_fingerprint, size_state
from gitdash.measurement.reachable import measure_reachable
from gitdash.measurement.size_request import SizeRequest, choose, counted_tips
from gitdash.measurement.strategy import StrategyChoice, StrategyError
from gitdash.model.experiment import StrategyComparison
from gitdash.model.inspection import ConfigFacts, Inspection, PackFacts
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import Repository, Unreadable
from gitdash.model.sizes import ExclusiveSizes, Question, SizeMeasurement, Sizes, Strategy
from gitdash.survey.alternates import alternates_of, lender_problem
from gitdash.survey.comparing import accelerators, speed_fingerprint
from gitdash.survey.damage import Damage, DamageSearch
from gitdash.survey.inspect_now import inspect_now
from gitdash.survey.lenders import Lender, Lenders, pack_sizes
from gitdash.survey.older_size import pack_text, previous_size
from gitdash.survey.tips import tips_of, tips_source
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History, StoredSize

_SHALLOW_LIMIT_BYTES = 64 << 20
_MORE_LOOKS = 2
"""As often as an inspection looks again: a repository may be pushed to all the time."""
_SHALLOW = re.compile(rb"(?:[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?[ \t\r\n]*+)*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeQuestion:
    """What is asked of a repository."""

    question: Question
    excluded_references: tuple[str, ...] = ()
    """Patterns as of `git rev-list --exclude`."""
    strategy: Strategy | None = None
    """None for the best one by the facts; then a stored answer will do, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSize:
    """A question with all that is needed to answer it."""

    asked: SizeQuestion
    request: SizeRequest
    fingerprint: bytes
    state: SizeState
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
    ) -> None:
        """Take what all questions share; `preferred` is the strategy where it can answer and none is asked for."""
        self._program = program
        self._preferred = preferred
        self._history = history
        self._clock = clock
        self._time_limit_s = time_limit_s
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
        with commands_for(report.repository.path):
            measurement = measure_reachable(
                prepared.request, self._program, now_s=self._clock(), time_limit_s=self._time_limit_s, cancel=cancel
            )
        # damage can be mended without a change of packs and references, which stored sizes are recognised by
        if self._history is not None and not measurement.warnings:
            self._history.save_size(
                report.repository.path,
                measurement,
                fingerprint=prepared.fingerprint,
                tips=sorted(prepared.state.tips),
                packs=[pack_text(pack) for pack in sorted(prepared.state.packs)],
            )
        return measurement

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
        lenders = [self._lenders.lender(one.path, cancel=cancel) for one in alternates_of(inspection)]
        missing = next((lender for lender in lenders if isinstance(lender, Unreadable)), None)
        if missing is not None:
            return Unreadable(f"a lender cannot be read: {missing.reason}")
        tips = tips_of(tips_source(report.repository, inspection), self._program, cancel)
        if isinstance(tips, Unreadable):
            return tips
        damage = self._damage.search(_stores(report.repository, inspection), inspection.object_format)
        if damage.problem is not None:
            return damage.problem
        readable = [lender for lender in lenders if isinstance(lender, Lender)]
        return self._prepared(report, asked, _request(report, inspection, tips, readable, asked, damage), readable)

    def _prepared(
        self, report: RepositoryReport, asked: SizeQuestion, request: SizeRequest, lenders: list[Lender]
    ) -> PreparedSize:
        inputs = _inputs(request, report.inspection, lenders, self._program)
        state = size_state(inputs, counted_tips(request))
        fingerprint = size_fingerprint(inputs) + state.surroundings
        stored = self._last(report, asked) if asked.strategy is None else None
        if stored is not None and stored.fingerprint == fingerprint:
            answer: SizeMeasurement | None = stored.measurement
        else:
            answer = None
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
            state=state,
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


def _files(prepared: PreparedSize) -> tuple[bytes, int | None]:
    """Return what tells whether the files have changed: references and packs, and the loose objects by their bytes."""
    return prepared.fingerprint, prepared.request.upper_bound_bytes


def _stores(repository: Repository, inspection: Inspection) -> list[bytes]:
    """Return the own object store and those of all lenders."""
    own = os.path.join(repository.common_dir, b"objects")
    return [own, *(alternate.path for alternate in alternates_of(inspection))]


def _request(
    report: RepositoryReport,
    inspection: Inspection,
    tips: ReferenceTips,
    lenders: list[Lender],
    asked: SizeQuestion,
    damage: Damage,
) -> SizeRequest:
    common_dir = report.repository.common_dir
    exclusive = report.sizes.exclusive
    return SizeRequest(
        question=asked.question,
        objects_dir=os.path.join(common_dir, b"objects"),
        object_format=inspection.object_format,
        references=tips.references,
        broken_references=tips.broken,
        dangling_references=tips.dangling,
        requested=asked.strategy,
        excluded_references=asked.excluded_references,
        has_alternates_file=inspection.alternates is not None,
        lender_objects_dirs=tuple(alternate.path for alternate in alternates_of(inspection)),
        lender_references=tuple(reference for lender in lenders for reference in lender.references),
        lender_broken_references=tuple(reference for lender in lenders for reference in lender.broken),
        lender_has_pseudo_merges=any(lender.has_pseudo_merges for lender in lenders),
        shallow_file=os.path.join(common_dir, b"shallow") if inspection.shallow else None,
        partial=isinstance(inspection.config, ConfigFacts) and inspection.config.partial_clone,
        upper_bound_bytes=_own_bytes(inspection) + sum(lender.store_bytes for lender in lenders),
        expected_bytes=_expected_bytes(inspection, exclusive, asked),
        every_object_once=isinstance(exclusive, ExclusiveSizes) and exclusive.every_object_once,
        damaged_files=tuple(map(printable_path, damage.derived_files)),
    )


def preferred_strategy(settings: "Settings") -> Strategy | None:
    """Return the strategy that the configuration prefers; None for the best one by the facts."""
    return None if settings.size.strategy == "auto" else Strategy(settings.size.strategy)


def with_answer(sizes: Sizes, question: Question, answer: SizeMeasurement | Unreadable) -> Sizes:
    """Return the sizes with one more answer."""
    if question is Question.REACHABLE:
        return msgspec.structs.replace(sizes, reachable=answer)
    return msgspec.structs.replace(sizes, reachable_own=answer)


def _inputs(
    request: SizeRequest, inspection: Inspection | Unreadable, lenders: list[Lender], program: GitProgram
) -> SizeInputs:
    packs = inspection.packs if isinstance(inspection, Inspection) else None
    alternates = alternates_of(inspection) if isinstance(inspection, Inspection) else ()
    return SizeInputs(
        question=request.question,
        # a reference that breaks or is mended changes the answer, though git starts from the same tips
        references=(*request.references, *_without_id(request.broken_references)),
        packs=pack_sizes(packs) if isinstance(packs, PackFacts) else (),
        alternates=tuple(alternate.path for alternate in alternates),
        lender_references=(*request.lender_references, *_without_id(request.lender_broken_references)),
        lender_packs=tuple(pack for lender in lenders for pack in lender.packs),
        shallow=_shallow(request.shallow_file),
        excluded_references=request.excluded_references,
        git_version=program.version_text,
    )


def _without_id(references: Sequence[tuple[bytes, str]]) -> list[tuple[bytes, str]]:
    return [(name, "") for name, _ in references]


def _shallow(path: bytes | None) -> bytes:
    """Return what the shallow file holds. Raises FileError, also where git would quote what is no id."""
    if path is None:
        return b""
    content = read_file(path, _SHALLOW_LIMIT_BYTES)
    if not _SHALLOW.fullmatch(content):
        raise FileError(path, "not a list of object ids")
    return content


def _own_bytes(inspection: Inspection) -> int:
    packs, loose = inspection.packs, inspection.loose
    return sum(part.bytes for part in (packs, loose) if not isinstance(part, Unreadable))


def _expected_bytes(
    inspection: Inspection, exclusive: ExclusiveSizes | Unreadable | None, asked: SizeQuestion
) -> int | None:
    """Return what should nearly all count; None where references or objects are left out on purpose."""
    if asked.excluded_references or inspection.shallow:
        return None
    if asked.question is Question.REACHABLE_OWN and alternates_of(inspection):
        return exclusive.exclusive_bytes if isinstance(exclusive, ExclusiveSizes) else None
    packs = inspection.packs
    if not isinstance(packs, PackFacts):
        return None
    expected_bytes = packs.bytes - packs.cruft_bytes
    # second copies of objects count in packs, and not in a clone
    if isinstance(exclusive, ExclusiveSizes) and not alternates_of(inspection):
        return min(expected_bytes, exclusive.exclusive_bytes)
    return expected_bytes
