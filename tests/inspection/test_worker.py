"""The inspection worker and its protocol."""

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from gitdash.inspection import repository as inspection_repository
from gitdash.inspection import worker
from gitdash.inspection.messages import EMPTY, InspectionReply, InspectionRequest, read_reply, request_message
from gitdash.inspection.repository import inspect_repository
from gitdash.model.inspection import Inspection
from gitdash.model.repository import Unreadable
from tests.support.repositories import GitRepository

NOW_S = time.time() + 1000


def request(
    number: int,
    git_dir: Path | bytes,
    known: bytes | None = None,
    common_dir: Path | None = None,
    watched: bytes = b"",
) -> InspectionRequest:
    path = os.fsencode(git_dir)
    return InspectionRequest(
        number=number,
        git_dir=path,
        common_dir=path if common_dir is None else os.fsencode(common_dir),
        known_fingerprint=known,
        watched=watched,
        now_s=NOW_S,
        loose_stale_age_s=864_000.0,
    )


def unframe(data: bytes) -> list[InspectionReply]:
    replies = []
    while data:
        (length,) = struct.unpack(">I", data[:4])
        replies.append(read_reply(data[4 : 4 + length]))
        data = data[4 + length :]
    return replies


def run_worker(data: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "gitdash.inspection.worker"]
    return subprocess.run(command, input=data, capture_output=True, check=False, timeout=60)


def inspected_here(git_dir: Path, common_dir: Path | None = None) -> Inspection:
    return inspect_repository(
        os.fsencode(git_dir), os.fsencode(common_dir or git_dir), now_s=NOW_S, loose_stale_age_s=864_000.0
    )


@pytest.fixture
def fleet(tmp_path: Path) -> list[GitRepository]:
    """Three repositories; the last borrows from the first."""
    repositories = [GitRepository.init(tmp_path / f"r{number}.git") for number in range(3)]
    for repository in repositories:
        repository.commit({"a": os.fspath(repository.path)})
    repositories[2].borrow_from(repositories[0], relative=True)
    return repositories


def test_it_answers_in_order_what_an_inspection_in_process_says(fleet: list[GitRepository]) -> None:
    data = b"".join(request_message(request(number, repository.path)) for number, repository in enumerate(fleet))
    finished = run_worker(data)
    assert (finished.returncode, finished.stderr) == (0, b"")
    replies = unframe(finished.stdout)
    assert [reply.number for reply in replies] == [0, 1, 2]
    for reply, repository in zip(replies, fleet, strict=True):
        assert reply.inspection == inspected_here(repository.path)


def test_an_equal_fingerprint_is_answered_with_nothing(fleet: list[GitRepository]) -> None:
    known = inspected_here(fleet[0].path).fingerprint
    data = request_message(request(0, fleet[0].path, known)) + request_message(request(1, fleet[1].path, known))
    same, other = unframe(run_worker(data).stdout)
    assert same.inspection is None
    assert isinstance(other.inspection, Inspection)


def test_nothing_that_inspects_is_imported_for_what_is_unchanged(fleet: list[GitRepository]) -> None:
    code = (
        "import sys\n"
        "from gitdash.inspection import worker\n"
        "worker.serve(0, 1)\n"
        "print([name for name in ('msgspec', 'typing', 'dataclasses') if name in sys.modules], file=sys.stderr)"
    )
    data = b""
    for number, repository in enumerate(fleet[:2]):
        known = inspected_here(repository.path)
        data += request_message(request(number, repository.path, known.fingerprint, watched=known.watched))
    finished = subprocess.run([sys.executable, "-c", code], input=EMPTY + data, capture_output=True, check=True)
    assert finished.stderr == b"[]\n"
    assert finished.stdout.startswith(EMPTY)
    assert [reply.inspection for reply in unframe(finished.stdout.removeprefix(EMPTY))] == [None, None]


def test_a_member_is_unchanged_until_its_lender_is_gone(
    fleet: list[GitRepository], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet[0].path)  # the answers change it
    lender, _, member = fleet
    known = inspected_here(member.path)
    ask = request(0, member.path, known.fingerprint, watched=known.watched)
    assert worker.answer(ask).inspection is None
    lender.path.rename(lender.path.with_name("gone.git"))
    assert isinstance(worker.answer(ask).inspection, Inspection)


def test_one_bad_repository_costs_only_itself(fleet: list[GitRepository], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    bad = [tmp_path / "gone.git", tmp_path / "fifo", b"/x\0y", b"/" + b"d" * 300, b""]
    requests = [request(number, path) for number, path in enumerate(bad)] + [request(9, fleet[0].path)]
    replies = unframe(run_worker(b"".join(map(request_message, requests))).stdout)
    assert [reply.number for reply in replies] == [0, 1, 2, 3, 4, 9]
    for reply in replies[:-1]:
        assert isinstance(reply.inspection, Unreadable)
        assert reply.inspection.reason.isprintable()
    assert replies[0].inspection == Unreadable("missing")
    assert isinstance(replies[-1].inspection, Inspection)


def test_linked_worktrees_symbolic_links_and_missing_objects_are_inspected_alike(
    tmp_path: Path, fleet: list[GitRepository]
) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"a": "1"})
    main.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "topic")
    (tmp_path / "alias.git").symlink_to(fleet[0].path)
    shared = GitRepository.init(tmp_path / "shared.git")
    (shared.git_dir / "objects").rename(tmp_path / "store")
    (shared.git_dir / "objects").symlink_to(tmp_path / "store")
    bare = GitRepository.init(tmp_path / "bare.git")
    (bare.git_dir / "objects").rename(tmp_path / "unused")
    own = main.git_dir / "worktrees" / "linked"
    places = [(own, main.git_dir), (tmp_path / "alias.git", None), (shared.path, None), (bare.path, None)]
    requests = [request(number, path, common_dir=common) for number, (path, common) in enumerate(places)]
    data = b"".join(map(request_message, requests))
    for reply, (path, common) in zip(unframe(run_worker(data).stdout), places, strict=True):
        assert reply.inspection == inspected_here(path, common)


def test_requests_may_come_in_pieces_and_are_answered_before_the_next(fleet: list[GitRepository]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "gitdash.inspection.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        for number, repository in enumerate(fleet):
            for byte in request_message(request(number, repository.path)):
                process.stdin.write(bytes([byte]))
                process.stdin.flush()
            (length,) = struct.unpack(">I", process.stdout.read(4))
            reply = read_reply(process.stdout.read(length))
            assert reply.number == number
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_it_ends_quietly_when_nobody_reads(fleet: list[GitRepository]) -> None:
    data = b"".join(request_message(request(number, fleet[0].path)) for number in range(200))
    with subprocess.Popen(
        [sys.executable, "-m", "gitdash.inspection.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(data[: 1 << 15])
        process.stdin.close()
        assert process.wait(timeout=30) == 1
        assert process.stderr.read() == b""


@pytest.mark.safety
def test_an_error_that_nobody_thought_of_is_a_reason(
    fleet: list[GitRepository], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError("\x1b[31mboom")

    monkeypatch.setattr(inspection_repository, "inspect_if_changed", fail)
    monkeypatch.chdir(fleet[0].path)
    reply = worker.answer(request(7, fleet[0].path))
    assert reply.number == 7
    assert reply.inspection == Unreadable("gitdash failed: ZeroDivisionError: \\x1b[31mboom")


@pytest.mark.safety
def test_a_record_that_has_no_bytes_costs_its_own_row(
    fleet: list[GitRepository], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    inspection = inspected_here(fleet[0].path)
    beyond = msgspec.structs.replace(inspection, shallow_count=1 << 64)
    answers = iter([beyond, inspection])
    monkeypatch.setattr(worker, "answer", lambda asked: InspectionReply(number=asked.number, inspection=next(answers)))
    read_end, write_end = os.pipe()
    os.write(write_end, request_message(request(1, fleet[0].path)) + request_message(request(2, fleet[0].path)))
    os.close(write_end)
    worker.serve(read_end, 1)
    os.close(read_end)
    first, second = unframe(capfdbinary.readouterr().out)
    assert isinstance(first.inspection, Unreadable)
    assert first.inspection.reason.startswith("gitdash failed: OverflowError")
    assert second.inspection == inspection


def test_the_worker_imports_nothing_heavy() -> None:
    code = (
        "import sys, gitdash.inspection.worker\n"
        "print([name for name in ('textual', 'rich', 'numpy', 'git', 'sqlite3', 'subprocess', 'psutil', 'asyncio')"
        " if name in sys.modules])"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"
