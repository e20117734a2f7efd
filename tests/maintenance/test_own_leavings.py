"""What a git of ours had half written when it was stopped goes with it, and nothing of anybody else."""

import dataclasses
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitdash.gitcmd.runner import stop_everything
from gitdash.maintenance import own_leavings
from gitdash.maintenance.own_leavings import remove_own_leavings
from gitdash.maintenance.processes import WrittenFiles, written_by_group
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support import task_runs
from tests.support.old_stores import complaints, visible_objects
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import report_of, run

_PACK_BYTES = 8 << 20
"""git needs a third of a second to compress so much noise, and is told to stop within a twentieth."""


class Once(threading.Event):
    """A request to cancel that comes as soon as something is so, whenever somebody asks."""

    def __init__(self, is_so: Callable[[], bool]) -> None:
        super().__init__()
        self._is_so = is_so

    def is_set(self) -> bool:
        """Look, and stay set from then on."""
        if not super().is_set() and self._is_so():
            self.set()
        return super().is_set()


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """One commit, loose."""
    made = GitRepository.init(tmp_path / "one.git")
    made.commit({"a": "1"})
    return made


@pytest.fixture
def noisy(tmp_path: Path) -> GitRepository:
    """Noise, in loose objects."""
    made = GitRepository.init(tmp_path / "one.git")
    noise = random.Random(4)
    made.git("config", "core.looseCompression", "0")
    made.commit({str(number): noise.randbytes(_PACK_BYTES // 8) for number in range(8)})
    return made


def pack_folder(repository: GitRepository) -> Path:
    return repository.git_dir / "objects" / "pack"


def temporary(repository: GitRepository) -> list[Path]:
    return sorted((*pack_folder(repository).glob("tmp_*"), *pack_folder(repository).glob(".tmp-*")))


def is_written(repository: GitRepository, but: Path | None = None) -> bool:
    return any(path.stat().st_size > 0 for path in temporary(repository) if path != but)


@pytest.mark.parametrize("task", [Task.FULL_REPACK, Task.LOOSE_OBJECTS])
def test_half_written_pack_of_a_cancelled_task_goes_and_that_of_another_stays(noisy: GitRepository, task: Task) -> None:
    objects = visible_objects(noisy)
    another = pack_folder(noisy) / "tmp_pack_abc123"

    def is_under_way() -> bool:
        if not is_written(noisy, another):
            return False
        another.write_bytes(b"PACK")
        return True

    result = run(noisy, task, cancel=Once(is_under_way))
    assert result.outcome is Outcome.CANCELLED, result.sentence
    assert "what git had half written was removed: objects/pack/tmp_pack_" in result.sentence
    assert temporary(noisy) == [another]
    assert result.leftovers == ("objects/pack/tmp_pack_abc123 (4 B)",)
    assert visible_objects(noisy) == objects
    assert not complaints(noisy)


def test_half_written_pack_goes_when_gitdash_itself_is_told_to_end(noisy: GitRepository) -> None:
    cancel = threading.Event()

    class Stopping(threading.Event):
        def is_set(self) -> bool:
            if not cancel.is_set() and is_written(noisy):
                cancel.set()
                stop_everything()
            return cancel.is_set()

    result = run(noisy, Task.FULL_REPACK, cancel=Stopping())
    assert result.outcome is Outcome.CANCELLED, result.sentence
    assert temporary(noisy) == []


def test_cancel_between_new_and_old_packs_is_said_and_the_same_task_ends_it(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.repack()
    (old,) = repository.packs()
    repository.commit({"more": "1"})
    objects = visible_objects(repository)
    slow, slept = tmp_path / "git", tmp_path / "slept"
    slow.write_text(
        '#!/bin/sh\ncase "$*" in *--cruft*) '
        f'{GIT} --git-dir={repository.git_dir} repack -a -q; : >{slept}; sleep 60;; *) exec {GIT} "$@";; esac\n'
    )
    slow.chmod(0o755)
    stopping = dataclasses.replace(task_runs.program(), path=os.fspath(slow))
    with monkeypatch.context() as patch:
        patch.setattr(task_runs, "program", lambda: stopping)
        result = run(repository, Task.FULL_REPACK, cancel=Once(slept.exists))
    assert result.outcome is Outcome.CANCELLED, result.sentence
    (new,) = set(repository.packs()) - {old}
    said = f"objects/pack/{new.name} is new, and what was there before is there, too: objects may be stored twice"
    assert f"{said} until full-repack has run to its end" in result.sentence
    assert run(repository, Task.FULL_REPACK).outcome is Outcome.DONE
    assert len(repository.packs()) == 1
    assert visible_objects(repository) == objects


@pytest.fixture
def writer(repository: GitRepository) -> Iterator[tuple[int, Path]]:
    """The number of a process in a group of its own that has `tmp_pack_abc123` open, and that file."""
    path = pack_folder(repository) / "tmp_pack_abc123"
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o444)
        os.write(descriptor, b"PACK")
        os.write(writing, b"x")
        signal.pause()
        os._exit(0)
    os.read(reading, 1)
    yield child, path
    end(child)
    os.close(reading)
    os.close(writing)


def end(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        return


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for what goes on running."""
    monkeypatch.setattr(own_leavings, "_END_LIMIT_S", 0.01)


def removed(repository: GitRepository, written: WrittenFiles) -> list[str]:
    return list(remove_own_leavings(report_of(repository), os.fsencode(repository.git_dir / "objects"), [written]))


@pytest.mark.usefixtures("little_patience")
def test_what_is_still_open_stays(repository: GitRepository, writer: tuple[int, Path]) -> None:
    written = written_by_group(writer[0])
    assert written.process_ids == {writer[0]}
    assert removed(repository, written) == []
    end(writer[0])
    assert removed(repository, written) == ["objects/pack/tmp_pack_abc123"]


def test_another_file_of_the_same_name_stays(repository: GitRepository, writer: tuple[int, Path]) -> None:
    child, path = writer
    written = written_by_group(child)
    (path.parent / "tmp_pack_new").write_bytes(b"another")
    os.replace(path.parent / "tmp_pack_new", path)
    end(child)
    assert removed(repository, written) == []
    assert path.read_bytes() == b"another"


@pytest.mark.usefixtures("little_patience")
def test_file_of_a_repack_goes_by_the_number_of_its_process(
    repository: GitRepository, writer: tuple[int, Path]
) -> None:
    child, _ = writer
    written = written_by_group(child)
    own = pack_folder(repository) / f".tmp-{child}-pack-{'a' * 40}.pack"
    another = pack_folder(repository) / f".tmp-{os.getpid()}-pack-{'a' * 40}.pack"
    for path in (own, another):
        path.write_bytes(b"PACK")
    assert removed(repository, written) == []
    end(child)
    assert f"objects/pack/{own.name}" in removed(repository, written)
    assert (own.exists(), another.exists()) == (False, True)


def test_file_of_a_repack_that_git_reads_as_a_pack_stays(repository: GitRepository, writer: tuple[int, Path]) -> None:
    child, _ = writer
    written = written_by_group(child)
    repository.repack()
    pack = repository.packs()[0]
    own = [pack.with_name(f".tmp-{child}-{pack.stem}{suffix}") for suffix in (".pack", ".idx")]
    for path in own:
        os.link(pack.with_suffix(path.suffix), path)
    end(child)
    removed(repository, written)
    assert all(path.exists() for path in own)
