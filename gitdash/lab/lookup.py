"""The experiment `lookup`: what it costs to find an object among the packs, under a multi-pack-index, and in one pack.

Each run asks a fresh handle: a `cat-file --batch-check` that stays open, as gitdash keeps one for a repository in view,
or one process for each object. The handle is asked for an object that is there (the first look-up loads what it needs),
for the same again (warm), and for ids that nobody has. A missing object is the dear one: git looks into all packs, then
reads the folder of packs again, for another process may have packed meanwhile, and looks everywhere once more. What
`git --git-dir` would read of configuration is not read: all asks go through a shadow git directory.
Source: object-file.c and packfile.c of git; git-multi-pack-index(1).
"""

import contextlib
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.lookup_times import time_lookups
from gitdash.gitcmd.objects import PLAIN, ObjectReader, open_reader
from gitdash.gitcmd.shadow import shadow_git_dir
from gitdash.gitcmd.usage import peak_memory_bytes, processor_time_s
from gitdash.lab.listed import cannot_run, prepared
from gitdash.lab.lookup_stores import AS_IT_IS, CONSOLIDATED, INDEXED, Looking, Stock, Store, generated_stock
from gitdash.lab.measured_git import measured_git
from gitdash.lab.method import run_interleaved
from gitdash.lab.questions import asked
from gitdash.lab.references import require_inspection
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.statistics import outcome
from gitdash.lab.steady import Fingerprint, run_steadily
from gitdash.lab.variant import Measured, RunContext, Variant
from gitdash.model.experiment import ExperimentKind, ExperimentResult, VariantResult
from gitdash.model.ledger import Phase
from gitdash.units import fine_duration

TITLE: Final = "what finding an object costs"
EXPLANATION: Final = (
    "Each pack has an index of its own, and git may have to look into all of them. A multi-pack-index spares that for"
    " what is there, and not for what is missing; one pack spares both. It shows what a repack would gain."
)

MISSING: Final = "a missing object"
FIRST: Final = "the first look-up"
WARM: Final = "a warm look-up"
QUESTIONS: Final = (MISSING, FIRST, WARM)
_PHASES: Final = {FIRST: "first", WARM: "warm", MISSING: "missing"}
"""Names of the parts of a run: the run itself counts with the one that is asked for."""
CURVE: Final = (1, 10, 100, 1_000)
"""Packs of the repositories that are generated with the option `curve`."""
_PROCESS: Final = "-process"
"""Ends the name of a variant that starts a process for each object."""
_BY_PROCESS: Final = " A process for each object pays for its start and for a first look-up each time."
_BY_READER: Final = (
    " Processor time, memory and what was read are those of the handle, from its start to the last of all look-ups."
)
_WARM_BY_THEN: Final = (
    "Files are driven out of memory before a handle starts: its first look-up finds them cold, the others, of which one"
    " was asked for, find what that has loaded."
)
_ABSENT: Final = "d"
"""The digit of an id that nobody has; one of zeros git would not look for."""


def questions(_: ExperimentRequest) -> Sequence[str]:
    """Return what can be asked: a missing object first, for it is what many packs make dear."""
    return QUESTIONS


def variants(request: ExperimentRequest) -> Sequence[Variant]:
    """Return the variants as they would be run here. Raises ExperimentError."""
    require_inspection(request.report)
    return [_listed(stock, by_process=by_process) for stock, by_process in _wanted(request)]


def run(request: ExperimentRequest) -> ExperimentResult:
    """Make the experiment. Raises ExperimentError, GitError, FileError and FormatError."""
    return run_steadily(request, _run)


def _run(request: ExperimentRequest, fingerprint: Fingerprint) -> ExperimentResult:
    question = _asked(request)
    with contextlib.ExitStack() as resources:
        looking = Looking(request=request, resources=resources)
        stores: dict[str, Store | str] = {}
        made = [
            _made(stock, looking, stores, question, by_process=by_process) for stock, by_process in _wanted(request)
        ]
        result = run_interleaved(made, request, kind=ExperimentKind.LOOKUP, question=question, fingerprint=fingerprint)
    notes = [sentence for variant in result.variants if (sentence := _sentence(variant)) is not None]
    if request.is_cold and question != FIRST:
        notes.insert(0, _WARM_BY_THEN)
    return _compared(msgspec.structs.replace(result, notes=(*result.notes, *notes)))


def _compared(result: ExperimentResult) -> ExperimentResult:
    """Return the result with a verdict on the repository's own packs: what was generated only stands beside them."""
    own = {stock.name for stock in (AS_IT_IS, INDEXED, CONSOLIDATED)}
    kept = [variant for variant in result.variants if variant.name.removesuffix(_PROCESS) in own]
    summaries = {variant.name: variant.summary for variant in kept if variant.summary is not None}
    titles = {variant.name: variant.title for variant in kept}
    winner, verdict = outcome(summaries, titles, is_complete=result.is_complete)
    return msgspec.structs.replace(result, winner=winner, verdict=verdict)


def _asked(request: ExperimentRequest) -> str:
    names = [_name(stock, by_process=by_process) for stock, by_process in _wanted(request)]
    return asked(request, dict.fromkeys(QUESTIONS, names))


def _wanted(request: ExperimentRequest) -> list[tuple[Stock, bool]]:
    """Return what is searched, and whether a process of its own is started for each object."""
    found = [(stock, by_process) for stock in (AS_IT_IS, INDEXED, CONSOLIDATED) for by_process in (False, True)]
    if request.options.get("curve"):
        found += [(generated_stock(pack_count), False) for pack_count in CURVE]
    return found


def _name(stock: Stock, *, by_process: bool) -> str:
    return stock.name + _PROCESS if by_process else stock.name


def _listed(stock: Stock, *, by_process: bool) -> Variant:
    how = _BY_PROCESS if by_process else _BY_READER
    return Variant(
        name=_name(stock, by_process=by_process),
        title=f"{stock.title}, a process each" if by_process else stock.title,
        explanation=stock.explanation + how,
        run=cannot_run,
        argv=("git", "cat-file", PLAIN),
    )


def _made(
    stock: Stock, looking: Looking, stores: dict[str, Store | str], question: str, *, by_process: bool
) -> Variant:
    """Return a variant that can be run; `stores` are those that are prepared, or why they could not be."""
    request, ask = looking.request, _by_process if by_process else _by_reader

    def prepare(listed: Variant) -> Variant:
        store = _prepared_once(stock, looking, stores)
        return replace(
            listed,
            run=lambda context: ask(request, store, question, context),
            objects_dirs=(store.objects_dir,) if store.is_ours else (),
        )

    return prepared(_listed(stock, by_process=by_process), request, prepare)


def _prepared_once(stock: Stock, looking: Looking, stores: dict[str, Store | str]) -> Store:
    """Return what a stock is prepared as, once for all that ask it. Raises ExperimentError, each time, if it is not."""
    if stock.name not in stores:
        try:
            stores[stock.name] = stock.prepare(looking)
        except (ExperimentError, GitError) as error:
            stores[stock.name] = str(error)
    store = stores[stock.name]
    if isinstance(store, str):
        raise ExperimentError(store)
    return store


def _by_reader(request: ExperimentRequest, store: Store, question: str, context: RunContext) -> Measured:
    with open_reader(
        request.program, store.objects_dir, store.object_format, time_limit_s=context.time_limit_s
    ) as reader:
        times = time_lookups(reader, store.object_id, time_limit_s=context.time_limit_s)
        used = replace(_used(reader), argv=reader.command, stdin=f"{store.object_id} often, then ids that nobody has")
    found = {FIRST: times.first_s, WARM: times.warm_s, MISSING: times.missing_s}
    phases = tuple(Phase(name=_PHASES[name], elapsed_s=elapsed_s) for name, elapsed_s in found.items())
    return replace(used, wall_s=found[question], phases=phases)


def _used(reader: ObjectReader) -> Measured:
    """Return what a reader has used so far, its start included, as far as the system says."""
    import psutil  # type: ignore[import-untyped]

    try:
        process = psutil.Process(reader.pid)
        spent = process.cpu_times()
        read_bytes = process.io_counters().read_bytes if hasattr(process, "io_counters") else None
    except (psutil.Error, OSError):
        return Measured(wall_s=0.0)
    user_s, system_s = _finely(spent.user, spent.system, processor_time_s(reader.pid))
    return Measured(
        wall_s=0.0,
        user_s=user_s,
        system_s=system_s,
        peak_memory_bytes=peak_memory_bytes(reader.pid) or None,
        read_bytes=read_bytes,
    )


def _finely(user_s: float, system_s: float, both_s: float | None) -> tuple[float, float]:
    """Return two times that were counted in coarse steps as parts of a fine one, as Linux itself parts them."""
    if both_s is None:
        return user_s, system_s
    user_ratio = user_s / (user_s + system_s) if user_s + system_s else 1.0
    return both_s * user_ratio, both_s * (1 - user_ratio)


def _by_process(request: ExperimentRequest, store: Store, question: str, context: RunContext) -> Measured:
    object_id = _ABSENT * len(store.object_id) if question == MISSING else store.object_id
    with shadow_git_dir(object_format=store.object_format, objects_dir=store.objects_dir) as shadow:
        measured = measured_git(
            request.program,
            ("cat-file", PLAIN),
            context,
            environment=shadow.environment,
            stdin=object_id.encode("ascii") + b"\n",
            answer=lambda said: not said.endswith(b" missing\n"),
        )
    if bool(measured.answer) is (question == MISSING):
        found = "an id that is made up was found in this repository"
        raise ExperimentError(found if question == MISSING else "the object that was to be found is missing")
    return replace(measured, answer=None)


def _sentence(variant: VariantResult) -> str | None:
    """Say how the three look-ups of a handle compare; None where there are no such figures."""
    if not any(run.phases for run in variant.runs):
        return None
    first_s, warm_s, missing_s = (
        statistics.median(phase.elapsed_s for run in variant.runs for phase in run.phases if phase.name == name)
        for name in _PHASES.values()
    )
    return (
        f"{variant.title}: first {fine_duration(first_s)}, warm {fine_duration(warm_s)}, missing"
        f" {fine_duration(missing_s)}: a missing object costs {missing_s / max(warm_s, 1e-9):.1f} times a warm one."
    )
