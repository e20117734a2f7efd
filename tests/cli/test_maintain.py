"""`gitdash maintain`: what a plan says, what is run of it, and with which exit code it ends."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from gitdash.errors import ExitCode
from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository


@pytest.fixture
def healthy(tmp_path: Path) -> GitRepository:
    """One pack with a bitmap and a multi-pack-index: no finding asks for anything."""
    made = GitRepository.init(tmp_path / "healthy.git")
    made.commit({"a": "1"})
    made.repack("--write-bitmap-index")
    made.git("multi-pack-index", "write")
    made.git("pack-refs", "--all")
    return made


@pytest.fixture
def untidy(tmp_path: Path) -> GitRepository:
    """Many packs, which a finding wants joined."""
    made = GitRepository.init(tmp_path / "untidy.git")
    for number in range(40):
        made.commit({"a": str(number)})
        made.git("repack", "-d", "-q")
    return made


@pytest.fixture
def bereft(tmp_path: Path) -> GitRepository:
    """Its lender is gone, and nothing can be done about it here."""
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"a": "1"})
    made = GitRepository.init(tmp_path / "bereft.git")
    made.borrow_from(lender)
    made.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    shutil.rmtree(lender.path)
    return made


def pause(repository: GitRepository) -> None:
    repository.git("config", "gitdash.pause", "true")


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
@pytest.mark.parametrize("kind", ["healthy", "untidy"])
def test_repository_that_wants_to_be_left_alone_ends_with_refused(
    option: str, kind: str, gitdash: Gitdash, request: pytest.FixtureRequest
) -> None:
    repository = request.getfixturevalue(kind)
    pause(repository)
    ended = gitdash.run("maintain", repository.path, option)
    assert ended.returncode == ExitCode.REFUSED
    assert "refused: paused" in ended.stdout


@pytest.mark.parametrize("also_runs", [True, False])
def test_repository_where_nothing_may_be_done_is_in_report_ledger_and_exit_code(
    also_runs: bool, gitdash: Gitdash, untidy: GitRepository, healthy: GitRepository
) -> None:
    pause(healthy)
    if not also_runs:
        pause(untidy)
    paths = (untidy.path, healthy.path)
    assert gitdash.run("maintain", *paths, "--dry-run").returncode == ExitCode.REFUSED
    assert gitdash.json("history", healthy.path)["actions"] == []
    ended = gitdash.run("maintain", *paths, "--yes")
    assert ended.returncode == ExitCode.REFUSED
    assert f"{healthy.path} (maintain)" in ended.stderr
    assert "paused by gitdash.pause in its config" in ended.stderr
    (action,) = gitdash.json("history", healthy.path)["actions"]
    assert (action["action"], action["task"], action["outcome"]) == ("maintain", None, "refused")
    assert "paused" in action["sentence"]


def test_reclaim_shows_what_would_be_dropped_before_it_asks_for_the_name(
    gitdash: Gitdash, healthy: GitRepository
) -> None:
    blob = healthy.blob(b"old")
    path = healthy.git_dir / "objects" / blob[:2] / blob[2:]
    healthy.age(path, 15 * 86_400.0, time.time())
    gitdash.run("scan", healthy.path.parent)
    ended = gitdash.run("maintain", healthy.path, "--task", "reclaim")
    assert "reclaim: drops for good 1 object of " in ended.stdout
    assert "confirm it with --confirm and the repository's name" in ended.stderr
    assert (ended.returncode, path.exists()) == (ExitCode.WRONG_USE, True)
    assert gitdash.json("history", healthy.path)["actions"] == []
    ended = gitdash.run("maintain", healthy.path, "--task", "reclaim", "--confirm", healthy.path.name)
    assert (ended.returncode, path.exists()) == (ExitCode.DONE, False)
    # nobody is asked for a name where nothing would go
    ended = gitdash.run("maintain", healthy.path, "--task", "reclaim")
    assert "reclaim: nothing to do: nothing here is unreachable for two weeks" in ended.stdout
    assert ended.returncode == ExitCode.DONE


@pytest.mark.safety
@pytest.mark.parametrize("mode", [("--format", "script"), ("--dry-run",), ("--yes",)])
def test_wrong_name_is_wrong_use_whatever_is_to_be_done_with_the_plan(
    gitdash: Gitdash, healthy: GitRepository, mode: tuple[str, ...]
) -> None:
    ended = gitdash.run("maintain", healthy.path, "--task", "reclaim", "--confirm", "wrong", *mode)
    assert (ended.returncode, ended.stdout) == (ExitCode.WRONG_USE, "")
    assert "'wrong' is not its name, which is 'healthy.git'" in ended.stderr


def test_task_with_nothing_to_do_is_no_refusal_although_it_was_asked_for(
    gitdash: Gitdash, healthy: GitRepository
) -> None:
    ended = gitdash.run("maintain", healthy.path, "--task", "deduplicate", "--yes")
    assert ended.returncode == ExitCode.DONE
    assert "deduplicate: nothing to do: it borrows from no other repository" in ended.stdout
    assert "there is nothing to do" in ended.stderr


def test_what_changes_nothing_is_run_without_being_asked_about(gitdash: Gitdash, healthy: GitRepository) -> None:
    ended = gitdash.run("maintain", healthy.path, "--task", "verify")
    assert ended.returncode == ExitCode.DONE
    assert "verify: done" in ended.stdout + ended.stderr
    ended = gitdash.run("maintain", healthy.path, "--task", "verify", "--task", "full-repack")
    assert (ended.returncode, "say --yes" in ended.stderr) == (ExitCode.WRONG_USE, True)


def test_task_with_nothing_to_do_beside_one_that_is_run_is_recorded_as_that(
    gitdash: Gitdash, healthy: GitRepository
) -> None:
    ended = gitdash.run("maintain", healthy.path, "--task", "unlink", "--task", "verify", "--yes", "--format", "json")
    assert ended.returncode == ExitCode.DONE
    outcomes = {action["task"]: action["outcome"] for action in json.loads(ended.stdout)["actions"]}
    assert outcomes == {"unlink": "nothing to do", "verify": "done"}


def test_findings_that_no_task_mends_stand_in_the_plan_with_what_to_do(gitdash: Gitdash, bereft: GitRepository) -> None:
    ended = gitdash.run("maintain", bereft.path, "--dry-run")
    assert "nothing to do" not in ended.stdout
    assert "by hand: missing-lender (critical): " in ended.stdout
    assert "remedy: " in ended.stdout
    document = json.loads(gitdash.run("maintain", bereft.path, "--dry-run", "--format", "json").stdout)
    (plan,) = document["plans"]
    assert "missing-lender" in {one["rule"] for one in plan["unmended"]}


def test_of_many_repositories_those_with_nothing_to_do_are_counted(
    gitdash: Gitdash, healthy: GitRepository, untidy: GitRepository, tmp_path: Path
) -> None:
    copies = [Path(shutil.copytree(healthy.path, tmp_path / f"copy{number}.git")) for number in range(3)]
    ended = gitdash.run("maintain", "--dry-run", healthy.path, untidy.path, *copies)
    assert ended.returncode == ExitCode.DONE
    assert "copy1.git" not in ended.stdout
    assert os.fspath(untidy.path) in ended.stdout
    assert "1 repository, 4 with nothing to do" in ended.stdout


def test_verbose_plan_has_the_configuration_of_each_command(gitdash: Gitdash, untidy: GitRepository) -> None:
    short = gitdash.run("maintain", untidy.path, "--dry-run").stdout
    assert "-c gc.pruneExpire=never" not in short
    assert "--verbose shows it" in short
    whole = gitdash.run("maintain", untidy.path, "--dry-run", "--verbose").stdout
    commands = [line for line in whole.splitlines() if line.strip().startswith("$ git ")]
    assert commands
    assert all("-c core.hooksPath=/dev/null" in line and "-c gc.pruneExpire=never" in line for line in commands)


@pytest.mark.parametrize("command", [("maintain", "--dry-run"), ("fetch",)], ids=lambda command: command[0])
def test_path_that_is_no_repository_is_wrong_use_alone_and_a_failure_among_others(
    command: tuple[str, ...], gitdash: Gitdash, healthy: GitRepository, tmp_path: Path
) -> None:
    healthy.git("config", "remote.origin.url", os.fspath(healthy.path))
    healthy.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    protocol = ("--protocol", "file") if command == ("fetch",) else ()
    alone = gitdash.run(*command, *protocol, tmp_path / "nowhere")
    assert alone.returncode == ExitCode.WRONG_USE
    assert "nowhere" in alone.stderr
    among_others = gitdash.run(*command, *protocol, tmp_path / "nowhere", healthy.path)
    assert among_others.returncode == ExitCode.FINDINGS
