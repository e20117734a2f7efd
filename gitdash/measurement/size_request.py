"""What is asked when a reachable size is asked for: the request, the strategy it leads to, and its tips.

References are told apart here and not by git: which patterns exclude one, which ids are ids, which of a lender's count.
Runs nothing and reads nothing.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from gitdash.formats.wildmatch import wildmatch
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.measurement.answers import PreviousSize, Tips
from gitdash.measurement.strategy import StrategyChoice, StrategyFacts, choose_strategy
from gitdash.model.inspection import ObjectFormat
from gitdash.model.sizes import Question, Strategy
from gitdash.units import counted

_ID_PATTERNS: Final = {
    ObjectFormat.SHA1: re.compile("[0-9a-f]{40}"),
    ObjectFormat.SHA256: re.compile("[0-9a-f]{64}"),
}
_NAMES_IN_NOTE: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRequest:
    """What is asked of one repository, and what is known of it."""

    question: Question
    """Which of the two sizes."""
    objects_dir: bytes
    """Absolute path of the object store."""
    object_format: ObjectFormat
    """Of the repository and its lenders."""
    references: tuple[tuple[bytes, str], ...]
    """Full names and ids of the own references, with the HEADs of all worktrees."""
    requested: Strategy | None = None
    """None for the best one by the facts."""
    broken_references: tuple[tuple[bytes, str], ...] = ()
    """Name and reason of each reference that could not be read: left out, with a note: a lower bound."""
    dangling_references: tuple[bytes, ...] = ()
    """Names of symbolic references to nothing: they reach nothing, so the size is exact without them, with a note."""
    excluded_references: tuple[str, ...] = ()
    """Patterns as of `git rev-list --exclude`."""
    has_alternates_file: bool = False
    """Also if it could not be looked at."""
    lender_objects_dirs: tuple[bytes, ...] | None = None
    """Absolute paths of the object stores of all lenders, nested ones included; None if they are not known."""
    lender_references: tuple[tuple[bytes, str], ...] = ()
    """Of all lenders, nested ones included. Only those below `refs/` count, as for git: a lender's HEAD does not."""
    lender_broken_references: tuple[tuple[bytes, str], ...] = ()
    """Of all lenders, as `broken_references`: what they would leave out counts, with a note: an upper bound."""
    lender_has_pseudo_merges: bool = False
    """A lender's bitmap has pseudo-merges."""
    shallow_file: bytes | None = None
    """Absolute path of the shallow file; None if there is none."""
    partial: bool = False
    """A partial clone: missing objects are counted in a note, not fetched, and no error."""
    upper_bound_bytes: int | None = None
    """Bytes of all packs and loose objects, lenders included; None if not known."""
    expected_bytes: int | None = None
    """Bytes of objects that should nearly all count: in packs that are not cruft, exclusive ones if a lender is left
    out. Less than half of it is doubted. None if not known."""
    every_object_once: bool = False
    """No object is stored twice, here and in lenders (`ExclusiveSizes`)."""
    damaged_files: tuple[str, ...] = ()
    """Derived files that are known to be damaged: none is used then."""
    previous: PreviousSize | None = None
    """An older size of the same question, since which packs were only added."""
    winner: Strategy | None = None
    """The fastest strategy in a comparison on this repository."""


def choose(request: SizeRequest, program: GitProgram) -> StrategyChoice:
    """Return the strategy that `measure_reachable` begins with. Raises StrategyError.

    An older size that is not exact is added to only where a full measurement would not be exact either.
    """
    excludes_lender = request.question is Question.REACHABLE_OWN and request.has_alternates_file
    facts = StrategyFacts(
        has_alternates_file=request.has_alternates_file,
        lender_has_pseudo_merges=request.lender_has_pseudo_merges,
        git_version=program.version,
        extends_previous=request.previous is not None and (request.previous.exact or excludes_lender),
        winner=request.winner,
    )
    return choose_strategy(request.question, request.requested, facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Where a measurement starts."""

    tips: Tips
    """Of both sides."""
    warnings: tuple[str, ...]
    """A note on references that could not be used: without them the size is a lower bound."""
    lender_warnings: tuple[str, ...]
    """The same of lenders' references: without them the size is an upper bound."""
    notes: tuple[str, ...]
    """On what changes nothing."""


def counted_tips(request: SizeRequest) -> frozenset[str]:
    """Return the ids that a measurement starts from: what `PreviousSize.tips` of a later one shall be."""
    return frozenset(select(request).tips.wanted)


def _excluded_by(patterns: Collection[str]) -> Callable[[bytes], bool]:
    """Return what tells whether `git rev-list --exclude=<pattern> --all` leaves a reference out, HEAD being one."""
    matches = [wildmatch(pattern.encode("utf-8", "surrogateescape")) for pattern in patterns]
    return lambda name: any(is_like(name) for is_like in matches)


def select(request: SizeRequest) -> Selection:
    """Return the tips of both sides, and what to say of references that are none."""
    is_excluded = _excluded_by(request.excluded_references)
    is_id = _ID_PATTERNS[request.object_format].fullmatch
    kept = [(name, object_id) for name, object_id in request.references if not is_excluded(name)]
    broken = [name for name, _ in request.broken_references if not is_excluded(name)]
    broken += [name for name, object_id in kept if not is_id(object_id)]
    wanted = {object_id for _, object_id in kept if is_id(object_id)}
    excluded: set[str] = set()
    broken_of_lenders: list[bytes] = []
    if request.question is Question.REACHABLE_OWN and request.has_alternates_file:
        of_lenders = [(name, id_) for name, id_ in request.lender_references if name.startswith(b"refs/")]
        excluded = {id_ for _, id_ in of_lenders if is_id(id_)}
        broken_of_lenders = [name for name, id_ in of_lenders if not is_id(id_)]
        broken_of_lenders += [name for name, _ in request.lender_broken_references if name.startswith(b"refs/")]
    dangling = [name for name in request.dangling_references if not is_excluded(name)]
    return Selection(
        tips=Tips(wanted=tuple(sorted(wanted)), excluded=tuple(sorted(excluded))),
        warnings=_notes(("broken and left out",), broken),
        lender_warnings=_notes(("of the lender cannot be read",), broken_of_lenders),
        notes=_notes(("symbolic and points to nothing", "symbolic and point to nothing"), dangling),
    )


def _notes(words: Sequence[str], names: Collection[bytes]) -> tuple[str, ...]:
    return (names_note(words, names),) if names else ()


def names_note(words: Sequence[str], names: Collection[bytes]) -> str:
    """Return a note on references, with the first names; `words` say what of one and, if that differs, of more."""
    shown = ", ".join(presentable_bytes(name) for name in sorted(names)[:_NAMES_IN_NOTE])
    more = f" and {len(names) - _NAMES_IN_NOTE} more" if len(names) > _NAMES_IN_NOTE else ""
    return f"{counted(len(names), f'reference {words[0]}', f'references {words[-1]}')}: {shown}{more}"
