"""One task under way: what it says of itself, and what it leaves."""

from pathlib import Path

from gitdash.model.ledger import Outcome, Reason
from gitdash.model.task import Task
from tests.support.repositories import GitRepository
from tests.support.task_runs import run


def make_repository(folder: Path, *, commit_count: int = 3) -> GitRepository:
    """A bare repository with loose objects and loose references."""
    repository = GitRepository.init(folder / "one.git")
    for number in range(commit_count):
        repository.commit({"a": str(number)}, reference=f"refs/heads/b{number}")
    return repository


def test_pack_refs_is_done_once_and_then_there_is_nothing_to_do(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    first = run(repository, Task.PACK_REFS)
    assert first.outcome is Outcome.DONE
    assert first.removed == ("refs/heads/b0", "refs/heads/b1", "refs/heads/b2")
    assert [command.argv[-3:] for command in first.commands] == [("pack-refs", "--all", "--prune")]
    assert run(repository, Task.PACK_REFS).outcome is Outcome.NOTHING_TO_DO


def test_a_lock_of_git_that_is_held_is_no_success(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    run(repository, Task.PACK_REFS)
    (repository.git_dir / "packed-refs.lock").touch()
    result = run(repository, Task.PACK_REFS)
    assert (result.outcome, result.reason) != (Outcome.DONE, None)


def test_a_repository_that_vanishes_is_said_to_have(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    events: list[str] = []

    class Removing(list[str]):
        def append(self, does: str) -> None:
            repository.path.rename(tmp_path / "elsewhere")
            events.append(does)

    result = run(repository, Task.PACK_REFS, events=Removing())
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.VANISHED)
    assert not list(tmp_path.glob("elsewhere/objects/maintenance.lock"))
