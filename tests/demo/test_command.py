"""`gitdash demo` as people run it: what it prints, what it leaves, and that it leaves nothing however it ends."""

import errno
import os
import signal
import tempfile
from pathlib import Path

import pytest

from gitdash.cli.demo import run_demo
from gitdash.cli.session import Session
from gitdash.demo.fleet import EXHIBITS
from gitdash.demo.folder import DemoError
from gitdash.demo.workshop import Workshop, write
from tests.cli.process import Gitdash
from tests.support.pty_session import PtySession
from tests.support.repositories import GIT

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", os.fspath(folder))
    return folder


@pytest.fixture
def gitdash(tmp_path: Path, temporary_files: Path) -> Gitdash:
    made = Gitdash.make(tmp_path / "run")
    made.options = []
    return made


def when_git_packs(gitdash: Gitdash, command: str) -> None:
    """Let a shell command run before git makes its first bitmap; `exit` in it keeps git from doing so."""
    wrapper = gitdash.folder / "programs" / "git"
    wrapper.write_text(f'#!/bin/sh\ncase " $* " in *" repack "*) {command};; esac\nexec {GIT} "$@"\n')


def state_files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


def test_in_a_pipe_it_prints_the_table_and_leaves_nothing(
    gitdash: Gitdash, temporary_files: Path, isolated_environment: Path
) -> None:
    finished = gitdash.run("demo")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.split()[0] == "name"
    assert len(finished.stdout.splitlines()) >= len(EXHIBITS) - 4
    for said in finished.stderr.splitlines():
        assert said.startswith("gitdash: not shown here: ")
    assert list(temporary_files.iterdir()) == []
    assert state_files(isolated_environment) == []


def test_named_folder_stays_and_can_be_looked_at_again(
    gitdash: Gitdash, tmp_path: Path, temporary_files: Path, isolated_environment: Path
) -> None:
    finished = gitdash.run("demo", "here", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert f"the demo fleet stays in {tmp_path}/here/fleet" in finished.stderr
    assert (tmp_path / "here" / "state.db").is_file()
    again = gitdash.run("--no-state", "scan", tmp_path / "here" / "fleet")
    assert again.stdout == finished.stdout
    assert list(temporary_files.iterdir()) == []
    assert state_files(isolated_environment) == []


def test_without_opening_it_prints_the_path_alone(gitdash: Gitdash, tmp_path: Path) -> None:
    finished = gitdash.run("demo", "--no-open", tmp_path / "here")
    assert (finished.returncode, finished.stdout) == (0, f"{tmp_path}/here/fleet\n")
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == [".gitdash-demo", "elsewhere", "fleet"]


def test_without_opening_a_temporary_fleet_stays(gitdash: Gitdash, temporary_files: Path) -> None:
    finished = gitdash.run("demo", "--no-open")
    (folder,) = temporary_files.iterdir()
    assert (finished.returncode, finished.stdout) == (0, f"{folder}/fleet\n")
    assert (folder / "fleet" / "pools" / "shared.git" / "HEAD").is_file()


def test_folder_with_content_is_one_sentence_and_exit_2(gitdash: Gitdash, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    finished = gitdash.run("demo", tmp_path / "mine")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert len(finished.stderr.splitlines()) == 1
    assert f"{tmp_path}/mine is not empty" in finished.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]


def test_without_git_nothing_is_written(gitdash: Gitdash, tmp_path: Path, temporary_files: Path) -> None:
    for folder in ([], [tmp_path / "here"]):
        finished = gitdash.run("demo", *folder, PATH=os.fspath(gitdash.folder))
        assert finished.returncode == 2
        assert len(finished.stderr.splitlines()) == 1
    assert not (tmp_path / "here").exists()
    assert list(temporary_files.iterdir()) == []


def test_full_disk_is_one_sentence_and_leaves_nothing(gitdash: Gitdash, temporary_files: Path) -> None:
    when_git_packs(gitdash, "echo 'fatal: write error: No space left on device' >&2; exit 128")
    finished = gitdash.run("demo")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert len(finished.stderr.splitlines()) == 1
    assert "cannot make the demo fleet" in finished.stderr
    assert "No space left on device" in finished.stderr
    assert list(temporary_files.iterdir()) == []


def test_named_folder_can_be_named_again_after_a_full_disk(gitdash: Gitdash, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.touch()
    when_git_packs(
        gitdash, f"if [ -e {full} ]; then echo 'fatal: write error: No space left on device' >&2; exit 128; fi"
    )
    finished = gitdash.run("demo", "--no-open", tmp_path / "here")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "No space left on device" in finished.stderr
    assert not (tmp_path / "here").exists()
    full.unlink()
    again = gitdash.run("demo", "--no-open", tmp_path / "here")
    assert (again.returncode, again.stdout) == (0, f"{tmp_path}/here/fleet\n")


def test_git_that_is_killed_is_one_sentence_and_leaves_nothing(gitdash: Gitdash, temporary_files: Path) -> None:
    when_git_packs(gitdash, "kill -9 $$")
    finished = gitdash.run("demo")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert len(finished.stderr.splitlines()) == 1, finished.stderr
    assert "git repack failed with signal 9" in finished.stderr
    assert list(temporary_files.iterdir()) == []


def test_file_that_cannot_be_written_is_one_sentence_and_leaves_nothing(
    temporary_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(workshop: Workshop, _tell: object) -> None:
        write(workshop.root + b"/half", b"made")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def never(_session: Session, _roots: tuple[bytes, ...]) -> int:
        raise AssertionError("nothing is there to be opened")

    monkeypatch.setattr(tempfile, "tempdir", os.fspath(temporary_files))
    monkeypatch.setattr("gitdash.cli.demo.build_fleet", fail)
    session = Session(config_path=None, state_path=None, keeps_state=True, git_program=GIT)
    with pytest.raises(DemoError, match=r"cannot make the demo fleet in .*: no space left on device$"):
        run_demo(session, None, opens=True, dashboard=never)
    assert list(temporary_files.iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_interrupted_while_it_is_made_it_leaves_nothing(
    gitdash: Gitdash, temporary_files: Path, number: signal.Signals
) -> None:
    hangs = gitdash.folder / "hangs"
    when_git_packs(gitdash, f"touch {hangs}; exec sleep 60")
    with PtySession(gitdash.command("demo"), environment=gitdash.environment) as session:
        session.wait_for(lambda _output: hangs.exists())
        assert len(list(temporary_files.iterdir())) == 1
        os.kill(session.pid, number)
        assert session.wait_for_exit() == 130
    assert list(temporary_files.iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_interrupted_while_it_is_made_it_leaves_a_named_folder_as_it_was(
    gitdash: Gitdash, tmp_path: Path, number: signal.Signals
) -> None:
    hangs = gitdash.folder / "hangs"
    (tmp_path / "here").mkdir()
    when_git_packs(gitdash, f"touch {hangs}; exec sleep 60")
    with PtySession(gitdash.command("demo", tmp_path / "here"), environment=gitdash.environment) as session:
        session.wait_for(lambda _output: hangs.exists())
        os.kill(session.pid, number)
        assert session.wait_for_exit() == 130
    assert list((tmp_path / "here").iterdir()) == []


def test_dashboard_that_fails_leaves_nothing(temporary_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_session: Session, roots: tuple[bytes, ...]) -> int:
        assert os.path.isdir(roots[0])
        raise AssertionError("not foreseen")

    monkeypatch.setattr(tempfile, "tempdir", os.fspath(temporary_files))
    monkeypatch.setattr("gitdash.cli.scan.is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    session = Session(config_path=None, state_path=None, keeps_state=True, git_program=GIT)
    with pytest.raises(AssertionError, match="not foreseen"):
        run_demo(session, None, opens=True, dashboard=fail)
    assert list(temporary_files.iterdir()) == []


def test_progress_is_said_if_it_takes_long(gitdash: Gitdash) -> None:
    when_git_packs(gitdash, "sleep 0.6")
    with PtySession(gitdash.command("demo", "--no-open"), environment=gitdash.environment) as session:
        assert session.wait_for_exit() == 0
        assert b"repositories of the demo fleet" in session.output


@pytest.mark.parametrize("ending", ["q", *SIGNALS], ids=str)
def test_dashboard_opens_on_it_and_nothing_is_left_when_it_is_left(
    gitdash: Gitdash, temporary_files: Path, isolated_environment: Path, ending: str | signal.Signals
) -> None:
    with PtySession(gitdash.command("demo"), environment=gitdash.environment) as session:
        session.wait_for_text("archives")
        (folder,) = temporary_files.glob("gitdash-demo-*")
        assert (folder / "state.db").is_file()
        if isinstance(ending, str):
            session.send(ending.encode())
        else:
            os.kill(session.pid, ending)
        session.wait_for_exit()
    assert list(temporary_files.iterdir()) == []
    assert state_files(isolated_environment) == []
