"""`gitdash show`: everything about one repository. The lines are made from the JSON record, so both say the same."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from gitdash.cli.clock import wall_clock
from gitdash.cli.output import say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode
from gitdash.export.held_record import held_record
from gitdash.export.json_record import record
from gitdash.export.json_values import json_text, rounded
from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.held_packs import held_packs
from gitdash.model.config_facts import ConfigFacts
from gitdash.model.inspection import Inspection, ReferenceBackend
from gitdash.model.report import RepositoryReport
from gitdash.model.repository import RepositoryKind
from gitdash.model.sizes import Bound, Question, Strategy, strategy_text
from gitdash.survey.single import find_repository, report_single
from gitdash.units import human_bytes, human_count, human_duration, linked_text, printable, printable_path

_LOOKUP_TIME_LIMIT_S = 20.0
_LABEL_WIDTH = 18
_NO_STORE = "none: a linked worktree stores no objects of its own"
_LISTED_COUNT = 20
"""Entries of a list that are printed before the rest is counted."""
_EXACT_ENDINGS = ("_uid", "_pid", "version")
"""Names of numbers that say which, and not how many."""
_HOW_GIT_RAN = "in a git directory of gitdash's own, with the references' ids as input"
_SIZE_LABELS = {Question.REACHABLE_OWN.value: Question.REACHABLE_OWN.label}
"""What people call a size otherwise than JSON does."""
_APART = frozenset({"findings", "sizes", "state", "role", "path", "counts_store"})
"""Keys of the record that have lines of their own."""


def run_show(session: Session, path: bytes, *, output_format: str) -> int:
    """Inspect one repository now and print what is known of it."""
    settings, program, effective_uid, now_s = session.settings, session.git, os.geteuid(), wall_clock()
    repository = find_repository(absolute_path(path), settings=settings, effective_uid=effective_uid)
    # numpy is loaded only where index files are compared
    from gitdash.survey.exclusive import with_exclusive

    with session.history() as history:
        single = report_single(
            repository,
            settings=settings,
            history=history,
            program=program,
            effective_uid=effective_uid,
            now_s=now_s,
        )
    facts = with_exclusive(single.facts, now_s=now_s)
    report = single.judge.with_sizes(facts, facts.sizes)
    held = held_packs(repository.common_dir + b"/objects")
    shown = record(report, now_s) | {
        "remotes": _remotes(report),
        "lookups": _lookups(report, program),
        "held_packs": held_record(held),
    }
    write_text(json_text(shown) if output_format == "json" else "".join(f"{line}\n" for line in _lines(shown)))
    return ExitCode.DONE


def _remotes(report: RepositoryReport) -> list[dict[str, Any]]:
    inspection = report.inspection
    if not isinstance(inspection, Inspection) or not isinstance(inspection.config, ConfigFacts):
        return []
    return [
        {"name": printable(remote.name), "url": printable(remote.url), "mirror": remote.mirror}
        for remote in inspection.config.remotes
    ]


def _lookups(report: RepositoryReport, program: GitProgram) -> dict[str, float] | None:
    """Time look-ups of the first tip that is read; None for what belongs to another user, or has no tip to look up."""
    repository, inspection = report.repository, report.inspection
    if repository.is_foreign or not isinstance(inspection, Inspection):
        return None
    if inspection.reference_backend is not ReferenceBackend.FILES:
        return None
    from gitdash.gitcmd.lookup_times import measure_lookups
    from gitdash.survey.tips import first_tip

    object_id = first_tip(repository, inspection)
    if object_id is None:
        return None
    try:
        lookups = measure_lookups(repository.common_dir, object_id, time_limit_s=_LOOKUP_TIME_LIMIT_S, program=program)
    except GitError as error:
        say(f"gitdash: no look-ups could be timed in {printable_path(repository.path)}: {error}")
        return None
    found = {"first_s": lookups.first_s, "warm_s": lookups.warm_s, "missing_s": lookups.missing_s}
    return {name: rounded(duration_s) for name, duration_s in found.items()}


def _lines(shown: Mapping[str, Any]) -> Iterator[str]:
    yield shown["path"]
    yield f"  {shown['state']}, {' and '.join(shown['role'])}"
    yield ""
    yield from _finding_lines(shown["findings"])
    yield "sizes"
    for name, size in shown["sizes"].items():
        text = _size_text(size, has_bitmap=_has_bitmap(shown)) if size or not _lacks_store(shown, name) else _NO_STORE
        yield f"  {_SIZE_LABELS.get(name, name):<{_LABEL_WIDTH}} {text}"
    yield ""
    yield "facts"
    for name, value in shown.items():
        if name == "config" and "concerns" in value:
            yield from _fact_lines(name, {key: part for key, part in value.items() if key != "concerns"})
            yield from _fact_lines("concerns", value["concerns"])
        elif name == "held_packs" and "holders" in value:
            yield from _fact_lines(name, value["holders"])
            yield from _fact_lines(name, {key: part for key, part in value.items() if key != "holders"})
        elif name not in _APART:
            yield from _fact_lines(name, value)


def _finding_lines(findings: list[dict[str, Any]]) -> Iterator[str]:
    yield "findings" if findings else "no findings"
    for finding in findings:
        yield f"  {finding['severity']}: {finding['rule']}: {finding['summary']}"
        if finding["formula"] is not None:
            yield f"    formula: {finding['formula']}"
        yield f"    remedy: {finding['remedy']}"
    yield ""


def _lacks_store(shown: Mapping[str, Any], name: str) -> bool:
    return shown["kind"] == RepositoryKind.LINKED_WORKTREE and name in {"exclusive", "duplicate"}


def _has_bitmap(shown: Mapping[str, Any]) -> bool:
    """Tell whether git could use a bitmap: in a shallow repository it uses none."""
    return shown["bitmap"] is not None and shown["shallow"] is False


def _size_text(size: dict[str, Any] | None, *, has_bitmap: bool) -> str:
    """Return a figure, zero included, with how it was obtained."""
    if size is None:
        return "not measured"
    if "unreadable" in size:
        return f"unreadable: {size['unreadable']}"
    sign = Bound(size.get("bound", "exact")).sign
    bound = f"{sign} " if sign else ""
    parts = [f"{bound}{human_bytes(size['bytes'])} ({size['bytes']:,} bytes)"]
    if "strategy" in size:
        strategy = strategy_text(Strategy(size["strategy"]), has_bitmap=has_bitmap)
        parts += [strategy, human_duration(size["elapsed_s"]), _measured_at(size)]
        parts += [f"`{' '.join(size['argv'])}` ({_HOW_GIT_RAN})", *size["notes"]]
    elif "allocated_bytes" in size:
        parts.append(f"{human_bytes(size['allocated_bytes'])} allocated")
        if size["linked_bytes"]:
            parts.append(linked_text(size["linked_bytes"]))
    return ", ".join(parts)


def _measured_at(size: Mapping[str, Any]) -> str:
    return f"{'remembered, ' if size['from_history'] else ''}measured at {size['measured_at']}"


def _fact_lines(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON has no type
    if isinstance(value, list) and value and isinstance(value[0], dict):
        for entry in value[:_LISTED_COUNT]:
            yield _line(name, entry)
        if len(value) > _LISTED_COUNT:
            yield _line(name, f"and {len(value) - _LISTED_COUNT} more")
    elif _is_told(value) and not (name == "config" and not any(map(_is_told, value.values()))):
        yield _line(name, value)


def _line(name: str, value: Any) -> str:  # noqa: ANN401 - JSON has no type
    return f"  {_label(name):<{_LABEL_WIDTH}} {_text(name, value)}"


def _text(name: str, value: Any) -> str:  # noqa: ANN401 - JSON has no type
    """Return a value for people; the end of its name says the unit."""
    match value:
        case {"unreadable": reason}:
            return f"unreadable: {reason}"
        case dict():
            parts = [f"{_label(key)} {_text(key, part)}" for key, part in value.items() if _is_told(part)]
            return ", ".join(parts) or "none"
        case list():
            return ", ".join(_text(name, part) for part in value)
        case bool():
            return "yes"
        case int() | float():
            return _number(name, value)
        case _:
            return str(value)


def _label(name: str) -> str:
    """Return a name for people: its value has the unit."""
    return name.removesuffix("_s").replace("_", " ")


def _number(name: str, value: float) -> str:
    if name.endswith(_EXACT_ENDINGS):
        return str(value)
    if name.endswith("_s"):
        return human_duration(value)
    return human_bytes(int(value)) if name.endswith("bytes") else human_count(int(value))


def _is_told(part: Any) -> bool:  # noqa: ANN401 - JSON has no type
    return part is not None and part is not False and part not in (0, [], {})
