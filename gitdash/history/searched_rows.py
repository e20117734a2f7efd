"""The rows of what reclaim goes by beside loans: folders that were searched, and repositories that somebody gave up.

A row of either stays until a person says otherwise: that a folder was searched is not undone by a search of one in it,
nor by one of the same path on another disk. What the columns mean, `records` says; who writes them, `survey.searched`
and `survey.forgetting`.
"""

import threading
from collections.abc import Iterable
from typing import Final

from gitdash.history import statements
from gitdash.history.reading import Reader
from gitdash.history.records import GivenUp, SearchedFolder, pack_store, unpack_store
from gitdash.history.schema import damaged
from gitdash.history.writing import Writer

_PLACES_MAXIMUM: Final = 8
"""So many folders that were at one path are known: one that is made anew each day is another each day."""


class SearchedRows:
    """What is known of that in an open state file; for any thread.

    Those methods that read raise HistoryError if the file is damaged.
    """

    def __init__(self, writer: Writer, reader: Reader, write_lock: threading.Lock, shown_path: str) -> None:
        self._writer = writer
        self._reader = reader
        self._write_lock = write_lock
        self._shown_path = shown_path

    def all(self) -> list[SearchedFolder]:
        """Return every folder that was searched, by path, the one that was met last at a path after the others."""
        rows = self._reader.select(
            "SELECT path, real_path, place, is_whole FROM searched ORDER BY path, number",
            (),
        )
        return [
            SearchedFolder(
                path=path,
                real_path=real_path,
                place=self._place(place) if place else None,
                is_whole=bool(is_whole),
            )
            for path, real_path, place, is_whole in rows
        ]

    def save(self, folders: Iterable[SearchedFolder]) -> None:
        """Remember folders that were searched now; one that was whole once stays so."""
        rows = [
            (
                folder.path,
                folder.real_path,
                b"" if folder.place is None else pack_store(folder.place),
                int(folder.is_whole),
            )
            for folder in folders
        ]
        with self._write_lock:
            self._writer.write(
                (statements.SAVE_SEARCHED, rows),
                (statements.DROP_SEARCHED_BUT_LAST, [(path, _PLACES_MAXIMUM) for path, *_ in rows]),
            )

    def forget(self, paths: Iterable[bytes]) -> None:
        """Drop folders, by their paths alone."""
        with self._write_lock:
            self._writer.write((statements.DROP_SEARCHED, [(path,) for path in paths]))

    def given_up(self) -> set[GivenUp]:
        """Return the git directories that were given up."""
        rows = self._reader.select("SELECT git_dir, place FROM given_up", ())
        return {GivenUp(git_dir=git_dir, place=self._place(place)) for git_dir, place in rows}

    def give_up(self, lost: Iterable[GivenUp]) -> None:
        """Remember git directories that a person gives up."""
        with self._write_lock:
            self._writer.write((statements.SAVE_GIVEN_UP, [(one.git_dir, pack_store(one.place)) for one in lost]))

    def take_back(self, found: Iterable[GivenUp]) -> None:
        """Drop git directories that are whole again."""
        with self._write_lock:
            rows = [(one.git_dir, pack_store(one.place)) for one in found]
            self._writer.write((statements.DROP_GIVEN_UP, rows))

    def _place(self, data: bytes) -> tuple[int, int]:
        try:
            return unpack_store(data)
        except ValueError as error:
            # what is left out would be a folder that nobody looks into
            raise damaged(self._shown_path, error) from error
