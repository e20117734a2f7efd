"""`gitdash fetch`: what the ledger and the terminal say of fetches from several remotes, and of a dry run."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.errors import ExitCode
from gitdash.units import human_duration
from tests.cli.process import Gitdash
from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository
from tests.support.servers.listening import listening
from tests.support.servers.misbehaving import stall


@pytest.fixture
def upstream(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "upstream.git")
    made.commit({"a": "1"})
    return made


@pytest.fixture
def client(tmp_path: Path) -> GitRepository:
    return GitRepository.init(tmp_path / "client.git")


def until(is_reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 30
    while not is_reached():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def add_remote(client: GitRepository, name: str, url: str | os.PathLike[str]) -> None:
    client.git("config", f"remote.{name}.url", os.fspath(url))
    client.git("config", f"remote.{name}.fetch", f"+refs/heads/*:refs/remotes/{name}/*")


def test_what_one_remote_brought_is_not_credited_to_the_next(
    gitdash: Gitdash, client: GitRepository, upstream: GitRepository, tmp_path: Path
) -> None:
    add_remote(client, "good", upstream.path)
    add_remote(client, "gone", tmp_path / "nowhere.git")
    gitdash.run("fetch", client.path, "--protocol", "file")
    actions = {one["remote"]: one for one in gitdash.json("history", client.path)["actions"]}
    counts = {name: [one[when]["reference_count"] for when in ("before", "after")] for name, one in actions.items()}
    assert counts == {"good": [0, 1], "gone": [1, 1]}


def test_a_fetch_has_one_time_of_which_its_phases_are_the_whole_and_what_is_refused_took_none(
    gitdash: Gitdash, client: GitRepository, upstream: GitRepository
) -> None:
    add_remote(client, "origin", upstream.path)
    told = gitdash.run("fetch", client.path, "--protocol", "file").stdout
    (action,) = gitdash.json("history", client.path)["actions"]
    time_text = human_duration(action["elapsed_s"])
    assert f"fetch origin: done, {time_text}: 1 new; " in told
    assert f"fetch origin: done, {time_text}: 1 new; " in gitdash.run("history", client.path).stdout
    assert sum(phase["elapsed_s"] for phase in action["phases"]) == pytest.approx(action["elapsed_s"], rel=0.02)
    told = gitdash.run("fetch", client.path).stdout
    assert re.search(r": refused: ", told), told
    assert not re.search(r"refused, ", gitdash.run("history", client.path).stdout)


def test_dry_run_is_recorded_as_that(gitdash: Gitdash, client: GitRepository, upstream: GitRepository) -> None:
    add_remote(client, "origin", upstream.path)
    assert gitdash.run("fetch", client.path, "--protocol", "file", "--dry-run").returncode == ExitCode.DONE
    assert gitdash.run("fetch", client.path, "--protocol", "file").returncode == ExitCode.DONE
    actions = gitdash.json("history", client.path)["actions"]
    assert [one["is_preview"] for one in actions] == [False, True]


def test_paused_repository_is_refused(gitdash: Gitdash, client: GitRepository, upstream: GitRepository) -> None:
    add_remote(client, "origin", upstream.path)
    client.git("config", "gitdash.pause", "until Monday")
    ended = gitdash.run("fetch", client.path, "--protocol", "file")
    assert ended.returncode == ExitCode.REFUSED
    assert "paused by gitdash.pause in its config" in ended.stdout
    assert client.git("for-each-ref") == ""


def test_repository_without_a_remote_is_refused_where_it_is_named_alone(
    gitdash: Gitdash, client: GitRepository
) -> None:
    ended = gitdash.run("fetch", client.path)
    assert ended.returncode == ExitCode.REFUSED
    assert "its config has no remote" in ended.stdout


def test_below_a_folder_there_is_nothing_to_do_in_repositories_that_have_nothing_to_fetch_from(
    gitdash: Gitdash, client: GitRepository, upstream: GitRepository, tmp_path: Path
) -> None:
    add_remote(client, "origin", upstream.path)
    # what `git clone --bare` leaves: a URL, and no word of what to fetch
    bare = GitRepository.init(tmp_path / "bare.git")
    bare.git("config", "remote.origin.url", os.fspath(upstream.path))
    ended = gitdash.run("fetch", tmp_path, "--protocol", "file")
    assert ended.returncode == ExitCode.DONE, ended.stdout
    assert ended.stderr.splitlines() == ["1 action: done", "2 actions: nothing to do"]
    assert "its config does not say what to fetch" in ended.stdout
    # nor is anything refused there where the protocol would be
    by_default = gitdash.run("fetch", tmp_path)
    assert [line for line in by_default.stderr.splitlines() if line[0] != " "] == [
        "2 actions: nothing to do",
        "1 action: refused",
    ]
    assert gitdash.run("fetch", tmp_path, bare.path, "--protocol", "file").returncode == ExitCode.REFUSED


@pytest.mark.safety
def test_below_a_folder_a_remote_that_runs_a_program_stays_refused(
    gitdash: Gitdash, client: GitRepository, tmp_path: Path
) -> None:
    add_remote(client, "origin", "ext::touch pwned")
    assert gitdash.run("fetch", tmp_path).returncode == ExitCode.REFUSED


def test_second_process_does_not_fetch_what_another_fetches(
    gitdash: Gitdash, client: GitRepository, tmp_path: Path
) -> None:
    with listening(stall) as silent:
        add_remote(client, "origin", f"git://127.0.0.1:{silent.port}/x")
        arguments = gitdash.command("fetch", client.path, "--protocol", "git")
        with subprocess.Popen(arguments, env=gitdash.environment, stderr=subprocess.DEVNULL) as first:
            try:
                until(lambda: bool(silent.connections))
                second = gitdash.run("fetch", client.path, "--protocol", "git")
            finally:
                first.send_signal(signal.SIGINT)
            assert second.returncode == ExitCode.FINDINGS
            assert f"process {first.pid} on " in second.stdout
            assert len(silent.connections) == 1


def test_interrupt_says_what_became_of_all(gitdash: Gitdash, tmp_path: Path) -> None:
    clients = [GitRepository.init(tmp_path / f"{number}.git") for number in range(3)]
    with listening(stall) as silent:
        for one in clients:
            add_remote(one, "origin", f"git://127.0.0.1:{silent.port}/x")
        arguments = gitdash.command("fetch", *(one.path for one in clients), "--protocol", "git")
        with subprocess.Popen(arguments, env=gitdash.environment, stderr=subprocess.PIPE, text=True) as process:
            # two at once from one host
            until(lambda: len(silent.connections) == 2)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "2 actions: cancelled" in said
    assert f"1 action: not begun\n  {clients[2].path} (fetch origin)\n" in said


def test_terminal_is_told_once_why_one_fetch_was_refused(gitdash: Gitdash, fleet: Path) -> None:
    command = gitdash.command("fetch", fleet / "pool.git")
    with PtySession(command, environment=gitdash.environment, folder=os.fspath(gitdash.folder)) as session:
        assert session.wait_for_exit() == 3
    assert session.output.count(b"pool.git: fetch") == 1
    assert session.output.count(b"no remote") == 1
    assert b"1 action: refused" in session.output
    # the two may go to different files
    piped = gitdash.run("fetch", fleet / "pool.git")
    assert "no remote" in piped.stdout
    assert "no remote" in piped.stderr


def test_terminal_names_what_is_waited_for_after_another_result(
    gitdash: Gitdash, client: GitRepository, upstream: GitRepository, tmp_path: Path
) -> None:
    waiting = GitRepository.init(tmp_path / "waiting.git")
    add_remote(client, "origin", upstream.path)
    with listening(stall) as server:
        add_remote(waiting, "silent", f"git://127.0.0.1:{server.port}/r.git")
        paths = [os.fspath(one.path) for one in (client, waiting)]
        command = gitdash.command("fetch", *paths, "--protocol", "file", "--protocol", "git")
        with PtySession(command, environment=gitdash.environment, columns=200) as session:
            session.wait_for_text(": done")
            told = len(session.output)
            # drawn anew each second, with what it is at and since when
            session.wait_for_text(f"1/2  {waiting.path}: waiting for the server, 2 s", start=told - 200)
            session.send(b"\x03")
            session.wait_for_exit()
            assert session.output.rstrip().endswith(b"interrupted")
