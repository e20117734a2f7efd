"""Rules on what kind of repository it is: extensions, partial and shallow clones, precious objects.

Sources: git-config(1) `extensions.*`, gitrepository-layout(5), git-clone(1) `--filter` and `--depth`. Most are facts to
know and no faults.
"""

from collections.abc import Iterator

from gitdash.assessment.case import Case
from gitdash.assessment.figures import figure
from gitdash.assessment.rule import Judge, Rule
from gitdash.assessment.sentences import listed
from gitdash.model.finding import Finding, Severity
from gitdash.model.sizes import SizeMeasurement
from gitdash.units import counted, human_bytes

UNKNOWN_EXTENSION = Rule(
    id="unknown-extension",
    severities=(Severity.WARNING,),
    title="unknown extension or format version",
    meaning="The repository says that whoever does not know this must not touch it; gitdash's figures may be"
    " wrong here.",
    source="core.repositoryFormatVersion above 1, unknown keys below extensions",
    remedy="use a newer git and a newer gitdash",
)
PARTIAL_CLONE = Rule(
    id="partial-clone",
    severities=(Severity.NOTICE,),
    title="partial clone",
    meaning="Objects may be missing on purpose; git fetches them when they are needed, gitdash never does. Sizes count"
    " what is here.",
    source="extensions.partialClone, a promisor remote, or .promisor packs",
    remedy="none is needed",
    is_fact=True,
)
SHALLOW = Rule(
    id="shallow",
    severities=(Severity.NOTICE,),
    title="shallow",
    meaning="The history is cut; git uses neither bitmaps nor the commit-graph.",
    source="commits in the file shallow",
    remedy="none is needed; `{git} fetch --unshallow` brings the rest",
    is_fact=True,
)
SHALLOW_HIDES_OBJECTS = Rule(
    id="shallow-hides-objects",
    severities=(Severity.WARNING,),
    title="the file shallow hides what is stored",
    meaning="Much of what is stored here is not reachable past the commits at which the history is cut: somebody cut"
    " the history of a repository that has it, and the next gc may drop what is hidden.",
    source="reachable bytes below two thirds of the packs that are not cruft and the loose objects that are not stale;"
    " not in members",
    remedy="`{git} fetch --unshallow` restores the history from a remote that has it; before that, run no gc here",
    needs_sizes=("reachable",),
)
PRECIOUS_OBJECTS = Rule(
    id="precious-objects",
    severities=(Severity.NOTICE,),
    title="precious objects",
    meaning="git refuses to delete any object or pack here, so neither gc nor repack does anything.",
    source="extensions.preciousObjects",
    remedy="none is needed; it protects borrowers",
    is_fact=True,
)

_LEAST_REACHABLE_SHARE = 2 / 3
"""A clone with --depth reaches all that it stores; what fetches leave unreachable is seldom a third of it."""


def unknown_extension(case: Case) -> Iterator[Finding]:
    """Yield a finding if the repository demands what gitdash does not know."""
    names = case.config.unknown_extensions if case.config else ()
    if names:
        yield UNKNOWN_EXTENSION.finding(
            case,
            Severity.WARNING,
            f"{counted(len(names), 'unknown extension')}: {listed(names)}",
            {"extension_count": len(names), "extensions": ", ".join(names)},
        )


def partial_clone(case: Case) -> Iterator[Finding]:
    """Yield a finding if objects may be missing on purpose."""
    promisor_count = case.packs.promisor_count if case.packs else 0
    if promisor_count or (case.config is not None and case.config.partial_clone):
        yield PARTIAL_CLONE.finding(
            case,
            Severity.NOTICE,
            f"objects may be missing on purpose; {counted(promisor_count, 'promisor pack')}",
            {"promisor_count": promisor_count},
        )


def shallow(case: Case) -> Iterator[Finding]:
    """Yield a finding if the history is cut."""
    if case.inspection is not None and case.inspection.shallow:
        count = case.inspection.shallow_count
        yield SHALLOW.finding(
            case,
            Severity.NOTICE,
            f"the history is cut at {counted(count, 'commit')}",
            {"shallow_count": count},
        )


def shallow_hides_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if a measured size is far below what is stored, and the history is cut."""
    size = case.subject.sizes.reachable
    if case.inspection is None or not case.inspection.shallow or not isinstance(size, SizeMeasurement):
        return
    if case.packs is None or case.loose is None or case.inspection.alternates is not None or size.excluded_references:
        return
    stored_bytes = case.packs.bytes - case.packs.cruft_bytes + case.loose.bytes - case.loose.stale_bytes
    if size.bytes < stored_bytes * _LEAST_REACHABLE_SHARE:
        yield SHALLOW_HIDES_OBJECTS.finding(
            case,
            Severity.WARNING,
            f"shallow: {human_bytes(size.bytes)} are reachable of {human_bytes(stored_bytes)} that are stored",
            {"reachable_bytes": size.bytes, "stored_bytes": stored_bytes},
            formula=f"{size.bytes:,} < 2/3 x {stored_bytes:,} = {figure(stored_bytes * _LEAST_REACHABLE_SHARE)} bytes",
        )


def precious_objects(case: Case) -> Iterator[Finding]:
    """Yield a finding if git may not delete objects here."""
    if case.config is not None and case.config.precious_objects:
        yield PRECIOUS_OBJECTS.finding(
            case, Severity.NOTICE, "extensions.preciousObjects is set: git deletes and repacks nothing here", {}
        )


JUDGES: tuple[tuple[Rule, Judge], ...] = (
    (UNKNOWN_EXTENSION, unknown_extension),
    (PARTIAL_CLONE, partial_clone),
    (SHALLOW, shallow),
    (SHALLOW_HIDES_OBJECTS, shallow_hides_objects),
    (PRECIOUS_OBJECTS, precious_objects),
)
