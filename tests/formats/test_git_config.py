"""The syntax of config files."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.git_config import ConfigEntry, read_config
from gitdash.formats.reading import FormatError
from tests.formats.hostile import HOSTILE, is_refused, lengths_where_a_cut_goes_unseen, mutations
from tests.support.repositories import GIT, clean_environment, git_version
from tests.support.speed import cpu_s

KEEPS_INNER_WHITE_SPACE = git_version() >= (2, 45)
CONFIG = b"""\
\xef\xbb\xbf# written by hand
[core]
\tbare = true ; inline
\trepositoryformatversion = 1
[remote "Origin \\"x\\""]
\turl = "https://example.com/a;b#c"
\tfetch = +refs/heads/*:\\
refs/remotes/origin/*
[Branch.Main] remote = origin
\tflag
"""


def entries_of_git(path, data: bytes) -> list[tuple[bytes, bytes | None]] | None:
    """What `git config --list -z` prints: canonical keys and values; None if git refuses the file."""
    path.write_bytes(data)
    command = [GIT, "config", "--file", path, "--no-includes", "--list", "-z"]
    finished = subprocess.run(command, capture_output=True, check=False, env=clean_environment())
    if finished.returncode:
        assert b"bad config" in finished.stderr, finished.stderr
        return None
    pairs = [record.split(b"\n", 1) for record in finished.stdout.split(b"\0")[:-1]]
    return [(pair[0], pair[1] if len(pair) == 2 else None) for pair in pairs]


def canonical(entries: tuple[ConfigEntry, ...]) -> list[tuple[bytes, bytes | None]]:
    """The same form from what the reader returns."""
    return [(canonical_key(entry), entry.value) for entry in entries]


def canonical_key(entry: ConfigEntry) -> bytes:
    if not entry.section and entry.subsection is None:
        return entry.name.encode()  # before the first header
    subsection = () if entry.subsection is None else (entry.subsection,)
    return b".".join((entry.section.encode(), *subsection, entry.name.encode()))


@pytest.fixture(scope="module")
def config_path(tmp_path_factory):
    return tmp_path_factory.mktemp("config") / "config"


@pytest.mark.oracle
def test_the_config_of_a_repository_reads_as_git_lists_it(rewritable):
    rewritable.git("remote", "add", "origin", "https://user@example.com/x.git")
    rewritable.git("config", "branch.main.description", 'two\nlines, "quotes", \\ and # ; \t end ')
    rewritable.git("config", "--add", "Remote.origin.Fetch", "+refs/heads/*:refs/heads/*")
    data = (rewritable.repository.git_dir / "config").read_bytes()
    entries = rewritable.repository.git_bytes("config", "--list", "-z", "--show-origin", "--local").split(b"\0")[:-1]
    expected = [tuple(record.split(b"\n", 1)) for record in entries[1::2]]
    assert canonical(read_config(data)) == expected


@pytest.mark.oracle
@pytest.mark.parametrize(
    "data",
    [
        CONFIG,
        b"",
        b"\xef\xbb\xbf[a]b=c",
        b"\xef\xbb[a]b=c",
        b"[a]\n[b]\n",
        b"[a]b",
        b"[a] b \n",
        b"[a]b=",
        b"[a]b=\n",
        b'[a]b=""\n',
        b"[a]b = c # d\n",
        b"[a]b # c\n",
        b"[a]b ; c\n",
        b"[a]b c\n",
        b"[a]b = c\\\nd\n",
        b"[a]b = c \\\n  d\n",
        b"[a]b = c\\\r\nd\r\n",
        b"[a]b = c\\",
        b"[a]b = c # d\\\ne = f\n",
        b'[a]b = "c\n',
        b'[a]b = "c',
        b'[a]b = "c\\\nd"\n',
        b'[a]b = c "d  " e  \n',
        b'[a]b = "  " c\n',
        b'[a]b = "" c\n',
        b'[a]b = c ""\n',
        b'[a]b = c";#"d\n',
        b'[a]b = \\n\\t\\b\\\\\\"x\n',
        b"[a]b = \\x\n",
        b"[a]b = \\\n",
        b"[a]\r\nb = c\r\nd\r\n",
        b"[a]b = c\rd\n" if KEEPS_INNER_WHITE_SPACE else b"",
        b"[a]b\r",
        b"[a]b = c\r",
        b"[a]b = \rc",
        b"[A.B.C]D=e\n",
        b'[A "B.C"]D=e\n',
        b'[A.B "C"]D=e\n',
        b'[A "\\"\\\\\\x"]d=e\n',
        b'[A ""]d=e\n',
        b'[A\t"b"]d=e\n',
        b'[A "b" ]d=e\n',
        b'[A"b"]d=e\n',
        b'[ "b"]d=e\n',
        b'[A "b\n"]d=e\n',
        b'[A "b\\\n"]d=e\n',
        b'[A "b\r"]d=e\n',
        b"[A b]d=e\n",
        b"[]d=e\n",
        b"[.]d=e\n",
        b"[a.]d=e\n",
        b"[.a]d=e\n",
        b"[a_b]d=e\n",
        b"[a]d=e[b]\n",
        b"[a]d_e=f\n",
        b"[a]1d=e\n",
        b"[a]-d=e\n",
        b"[a]d-1=e\n",
        b"[a\n",
        b"[a",
        b"key = before the first header\n[a]b=c\n",
        b"[a][b]c=d\n",
        b"[a];comment\nb=c\n",
        b"[a]b==c\n",
        b"[a]b=c\0d\n[e]f=g\n",
        b'[a]b="c\0d"\n',
        b"[a]b\0=c\n",
        b"[a\0]b=c\n",
        b"#\0\n[a]b=c\n",
        b"\0",
        b"[a]b=\xff\xfe\n",
        b"[\xc3\xa9]b=c\n",
        b"<<<<<<< conflict\n[a]b=c\n",
        b"[a]b = c \t d\n" if KEEPS_INNER_WHITE_SPACE else b"",
        b"[a]\x0bb = c\n",
        b"[a]b = \x0bc\x0c\n",
    ],
)
def test_a_file_reads_as_git_lists_it_and_is_refused_if_git_refuses_it(config_path, data):
    expected = entries_of_git(config_path, data)
    if expected is None:
        assert is_refused(read_config, data)
    else:
        assert canonical(read_config(data)) == expected


PIECES = (
    *("[a]", '[A "b"]', "[a.B]", "[a", "]", "key", "K-1", "=", " = ", " ", "\n", "\n", "\r\n", "\\", '"', "\\n"),
    *('\\"', "\\\n", "#", ";", "value", "x  y", "1", '"', "[", ".", "\r", "é"),
)


@pytest.mark.oracle
@HOSTILE
@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join), st.booleans())
def test_files_from_pieces_read_as_git_lists_them(config_path, text, starts_with_section):
    if not KEEPS_INNER_WHITE_SPACE:
        text = text.replace("\r", "")
    data = (b"[s]\nk = " if starts_with_section else b"") + text.encode()
    expected = entries_of_git(config_path, data)
    if expected is None:
        assert is_refused(read_config, data)
    else:
        assert canonical(read_config(data)) == expected


def test_entries_say_section_subsection_name_value_and_line():
    entries = [(e.section, e.subsection, e.name, e.value, e.line) for e in read_config(CONFIG)]
    assert entries == [
        ("core", None, "bare", b"true", 3),
        ("core", None, "repositoryformatversion", b"1", 4),
        ("remote", b'Origin "x"', "url", b"https://example.com/a;b#c", 6),
        ("remote", b'Origin "x"', "fetch", b"+refs/heads/*:refs/remotes/origin/*", 7),
        ("branch", b"main", "remote", b"origin", 9),
        ("branch", b"main", "flag", None, 10),
    ]


@pytest.mark.safety
@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"[core]\nbare true\n", 7),
        (b"[core]\n\n[bad section]\n", 8),
        (b"[core]\nx = a\\q\n", 12),
        (b'[core]\nx = "a\n', 13),
        (b'[core]\nx = "a', 13),
        (b"\xef\xbb[core]", 0),
        (b'[a "b\0"]c=d', 0),
    ],
)
def test_a_broken_line_is_refused_at_its_offset(data, offset):
    with pytest.raises(FormatError) as caught:
        read_config(data)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[core]\nbare true\n", "line 2 is no key"),
        (b"[core]\n\n[bad section]\n", "line 3 is no section header"),
        (b"[core]\nx = a\\q\n", "line 2 has a bad value"),
        (b'[core]\nx = "a\\\nb\\q"\n', "line 3 has a bad value"),
        (b"machine host login bob password secret\n", "line 1 is no key"),
    ],
)
def test_a_broken_line_is_refused_by_its_number(data, message):
    with pytest.raises(FormatError) as caught:
        read_config(data)
    assert caught.value.message == message


@pytest.mark.safety
def test_a_cut_is_seen_only_inside_a_mark_a_header_or_quotes():
    seen = set(range(len(CONFIG))) - set(lengths_where_a_cut_goes_unseen(read_config, CONFIG))
    # a config has neither count nor checksum: a cut elsewhere leaves a shorter file that is as valid
    inside = [set(range(1, 3))]
    for piece in (b"[core", b'[remote "Origin \\"x\\""', b"[Branch.Main", b'"https://example.com/a;b#c'):
        start = CONFIG.index(piece)
        inside.append(set(range(start + 1, start + len(piece) + 1)))
    assert seen == set().union(*inside)


@pytest.mark.safety
@pytest.mark.parametrize("piece", [b"\\\n", b'""', b" ", b"\\n", b"#", b"[a]", b"x\n", b'"a" ', b"\n", b"\r"])
def test_time_is_linear_in_the_size(piece):
    few, many = (b"[a]\nx = " + piece * (size_bytes // len(piece)) for size_bytes in (25_000, 200_000))
    is_refused(read_config, few)
    few_s = cpu_s(lambda: is_refused(read_config, few))
    # in proportion it is 8 times as long, in proportion to the square 64 times
    assert cpu_s(lambda: is_refused(read_config, many), runs=1) < 24 * few_s + 0.02


@pytest.mark.safety
@HOSTILE
@given(st.one_of(st.binary(max_size=60), mutations(CONFIG)))
def test_any_bytes_give_a_value_or_a_format_error(data):
    is_refused(read_config, data)
