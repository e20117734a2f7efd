"""Looks for whoever may need a repository's objects, right before some of them go.

What is remembered may be old, or have gone with the state file. A borrower that is remembered counts, whether it is
there now or not. Besides, what lies below the configured roots is looked at again, and below each folder around the
repository that a survey has ever searched; excluded folders and other file systems may have borrowers, too. Where there
is none, nobody can know, nor where a folder cannot be searched. Repositories that lie in the git directories of others
count, and those to which a link in such a folder leads. Judges no repository, and reads none of them.
"""

import contextlib
import os
import threading
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from gitdash.assessment.sentences import shell_word
from gitdash.discovery.roots import DiscoveryLimits, RootError, discover
from gitdash.discovery.search import Place, Result
from gitdash.inspection.files import read_file
from gitdash.maintenance.action_facts import Neighbourhood
from gitdash.maintenance.remembered_loans import stores_of
from gitdash.maintenance.sharers import is_lost_and_found, unsearched
from gitdash.model.repository import Repository
from gitdash.survey.events import Waiting
from gitdash.survey.patience import is_below_any
from gitdash.survey.searched import FolderAround, searched_around
from gitdash.survey.searching import Searching
from gitdash.units import printable_path

if TYPE_CHECKING:
    from gitdash.config.settings import Settings
    from gitdash.history.store import History, Loan

_BESIDE_MAXIMUM_COUNT: Final = 20_000


def look_around(
    repository: Repository,
    *,
    settings: "Settings",
    history: "History | None",
    effective_uid: int,
    cancel: threading.Event,
) -> Neighbourhood:
    """Return all repositories that are known, and those found now, and what keeps them from being all there are."""
    loans = remembered_loans(repository, history)
    if history is None or history.problem is not None:
        missing = "without a state file nothing is remembered of who does; `gitdash scan` with one sees to that"
        return Neighbourhood(paths=_beside(repository), loans=loans, objection=missing)
    borrowers = {loan.borrower for loan in history.loans.all()}
    paths = {*history.paths([b"/"]), *borrowers, *_beside(repository)}
    configured = [os.fsencode(root) for root in settings.roots]
    around = searched_around(history, repository.path)
    objection = _objection_beforehand(repository, configured, around)
    roots = tuple(dict.fromkeys((*configured, *(folder.path for folder in around))))
    searching = _searching(roots, settings, effective_uid, cancel)
    try:
        for one in searching.results():
            if isinstance(one, Repository):
                paths |= {one.path, one.common_dir}
            elif not isinstance(one, Waiting):
                paths.add(one.path)
                objection = objection or _objection_to(one.path, configured, around)
    except RootError as error:
        objection = str(error)
    if searching.silent:
        objection = f"{printable_path(searching.silent[0])} does not answer"
    others = frozenset(paths - {repository.path, repository.common_dir})
    given_up = frozenset(history.searched.given_up())
    return Neighbourhood(paths=others, loans=loans, given_up=given_up, objection=objection, searched=roots)


def remembered_loans(repository: Repository, history: "History | None") -> tuple["Loan", ...]:
    """Return what others borrowed from a repository, or from a folder in its store, when they were last seen."""
    if history is None:
        return ()
    stores = stores_of(repository.common_dir, history.loans.stores())
    loans = [loan for identity, path in stores for loan in history.loans.of_store(identity, path)]
    objects_dir = repository.common_dir + b"/objects"
    return tuple(loan for loan in loans if loan.alternates_path not in {objects_dir, objects_dir + b"/info/alternates"})


def _objection_beforehand(
    repository: Repository, configured: Sequence[bytes], around: Sequence[FolderAround]
) -> str | None:
    """Return why nobody can know who borrows, whatever is found now, one clause; None if that can be known."""
    if not around and not any(_is_inside(repository.path, root) for root in configured):
        return "no folder around it was searched for them; `gitdash scan FOLDER`, over all that may, sees to that"
    unanswered = next((folder.path for folder in around if not folder.is_whole), None)
    if unanswered is None:
        return None
    # who is remembered to borrow may be away now; of who did not answer then, nothing is
    word = shell_word(unanswered)
    return (
        f"{printable_path(unanswered)} never answered as a whole when it was searched; `gitdash scan {word}` asks again"
    )


def _objection_to(path: bytes, configured: Sequence[bytes], around: Sequence[FolderAround]) -> str | None:
    """Return why a folder that is no repository may have some in it, one clause; None if it cannot. Printable."""
    try:
        with os.scandir(path):
            return None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if is_lost_and_found(path):
            return None
        objection = f"{printable_path(path)} {unsearched(error)}"
    holder = next((folder for folder in around if is_below_any(path, (folder.path,))), None)
    if holder is None or is_below_any(path, configured):
        return objection
    nobody = f"if nobody below {printable_path(holder.path)} borrows"
    return f"{objection}; {nobody}: `gitdash forget --searched {shell_word(holder.known_as)}`"


def _searching(roots: Sequence[bytes], settings: "Settings", effective_uid: int, cancel: threading.Event) -> Searching:
    def search(place: Place, avoided: Container[bytes], cancel: threading.Event) -> Iterator[Result]:
        return discover(
            roots,
            DiscoveryLimits(avoided=avoided, one_file_system=False, is_thorough=True),
            read=read_file,
            effective_uid=effective_uid,
            trusted_roots=settings.trusted_roots(),
            cancel=cancel,
            place=place,
        )

    return Searching(search, time_limit_s=settings.scan.time_limit_s, cancel=cancel)


def _beside(repository: Repository) -> frozenset[bytes]:
    folder = os.path.dirname(repository.path)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return frozenset(entry.path for entry in islice(entries, _BESIDE_MAXIMUM_COUNT)) - {repository.path}
    return frozenset()


def _is_inside(path: bytes, root: bytes) -> bool:
    """Tell whether a path lies below a folder; the folder itself does not."""
    return path.startswith(root.rstrip(b"/") + b"/")
