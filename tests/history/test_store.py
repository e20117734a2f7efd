"""The state file: what is remembered, and what happens if it cannot be."""

import contextlib
import os
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from gitdash.history import schema, writing
from gitdash.history.records import SearchedFolder, decode_report
from gitdash.history.store import History, HistoryError, Loan, open_history
from gitdash.model.inspection import (
    Alternate,
    AlternatesFacts,
    Inspection,
    ObjectFormat,
    ObjectStore,
    ReferenceBackend,
    ReferenceFacts,
)
from gitdash.model.report import RepositoryReport, State
from gitdash.model.repository import Repository, RepositoryKind, Role, Unreadable
from gitdash.model.sizes import Question, SizeMeasurement, Sizes, Strategy
from gitdash.model.summary import RepositorySummary
from tests.support.speed import cpu_s, slowness
from tests.support.unprivileged import unprivileged

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


def inspection(fingerprint: bytes = b"print", valid_until_s: float | None = 5.5) -> Inspection:
    return Inspection(
        inspected_at_s=1.0,
        valid_until_s=valid_until_s,
        fingerprint=fingerprint,
        object_store=ObjectStore(path=b"/x/\xff", device=1, inode=2),
        object_format=ObjectFormat.SHA256,
        reference_backend=ReferenceBackend.FILES,
        shallow=False,
        shallow_count=0,
        head=Unreadable("a FIFO"),
        packs=Unreadable("gone"),
        loose=Unreadable("gone"),
        bitmaps=(),
        multi_pack_index=None,
        commit_graph=Unreadable("too short"),
        references=ReferenceFacts(loose_count=1, packed_count=None, packed_bytes=0),
        alternates=AlternatesFacts(alternates=(Alternate(path=b"/\xfe", exists=False, depth=1),), mtime_s=3.0),
        locks=(),
        gc_log=None,
        gc_log_mtime_s=None,
        config=Unreadable("no"),
        disk=Unreadable("no"),
        last_full_repack_s=None,
    )


def report(path: bytes, root: bytes = b"/srv", **more) -> RepositoryReport:
    fields = {
        "repository": Repository(path=path, git_dir=path, common_dir=path, kind=RepositoryKind.BARE, root=root),
        "roles": (Role.PLAIN,),
        "borrowers": (b"/b\xff",),
        "inspection": inspection(),
        "sizes": Sizes(reachable=Unreadable("no git")),
        "findings": (),
        "state": State.WARNING,
    }
    return RepositoryReport(**(fields | more))


def summary(path: bytes, root: bytes = b"/srv", **more) -> RepositorySummary:
    fields = {field.name: None for field in msgspec.structs.fields(RepositorySummary) if field.required}
    known = {
        "path": path,
        "name": "name",
        "root": root,
        "kind": RepositoryKind.BARE,
        "role": "plain",
        "state": State.OK,
        "borrower_count": 0,
        "alternate_count": 0,
        "finding_count": 0,
        "disk_bytes": Unreadable("no"),
        "pack_count": 0,
    }
    return RepositorySummary(**(fields | known | more))


def save(history: History, *paths: bytes, root: bytes = b"/srv") -> None:
    for one in paths:
        history.save_report(report(one, root), summary(one, root))


def measurement(bytes_: int = 7, **more) -> SizeMeasurement:
    fields = {
        "question": Question.REACHABLE,
        "bytes": bytes_,
        "strategy": Strategy.BITMAP,
        "exact": True,
        "elapsed_s": 0.5,
        "measured_at_s": 9.0,
        "argv": ("git", "rev-list"),
        "git_version": "2.39.5",
    }
    return SizeMeasurement(**(fields | more))


def test_report_and_summary_come_back_as_they_were(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, b"/srv/x\xff.git")
        expected = report(b"/srv/x\xff.git"), summary(b"/srv/x\xff.git")
        for _ in range(2):
            found = (
                history.report(b"/srv/x\xff.git"),
                history.summaries([b"/srv"])[0],
            )
            assert found == expected
            history.flush()
    with open_history(str(path)) as history:
        assert history.report(b"/srv/x\xff.git") == expected[0]
        assert history.summaries([b"/srv"]) == [expected[1]]
        assert history.problem is None


def test_what_is_not_known_is_none(path: Path) -> None:
    with open_history(str(path)) as history:
        assert history.report(b"/x") is None
        assert history.inspections([b"/"], after=b"", limit=9) == {}
        assert history.summaries([b"/"]) == []
        assert history.last_size(b"/x", Question.REACHABLE) is None


def test_later_report_replaces_an_earlier_one(path: Path) -> None:
    with open_history(str(path)) as history:
        for state in (State.OK, State.CRITICAL):
            history.save_report(report(b"/srv/x", state=state), summary(b"/srv/x", state=state))
            history.flush()
        assert [row.state for row in history.summaries([b"/srv"])] == [State.CRITICAL]
        assert history.report(b"/srv/x") == report(b"/srv/x", state=State.CRITICAL)


def test_known_inspections_are_those_of_this_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_history(str(path)) as history:
        history.save_report(report(b"/a", inspection=inspection(b"1", None)), summary(b"/a"))
        history.save_report(report(b"/b", inspection=Unreadable("gone")), summary(b"/b"))
        monkeypatch.setattr("gitdash.history.store.__version__", "0.0.0")
        history.save_report(report(b"/c"), summary(b"/c"))
        monkeypatch.undo()
        known = history.inspections([b"/"], after=b"", limit=9)
        assert list(known) == [b"/a"]
        assert history.inspections([b"/b"], after=b"", limit=9) == {}
        assert decode_report(known[b"/a"].report) == report(b"/a", inspection=inspection(b"1", None))
        assert (known[b"/a"].fingerprint, known[b"/a"].valid_until_s) == (b"1", None)
        assert [row.path for row in history.summaries([b"/"])] == [b"/a", b"/b", b"/c"]


def test_known_inspections_come_in_pages_in_the_order_of_paths(path: Path) -> None:
    with open_history(str(path)) as history:
        for number in (3, 1, 5, 2, 4):
            save(history, b"/srv/%d" % number)
        pages, after = [], b""
        while page := history.inspections([b"/srv"], after=after, limit=2):
            pages.append([*page])
            after = max(page)
        assert pages == [[b"/srv/1", b"/srv/2"], [b"/srv/3", b"/srv/4"], [b"/srv/5"]]


@pytest.mark.parametrize(
    ("roots", "expected"),
    [
        ([b"/srv"], [b"/srv", b"/srv/a", b"/srv/b/c", b"/srv/b/c.git", b"/srv/\xff"]),
        ([b"/srv/b"], [b"/srv/b/c", b"/srv/b/c.git"]),
        ([b"/srv/b/c"], [b"/srv/b/c"]),
        ([b"/srv/b", b"/srvx"], [b"/srv/b/c", b"/srv/b/c.git", b"/srvx/d"]),
        ([b"/found/below"], [b"/elsewhere"]),
        ([b"/nowhere"], []),
        ([], []),
    ],
)
def test_summaries_are_those_below_the_roots_by_path(path: Path, roots: list[bytes], expected: list[bytes]) -> None:
    with open_history(str(path)) as history:
        save(history, b"/srv/b/c.git", b"/srvx/d", b"/srv/a", b"/srv", b"/srv/b/c", b"/srv/\xff", root=b"/other")
        save(history, b"/elsewhere", root=b"/found/below")
        assert [row.path for row in history.summaries(roots)] == expected
        assert history.paths(roots) == expected
        assert len(history.paths([b"/"])) == 7


def test_forgotten_repository_is_gone_with_its_sizes(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, b"/a", b"/b")
        history.save_size(b"/a", measurement(), fingerprint=b"f")
        history.flush()
        save(history, b"/a")
        history.forget([b"/a", b"/never"])
        assert history.paths([b"/"]) == [b"/b"]
        assert history.report(b"/a") is None
        assert history.last_size(b"/a", Question.REACHABLE) is None
        assert history.report(b"/b") is not None


def test_record_that_no_longer_decodes_counts_as_unknown(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, b"/a", b"/b")
        history.save_size(b"/a", measurement(), fingerprint=b"f")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE repositories SET summary = x'c1' WHERE path = CAST('/a' AS BLOB)")
        connection.execute("UPDATE reports SET report = x'80'")
        connection.execute("UPDATE sizes SET measurement = x'ff00'")
        connection.commit()
    with open_history(str(path)) as history:
        assert [row.path for row in history.summaries([b"/"])] == [b"/b"]
        assert history.report(b"/a") is None
        assert history.last_size(b"/a", Question.REACHABLE) is None


@pytest.mark.parametrize("length", [40, 64])
def test_size_comes_back_with_what_extends_it_and_says_that_it_is_old(path: Path, length: int) -> None:
    tips = tuple(f"{number:0{length}x}" for number in (3, 1, 2))
    with open_history(str(path)) as history:
        history.save_size(b"/a", measurement(), fingerprint=b"f", tips=tips, packs=("pack-1", "pack-\udcff"))
    with open_history(str(path)) as history:
        stored = history.last_size(b"/a", Question.REACHABLE)
        assert stored is not None
        assert stored.measurement == measurement(from_history=True)
        assert (stored.fingerprint, stored.tips, stored.pack_names) == (b"f", tips, ("pack-1", "pack-\udcff"))


def test_size_is_answered_for_the_same_question_and_fingerprint_only(path: Path) -> None:
    with open_history(str(path)) as history:
        history.save_size(b"/a", measurement(1), fingerprint=b"f")
        history.save_size(b"/a", measurement(2, question=Question.REACHABLE_OWN), fingerprint=b"f")
        history.save_size(b"/a", measurement(3, excluded_references=("refs/x/*", "refs/a/*")), fingerprint=b"f")

        def answer(path: bytes, question: Question, excluded: tuple[str, ...], fingerprint: bytes) -> int | None:
            found = history.last_size(path, question, excluded)
            return found.measurement.bytes if found is not None and found.fingerprint == fingerprint else None

        assert answer(b"/a", Question.REACHABLE, (), b"f") == 1
        assert answer(b"/a", Question.REACHABLE, (), b"g") is None
        assert answer(b"/b", Question.REACHABLE, (), b"f") is None
        assert answer(b"/a", Question.REACHABLE_OWN, (), b"f") == 2
        assert answer(b"/a", Question.REACHABLE, ("refs/a/*", "refs/x/*"), b"f") == 3
        assert answer(b"/a", Question.REACHABLE, ("refs/a/*",), b"f") is None


def test_tips_that_are_no_object_ids_are_refused(path: Path) -> None:
    with open_history(str(path)) as history, pytest.raises(ValueError, match="object ids"):
        history.save_size(b"/a", measurement(), fingerprint=b"f", tips=("a" * 40, "b" * 64))


def test_file_and_folder_are_private(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        path = tmp_path / "new" / "state.db"
        with open_history(str(path)) as history:
            save(history, b"/a")
            history.flush()
            modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {name: oct(mode) for name, mode in modes.items()} == dict.fromkeys(modes, "0o600")
    assert "state.db-wal" in modes


def test_empty_file_is_a_new_one(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with open_history(str(path)) as history:
        save(history, b"/a")
    with open_history(str(path)) as history:
        assert history.paths([b"/"]) == [b"/a"]


def foreign(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()


def newer(path: Path) -> None:
    open_history(str(path)).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()


def cut(path: Path) -> None:
    open_history(str(path)).close()
    os.truncate(path, 1_000)


def scrambled(path: Path) -> None:
    open_history(str(path)).close()
    data = bytearray(path.read_bytes())
    data[100:] = b"\xa5" * (len(data) - 100)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_bytes(b"hello"), "is not a state file of gitdash"),
        (lambda path: path.write_bytes(b"\0" * 4096), "is not a state file of gitdash"),
        (foreign, "is a database of another program"),
        (newer, "is from a newer gitdash (version 99 of the file, this one knows 8)"),
        (cut, "is damaged"),
        (scrambled, "is damaged"),
    ],
)
def test_file_that_is_not_ours_is_refused_in_a_sentence_and_left_as_it_is(path: Path, make, sentence: str) -> None:
    path.parent.mkdir()
    make(path)
    before = {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in path.parent.iterdir()}
    with pytest.raises(HistoryError) as caught:
        open_history(str(path))
    assert str(caught.value).startswith(f"{path} {sentence}")
    assert str(caught.value).isprintable()
    assert {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in path.parent.iterdir()} == before


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/null")):
        with pytest.raises(HistoryError, match="is not a regular file"):
            open_history(str(path))


def test_file_that_cannot_be_read_is_refused() -> None:
    with unprivileged() as folder:
        open_history(str(folder / "state.db")).close()
        (folder / "state.db").chmod(0)
        with pytest.raises(HistoryError, match="cannot be read: permission denied"):
            open_history(str(folder / "state.db"))


def test_damage_that_is_met_later_is_said_when_it_is_read(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, *(b"/srv/%05d" % number for number in range(500)))
    size_bytes = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(16 * 4096)
        file.write(b"\xa5" * (size_bytes - 16 * 4096))
    with open_history(str(path)) as history:
        with pytest.raises(HistoryError, match="is damaged"):
            history.summaries([b"/srv"])
        save(history, *(b"/srv/%05d" % number for number in range(500)))
        history.flush()
        assert history.problem is not None


def test_place_that_cannot_be_written_remembers_nothing_and_says_so_once() -> None:
    with unprivileged() as folder:
        folder.chmod(0o500)
        try:
            with open_history(str(folder / "deep" / "state.db")) as history:
                problem = history.problem
                assert problem is not None
                assert "cannot be written, so nothing is remembered: permission denied" in problem
                save(history, b"/a")
                history.save_size(b"/a", measurement(), fingerprint=b"f")
                history.forget([b"/a"])
                assert history.summaries([b"/"]) == []
                assert history.problem == problem
            assert list(folder.iterdir()) == []
        finally:
            folder.chmod(0o700)


@pytest.mark.parametrize("folder_mode", [0o500, 0o700])
def test_file_that_can_only_be_read_is_read(folder_mode: int) -> None:
    with unprivileged() as folder:
        path = folder / "state.db"
        with open_history(str(path)) as history:
            save(history, b"/a")
        path.chmod(0o400)
        folder.chmod(folder_mode)
        before = path.read_bytes()
        try:
            with open_history(str(path)) as history:
                assert "cannot be written" in (history.problem or "")
                assert history.report(b"/a") == report(b"/a")
                save(history, b"/b")
                assert [row.path for row in history.summaries([b"/"])] == [b"/a"]
        finally:
            folder.chmod(0o700)
        assert path.read_bytes() == before


def test_full_disk_costs_the_memory_and_not_the_run(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, b"/a")
        history.flush()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, hard))
        try:
            save(history, *(b"/srv/%05d" % number for number in range(2_000)))
            history.save_size(b"/a", measurement(), fingerprint=b"f")
            history.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (history.problem or "").startswith(f"{path} cannot be written, so nothing more is remembered: ")
        assert history.report(b"/a") == report(b"/a")
    with open_history(str(path)) as history:
        assert b"/a" in history.paths([b"/"])
        assert history.problem is None


def test_reports_wait_for_another_process_and_are_written_after_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_BUSY_TIMEOUT_MS", 20)
    monkeypatch.setattr(writing, "_PATIENCE_S", 0.02)
    with open_history(str(path)) as history, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        save(history, b"/a")
        history.flush()
        assert history.report(b"/a") == report(b"/a")
        with open_history(str(path)) as second:
            assert second.problem is None
            assert second.report(b"/a") is None
        other.execute("ROLLBACK")
        history.flush()
        with open_history(str(path)) as second:
            assert second.report(b"/a") == report(b"/a")


def test_file_that_another_process_keeps_for_ever_does_not_fill_the_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_BUSY_TIMEOUT_MS", 1)
    monkeypatch.setattr(writing, "_PATIENCE_S", 0.001)
    with open_history(str(path)) as history, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        save(history, *(b"/srv/%05d" % number for number in range(6_000)))
        assert len(history._waiting) < 5_000
        assert "database is locked" in (history.problem or "")
        other.execute("ROLLBACK")


WRITER = """
import sys, os
sys.path[:0] = [{project!r}, {tests!r}]
from test_store import save
from gitdash.history.store import open_history
history = open_history(sys.argv[1])
for number in range(int(sys.argv[3])):
    save(history, b"/%s/%05d" % (sys.argv[2].encode(), number))
    if number % 50 == 0:
        history.flush()
if sys.argv[4:] == ["die"]:
    os.kill(os.getpid(), 9)
history.close()
assert history.problem is None, history.problem
"""


def start_writer(path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    code = WRITER.format(project=str(PROJECT), tests=str(Path(__file__).parent))
    return subprocess.Popen([sys.executable, "-c", code, str(path), *arguments])


def test_two_processes_write_at_once(path: Path) -> None:
    writers = [start_writer(path, name, "400") for name in ("a", "b")]
    assert [writer.wait() for writer in writers] == [0, 0]
    with open_history(str(path)) as history:
        assert len(history.paths([b"/a"])) == len(history.paths([b"/b"])) == 400


def test_killed_run_loses_only_what_was_not_yet_written(path: Path) -> None:
    assert start_writer(path, "a", "101", "die").wait() == -9
    with open_history(str(path)) as history:
        assert len(history.paths([b"/a"])) == 101
        assert history.problem is None


def test_threads_may_write_and_read_at_once(path: Path) -> None:
    with open_history(str(path)) as history:
        problems: list[Exception] = []

        def work(name: bytes) -> None:
            try:
                for number in range(300):
                    save(history, b"/%s/%d" % (name, number))
                    history.report(b"/%s/%d" % (name, number // 2))
                    if number % 100 == 0:
                        history.summaries([b"/"])
            except Exception as error:  # noqa: BLE001 - a thread's error is the test's
                problems.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in (b"a", b"b", b"c")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert len(history.paths([b"/"])) == 900


def test_older_file_gets_the_new_tables_and_keeps_its_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_history(str(path)) as history:
        save(history, b"/a")
    migrations = (*schema.MIGRATIONS, ("CREATE TABLE ledger (x)", "INSERT INTO ledger VALUES (1)"))
    monkeypatch.setattr(schema, "MIGRATIONS", migrations)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", len(migrations))
    with open_history(str(path)) as history:
        assert history.report(b"/a") == report(b"/a")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT x FROM ledger").fetchall() == [(1,)]
        assert connection.execute("PRAGMA user_version").fetchone() == (len(migrations),)
    monkeypatch.undo()
    with pytest.raises(HistoryError, match="newer gitdash"):
        open_history(str(path))


def loan(borrower: bytes, inode: int) -> Loan:
    alternates_path = borrower + b"/objects/info/alternates"
    return Loan(borrower=borrower, alternates_path=alternates_path, store_path=b"/pool/objects", store=(2**63, inode))


def test_loans_are_kept_until_they_end_whatever_else_is_forgotten(path: Path) -> None:
    one, other, large = loan(b"/a", 1), loan(b"/a", 2), loan(b"/b\xff", 2**64 - 1)
    with open_history(str(path)) as history:
        assert history.loans.all() == set()
        history.loans.change(ended=[], new=[one, other, large])
    with open_history(str(path)) as history:
        assert history.problem is None
        assert history.loans.all() == {one, other, large}
        history.loans.change(ended=[one], new=[])
        assert history.loans.all() == {other, large}
        history.forget([b"/a", b"/b\xff"])
        assert history.loans.all() == {other, large}


def write_older_file(path: Path, version: int) -> None:
    """A file of an earlier version with a report, a size and, where there were any, a loan."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        patched.setattr(schema, "SCHEMA_VERSION", version)
        with open_history(str(path)) as history:
            save(history, b"/a")
            history.save_size(b"/a", measurement(), fingerprint=b"f")
            assert history.problem is None
    if version > 1:
        known = loan(b"/a", 1)
        row = (known.alternates_path, b"%d:%d" % known.store, known.store_path, known.borrower)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO loans (alternates, store, store_path, borrower) VALUES (?, ?, ?, ?)", row)
            connection.commit()


def test_loans_of_one_store_are_found_by_its_identity_and_its_path(path: Path) -> None:
    one, other = loan(b"/a", 1), loan(b"/b", 2)
    placed = msgspec.structs.replace(loan(b"/c", 1), place=(7, 2**64 - 1))
    with open_history(str(path)) as history:
        history.loans.change(ended=[], new=[one, other, placed])
        assert history.loans.of_store(one.store, one.store_path) == {one, placed}
        assert history.loans.of_store(one.store, b"/elsewhere") == set()
        assert history.loans.stores() == {(one.store, b"/pool/objects"), (other.store, b"/pool/objects")}


def test_loans_of_two_folders_at_one_path_are_two(path: Path) -> None:
    unknown = loan(b"/a", 1)
    first, second = (msgspec.structs.replace(unknown, place=place) for place in ((7, 2), (8, 2)))
    with open_history(str(path)) as history:
        history.loans.change(ended=[], new=[unknown, first, second])
        assert history.loans.all() == {unknown, first, second}
        history.loans.change(ended=[first], new=[])
        assert history.loans.all() == {unknown, second}


def searched(path: bytes, inode: int, *, is_whole: bool = True) -> SearchedFolder:
    return SearchedFolder(path=path, real_path=b"/real" + path, place=(2**63, inode), is_whole=is_whole)


def test_folder_that_was_searched_whole_once_stays_so(path: Path) -> None:
    with open_history(str(path)) as history:
        history.searched.save([searched(b"/q", 1, is_whole=False)])
        assert history.searched.all() == [searched(b"/q", 1, is_whole=False)]
        history.searched.save([searched(b"/q", 1)])
        history.searched.save([searched(b"/q", 1, is_whole=False)])
        assert (history.searched.all(), history.problem) == ([searched(b"/q", 1)], None)


def test_searches_of_folders_inside_or_elsewhere_leave_the_others_known(path: Path) -> None:
    with open_history(str(path)) as history:
        history.searched.save([searched(b"/q", 1), searched(b"/q/a", 2)])
        history.searched.save([searched(b"/q", 3)])
        history.forget([b"/q"])
        assert history.searched.all() == [searched(b"/q", 1), searched(b"/q", 3), searched(b"/q/a", 2)]
        history.searched.forget([b"/q"])
        assert history.searched.all() == [searched(b"/q/a", 2)]


def test_of_a_path_with_a_new_folder_each_day_the_last_eight_are_known(path: Path) -> None:
    with open_history(str(path)) as history:
        history.searched.save([searched(b"/other", 1)])
        for inode in range(20):
            history.searched.save([searched(b"/q", inode)])
        assert [one.place and one.place[1] for one in history.searched.all()] == [1, *range(12, 20)]


def test_roots_of_an_older_file_count_as_searched(path: Path) -> None:
    write_older_file(path, 6)
    with open_history(str(path)) as history:
        assert history.searched.all() == [SearchedFolder(path=b"/srv", real_path=b"", place=None, is_whole=True)]


def test_what_is_remembered_below_a_folder_is_told_whichever_table_has_it(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, b"/f/a", b"/fa", b"/g")
        history.save_size(b"/f/b", measurement(), fingerprint=b"f")
        assert history.remembered(b"/f") == {b"/f/a", b"/f/b"}
        assert history.remembered(b"/g") == {b"/g"}
        assert history.remembered(b"/") == {b"/f/a", b"/f/b", b"/fa", b"/g"}


@pytest.mark.parametrize("version", [1, 2])
def test_older_file_loses_its_rows_and_keeps_sizes_and_loans(path: Path, version: int) -> None:
    write_older_file(path, version)
    with open_history(str(path)) as history:
        assert history.problem is None
        assert history.report(b"/a") is None
        assert history.summaries([b"/"]) == []
        assert history.inspections([b"/"], after=b"", limit=9) == {}
        size = history.last_size(b"/a", Question.REACHABLE)
        assert size is not None
        assert (size.measurement, size.fingerprint) == (measurement(from_history=True), b"f")
        assert history.loans.all() == ({loan(b"/a", 1)} if version > 1 else set())
        history.save_preference("view", b"x")
        history.loans.change(ended=[], new=[loan(b"/b", 2)])
        save(history, b"/a")
    with open_history(str(path)) as history:
        assert history.report(b"/a") == report(b"/a")
        assert history.preference("view") == b"x"
        assert loan(b"/b", 2) in history.loans.all()


def test_older_file_that_can_only_be_read_is_as_good_as_none() -> None:
    with unprivileged() as folder:
        path = folder / "state.db"
        write_older_file(path, 2)
        path.chmod(0o400)
        before = path.read_bytes()
        with open_history(str(path)) as history:
            assert "cannot be written" in (history.problem or "")
            assert history.summaries([b"/"]) == []
            assert history.preference("view") is None
            history.save_preference("view", b"x")
        assert path.read_bytes() == before


def test_two_processes_bring_an_older_file_up_to_date_at_once(path: Path) -> None:
    write_older_file(path, 2)
    writers = [start_writer(path, name, "50") for name in ("a", "b", "c")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    with open_history(str(path)) as history:
        assert len(history.paths([b"/"])) == 150, "no process dropped what another had written since"
        assert history.loans.all() == {loan(b"/a", 1)}
        assert history.preference("view") is None


def test_preference_is_the_last_value_of_its_name(path: Path) -> None:
    with open_history(str(path)) as history:
        assert history.preference("columns") is None
        history.save_preference("columns", b"old")
        history.save_preference("columns", b"\x00\xff")
        history.save_preference("empty", b"")
        assert history.preference("columns") == b"\x00\xff"
    with open_history(str(path)) as history:
        assert history.preference("columns") == b"\x00\xff"
        assert history.preference("empty") == b""
        assert history.preference("other") is None
        history.forget([b"/a"])
        assert history.preference("columns") == b"\x00\xff"


def test_preference_that_cannot_be_written_is_no_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_BUSY_TIMEOUT_MS", 1)
    monkeypatch.setattr(writing, "_PATIENCE_S", 0.001)
    with open_history(str(path)) as history, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        history.save_preference("columns", b"new")
        assert "in use by another process" in (history.problem or "")
        other.execute("ROLLBACK")
        assert history.preference("columns") is None
        history.save_preference("columns", b"new")
        assert history.preference("columns") == b"new"


def test_preference_of_a_damaged_file_is_an_error_when_it_is_read(path: Path) -> None:
    with open_history(str(path)) as history:
        history.save_preference("columns", b"x" * 200_000)
        save(history, b"/a")
    size_bytes = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(16 * 4096)
        file.write(b"\xa5" * (size_bytes - 16 * 4096))
    with open_history(str(path)) as history, pytest.raises(HistoryError, match="is damaged"):
        history.preference("columns")


def test_migration_that_fails_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_history(str(path)) as history:
        save(history, b"/a", b"/b")
    added = ("CREATE TABLE ledger (x)", "CREATE UNIQUE INDEX one_version ON repositories (gitdash_version)")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, added))
    monkeypatch.setattr(schema, "SCHEMA_VERSION", len(schema.MIGRATIONS))
    with pytest.raises(HistoryError, match="UNIQUE constraint failed"):
        open_history(str(path))
    monkeypatch.undo()
    with open_history(str(path)) as history:
        assert history.report(b"/a") == report(b"/a")


def test_name_that_sqlite_could_take_for_an_address_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory", "a%20b#c?d.db"):
        open_history(name).close()
        assert (tmp_path / name).stat().st_size > 0


def test_ten_thousand_summaries_are_read_quickly(path: Path) -> None:
    with open_history(str(path)) as history:
        save(history, *(b"/srv/%05d" % number for number in range(10_000)))
        history.flush()
        assert len(history.summaries([b"/srv"])) == 10_000
        assert cpu_s(lambda: history.summaries([b"/srv"])) < 0.15 * slowness()


@pytest.mark.safety
@pytest.mark.parametrize("target", ["missing", "empty", "notes"])
def test_state_file_that_is_a_link_is_refused_and_its_target_untouched(tmp_path: Path, target: str) -> None:
    contents = {"empty": b"", "notes": b"my notes"}
    if target in contents:
        (tmp_path / target).write_bytes(contents[target])
    (tmp_path / "state.db").symlink_to(tmp_path / target)
    with pytest.raises(HistoryError, match="is not a regular file"):
        open_history(os.fspath(tmp_path / "state.db"))
    assert (tmp_path / target).exists() == (target in contents)
    assert target not in contents or (tmp_path / target).read_bytes() == contents[target]


@pytest.mark.safety
@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away")
def test_state_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    open_history(os.fspath(path)).close()
    os.chown(path, 4242, 4242)
    with pytest.raises(HistoryError, match="belongs to another user"):
        open_history(os.fspath(path))


@pytest.mark.safety
def test_state_file_with_a_trigger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    open_history(os.fspath(path)).close()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TRIGGER trap AFTER INSERT ON repositories BEGIN {endless}; END")
        connection.commit()
    with pytest.raises(HistoryError, match="holds 'trap', which gitdash did not make"):
        open_history(os.fspath(path))
