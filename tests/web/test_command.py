"""`gitdash serve` as a command: what it starts, and what it says if it cannot."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gitdash.cli.serve import run_serve
from gitdash.cli.session import Session
from tests.support.repositories import GIT
from tests.web.serving import PROJECT, Serving


def arguments_of(session: Session, root: Path, *, allow_actions: bool = False) -> list[str]:
    """What each dashboard would be started with."""
    started: list[Sequence[str | bytes]] = []

    def web_server(
        arguments: Sequence[str | bytes], *, port: int, announce: Callable[[str], None], say: Callable[[str], None]
    ) -> None:
        started.append(arguments)

    code = run_serve(session, (os.fsencode(root),), port=0, allow_actions=allow_actions, web_server=web_server)
    assert code == 130
    return [os.fsdecode(argument) for argument in started[0]]


def session(**options: object) -> Session:
    unset = {"config_path": None, "state_path": None, "keeps_state": False, "git_program": GIT}
    return Session(**{**unset, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("read_only", "allow_actions", "is_read_only"),
    [(None, False, True), (None, True, False), (True, False, True), (True, True, True)],
)
def test_a_dashboard_is_read_only_unless_actions_are_allowed(
    fleet: Path, read_only: bool | None, allow_actions: bool, is_read_only: bool
) -> None:
    arguments = arguments_of(session(read_only=read_only), fleet, allow_actions=allow_actions)
    assert ("--read-only" in arguments) is is_read_only


def test_a_dashboard_gets_the_options_of_the_server_with_paths_that_hold_anywhere(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "git").symlink_to(GIT)
    monkeypatch.chdir(tmp_path)
    everything = session(
        config_path="config.toml",
        state_path="state.db",
        keeps_state=True,
        git_program="./git",
        theme="nord",
        mouse=False,
        glyphs="ascii",
    )
    arguments = arguments_of(everything, Path(os.path.relpath(fleet)), allow_actions=True)
    assert arguments == [
        *("--served", "--no-mouse", "--ascii"),
        *("--config", f"{tmp_path}/config.toml", "--state", f"{tmp_path}/state.db", "--git", f"{tmp_path}/git"),
        *("--theme", "nord", "--", str(fleet)),
    ]
    assert (tmp_path / "state.db").exists()


def test_what_a_root_is_called_is_no_option_and_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "$(touch fired); --state" / "scan").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "$(touch fired); --state")
    arguments = arguments_of(session(), Path("scan"))
    assert arguments[-2:] == ["--", f"{tmp_path}/$(touch fired); --state/scan"]


def run(*arguments: str, environment: dict[str, str], before: str = "") -> "subprocess.CompletedProcess[str]":
    code = f"{before}\nimport sys\nfrom gitdash.__main__ import main\nsys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**environment, "PYTHONPATH": PROJECT},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_port_that_is_taken_is_one_sentence(serving: Serving, fleet: Path, environment: dict[str, str]) -> None:
    port = serving.host.split(":")[1]
    finished = run("--no-state", "serve", "--port", port, os.fspath(fleet), environment=environment)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr == f"gitdash: cannot listen on port {port} of 127.0.0.1: address already in use\n"


def test_without_the_extra_there_is_one_sentence_with_the_command(fleet: Path, environment: dict[str, str]) -> None:
    before = "import sys; sys.modules['textual_serve'] = None"
    finished = run("--no-state", "serve", os.fspath(fleet), environment=environment, before=before)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert "pip install -c constraints.txt '.[web]'" in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--no-state", "serve", "/nonexistent/root"], "cannot search '/nonexistent/root'"),
        (["--config", "/nonexistent/config", "serve", "."], "/nonexistent/config"),
        (["--state", "/nonexistent/state.db", "serve", "."], "there is no folder /nonexistent"),
        (["--git", "/nonexistent/git", "serve", "."], "/nonexistent/git"),
        (["serve", "--port", "65536", "."], "65536"),
        (["serve", "--host", "0.0.0.0", "."], "--host"),
    ],
)
def test_wrong_use_is_said_before_anything_is_served(
    arguments: list[str], complaint: str, environment: dict[str, str]
) -> None:
    finished = run(*arguments, environment=environment)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert complaint in finished.stderr
    assert "Traceback" not in finished.stderr


def test_a_port_can_be_chosen(fleet: Path, environment: dict[str, str], options: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Serving([*options, "serve", "--port", str(port), os.fspath(fleet)], environment) as server:
        assert server.url.startswith(f"http://127.0.0.1:{port}/?token=")
        assert server.interrupt() == (130, "")
