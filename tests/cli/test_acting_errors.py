"""Errors of actions that no entry of the ledger tells: they are said, and the exit code is not that of a success."""

import os
import subprocess
from pathlib import Path

import pytest

from gitdash.cli.fetch import FetchCommand, run_fetch
from gitdash.cli.maintain import MaintainCommand, run_maintain
from gitdash.cli.session import Session
from gitdash.discovery.roots import RootError
from gitdash.errors import ExitCode
from gitdash.history.schema import HistoryError
from gitdash.model.repository import Repository
from gitdash.survey import fetching
from gitdash.survey.acting import Actions
from gitdash.survey.bookkeeping import Bookkeeping
from tests.cli.process import Gitdash
from tests.support.repositories import GIT, GitRepository


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(config_path=None, state_path=os.fspath(tmp_path / "state.db"), keeps_state=True, git_program=GIT)


def fetch_of(*paths: Path) -> FetchCommand:
    return FetchCommand(
        paths=tuple(map(os.fsencode, paths)),
        where=None,
        remotes=(),
        group=None,
        protocols=("file",),
        alternate_refs=None,
        prune=None,
        time_limit_s=None,
        dry_run=False,
        output_format="table",
        verbose=False,
    )


def client(path: Path, upstream: GitRepository) -> GitRepository:
    made = GitRepository.init(path)
    made.git("config", "remote.origin.url", os.fspath(upstream.path))
    made.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    return made


@pytest.fixture
def upstream(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "upstream.git")
    made.commit({"a": "1"})
    return made


def test_fetch_that_cannot_be_written_down_is_told_and_no_success(
    session: Session,
    tmp_path: Path,
    upstream: GitRepository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise HistoryError("the state file is damaged")

    monkeypatch.setattr(Bookkeeping, "done_elsewhere", fail)
    one = client(tmp_path / "one.git", upstream)
    assert run_fetch(session, fetch_of(one.path)) == ExitCode.FINDINGS
    assert f"gitdash: {one.path}: the state file is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("output_format", ["table", "json"])
def test_output_that_is_lost_on_a_full_disk_is_no_success(
    gitdash: Gitdash, tmp_path: Path, upstream: GitRepository, output_format: str
) -> None:
    one = client(tmp_path / "one.git", upstream)
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            gitdash.command("fetch", one.path, "--protocol", "file", "--format", output_format),
            env=gitdash.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == ExitCode.WRONG_USE, ended.stderr
    assert "cannot write the output: no space left on device" in ended.stderr
    # what was asked for was done all the same
    assert "1 action: done" in ended.stderr
    assert one.git("rev-parse", "refs/remotes/origin/main") == upstream.git("rev-parse", "main")


def test_repository_that_goes_away_meanwhile_stops_no_other(
    session: Session,
    tmp_path: Path,
    upstream: GitRepository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone, there = (client(tmp_path / name, upstream) for name in ("gone.git", "there.git"))
    read = Actions.facts

    def facts(actions: Actions, repository: Repository) -> object:
        if repository.path == os.fsencode(gone.path):
            raise RootError(repository.path, "does not exist")
        return read(actions, repository)

    monkeypatch.setattr(Actions, "facts", facts)
    assert run_fetch(session, fetch_of(gone.path, there.path)) == ExitCode.FINDINGS
    said = capsys.readouterr().err
    assert f"gitdash: {gone.path}: " in said
    assert "1 action: done" in said


def test_plan_that_cannot_be_made_stops_no_other(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone, there = (GitRepository.init(tmp_path / name) for name in ("gone.git", "there.git"))
    look = Actions.look

    def gone_now(actions: Actions, repository: Repository, known: None = None) -> object:
        if repository.path == os.fsencode(gone.path):
            raise RootError(repository.path, "does not exist")
        return look(actions, repository, known)

    monkeypatch.setattr(Actions, "look", gone_now)
    command = MaintainCommand(
        paths=(os.fsencode(gone.path), os.fsencode(there.path)),
        where=None,
        task_names=("verify",),
        dry_run=True,
        agreed=False,
        confirmed_name=None,
        output_format="table",
        verbose=False,
    )
    assert run_maintain(session, command) == ExitCode.FINDINGS
    written = capsys.readouterr()
    assert f"gitdash: {gone.path}: " in written.err
    assert os.fspath(there.path) in written.out


def test_fetch_by_another_process_is_seen_from_a_linked_work_tree(
    session: Session, tmp_path: Path, upstream: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = client(tmp_path / "one.git", upstream)
    one.git("fetch", "-q", "origin", "+refs/heads/*:refs/heads/*")
    one.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "main")
    asked: list[tuple[object, ...]] = []

    def note(_: Bookkeeping, *key: object) -> None:
        asked.append(key)

    monkeypatch.setattr(Bookkeeping, "done_elsewhere", note)
    run_fetch(session, fetch_of(tmp_path / "linked"))
    # the ledger has what is done to the repository whose store that is
    assert asked == [(fetching.ACTION, os.fsencode(one.path), "origin")]
