"""Alternates are followed as git follows them."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from gitdash.inspection.alternates import stores_behind_link
from gitdash.model.inspection import Alternate, AlternatesFacts
from gitdash.model.repository import Unreadable
from gitdash.survey.alternates import lender_problem
from tests.inspection.conftest import Inspect
from tests.inspection.oracle import alternate_paths
from tests.support.repositories import GitRepository
from tests.support.unprivileged import unprivileged


def alternates_of(inspect: Inspect, repository: GitRepository) -> tuple[Alternate, ...]:
    alternates = inspect(repository).alternates
    assert isinstance(alternates, AlternatesFacts)
    return alternates.alternates


def usable_paths(inspect: Inspect, repository: GitRepository) -> list[str]:
    return [os.fsdecode(alternate.path) for alternate in alternates_of(inspect, repository) if not alternate.problem]


def write_alternates(repository: GitRepository, content: bytes) -> None:
    path = repository.git_dir / "objects" / "info" / "alternates"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


@pytest.fixture
def stores(tmp_path: Path) -> list[GitRepository]:
    """Nine empty repositories."""
    return [GitRepository.init(tmp_path / f"s{number}.git") for number in range(9)]


def test_no_file_is_none_and_an_empty_file_has_no_alternates(stores: list[GitRepository], inspect: Inspect) -> None:
    assert inspect(stores[0]).alternates is None
    write_alternates(stores[0], b"")
    assert alternates_of(inspect, stores[0]) == ()


@pytest.mark.oracle
def test_absolute_relative_quoted_and_commented_entries_are_read_as_by_git(
    stores: list[GitRepository], inspect: Inspect
) -> None:
    member, one, two, three = stores[:4]
    lines = [
        os.fsencode(one.git_dir / "objects"),
        b"# a comment",
        b"",
        b"../../s2.git/objects/",
        b'"' + os.fsencode(three.git_dir / "objects").replace(b"s3", b"\\1633") + b'"',
    ]
    write_alternates(member, b"\n".join(lines))
    alternates = inspect(member).alternates
    assert isinstance(alternates, AlternatesFacts)
    assert usable_paths(inspect, member) == alternate_paths(member)
    assert usable_paths(inspect, member) == [os.fspath(store.git_dir / "objects") for store in (one, two, three)]
    assert alternates.comment_count == 1
    assert alternates.mtime_s == (member.git_dir / "objects" / "info" / "alternates").stat().st_mtime
    for alternate, store in zip(alternates.alternates, (one, two, three), strict=True):
        found = (store.git_dir / "objects").stat()
        assert (alternate.exists, alternate.depth) == (True, 1)
        assert (alternate.device, alternate.inode) == (found.st_dev, found.st_ino)


@pytest.mark.oracle
def test_a_chain_is_followed_exactly_as_deep_as_git_follows_it(stores: list[GitRepository], inspect: Inspect) -> None:
    for borrower, lender in pairwise(stores):
        borrower.borrow_from(lender, relative=True)
    for start in (0, 1, 2, 3):
        assert usable_paths(inspect, stores[start]) == alternate_paths(stores[start])
    too_deep = [alternate for alternate in alternates_of(inspect, stores[0]) if alternate.problem]
    assert [alternate.depth for alternate in too_deep] == [len(alternate_paths(stores[0])) + 1]
    assert "nested too deep" in (too_deep[0].problem or "")


@pytest.mark.oracle
def test_cycles_duplicates_and_the_store_itself_are_dropped(stores: list[GitRepository], inspect: Inspect) -> None:
    one, two, three = stores[:3]
    one.borrow_from(one)
    one.borrow_from(two)
    one.borrow_from(two, relative=True)
    one.borrow_from(three)
    two.borrow_from(three)
    three.borrow_from(one)
    for store in (one, two, three):
        assert usable_paths(inspect, store) == alternate_paths(store)
    assert [alternate.depth for alternate in alternates_of(inspect, one)] == [1, 2]


@pytest.mark.oracle
def test_a_relative_entry_of_a_lender_is_relative_to_the_lender(tmp_path: Path, inspect: Inspect) -> None:
    member = GitRepository.init(tmp_path / "member.git")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    lender = GitRepository.init(tmp_path / "deep" / "er" / "lender.git")
    far = GitRepository.init(tmp_path / "deep" / "far.git")
    lender.borrow_from(far, relative=True)
    member.borrow_from(lender)
    assert usable_paths(inspect, member) == alternate_paths(member)
    assert usable_paths(inspect, member)[1] == os.fspath(far.git_dir / "objects")


def test_what_git_cannot_use_is_a_problem_of_the_entry(stores: list[GitRepository], inspect: Inspect) -> None:
    member, lender = stores[:2]
    write_alternates(
        member,
        b"/nonexistent/objects\n"
        + os.fsencode(lender.git_dir / "HEAD")
        + b"\n"
        + os.fsencode(lender.git_dir / "objects")
        + b"\r\n",
    )
    assert [(entry.exists, entry.problem, entry.inode is None) for entry in alternates_of(inspect, member)] == [
        (False, "missing", True),
        (True, "not a directory", False),
        (False, "missing", True),
    ]
    assert alternate_paths(member) == []


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["fifo", "link to a device", "folder", "nul"])
def test_an_unreadable_alternates_file_is_neither_absent_nor_empty(
    stores: list[GitRepository], inspect: Inspect, kind: str
) -> None:
    path = stores[0].git_dir / "objects" / "info" / "alternates"
    path.parent.mkdir(exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "nul":
        path.write_bytes(b"/a\0b\n")
    else:
        path.symlink_to("/dev/zero")
    inspection = inspect(stores[0])
    assert isinstance(inspection.alternates, Unreadable)
    assert not isinstance(inspection.packs, Unreadable)


@pytest.mark.safety
def test_an_unreadable_alternates_file_of_a_lender_is_a_problem(stores: list[GitRepository], inspect: Inspect) -> None:
    member, lender = stores[:2]
    member.borrow_from(lender)
    (lender.git_dir / "objects" / "info").mkdir(exist_ok=True)
    os.mkfifo(lender.git_dir / "objects" / "info" / "alternates")
    inspection = inspect(member)
    assert usable_paths(inspect, member) == [os.fspath(lender.git_dir / "objects")]
    (problem,) = inspection.problems
    assert problem.path == os.fspath(lender.git_dir / "objects" / "info" / "alternates")
    assert problem.reason == "a FIFO, not a regular file"


@pytest.mark.safety
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("fifo", "a FIFO, not a regular file"),
        ("link", "a symbolic link, not a regular file"),
        ("closed", "permission denied"),
        ("large", f"{(4 << 20) + 1} bytes are too many to read, the limit is {4 << 20}"),
        ("nul", "alternates hold a NUL (at byte 2)"),
    ],
)
def test_a_lender_whose_own_lenders_are_unknown_leaves_the_list_incomplete(
    stores: list[GitRepository], inspect: Inspect, kind: str, reason: str
) -> None:
    if kind == "closed" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    member, lender, far = stores[:3]
    member.borrow_from(lender)
    complete = inspect(member)
    assert isinstance(complete.alternates, AlternatesFacts)
    assert complete.alternates.incomplete is None
    assert lender_problem(complete) is None
    path = lender.git_dir / "objects" / "info" / "alternates"
    path.parent.mkdir(exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        write_alternates(far, b"/nonexistent/objects\n")
        path.symlink_to(far.git_dir / "objects" / "info" / "alternates")
    elif kind == "closed":
        path.touch(mode=0)
    elif kind == "large":
        path.touch()
        os.truncate(path, (4 << 20) + 1)
    else:
        path.write_bytes(b"/a\0b\n")
    inspection = inspect(member)
    assert isinstance(inspection.alternates, AlternatesFacts)
    assert inspection.alternates.incomplete == f"{path}: {reason}"
    assert inspection.fingerprint != complete.fingerprint
    problem = lender_problem(inspection)
    assert problem is not None
    assert problem.reason == f"not all lenders are known: {path}: {reason}"


@pytest.mark.safety
def test_a_hundred_thousand_entries_are_cut_at_a_thousand(stores: list[GitRepository], inspect: Inspect) -> None:
    write_alternates(stores[0], b"".join(b"/n/%d\n" % number for number in range(100_000)))
    assert len(alternates_of(inspect, stores[0])) == 1000
    assert inspect(stores[0]).problems[0].reason == "stopped after 1000 alternates"


@pytest.mark.safety
def test_lenders_beyond_the_thousandth_are_unknown(tmp_path: Path, inspect: Inspect) -> None:
    member = GitRepository.init(tmp_path / "member.git")
    for number in range(1001):
        (tmp_path / "stores" / str(number)).mkdir(parents=True)
    paths = [os.fsencode(tmp_path / "stores" / str(number)) for number in range(1001)]
    write_alternates(member, b"\n".join(paths[:1000]) + b"\n")
    assert lender_problem(inspect(member)) is None
    write_alternates(member, b"\n".join(paths) + b"\n")
    problem = lender_problem(inspect(member))
    assert problem is not None
    assert problem.reason == "not all lenders are known: objects/info/alternates: stopped after 1000 alternates"


def test_the_fingerprint_changes_when_a_lender_comes_or_goes(
    stores: list[GitRepository], inspect: Inspect, tmp_path: Path
) -> None:
    member, lender = stores[:2]
    member.borrow_from(lender)
    before = inspect(member).fingerprint
    assert inspect(member).fingerprint == before
    lender.path.rename(tmp_path / "moved.git")
    gone = inspect(member)
    assert gone.fingerprint != before
    assert isinstance(gone.alternates, AlternatesFacts)
    assert gone.alternates.alternates[0].problem == "missing"
    (tmp_path / "moved.git").rename(lender.path)
    assert inspect(member).fingerprint == before


@pytest.mark.safety
@pytest.mark.parametrize("target", ["nowhere", "info"])
def test_folder_of_alternates_behind_a_link_to_nothing_is_not_none(
    stores: list[GitRepository], inspect: Inspect, target: str
) -> None:
    info = stores[0].git_dir / "objects" / "info"
    info.rename(info.with_name("aside"))
    info.symlink_to(target)
    assert isinstance(inspect(stores[0]).alternates, Unreadable)


@pytest.mark.safety
def test_folder_of_alternates_that_cannot_be_searched_is_not_none(inspect: Inspect) -> None:
    with unprivileged() as folder:
        repository = GitRepository.init(folder / "closed.git")
        info = repository.git_dir / "objects" / "info"
        info.chmod(0)
        try:
            assert inspect(repository).alternates == Unreadable("permission denied")
        finally:
            info.chmod(0o700)


@pytest.mark.safety
def test_behind_a_linked_alternates_file_only_folders_that_are_there_come_out(stores: list[GitRepository]) -> None:
    lender, member = stores[:2]
    secret = member.path.parent / "secret"
    secret.write_text(f"password\n{lender.git_dir / 'objects'}\n{lender.git_dir / 'HEAD'}\n")
    objects = os.fsencode(member.git_dir / "objects")
    assert stores_behind_link(objects) == ()
    (member.git_dir / "objects" / "info" / "alternates").symlink_to(secret)
    assert [store.path for store in stores_behind_link(objects)] == [os.fsencode(lender.git_dir / "objects")]
