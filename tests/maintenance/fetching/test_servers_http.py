"""Fetches over HTTP: what a server may answer, and whose word counts on certificates, proxies and redirections."""

import contextlib
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome, Reason
from tests.support.repositories import GitRepository
from tests.support.servers.client import Client, Fetched, make_served, user_config
from tests.support.servers.http_backend import (
    Respond,
    Site,
    always,
    anonymous,
    basic_authentication,
    git_speaks_http,
    http_server,
    make_certificate,
    redirect_to,
)
from tests.support.servers.listening import listening
from tests.support.servers.misbehaving import cut, stall

pytestmark = [
    pytest.mark.safety,
    pytest.mark.skipif(not git_speaks_http(), reason="git's helper for HTTP does not run"),
]

ESCAPE = "\x1b]0;title\x07\x1b[2J"


@contextlib.contextmanager
def served(tmp_path: Path, respond: Respond = anonymous, **options: Path) -> Iterator[tuple[Site, Client]]:
    if not (tmp_path / "served").exists():
        make_served(tmp_path / "served")
    with http_server(tmp_path / "served", respond, **options) as site:
        yield site, Client.make(tmp_path / "client.git", site.url("a.git"))


def assert_arrived(client: Client, tmp_path: Path, fetched: Fetched) -> None:
    assert fetched.result.outcome is Outcome.DONE, fetched.result
    server = GitRepository(tmp_path / "served" / "a.git")
    assert client.references()["refs/remotes/origin/topic"] == server.git("rev-parse", "topic")
    assert fetched.left == fetched.left_folders == []


@pytest.mark.oracle
def test_fetch_over_http_asks_for_protocol_version_2_and_brings_the_branches(tmp_path: Path) -> None:
    with served(tmp_path) as (site, client):
        assert_arrived(client, tmp_path, client.fetch())
        assert {request.headers["git-protocol"] for request in site.requests} == {"version=2"}


ANSWERS: dict[str, tuple[Respond, Reason]] = {
    "401": (basic_authentication("bob", "secret"), Reason.PASSWORD),
    "401 with escape sequences": (basic_authentication("bob", "secret", realm=ESCAPE), Reason.PASSWORD),
    "403": (always(403, ESCAPE.encode(), Content_Type="text/plain"), Reason.AUTHENTICATION),
    "404": (always(404, ESCAPE.encode(), Content_Type="text/plain"), Reason.NOT_FOUND),
    "429": (always(429, ESCAPE.encode(), Content_Type="text/plain", Retry_After="60"), Reason.SERVER_REFUSED),
    "503": (always(503, ESCAPE.encode(), Content_Type="text/plain"), Reason.SERVER_REFUSED),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_each_refusal_of_a_server_has_its_reason_and_a_printable_sentence(name: str, tmp_path: Path) -> None:
    respond, reason = ANSWERS[name]
    with served(tmp_path, respond) as (_, client):
        fetched = client.fetch()
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, reason), fetched.result
    assert fetched.unprintable == set()
    assert (fetched.left + fetched.left_folders, client.locks(), client.references()) == ([], [], {})


def test_page_of_a_web_site_is_no_repository(tmp_path: Path) -> None:
    with served(tmp_path, always(200, b"<html>\n<title>Welcome</title>\n", Content_Type="text/html")) as (_, client):
        fetched = client.fetch()
    assert fetched.result.outcome is Outcome.FAILED
    assert client.references() == {}


def test_connection_that_breaks_in_the_middle_of_the_pack_is_a_matter_of_the_network(tmp_path: Path) -> None:
    with served(tmp_path) as (site, _):
        noise = random.Random(4).randbytes(200_000)
        GitRepository(tmp_path / "served" / "a.git").commit({"noise": noise})
        with cut(site.port, 100_000) as listener:
            client = Client.make(tmp_path / "other.git", f"http://127.0.0.1:{listener.port}/a.git")
            fetched = client.fetch()
    assert (fetched.result.outcome, fetched.result.reason) == (Outcome.FAILED, Reason.NETWORK), fetched.result
    assert (fetched.left + fetched.left_folders, client.locks(), client.references()) == ([], [], {})


def test_fetch_over_http_from_a_silent_server_ends_at_its_time_limit(tmp_path: Path) -> None:
    with listening(stall) as listener:
        client = Client.make(tmp_path / "client.git", f"http://127.0.0.1:{listener.port}/a.git")
        fetched = client.fetch(time_limit_s=0.4)
    assert fetched.result.outcome is Outcome.TIMED_OUT
    assert 0.4 <= fetched.elapsed_s <= 1.4
    assert (fetched.left + fetched.left_folders, client.locks()) == ([], [])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def test_certificate_that_the_user_trusts_is_trusted(certificate: Path, tmp_path: Path) -> None:
    with served(tmp_path, certificate=certificate) as (_, client):
        user_config("http.sslCAInfo", os.fspath(certificate))
        assert_arrived(client, tmp_path, client.fetch())


def test_repository_can_neither_trust_a_certificate_nor_switch_the_check_off(certificate: Path, tmp_path: Path) -> None:
    with served(tmp_path, certificate=certificate) as (site, client):
        client.config("http.sslVerify", "false")
        client.config("http.sslCAInfo", os.fspath(certificate))
        client.config(f"http.{site.url('')}.sslVerify", "false")
        client.config(f"http.{site.url('a.git')}.sslVerify", "false")
        client.config(f"http.{site.url('a.git')}.sslCAInfo", os.fspath(certificate))
        fetched = client.fetch()
        assert site.requests == []
    assert fetched.result.outcome in {Outcome.FAILED, Outcome.REFUSED}, fetched.result
    assert (fetched.left + fetched.left_folders, client.locks(), client.references()) == ([], [], {})


def test_proxy_of_the_user_is_asked(tmp_path: Path) -> None:
    with served(tmp_path) as (site, client), http_server(tmp_path / "served") as proxy:
        user_config("http.proxy", proxy.url(""))
        assert_arrived(client, tmp_path, client.fetch())
        assert {request.proxied_for for request in proxy.requests} == {f"127.0.0.1:{site.port}"}
        assert site.requests == []


@pytest.mark.parametrize("key", ["http.proxy", "remote.origin.proxy", "http.{url}.proxy"])
def test_proxy_of_a_repository_is_not_asked(key: str, tmp_path: Path) -> None:
    with served(tmp_path) as (site, client), http_server(tmp_path / "served") as proxy:
        client.config(key.format(url=site.url("a.git")), proxy.url(""))
        fetched = client.fetch()
        assert proxy.requests == []
    assert fetched.result.outcome in {Outcome.DONE, Outcome.REFUSED}, fetched.result
    assert fetched.left == fetched.left_folders == []


def test_redirection_is_followed(tmp_path: Path) -> None:
    with http_server(tmp_path / "served") as other, served(tmp_path, redirect_to(other.url(""))) as (_, client):
        fetched = client.fetch()
    assert fetched.result.outcome is Outcome.DONE, fetched.result


@pytest.mark.parametrize("key", ["http.extraHeader", "http.{url}.extraHeader"])
def test_redirection_takes_no_header_of_the_user_to_another_host(key: str, tmp_path: Path) -> None:
    with http_server(tmp_path / "served") as other, served(tmp_path, redirect_to(other.url(""))) as (site, client):
        user_config(key.format(url=site.url("")), "Authorization: Basic Ym9iOnNlY3JldA==")
        fetched = client.fetch()
        assert [request.credentials for request in site.requests] == ["bob:secret"]
        assert [request for request in other.requests if request.credentials] == []
    assert fetched.result.outcome is Outcome.FAILED
    assert fetched.result.sentence.isprintable()
    assert (fetched.left + fetched.left_folders, client.references()) == ([], {})


def test_redirection_leads_to_no_other_protocol(tmp_path: Path) -> None:
    elsewhere = always(302, Location=f"file://{tmp_path}/served/a.git/info/refs?service=git-upload-pack")
    with served(tmp_path, elsewhere) as (_, client):
        fetched = client.fetch()
    assert fetched.result.outcome in {Outcome.FAILED, Outcome.REFUSED}, fetched.result
    assert client.references() == {}
