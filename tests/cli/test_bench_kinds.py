"""Each kind of experiment once, end to end: it runs, says something, and leaves nothing behind."""

import json
import os
from pathlib import Path

import pytest

from gitdash.lab.experiments import EXPERIMENTS
from gitdash.model.experiment import ExperimentKind
from tests.cli.process import Gitdash
from tests.support.repositories import GitRepository

KINDS = sorted(EXPERIMENTS)


def state_of(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Every file and folder below, itself included, with mode, mtime, links and content."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[os.fspath(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, status.st_nlink, content)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_experiment_says_something_and_leaves_every_file_as_it_was(
    gitdash: Gitdash, fleet: Path, tmp_path: Path, kind: ExperimentKind
) -> None:
    repositories = [fleet / "member.git", fleet / "pool.git"]
    before = [state_of(repository) for repository in repositories]
    names = sorted(os.listdir(fleet))
    plot = tmp_path / "plot.svg"
    document = gitdash.json("bench", kind, repositories[0], "--runs", "2", "--plot", plot)
    assert [state_of(repository) for repository in repositories] == before
    assert sorted(os.listdir(fleet)) == names, "copies are gone"
    assert os.listdir(gitdash.folder / "state" / "lab") == [], "and nothing says that there are any"
    (experiment,) = document["experiments"]
    assert experiment["kind"] == kind
    run_counts = {one["name"]: len([run for run in one["runs"] if run["number"] > 0]) for one in experiment["variants"]}
    assert 2 in run_counts.values()
    assert all(one["runs"] or one["skipped"] or one["note"] for one in experiment["variants"])
    assert plot.read_text().startswith("<?xml")
    assert gitdash.json("bench", "list", repositories[0])["experiments"] == [experiment]


@pytest.mark.parametrize("kind", KINDS)
def test_repository_without_anything_is_measured_or_refused_with_a_sentence(
    gitdash: Gitdash, fleet: Path, kind: ExperimentKind
) -> None:
    finished = gitdash.run("bench", kind, fleet / "empty.git", "--runs", "1")
    assert finished.returncode in {0, 1}
    assert finished.returncode == 0 or finished.stderr or "not run: " in finished.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_variants_are_explained_without_running_any(gitdash: Gitdash, fleet: Path, kind: ExperimentKind) -> None:
    finished = gitdash.run("bench", kind, fleet / "member.git", "--explain")
    assert finished.returncode == 0
    assert EXPERIMENTS[kind].explanation in finished.stdout
    assert gitdash.json("bench", "list")["experiments"] == []


def test_read_only_keeps_nobody_from_measuring(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.options += ["--read-only"]
    assert gitdash.json("bench", "size", fleet / "pool.git", "--runs", "1")["experiments"]


def test_winner_of_sizes_is_told_with_its_regret(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("bench", "size", fleet / "pool.git", "--runs", "5")
    assert finished.returncode == 0
    assert finished.stderr == "gitdash: size: packing a copy anew, with a bitmap\n", "it may take minutes"
    for shown in (finished.stdout, gitdash.run("bench", "show", "1").stdout):
        assert "Of what `gitdash size` can do here, copies left out, " in shown
        assert "regret" in shown
    explained = gitdash.run("size", fleet / "pool.git", "--explain").stdout
    assert "compared: " in explained
    assert "regret" in explained


def test_bare_name_of_a_question_is_enough(gitdash: Gitdash, fleet: Path) -> None:
    for begun, question in (("every", "everything"), ("without", "without the lender")):
        finished = gitdash.run(
            "bench", "size", fleet / "member.git", "--runs", "1", "--question", begun, "--format", "json"
        )
        assert json.loads(finished.stdout)["experiments"][0]["question"] == question
    unknown = gitdash.run("bench", "size", fleet / "member.git", "--question", "x")
    assert unknown.returncode == 2
    assert "no question begins with 'x'; there are: without the lender, everything" in unknown.stderr
    several = gitdash.run("bench", "fetch", fleet / "member.git", "--question", "a ")
    assert "more than one question begins with 'a '" in several.stderr
    # as a person would say it, not as click calls its types
    assert "'abc' is not a valid whole number" in gitdash.run("bench", "list", "--limit", "abc").stderr
    assert "'x' is not a valid number of seconds" in gitdash.run("bench", "size", fleet, "--budget", "x").stderr


def test_help_names_what_each_experiment_is_about_in_whole_lines(gitdash: Gitdash) -> None:
    listed = gitdash.run("bench", "--help").stdout.partition("Commands:")[2].partition("Examples:")[0]
    assert len([line for line in listed.splitlines() if line.strip()]) == len(KINDS) + 2
    assert "..." not in listed
    assert "\u2026" not in listed


def test_path_that_is_no_repository_is_wrong_use(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("bench", "size", fleet / "folder")
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1


def fetched(gitdash: Gitdash, repository: Path, *options: str) -> dict[str, object]:
    finished = gitdash.run("bench", "fetch", repository, "--runs", "1", "--format", "json", *options)
    (experiment,) = json.loads(finished.stdout)["experiments"]
    return experiment


def test_fetch_is_from_a_stand_in_or_from_the_remote_that_is_named(gitdash: Gitdash, fleet: Path) -> None:
    member = GitRepository(fleet / "member.git", clock_s=1_800_000_000)
    server = GitRepository.init(fleet / "server.git")
    server.commit({"new": "from afar\n"})
    member.git("remote", "add", "origin", os.fspath(server.path))
    stand_in = fetched(gitdash, member.path, "--new-commits", "3")
    assert stand_in["question"] == "a new commit"
    # a commit, a tree and a file for each
    assert {run["counts"]["received-objects"] for one in stand_in["variants"] for run in one["runs"]} == {9}
    real = fetched(gitdash, member.path, "--remote", "origin", "--protocol", "file")
    assert real["question"] == "what the real remote has"
    assert {run["counts"]["received-objects"] for one in real["variants"] for run in one["runs"]} == {3}
    assert member.git("for-each-ref", "refs/remotes") == "", "into copies alone"


def test_remote_is_reached_only_by_what_the_configuration_allows(gitdash: Gitdash, fleet: Path) -> None:
    member = GitRepository(fleet / "member.git", clock_s=1_800_000_000)
    member.git("remote", "add", "origin", os.fspath(fleet / "pool.git"))
    refused = fetched(gitdash, member.path, "--remote", "origin")
    assert all("protocol file is not among those" in one["note"] for one in refused["variants"])
    config = gitdash.folder / "config.toml"
    config.write_text('[fetch]\nprotocols = ["file"]\n')
    gitdash.options += ["--config", os.fspath(config)]
    assert all(one["runs"] for one in fetched(gitdash, member.path, "--remote", "origin")["variants"])
