"""What a URL means, compared with which protocol git says that it may not use."""

import subprocess
from pathlib import Path

import pytest

from gitdash.maintenance.fetching.addresses import address_problem, read_address, rewritten
from tests.support.repositories import GIT, clean_environment

ADDRESSES = {
    "https://user:secret@Host.example:8443/a.git": ("https", "host.example"),
    "http://[::1]:80/a": ("http", "::1"),
    "ssh://git@host:22/~me/a": ("ssh", "host"),
    "git+ssh://host/a": ("ssh", "host"),
    "git@host:a/b.git": ("ssh", "host"),
    "host:a": ("ssh", "host"),
    "[host:22]:a": ("ssh", "host:22"),
    "git://host/a": ("git", "host"),
    "ftps://host/a": ("ftps", "host"),
    "file:///srv/a": ("file", None),
    "/srv/a:b": ("file", None),
    "./host:a": ("file", None),
    "../a": ("file", None),
    "ext::sh -c x": ("ext", None),
}


@pytest.mark.parametrize("url", ADDRESSES)
def test_protocol_and_host_of_an_address(url: str) -> None:
    address = read_address(url)
    assert (address.protocol, address.host) == ADDRESSES[url]


@pytest.mark.oracle
@pytest.mark.parametrize("url", [url for url in ADDRESSES if not url.startswith("[")])
def test_git_takes_it_for_the_same_protocol(url: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    said = subprocess.run(
        [GIT, "ls-remote", "--", url],
        cwd=tmp_path / "a",
        env=clean_environment(GIT_ALLOW_PROTOCOL="none"),
        capture_output=True,
        text=True,
    ).stderr
    assert said.startswith(f"fatal: transport '{read_address(url).protocol}' not allowed")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("url", "rewrites"),
    [
        ("gh:a/b", [("https://h.example/", "gh:")]),
        ("gh:a/b", [("https://short/", "gh:"), ("https://long/", "gh:a/")]),
        ("gh:a/b", [("https://one/", "gh:"), ("https://two/", "gh:")]),
        ("gh:a/b", [("https://never/", "gx:")]),
    ],
)
def test_url_is_replaced_as_git_replaces_it(url: str, rewrites: list[tuple[str, str]], tmp_path: Path) -> None:
    config = [word for base, prefix in rewrites for word in ("-c", f"url.{base}.insteadOf={prefix}")]
    said = subprocess.run(
        [GIT, *config, "ls-remote", "--get-url", url],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert rewritten(url, rewrites) == said.rstrip("\n")


def test_address_of_an_allowed_protocol_has_no_problem() -> None:
    url = "git@host:a.git"
    assert address_problem(url, read_address(url), ("https", "ssh")) is None


def test_remote_without_a_url_is_refused() -> None:
    assert address_problem("", read_address(""), ("file",)) == ("no-url", "it has no URL")
