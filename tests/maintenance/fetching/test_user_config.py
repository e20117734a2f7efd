"""What the user's own config says reaches a fetch, whatever it depends on; what a repository's says does not."""

import os
import time
from pathlib import Path

import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.fetching.user_config import parse_listing, read_user_config
from gitdash.model.ledger import Outcome
from tests.support.fetching import fetched, planned
from tests.support.repositories import GIT, GitRepository


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HOME"])


@pytest.fixture
def upstream(tmp_path: Path) -> GitRepository:
    upstream = GitRepository.init(tmp_path / "upstream.git")
    upstream.commit({"a": "1"})
    return upstream


@pytest.fixture
def client(tmp_path: Path) -> GitRepository:
    client = GitRepository.init(tmp_path / "client.git")
    client.git("config", "remote.origin.url", "up:upstream.git")
    client.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    return client


def rewriting(base: Path) -> str:
    return f'[url "{base}/"]\n\tinsteadOf = up:\n'


def test_address_that_the_user_rewrites_is_fetched_from(
    home: Path, client: GitRepository, upstream: GitRepository
) -> None:
    (home / ".gitconfig").write_text(rewriting(upstream.path.parent))
    assert fetched(client.path).outcome is Outcome.DONE
    assert client.git("rev-parse", "refs/remotes/origin/main") == upstream.git("rev-parse", "refs/heads/main")


def test_address_that_a_repository_rewrites_is_not(client: GitRepository, upstream: GitRepository) -> None:
    client.git("config", f"url.{upstream.path.parent}/.insteadOf", "up:")
    _, plan = planned(client.path)
    assert [refusal.rule for refusal in plan.remotes[0].refusals] == ["protocol"]


@pytest.mark.parametrize("condition", ["gitdir:{path}", "gitdir/i:{path}", "gitdir:client.git"])
def test_part_of_the_users_config_that_depends_on_the_repository_counts(
    condition: str, home: Path, client: GitRepository, upstream: GitRepository
) -> None:
    (home / "work").write_text(rewriting(upstream.path.parent))
    named = condition.format(path=client.path)
    (home / ".gitconfig").write_text(f'[includeIf "{named}"]\n\tpath = work\n')
    assert fetched(client.path).outcome is Outcome.DONE


@pytest.mark.safety
def test_repository_that_would_hold_git_up_is_not_asked(home: Path, client: GitRepository) -> None:
    (home / ".gitconfig").write_text('[includeIf "gitdir:~/x"]\n\tpath = work\n')
    os.mkfifo(client.path / "more")
    with (client.path / "config").open("a") as file:
        file.write('[includeIf "onbranch:other"]\n\tpath = more\n')
    started_s = time.monotonic()
    _, plan = planned(client.path)
    assert time.monotonic() - started_s < 10
    assert [refusal.rule for refusal in plan.refusals] == ["config-unreadable"]


def test_part_that_depends_on_another_repository_does_not_count(
    home: Path, client: GitRepository, upstream: GitRepository
) -> None:
    (home / "work").write_text(rewriting(upstream.path.parent))
    (home / ".gitconfig").write_text('[includeIf "gitdir:**/gitdash-shadow-*"]\n\tpath = work\n')
    _, plan = planned(client.path)
    assert [refusal.rule for refusal in plan.remotes[0].refusals] == ["protocol"]


def test_variables_of_the_user_count_and_those_of_one_call_do_not(
    home: Path, client: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".gitconfig").write_text("[Core]\n\tsshCommand = ssh -4\n[credential]\n\thelper\n")
    client.git("config", "core.sshCommand", "evil")
    for name, value in {"COUNT": "1", "KEY_0": "http.extraHeader", "VALUE_0": "X: 1"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    config = read_user_config(find_git(GIT), os.fsencode(client.path), os.fsencode(client.path))
    assert config.pairs == (("core.sshcommand", "ssh -4"), ("credential.helper", None), ("http.extraheader", "X: 1"))
    assert config.environment() == {}


def test_what_depends_on_a_repository_is_given_to_git_in_the_same_order(
    home: Path, client: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "more").write_text("[credential]\n\thelper =\n\thelper = second\n")
    (home / ".gitconfig").write_text(
        "[http]\n\textraHeader = X-Token: 1\n[credential]\n\thelper = first\n"
        f'[includeIf "gitdir:{client.path}"]\n\tpath = more\n'
    )
    client.git("config", "credential.helper", "evil")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    environment = read_user_config(find_git(GIT), os.fsencode(client.path), os.fsencode(client.path)).environment()
    count = int(environment["GIT_CONFIG_COUNT"])
    given = [(environment[f"GIT_CONFIG_KEY_{n}"], environment[f"GIT_CONFIG_VALUE_{n}"]) for n in range(count)]
    assert given == [
        ("http.extraheader", "X-Token: 1"),
        ("credential.helper", "first"),
        ("credential.helper", ""),
        ("credential.helper", "second"),
    ]
    assert environment["GIT_CONFIG_GLOBAL"] == os.devnull


def test_listing_keeps_keys_without_value_and_values_with_lines() -> None:
    data = b"global\0a.b\0local\0c.d\nx\ny\0command\0e.f\n\0"
    assert list(parse_listing(data)) == [("global", "a.b", None), ("local", "c.d", "x\ny"), ("command", "e.f", "")]
