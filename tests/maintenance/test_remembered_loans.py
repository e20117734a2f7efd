"""What a borrower needs that is away for the moment is not dropped: not unless somebody says that it is gone."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from gitdash.errors import ExitCode
from gitdash.history.records import Loan
from gitdash.history.store import open_history
from gitdash.maintenance.remembered_loans import is_same_folder, stores_of, told_borrower
from gitdash.model.task import Task
from tests.cli.process import Gitdash
from tests.maintenance.test_sharers import bind_mount, lender_and_borrower
from tests.support.old_stores import complaints, grow_old
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety


@pytest.fixture
def gitdash(tmp_path: Path) -> Gitdash:
    return Gitdash.make(tmp_path / "run")


def reclaim(gitdash: Gitdash, lender: GitRepository) -> "subprocess.CompletedProcess[str]":
    return gitdash.run("maintain", lender.path, "--task", "reclaim", "--confirm", lender.path.name)


@contextmanager
def unmounted(folder: Path, aside: Path) -> Iterator[None]:
    """A mount point while nothing is mounted there."""
    folder.rename(aside)
    folder.mkdir()
    yield
    folder.rmdir()
    aside.rename(folder)


@contextmanager
def moved(folder: Path, aside: Path) -> Iterator[None]:
    folder.rename(aside)
    yield
    aside.rename(folder)


@contextmanager
def looped(folder: Path, aside: Path) -> Iterator[None]:
    folder.rename(aside)
    folder.symlink_to(folder.name)
    yield
    folder.unlink()
    aside.rename(folder)


@contextmanager
def without_alternates(folder: Path, aside: Path) -> Iterator[None]:
    alternates = folder / "borrow.git" / "objects" / "info" / "alternates"
    (alternates.parent / "packs").write_text("")
    alternates.rename(aside)
    yield
    aside.rename(alternates)


@pytest.mark.parametrize("away", [unmounted, moved, looped, without_alternates])
@pytest.mark.parametrize("is_surveyed_meanwhile", [False, True])
def test_nothing_is_reclaimed_that_a_borrower_needs_which_is_away(
    tmp_path: Path, gitdash: Gitdash, away, is_surveyed_meanwhile: bool
) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    gitdash.run("scan", root)
    with away(root / "elsewhere", tmp_path / "aside"):
        if is_surveyed_meanwhile and away is not without_alternates:
            gitdash.run("scan", root)
        ended = reclaim(gitdash, lender)
        assert ended.returncode == ExitCode.REFUSED, ended.stdout
        assert f"{borrower.path} borrowed from it when last seen" in ended.stdout
    assert not complaints(borrower)
    gitdash.run("scan", root)
    assert "1 repository borrows from it" in reclaim(gitdash, lender).stdout


def test_nothing_is_reclaimed_while_the_mount_of_a_borrower_is_away(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    (root / "elsewhere").rename(tmp_path / "disk")
    with bind_mount(tmp_path / "disk", root / "elsewhere"):
        gitdash.run("scan", root)
    gitdash.run("scan", root)
    ended = reclaim(gitdash, lender)
    assert (ended.returncode, f"{borrower.path} borrowed" in ended.stdout) == (ExitCode.REFUSED, True)
    with bind_mount(tmp_path / "disk", root / "elsewhere"):
        assert not complaints(borrower)


def test_lender_that_was_moved_since_is_known_again(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    gitdash.run("scan", root)
    (root / "elsewhere").rename(tmp_path / "aside")
    lender = GitRepository(lender.path.rename(root / "moved.git"))
    gitdash.run("scan", root)
    ended = reclaim(gitdash, lender)
    assert (ended.returncode, f"{borrower.path} borrowed" in ended.stdout) == (ExitCode.REFUSED, True)


def test_lender_that_was_restored_from_a_copy_is_known_again(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    gitdash.run("scan", root)
    (root / "elsewhere").rename(tmp_path / "aside")
    shutil.copytree(lender.path, tmp_path / "copy.git", symlinks=True)
    lender.path.rename(tmp_path / "kept.git")
    (tmp_path / "copy.git").rename(lender.path)
    grow_old(lender)
    gitdash.run("scan", root)
    ended = reclaim(gitdash, lender)
    assert (ended.returncode, f"{borrower.path} borrowed" in ended.stdout) == (ExitCode.REFUSED, True)


def test_reclaim_is_done_once_the_borrower_is_forgotten(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    GitRepository.init(root / "elsewhere" / "other.git")
    gitdash.run("scan", root)
    shutil.rmtree(borrower.path)
    gitdash.run("scan", root)
    ended = reclaim(gitdash, lender)
    assert ended.returncode == ExitCode.REFUSED
    assert (
        f"others may need its objects: {borrower.path} borrowed from it when last seen, and is not there now; if it is"
        f" gone for good: `gitdash forget {borrower.path}`"
    ) in ended.stdout
    assert gitdash.run("forget", borrower.path).returncode == ExitCode.DONE
    ended = reclaim(gitdash, lender)
    assert (ended.returncode, "dropped for good" in ended.stdout) == (ExitCode.DONE, True)


def another_repository(folder: Path, aside: Path) -> None:
    (folder / "borrow.git").rename(aside)
    GitRepository.init(folder / "borrow.git").commit({"own": "1"})


def empty_objects(folder: Path, aside: Path) -> None:
    """As when the file system on which the objects are is not mounted."""
    (folder / "borrow.git" / "objects").rename(aside)
    (folder / "borrow.git" / "objects").mkdir()


def empty_info(folder: Path, aside: Path) -> None:
    (folder / "borrow.git" / "objects" / "info").rename(aside)
    (folder / "borrow.git" / "objects" / "info").mkdir()


def info_behind_a_link_to_nothing(folder: Path, aside: Path) -> None:
    (folder / "borrow.git" / "objects" / "info").rename(aside)
    (folder / "borrow.git" / "objects" / "info").symlink_to(aside.with_name("gone"))


@pytest.mark.parametrize("instead", [another_repository, empty_objects, empty_info, info_behind_a_link_to_nothing])
def test_survey_of_what_is_in_place_of_a_borrower_ends_no_loan(tmp_path: Path, gitdash: Gitdash, instead) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    gitdash.run("scan", root)
    instead(root / "elsewhere", tmp_path / "aside")
    gitdash.run("scan", root)
    ended = reclaim(gitdash, lender)
    assert (ended.returncode, f"{borrower.path} " in ended.stdout) == (ExitCode.REFUSED, True), ended.stdout


def test_alternates_file_that_is_a_link_is_remembered(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    alternates = borrower.git_dir / "objects" / "info" / "alternates"
    alternates.rename(tmp_path / "alternates")
    alternates.symlink_to(tmp_path / "alternates")
    assert not complaints(borrower)
    gitdash.run("scan", root)
    (root / "elsewhere").rename(tmp_path / "aside")
    ended = reclaim(gitdash, lender)
    assert (ended.returncode, f"{borrower.path} borrowed" in ended.stdout) == (ExitCode.REFUSED, True)


def state(gitdash: Gitdash) -> str:
    return os.fspath(gitdash.folder / "state" / "state.db")


@pytest.mark.parametrize("task", [Task.DEDUPLICATE, Task.UNLINK])
def test_member_that_lends_is_left_alone_while_its_borrower_is_away(
    tmp_path: Path, gitdash: Gitdash, task: Task
) -> None:
    root = tmp_path / "root"
    first, middle = lender_and_borrower(root, "elsewhere")
    last = GitRepository.init(root / "last" / "last.git")
    last.borrow_from(middle)
    first.git("update-ref", "refs/heads/kept", middle.git("rev-parse", "main"))
    gitdash.run("scan", root)
    (root / "last").rename(tmp_path / "aside")
    gitdash.run("scan", root)
    ended = gitdash.run("maintain", middle.path, "--task", task, "--yes")
    assert ended.returncode == ExitCode.REFUSED, ended.stdout
    assert f"{last.path} borrowed from it when last seen, and is not there now" in ended.stdout


def test_quarantine_that_another_borrowed_from_is_not_swept(tmp_path: Path, gitdash: Gitdash) -> None:
    root = tmp_path / "root"
    lender, borrower = lender_and_borrower(root, "elsewhere")
    quarantine = lender.git_dir / "objects" / "tmp_objdir-incoming-aBc012"
    (quarantine / "pack").mkdir(parents=True)
    alternates = borrower.git_dir / "objects" / "info" / "alternates"
    alternates.write_text(f"{alternates.read_text()}{quarantine}\n")
    gitdash.run("scan", root)
    (root / "elsewhere").rename(tmp_path / "aside")
    grow_old(lender)
    for folder in (quarantine / "pack", quarantine):
        os.utime(folder, (1_000_000_000, 1_000_000_000))
    ended = gitdash.run("maintain", lender.path, "--task", "sweep", "--yes")
    assert quarantine.is_dir()
    assert f"{borrower.path} borrowed objects from it when last seen" in ended.stdout
    (tmp_path / "aside").rename(tmp_path / "gone")
    gitdash.run("forget", borrower.path)
    assert gitdash.run("maintain", lender.path, "--task", "sweep", "--yes").returncode == ExitCode.DONE
    assert not quarantine.exists()


def a_loan(borrower: Path, store_path: Path, store: tuple[int, int] = (1, 2)) -> Loan:
    alternates_path = os.fsencode(borrower) + b"/objects/info/alternates"
    return Loan(
        borrower=os.fsencode(borrower), alternates_path=alternates_path, store_path=os.fsencode(store_path), store=store
    )


def test_inode_that_was_given_out_again_keeps_what_it_is_now_from_being_reclaimed(
    tmp_path: Path, gitdash: Gitdash
) -> None:
    lender, borrower = lender_and_borrower(tmp_path / "root", "elsewhere")
    shutil.rmtree(borrower.path.parent)
    gitdash.run("scan", tmp_path / "root")
    found = (lender.git_dir / "objects").stat()
    loan = a_loan(tmp_path / "nowhere.git", tmp_path / "former" / "objects", (found.st_dev, found.st_ino))
    with open_history(state(gitdash)) as history:
        history.loans.change(ended=[], new=[loan])
    assert reclaim(gitdash, lender).returncode == ExitCode.REFUSED
    gitdash.run("forget", tmp_path / "nowhere.git")
    assert reclaim(gitdash, lender).returncode == ExitCode.DONE


def test_store_is_told_by_its_identity_its_path_what_lies_in_it_and_what_leads_to_it(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "x.git")
    objects = repository.git_dir / "objects"
    (tmp_path / "link").symlink_to(objects)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "pack").symlink_to(objects / "pack")
    (tmp_path / "other").mkdir()
    found = objects.stat()
    known = {
        "identity": ((found.st_dev, found.st_ino), b"/gone/objects"),
        "path": ((1, 1), os.fsencode(objects)),
        "inside": ((1, 2), os.fsencode(objects / "incoming-aBc012")),
        "link": ((1, 3), os.fsencode(tmp_path / "link")),
        "folder of links": ((1, 4), os.fsencode(tmp_path / "store")),
    }
    others = [
        ((found.st_dev + 1, found.st_ino), b"/gone"),
        ((1, 5), os.fsencode(tmp_path / "other")),
        ((1, 6), os.fsencode(objects) + b"x"),
    ]
    assert stores_of(os.fsencode(repository.git_dir), [*known.values(), *others]) == sorted(known.values())


def test_first_that_is_away_is_named_and_the_others_are_counted(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "a.git")
    names = ("a.git", "b .git", "c.git")
    loans = [a_loan(tmp_path / name, tmp_path / "lend.git" / "objects") for name in names]
    assert told_borrower([]) is None
    assert told_borrower(loans) == (
        f"{tmp_path}/b .git borrowed from it when last seen, and is not there now (2 more borrowed, too); if it is gone"
        f" for good: `gitdash forget '{tmp_path}/b .git'`"
    )
    found = (tmp_path / "a.git" / "objects" / "info").stat()
    seen = msgspec.structs.replace(loans[0], place=(found.st_dev, found.st_ino))
    assert told_borrower([seen]) == (
        f"{tmp_path}/a.git borrowed from it when last seen; `gitdash scan {tmp_path}/a.git` sees whether it still does"
    )


@pytest.mark.parametrize("number", [0, 1])
def test_folder_is_the_same_by_device_and_inode_alone(tmp_path: Path, number: int) -> None:
    GitRepository.init(tmp_path / "a.git")
    found = (tmp_path / "a.git" / "objects" / "info").stat()
    place = [found.st_dev, found.st_ino]
    loan = msgspec.structs.replace(a_loan(tmp_path / "a.git", tmp_path / "lend.git" / "objects"), place=tuple(place))
    assert is_same_folder(loan)
    place[number] += 1
    other = msgspec.structs.replace(loan, place=tuple(place))
    assert not is_same_folder(other)
    assert not is_same_folder(msgspec.structs.replace(loan, place=None))
    assert told_borrower([loan, other]) == (
        f"{tmp_path}/a.git borrowed from it when last seen, and what is there now is not the folder that was seen; if"
        f" it is gone for good: `gitdash forget {tmp_path}/a.git`"
    )
