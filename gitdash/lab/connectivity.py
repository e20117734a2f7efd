"""The experiment `connectivity`: what the check costs that git makes after a fetch and before it takes a push.

The check walks from new tips to what is there already; `rev-list --count --objects --use-bitmap-index` stands for it,
as in git's own t/perf/p5310. Each variant runs in a throw-away copy, for it reads references, too. Whether a lookup
table that is there is read, no configuration says, in no git up to 2.55: only the environment variable
GIT_TEST_READ_COMMIT_TABLE (pack-bitmap.c), which is there for git's own tests. Source: git's technical documentation
bitmap-format; git-config(1) `pack.writeBitmapLookupTable`, `pack.writeBitmapHashCache`, `pack.writeReverseIndex`.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitdash.lab.answers import judged
from gitdash.lab.bitmap_copies import BitmapCopies, BitmapCopy, BitmapForm, why_no_copy
from gitdash.lab.listed import cannot_run, prepared
from gitdash.lab.measured_git import measured_git
from gitdash.lab.method import run_interleaved
from gitdash.lab.questions import asked
from gitdash.lab.references import Lent, a_tip, bitmaps_of, lenders_of, require_inspection
from gitdash.lab.request import ExperimentRequest
from gitdash.lab.steady import Fingerprint, run_steadily
from gitdash.lab.variant import Variant
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from gitdash.model.inspection import BitmapFacts

TITLE: Final = "what the check of a fetch or a push costs"
EXPLANATION: Final = (
    "After a fetch, and before it takes a push, git checks that all that new tips reach is there. How long that takes"
    " depends on what is asked, and on the parts that a bitmap has beside its bits. Beyond all references, which is"
    " --not --all, nothing is left to count: what is timed is how soon git knows."
)

_TIP: Final = "a tip"
_REVISIONS: Final[Mapping[str, tuple[str, ...]]] = {
    _TIP: (),
    "all branches": ("--branches",),
    "branches and tags": ("--branches", "--tags"),
}
"""Words of git for each question, besides the tip itself."""
_BEYOND: Final = "beyond all references: "
QUESTIONS: Final = (*_REVISIONS, *(f"{_BEYOND}{question}" for question in _REVISIONS))

_COUNT: Final = ("rev-list", "--count", "--objects")
_BITMAP: Final = "--use-bitmap-index"


def _form(name: str, *, table: bool = True, hash_cache: bool = True, reverse_index: bool = True) -> BitmapForm:
    def problem_of(bitmap: BitmapFacts) -> str | None:
        if bitmap.lookup_table is not table or bitmap.hash_cache is not hash_cache:
            return "git wrote a bitmap with other parts than it was told to"
        return None

    return BitmapForm(
        does=f"packing a copy anew, with a bitmap {name}",
        config=(
            ("pack.writeBitmapLookupTable", str(table).lower()),
            ("pack.writeBitmapHashCache", str(hash_cache).lower()),
            ("pack.writeReverseIndex", "true"),
        ),
        has_reverse_index=reverse_index,
        problem_of=problem_of,
    )


_WHOLE: Final = _form("that has all its parts")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One variant: what a bitmap has, and what of it is read."""

    name: str
    title: str
    explanation: str
    form: BitmapForm | None = None
    """None for the bitmaps of the repository as they are."""
    uses_bitmap: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


_PARTS: Final = (
    _Part(
        name="as-it-is",
        title="bitmap as it is",
        explanation="With the bitmap that is there, however old it is: what is newer than it is walked.",
    ),
    _Part(
        name="table-read",
        title="lookup table read",
        explanation="A fresh bitmap with lookup table, hash cache and reverse index. The table says where the bitmap"
        " of a commit lies, so only those that are needed are read: it should win where few tips are asked for.",
        form=_WHOLE,
    ),
    _Part(
        name="table-not-read",
        title="lookup table there, not read",
        explanation="The same files, and git is told by a variable of its own tests, GIT_TEST_READ_COMMIT_TABLE=0, to"
        " pass over the table: it reads the head of each bitmap first. The difference is what the table is worth.",
        form=_WHOLE,
        environment={"GIT_TEST_READ_COMMIT_TABLE": "0"},
    ),
    _Part(
        name="no-table",
        title="no lookup table",
        explanation="A fresh bitmap without the table, as git writes it unless pack.writeBitmapLookupTable is set. It"
        " should be as fast as a table that is not read.",
        form=_form("without lookup table", table=False),
    ),
    _Part(
        name="no-hash-cache",
        title="no hash cache",
        explanation="A fresh bitmap without hashes of names. Only who makes packs reads them, so here nothing should"
        " change.",
        form=_form("without hash cache", hash_cache=False),
    ),
    _Part(
        name="no-reverse-index",
        title="no reverse index",
        explanation="Without the .rev file git sorts all objects of the pack by their place each time: it should"
        " lose, the more so the larger the pack is.",
        form=_form("and no reverse index beside it", reverse_index=False),
    ),
    _Part(
        name="walk",
        title="no bitmap used",
        explanation="Opens every commit and tree that is asked for. It should win only where nearly nothing is.",
        uses_bitmap=False,
    ),
)


def questions(_: ExperimentRequest) -> Sequence[str]:
    """Return what can be asked: the tip of HEAD first."""
    return QUESTIONS


def variants(request: ExperimentRequest) -> Sequence[Variant]:
    """Return the variants as they would be run here. Raises ExperimentError."""
    question = _asked(request)
    lenders = lenders_of(request.report, now_s=request.clock())
    return [_listed(part, question, _why_not(part, request, lenders)) for part in _PARTS]


def run(request: ExperimentRequest) -> ExperimentResult:
    """Make the experiment. Raises ExperimentError, GitError, FileError and FormatError."""
    return run_steadily(request, _run)


def _run(request: ExperimentRequest, fingerprint: Fingerprint) -> ExperimentResult:
    question = _asked(request)
    lenders = lenders_of(request.report, now_s=request.clock())
    revisions = _revisions(request, question)
    with contextlib.ExitStack() as resources:
        copies = BitmapCopies(request=request, lenders=lenders, resources=resources)
        made = [
            _made(part, _listed(part, question, _why_not(part, request, lenders)), request, copies, revisions)
            for part in _PARTS
        ]
        result = run_interleaved(
            made, request, kind=ExperimentKind.CONNECTIVITY, question=question, fingerprint=fingerprint
        )
    return judged(result, trusted=[part.name for part in _PARTS], unit="object", remarks={})


def _asked(request: ExperimentRequest) -> str:
    return asked(request, {question: [part.name for part in _PARTS] for question in QUESTIONS})


def _why_not(part: _Part, request: ExperimentRequest, lenders: tuple[Lent, ...]) -> str | None:
    if part.form is not None:
        return why_no_copy(lenders)
    if part.uses_bitmap and not bitmaps_of(request.report, lenders):
        return "there is no bitmap, here or in a lender, so git would walk"
    return None


def _words(question: str) -> tuple[str, ...]:
    named = question.removeprefix(_BEYOND)
    return *_REVISIONS[named], *(("--not", "--all") if question != named else ())


def _revisions(request: ExperimentRequest, question: str) -> tuple[str, ...]:
    """Return the words of git for a question, with the tip that HEAD leads to, or another if it leads nowhere.

    What a partial clone has not fetched does not count: nothing is fetched for an experiment.
    """
    inspection = require_inspection(request.report)
    is_partial = isinstance(inspection.config, ConfigFacts) and inspection.config.partial_clone
    missing = ("--missing=allow-any",) if is_partial else ()
    if question.removeprefix(_BEYOND) != _TIP:
        return *missing, *_words(question)
    return *missing, a_tip(request), *_words(question)


def _listed(part: _Part, question: str, why_not: str | None) -> Variant:
    return Variant(
        name=part.name,
        title=part.title,
        explanation=part.explanation,
        run=cannot_run,
        argv=_argv(part, _words(question)),
        skipped=why_not,
    )


def _arguments(part: _Part, revisions: tuple[str, ...]) -> tuple[str, ...]:
    return (*_COUNT, *((_BITMAP,) if part.uses_bitmap else ()), *revisions)


def _argv(part: _Part, revisions: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is timed, in short, variables first as a shell takes them."""
    variables = tuple(f"{name}={value}" for name, value in part.environment.items())
    return *variables, "git", *_arguments(part, revisions)


def _made(
    part: _Part, listed: Variant, request: ExperimentRequest, copies: BitmapCopies, revisions: tuple[str, ...]
) -> Variant:
    """Return a variant that can be run, with the copy that it needs."""

    def prepare(listed: Variant) -> Variant:
        found: BitmapCopy = copies.untouched() if part.form is None else copies.copy(part.form)
        return replace(
            listed,
            run=lambda context: measured_git(
                request.program,
                _arguments(part, revisions),
                context,
                git_dir=found.copy.git_dir,
                environment=part.environment,
                answer=int,
            ),
            objects_dirs=found.objects_dirs,
        )

    return prepared(listed, request, prepare)
