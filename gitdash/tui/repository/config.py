"""The tab Config: what this repository's config could do and what gitdash does instead, its remotes, its format. Pure.

Values have their credentials masked already where they are read.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts, Remote
from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable
from gitdash.tui.drawing.cells import Line, Piece, Tone, shorten_middle
from gitdash.tui.drawing.items import Page
from gitdash.tui.drawing.wrap import side_by_side, wrapped
from gitdash.tui.repository.facts import labelled
from gitdash.tui.repository.missing import missing_lines
from gitdash.tui.repository.overrides import override_lines
from gitdash.tui.repository.view import RepositoryView
from gitdash.units import counted, printable

_SIDE_BY_SIDE_WIDTH: Final = 150
"""From this width on what every git call gets stands beside the rest."""
_LISTED: Final = 100
"""Keys and remotes that are listed; a hostile config has a hundred thousand."""
_EFFECTS: Final = {
    ConfigEffect.RUNS_PROGRAM: ("runs a program", Tone.CRITICAL),
    ConfigEffect.OVERWRITES_FILE: ("overwrites a file", Tone.CRITICAL),
    ConfigEffect.DROPS_OBJECTS: ("drops objects", Tone.CRITICAL),
    ConfigEffect.REDIRECTS_URL: ("leads elsewhere", Tone.WARNING),
    ConfigEffect.READS_OUTSIDE: ("reads files outside", Tone.WARNING),
    ConfigEffect.HIDES_ALTERNATE_REFS: ("hides the lender's references", Tone.WARNING),
    ConfigEffect.CHANGES_HISTORY: ("changes what is reachable", Tone.WARNING),
    ConfigEffect.STOPS_GIT: ("makes git refuse", Tone.WARNING),
    ConfigEffect.STOPS_MAINTENANCE: ("stops maintenance", Tone.NOTICE),
}


def config_page(view: RepositoryView, width: int) -> Page:
    """Return the page."""
    lines: list[Line] = [*missing_lines(view, width)]
    inspection = view.report.inspection if view.report is not None else None
    if not isinstance(inspection, Inspection):
        return Page([*lines, [], *override_lines(width)])
    if width < _SIDE_BY_SIDE_WIDTH:
        return Page([*_own_lines(inspection, width), [], *override_lines(width)])
    left_width = width // 2
    right = override_lines(width - left_width - 1)
    return Page(side_by_side(_own_lines(inspection, left_width), right, left_width, width))


def _own_lines(inspection: Inspection, width: int) -> list[Line]:
    config = inspection.config
    if isinstance(config, Unreadable):
        return wrapped(f"Its config is unreadable: {config.reason}", Tone.CRITICAL, width)
    return [
        *_concern_lines(config.concerns, width),
        [],
        [Piece(" Remotes", Tone.ACCENT)],
        *_remote_lines(config.remotes, width),
        [],
        [Piece(" Format and maintenance", Tone.ACCENT)],
        *labelled(_facts(inspection, config), width),
    ]


def _concern_lines(concerns: Sequence[ConfigConcern], width: int) -> Iterator[Line]:
    yield [Piece(" What its config would do, and what gitdash does instead", Tone.ACCENT)]
    if not concerns:
        yield from wrapped("Nothing in it could run a program, lead elsewhere or lose objects.", Tone.OK, width)
    for concern in concerns[:_LISTED]:
        effect, tone = _EFFECTS[concern.effect]
        value = f" = {printable(concern.value)}" if concern.value else ""
        yield from wrapped(f"{printable(concern.key)}{value}", Tone.STRONG, width, hanging=2)
        yield [
            Piece(f"   {effect}", tone),
            Piece(f"  in {printable(concern.source)}", Tone.DIM),
        ]
        yield from wrapped(f"> {concern.answer}", Tone.PLAIN, width, indent=3, hanging=2)
    yield from _more(len(concerns))


def _remote_lines(remotes: Sequence[Remote], width: int) -> Iterator[Line]:
    if not remotes:
        yield [Piece(" none", Tone.DIM)]
    for remote in remotes[:_LISTED]:
        marks = [word for word, applies in (("mirror", remote.mirror), ("promisor", remote.promisor)) if applies]
        name = shorten_middle(printable(remote.name), max(width - 20, 8))
        yield [Piece(f" {name}", Tone.STRONG), Piece("".join(f"  {mark}" for mark in marks), Tone.KEY)]
        yield from wrapped(printable(remote.url) or "has no URL", Tone.PLAIN, width, indent=3, hanging=2)
    yield from _more(len(remotes))


def _more(count: int) -> Iterator[Line]:
    if count > _LISTED:
        yield [Piece(f" and {count - _LISTED:,} more", Tone.DIM)]


def _facts(inspection: Inspection, config: ConfigFacts) -> Iterator[tuple[str, str]]:
    yield (
        "format",
        (
            f"version {config.repository_format_version}, {inspection.object_format.value},"
            f" references in {'files' if inspection.reference_backend.value == 'files' else 'a reftable'}"
        ),
    )
    if config.unknown_extensions:
        yield "unknown", f"{', '.join(config.unknown_extensions)}: git of this format may be needed to read it"
    yield "gc.auto", _gc_text(config)
    yield from _switches(inspection, config)


def _gc_text(config: ConfigFacts) -> str:
    if config.gc_auto is None:
        return "not set: some commands of git start gc by themselves at about 6,700 loose objects or 50 packs"
    if config.gc_auto <= 0:
        return f"{config.gc_auto}: git never starts gc by itself"
    return f"{counted(config.gc_auto, 'loose object, about, starts', 'loose objects, about, start')} gc"


def _switches(inspection: Inspection, config: ConfigFacts) -> Iterator[tuple[str, str]]:
    if config.maintenance_auto is not None:
        word = "true" if config.maintenance_auto else "false: no command starts maintenance by itself"
        yield "maintenance", f"maintenance.auto={word}"
    if config.gc_prune_expire is not None:
        yield "prune", f"gc.pruneExpire={config.gc_prune_expire}"
    if config.precious_objects:
        yield "precious", "extensions.preciousObjects: git deletes no object or pack"
    if config.partial_clone:
        yield "partial", "objects may be missing on purpose; gitdash never lets git fetch them"
    if inspection.shallow:
        yield "shallow", f"{counted(inspection.shallow_count, 'commit ends', 'commits end')} its history early"
    yield from _disabled(config)


def _disabled(config: ConfigFacts) -> Iterator[tuple[str, str]]:
    if config.multi_pack_index_disabled:
        yield "multi-pack", "core.multiPackIndex=false: git reads none"
    if config.bitmaps_disabled:
        yield "bitmaps", "switched off: git writes or reads none"
    if config.commit_graph_disabled:
        yield "commit-graph", "core.commitGraph=false: git reads none"
    if config.commit_graph_generation_version is not None:
        yield "generation", f"commitGraph.generationVersion={config.commit_graph_generation_version}"
    if config.scalar_enlistment:
        yield "scalar", "an enlistment of Scalar or VFS for Git: gc and bitmaps are off on purpose"
