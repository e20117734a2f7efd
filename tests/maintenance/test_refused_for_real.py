"""Each reason to refuse, once for real: a repository in which it holds, a task asked for, and nothing changed."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.maintenance.refusals import RULES
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support.chaos import small_volume
from tests.support.old_stores import grow_old
from tests.support.repositories import GitRepository, git_version
from tests.support.task_runs import make_lender_and_member, run

pytestmark = pytest.mark.safety

Prepare = Callable[[GitRepository, Path], GitRepository | None]
"""Makes the reason hold; returns another repository to ask if it is not the one that it got."""


def write(repository: GitRepository, name: str, content: str = "") -> None:
    path = repository.git_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def config(*pair: str) -> Prepare:
    return lambda repository, _: repository.git("config", *pair) and None


def file(name: str, content: str = "") -> Prepare:
    return lambda repository, _: write(repository, name, content)


def precious(repository: GitRepository, _: Path) -> None:
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.preciousObjects", "true")


def unknown(repository: GitRepository, _: Path) -> None:
    write(repository, "config", "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tstrange = 1\n")


def damaged_config(repository: GitRepository, _: Path) -> None:
    write(repository, "config", "[core\n")


def fifo(repository: GitRepository, _: Path) -> None:
    os.mkfifo(repository.git_dir / "objects" / "info" / "commit-graph")


def foreign(repository: GitRepository, _: Path) -> None:
    for folder, names, files in os.walk(repository.path):
        for name in (*names, *files, "."):
            os.chown(os.path.join(folder, name), 12345, 12345)


def linked_store(repository: GitRepository, folder: Path) -> None:
    (repository.git_dir / "objects").rename(folder / "objects")
    (repository.git_dir / "objects").symlink_to(folder / "objects")


def linked(name: str) -> Prepare:
    """A folder that another repository has instead."""

    def prepare(repository: GitRepository, folder: Path) -> None:
        (folder / "elsewhere").mkdir()
        path = repository.git_dir / name
        if path.is_dir():
            shutil.rmtree(path)
        path.symlink_to(folder / "elsewhere")

    return prepare


def shared_pack_folder(_: GitRepository, folder: Path) -> GitRepository:
    """The lender's packs were moved to the member's disk."""
    lender, borrower = make_lender_and_member(folder)
    lender.repack()
    shutil.rmtree(borrower.git_dir / "objects" / "pack")
    (lender.git_dir / "objects" / "pack").rename(borrower.git_dir / "objects" / "pack")
    (lender.git_dir / "objects" / "pack").symlink_to(borrower.git_dir / "objects" / "pack")
    return borrower


def linked_pack(repository: GitRepository, folder: Path) -> None:
    repository.repack()
    for path in (repository.git_dir / "objects" / "pack").glob("pack-*"):
        path.rename(folder / path.name)
        path.symlink_to(folder / path.name)


def running_gc(repository: GitRepository, _: Path) -> None:
    write(repository, "gc.pid", f"{os.getpid()} {socket.gethostname()}")


def missing_lender(repository: GitRepository, folder: Path) -> None:
    write(repository, "objects/info/alternates", f"{folder}/nowhere/objects\n")


def partial(repository: GitRepository, _: Path) -> None:
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.partialClone", "origin")
    repository.git("config", "remote.origin.promisor", "true")


def shallow(repository: GitRepository, folder: Path) -> GitRepository:
    repository.commit({"a": "2"})
    repository.commit({"a": "3"})
    path = folder / "shallow.git"
    repository.git("clone", "--quiet", "--bare", "--depth=1", f"file://{repository.path}", os.fspath(path))
    return GitRepository(path)


def member(_: GitRepository, folder: Path) -> GitRepository:
    return make_lender_and_member(folder)[1]


def reference_of_a_worktree(_: GitRepository, folder: Path) -> GitRepository:
    clone = GitRepository.init(folder / "clone", bare=False)
    commit = clone.commit({"a": "1"})
    clone.git("worktree", "add", "--quiet", folder / "linked", "-b", "linked")
    clone.git("-C", folder / "linked", "update-ref", "refs/worktree/keep", commit)
    return clone


def unreferenced_lender(_: GitRepository, folder: Path) -> GitRepository:
    """All that it had was deleted; its objects are there until a gc."""
    lender, borrower = make_lender_and_member(folder)
    for name in lender.git("for-each-ref", "--format=%(refname)").split():
        lender.git("update-ref", "-d", name)
    return borrower


def broken_reference(repository: GitRepository, _: Path) -> None:
    write(repository, "refs/heads/broken", "0123456789" * 4 + "\n")
    grow_old(repository)


def kept_pack(repository: GitRepository, _: Path) -> None:
    repository.repack()
    repository.packs()[0].with_suffix(".keep").write_text("kept by a person\n")
    repository.commit({"a": "2"})


def chain(repository: GitRepository, _: Path) -> None:
    if git_version() < (2, 55):
        pytest.skip("this git writes no chain of multi-pack-indexes")
    for number in range(3):
        repository.commit({"a": f"{number} more"})
        repository.git("repack", "-d", "-q")
        repository.git("multi-pack-index", "write", "--incremental")


REASONS: dict[str, tuple[Task, Prepare, str]] = {
    "unreadable": (Task.PACK_REFS, damaged_config, "config"),
    "irregular-file": (Task.FULL_REPACK, fifo, "a FIFO"),
    "paused": (Task.VERIFY, config("gitdash.pause", "until Monday"), "gitdash.pause"),
    "symbolic-link": (Task.PACK_REFS, linked("refs/tags"), "refs/tags"),
    "linked-store": (Task.RECLAIM, linked_store, "a symbolic link"),
    "shared-with-lender": (Task.DEDUPLICATE, shared_pack_folder, "objects/pack is that of its lender"),
    "linked-object": (Task.GEOMETRIC_REPACK, linked_pack, ".idx is a symbolic link"),
    "gc-running": (Task.PACK_REFS, running_gc, "gc.pid"),
    "live-lock": (Task.PACK_REFS, file("packed-refs.lock"), "packed-refs.lock"),
    "operation-in-progress": (Task.PACK_REFS, file("rebase-merge/head-name", "refs/heads/x"), "a rebase"),
    "precious-objects": (Task.FULL_REPACK, precious, "preciousObjects"),
    "unknown-format": (Task.PACK_REFS, unknown, "strange"),
    "lender-missing": (Task.FULL_REPACK, missing_lender, "nowhere/objects"),
    "partial-clone": (Task.FULL_REPACK, partial, "missing on purpose"),
    "shallow": (Task.COMMIT_GRAPH, shallow, "its history is cut"),
    "lends-objects": (Task.RECLAIM, file("refs/dangling/x", "0" * 40 + "\n"), "refs/dangling"),
    "worktree-references": (Task.RECLAIM, reference_of_a_worktree, "linked has references of its own"),
    "borrows-objects": (Task.FULL_REPACK, member, "would get a copy of everything"),
    "no-lender": (Task.UNLINK, lambda *_: None, "it borrows from no other repository"),
    "unreferenced-lender": (Task.DEDUPLICATE, unreferenced_lender, "has no reference"),
    "broken-references": (Task.FULL_REPACK, broken_reference, "refs/heads/broken"),
    "config-stops-git": (Task.PACK_REFS, config("core.compression", "99"), "core.compression"),
    "config-runs-program": (Task.RECLAIM, config("gc.recentObjectsHook", "touch ran"), "gc.recentobjectshook"),
    "config-reads-outside": (Task.VERIFY, config("fsck.skipList", "/dev/zero"), "fsck"),
    "multi-pack-index-chain": (Task.INCREMENTAL_REPACK, chain, "a chain"),
    "kept-packs": (Task.BITMAP, kept_pack, ".keep"),
}
ELSEWHERE = {
    "nothing-to-do",
    "shared-store",
    "read-only-mode",
    "mounted-read-only",
    "not-owner",
    "too-little-space",
    "maintenance-locked",
}
"""Rules that have a test of their own below or in test_lock.py; in read-only mode nothing is run at all."""


def everything_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        os.fspath(path): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
        if not path.is_dir() and path.name != "maintenance.lock"
    }


OTHER_OUTCOMES = {
    "no-lender": Outcome.NOTHING_TO_DO,
    "live-lock": Outcome.SKIPPED,
    "gc-running": Outcome.SKIPPED,
}
"""Of what is no danger: there is no need, or another process is at work."""


@pytest.mark.parametrize("rule", REASONS)
def test_it_is_refused_with_the_reason_and_nothing_changes(tmp_path: Path, rule: str) -> None:
    task, prepare, reason = REASONS[rule]
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    repository = prepare(repository, tmp_path) or repository
    before = everything_of(tmp_path)
    result = run(repository, task, confirmed_name=os.fsencode(repository.path.name))
    assert result.outcome is OTHER_OUTCOMES.get(rule, Outcome.REFUSED), result.sentence
    assert reason in result.sentence
    assert not result.commands
    assert everything_of(tmp_path) == before
    assert not list(tmp_path.rglob("maintenance.lock"))


def test_what_has_nothing_to_work_on_is_neither_run_nor_called_a_danger(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    result = run(repository, Task.INCREMENTAL_REPACK)
    assert (result.outcome, result.sentence) == (Outcome.NOTHING_TO_DO, "there are no packs")
    assert not result.commands


def test_every_rule_is_tried_for_real() -> None:
    assert {rule.id for rule, _ in RULES} == REASONS.keys() | ELSEWHERE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_is_not_even_locked(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    foreign(repository, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    result = run(repository, Task.PACK_REFS)
    assert result.outcome is Outcome.REFUSED
    assert "user 12345 owns it" in result.sentence
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_what_is_mounted_read_only_and_what_has_no_room(tmp_path: Path) -> None:
    with small_volume(tmp_path / "volume", 1 << 20) as volume:
        if volume is None:
            pytest.skip("no file system can be mounted here")
        repository = GitRepository.init(volume / "one.git")
        repository.blob(os.urandom(300_000))
        repository.commit({"a": "1"})
        repository.git("repack", "-a", "-d", "-q", "-k")
        (volume / "filler").write_bytes(b"\0" * 400_000)
        result = run(repository, Task.FULL_REPACK)
        assert result.outcome is Outcome.REFUSED, result.sentence
        assert "of free space" in result.sentence
        (volume / "filler").unlink()
        subprocess.run(["mount", "-o", "remount,ro", os.fspath(volume)], check=True)
        result = run(repository, Task.PACK_REFS)
        assert result.outcome is Outcome.REFUSED
        assert "Read-only file system" in result.sentence
        assert run(repository, Task.VERIFY).outcome is Outcome.DONE


def test_a_member_whose_lender_went_away_while_it_waited(tmp_path: Path) -> None:
    lender, borrower = make_lender_and_member(tmp_path)
    shutil.rmtree(lender.path)
    assert run(borrower, Task.DEDUPLICATE).outcome is Outcome.REFUSED
