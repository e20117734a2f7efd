"""Credentials in a fetch: the user's are used, a repository's programs get none, and a secret is written nowhere."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.model.ledger import Outcome, Reason
from tests.support.servers.client import Client, Fetched, make_served, user_config
from tests.support.servers.http_backend import (
    Answer,
    Request,
    Site,
    anonymous,
    basic_authentication,
    git_speaks_http,
    http_server,
)

pytestmark = [
    pytest.mark.safety,
    pytest.mark.skipif(not git_speaks_http(), reason="git's helper for HTTP does not run"),
]

CANARY = "ca9aryB1rd"
LOOK_S = 0.002
"""A process of git lives some milliseconds."""


def program(file: Path, *lines: str) -> Path:
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    file.chmod(0o755)
    return file


def helper(file: Path, password: str) -> Path:
    """A credential helper that leaves `FILE.ran` when it is asked."""
    return program(
        file, f"echo asked >>{file}.ran", f'test "$1" = get && printf "username=bob\\npassword={password}\\n"'
    )


def was_run(file: Path) -> bool:
    return file.with_name(f"{file.name}.ran").exists()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    make_served(tmp_path / "served")
    with http_server(tmp_path / "served", basic_authentication("bob", CANARY)) as opened:
        yield opened


def assert_nowhere(fetched: Fetched, client: Client, *, argv: bool = True) -> None:
    """The canary is in no text, no command line, no log and no file of the repository."""
    assert fetched.argvs or not argv, "no process was seen"
    assert not argv or CANARY not in "\n".join(fetched.argvs)
    assert CANARY not in fetched.texts
    assert CANARY not in repr(fetched.result)
    assert CANARY not in repr(
        [*COMMAND_LOG.records_of(None), *COMMAND_LOG.records_of(os.fsencode(client.repository.path))]
    )
    for path, (_, _, content) in client.files().items():
        assert path.endswith("/config") or CANARY.encode() not in content, path


def test_credential_helper_of_the_user_is_asked_and_what_it_says_stands_nowhere(site: Site, tmp_path: Path) -> None:
    user_config("credential.helper", os.fspath(helper(tmp_path / "helper", CANARY)))
    client = Client.make(tmp_path / "client.git", site.url("a.git"))
    fetched = client.fetch(look_s=LOOK_S)
    assert fetched.result.outcome is Outcome.DONE, fetched.result
    assert was_run(tmp_path / "helper")
    assert_nowhere(fetched, client)


def test_store_of_credentials_below_the_home_of_the_user_is_read(site: Site, tmp_path: Path) -> None:
    store = Path(os.environ["HOME"]) / ".git-credentials"
    store.write_text(f"http://bob:{CANARY}@127.0.0.1%3a{site.port}\n")
    store.chmod(stat.S_IRUSR | stat.S_IWUSR)
    user_config("credential.helper", "store")
    client = Client.make(tmp_path / "client.git", site.url("a.git"))
    fetched = client.fetch(look_s=LOOK_S)
    assert fetched.result.outcome is Outcome.DONE, fetched.result
    assert_nowhere(fetched, client)


def test_helper_of_the_user_for_one_site_is_asked(site: Site, tmp_path: Path) -> None:
    user_config(f"credential.http://127.0.0.1:{site.port}.helper", os.fspath(helper(tmp_path / "helper", CANARY)))
    client = Client.make(tmp_path / "client.git", site.url("a.git"))
    assert client.fetch().result.outcome is Outcome.DONE


@pytest.mark.parametrize("key", ["credential.helper", "credential.{url}.helper"])
@pytest.mark.parametrize("user_has_one", [True, False])
def test_credential_helper_of_a_repository_is_not_run(key: str, user_has_one: bool, site: Site, tmp_path: Path) -> None:
    if user_has_one:
        user_config("credential.helper", os.fspath(helper(tmp_path / "of-the-user", CANARY)))
    client = Client.make(tmp_path / "client.git", site.url("a.git"))
    client.config(key.format(url=site.url("a.git")), os.fspath(helper(tmp_path / "of-the-repository", CANARY)))
    client.config("core.askPass", os.fspath(program(tmp_path / "askpass", f"echo {CANARY}; touch {tmp_path}/asked")))
    fetched = client.fetch()
    assert not was_run(tmp_path / "of-the-repository")
    assert not (tmp_path / "asked").exists()
    assert fetched.result.outcome in (
        {Outcome.DONE, Outcome.REFUSED} if user_has_one else {Outcome.FAILED, Outcome.REFUSED}
    )


def test_wrong_password_of_the_helper_is_a_matter_of_authentication(site: Site, tmp_path: Path) -> None:
    user_config("credential.helper", os.fspath(helper(tmp_path / "helper", f"{CANARY}-wrong")))
    client = Client.make(tmp_path / "client.git", site.url("a.git"))
    fetched = client.fetch(look_s=LOOK_S)
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, Reason.AUTHENTICATION), fetched.result
    assert_nowhere(fetched, client)


def test_program_of_the_user_that_asks_in_a_window_is_not_run(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = program(tmp_path / "askpass", f"touch {tmp_path}/asked", f"echo {CANARY}")
    user_config("core.askPass", os.fspath(asking))
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, os.fspath(asking))
    client = Client.make(tmp_path / "client.git", site.url("a.git"))
    fetched = client.fetch()
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, Reason.PASSWORD), fetched.result
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("dry_run", [True, False])
def test_password_in_the_address_of_a_remote_is_used_and_masked(dry_run: bool, site: Site, tmp_path: Path) -> None:
    client = Client.make(tmp_path / "client.git", site.url("a.git", user_information=f"bob:{CANARY}"))
    fetched = client.fetch(look_s=LOOK_S, dry_run=dry_run)
    assert fetched.result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, fetched.result
    # git itself gives the address to its helper as an argument.
    assert_nowhere(fetched, client, argv=False)


@pytest.mark.parametrize(
    ("user_information", "path"),
    [(f"bob:{CANARY}-wrong", "a.git"), (f"{CANARY}", "a.git"), ("", f"a.git?private_token={CANARY}")],
    ids=["wrong password", "token for a name", "token in the query"],
)
def test_secret_in_the_address_of_a_remote_is_masked_in_what_fails(
    user_information: str, path: str, site: Site, tmp_path: Path
) -> None:
    client = Client.make(tmp_path / "client.git", site.url(path, user_information=user_information))
    fetched = client.fetch()
    assert fetched.result.outcome is Outcome.FAILED, fetched.result
    assert fetched.result.reason in {Reason.AUTHENTICATION, Reason.PASSWORD}
    assert_nowhere(fetched, client, argv=False)


def bearer(request: Request) -> Answer | None:
    return None if request.headers.get("authorization") == f"Bearer {CANARY}" else Answer(403)


@pytest.mark.parametrize("key", ["http.extraHeader", "http.{url}.extraHeader"])
def test_header_of_the_user_is_sent_and_stands_in_no_command_line(key: str, tmp_path: Path) -> None:
    make_served(tmp_path / "served")
    with http_server(tmp_path / "served", bearer) as site:
        user_config(key.format(url=site.url("")), f"Authorization: Bearer {CANARY}")
        client = Client.make(tmp_path / "client.git", site.url("a.git"))
        fetched = client.fetch(look_s=LOOK_S)
    assert fetched.result.outcome is Outcome.DONE, fetched.result
    assert_nowhere(fetched, client)


@pytest.mark.parametrize("key", ["url.{evil}.insteadOf", "url.{evil}.insteadof"])
def test_address_that_a_repository_rewrites_gets_no_header_of_the_user(key: str, tmp_path: Path) -> None:
    make_served(tmp_path / "served")
    with http_server(tmp_path / "served") as good, http_server(tmp_path / "served", anonymous) as evil:
        user_config("http.extraHeader", f"Authorization: Bearer {CANARY}")
        user_config("credential.helper", os.fspath(helper(tmp_path / "helper", CANARY)))
        client = Client.make(tmp_path / "client.git", good.url("a.git"))
        client.config(key.format(evil=evil.url("")), good.url(""))
        fetched = client.fetch(look_s=LOOK_S)
        assert [request.headers for request in evil.requests if "authorization" in request.headers] == []
    assert fetched.left == fetched.left_folders == []
    assert fetched.result.sentence.isprintable()


def test_cookies_of_a_repository_overwrite_no_file(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("mine")
    make_served(tmp_path / "served")
    with http_server(tmp_path / "served") as site:
        client = Client.make(tmp_path / "client.git", site.url("a.git"))
        client.config("http.cookieFile", os.fspath(notes))
        client.config("http.saveCookies", "true")
        client.config(f"http.{site.url('a.git')}.saveCookies", "true")
        client.config(f"http.{site.url('a.git')}.cookieFile", os.fspath(notes))
        client.fetch()
    assert notes.read_text() == "mine"
