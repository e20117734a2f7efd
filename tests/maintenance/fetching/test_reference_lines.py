"""Lines that git 2.39.5 printed with `core.abbrev=no`, and 2.55.0 with `--porcelain`."""

import pytest

from gitdash.maintenance.fetching.reference_lines import read_plain, read_porcelain
from gitdash.model.ledger import ReferenceChange

A, B, ZERO = "a" * 40, "b" * 40, "0" * 40
TRACKING = ["+refs/heads/*:refs/remotes/origin/*"]
MIRROR = ["+refs/*:refs/*"]


@pytest.mark.parametrize(
    ("line", "refspecs", "expected"),
    [
        (f"   {A}..{B}  main       -> origin/main", TRACKING, ("refs/remotes/origin/main", "updated", A, B)),
        (
            f" + {A}...{B} main       -> origin/main  (forced update)",
            TRACKING,
            ("refs/remotes/origin/main", "forced", A, B),
        ),
        (" * [new branch]      new/x      -> origin/new/x", TRACKING, ("refs/remotes/origin/new/x", "new", None, None)),
        (" * [new tag]         v2         -> v2", TRACKING, ("refs/tags/v2", "new", None, None)),
        (" * [new branch]      main       -> main", MIRROR, ("refs/heads/main", "new", None, None)),
        (" * [new tag]         main       -> main", MIRROR, ("refs/tags/main", "new", None, None)),
        (" * [new ref]         refs/x/y   -> refs/x/y", MIRROR, ("refs/x/y", "new", None, None)),
        (" t [tag update]      v1         -> v1", MIRROR, ("refs/tags/v1", "tag", None, None)),
        (
            " ! [rejected]        main       -> origin/main  (non-fast-forward)",
            TRACKING,
            ("refs/remotes/origin/main", "rejected", None, None),
        ),
        (
            " - [deleted]         (none)     -> origin/gone",
            TRACKING,
            ("refs/remotes/origin/gone", "pruned", None, None),
        ),
    ],
)
def test_plain_line_is_read_and_its_name_made_whole(
    line: str, refspecs: list[str], expected: tuple[str, str, str | None, str | None]
) -> None:
    name, kind, old, new = expected
    change = read_plain(line, refspecs, {"refs/remotes/origin/gone"})
    assert change == ReferenceChange(name=name, kind=kind, old=old, new=new)


@pytest.mark.parametrize(
    "line",
    ["", "From /srv/x", " = [up to date]      main       -> origin/main", "remote:  * [new tag] x -> x", " * x -> y"],
)
def test_other_lines_tell_no_change(line: str) -> None:
    assert read_plain(line, TRACKING, ()) is None


def test_porcelain_lines_are_read() -> None:
    said = (
        f"  {A} {B} refs/remotes/origin/main\n+ {A} {B} refs/x\n* {ZERO} {A} refs/tags/v1\n"
        f"- {A} {ZERO} refs/remotes/origin/gone\nt {A} {B} refs/tags/v2\n! {A} {B} refs/y\n= {A} {A} refs/z\nnoise\n"
    )
    assert [(change.name, change.kind, change.old, change.new) for change in read_porcelain(said)] == [
        ("refs/remotes/origin/main", "updated", A, B),
        ("refs/x", "forced", A, B),
        ("refs/tags/v1", "new", None, A),
        ("refs/remotes/origin/gone", "pruned", A, None),
        ("refs/tags/v2", "tag", A, B),
        ("refs/y", "rejected", A, B),
    ]
