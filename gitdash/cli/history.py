"""`gitdash history`: what gitdash did to one repository, or to all, from the ledger; the newest first.

It also says, as talk, which actions of a former gitdash were cut off. Needs no git.
"""

import os

from gitdash import __version__
from gitdash.cli.clock import wall_clock
from gitdash.cli.output import say, write_text
from gitdash.cli.session import Session, absolute_path
from gitdash.errors import ExitCode, GitdashError
from gitdash.export.json_values import json_text
from gitdash.export.ledger_lines import cut_off_lines, entry_lines, remembered_lines
from gitdash.export.ledger_record import history_document
from gitdash.history.ledger import Ledger
from gitdash.survey.cut_off import settle_actions
from gitdash.survey.single import find_repository, path_of_store
from gitdash.units import printable_path


def run_history(session: Session, path: bytes | None, *, output_format: str, limit: int, is_verbose: bool) -> int:
    """Print the last actions on one repository, which need not exist any more, or on all (None)."""
    now_s = wall_clock()
    with session.required_history() as history:
        ledger = history.ledger
        settled = settle_actions(ledger, settings=session.settings, effective_uid=os.geteuid(), now_s=now_s)
        repository = None if path is None else _known_path(session, ledger, absolute_path(path))
        entries = ledger.entries(repository, limit=limit)
        if history.problem is not None:
            say(f"gitdash: {history.problem}")
    for line in cut_off_lines(settled):
        say(f"gitdash: {line}")
    if output_format == "json":
        write_text(json_text(history_document(repository, entries, gitdash_version=__version__, now_s=now_s)))
    elif entries:
        lines_of, gap = (entry_lines, "\n") if is_verbose else (remembered_lines, "")
        blocks = [lines_of(entry, now_s, names_path=repository is None) for entry in entries]
        write_text(gap.join("".join(f"{line}\n" for line in lines) for lines in blocks))
    else:
        of = "" if repository is None else f" of {printable_path(repository)}"
        say(f"gitdash: nothing is recorded{of}")
    return ExitCode.DONE


def _known_path(session: Session, ledger: Ledger, path: bytes) -> bytes:
    """Return the path under which actions on a repository are recorded; raises GitdashError if there is neither."""
    try:
        repository = find_repository(path, settings=session.settings, effective_uid=os.geteuid())
    except GitdashError:
        if ledger.entries(path, limit=1):
            return path
        raise
    return path_of_store(repository, settings=session.settings, effective_uid=os.geteuid())
