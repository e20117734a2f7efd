"""Commands that plans show and copy: a person pastes them into a shell, which knows nothing of gitdash."""

import subprocess
from pathlib import Path

import pytest

from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.planning import plan
from gitdash.maintenance.steps import copies_check
from gitdash.model.plan import Step
from gitdash.model.task import Task
from gitdash.tui.plans.commands import shown_steps, whole_commands
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import program, report_of

TASKS = [Task.LOOSE_OBJECTS, Task.INCREMENTAL_REPACK, Task.GEOMETRIC_REPACK, Task.MULTI_PACK_BITMAP, Task.PACK_REFS]


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "it's a $HOME `x`.git", object_format="sha256")
    for number in range(3):
        made.commit({"a": f"{number}\n"})
        made.git("repack", "-d", "-q", "--no-write-bitmap-index")
    made.commit({"b": "1"})
    return made


def paste(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{Path(GIT).parent}:/usr/bin:/bin"}
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def steps_of(repository: GitRepository, task: Task) -> tuple[Step, ...]:
    report = report_of(repository)
    (planned,) = plan(report, read_facts(report, program=program(), now_s=1_900_000_000.0), [task]).runnable
    return planned.steps


@pytest.mark.parametrize("task", TASKS)
def test_every_copied_command_runs_when_it_is_pasted(tmp_path: Path, repository: GitRepository, task: Task) -> None:
    commands = whole_commands(steps_of(repository, task), repository.path.as_posix().encode())
    assert commands
    for command in commands:
        assert command.isprintable()
        pasted = paste(command, tmp_path)
        assert pasted.returncode == 0, (command, pasted.stderr)


@pytest.mark.parametrize("task", TASKS)
def test_every_shown_command_runs_where_the_git_directory_is_named(
    tmp_path: Path, repository: GitRepository, task: Task
) -> None:
    for shown in shown_steps(steps_of(repository, task)):
        assert shown.command is None or shown.command.isprintable()
        if shown.command is not None and not shown.is_recovery:
            pasted = paste(shown.command, repository.path)
            assert pasted.returncode == 0, (shown.command, pasted.stderr)


@pytest.mark.safety
def test_pasted_check_of_packs_fails_at_any_damaged_one(tmp_path: Path, repository: GitRepository) -> None:
    (command,) = whole_commands([copies_check(report_of(repository))], repository.path.as_posix().encode())
    assert paste(command, tmp_path).returncode == 0
    first = min(repository.packs())
    damaged = bytearray(first.read_bytes())
    damaged[-40] ^= 1
    first.chmod(0o644)
    first.write_bytes(damaged)
    assert paste(command, tmp_path).returncode != 0
