"""Trees that would hang, fool or end a careless search. Each candidate that is no repository has a reason."""

import contextlib
import errno
import os
import shutil
import socket
import stat
from pathlib import Path

import msgspec
import pytest

from gitdash.discovery import mounts
from gitdash.discovery.roots import DiscoveryLimits, discover
from gitdash.inspection.files import read_file
from gitdash.model.repository import NotRepository, Repository
from gitdash.units import printable_path
from tests.support.repositories import GitRepository
from tests.support.unprivileged import unprivileged

pytestmark = pytest.mark.safety


def search(*roots: Path | bytes, limits: DiscoveryLimits | None = None):
    return list(
        discover(
            [os.fsencode(root) for root in roots],
            limits or DiscoveryLimits(),
            read=read_file,
            effective_uid=os.geteuid(),
        )
    )


def reasons(root: Path) -> dict[str, str]:
    """The reason of each candidate that is no repository, by path below the root."""
    rejected = [result for result in search(root) if isinstance(result, NotRepository)]
    assert all(result.reason and result.reason.isprintable() for result in rejected)
    assert len({result.path for result in rejected}) == len(rejected)
    return {os.path.relpath(os.fsdecode(result.path), root): result.reason for result in rejected}


def broken(root: Path) -> dict[str, str]:
    """The problem of each row that was a repository, by path below the root."""
    rows = [result for result in search(root) if isinstance(result, Repository) and result.problem is not None]
    assert all(row.problem and row.problem.isprintable() for row in rows)
    assert len({row.path for row in rows}) == len(rows)
    return {os.path.relpath(os.fsdecode(row.path), root): row.problem or "" for row in rows}


def repositories(root: Path) -> list[str]:
    """The paths of those that are whole, below the root."""
    rows = [result for result in search(root) if isinstance(result, Repository) and result.problem is None]
    return [os.path.relpath(os.fsdecode(row.path), root) for row in rows]


def bare_by_hand(path: Path) -> Path:
    """What git takes for a bare repository, made without git, which would have to enter the folder of another user."""
    for folder in (path, path / "objects", path / "refs"):
        folder.mkdir()
    (path / "HEAD").write_text("ref: refs/heads/main\n")
    return path


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "outside" / "x.git")
    root = tmp_path / "root"
    GitRepository.init(root / "a.git")
    (root / "loop").symlink_to(".")
    (root / "up").symlink_to("..")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "self").symlink_to("self")
    (root / "proc").symlink_to("/proc/self/root")
    assert repositories(root) == ["a.git"]
    assert reasons(root) == {}


def test_link_that_is_named_like_a_repository_says_why_it_is_not_followed(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "outside.git")
    root = tmp_path / "root"
    GitRepository.init(root / "inside.git")
    (root / "alias.git").symlink_to("inside.git")
    (root / "out.git").symlink_to("../outside.git")
    (root / "dangling.git").symlink_to("gone")
    (root / "loop.git").symlink_to("loop.git")
    assert repositories(root) == ["inside.git"]
    assert reasons(root) == {
        "out.git": "a symbolic link out of the root, which is not followed",
        "dangling.git": "a symbolic link that leads nowhere",
        "loop.git": "too many levels of symbolic links",
    }


def test_git_link_is_followed_inside_the_root_only(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "outside.git")
    root = tmp_path / "root"
    inside = GitRepository.init(root / "projects" / "store" / "inside.git")
    inside.git("config", "core.bare", "false")
    for name, target in {
        "known": "../projects/store/inside.git",
        "out": "../../outside.git",
        "dangling": "gone",
        "loop": ".git",
        "folder": "..",
    }.items():
        (root / name).mkdir()
        (root / name / ".git").symlink_to(target)
    assert repositories(root) == ["known"]
    assert reasons(root) == {"out/.git": "a symbolic link out of the root, which is not followed"}
    assert broken(root) == {
        "dangling": ".git: a symbolic link that leads nowhere: no such file or directory",
        "loop": ".git: a symbolic link that leads nowhere: too many levels of symbolic links",
        "folder": ".git: no HEAD",
    }


def test_fifos_sockets_and_files_in_place_of_a_repository_have_a_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.git")
    (tmp_path / "file.git").write_bytes(b"")
    (tmp_path / "work").mkdir()
    os.mkfifo(tmp_path / "work" / ".git")
    for name in ("HEAD", "objects", "refs"):
        (tmp_path / f"{name}.git").mkdir()
        os.mkfifo(tmp_path / f"{name}.git" / name)
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(tmp_path):
        server.bind("socket.git")
        assert reasons(tmp_path) == {
            "fifo.git": "a FIFO, not a folder",
            "file.git": "a file, not a folder",
            "socket.git": "a socket, not a folder",
            "work/.git": "a FIFO, neither a folder nor a file",
            "HEAD.git": "HEAD is a FIFO",
            "objects.git": "no HEAD",
            "refs.git": "no HEAD",
        }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_devices_have_a_reason(tmp_path: Path) -> None:
    endless = os.makedev(1, 5)
    (tmp_path / "work").mkdir()
    (tmp_path / "x.git").mkdir()
    try:
        for path in (tmp_path / "zero.git", tmp_path / "work" / ".git", tmp_path / "x.git" / "HEAD"):
            os.mknod(path, stat.S_IFCHR | 0o666, endless)
    except PermissionError:
        pytest.skip("no devices in this container")
    assert reasons(tmp_path) == {
        "zero.git": "a device, not a folder",
        "work/.git": "a device, neither a folder nor a file",
        "x.git": "HEAD is a device",
    }


@pytest.mark.oracle
def test_damaged_git_directories_are_rows_with_a_problem(tmp_path: Path) -> None:
    (tmp_path / "empty.git").mkdir()
    (tmp_path / "HEAD-alone.git").mkdir()
    (tmp_path / "HEAD-alone.git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "work" / ".git").mkdir(parents=True)
    damage = {
        "no-head": lambda path: (path / "HEAD").unlink(),
        "empty-head": lambda path: (path / "HEAD").write_bytes(b""),
        "garbage-head": lambda path: (path / "HEAD").write_bytes(b"\x1b[31mgarbage"),
        "head-elsewhere": lambda path: (path / "HEAD").write_bytes(b"ref: elsewhere\n"),
        "head-is-folder": lambda path: ((path / "HEAD").unlink(), (path / "HEAD").mkdir()),
        "head-is-link": lambda path: ((path / "HEAD").unlink(), (path / "HEAD").symlink_to("/dev/zero")),
        "huge-head": lambda path: os.truncate(path / "HEAD", 1 << 40),
        "no-objects": lambda path: shutil.rmtree(path / "objects"),
        "no-refs": lambda path: shutil.rmtree(path / "refs"),
        "objects-is-file": lambda path: (shutil.rmtree(path / "objects"), (path / "objects").write_bytes(b"")),
        "objects-dangle": lambda path: (shutil.rmtree(path / "objects"), (path / "objects").symlink_to("gone")),
    }
    for name, break_it in damage.items():
        for path in (tmp_path / f"{name}.git", tmp_path / "plain" / name):
            break_it(GitRepository.init(path).path)
    expected = {
        "no-head": "no HEAD",
        "empty-head": "HEAD holds neither an object id nor a reference",
        "garbage-head": "HEAD holds neither an object id nor a reference",
        "head-elsewhere": "HEAD holds neither an object id nor a reference",
        "head-is-folder": "HEAD is a folder",
        "head-is-link": "HEAD is a symbolic link out of refs",
        "huge-head": f"HEAD has {1 << 40} bytes",
        "no-objects": "no objects folder",
        "no-refs": "no refs folder",
        "objects-is-file": "objects cannot be entered",
        "objects-dangle": "no objects folder",
    }
    assert reasons(tmp_path) == {"empty.git": "no HEAD, no objects, no refs", "HEAD-alone.git": "no objects folder"}
    found = broken(tmp_path)
    assert found.pop("work") == ".git: no HEAD"
    assert found == {f"{name}.git": text for name, text in expected.items()} | {
        f"plain/{name}": text for name, text in expected.items()
    }
    # git reads the start of a HEAD of any size
    for name in found.keys() - {"huge-head.git", "plain/huge-head"}:
        repository = GitRepository(tmp_path / name)
        assert repository.git("rev-parse", "--git-dir", check=False, GIT_CEILING_DIRECTORIES=str(tmp_path)) == ""


@pytest.mark.oracle
def test_package_with_folders_objects_and_refs_is_as_little_a_repository_as_to_git(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "git"
    for name in ("objects", "refs"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text("")
    (package / "config.py").write_text("")
    repository = GitRepository(package)
    assert repository.git("rev-parse", "--git-dir", check=False, GIT_CEILING_DIRECTORIES=str(tmp_path)) == ""
    assert search(tmp_path) == []
    GitRepository.init(package / "refs" / "inner.git")
    assert repositories(tmp_path) == ["site-packages/git/refs/inner.git"], "what lies below is searched"


@pytest.mark.parametrize("trace", ["config", "packed-refs", "objects/pack", "objects/info", "objects/0f"])
def test_one_trace_of_git_is_enough_to_tell_that_a_head_is_lost(tmp_path: Path, trace: str) -> None:
    for name in ("objects", "refs"):
        (tmp_path / "lost" / name).mkdir(parents=True)
    (tmp_path / "lost" / trace).mkdir()
    assert broken(tmp_path) == {"lost": "no HEAD"}


def test_row_of_a_damaged_repository_has_the_path_of_the_healthy_one(tmp_path: Path) -> None:
    for name, is_bare in (("work", False), ("bare.git", True), ("plain", True)):
        GitRepository.init(tmp_path / name, bare=is_bare)
    healthy = {row.path: row for row in search(tmp_path)}
    for row in healthy.values():
        os.truncate(row.git_dir + b"/HEAD", 0)
    for row in search(tmp_path):
        assert row.problem is not None
        assert msgspec.structs.replace(row, problem=None) == healthy.pop(row.path)
    assert healthy == {}


def test_empty_git_folder_in_a_work_tree_is_a_row_of_its_own(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "work", bare=False)
    (tmp_path / "work" / "inner" / ".git").mkdir(parents=True)
    assert repositories(tmp_path) == ["work"]
    assert broken(tmp_path) == {"work/inner": ".git: no HEAD"}


def test_broken_repository_below_overlapping_roots_is_one_row(tmp_path: Path) -> None:
    (tmp_path / "a" / "work" / ".git").mkdir(parents=True)
    assert len(search(tmp_path, tmp_path / "a", tmp_path / "a" / "work" / ".git")) == 1


def test_folder_named_like_a_repository_that_holds_repositories_is_searched(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "group.git" / "x.git")
    GitRepository.init(tmp_path / "work.git", bare=False)
    assert repositories(tmp_path) == ["group.git/x.git", "work.git"]
    assert reasons(tmp_path) == {"group.git": "no HEAD, no objects, no refs"}


def test_git_files_that_lead_nowhere_have_a_reason(tmp_path: Path) -> None:
    contents = {
        "empty": b"",
        "other": b"something else\n",
        "no-path": b"gitdir: \n",
        "nowhere": b"gitdir: ../gone\n",
        "itself": b"gitdir: .git\n",
        "folder": b"gitdir: ..\n",
        "two-lines": b"gitdir: a\nb\n",
        "nul": b"gitdir: a\0b\n",
        "long": b"gitdir: " + b"a/" * 100_000,
        "large": b"gitdir: " + b"x" * (2 << 20),
        "device": b"gitdir: /dev/zero\n",
        "escape": b"gitdir: \x1b]0;owned\x07\xe2\x80\xae[/]\xff\n",
    }
    for name, content in contents.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_bytes(content)
    found = broken(tmp_path)
    assert reasons(tmp_path) == {}
    assert set(found) == {*contents}
    assert found["empty"].startswith(".git: no `gitdir: `")
    assert found["no-path"] == ".git: no path after `gitdir: `"
    assert found["nowhere"] == ".git: names ../gone: no such file or directory"
    assert found["folder"] == ".git: names .., which is no git directory: no HEAD"
    assert found["large"] == f".git: cannot be read: {(2 << 20) + 8} bytes are too large for a .git file"
    assert "\\x1b]0;owned\\x07\\u202e[/]\\xff" in found["escape"]
    assert max(map(len, found.values())) < 400
    assert repositories(tmp_path) == []


def test_chain_of_links_longer_than_the_system_allows_has_a_reason(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "link0")
    for number in range(1, 1_500):
        (tmp_path / f"link{number}").symlink_to(f"link{number - 1}")
    for name in ("file", "link"):
        (tmp_path / name).mkdir()
    (tmp_path / "file" / ".git").write_text("gitdir: ../link1499\n")
    (tmp_path / "link" / ".git").symlink_to("../link1499")
    (tmp_path / "x.git").symlink_to("link1499")
    too_many = "too many levels of symbolic links"
    assert reasons(tmp_path) == {"x.git": too_many}
    assert broken(tmp_path) == {
        "file": f".git: names ../link1499: {too_many}",
        "link": f".git: a symbolic link that leads nowhere: {too_many}",
    }


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_git_file_may_end_as_editors_end_it(tmp_path: Path, ending: bytes) -> None:
    repository = GitRepository.init(tmp_path / "store" / "real", bare=False)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".git").write_bytes(b"gitdir: " + os.fsencode(repository.git_dir) + ending)
    assert repositories(tmp_path / "a") == ["."]


def test_broken_commondir_has_a_reason(tmp_path: Path) -> None:
    contents = {"nul": b"a\0b", "empty": b"", "nowhere": b"../gone\n", "long": b"x/" * 40_000}
    for name, content in contents.items():
        (GitRepository.init(tmp_path / f"{name}.git").path / "commondir").write_bytes(content)
    os.mkfifo(GitRepository.init(tmp_path / "fifo.git").path / "commondir")
    found = broken(tmp_path)
    assert set(found) == {"nul.git", "nowhere.git", "long.git", "fifo.git"}
    assert found["fifo.git"] == "commondir cannot be read"
    assert found["nowhere.git"] == "commondir cannot be read"


@pytest.mark.parametrize(
    "name",
    [
        b"new\nline",
        b"\x1b[31mred\x1b]0;title\x07",
        b"[bold]markup[/]",
        "bidi\u202e\u2066".encode(),
        b"not-utf8-\xff\xfe",
        b"-rf",
        b"--upload-pack=touch x",
        b"$(touch x)",
        b"%s%n",
        b" leading and trailing ",
        b"...",
        b"a" * 255,
    ],
)
def test_any_name_is_found_as_it_is_and_prints(tmp_path: Path, name: bytes) -> None:
    path = os.fsencode(tmp_path) + b"/" + name
    GitRepository.init(Path(os.fsdecode(path)))
    (broken := Path(os.fsdecode(path + b"/x.git"))).mkdir(exist_ok=True)
    (result,) = search(tmp_path)
    assert isinstance(result, Repository)
    assert result.path == path
    assert printable_path(result.path).isprintable()
    assert broken.exists()
    (root_result,) = search(path)
    assert root_result.path == path


def test_unreadable_folders_have_a_reason_and_the_rest_is_found() -> None:
    with unprivileged() as root:
        for name in ("a.git", "closed.git", "no-objects.git", "no-head.git"):
            bare_by_hand(root / name)
        (root / "closed").mkdir()
        (root / "work").mkdir()
        (root / "work" / ".git").write_text("gitdir: ../a.git\n")
        closed = [root / "closed.git", root / "no-objects.git" / "objects", root / "no-head.git" / "HEAD"]
        closed += [root / "closed", root / "work" / ".git"]
        for path in closed:
            path.chmod(0)
        try:
            assert repositories(root) == ["a.git"]
            assert reasons(root) == {
                "closed": "cannot be searched: permission denied",
                "closed.git": "cannot be searched: permission denied",
            }
            assert broken(root) == {
                "no-objects.git": "objects cannot be entered",
                "no-head.git": "HEAD cannot be read",
                "work": ".git: cannot be read: permission denied",
            }
        finally:
            for path in closed:
                path.chmod(0o700)


def test_unreadable_root_has_a_reason() -> None:
    with unprivileged() as folder:
        (folder / "root").mkdir()
        (folder / "root").chmod(0)
        assert reasons(folder / "root") == {".": "cannot be searched: permission denied"}


def test_tree_deeper_than_a_path_can_be_is_searched_as_far_as_names_reach(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "z.git")
    name = "d" * 200
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(25):
            os.mkdir(name, dir_fd=descriptor)
            below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        (rejected, repository) = search(tmp_path)
        assert isinstance(rejected, NotRepository)
        assert rejected.reason == "cannot be searched: file name too long"
        assert repository.path == os.fsencode(tmp_path / "z.git")
    finally:
        os.close(descriptor)


def test_hundreds_of_levels_are_searched(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "short.git")
    folder = tmp_path
    for _ in range(400):
        folder = folder / "d"
        folder.mkdir()
    repository.path.rename(folder / "x.git")
    (result,) = search(tmp_path)
    assert result.path == os.fsencode(folder / "x.git")


def test_folder_with_many_entries_is_searched(tmp_path: Path) -> None:
    for number in range(5_000):
        (tmp_path / f"file{number}").touch()
    GitRepository.init(tmp_path / "x.git")
    assert repositories(tmp_path) == ["x.git"]


def test_listing_that_fails_half_way_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sick").mkdir()
    GitRepository.init(tmp_path / "x.git")
    scandir = os.scandir

    @contextlib.contextmanager
    def failing(descriptor: int):
        def entries(real):
            yield from real
            if os.path.samestat(os.fstat(descriptor), (tmp_path / "sick").stat()):
                raise OSError(errno.EIO, "Input/output error")

        with scandir(descriptor) as real:
            yield entries(real)

    monkeypatch.setattr(os, "scandir", failing)
    assert reasons(tmp_path) == {"sick": "cannot be searched: input/output error"}
    assert repositories(tmp_path) == ["x.git"]


def test_other_file_systems_are_not_entered_unless_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = GitRepository.init(tmp_path / "mounted" / "x.git").path.parent
    lstat = os.lstat

    def on_another_device(path, **more):
        status = lstat(path, **more)
        if not os.fsencode(path).startswith(os.fsencode(mounted)):
            return status
        return os.stat_result((*status[:2], status.st_dev + 1, *status[3:10]))

    monkeypatch.setattr(os, "lstat", on_another_device)
    assert reasons(tmp_path) == {"mounted": "another file system, which is not searched"}
    everywhere = search(tmp_path, limits=DiscoveryLimits(one_file_system=False))
    assert [result.path for result in everywhere] == [os.fsencode(mounted / "x.git")]
    monkeypatch.setattr("gitdash.discovery.search.special_filesystem", lambda path: "proc")
    (result,) = search(tmp_path, limits=DiscoveryLimits(one_file_system=False))
    assert result.reason == "a file system of type proc, which holds no repositories"


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="/proc is not mounted")
def test_proc_holds_no_repositories_and_the_root_file_system_does() -> None:
    assert mounts.special_filesystem(b"/proc") == "proc"
    assert mounts.special_filesystem(b"/") is None


def test_link_swapped_in_for_a_folder_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    GitRepository.init(tmp_path / "outside" / "x.git")
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "b.git").mkdir()
    lstat = os.lstat

    def swap(path, **more):
        status = lstat(path, **more)
        if path == os.fsencode(root / "a") and stat.S_ISDIR(status.st_mode):
            (root / "a").rmdir()
            (root / "a").symlink_to("../outside")
        return status

    monkeypatch.setattr(os, "lstat", swap)
    assert repositories(root) == []


def test_reason_never_repeats_a_candidate_below_overlapping_roots(tmp_path: Path) -> None:
    (tmp_path / "a" / "empty.git").mkdir(parents=True)
    rejected = [result for result in search(tmp_path, tmp_path / "a") if isinstance(result, NotRepository)]
    assert len(rejected) == 1
