"""Fetches over ssh: the user's own ssh works, a repository's does not, and nothing asks anybody."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome, Reason
from tests.support.repositories import GitRepository
from tests.support.servers.client import Client, Fetched, make_served, user_config
from tests.support.servers.listening import listening
from tests.support.servers.misbehaving import stall
from tests.support.servers.ssh import (
    SSH,
    SSHD,
    SshServer,
    client_config,
    make_key,
    ssh_agent,
    ssh_server,
    ssh_with_config,
)

pytestmark = [pytest.mark.safety, pytest.mark.skipif(not (SSHD and SSH), reason="there is no sshd")]

PASSPHRASE = "ca9aryPhrase"


@contextlib.contextmanager
def served(tmp_path: Path, *allowed: Path, **options: bool) -> Iterator[tuple[SshServer, Client]]:
    repository = make_served(tmp_path / "served")
    with ssh_server(tmp_path / "sshd", *allowed, **options) as server:
        yield server, Client.make(tmp_path / "client.git", server.url(repository.path))


def use_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **said: object) -> Path:
    config = client_config(tmp_path / "ssh_config", **said)  # type: ignore[arg-type]
    folder = ssh_with_config(tmp_path / "bin", config)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return config


def assert_arrived(client: Client, tmp_path: Path, fetched: Fetched) -> None:
    assert fetched.result.outcome is Outcome.DONE, fetched.result
    server = GitRepository(tmp_path / "served" / "a.git")
    assert client.references()["refs/remotes/origin/topic"] == server.git("rev-parse", "topic")
    assert fetched.left == fetched.left_folders == []


def assert_failed(client: Client, fetched: Fetched, reason: Reason) -> None:
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, reason), fetched.result
    assert fetched.result.sentence.isprintable()
    assert (fetched.left + fetched.left_folders, client.locks(), client.references()) == ([], [], {})


def test_key_that_the_ssh_config_of_the_user_names_opens_the_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_key(tmp_path / "key")
    with served(tmp_path, key) as (server, client):
        use_config(monkeypatch, tmp_path, key=key, known_hosts=server.known_hosts)
        assert_arrived(client, tmp_path, client.fetch())


def test_ssh_command_of_the_user_is_used(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    with served(tmp_path, key) as (server, client):
        config = client_config(tmp_path / "ssh_config", key=key, known_hosts=server.known_hosts)
        user_config("core.sshCommand", f"ssh -F '{config}'")
        assert_arrived(client, tmp_path, client.fetch())


def test_ssh_command_of_a_repository_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path / "key")
    with served(tmp_path, key) as (server, client):
        use_config(monkeypatch, tmp_path, key=key, known_hosts=server.known_hosts)
        client.config("core.sshCommand", f"touch {tmp_path}/ran; ssh")
        client.config("ssh.variant", "simple")
        client.config("remote.origin.uploadpack", f"touch {tmp_path}/ran-there; git-upload-pack")
        fetched = client.fetch()
    assert fetched.result.outcome in {Outcome.DONE, Outcome.REFUSED}, fetched.result
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "ran-there").exists()


def test_agent_of_the_user_opens_the_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path / "key")
    with served(tmp_path, key) as (server, client), ssh_agent(tmp_path, key) as agent:
        monkeypatch.setenv("SSH_AUTH_SOCK", os.fspath(agent))
        use_config(monkeypatch, tmp_path, key=None, known_hosts=server.known_hosts, agent=True)
        assert_arrived(client, tmp_path, client.fetch())


def test_key_with_a_passphrase_and_no_agent_needs_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path / "key", passphrase=PASSPHRASE)
    with served(tmp_path, key) as (server, client):
        use_config(monkeypatch, tmp_path, key=key, known_hosts=server.known_hosts)
        fetched = client.fetch()
    assert_failed(client, fetched, Reason.PASSPHRASE)
    assert Reason.PASSPHRASE.value in fetched.result.sentence


def test_key_that_the_server_does_not_know_is_a_matter_of_authentication(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, make_key(tmp_path / "key")) as (server, client):
        use_config(monkeypatch, tmp_path, key=make_key(tmp_path / "other"), known_hosts=server.known_hosts)
        fetched = client.fetch()
    assert_failed(client, fetched, Reason.AUTHENTICATION)


def test_server_that_takes_passwords_only_needs_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    asking = tmp_path / "askpass"
    asking.write_text(f"#!/bin/sh\ntouch {asked}\necho x\n")
    asking.chmod(0o755)
    for name, value in {"SSH_ASKPASS": os.fspath(asking), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}.items():
        monkeypatch.setenv(name, value)
    with served(tmp_path, password_only=True) as (server, client):
        use_config(monkeypatch, tmp_path, key=make_key(tmp_path / "key"), known_hosts=server.known_hosts)
        fetched = client.fetch()
    assert_failed(client, fetched, Reason.PASSWORD)
    assert not asked.exists()


@pytest.mark.parametrize("known", ["nothing", "another key"])
def test_host_key_that_is_not_known_is_not_accepted(
    known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_key(tmp_path / "key")
    known_hosts = tmp_path / "known_hosts"
    with served(tmp_path, key) as (server, client):
        if known == "another key":
            name = server.known_hosts.read_text().split()[0]
            known_hosts.write_text(f"{name} {key.with_name('key.pub').read_text()}")
        before = known_hosts.read_text() if known_hosts.exists() else None
        use_config(monkeypatch, tmp_path, key=key, known_hosts=known_hosts)
        fetched = client.fetch()
    assert_failed(client, fetched, Reason.HOST_KEY)
    assert Reason.HOST_KEY.value in fetched.result.sentence
    assert (known_hosts.read_text() if known_hosts.exists() else None) == before


def test_repository_that_is_not_on_the_server_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path / "key")
    with served(tmp_path, key) as (server, _):
        use_config(monkeypatch, tmp_path, key=key, known_hosts=server.known_hosts)
        client = Client.make(tmp_path / "other.git", server.url(tmp_path / "missing.git"))
        assert_failed(client, client.fetch(), Reason.NOT_FOUND)


def test_ssh_server_that_says_nothing_is_left_at_the_time_limit(tmp_path: Path) -> None:
    with listening(stall) as listener:
        client = Client.make(tmp_path / "client.git", f"ssh://127.0.0.1:{listener.port}/a.git")
        fetched = client.fetch(time_limit_s=0.4)
    assert fetched.result.outcome is Outcome.TIMED_OUT
    assert 0.4 <= fetched.elapsed_s <= 1.4
    assert (fetched.left + fetched.left_folders, client.locks()) == ([], [])
