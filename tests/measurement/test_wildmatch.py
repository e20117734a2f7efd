"""Patterns match what `git rev-list --exclude=<pattern> --all` leaves out."""

import functools
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.measurement.wildmatch import excluded_by
from tests.support.repositories import GitRepository

NAMES = [
    "refs/heads/main",
    "refs/heads/feature/a",
    "refs/heads/feature/b/c",
    "refs/heads/feature-x",
    "refs/heads/A",
    "refs/heads/é",
    "refs/heads/x]y",
    "refs/heads/x-y",
    "refs/heads/x!y",
    "refs/keep-around/1234",
    "refs/merge-requests/7/head",
    "refs/merge-requests/7/merge",
    "refs/tags/v1.0",
    "refs/tags/v1.1",
    "refs/tags/v10",
]

PATTERNS = [
    "*", "HEAD", "H*", "", "refs/heads/*", "refs/heads/**", "refs/**/a", "refs/*/a", "refs/heads/?", "refs/heads/?*",
    "refs/heads", "refs/heads/", "refs/heads/main", "heads/main", "main", "*main", "*/7/*",
    "refs/merge-requests/*/head",
    "refs/tags/v1?0", "refs/tags/v1.[01]", "refs/tags/v1.[!0]", "refs/tags/v1.[^0]", "refs/tags/v[0-9]*",
    "refs/tags/v[[:digit:]].*", "refs/tags/v[[:digit:][:alpha:]]?", "refs/heads/[[:upper:]]",
    "refs/heads/[[:nothing:]]",
    "refs/heads/[A-", "refs/heads/[", "refs/heads/[]", "refs/heads/x[]]y", "refs/heads/x[!]]y", "refs/heads/x[]-]y",
    "refs/heads/x[a-]y", "refs/heads/x[!a]y", "refs/heads/x[-a]y", "refs/heads/x[\\]]y", "refs/heads/x[\\!]y",
    "refs/heads/\\*", "refs/heads/\\A", "refs/heads/A\\", "refs/heads/x[[:x]y", "refs/heads/x[+-.]y", "refs/heads/??",
    "refs/heads/[\xc3]?", "refs[/]heads[/]A", "*a*a*a*a*a*b", "**/**/**", "refs/*-*/*", "refs/heads/x[z-a]y",
    "refs/heads/[B-]", "refs/heads/x[a-z-0]y", "refs/heads/x[[:punct:]]y", "refs/heads/[[:alpha:]-z]",
]  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepository, dict[str, str]]:
    """A repository with one commit for each name, and the commit of each name."""
    own = GitRepository.init(tmp_path_factory.mktemp("wildmatch") / "own.git")
    for name in NAMES[1:]:
        own.commit({"name": name}, reference=name)
    own.git("symbolic-ref", "HEAD", "refs/heads/none")
    own.commit({"name": "HEAD"}, reference="refs/heads/none")
    tip = own.git("rev-parse", "HEAD")
    own.git("update-ref", "-d", "refs/heads/none")
    own.git("update-ref", "--no-deref", "HEAD", tip)
    own.commit({"name": NAMES[0]}, reference=NAMES[0])
    return own, {name: own.git("rev-parse", name) for name in ("HEAD", *NAMES)}


@pytest.mark.oracle
@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_matches_as_in_git(pattern: str, repository: tuple[GitRepository, dict[str, str]]) -> None:
    own, commits = repository
    kept = set(own.git("rev-list", "--no-walk", f"--exclude={pattern}", "--all").split())
    is_excluded = excluded_by([pattern.encode()])
    ours = {name for name in commits if is_excluded(name.encode())}
    assert ours == {name for name, commit in commits.items() if commit not in kept}


@pytest.mark.oracle
def test_several_patterns_add_up(repository: tuple[GitRepository, dict[str, str]]) -> None:
    own, commits = repository
    patterns = ["refs/tags/*", "refs/heads/feature/*"]
    arguments = [f"--exclude={pattern}" for pattern in patterns]
    kept = set(own.git("rev-list", "--no-walk", *arguments, "--all").split())
    is_excluded = excluded_by(pattern.encode() for pattern in patterns)
    assert {name for name, commit in commits.items() if commit not in kept} == {
        name for name in commits if is_excluded(name.encode())
    }


@functools.cache
def recursive(pattern: bytes, name: bytes) -> bool:
    """Stars and question marks, the slow and obvious way."""
    if not pattern:
        return not name
    if pattern[:1] == b"*":
        return recursive(pattern[1:], name) or (bool(name) and recursive(pattern, name[1:]))
    return bool(name) and pattern[:1] in (b"?", name[:1]) and recursive(pattern[1:], name[1:])


@settings(max_examples=150, deadline=None, database=None)
@given(st.text("ab*?/", max_size=8), st.text("ab/", max_size=8))
def test_stars_need_no_more_than_the_last_one_tried_again(pattern: str, name: str) -> None:
    assert excluded_by([pattern.encode()])(name.encode()) == recursive(pattern.encode(), name.encode())


@pytest.mark.safety
@settings(max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=20), st.binary(max_size=20))
def test_any_bytes_match_or_do_not(pattern: bytes, name: bytes) -> None:
    assert excluded_by([pattern])(name) in {True, False}
    escaped = b"".join(b"\\" + bytes((byte,)) for byte in name)
    assert excluded_by([escaped])(name)


@pytest.mark.safety
def test_pattern_of_many_stars_takes_no_time() -> None:
    name = string.ascii_letters.encode() * 20
    assert not excluded_by([b"*a" * 100 + b"!"])(name)
