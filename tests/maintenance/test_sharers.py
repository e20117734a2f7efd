"""Whether another repository has the same object store: by links, by mounts, and by the table of mounts alone."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitdash.config.settings import Settings
from gitdash.errors import ExitCode
from gitdash.history.store import History, open_history
from gitdash.inspection.mounts import parse_mounts
from gitdash.maintenance.action_facts import Neighbourhood
from gitdash.maintenance.lost_parts import identity_of
from gitdash.maintenance.sharers import is_lost_and_found, mounted_part, sharer_of
from gitdash.model.ledger import Outcome
from gitdash.model.repository import Repository
from gitdash.model.task import Task
from gitdash.survey.neighbourhood import look_around
from tests.cli.process import Gitdash
from tests.support.bare import bare_repository
from tests.support.old_stores import complaints, grow_old
from tests.support.repositories import GitRepository
from tests.support.task_runs import run
from tests.support.unprivileged import unprivileged

pytestmark = pytest.mark.safety

TABLE = b"""\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:20 / /tmp rw - tmpfs tmpfs rw
23 21 8:2 / /srv rw - ext4 /dev/sda2 rw
24 21 8:2 /a.git/objects /mnt/with\\040blank/objects rw - ext4 /dev/sda2 rw
25 21 8:2 /b.git /mnt/b.git rw - ext4 /dev/sda2 rw
26 21 0:20 /c.git/objects /mnt/other rw - tmpfs tmpfs rw
27 21 8:2 /d.git/objects/pack /mnt/d rw - ext4 /dev/sda2 rw
28 21 8:3 / /srv/e.git/objects/4f rw - ext4 /dev/sda3 rw
"""


@pytest.mark.parametrize(
    ("common_dir", "expected"),
    [
        (b"/srv/a.git", "it is mounted at /mnt/with blank/objects, too"),
        # the whole repository by another name has the same references
        (b"/srv/b.git", None),
        # the same path on another file system
        (b"/srv/c.git", None),
        (b"/srv/d.git", "it is mounted at /mnt/d, too"),
        (b"/srv/e.git", "/srv/e.git/objects/4f is a mount"),
        (b"/srv/f.git", None),
        (b"/home/a.git", None),
    ],
)
def test_table_of_mounts_tells_which_folder_is_seen_in_two_places(common_dir: bytes, expected: str | None) -> None:
    assert mounted_part(common_dir, parse_mounts(TABLE)) == expected


def test_damaged_table_of_mounts_is_read_as_far_as_it_goes() -> None:
    assert len(parse_mounts(TABLE + b"\n28 21\n\xff\n")) == len(parse_mounts(TABLE))
    assert parse_mounts(b"") == ()


@pytest.fixture
def gitdash(tmp_path: Path) -> Gitdash:
    return Gitdash.make(tmp_path / "run")


@contextmanager
def bind_mount(source: Path, target: Path) -> Iterator[None]:
    target.mkdir(parents=True, exist_ok=True)
    folders = [os.fspath(source), os.fspath(target)]
    if subprocess.run(["mount", "--bind", *folders], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", os.fspath(target)], check=True)


@contextmanager
def link(source: Path, target: Path) -> Iterator[None]:
    if target.is_dir():
        target.rmdir()
    target.symlink_to(source)
    yield


Share = Callable[[Path, Path], "contextmanager[None]"]


def two_with_one_store(folder: Path, part: str) -> tuple[GitRepository, GitRepository]:
    """Two repositories with different commits, all of which lie in the first; the second lacks `part`."""
    first = GitRepository.init(folder / "first.git")
    second = GitRepository.init(folder / "second.git")
    first.commit({"a": "1"})
    tip = first.commit({"b": "of the second"}, reference="refs/heads/gone")
    first.git("update-ref", "-d", "refs/heads/gone")
    second.git("symbolic-ref", "HEAD", "refs/heads/main")
    (second.git_dir / "refs/heads/main").write_text(f"{tip}\n")
    subprocess.run(["rm", "-rf", second.git_dir / part], check=True)
    if part == "objects/pack":
        first.git("repack", "-a", "-d", "-q")
        first.git("repack", "-a", "-d", "-q", "-k")
    grow_old(first)
    return first, second


@pytest.mark.parametrize("part", ["objects", "objects/pack"])
@pytest.mark.parametrize("share", [link, bind_mount])
def test_nobody_reclaims_what_another_has_too(tmp_path: Path, gitdash: Gitdash, share: Share, part: str) -> None:
    first, second = two_with_one_store(tmp_path, part)
    with share(first.git_dir / part, second.git_dir / part):
        assert not complaints(second)
        for one in (first, second):
            name = one.path.name
            ended = gitdash.run("maintain", one.path, "--task", "reclaim", "--confirm", name)
            assert ended.returncode == ExitCode.REFUSED, ended.stdout
            assert "linked-store" in ended.stdout or "symbolic-link" in ended.stdout, ended.stdout
        assert not complaints(second)


@pytest.mark.parametrize("looked", ["scan", "show", "size", "fetch"])
@pytest.mark.parametrize("task", ["reclaim", "unlink"])
def test_sharer_that_only_the_state_file_knows_counts(tmp_path: Path, gitdash: Gitdash, looked: str, task: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    first, second = two_with_one_store(tmp_path, "objects")
    (second.git_dir / "objects").symlink_to(first.git_dir / "objects")
    second.path.rename(tmp_path / "elsewhere" / "second.git")
    gitdash.run(looked, tmp_path / "elsewhere" / ("." if looked == "scan" else "second.git"))
    ended = gitdash.run("maintain", first.path, "--task", task, "--confirm", "first.git")
    assert ended.returncode == ExitCode.REFUSED
    assert "elsewhere/second.git has the same objects" in ended.stdout


def lender_and_borrower(folder: Path, beside: str) -> tuple[GitRepository, GitRepository]:
    """The borrower needs a commit of which nothing in the lender knows any more."""
    folder.mkdir(exist_ok=True)
    lender = GitRepository.init(folder / "lend.git")
    lender.commit({"a": "1"})
    tip = lender.commit({"b": "only the borrower's"}, reference="refs/heads/gone")
    (folder / beside).mkdir(exist_ok=True)
    borrower = GitRepository.init(folder / beside / "borrow.git")
    borrower.borrow_from(lender)
    borrower.git("update-ref", "refs/heads/main", tip)
    lender.git("update-ref", "-d", "refs/heads/gone")
    grow_old(lender)
    return lender, borrower


@pytest.mark.parametrize("acted", [("maintain", "--task", "pack-refs", "--yes"), ("fetch",), ("show",), ("size",)])
def test_who_was_seen_to_borrow_when_it_was_acted_on_is_remembered(
    tmp_path: Path, gitdash: Gitdash, acted: tuple[str, ...]
) -> None:
    lender, borrower = lender_and_borrower(tmp_path, "elsewhere")
    gitdash.run(acted[0], borrower.path, *acted[1:])
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert ended.returncode == ExitCode.REFUSED
    assert "1 repository borrows from it" in ended.stdout
    assert not complaints(borrower)


def test_neighbour_that_borrows_is_seen_although_nobody_ever_looked_at_it(tmp_path: Path, gitdash: Gitdash) -> None:
    lender, borrower = lender_and_borrower(tmp_path, ".")
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert ended.returncode == ExitCode.REFUSED
    assert f"{borrower.path} borrows from it" in ended.stdout
    assert not complaints(borrower)


def test_neighbour_that_borrows_through_a_folder_of_links_is_seen(tmp_path: Path, gitdash: Gitdash) -> None:
    lender, borrower = lender_and_borrower(tmp_path, ".")
    lender.git("repack", "-a", "-d", "-q", "-k")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "pack").symlink_to(lender.git_dir / "objects" / "pack")
    (borrower.git_dir / "objects" / "info" / "alternates").write_text(f"{tmp_path}/store\n")
    grow_old(lender)
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert ended.returncode == ExitCode.REFUSED
    assert f"{borrower.path} borrows from it" in ended.stdout


def test_nothing_is_reclaimed_beside_one_whose_lenders_are_too_many_to_know(tmp_path: Path, gitdash: Gitdash) -> None:
    """git follows all of them."""
    lender, borrower = lender_and_borrower(tmp_path, ".")
    alternates = borrower.git_dir / "objects" / "info" / "alternates"
    others = "".join(f"{tmp_path}/{number}/objects\n" for number in range(1_100))
    alternates.write_text(others + alternates.read_text())
    assert not complaints(borrower)
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert ended.returncode == ExitCode.REFUSED
    assert "borrow.git may borrow from it, for not all of its lenders are known" in ended.stdout


@pytest.mark.parametrize("where", [[], ["--where", "name = 'lend.git'"]])
def test_nothing_is_reclaimed_without_a_memory(tmp_path: Path, gitdash: Gitdash, where: list[str]) -> None:
    lender, borrower = lender_and_borrower(tmp_path / "root", "elsewhere")
    gitdash.options = ["--no-state"]
    path = lender.path.parent if where else lender.path
    ended = gitdash.run("maintain", path, *where, "--task", "reclaim", "--confirm", "lend.git")
    assert ended.returncode == ExitCode.REFUSED
    assert ("borrows from it" if where else "nothing is remembered of who does") in ended.stdout
    assert not complaints(borrower)


def test_nothing_is_reclaimed_where_nobody_looked_for_borrowers(tmp_path: Path, gitdash: Gitdash) -> None:
    lender, borrower = lender_and_borrower(tmp_path / "root", "elsewhere")
    reclaim = ("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    gitdash.run("scan", lender.path)
    ended = gitdash.run(*reclaim)
    assert (ended.returncode, "no folder around it was searched for them" in ended.stdout) == (ExitCode.REFUSED, True)
    assert not complaints(borrower)


def test_borrower_that_came_after_the_last_survey_is_found_before_anything_is_reclaimed(
    tmp_path: Path, gitdash: Gitdash
) -> None:
    lender, borrower = lender_and_borrower(tmp_path / "root", "elsewhere")
    hidden = borrower.path.rename(tmp_path / "unmounted")
    gitdash.run("scan", tmp_path / "root")
    (tmp_path / "root" / "node_modules").mkdir()
    borrower.path = hidden.rename(tmp_path / "root" / "node_modules" / "borrow.git")
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert ended.returncode == ExitCode.REFUSED
    assert "node_modules/borrow.git borrows from it" in ended.stdout
    assert not complaints(borrower)


def test_configured_roots_are_looked_through_before_anything_is_reclaimed(tmp_path: Path, gitdash: Gitdash) -> None:
    lender, borrower = lender_and_borrower(tmp_path / "root", "elsewhere")
    config = tmp_path / "config.toml"
    config.write_text(f'roots = ["{tmp_path / "root"}"]\n')
    reclaim = ("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    gitdash.options += ["--config", os.fspath(config)]
    gitdash.run("scan", lender.path)
    ended = gitdash.run(*reclaim)
    assert (ended.returncode, "elsewhere/borrow.git borrows from it" in ended.stdout) == (ExitCode.REFUSED, True)
    gitdash.run("scan")
    ended = gitdash.run(*reclaim)
    assert (ended.returncode, "1 repository borrows from it" in ended.stdout) == (ExitCode.REFUSED, True)
    assert not complaints(borrower)
    borrower.path.rename(tmp_path / "away")
    shutil.rmtree(tmp_path / "away")
    gitdash.run("scan")
    assert gitdash.run(*reclaim).returncode == ExitCode.REFUSED
    assert gitdash.run("forget", "--yes", borrower.path).returncode == ExitCode.DONE
    assert gitdash.run(*reclaim).returncode == ExitCode.DONE


def test_mount_that_comes_after_the_plan_is_seen_when_it_is_run(tmp_path: Path) -> None:
    first, second = two_with_one_store(tmp_path, "objects")
    with bind_mount(first.git_dir / "objects", second.git_dir / "objects"):
        result = run(second, Task.RECLAIM, confirmed_name=b"second.git")
        assert (result.outcome, result.commands) == (Outcome.REFUSED, ())
        assert "others may need its objects" in result.sentence


def test_pack_that_another_has_as_a_link_is_shared(tmp_path: Path) -> None:
    first, second = two_with_one_store(tmp_path, "objects/pack")
    (second.git_dir / "objects/pack").mkdir()
    for path in first.packs():
        (second.git_dir / "objects/pack" / path.name).symlink_to(path)
    others = [os.fsencode(second.path), os.fsencode(tmp_path / "nothing"), os.fsencode(first.path)]
    assert sharer_of(os.fsencode(first.git_dir), others) == f"{second.path} has the same objects"


def test_same_repository_by_another_name_is_no_sharer(tmp_path: Path) -> None:
    first, second = two_with_one_store(tmp_path, "objects/pack")
    (tmp_path / "alias.git").symlink_to(first.path)
    (second.git_dir / "refs/heads/main").unlink()
    others = [os.fsencode(tmp_path / "alias.git"), os.fsencode(second.path), os.fsencode(tmp_path)]
    assert sharer_of(os.fsencode(first.git_dir), others) is None


def test_repository_with_references_and_without_objects_may_need_them(tmp_path: Path) -> None:
    first, second = two_with_one_store(tmp_path, "objects")
    (second.git_dir / "objects").mkdir()
    others = [os.fsencode(second.path)]
    what = f"{second.path} may borrow from it: it has references, and its objects are not there"
    expected = f"{what}; if what is missing of that is gone for good: `gitdash forget {second.path}`"
    assert sharer_of(os.fsencode(first.git_dir), others) == expected
    # its last commit may be its own, and on the disk that is away, and only those before it borrowed
    (second.git_dir / "refs/heads/main").write_text(f"{'1' * 40}\n")
    assert sharer_of(os.fsencode(first.git_dir), others) == expected
    assert sharer_of(os.fsencode(first.git_dir), others, {identity_of(os.fsencode(second.git_dir))}) is None


def test_who_is_given_up_counts_again_with_what_says_that_it_borrows(tmp_path: Path) -> None:
    first, second = two_with_one_store(tmp_path, "objects")
    (second.git_dir / "objects" / "info").mkdir(parents=True)
    given_up = {identity_of(os.fsencode(second.git_dir))}
    (second.git_dir / "objects" / "info" / "alternates").write_text(f"{first.git_dir}/objects\n")
    found = sharer_of(os.fsencode(first.git_dir), [os.fsencode(second.path)], given_up)
    assert found == f"{second.path} borrows from it"
    # nor is one that takes its place meant
    (second.git_dir / "objects" / "info" / "alternates").unlink()
    second.path.rename(tmp_path / "aside.git")
    shutil.copytree(tmp_path / "aside.git", second.path)
    assert "may borrow" in (sharer_of(os.fsencode(first.git_dir), [os.fsencode(second.path)], given_up) or "")


def test_all_who_may_need_objects_are_named_or_counted_the_sure_ones_first(tmp_path: Path) -> None:
    first, second = two_with_one_store(tmp_path, "objects")
    (second.git_dir / "objects").mkdir()
    for number in range(5):
        shutil.copytree(second.path, tmp_path / f"lost{number}.git")
    shutil.rmtree(second.path)
    others = [os.fsencode(tmp_path / f"lost{number}.git") for number in (3, 1, 4, 0, 2)]
    lost = "may borrow from it: it has references, and its objects are not there"
    named = [f"{tmp_path}/lost{number}.git" for number in range(4)]
    expected = (
        "; ".join(f"{name} {lost}" for name in named) + "; and 1 more; if what is missing of those is gone for good"
    )
    assert sharer_of(os.fsencode(first.git_dir), others) == f"{expected}: `gitdash forget {' '.join(named)}`"
    borrower = GitRepository.init(tmp_path / "work", bare=False)
    borrower.borrow_from(first)
    others += [os.fsencode(borrower.path), os.fsencode(borrower.git_dir)]
    found = sharer_of(os.fsencode(first.git_dir), others) or ""
    assert found.startswith(f"{borrower.path} borrows from it; {named[0]} {lost}; ")
    # to forget those would not help
    assert found.endswith("; and 2 more")


@pytest.mark.parametrize("closed", ["b", "b/borrow/.git", "b/borrow/.git/objects", "b/borrow/.git/objects/info"])
def test_who_cannot_be_looked_at_may_need_them(closed: str) -> None:
    with unprivileged() as folder:
        for path in ("lend.git/objects", "b/borrow/.git/objects/info"):
            (folder / path).mkdir(parents=True)
        others = [os.fsencode(folder / name) for name in ("b/borrow", "b/nothing")]
        assert sharer_of(os.fsencode(folder / "lend.git"), others) is None
        (folder / closed).chmod(0)
        try:
            found = sharer_of(os.fsencode(folder / "lend.git"), others)
        finally:
            (folder / closed).chmod(0o700)
        assert (found or "").startswith(f"{folder}/b/borrow ")
        assert (found or "").endswith(": permission denied")


def test_git_directory_behind_a_link_to_nothing_may_need_them(tmp_path: Path) -> None:
    lender = GitRepository.init(tmp_path / "lend.git")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".git").symlink_to(tmp_path / "away")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    others = [os.fsencode(tmp_path / name) for name in ("link", "work")]
    what = f"{tmp_path}/work may borrow from it: its .git is a link to what is not there"
    expected = f"{what}; if what is missing of that is gone for good: `gitdash forget {tmp_path}/work`"
    assert sharer_of(os.fsencode(lender.git_dir), others) == expected


def test_folder_that_cannot_be_searched_is_an_objection(tmp_path: Path) -> None:
    with unprivileged() as folder:
        (folder / "b").mkdir()
        (folder / "lend.git").mkdir()
        repository = bare_repository(folder / "lend.git")
        settings = Settings(roots=(os.fspath(folder),))
        with open_history(os.fspath(folder / "state.db")) as history:
            assert around(repository, settings, history).objection is None
            (folder / "b").chmod(0o311)
            try:
                found = around(repository, settings, history)
            finally:
                (folder / "b").chmod(0o700)
        assert found.objection == f"{folder}/b cannot be searched: permission denied"
        assert found.searched == (os.fsencode(folder),)


def around(repository: Repository, settings: Settings, history: History) -> Neighbourhood:
    return look_around(
        repository, settings=settings, history=history, effective_uid=os.geteuid(), cancel=threading.Event()
    )


@pytest.mark.parametrize(
    "place",
    ["other.git/forks/borrow.git", "work/.git/x/borrow", "other.git/forks/deep/er/borrow.git", "lend.git/forks/x.git"],
)
def test_borrower_in_the_git_directory_of_another_is_found(tmp_path: Path, gitdash: Gitdash, place: str) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    GitRepository.init(root / "other.git")
    GitRepository.init(root / "work", bare=False)
    gitdash.run("scan", root)
    (root / place).parent.mkdir(parents=True)
    borrower.path.rename(root / place)
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert (ended.returncode, f"{place} borrows from it" in ended.stdout) == (ExitCode.REFUSED, True), ended.stdout


def test_borrower_to_which_a_link_in_the_root_leads_is_found(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    borrower.path.rename(tmp_path / "outside.git")
    (root / "elsewhere" / "link").symlink_to(tmp_path / "outside.git")
    gitdash.run("scan", root)
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert (ended.returncode, "elsewhere/link borrows from it" in ended.stdout) == (ExitCode.REFUSED, True)


def test_borrower_in_the_lenders_own_folder_is_remembered(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    (lender.path / "modules").mkdir()
    borrower.path.rename(lender.path / "modules" / "sub")
    gitdash.run("scan", root)
    (lender.path / "modules").rename(tmp_path / "aside")
    ended = gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", "lend.git")
    assert (ended.returncode, "modules/sub borrowed from it" in ended.stdout) == (ExitCode.REFUSED, True)


@pytest.mark.parametrize(("look_number", "commands"), [(1, ["fsck"]), (2, ["fsck", "repack"])])
def test_borrower_that_comes_while_reclaim_runs_stops_it_before_anything_more_is_dropped(
    tmp_path: Path, look_number: int, commands: list[str]
) -> None:
    lender, borrower = lender_and_borrower(tmp_path, "elsewhere")
    looks: list[Neighbourhood] = []

    def look() -> Neighbourhood:
        looks.append(Neighbourhood())
        return Neighbourhood(paths=frozenset({os.fsencode(borrower.path)})) if len(looks) == look_number else looks[-1]

    result = run(lender, Task.RECLAIM, confirmed_name=b"lend.git", look_around=look)
    assert result.outcome is Outcome.REFUSED
    assert f"others may need its objects: {borrower.path} borrows from it" in result.sentence
    ran = [next(word for word in command.argv if word in {"fsck", "repack", "prune"}) for command in result.commands]
    assert ran == commands
    if look_number == 1:
        assert not complaints(borrower)


def test_plan_and_outcome_of_reclaim_name_the_folders_that_were_searched(tmp_path: Path, gitdash: Gitdash) -> None:
    lender = GitRepository.init(tmp_path / "root" / "lend.git")
    lender.commit({"a": "1"})
    lender.blob(b"nothing references this")
    grow_old(lender)
    gitdash.run("scan", tmp_path / "root")
    said = f"looked for borrowers below {tmp_path}/root"
    asked = ("maintain", lender.path, "--task", "reclaim")
    assert said in gitdash.run(*asked, "--dry-run").stdout
    document = json.loads(gitdash.run(*asked, "--dry-run", "--format", "json").stdout)
    assert said in json.dumps(document)
    assert said in gitdash.run(*asked, "--confirm", "lend.git").stdout


def test_folder_of_fsck_that_only_root_may_enter_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "lost and found").mkdir()
    assert is_lost_and_found(os.fsencode(tmp_path / "lost+found")) is (os.geteuid() == 0)
    assert not is_lost_and_found(os.fsencode(tmp_path / "lost and found"))
    assert not is_lost_and_found(os.fsencode(tmp_path / "nothing" / "lost+found"))
