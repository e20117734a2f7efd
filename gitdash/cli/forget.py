"""`gitdash forget`: a person says that repositories are gone for good, and what is remembered of them goes.

It changes the state file alone, and needs no git. As what borrowed from a lender is forgotten, the lender may be
reclaimed: so nothing is forgotten in read-only mode, nor unasked what may only be out of sight.
"""

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitdash import __version__
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode
from gitdash.export.json_values import SCHEMA_VERSION, json_text, path_record
from gitdash.history.store import History, HistoryError
from gitdash.survey.forgetting import Remembered, forget, remembered_below
from gitdash.units import counted, printable_path, utc_text

_LISTED: Final = 20
"""Lines of a kind; of more the number is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCommand:
    """What the command line says."""

    paths: tuple[bytes, ...]
    dry_run: bool
    agreed: bool
    output_format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorted:
    """What becomes of all that is remembered below the paths."""

    forgotten: Sequence[Remembered]
    kept: Sequence[Remembered]
    """They are there."""
    doubtful: Sequence[Remembered]
    """They may only be out of sight, and nobody has said that they are gone all the same."""


def run_forget(session: Session, command: ForgetCommand) -> int:
    """Forget what is gone at or below the paths, and say what that was and what was kept."""
    if _is_refused(session, command):
        return ExitCode.REFUSED
    named, folders = _folders(command)
    with session.required_history() as history:
        found = remembered_below(history, folders)
        if not found:
            say(f"gitdash: nothing is remembered of {', '.join(map(printable_path, named))} or what lies below")
            return ExitCode.FINDINGS
        agreed = _agreed(found, command)
        if agreed and not command.agreed:
            # an answer takes its time, and what was away may be back
            found = remembered_below(history, folders)
        judged = _judge(found, agreed)
        if not command.dry_run:
            _forget(history, judged.forgotten)
    _print(judged, command)
    if judged.doubtful:
        return ExitCode.REFUSED
    return ExitCode.DONE if judged.forgotten else ExitCode.FINDINGS


def run_forget_searched(session: Session, command: ForgetCommand) -> int:
    """Forget that surveys looked for repositories below the paths, and say what is known where none did."""
    if _is_refused(session, command):
        return ExitCode.REFUSED
    named, folders = _folders(command)
    with session.required_history() as history:
        known = list(dict.fromkeys(folder.path for folder in history.searched.all()))
        gone = [path for path in known if path in folders]
        if not command.dry_run:
            history.searched.forget(gone)
            _require_written(history)
    if command.output_format == "json":
        write_text(json_text({**_heading(command), "folders": [path_record("path", path) for path in gone]}))
    else:
        verb = "would forget" if command.dry_run else "forgot"
        write_text("".join(f"{verb} that {printable_path(path)} was searched\n" for path in gone))
    if not gone:
        say(f"gitdash: below {', '.join(map(printable_path, named))} no survey has looked")
        for line in _listed([f"one has below {printable_path(path)}" for path in known]):
            say(f"gitdash: {line}")
    return ExitCode.DONE if gone else ExitCode.FINDINGS


def _is_refused(session: Session, command: ForgetCommand) -> bool:
    if session.dashboard.read_only and not command.dry_run:
        say("gitdash: nothing is forgotten in read-only mode")
        return True
    return False


def _folders(command: ForgetCommand) -> tuple[list[bytes], tuple[bytes, ...]]:
    """Return the paths of a command, and beside them where they lead."""
    named = list(map(absolute_path, command.paths))
    return named, tuple(dict.fromkeys((*named, *map(os.path.realpath, named))))


def _agreed(found: Sequence[Remembered], command: ForgetCommand) -> set[tuple[bytes, str | None]]:
    """Return the doubts, by path, for all of which somebody says that the repository is gone; none if nobody does."""
    doubtful = [one for one in found if _is_doubtful(one)]
    if doubtful and (command.agreed or (not command.dry_run and _is_agreed(doubtful))):
        return {(one.path, one.out_of_sight) for one in doubtful}
    return set()


def _is_doubtful(one: Remembered) -> bool:
    return not one.is_kept and one.out_of_sight is not None


def _judge(found: Sequence[Remembered], agreed: Collection[tuple[bytes, str | None]]) -> _Sorted:
    doubtful = [one for one in found if _is_doubtful(one) and (one.path, one.out_of_sight) not in agreed]
    held = {one.path for one in doubtful}
    return _Sorted(
        forgotten=[one for one in found if not one.is_kept and one.path not in held],
        kept=[one for one in found if one.is_kept],
        doubtful=doubtful,
    )


def _is_agreed(doubtful: Sequence[Remembered]) -> bool:
    """Ask on the terminal; where there is none, only --yes is an answer."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    import click

    for one in doubtful[:_LISTED]:
        say(f"gitdash: {printable_path(one.path)} may only be out of sight: {one.out_of_sight}")
    what = counted(len(doubtful), "repository", "repositories")
    return click.confirm(f"forget {what}, as gone for good?", default=False, err=True)


def _forget(history: History, gone: Sequence[Remembered]) -> None:
    """Raises HistoryError if the state file could not be written."""
    if gone:
        forget(history, gone)
    _require_written(history)


def _require_written(history: History) -> None:
    if history.problem is not None:
        raise HistoryError(history.problem)


def _print(judged: _Sorted, command: ForgetCommand) -> None:
    if command.output_format == "json":
        write_text(json_text(_document(judged, command)))
        return
    verb = "would forget" if command.dry_run else "forgot"
    write_text("".join(f"{line}\n" for line in _listed([f"{verb} {_told(one)}" for one in judged.forgotten])))
    kept = [
        f"{printable_path(one.path)} is still there: `gitdash scan` brings up to date what is known of it"
        for one in judged.kept
    ]
    doubtful = [
        f"{printable_path(one.path)} is not forgotten, for it may only be out of sight: {one.out_of_sight};"
        " --yes forgets it"
        for one in judged.doubtful
    ]
    for line in (*_listed(kept), *_listed(doubtful)):
        say(f"gitdash: {line}")


def _told(one: Remembered) -> str:
    name, lenders = printable_path(one.path), ", ".join(map(printable_path, one.lenders))
    if one.lost and not lenders:
        return f"what {name} may borrow, which is there: {one.out_of_sight}"
    if one.is_in_part:
        return f"that {name} borrowed from {lenders}; it is there, and what would say whether it still does is not"
    if one.is_there:
        return f"that {name} borrowed from {lenders}; it is there, and does not any more"
    return f"{name}, which borrowed from {lenders}" if lenders else name


def _listed(lines: Sequence[str]) -> list[str]:
    more_count = len(lines) - _LISTED
    return [*lines[:_LISTED], *([f"… and {counted(more_count, 'more', 'more')}"] if more_count > 0 else [])]


def _document(judged: _Sorted, command: ForgetCommand) -> dict[str, Any]:
    return {
        **_heading(command),
        "forgotten": [_record(one) for one in judged.forgotten],
        "kept": [_record(one) for one in (*judged.kept, *judged.doubtful)],
    }


def _heading(command: ForgetCommand) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "gitdash_version": __version__,
        "generated_at": utc_text(wall_clock()),
        "dry_run": command.dry_run,
    }


def _record(one: Remembered) -> dict[str, Any]:
    return {
        **path_record("path", one.path),
        "is_there": one.is_there,
        "out_of_sight": one.out_of_sight,
        "borrowed_from": [path_record("path", lender) for lender in one.lenders],
    }
