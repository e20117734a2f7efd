"""Who borrows from whom: tables of values, and alternates that git reads as well."""

import os
from pathlib import Path

import pytest

from gitdash.discovery.pools import PoolEntry, pool_graph
from gitdash.model.inspection import Alternate, AlternatesFacts, ObjectStore
from gitdash.model.repository import Role, StorageLayout, Unreadable
from tests.support.repositories import GitRepository

PLAIN, MEMBER, POOL = Role.PLAIN, Role.MEMBER, Role.POOL


def store(number: int) -> ObjectStore:
    return ObjectStore(path=b"/objects/%d" % number, device=1, inode=number)


def borrowed(number: int, depth: int = 1) -> Alternate:
    return Alternate(path=b"/seen/as/%d" % number, exists=True, depth=depth, device=1, inode=number)


MISSING = Alternate(path=b"/gone", exists=False, depth=1, problem="missing")


def entry(path: bytes, number: int | None, *alternates: Alternate, **more) -> PoolEntry:
    facts = AlternatesFacts(alternates=alternates, mtime_s=0.0) if alternates else None
    object_store = Unreadable("permission denied") if number is None else store(number)
    return PoolEntry(path=path, object_store=object_store, **({"alternates": facts} | more))


def test_repository_that_borrows_is_a_member_and_its_lender_a_pool() -> None:
    graph = pool_graph([entry(b"member", 1, borrowed(2)), entry(b"pool", 2), entry(b"other", 3)])
    assert (graph.roles(b"member"), graph.roles(b"pool"), graph.roles(b"other")) == ((MEMBER,), (POOL,), (PLAIN,))
    assert (graph.borrowers(b"pool"), graph.lenders(b"member")) == ((b"member",), (b"pool",))
    assert (graph.borrowers(b"member"), graph.lenders(b"pool")) == ((), ())


def test_repository_in_the_middle_of_a_chain_is_member_and_pool() -> None:
    graph = pool_graph(
        [entry(b"top", 1, borrowed(2), borrowed(3, depth=2)), entry(b"middle", 2, borrowed(3)), entry(b"bottom", 3)]
    )
    assert graph.roles(b"middle") == (MEMBER, POOL)
    assert graph.borrowers(b"bottom") == (b"middle", b"top")
    assert graph.lenders(b"top") == (b"middle", b"bottom")


def test_stores_that_borrow_from_each_other_lend_to_each_other_and_not_to_themselves() -> None:
    graph = pool_graph([entry(b"a", 1, borrowed(2), borrowed(1, depth=2)), entry(b"b", 2, borrowed(1))])
    assert (graph.borrowers(b"a"), graph.borrowers(b"b")) == ((b"b",), (b"a",))


def test_order_of_entries_does_not_matter() -> None:
    entries = [entry(b"m2", 1, borrowed(3)), entry(b"m1", 2, borrowed(3)), entry(b"pool", 3)]
    for graph in (pool_graph(entries), pool_graph(entries[::-1])):
        assert graph.borrowers(b"pool") == (b"m1", b"m2")


@pytest.mark.parametrize(
    "marks", [{"layout": StorageLayout.GITLAB_POOL}, {"has_dangling_namespace": True}], ids=["layout", "dangling"]
)
def test_marks_of_a_pool_make_a_pool_without_known_borrowers(marks) -> None:
    graph = pool_graph([entry(b"x", 1, **marks), entry(b"y", 2, borrowed(7), **marks)])
    assert (graph.roles(b"x"), graph.roles(b"y")) == ((POOL,), (MEMBER, POOL))


def test_hashed_storage_alone_is_plain() -> None:
    assert pool_graph([entry(b"x", 1, layout=StorageLayout.GITLAB_HASHED)]).roles(b"x") == (PLAIN,)


def test_alternates_file_without_entries_is_plain_and_an_unreadable_one_a_member() -> None:
    graph = pool_graph(
        [
            entry(b"empty", 1, alternates=AlternatesFacts(alternates=(), mtime_s=0.0, comment_count=3)),
            entry(b"unreadable", 2, alternates=Unreadable("a FIFO")),
        ]
    )
    assert (graph.roles(b"empty"), graph.roles(b"unreadable")) == ((PLAIN,), (MEMBER,))
    assert graph.lenders(b"unreadable") == ()


def test_missing_lender_makes_a_member_and_is_no_known_lender() -> None:
    graph = pool_graph([entry(b"x", 1, MISSING, borrowed(2)), entry(b"pool", 2)])
    assert graph.roles(b"x") == (MEMBER,)
    assert graph.lenders(b"x") == (b"pool",)


def test_lender_outside_the_roots_is_told_from_known_and_missing_ones() -> None:
    graph = pool_graph([entry(b"x", 1, MISSING, borrowed(2), borrowed(9)), entry(b"pool", 2)])
    assert graph.unknown_lenders(b"x") == (borrowed(9),)


def test_store_that_several_rows_share_counts_once_and_the_main_repository_stands_for_it() -> None:
    graph = pool_graph(
        [
            entry(b"a-linked", 1, is_linked_worktree=True),
            entry(b"main", 1),
            entry(b"z-linked", 1, is_linked_worktree=True),
            entry(b"other", 2),
        ]
    )
    assert [graph.counts_store(path) for path in (b"a-linked", b"main", b"z-linked", b"other")] == [
        False,
        True,
        False,
        True,
    ]


def test_linked_worktree_stands_for_a_store_whose_main_repository_is_unknown() -> None:
    graph = pool_graph([entry(b"b", 1, is_linked_worktree=True), entry(b"a", 1, is_linked_worktree=True)])
    assert (graph.counts_store(b"a"), graph.counts_store(b"b")) == (True, False)


def test_borrowing_store_is_listed_once_and_lends_to_all_its_rows() -> None:
    graph = pool_graph(
        [
            entry(b"member", 1, borrowed(2)),
            entry(b"member-linked", 1, borrowed(2), is_linked_worktree=True),
            entry(b"pool", 2),
            entry(b"pool-linked", 2, is_linked_worktree=True),
        ]
    )
    assert graph.borrowers(b"pool") == graph.borrowers(b"pool-linked") == (b"member",)
    assert graph.roles(b"pool-linked") == (POOL,)
    assert graph.lenders(b"member-linked") == (b"pool",)


def test_repository_whose_store_cannot_be_read_counts_itself_and_can_still_borrow() -> None:
    graph = pool_graph([entry(b"x", None, borrowed(2)), entry(b"y", None), entry(b"pool", 2)])
    assert graph.counts_store(b"x")
    assert graph.counts_store(b"y")
    assert (graph.roles(b"x"), graph.roles(b"y")) == ((MEMBER,), (PLAIN,))
    assert graph.borrowers(b"pool") == (b"x",)


def test_path_that_is_not_among_the_entries_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        pool_graph([]).roles(b"x")


def test_ten_thousand_members_of_one_pool_are_no_matter() -> None:
    members = [entry(b"%05d" % number, number, borrowed(0)) for number in range(1, 10_001)]
    graph = pool_graph([entry(b"pool", 0), *members])
    assert len(graph.borrowers(b"pool")) == 10_000
    assert all(graph.roles(member.path) == (MEMBER,) for member in members)


@pytest.mark.oracle
def test_lenders_are_told_apart_by_device_and_inode_as_git_reads_through_links(tmp_path: Path) -> None:
    pool = GitRepository.init(tmp_path / "pool.git")
    object_id = pool.blob(b"content")
    (tmp_path / "alias").symlink_to("pool.git")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(GitRepository(tmp_path / "alias"))
    assert member.git("cat-file", "-t", object_id) == "blob"

    def identity(path: Path) -> tuple[int, int]:
        status = path.stat()
        return status.st_dev, status.st_ino

    written = Path((member.path / "objects" / "info" / "alternates").read_text().strip())
    device, inode = identity(written)
    alternate = Alternate(path=os.fsencode(written), exists=True, depth=1, device=device, inode=inode)
    stores = [
        ObjectStore(path=os.fsencode(one.path / "objects"), device=number[0], inode=number[1])
        for one in (pool, member)
        for number in (identity(one.path / "objects"),)
    ]
    graph = pool_graph(
        [
            PoolEntry(path=b"pool", object_store=stores[0], alternates=None),
            PoolEntry(
                path=b"member",
                object_store=stores[1],
                alternates=AlternatesFacts(alternates=(alternate,), mtime_s=0.0),
            ),
        ]
    )
    assert graph.borrowers(b"pool") == (b"member",)


def test_borrowers_that_are_remembered_make_a_pool() -> None:
    entries = [entry(b"pool", 1), entry(b"seen", 2, borrowed(1)), entry(b"x", 3)]
    graph = pool_graph(entries, {(1, 1): [b"/z", b"/a"], (1, 9): [b"/b"]})
    assert graph.borrowers(b"pool") == (b"/a", b"/z", b"seen")
    assert graph.roles(b"pool") == (POOL,)
    assert graph.roles(b"x") == (PLAIN,)
    assert graph.lenders(b"seen") == (b"pool",)


def test_repository_stands_for_the_store_of_its_linked_worktrees() -> None:
    graph = pool_graph([entry(b"a", 1, is_linked_worktree=True), entry(b"b", 1), entry(b"c", None)])
    assert [graph.keeper(path) for path in (b"a", b"b", b"c")] == [b"b", b"b", b"c"]


def test_alternate_belongs_to_the_repository_that_stands_for_its_store() -> None:
    entries = [entry(b"pool", 2), entry(b"a-worktree", 2, is_linked_worktree=True), entry(b"member", 1, borrowed(2))]
    graph = pool_graph(entries)
    assert graph.repository_of(borrowed(2)) == b"pool"
    assert graph.repository_of(borrowed(9)) is None
    assert graph.repository_of(MISSING) is None


def test_a_store_in_the_folder_of_another_makes_that_one_a_lender() -> None:
    inner = Alternate(path=b"/objects/2/incoming-aBc012", exists=True, depth=1, device=1, inode=99)
    graph = pool_graph([entry(b"member", 1, inner), entry(b"outer", 2), entry(b"other", 3)])
    assert graph.borrowers(b"outer") == (b"member",)
    assert graph.roles(b"outer") == (POOL,)
    assert graph.borrowers(b"other") == ()
