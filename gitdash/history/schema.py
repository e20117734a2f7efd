"""The state file: its tables, how an older file becomes a new one, and what is refused without touching it.

Source: SQLite's file format, "The Database Header". The version of a file is the number of migrations that it has
had. Summaries lie apart from reports, because the first paint reads all of the first and none of the second. Does
not read or write rows: that is `store`.

    offset  size  field
    0       16    `SQLite format 3` and a NUL
    60      4     user version, big-endian
    68      4     application id, big-endian
"""

import os
import sqlite3
import stat
import struct
from dataclasses import dataclass
from typing import Final

from gitdash.errors import GitdashError
from gitdash.units import printable

APPLICATION_ID: Final = 0x67647368
"""`gdsh`."""

_HEADER_BYTES: Final = 100
_SIGNATURE: Final = b"SQLite format 3\0"
_BUSY_TIMEOUT_MS: Final = 2_000
"""How long one process waits for another's transaction, which takes milliseconds."""
NOT_READABLE: Final = (sqlite3.Error, UnicodeError)
"""What comes of a damaged file: where SQLite quotes it in a message, Python may not be able to read that."""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE repositories (
            path BLOB PRIMARY KEY NOT NULL,
            root BLOB NOT NULL,
            gitdash_version TEXT NOT NULL,
            fingerprint BLOB,
            valid_until_s REAL,
            summary BLOB NOT NULL)""",
        """CREATE TABLE reports (
            path BLOB PRIMARY KEY NOT NULL REFERENCES repositories (path) ON DELETE CASCADE,
            report BLOB NOT NULL)""",
        """CREATE TABLE sizes (
            path BLOB NOT NULL,
            question TEXT NOT NULL,
            excluded_references BLOB NOT NULL,
            fingerprint BLOB NOT NULL,
            measurement BLOB NOT NULL,
            tips BLOB NOT NULL,
            pack_names BLOB NOT NULL,
            PRIMARY KEY (path, question, excluded_references))""",
    ),
    (
        """CREATE TABLE loans (
            alternates BLOB NOT NULL,
            store BLOB NOT NULL,
            store_path BLOB NOT NULL,
            borrower BLOB NOT NULL,
            PRIMARY KEY (alternates, store)) WITHOUT ROWID""",
    ),
    (
        # rows from before lenders and formulas would show none, though there are some: the next survey makes them again
        "DELETE FROM reports",
        "DELETE FROM repositories",
        """CREATE TABLE preferences (
            name TEXT PRIMARY KEY NOT NULL,
            value BLOB NOT NULL) WITHOUT ROWID""",
    ),
    (
        # numbers are not given again, so that a number that somebody holds never comes to mean another action
        """CREATE TABLE actions (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            run TEXT NOT NULL,
            path BLOB NOT NULL,
            started_at_s REAL NOT NULL,
            is_running INTEGER NOT NULL,
            entry BLOB NOT NULL)""",
        "CREATE INDEX actions_by_run ON actions (run)",
        "CREATE INDEX actions_by_path ON actions (path)",
        "CREATE INDEX actions_by_start ON actions (started_at_s)",
        "CREATE INDEX actions_running ON actions (number) WHERE is_running = 1",
    ),
    (
        """CREATE TABLE experiments (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            path BLOB NOT NULL,
            kind TEXT NOT NULL,
            result BLOB NOT NULL)""",
        "CREATE INDEX experiments_by_path ON experiments (path, kind)",
        """CREATE TABLE comparisons (
            path BLOB NOT NULL,
            question TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            comparison BLOB NOT NULL,
            PRIMARY KEY (path, question)) WITHOUT ROWID""",
    ),
    (
        # of a loan that was seen before this, nobody knows which folder the borrower was
        "ALTER TABLE loans ADD COLUMN place BLOB NOT NULL DEFAULT x''",
        "CREATE INDEX loans_by_store ON loans (store, store_path)",
    ),
    (
        # two disks that are mounted in turn have repositories of the same path; which folder it was, is to be seen anew
        "ALTER TABLE loans RENAME TO former_loans",
        """CREATE TABLE loans (
            alternates BLOB NOT NULL,
            store BLOB NOT NULL,
            store_path BLOB NOT NULL,
            borrower BLOB NOT NULL,
            place BLOB NOT NULL,
            PRIMARY KEY (alternates, store, place)) WITHOUT ROWID""",
        "INSERT INTO loans SELECT alternates, store, store_path, borrower, x'' FROM former_loans",
        "DROP TABLE former_loans",
        "CREATE INDEX loans_by_store ON loans (store, store_path)",
    ),
    (
        # a repository has one root only, that of the last survey: a narrower one took the place of a wider one
        """CREATE TABLE searched (
            number INTEGER PRIMARY KEY,
            path BLOB NOT NULL,
            real_path BLOB NOT NULL,
            place BLOB NOT NULL,
            is_whole INTEGER NOT NULL,
            UNIQUE (path, real_path, place))""",
        "INSERT INTO searched (path, real_path, place, is_whole) SELECT DISTINCT root, x'', x'', 1 FROM repositories",
        """CREATE TABLE given_up (
            git_dir BLOB NOT NULL,
            place BLOB NOT NULL,
            PRIMARY KEY (git_dir, place)) WITHOUT ROWID""",
    ),
)
"""Each entry turns version n into n + 1; entries are never changed, only added."""

SCHEMA_VERSION: Final = len(MIGRATIONS)


class HistoryError(GitdashError):
    """The state file cannot be used; it has not been changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """An open state file."""

    writer: sqlite3.Connection
    reader: sqlite3.Connection
    """The same as `writer` for a file in memory or one that can only be read."""
    problem: str | None
    """Why nothing can be remembered; None if all is well."""


def connect(path: str) -> Connections:
    """Open or make the file at `path`, with mode 0600, in a folder that is made with mode 0700 if it is missing.

    Where the file or its folder cannot be written, what can be read is read and nothing is remembered; `problem` says
    so. Raises HistoryError if there is a file that is not ours, from a newer gitdash, damaged or unreadable.
    """
    shown = printable(path)
    path = os.path.abspath(path)
    is_new = _is_new(path, shown)
    try:
        if is_new:
            _create(path)
        return _open_writable(path, shown)
    except (OSError, sqlite3.OperationalError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
    except NOT_READABLE as error:
        raise damaged(shown, error) from error
    problem = f"{shown} cannot be written, so nothing is remembered: {reason}"
    return _open_read_only(path, problem) if not is_new else _open_in_memory(problem)


def damaged(shown: str, error: Exception) -> HistoryError:
    """Return the error for a file that SQLite, or we, cannot make sense of."""
    reason = "a name in it is not UTF-8" if isinstance(error, UnicodeError) else printable(str(error))
    return HistoryError(f"{shown} is damaged ({reason}): move it away to start afresh")


def _is_new(path: str, shown: str) -> bool:
    """Say whether there is no file, or an empty one; raises HistoryError for a file that is not ours to use."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            # a link may lead to a file of another use, or make one where it points to nothing
            raise HistoryError(f"{shown} is not a regular file")
        if status.st_uid not in {os.geteuid(), 0}:
            raise HistoryError(f"{shown} belongs to another user")
        with open(path, "rb") as file:
            header = file.read(_HEADER_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError as error:
        raise HistoryError(f"{shown} cannot be read: {(error.strerror or '').lower()}") from error
    if not header:
        return True
    if len(header) < _HEADER_BYTES or not header.startswith(_SIGNATURE):
        raise HistoryError(f"{shown} is not a state file of gitdash")
    (version,) = struct.unpack_from(">I", header, 60)
    (application_id,) = struct.unpack_from(">I", header, 68)
    if application_id != APPLICATION_ID:
        raise HistoryError(f"{shown} is a database of another program")
    _refuse_newer(version, shown)
    return False


def _refuse_newer(version: int, shown: str) -> None:
    if version > SCHEMA_VERSION:
        raise HistoryError(
            f"{shown} is from a newer gitdash (version {version} of the file, this one knows {SCHEMA_VERSION})"
        )


def _refuse_programs(connection: sqlite3.Connection, shown: str) -> None:
    """Raise HistoryError for a file with triggers or views: gitdash makes none, and they run at each change."""
    statement = "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1"
    found = connection.execute(statement).fetchone()
    if found is not None:
        raise HistoryError(f"{shown} holds '{printable(str(found[0]))}', which gitdash did not make")


def _create(path: str) -> None:
    """Make an empty file with its mode, which SQLite gives to its log files, too."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.close(descriptor)


def _open_writable(path: str, shown: str) -> Connections:
    writer = _connect(path)
    try:
        _refuse_newer(schema_version(writer), shown)
        _refuse_programs(writer, shown)
        migrate(writer)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA synchronous = NORMAL")
        writer.execute("PRAGMA foreign_keys = ON")
        _require_writable(writer)
        return Connections(writer=writer, reader=_connect(path), problem=None)
    except BaseException:
        writer.close()
        raise


def _require_writable(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.OperationalError now rather than at the first row if the file can only be read.

    SQLite finds that out by the first change, which is taken back.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
    else:
        connection.execute("ROLLBACK")


def is_busy(error: Exception) -> bool:
    """Say whether another process has the file in a transaction that will end."""
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _open_read_only(path: str, problem: str) -> Connections:
    """Read what is there; a file that cannot even be read, or is from an older gitdash, is as good as none.

    SQLite wants to write beside the file even to read it, unless it is told that nobody else can change it.
    """
    from urllib.parse import quote

    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?{options}", isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            if schema_version(connection) == SCHEMA_VERSION:
                return Connections(writer=connection, reader=connection, problem=problem)
        except NOT_READABLE:
            connection.close()
        else:
            connection.close()
    return _open_in_memory(problem)


def _open_in_memory(problem: str) -> Connections:
    connection = _connect(":memory:")
    migrate(connection)
    return Connections(writer=connection, reader=connection, problem=problem)


def _connect(database: str) -> sqlite3.Connection:
    """Open a connection without implicit transactions that all threads may use, one at a time."""
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to `SCHEMA_VERSION` in one transaction; a file that has it already is only read.

    Two processes may do this at once: the second waits, and then finds the work done. Raises sqlite3.Error.
    """
    if schema_version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[schema_version(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        connection.rollback()
        raise


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the version of an open file; 0 for a new one."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
