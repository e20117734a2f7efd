"""Patterns match as git says: by `rev-list --exclude=<pattern> --all`, and by conditions on a path in a config."""

import functools
import os
import random
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.formats.wildmatch import wildmatch
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
    is_like = wildmatch(pattern.encode())
    ours = {name for name in commits if is_like(name.encode())}
    assert ours == {name for name, commit in commits.items() if commit not in kept}


PATH = "a/Bc/x-y/[z"
PIECES = [
    "a", "B", "c", "x", "y", "z", "Bc", "x-y", "-", "/", "/", "*", "*", "**", "**/", "/**/", "***", "?",
    "\\", "\\[", "\\/",
    "[ab]", "[!/]", "[/]", "[A-Z]", "[a-z]", "[[:upper:]]", "[[:lower:]]", "[]-]", "[^x]", "[B]", "[b]",
    "[", "[c-", "[z", "[[:alpha:]",
]  # fmt: skip
FOLDER_PATTERNS = [
    "/**/z", "/**/[z", "/**/\\[z", "/**/B[c]/**", "/**/[b]c/**", "/**/[A-B]c/**", "/**/[[:upper:]]c/**",
    "/**/a/*/x?y/**",
    "/**/a/**/?z", "/**/a**/?z", "/**/Bc**x-y/?z", "/**/Bc/**x-y/?z", "/**/Bc/x-y**/?z", "/**/x-y/**/?z",
    "/**/x-y/**\\/?z",
    "/**/Bc?x-y/?z", "/**/Bc[/]x-y/?z", "/**/Bc[!a]x-y/?z", "/**/**/?z", "/**/[", "/**", "/*", "**", "/**/*", "/**/*z*",
]  # fmt: skip


def patterns_like_the_path(count: int) -> list[str]:
    """What is nearly the path, with pieces of patterns in it, and what is made of such pieces alone."""
    chance = random.Random(7)
    patterns = []
    for _ in range(count):
        near = list(PATH)
        for _ in range(chance.randint(1, 4)):
            near[chance.randrange(len(near))] = chance.choice(PIECES)
        far = chance.choices(PIECES, k=chance.randint(1, 9))
        patterns += ["/**/" + "".join(near), "/**/" + "".join(far)]
    return patterns


@pytest.mark.oracle
@pytest.mark.parametrize(("keyword", "ignore_case"), [("gitdir", False), ("gitdir/i", True)])
def test_pattern_of_a_path_matches_as_in_git(keyword: str, ignore_case: bool, tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / PATH)
    patterns = [*FOLDER_PATTERNS, *patterns_like_the_path(400)]
    with (own.git_dir / "config").open("a") as config:
        for number, pattern in enumerate(patterns):
            (own.git_dir / f"{number}.inc").write_text(f"[matched]\nnumber={number}\n")
            escaped = pattern.replace("\\", "\\\\")
            config.write(f'[includeIf "{keyword}:{escaped}"]\npath={number}.inc\n')
    by_git = own.git("--git-dir", own.git_dir, "config", "--includes", "--get-all", "matched.number").split()
    path = os.fsencode(own.git_dir)
    # git takes a pattern that ends with a slash for all that is below
    matches = [
        wildmatch((pattern + "**" * pattern.endswith("/")).encode(), is_pathname=True, ignore_case=ignore_case)(path)
        for pattern in patterns
    ]
    assert {patterns[int(number)] for number in by_git} == {
        pattern for pattern, is_like in zip(patterns, matches, strict=True) if is_like
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
def test_stars_match_as_the_slow_way_does(pattern: str, name: str) -> None:
    assert wildmatch(pattern.encode())(name.encode()) == recursive(pattern.encode(), name.encode())


@pytest.mark.safety
@settings(max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=20), st.binary(max_size=20))
def test_any_bytes_match_or_do_not(pattern: bytes, name: bytes) -> None:
    assert wildmatch(pattern)(name) in {True, False}
    escaped = b"".join(b"\\" + bytes((byte,)) for byte in name)
    assert wildmatch(escaped)(name)


@pytest.mark.safety
@pytest.mark.parametrize("is_pathname", [False, True])
@pytest.mark.parametrize("piece", ["*a", "**/a", "[!/]*", "?*"])
def test_pattern_of_many_stars_takes_no_time(piece: str, is_pathname: bool) -> None:
    name = string.ascii_letters.encode() * 20
    assert not wildmatch(piece.encode() * 500 + b"!", is_pathname=is_pathname)(name)
