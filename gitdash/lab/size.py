"""The experiment `size`: how the reachable size of a repository is obtained the fastest.

What is timed is what gitdash runs: the queries of `measurement`, in a shadow git directory, with tips on stdin. Two
questions, each an experiment of its own. Some variants need other bitmaps than there are: they run on throw-away
copies. Where a copy's packs are written anew, the same objects may take a few bytes more or less: then that is said.
Source: git-rev-list(1); git-config(1) `pack.useBitmapBoundaryTraversal`.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitOutput
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import ShadowGitDir, shadow_git_dir
from gitdash.lab.answers import judged
from gitdash.lab.bitmap_copies import BitmapCopies, why_no_copy
from gitdash.lab.fingerprint import object_folders
from gitdash.lab.joined import joined
from gitdash.lab.listed import cannot_run, prepared
from gitdash.lab.method import run_interleaved
from gitdash.lab.questions import asked
from gitdash.lab.references import Lent, bitmaps_of, lenders_of, require_inspection, tips_of
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.size_variants import EVERYTHING, SIZE_WAYS, WITHOUT_LENDER, SizeWay
from gitdash.lab.steady import Fingerprint, run_steadily
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.measurement.answers import Tips, answer
from gitdash.measurement.queries import StoreQueries
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.sizes import ExclusiveSizes, Strategy
from gitdash.units import counted

TITLE: Final = "how the reachable size is obtained"
EXPLANATION: Final = (
    "What is reachable can be counted from bitmaps, by a walk, or as a difference of two counts, with the lender or"
    " without. Which is the fastest depends on the repository: `--strategy auto` uses what won here."
)
_COUNT_LIMIT_S: Final = 600.0
"""For a count that no run is timed by."""


def questions(request: ExperimentRequest) -> Sequence[str]:
    """Return what can be asked here; of a repository that borrows, first what it has beside its lender."""
    has_lender = require_inspection(request.report).alternates is not None
    return (WITHOUT_LENDER, EVERYTHING) if has_lender else (EVERYTHING, WITHOUT_LENDER)


def variants(request: ExperimentRequest) -> Sequence[Variant]:
    """Return the variants as they would be run here. Raises ExperimentError."""
    return [_listed(way, why) for way, why in _ways(request, lenders_of(request.report, now_s=request.clock()))]


def run(request: ExperimentRequest) -> ExperimentResult:
    """Make the experiment. Raises ExperimentError, GitError, FileError and FormatError."""
    return run_steadily(request, _run)


def _run(request: ExperimentRequest, fingerprint: Fingerprint) -> ExperimentResult:
    lenders = lenders_of(request.report, now_s=request.clock())
    ways = _ways(request, lenders)
    with contextlib.ExitStack() as resources:
        sizing = _Sizing(
            request=request,
            tips=_tips_for(_asked(request), tips_of(request, lenders)),
            lenders=lenders,
            resources=resources,
            copies=BitmapCopies(request=request, lenders=lenders, resources=resources),
        )
        made = [sizing.variant(way, why) for way, why in ways]
        result = run_interleaved(
            made, request, kind=ExperimentKind.SIZE, question=_asked(request), fingerprint=fingerprint
        )
        return sizing.concluded(result)


def _asked(request: ExperimentRequest) -> str:
    names = {question: [way.name for way in SIZE_WAYS if question in way.questions] for question in questions(request)}
    return asked(request, names)


def _ways(request: ExperimentRequest, lenders: tuple[Lent, ...]) -> list[tuple[SizeWay, str | None]]:
    """Return the ways to answer the question, each with the reason why it is not gone here, if there is one."""
    question, bitmaps = _asked(request), bitmaps_of(request.report, lenders)
    found = []
    for way in SIZE_WAYS:
        if question not in way.questions:
            continue
        if question == WITHOUT_LENDER and not lenders:
            why: str | None = "it borrows from no other repository"
        elif request.program.version < way.since:
            why = f"needs git {'.'.join(map(str, way.since))}, this is {request.program.version_text}"
        elif way.form is not None:
            why = why_no_copy(lenders)
        elif way.strategy is not Strategy.WALK and not bitmaps:
            why = "there is no bitmap, here or in a lender, so git would walk"
        else:
            why = None
        found.append((way, why))
    return found


def _tips_for(question: str, tips: Tips) -> Tips:
    return tips if question == WITHOUT_LENDER else Tips(wanted=tips.wanted, excluded=())


def _listed(way: SizeWay, why_not: str | None) -> Variant:
    return Variant(name=way.name, title=way.title, explanation=way.explanation, run=cannot_run, skipped=why_not)


@dataclass(slots=True, kw_only=True)
class _Said:
    """What the runs of one variant showed beside their time."""

    queries: StoreQueries
    has_run: bool = False
    is_exact: bool = False
    """By how it was counted."""


@dataclass(slots=True, kw_only=True)
class _Sizing:
    """One experiment under way."""

    request: ExperimentRequest
    tips: Tips
    lenders: tuple[Lent, ...]
    resources: contextlib.ExitStack
    copies: BitmapCopies
    said: dict[str, _Said] = field(default_factory=dict)

    def variant(self, way: SizeWay, why_not: str | None) -> Variant:
        """Return a variant that can be run, with the copy that it needs."""

        def prepare(listed: Variant) -> Variant:
            queries, objects_dirs = self._place(way)
            said = self.said[way.name] = _Said(queries=replace(queries, config=way.config))
            return replace(listed, run=lambda context: self._run(way, said, context), objects_dirs=objects_dirs)

        return prepared(_listed(way, why_not), self.request, prepare)

    def concluded(self, result: ExperimentResult) -> ExperimentResult:
        """Say which answers are exact."""
        trusted = [way.name for way in SIZE_WAYS if way.form is None and self._is_trusted(way)]
        answers = {variant.name: variant.runs[-1].answer for variant in result.variants if variant.runs}
        known = {answers[name] for name in trusted if name in answers}
        remarks = {
            way.name: self._remark(way)
            for way in SIZE_WAYS
            if way.name in answers and known and answers[way.name] not in known
        }
        return judged(result, trusted=trusted, unit="byte", remarks=remarks)

    def _place(self, way: SizeWay) -> tuple[StoreQueries, tuple[bytes, ...]]:
        """Return where a way is gone, and the object folders there if they are not the repository's."""
        report = self.request.report
        if way.form is None:
            shallow = report.repository.common_dir + b"/shallow" if require_inspection(report).shallow else None
            return self._queries(object_folders(report)[0], shallow), ()
        found = self.copies.copy(way.form)
        shallow = found.copy.git_dir + b"/shallow" if require_inspection(report).shallow else None
        return self._queries(found.copy.objects_dir, shallow), found.objects_dirs

    def _queries(self, objects_dir: bytes, shallow_file: bytes | None) -> StoreQueries:
        inspection = require_inspection(self.request.report)
        shadow: ShadowGitDir = self.resources.enter_context(
            shadow_git_dir(object_format=inspection.object_format, objects_dir=objects_dir, shallow_file=shallow_file)
        )
        return StoreQueries(
            program=self.request.program,
            shadow=shadow,
            partial=isinstance(inspection.config, ConfigFacts) and inspection.config.partial_clone,
            deadline_s=0.0,
            cancel=None,
            objects_dir=objects_dir,
            lenders=tuple(lender.objects_dir for lender in self.lenders),
        )

    def _run(self, way: SizeWay, said: _Said, context: RunContext) -> Measured:
        outputs: list[GitOutput] = []
        queries = replace(
            said.queries,
            program=replace(said.queries.program, is_measured=True),
            deadline_s=time.monotonic() + context.time_limit_s,
            cancel=context.cancel,
            on_output=outputs.append,
        )
        exclusive = self.request.report.sizes.exclusive
        every_object_once = isinstance(exclusive, ExclusiveSizes) and exclusive.every_object_once
        found = answer(way.strategy, queries, self.tips, every_object_once=every_object_once)
        said.has_run, said.is_exact = True, found.exact
        return joined(outputs, answer=found.size_bytes)

    def _is_trusted(self, way: SizeWay) -> bool:
        """Whether an answer is exact by how it was counted; where git cannot say, by the number of objects."""
        said = self.said.get(way.name)
        if said is None or not said.has_run or way.is_approximate:
            return False
        if said.is_exact or way.strategy is not Strategy.BITMAP or not self.tips.excluded:
            return said.is_exact
        try:
            lent_count = self._count(said.queries, self.tips.excluded)
            own_count = self._count(said.queries, self.tips.wanted, self.tips.excluded)
            return own_count + lent_count == self._count_all(said.queries)
        except GitError:
            return False

    def _remark(self, way: SizeWay) -> str:
        """Say why a way answers with other bytes where it counts the same objects; nothing where it counts others."""
        if way.strategy is Strategy.UNION:
            return "of an object that is stored twice it may count another copy"
        if way.form is None:
            return ""
        try:
            original, _ = self._place(replace(way, form=None))
            here, there = self._count_all(original), self._count_all(self.said[way.name].queries)
        except GitError:
            return "in packs that were written anew"
        if here == there:
            return f"the same {counted(here, 'object')}, in packs that were written anew, which take other bytes"
        return f"reaches {counted(there, 'object')}, the original {here:,}"

    def _count_all(self, queries: StoreQueries) -> int:
        return self._count(queries, tuple(dict.fromkeys(self.tips.wanted + self.tips.excluded)))

    def _count(self, queries: StoreQueries, wanted: Sequence[str], excluded: Sequence[str] = ()) -> int:
        tips = [f"{tip}\n" for tip in wanted] + [f"^{tip}\n" for tip in excluded]
        output = run_git(
            self.request.program,
            [
                *("rev-list", "--count", "--objects", "--use-bitmap-index", "--stdin"),
                *(("--missing=allow-any",) if queries.partial else ()),
            ],
            environment=queries.shadow.environment,
            stdin="".join(tips).encode("ascii"),
            time_limit_s=_COUNT_LIMIT_S,
            cancel=self.request.cancel,
        )
        return int(output.stdout)
