"""Maintenance while others maintain the same repository, or push to it: nothing is lost, and nothing is made up."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from gitdash.errors import ExitCode
from tests.cli.process import Gitdash
from tests.support.old_stores import complaints, visible_objects
from tests.support.repositories import GIT, GitRepository, clean_environment

LIMIT_S = 60.0
UNDER_LOAD = ("geometric-repack", "pack-refs", "incremental-repack", "full-repack")
STALL = "#!/bin/sh\n[ -e {here}/once ] && exit 0\n: >{here}/once\n: >{here}/begun\ncat {here}/gate\n"
"""A hook that waits, the first time it is called, until the test has opened the gate."""


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "one.git")
    for number in range(3):
        made.commit({"a": os.urandom(2_000), "b": str(number)})
        made.git("repack", "-d", "-q")
    return made


@contextmanager
def stalled(folder: Path, hook: Path, command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command up to a hook that it calls; at the end it goes on, and has to succeed."""
    for name in ("gate", "begun"):
        os.mkfifo(folder / name)
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(STALL.format(here=folder))
    hook.chmod(0o755)
    with subprocess.Popen(command, env=clean_environment(), stderr=subprocess.PIPE) as process:
        try:
            with (folder / "begun").open("rb") as begun:
                begun.read()
            assert process.poll() is None
            yield process
        finally:
            (folder / "gate").open("wb").close()
            _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, said


def make_clone(repository: GitRepository, folder: Path) -> GitRepository:
    """A clone with a commit that the repository does not have, on the branch `new`."""
    repository.git("clone", "-q", "--no-local", repository.path, folder)
    clone = GitRepository(folder, clock_s=repository.clock_s)
    clone.commit({"a": os.urandom(2_000), "c": "pushed"}, reference="refs/heads/new", parents=[_tip(repository)])
    return clone


@contextmanager
def again_and_again(act: Callable[[int], None]) -> Iterator[None]:
    """Do something in another thread until the end, each time with the next number."""
    over = threading.Event()

    def run() -> None:
        for number in count():
            if over.is_set():
                break
            act(number)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LIMIT_S)


def _tip(repository: GitRepository) -> str:
    return repository.git("rev-parse", "main")


def push_command(clone: GitRepository, *what: str) -> list[str]:
    return [GIT, "-C", os.fspath(clone.path), "push", "-q", "origin", *what]


def maintenance_of_git(repository: GitRepository, folder: Path) -> tuple[Path, list[str]]:
    """A hook that git maintenance calls while it has the lock, and the command; the hook is not the repository's."""
    hook = folder / "hooks" / "reference-transaction"
    command = [GIT, "-c", f"core.hooksPath={hook.parent}", "-C", os.fspath(repository.path)]
    return hook, [*command, "maintenance", "run", "--task=pack-refs"]


@pytest.mark.oracle
def test_maintenance_of_git_that_is_under_way_is_named_and_nothing_is_done(
    gitdash: Gitdash, repository: GitRepository, tmp_path: Path
) -> None:
    packs = repository.packs()
    with stalled(tmp_path, *maintenance_of_git(repository, tmp_path)) as process:
        finished = gitdash.run("maintain", repository.path, "--task", "full-repack", "--yes")
        assert (repository.git_dir / "objects" / "maintenance.lock").exists()
        assert repository.packs() == packs
        preview = gitdash.run("maintain", repository.path, "--task", "full-repack", "--dry-run")
    assert (finished.returncode, preview.returncode) == (ExitCode.FINDINGS, ExitCode.FINDINGS)
    sentence = f"objects/maintenance.lock, held by PID {process.pid} since "
    assert f"refused: maintenance-locked: {sentence}" in finished.stdout
    assert "maintain full-repack: skipped (lock held)" in finished.stdout
    (entry,) = gitdash.json("history", repository.path)["actions"]
    assert (entry["outcome"], entry["reason"], entry["commands"]) == ("skipped", "lock held", [])
    assert entry["sentence"].startswith(sentence)
    assert gitdash.run("maintain", repository.path, "--task", "full-repack", "--yes").returncode == ExitCode.DONE
    assert len(repository.packs()) == 1


@pytest.mark.oracle
def test_maintenance_of_git_that_begins_after_the_plan_has_ours_skipped(
    gitdash: Gitdash, repository: GitRepository, tmp_path: Path
) -> None:
    """git would say exit code 0 of what it skips. It begins while a person still reads the plan."""
    packs = repository.packs()
    person, terminal = os.openpty()
    command = gitdash.command("maintain", repository.path, "--task", "full-repack")
    with subprocess.Popen(
        command, env=gitdash.environment, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as asking:
        assert asking.stderr is not None
        said = b""
        while b"[y/N]" not in said:
            chunk = asking.stderr.read1()
            assert chunk, said
            said += chunk
        with stalled(tmp_path, *maintenance_of_git(repository, tmp_path)) as process:
            os.write(person, b"y\n")
            output, more = asking.communicate(timeout=LIMIT_S)
            assert repository.packs() == packs
    os.close(person)
    os.close(terminal)
    assert asking.returncode == ExitCode.FINDINGS
    sentence = f"objects/maintenance.lock is held by PID {process.pid} since "
    assert "maintain full-repack: skipped (lock held)" in output.decode()
    assert sentence in (output + more).decode()
    (entry,) = gitdash.json("history", repository.path)["actions"]
    assert (entry["outcome"], entry["reason"], entry["commands"]) == ("skipped", "lock held", [])
    assert entry["sentence"].startswith(sentence)


@pytest.mark.oracle
@pytest.mark.parametrize("unpack_limit", ["1", "1000"], ids=["as a pack", "as loose objects"])
def test_push_in_quarantine_survives_a_full_repack(
    gitdash: Gitdash, repository: GitRepository, tmp_path: Path, unpack_limit: str
) -> None:
    """What is pushed waits in a folder of its own until the repository's hook agrees."""
    repository.git("config", "receive.unpackLimit", unpack_limit)
    clone = make_clone(repository, tmp_path / "clone")
    before = visible_objects(repository)
    hook = repository.git_dir / "hooks" / "pre-receive"
    with stalled(tmp_path, hook, push_command(clone, "new")):
        objects = repository.git_dir / "objects"
        assert [*objects.glob("tmp_objdir-*"), *objects.glob("incoming-*")]
        tasks = ("full-repack", "loose-objects", "sweep", "pack-refs", "commit-graph")
        options = [word for task in tasks for word in ("--task", task)]
        finished = gitdash.run("maintain", repository.path, *options, "--yes")
        assert finished.returncode == 0, finished.stderr
        assert len(repository.packs()) == 1
        assert repository.git("rev-parse", "--verify", "-q", "new", check=False) == ""
    new = clone.git("rev-parse", "new")
    assert repository.git("rev-parse", "new") == new
    pushed = clone.git("rev-list", "--objects", "--no-object-names", "new").split()
    assert visible_objects(repository) == before | set(pushed)
    assert not complaints(repository)
    entries = gitdash.json("history", repository.path)["actions"]
    assert {entry["outcome"] for entry in entries} <= {"done", "nothing to do"}
    assert [entry["outcome"] for entry in entries if entry["task"] == "full-repack"] == ["done"]


@pytest.mark.oracle
def test_pushes_and_commits_during_maintenance_are_all_there(
    gitdash: Gitdash, repository: GitRepository, tmp_path: Path
) -> None:
    repository.git("config", "receive.unpackLimit", "3")
    # a push would start maintenance of its own and hold the lock; that is another test
    repository.git("config", "receive.autoGC", "false")
    clone = make_clone(repository, tmp_path / "clone")
    start = _tip(repository)
    tips: dict[str, str] = {}
    failures: list[bytes] = []

    def push(number: int) -> None:
        name = f"refs/heads/pushed-{number}"
        tip = clone.commit({"a": os.urandom(500)}, reference=name, parents=[start])
        finished = subprocess.run(push_command(clone, name), env=clean_environment(), capture_output=True)
        if finished.returncode:
            failures.append(finished.stderr)
        tips[name] = tip

    def commit(number: int) -> None:
        name = f"refs/heads/committed-{number}"
        tips[name] = writer.commit({"a": os.urandom(500)}, reference=name, parents=[start])

    writer = GitRepository(repository.path, clock_s=repository.clock_s)
    with again_and_again(push), again_and_again(commit):
        for task in UNDER_LOAD:
            maintain_once(gitdash, repository, task)
    assert failures == []
    assert {name.rpartition("-")[0] for name in tips} == {"refs/heads/pushed", "refs/heads/committed"}
    listed = repository.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/*-*").splitlines()
    assert dict(line.split() for line in listed) == tips
    assert not complaints(repository)
    entries = gitdash.json("history", repository.path)["actions"]
    assert {entry["task"] for entry in entries if entry["outcome"] == "done"} == set(UNDER_LOAD)


def maintain_once(gitdash: Gitdash, repository: GitRepository, task: str) -> None:
    """A lock that a push has for a moment is no reason; everything else has to go well, too."""
    finished = gitdash.run("maintain", repository.path, "--task", task, "--yes")
    assert finished.returncode == ExitCode.DONE, finished.stdout + finished.stderr
