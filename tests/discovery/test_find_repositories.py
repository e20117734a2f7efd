"""Which repositories are found below roots, and as what."""

import itertools
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from gitdash.discovery.roots import DiscoveryLimits, RootError, discover
from gitdash.inspection.files import read_file
from gitdash.model.repository import NotRepository, Repository, RepositoryKind, StorageLayout
from tests.support.repositories import GitRepository, git_version

BARE, WORKTREE = RepositoryKind.BARE, RepositoryKind.WORKTREE
LINKED, SUBMODULE = RepositoryKind.LINKED_WORKTREE, RepositoryKind.SUBMODULE


def search(*roots: Path | bytes, limits: DiscoveryLimits | None = None, **more):
    """All results, in order."""
    return list(
        discover(
            [os.fsencode(root) for root in roots],
            limits or DiscoveryLimits(),
            read=read_file,
            effective_uid=more.pop("effective_uid", os.geteuid()),
            **more,
        )
    )


def found(*roots: Path, limits: DiscoveryLimits | None = None) -> list[tuple[str, RepositoryKind]]:
    """Path below the first root and kind of each result; a result that is no repository fails the test."""
    results = search(*roots, limits=limits)
    assert [result for result in results if isinstance(result, NotRepository)] == []
    return [(os.path.relpath(os.fsdecode(result.path), roots[0]), result.kind) for result in results]


def add_submodule(super_repository: GitRepository, source: GitRepository, path: str) -> None:
    super_repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source.path), path)


@pytest.fixture
def source(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    repository = GitRepository.init(tmp_path_factory.mktemp("source") / "source.git")
    repository.commit({"file": "content"})
    return repository


def test_bare_repositories_and_work_trees_are_found_in_the_order_of_names(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "c.git")
    GitRepository.init(tmp_path / "a" / "work", bare=False)
    GitRepository.init(tmp_path / "b" / "no-suffix")
    assert found(tmp_path) == [("a/work", WORKTREE), ("b/no-suffix", BARE), ("c.git", BARE)]


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_object_format_does_not_matter(tmp_path: Path, object_format: str) -> None:
    repository = GitRepository.init(tmp_path / "x.git", object_format=object_format)
    repository.commit({"file": "content"})
    repository.git("update-ref", "--no-deref", "HEAD", "main")
    assert found(tmp_path) == [("x.git", BARE)]


@pytest.mark.skipif(git_version() < (2, 45), reason="reftable needs git 2.45")
def test_repository_with_reftable_is_found(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "x.git", reference_backend="reftable")
    GitRepository.init(tmp_path / "work", bare=False, reference_backend="reftable")
    assert found(tmp_path) == [("work", WORKTREE), ("x.git", BARE)]


def test_head_that_only_reftable_has_is_a_head(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    (repository.path / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert found(tmp_path) == [("x.git", BARE)]


def test_head_may_be_a_symbolic_link_into_refs(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    (repository.path / "HEAD").unlink()
    (repository.path / "HEAD").symlink_to("refs/heads/main")
    assert found(tmp_path) == [("x.git", BARE)]


def test_work_tree_row_has_the_directories_of_git(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "work", bare=False)
    (result,) = search(tmp_path)
    assert isinstance(result, Repository)
    assert (result.path, result.git_dir, result.common_dir, result.root) == (
        os.fsencode(repository.path),
        os.fsencode(repository.path / ".git"),
        os.fsencode(repository.path / ".git"),
        os.fsencode(tmp_path),
    )


@pytest.mark.oracle
def test_linked_worktree_has_its_own_git_directory_and_the_main_ones_objects(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"file": "content"})
    main.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), "main")
    linked, first = search(tmp_path)
    assert isinstance(linked, Repository)
    assert isinstance(first, Repository)
    tree = GitRepository(tmp_path / "linked")
    assert (linked.path, linked.kind) == (os.fsencode(tmp_path / "linked"), LINKED)
    assert linked.git_dir == os.fsencode(tree.git("rev-parse", "--absolute-git-dir"))
    assert linked.common_dir == os.fsencode(tree.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
    assert (first.path, first.kind, first.common_dir) == (os.fsencode(main.path), WORKTREE, linked.common_dir)


@pytest.mark.skipif(git_version() < (2, 48), reason="relative worktree links need git 2.48")
def test_linked_worktree_with_relative_paths_is_found(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"file": "content"})
    main.git("worktree", "add", "--quiet", "--relative-paths", "--detach", str(tmp_path / "linked"), "main")
    assert found(tmp_path) == [("linked", LINKED), ("main", WORKTREE)]


def test_linked_worktree_outside_the_roots_is_no_row(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "root" / "main", bare=False)
    main.commit({"file": "content"})
    main.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "elsewhere"), "main")
    assert found(tmp_path / "root") == [("main", WORKTREE)]


def test_linked_worktree_of_a_repository_outside_the_roots_is_a_row(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "main.git")
    main.commit({"file": "content"})
    main.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "root" / "linked"), "main")
    assert found(tmp_path / "root") == [("linked", LINKED)]


def test_bare_repository_beside_its_worktrees_is_one_row(tmp_path: Path) -> None:
    bare = GitRepository.init(tmp_path / "project" / ".bare")
    bare.commit({"file": "content"})
    (tmp_path / "project" / ".git").write_text("gitdir: ./.bare\n")
    bare.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "project" / "main"), "main")
    assert found(tmp_path) == [("project/.bare", BARE), ("project/main", LINKED)]


def test_separate_git_directory_is_one_row(tmp_path: Path) -> None:
    work = GitRepository.init(tmp_path / "root" / "work", bare=False)
    work.git("init", "--quiet", f"--separate-git-dir={tmp_path / 'root' / 'work' / 'store'}")
    assert found(tmp_path / "root") == [("work", WORKTREE)]


@pytest.mark.parametrize("name", ["module", "libs/deep/module"])
def test_submodule_is_one_row_at_its_git_directory(tmp_path: Path, source: GitRepository, name: str) -> None:
    repository = GitRepository.init(tmp_path / "super", bare=False)
    add_submodule(repository, source, name)
    assert found(tmp_path) == [("super", WORKTREE), (f"super/.git/modules/{name}", SUBMODULE)]
    assert found(tmp_path / "super" / name)[0][1] is SUBMODULE
    assert found(tmp_path / "super" / ".git" / "modules" / name) == [(".", SUBMODULE)]
    assert found(tmp_path / "super" / ".git" / "modules") == [(name, SUBMODULE)]


def test_submodule_without_work_tree_is_found(tmp_path: Path, source: GitRepository) -> None:
    repository = GitRepository.init(tmp_path / "super", bare=False)
    add_submodule(repository, source, "module")
    repository.git("submodule", "--quiet", "deinit", "--force", "module")
    assert found(tmp_path) == [("super", WORKTREE), ("super/.git/modules/module", SUBMODULE)]


def test_submodule_of_a_submodule_is_found(tmp_path: Path, source: GitRepository) -> None:
    middle = GitRepository.init(tmp_path / "middle", bare=False)
    add_submodule(middle, source, "inner")
    middle.git("commit", "--quiet", "--message=inner")
    repository = GitRepository.init(tmp_path / "root" / "super", bare=False)
    add_submodule(repository, middle, "outer")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
    assert found(tmp_path / "root") == [
        ("super", WORKTREE),
        ("super/.git/modules/outer", SUBMODULE),
        ("super/.git/modules/outer/modules/inner", SUBMODULE),
    ]


def test_submodule_of_a_linked_worktree_is_found(tmp_path: Path, source: GitRepository) -> None:
    repository = GitRepository.init(tmp_path / "super", bare=False)
    add_submodule(repository, source, "module")
    repository.git("commit", "--quiet", "--message=module")
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), "HEAD")
    GitRepository(tmp_path / "tree").git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    assert ("super/.git/worktrees/tree/modules/module", SUBMODULE) in found(tmp_path)


def test_folder_in_modules_that_is_called_modules_is_searched(tmp_path: Path, source: GitRepository) -> None:
    repository = GitRepository.init(tmp_path / "super", bare=False)
    add_submodule(repository, source, "modules/modules")
    assert ("super/.git/modules/modules/modules", SUBMODULE) in found(tmp_path)


def test_nested_clone_in_a_work_tree_is_found(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "outer", bare=False)
    GitRepository.init(tmp_path / "outer" / "vendor" / "inner", bare=False)
    GitRepository.init(tmp_path / "outer" / "fixtures" / "inner.git")
    assert found(tmp_path) == [
        ("outer", WORKTREE),
        ("outer/fixtures/inner.git", BARE),
        ("outer/vendor/inner", WORKTREE),
    ]


def test_git_directory_is_not_searched_but_for_modules(tmp_path: Path) -> None:
    bare = GitRepository.init(tmp_path / "x.git")
    work = GitRepository.init(tmp_path / "y", bare=False)
    for folder in (bare.path, bare.path / "objects", work.git_dir, work.git_dir / "refs", work.git_dir / "worktrees"):
        GitRepository.init(folder / "hidden.git")
    assert found(tmp_path) == [("x.git", BARE), ("y", WORKTREE)]


def test_root_may_be_a_repository_a_work_tree_or_its_git_entry(tmp_path: Path) -> None:
    bare = GitRepository.init(tmp_path / "x.git")
    work = GitRepository.init(tmp_path / "y", bare=False)
    work.commit({"file": "content"})
    work.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "z"), "main")
    assert found(bare.path) == [(".", BARE)]
    assert found(work.path) == [(".", WORKTREE)]
    assert found(work.path / ".git") == [("..", WORKTREE)]
    assert found(tmp_path / "z") == [(".", LINKED)]
    assert found(tmp_path / "z" / ".git") == [("..", LINKED)]
    assert found(work.path / ".git" / "worktrees" / "z") == [(".", LINKED)]


def test_root_may_end_in_a_slash_or_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    GitRepository.init(tmp_path / "y", bare=False)
    monkeypatch.chdir(tmp_path)
    expected = os.fsencode(tmp_path / "y")
    for root in (b"y/", b"y/.git/", b".", b"./y/../y"):
        (result,) = search(root)
        assert isinstance(result, Repository)
        assert result.path == expected


def test_root_may_be_reached_through_a_symbolic_link(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "real" / "x.git")
    (tmp_path / "link").symlink_to("real")
    (result,) = search(tmp_path / "link")
    assert result.path == os.fsencode(tmp_path / "link" / "x.git")


def test_overlapping_roots_give_each_repository_once(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "a" / "x.git")
    (tmp_path / "a" / "empty.git").mkdir()
    (tmp_path / "link").symlink_to("a")
    results = search(tmp_path / "a", tmp_path, tmp_path / "link")
    repositories = [result for result in results if isinstance(result, Repository)]
    assert [result.path for result in repositories] == [os.fsencode(tmp_path / "a" / "x.git")]
    assert repositories[0].root == os.fsencode(tmp_path / "a")


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("@hashed/ab/cd/abcd" + "0" * 60 + ".git", StorageLayout.GITLAB_HASHED),
        ("@pools/ab/cd/abcd" + "0" * 60 + ".git", StorageLayout.GITLAB_POOL),
        ("@cluster/pools/ab/cd/1234", StorageLayout.GITLAB_POOL),
    ],
)
def test_storage_of_gitlab_is_recognised(tmp_path: Path, layout: str, expected: StorageLayout) -> None:
    GitRepository.init(tmp_path / layout)
    for root in (tmp_path, (tmp_path / layout).parent, tmp_path / layout):
        (result,) = search(root)
        assert isinstance(result, Repository)
        assert (result.kind, result.layout) == (BARE, expected)


def test_excluded_folders_are_not_searched(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "work" / "node_modules" / "dependency", bare=False)
    GitRepository.init(tmp_path / "kept.git")
    GitRepository.init(tmp_path / "tmp" / "dropped.git")
    limits = DiscoveryLimits(exclude=("node_modules", "tmp/*.git"))
    assert found(tmp_path, limits=limits) == [("kept.git", BARE)]


@pytest.mark.parametrize(("depth", "expected"), [(0, []), (1, ["a.git"]), (2, ["a.git", "b/c.git"])])
def test_depth_limits_the_search(tmp_path: Path, depth: int, expected: list[str]) -> None:
    for name in ("a.git", "b/c.git", "b/d/e.git"):
        GitRepository.init(tmp_path / name)
    assert [path for path, _ in found(tmp_path, limits=DiscoveryLimits(maximum_depth=depth))] == expected


def test_depth_does_not_hide_the_modules_of_a_repository(tmp_path: Path, source: GitRepository) -> None:
    repository = GitRepository.init(tmp_path / "super", bare=False)
    add_submodule(repository, source, "libs/module")
    limits = DiscoveryLimits(maximum_depth=1)
    assert found(tmp_path, limits=limits) == [("super", WORKTREE), ("super/.git/modules/libs/module", SUBMODULE)]


@pytest.mark.parametrize("kind", ["missing", "file", "nul", "below a file"])
def test_root_that_is_no_folder_is_an_error_before_anything_is_searched(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    root = {"missing": "gone", "file": "file", "nul": "a\0b", "below a file": "file/x"}[kind]
    with pytest.raises(RootError) as caught:
        discover(
            [os.fsencode(tmp_path), os.fsencode(tmp_path) + b"/" + root.encode()],
            DiscoveryLimits(),
            read=read_file,
            effective_uid=os.geteuid(),
        )
    assert str(caught.value).isprintable()
    assert str(caught.value).count("\n") == 0


def test_repositories_come_out_while_the_search_goes_on(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "a.git")
    (tmp_path / "z").mkdir()
    results = discover([os.fsencode(tmp_path)], DiscoveryLimits(), read=read_file, effective_uid=os.geteuid())
    assert next(results).path == os.fsencode(tmp_path / "a.git")
    GitRepository.init(tmp_path / "z" / "late.git")
    assert next(results).path == os.fsencode(tmp_path / "z" / "late.git")


def test_search_ends_once_it_is_cancelled(tmp_path: Path) -> None:
    for number in range(5):
        GitRepository.init(tmp_path / f"{number}.git")
    cancel = threading.Event()
    results = discover(
        [os.fsencode(tmp_path)], DiscoveryLimits(), read=read_file, effective_uid=os.geteuid(), cancel=cancel
    )
    assert len(list(itertools.islice(results, 2))) == 2
    cancel.set()
    assert list(results) == []


def test_folders_that_vanish_during_the_search_are_passed_over(tmp_path: Path) -> None:
    for name in ("a.git", "b.git", "c", "d.git"):
        GitRepository.init(tmp_path / name)
    results = discover([os.fsencode(tmp_path)], DiscoveryLimits(), read=read_file, effective_uid=os.geteuid())
    assert next(results).path == os.fsencode(tmp_path / "a.git")
    shutil.rmtree(tmp_path / "b.git")
    shutil.rmtree(tmp_path / "c")
    assert [result.path for result in results] == [os.fsencode(tmp_path / "d.git")]


def test_root_that_vanishes_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    results = discover([os.fsencode(tmp_path / "a")], DiscoveryLimits(), read=read_file, effective_uid=os.geteuid())
    (tmp_path / "a").rmdir()
    assert list(results) == []


def test_no_process_is_started_and_a_bare_repository_costs_one_read_and_no_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        GitRepository.init(tmp_path / f"{number}.git")
    reads: list[bytes] = []
    listings: list[object] = []
    scandir = os.scandir

    def counted_read(path: bytes, maximum_bytes: int) -> bytes:
        reads.append(path)
        return read_file(path, maximum_bytes)

    def counted_scandir(path):
        listings.append(path)
        return scandir(path)

    def no_process(*arguments, **options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(os, "scandir", counted_scandir)
    monkeypatch.setattr(subprocess, "Popen", no_process)
    results = list(discover([os.fsencode(tmp_path)], DiscoveryLimits(), read=counted_read, effective_uid=os.geteuid()))
    assert len(results) == 20
    assert len(reads) == 20
    assert len(listings) == 1


def test_repository_of_another_owner_names_the_owner_and_the_path(tmp_path: Path) -> None:
    bare = GitRepository.init(tmp_path / "x.git")
    work = GitRepository.init(tmp_path / "y", bare=False)
    results = search(tmp_path, effective_uid=os.geteuid() + 1)
    assert [(result.foreign_owner_uid, result.foreign_path) for result in results] == [
        (os.geteuid(), os.fsencode(bare.path)),
        (os.geteuid(), os.fsencode(work.path)),
    ]
    assert {result.foreign_owner_uid for result in search(tmp_path)} == {None}


def test_trust_covers_what_lies_below_a_trusted_folder_and_nothing_beside_it(tmp_path: Path) -> None:
    for name in ("mine/x.git", "mine-not/y.git"):
        GitRepository.init(tmp_path / name)
    results = search(tmp_path, trusted_roots=frozenset({os.fsencode(tmp_path / "mine")}))
    assert [result.trusted_by_config for result in results] == [True, False]


@pytest.mark.safety
def test_trust_does_not_follow_a_git_file_out_of_the_trusted_folder(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "outside", bare=False)
    trap = tmp_path / "mine" / "trap"
    trap.mkdir(parents=True)
    (trap / ".git").write_text(f"gitdir: {tmp_path / 'outside' / '.git'}\n")
    (result,) = search(tmp_path / "mine", trusted_roots=frozenset({os.fsencode(tmp_path / "mine")}))
    assert isinstance(result, Repository)
    assert not result.trusted_by_config
