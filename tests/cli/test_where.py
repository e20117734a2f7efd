"""`--where` decides what is measured, and whose failures count."""

from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository


def lose_a_tree(repository: Path) -> None:
    object_id = GitRepository(repository).git("rev-parse", "HEAD^{tree}")
    (repository / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()


def measured(gitdash: Gitdash, fleet: Path) -> set[str]:
    """The names of the repositories whose reachable size the state file knows now."""
    rows = gitdash.rows(fleet)
    return {name for name, row in rows.items() if row["sizes"]["reachable"] is not None}


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--columns", "name,reachable", "--where", "name = 'pool.git'"], {"pool.git"}),
        (["--where", "name = 'pool.git' AND reachable > 0"], {"pool.git"}),
        (["--sizes", "reachable", "--where", "role = 'member'"], {"member.git"}),
        (["--sort", "own", "--where", "packs > 50"], set()),
        (["--where", "reachable > 0 AND name <> 'empty.git'"], {"pool.git", "member.git", "work"}),
        (["--where", "reachable IS NOT NULL"], {"pool.git", "member.git", "work", "empty.git"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_only_what_may_be_selected_is_measured(
    gitdash: Gitdash, fleet: Path, arguments: list[str], names: set[str]
) -> None:
    assert gitdash.run("scan", fleet, *arguments).returncode == 0
    assert measured(gitdash, fleet) == names


def test_a_row_whose_findings_are_asked_for_is_measured_first(gitdash: Gitdash, fleet: Path) -> None:
    lose_a_tree(fleet / "work")
    finished = gitdash.run("scan", fleet, "--columns", "name,reachable", "--where", "rules LIKE '%size-unreadable%'")
    assert [line.split()[0] for line in finished.stdout.splitlines()] == ["name", "work"]


@pytest.mark.parametrize("condition", ["name = 'pool.git'", "name = 'pool.git' AND reachable > 0"])
def test_a_failure_in_a_row_that_is_not_shown_is_no_failure(gitdash: Gitdash, fleet: Path, condition: str) -> None:
    lose_a_tree(fleet / "work")
    assert gitdash.run("scan", fleet, "--sizes", "all").returncode == 1
    finished = gitdash.run("scan", fleet, "--columns", "name,reachable", "--where", condition)
    assert finished.returncode == 0
    assert "a measurement failed" not in finished.stderr


def test_a_failure_that_leaves_the_condition_open_is_one(gitdash: Gitdash, fleet: Path) -> None:
    lose_a_tree(fleet / "work")
    finished = gitdash.run("scan", fleet, "--where", "reachable > 0")
    assert finished.returncode == 1
    assert finished.stderr.count("a measurement failed") == 1
    assert "work" not in finished.stdout
