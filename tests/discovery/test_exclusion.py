"""Which folders patterns exclude."""

import pytest

from gitdash.discovery.exclusion import Exclusion

ROOT = b"/srv/git"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("node_modules", b"/srv/git/a/node_modules", True),
        ("node_modules", b"/srv/git/a/node_modules2", False),
        ("node_modules/", b"/srv/git/a/node_modules", True),
        ("*.tmp", b"/srv/git/x.tmp", True),
        ("*.TMP", b"/srv/git/x.tmp", False),
        ("[ab]?", b"/srv/git/b1", True),
        ("[!ab]?", b"/srv/git/b1", False),
        ("a/b", b"/srv/git/a/b", True),
        ("a/b", b"/srv/git/a/b/c", False),
        ("a/b", b"/srv/git/x/a/b", False),
        ("a/*", b"/srv/git/a/b", True),
        ("a/*", b"/srv/git/a/b/c", False),
        ("a/*/c", b"/srv/git/a/b/c", True),
        ("a/**", b"/srv/git/a/b/c", True),
        ("a/**/c", b"/srv/git/a/c", True),
        ("a/**/c", b"/srv/git/a/b/b/c", True),
        ("a/**/c", b"/srv/git/a/b/b/d", False),
        ("**/c", b"/srv/git/c", True),
        ("**/b/c", b"/srv/git/a/b/c", True),
        ("/srv/git/a", b"/srv/git/a", True),
        ("/srv/git/a", b"/srv/git/b", False),
        ("/a", b"/srv/git/a", False),
        ("/srv/**/a", b"/srv/git/b/a", True),
        ("*", b"/srv/git/a", True),
        ("/", b"/srv/git/a", False),
        ("", b"/srv/git/a", False),
        ("b\u00e4r", "/srv/git/b\u00e4r".encode(), True),
        ("b\udcffr", b"/srv/git/b\xffr", True),
        ("new\nline", b"/srv/git/new\nline", True),
        ("*", b"/srv/git/new\nline", True),
        ("a[", b"/srv/git/a[", True),
    ],
)
def test_pattern_covers_the_folder_or_not(pattern: str, path: bytes, expected: bool) -> None:
    assert Exclusion([pattern]).covers(path, path.rpartition(b"/")[2], ROOT) is expected


def test_any_of_several_patterns_is_enough() -> None:
    exclusion = Exclusion(["x", "a*", "b/c", "/srv/git/d"])
    covered = [name for name in (b"x", b"ab", b"b", b"c", b"d") if exclusion.covers(ROOT + b"/" + name, name, ROOT)]
    assert covered == [b"x", b"ab", b"d"]


def test_no_pattern_covers_nothing() -> None:
    assert not Exclusion([]).covers(b"/srv/git/a", b"a", ROOT)


def test_path_pattern_is_relative_to_the_root_even_if_that_is_the_top_folder() -> None:
    assert Exclusion(["a/b"]).covers(b"/a/b", b"b", b"/")


def test_many_stars_take_no_time() -> None:
    pattern = "/".join(["**"] * 200) + "/x"
    path = b"/srv/git/" + b"/".join([b"a"] * 500)
    assert not Exclusion([pattern]).covers(path, b"a", ROOT)
