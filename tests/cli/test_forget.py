"""`gitdash forget`, end to end: what is gone is forgotten, what is there is not, what may be away only if asked to."""

import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from gitdash.errors import ExitCode
from gitdash.history.store import History, Loan, open_history
from tests.cli.process import Gitdash
from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository


def state_of(gitdash: Gitdash) -> History:
    return open_history(os.fspath(gitdash.folder / "state" / "state.db"))


def remembered(gitdash: Gitdash) -> tuple[set[str], set[str]]:
    """Names of the repositories that are known, and of those that are known to borrow."""
    with state_of(gitdash) as history:
        known = {Path(os.fsdecode(path)).name for path in history.paths([b"/"])}
        return known, {Path(os.fsdecode(loan.borrower)).name for loan in history.loans.all()}


def test_what_is_gone_is_forgotten_with_its_loans_and_the_rest_is_kept(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    shutil.rmtree(fleet / "member.git")
    ended = gitdash.run("forget", fleet)
    assert ended.returncode == ExitCode.DONE
    assert ended.stdout == f"forgot {fleet}/member.git, which borrowed from {fleet}/pool.git/objects\n"
    assert f"gitdash: {fleet}/pool.git is still there" in ended.stderr
    assert remembered(gitdash) == ({"pool.git", "work", "empty.git"}, set())


def test_path_below_which_nothing_is_gone_says_so_and_ends_with_1(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    before = remembered(gitdash)
    ended = gitdash.run("forget", fleet / "member.git")
    assert (ended.returncode, ended.stdout) == (ExitCode.FINDINGS, "")
    assert ended.stderr.startswith(f"gitdash: {fleet}/member.git is still there: `gitdash scan`")
    assert remembered(gitdash) == before


def test_unknown_path_is_one_sentence(gitdash: Gitdash, fleet: Path) -> None:
    ended = gitdash.run("forget", "nowhere", fleet)
    assert (ended.returncode, ended.stdout) == (ExitCode.FINDINGS, "")
    assert ended.stderr == (f"gitdash: nothing is remembered of {gitdash.folder}/nowhere, {fleet} or what lies below\n")


@pytest.mark.safety
@pytest.mark.parametrize("instead", ["empty folder", "link loop", "link to nothing"])
def test_what_may_only_be_out_of_sight_is_forgotten_with_yes_alone(gitdash: Gitdash, fleet: Path, instead: str) -> None:
    (fleet / "mount").mkdir()
    (fleet / "member.git").rename(fleet / "mount" / "member.git")
    gitdash.run("scan", fleet)
    (fleet / "mount").rename(fleet / "aside")
    if instead == "empty folder":
        (fleet / "mount").mkdir()
    else:
        (fleet / "mount").symlink_to("mount" if instead == "link loop" else "gone")
    shutil.rmtree(fleet / "work")
    ended = gitdash.run("forget", fleet)
    assert ended.returncode == ExitCode.REFUSED
    assert ended.stdout == f"forgot {fleet}/work\n"
    assert f"{fleet}/mount/member.git is not forgotten, for it may only be out of sight: {fleet}/mount" in ended.stderr
    assert remembered(gitdash)[1] == {"member.git"}
    assert gitdash.run("forget", fleet / "mount", "--yes").returncode == ExitCode.DONE
    assert "member.git" not in set().union(*remembered(gitdash))


def put_out_of_sight(gitdash: Gitdash, fleet: Path) -> None:
    """Have a scan see the borrower below what is an empty folder afterwards, as a mount point is."""
    (fleet / "mount").mkdir()
    (fleet / "member.git").rename(fleet / "mount" / "member.git")
    gitdash.run("scan", fleet)
    (fleet / "mount").rename(fleet / "aside")
    (fleet / "mount").mkdir()


@pytest.mark.parametrize(("answer", "exit_code", "borrowing"), [(b"y", 0, set()), (b"n", 3, {"member.git"})])
def test_who_is_at_a_terminal_is_asked(
    gitdash: Gitdash, fleet: Path, answer: bytes, exit_code: int, borrowing: set[str]
) -> None:
    put_out_of_sight(gitdash, fleet)
    with PtySession(gitdash.command("forget", fleet), environment=gitdash.environment) as session:
        session.wait_for_text("forget 1 repository, as gone for good? [y/N]")
        session.send(answer + b"\r")
        assert session.wait_for_exit() == exit_code
    assert b"mount/member.git may only be out of sight" in session.output
    assert remembered(gitdash)[1] == borrowing


def test_dry_run_says_what_would_be_forgotten_and_forgets_nothing(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    shutil.rmtree(fleet / "member.git")
    before = remembered(gitdash)
    ended = gitdash.run("forget", fleet, "--dry-run")
    assert (ended.returncode, ended.stdout.startswith(f"would forget {fleet}/member.git")) == (ExitCode.DONE, True)
    assert remembered(gitdash) == before


def test_json_says_what_was_forgotten_and_what_was_kept(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    shutil.rmtree(fleet / "member.git")
    document = json.loads(gitdash.run("forget", fleet, "--format", "json").stdout)
    assert document["forgotten"] == [
        {
            "path": f"{fleet}/member.git",
            "is_there": False,
            "out_of_sight": None,
            "borrowed_from": [{"path": f"{fleet}/pool.git/objects"}],
        }
    ]
    assert [one["path"] for one in document["kept"]] == [
        f"{fleet}/{name}" for name in ("empty.git", "pool.git", "work")
    ]
    assert (document["dry_run"], document["schema_version"]) == (False, 1)


def test_loan_of_one_that_is_there_and_borrows_no_more_is_forgotten_alone(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    (fleet / "member.git" / "objects" / "info" / "alternates").unlink()
    ended = gitdash.run("forget", fleet / "member.git")
    assert (ended.returncode, "it is there, and does not any more" in ended.stdout) == (ExitCode.DONE, True)
    known, borrowing = remembered(gitdash)
    assert ("member.git" in known, borrowing) == (True, set())


@pytest.mark.safety
def test_loan_of_one_that_may_be_hidden_by_another_is_forgotten_with_yes_alone(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    # moved, not removed: what is made next could get its inode
    (fleet / "member.git").rename(fleet.parent / "aside.git")
    GitRepository.init(fleet / "member.git")
    ended = gitdash.run("forget", fleet)
    assert (ended.returncode, "is another folder than was seen" in ended.stderr) == (ExitCode.REFUSED, True)
    assert remembered(gitdash)[1] == {"member.git"}
    assert gitdash.run("forget", fleet, "--yes").returncode == ExitCode.DONE
    assert remembered(gitdash)[1] == set()


@pytest.mark.safety
def test_work_tree_whose_git_directory_is_away_is_forgotten_with_yes_alone(gitdash: Gitdash, fleet: Path) -> None:
    GitRepository(fleet / "member.git").git("config", "core.bare", "false")
    git_dir = (fleet / "member.git").rename(fleet.parent / "separate.git")
    (fleet / "member").mkdir()
    (fleet / "member" / ".git").write_text(f"gitdir: {git_dir}\n")
    gitdash.run("scan", fleet)
    assert remembered(gitdash)[1] == {"member"}
    git_dir.rename(fleet.parent / "aside.git")
    ended = gitdash.run("forget", fleet)
    said = f"{fleet}/member is there, and {git_dir} with its objects is not"
    assert (ended.returncode, said in ended.stderr) == (ExitCode.REFUSED, True), ended.stderr
    assert remembered(gitdash)[1] == {"member"}
    ended = gitdash.run("forget", fleet, "--yes")
    assert (ended.returncode, "does not any more" in ended.stdout) == (ExitCode.DONE, False)
    assert remembered(gitdash)[1] == set()


def set_device(gitdash: Gitdash, device: int) -> None:
    """As if borrowers had been seen on another file system."""
    with state_of(gitdash) as history:
        for loan in history.loans.all():
            assert loan.place is not None
            other = msgspec.structs.replace(loan, place=(device, loan.place[1]))
            history.loans.change(ended=[loan], new=[other])


@pytest.mark.safety
def test_what_was_on_another_file_system_is_forgotten_with_yes_alone(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    shutil.rmtree(fleet / "member.git")
    set_device(gitdash, 2**40)
    ended = gitdash.run("forget", fleet)
    said = f"{fleet}/member.git was on a file system that is not to be seen there now"
    assert (ended.returncode, said in ended.stderr) == (ExitCode.REFUSED, True)
    assert gitdash.run("forget", fleet, "--yes").returncode == ExitCode.DONE


@pytest.mark.safety
def test_what_is_back_when_the_question_is_answered_is_kept(gitdash: Gitdash, fleet: Path) -> None:
    put_out_of_sight(gitdash, fleet)
    with PtySession(gitdash.command("forget", fleet), environment=gitdash.environment) as session:
        session.wait_for_text("forget 1 repository, as gone for good? [y/N]")
        (fleet / "mount").rmdir()
        (fleet / "aside").rename(fleet / "mount")
        session.send(b"y\r")
        assert session.wait_for_exit() == ExitCode.FINDINGS
    assert b"mount/member.git is still there" in session.output
    assert remembered(gitdash)[1] == {"member.git"}


@pytest.mark.safety
def test_borrower_whose_lender_is_away_is_not_forgotten_while_it_is_there(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    (fleet / "pool.git").rename(fleet / "aside.git")
    assert gitdash.run("forget", "--yes", fleet / "member.git").returncode == ExitCode.FINDINGS
    assert remembered(gitdash)[1] == {"member.git"}


@pytest.mark.parametrize(
    ("options", "exit_code", "said"),
    [
        (["--no-state"], ExitCode.WRONG_USE, "with --no-state nothing is remembered"),
        (["--read-only"], ExitCode.REFUSED, "nothing is forgotten in read-only mode"),
    ],
)
def test_nothing_is_forgotten_without_a_state_or_in_read_only_mode(
    gitdash: Gitdash, fleet: Path, options: list[str], exit_code: ExitCode, said: str
) -> None:
    gitdash.run("scan", fleet)
    shutil.rmtree(fleet / "member.git")
    before = remembered(gitdash)
    gitdash.options += options
    ended = gitdash.run("forget", fleet)
    assert (ended.returncode, said in ended.stderr, ended.stdout) == (exit_code, True, "")
    assert remembered(gitdash) == before


@pytest.mark.safety
def test_hostile_names_are_forgotten_and_shown_without_what_a_terminal_would_act_on(
    gitdash: Gitdash, tmp_path: Path
) -> None:
    folder = os.fsencode(tmp_path) + b"/odd\x1b[2J\xff\n.git"
    GitRepository.init(Path(os.fsdecode(folder))).commit({"a": "1"})
    gitdash.run("scan", tmp_path)
    shutil.rmtree(folder)
    assert "\x1b" not in gitdash.run("forget", os.fsdecode(folder), "--dry-run", "--format", "json").stdout
    assert gitdash.run("forget", os.fsdecode(folder)).stdout == f"forgot {tmp_path}/odd\\x1b[2J\\xff\\x0a.git\n"


def test_more_than_twenty_are_counted(gitdash: Gitdash, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    loans = [
        Loan(
            borrower=folder + b"/%02d.git" % number,
            alternates_path=folder + b"/%02d.git/objects/info/alternates" % number,
            store_path=b"/pool",
            store=(1, 1),
        )
        for number in range(23)
    ]
    with state_of(gitdash) as history:
        history.loans.change(ended=[], new=loans)
    lines = gitdash.run("forget", tmp_path).stdout.splitlines()
    assert (len(lines), lines[0]) == (21, f"forgot {tmp_path}/00.git, which borrowed from /pool")
    assert lines[-1] == "… and 3 more"
    assert remembered(gitdash) == (set(), set())


def test_forgetting_starts_no_git(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.run("scan", fleet)
    shutil.rmtree(fleet / "member.git")
    gitdash.git_calls()
    assert gitdash.run("--git", "/nowhere/git", "forget", fleet).returncode == ExitCode.DONE
    assert gitdash.git_calls() == []


def lose_objects(fleet: Path, how: str) -> Path:
    """Make one below another folder whose objects, or what leads to them, are not there."""
    lost = GitRepository.init(fleet.parent / "elsewhere" / "lost")
    lost.commit({"a": "1"})
    if how == "no objects":
        shutil.rmtree(lost.git_dir / "objects")
        (lost.git_dir / "objects").mkdir()
    else:
        lost.path.rename(fleet.parent / "aside")
        lost.path.mkdir()
        (lost.path / ".git").symlink_to(fleet.parent / "away")
    return lost.path


@pytest.mark.safety
@pytest.mark.parametrize("how", ["no objects", "a link to nothing"])
@pytest.mark.parametrize("looked", ["scan", "nobody"])
def test_what_is_there_without_its_objects_is_given_up_by_word_and_only_as_long_as_they_are_missing(
    gitdash: Gitdash, fleet: Path, how: str, looked: str
) -> None:
    lost = lose_objects(fleet, how)
    gitdash.run("scan", fleet)
    gitdash.run("scan", lost.parent if looked == "scan" else fleet / "member.git")
    lend = GitRepository.init(lost.parent / "lend.git" if looked == "nobody" else fleet / "lend.git")
    gitdash.run("scan", lend.path.parent)
    reclaim = ("maintain", lend.path, "--task", "reclaim", "--dry-run")
    refusal = gitdash.run(*reclaim).stdout
    assert f"others may need its objects: {lost} may borrow from it" in refusal
    assert f"`gitdash forget {lost}`" in refusal
    ended = gitdash.run("forget", lost)
    assert (ended.returncode, "may only be out of sight: it" in ended.stderr) == (ExitCode.REFUSED, True)
    assert refusal == gitdash.run(*reclaim).stdout
    ended = gitdash.run("forget", lost, "--yes")
    assert ended.returncode == ExitCode.DONE
    assert ended.stdout.startswith(f"forgot what {lost} may borrow, which is there: it")
    assert "linked-store" not in gitdash.run(*reclaim).stdout
    assert gitdash.run("forget", lost).returncode == ExitCode.FINDINGS
    objects = bring_back(fleet, lost, how)
    (objects / "info").mkdir(exist_ok=True)
    (objects / "info" / "alternates").write_text(f"{lend.path}/objects\n")
    assert f"{lost} borrows from it" in gitdash.run(*reclaim).stdout


def bring_back(fleet: Path, lost: Path, how: str) -> Path:
    if how == "no objects":
        return lost / "objects"
    (fleet.parent / "aside").rename(fleet.parent / "away")
    return fleet.parent / "away" / "objects"


@pytest.mark.safety
def test_scan_that_finds_the_objects_again_ends_what_was_given_up(gitdash: Gitdash, fleet: Path) -> None:
    lost = lose_objects(fleet, "no objects")
    gitdash.run("scan", lost.parent)
    assert gitdash.run("forget", lost, "--yes").returncode == ExitCode.DONE
    gitdash.run("scan", lost.parent)
    with state_of(gitdash) as history:
        assert [Path(os.fsdecode(one.git_dir)) for one in history.searched.given_up()] == [lost]
    GitRepository(lost).git("hash-object", "-w", "--stdin", stdin=b"an object")
    gitdash.run("scan", lost.parent)
    with state_of(gitdash) as history:
        assert history.searched.given_up() == set()
