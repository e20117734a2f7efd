"""Fetches from `git daemon`: what is said of a fetch is what git says before and after it."""

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitdash.model.ledger import Outcome
from tests.support.repositories import GitRepository
from tests.support.servers.client import Client, make_served
from tests.support.servers.git_daemon import git_daemon

pytestmark = pytest.mark.oracle

KEPT_COUNT = 100
"""`fetch.unpackLimit` by default: from so many objects on a pack is kept."""

PHASES = {"connect", "negotiation", "receive", "index", "connectivity check", "other"}


@pytest.fixture
def served(tmp_path: Path) -> GitRepository:
    return make_served(tmp_path / "served")


@pytest.fixture
def client(served: GitRepository, tmp_path: Path) -> Iterator[Client]:
    with git_daemon(tmp_path / "served") as daemon:
        yield Client.make(tmp_path / "client.git", f"git://127.0.0.1:{daemon.port}/a.git")


def changed(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """By git: what each reference was, and what it is."""
    names = before.keys() | after.keys()
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def said(result: object) -> dict[str, tuple[str | None, str | None]]:
    return {change.name: (change.old, change.new) for change in result.reference_changes}  # type: ignore[attr-defined]


def nothing(_served: GitRepository) -> None:
    """The server is as it was."""


def advance(served: GitRepository) -> None:
    served.commit({"a": "third"})


def force(served: GitRepository) -> None:
    served.git("update-ref", "refs/heads/topic", served.commit({"z": "new root"}, reference="refs/heads/other"))


def delete(served: GitRepository) -> None:
    served.git("update-ref", "-d", "refs/heads/topic")


def add_a_tag(served: GitRepository) -> None:
    served.git("tag", "-a", "-m", "a tag", "v2", served.commit({"a": "tagged"}))


def everything(served: GitRepository) -> None:
    for change in (force, add_a_tag):
        change(served)
    served.git("update-ref", "-d", "refs/heads/other")
    served.git("update-ref", "refs/heads/new", "refs/heads/main")


CHANGES: tuple[Callable[[GitRepository], None], ...] = (nothing, advance, force, delete, add_a_tag, everything)


@pytest.mark.parametrize("prune", [None, True])
@pytest.mark.parametrize("change", CHANGES)
def test_reference_changes_are_those_that_git_sees_and_a_dry_run_says_them_before(
    change: Callable[[GitRepository], None], prune: bool | None, served: GitRepository, client: Client
) -> None:
    client.fetch()
    change(served)
    before, files = client.references(), client.files()
    previewed = client.fetch(dry_run=True, prune=prune)
    assert client.files() == files, "the dry run changed something"
    fetched = client.fetch(prune=prune)
    expected = changed(before, client.references())
    assert said(fetched.result) == expected
    assert said(previewed.result) == expected
    assert previewed.result.reference_changes == fetched.result.reference_changes
    assert fetched.result.outcome is (Outcome.DONE if expected else Outcome.NOTHING_TO_DO)
    assert ("refs/remotes/origin/topic" in client.references()) is not (prune is True and change is delete)
    assert fetched.left + fetched.left_folders + previewed.left + previewed.left_folders + client.locks() == []


def test_kinds_of_changes_are_told_apart(served: GitRepository, client: Client) -> None:
    client.fetch()
    everything(served)
    served.git("update-ref", "-d", "refs/heads/topic")
    served.git(
        "update-ref", "refs/heads/main", served.commit({"y": "other root"}, parents=[], reference="refs/heads/x")
    )
    served.git("update-ref", "refs/heads/x", "refs/heads/new")
    served.commit({"a": "on"}, reference="refs/heads/new")
    kinds = {change.name: change.kind for change in client.fetch(prune=True).result.reference_changes}
    assert kinds["refs/remotes/origin/main"] == "forced"
    assert kinds["refs/remotes/origin/topic"] == "pruned"
    assert kinds["refs/remotes/origin/new"] == "new"
    served.commit({"a": "further"}, reference="refs/heads/new")
    (change,) = client.fetch().result.reference_changes
    assert (change.name, change.kind) == ("refs/remotes/origin/new", "updated")


@pytest.mark.parametrize("count", [3, 150], ids=["unpacked", "kept as a pack"])
def test_received_objects_and_bytes_are_what_the_server_sent(count: int, served: GitRepository, client: Client) -> None:
    served.commit({f"file {number}": f"{number}" * 200 for number in range(count)})
    fetched = client.fetch()
    sent = set(served.git("rev-list", "--objects", "--all", "--no-object-names").splitlines())
    assert fetched.result.received_objects == len(sent)
    received = fetched.result.received_bytes
    if count >= KEPT_COUNT:
        (pack,) = client.repository.packs()
        assert received == pack.stat().st_size
    else:
        kept = [path for path in client.repository.path.glob("objects/??/*") if path.is_file()]
        assert received == sum(path.stat().st_size for path in kept)
        assert len(kept) == len(sent)


def test_phases_are_known_ones_and_add_up_to_the_time_that_passed(served: GitRepository, client: Client) -> None:
    served.commit({f"file {number}": f"{number}" * 200 for number in range(150)})
    fetched = client.fetch()
    phases = {phase.name: phase.elapsed_s for phase in fetched.result.phases}
    assert phases.keys() <= PHASES
    assert {"connect", "negotiation", "receive", "connectivity check"} <= phases.keys()
    assert all(elapsed_s >= 0 for elapsed_s in phases.values())
    assert sum(phases.values()) <= fetched.elapsed_s
    assert sum(phases.values()) == pytest.approx(fetched.result.elapsed_s, rel=0.01, abs=0.005)


def test_progress_ends_with_all_objects(served: GitRepository, client: Client) -> None:
    served.commit({f"file {number}": f"{number}" * 200 for number in range(150)})
    fetched = client.fetch()
    last = [progress for progress in fetched.progress if progress.phase == "receiving objects"][-1]
    assert (last.done_count, last.total_count) == (fetched.result.received_objects, fetched.result.received_objects)
    said = "".join(command.stderr for command in fetched.result.commands)
    assert said.count("Receiving objects:") == 1


def test_fetch_leaves_no_side_file_and_starts_no_maintenance(served: GitRepository, client: Client) -> None:
    client.config("gc.auto", "1")
    client.config("gc.autoDetach", "false")
    client.config("fetch.writeCommitGraph", "true")
    fetched = client.fetch(look_s=0.002)
    names = {path.name for path in client.repository.path.rglob("*")}
    assert names.isdisjoint({"FETCH_HEAD", "gc.pid", "gc.log", "commit-graph", "commit-graphs"})
    assert not any(re.search(r" (gc|maintenance|commit-graph|repack) ", argv) for argv in fetched.argvs)


def test_two_fetches_of_two_repositories_at_once_do_not_disturb_each_other(
    served: GitRepository, client: Client, tmp_path: Path
) -> None:
    other = Client.make(tmp_path / "other.git", client.repository.git("config", "remote.origin.url"))
    results = []
    threads = [threading.Thread(target=lambda one=one: results.append(one.fetch())) for one in (client, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [fetched.result.outcome for fetched in results] == [Outcome.DONE, Outcome.DONE]
    assert client.references() == other.references() != {}
