"""What speaks against a fetch just before it begins: each rule, and plain git that is seen to do the harm first."""

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.fetching.running import fetch
from gitdash.maintenance.fetching.surroundings import Surroundings, refusal_of
from gitdash.maintenance.links import Links
from gitdash.model.fetch import FetchResult
from gitdash.model.ledger import Outcome, Reason
from tests.support.fetching import fetched, planned
from tests.support.repositories import GIT, GitRepository

TRACKING = "+refs/heads/*:refs/remotes/origin/*"

RULES: dict[str, tuple[dict[str, object], str]] = {
    "another user's": ({"owner_uid": 7}, "user 7 owns it"),
    "paused": ({"pause": "the file gitdash.pause"}, "paused by the file gitdash.pause"),
    "mounted read-only": ({"is_mounted_read_only": True}, "its file system is mounted read-only"),
    "irregular": ({"irregular": "/srv/pool.git/objects/pack/x.idx is a FIFO"}, "git would open what is no file"),
    "irregular reference": ({"links": Links(irregular=(b"refs/heads/x",))}, "git would open what is no file: refs/"),
    "linked references": ({"links": Links(paths=(b"refs/tags",))}, "refs/tags is a symbolic link"),
    "linked log": ({"links": Links(paths=(b"logs/refs/heads/main",))}, "logs/refs/heads/main is a symbolic link"),
    "linked packed references": ({"links": Links(paths=(b"packed-refs",))}, "packed-refs is a symbolic link"),
    "linked lock": ({"links": Links(paths=(b"packed-refs.lock",))}, "packed-refs.lock is a symbolic link"),
    "linked list of the shallow": ({"links": Links(paths=(b"shallow",))}, "shallow is a symbolic link"),
    "linked reftable": ({"links": Links(paths=(b"reftable/tables.list",))}, "reftable/tables.list is a symbolic link"),
    "linked folder of packs": ({"links": Links(paths=(b"objects/pack",))}, "objects/pack is a symbolic link"),
    "linked folder of objects": ({"links": Links(paths=(b"objects/5e",))}, "objects/5e is a symbolic link"),
    "not all seen": ({"links": Links(is_complete=False)}, "not all of its references and logs can be looked at"),
}
OF_PREVIEWS = {"another user's", "paused", "irregular", "irregular reference"}


@pytest.mark.parametrize("name", RULES)
def test_each_rule_refuses_a_fetch_with_its_reason(name: str) -> None:
    facts, reason = RULES[name]
    refusal = refusal_of(dataclasses.replace(Surroundings(), **facts), is_preview=False)
    assert refusal is not None
    assert refusal.startswith(reason)


@pytest.mark.parametrize("name", RULES)
def test_preview_is_refused_only_where_nothing_shall_be_asked_at_all(name: str) -> None:
    refusal = refusal_of(dataclasses.replace(Surroundings(), **RULES[name][0]), is_preview=True)
    assert (refusal is not None) == (name in OF_PREVIEWS)


@pytest.mark.parametrize(("free_bytes", "is_refused"), [(0, True), (1000, True), (256 << 20, False), (None, False)])
def test_preview_needs_room_for_what_it_downloads(free_bytes: int | None, is_refused: bool) -> None:
    found = Surroundings(temporary_free_bytes=free_bytes)
    assert (refusal_of(found, is_preview=True) is not None) == is_refused
    assert refusal_of(found, is_preview=False) is None


def test_nothing_speaks_against_a_linked_object_store() -> None:
    links = Links(paths=(b"objects", b"info"))
    assert refusal_of(Surroundings(links=links), is_preview=False) is None


class Scene:
    """`upstream.git`, `client` with a folder for logs, and `victim.git`, a repository of somebody else's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.upstream = GitRepository.init(folder / "upstream.git")
        self.upstream.commit({"a": "1"})
        self.client = GitRepository.init(folder / "client", bare=False)
        self.client.git("commit", "--quiet", "--allow-empty", "-m", "so that there is a folder for logs")
        self.client.git("config", "remote.origin.url", os.fspath(self.upstream.path))
        self.client.git("config", "remote.origin.fetch", TRACKING)
        self.client.git("fetch", "--quiet", "origin")
        self.client.git("update-ref", "refs/remotes/origin/gone", "HEAD")
        self.upstream.commit({"a": "2"})
        self.victim = GitRepository.init(folder / "victim.git")
        self.victim.commit({"theirs": "1"})
        self.victim.git("update-ref", "refs/heads/work", "HEAD")
        self.diary = folder / "diary"
        self.diary.write_text("mine\n")

    @property
    def git_dir(self) -> Path:
        return self.client.path / ".git"

    def link(self, name: str, target: Path) -> None:
        path = self.git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            path.rename(self.folder / "put away")
        elif path.exists():
            path.unlink()
        path.symlink_to(target)

    def outside(self) -> tuple[object, ...]:
        """All that lies outside the client and may be harmed."""
        packed = self.folder / "packed"
        logs = self.folder / "logs"
        return (
            self.diary.read_text(),
            self.victim.git("for-each-ref"),
            packed.read_text() if packed.exists() else None,
            sorted(path.name for path in logs.rglob("*")) if logs.exists() else None,
        )


def linked_log(scene: Scene) -> None:
    scene.link("logs/refs/remotes/origin/main", scene.diary)


def linked_folder_of_logs(scene: Scene) -> None:
    (scene.folder / "logs").mkdir()
    scene.link("logs", scene.folder / "logs")


def linked_references(scene: Scene) -> None:
    scene.client.git("pack-refs", "--all")
    scene.link("refs/remotes/origin", scene.victim.path / "refs" / "heads")


def linked_packed_references(scene: Scene) -> None:
    scene.client.git("pack-refs", "--all")
    (scene.git_dir / "packed-refs").rename(scene.folder / "packed")
    scene.link("packed-refs", scene.folder / "packed")


HARMFUL: dict[str, Callable[[Scene], None]] = {
    "a log": linked_log,
    "the folder of logs": linked_folder_of_logs,
    "a folder of references": linked_references,
    "packed-refs": linked_packed_references,
}


@pytest.mark.safety
@pytest.mark.parametrize("name", HARMFUL)
def test_fetch_writes_nothing_through_a_link_where_plain_git_does(name: str, tmp_path: Path) -> None:
    plain, ours = Scene(tmp_path / "plain"), Scene(tmp_path / "ours")
    for scene in (plain, ours):
        HARMFUL[name](scene)
    before = plain.outside()
    plain.client.git("fetch", "--quiet", "--prune", "origin", check=False)
    assert plain.outside() != before
    before = ours.outside()
    result = fetched(ours.client.path, prune=True)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED)
    assert "is a symbolic link" in result.sentence
    assert result.commands == ()
    assert ours.outside() == before


def fetched_with_link_put_at(word: str, scene: Scene) -> FetchResult:
    """Fetch by a git before whose first call with `word` the remote-tracking references become another's branches."""
    references, theirs = scene.git_dir / "refs/remotes/origin", scene.victim.path / "refs/heads"
    wrapper = scene.folder / "git"
    wrapper.write_text(
        f'#!/bin/sh\ncase " $* " in *" {word} "*) [ -L {references} ] ||'
        f' {{ rm -r {references}; ln -s {theirs} {references}; }};; esac\nexec {GIT} "$@"\n'
    )
    wrapper.chmod(0o755)
    report, plan = planned(scene.client.path)
    (remote,) = plan.remotes
    return fetch(report, remote, program=find_git(os.fspath(wrapper)), now_s=time.time())


@pytest.mark.safety
def test_fetch_looks_for_links_again_right_before_git_writes(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    # a lender makes it ask the remote first
    scene.client.borrow_from(scene.victim)
    before = scene.outside()
    result = fetched_with_link_put_at("ls-remote", scene)
    assert (scene.git_dir / "refs/remotes/origin").is_symlink()
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.REFUSED)
    assert "refs/remotes/origin is a symbolic link" in result.sentence
    assert scene.outside() == before


@pytest.mark.safety
def test_fetch_says_what_became_a_link_while_git_ran(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    # git replaces the id of a reference only where it has what that names
    scene.client.git("fetch", "--quiet", os.fspath(scene.victim.path), "main")
    branches = scene.victim.path / "refs/heads"
    before = {path.name: path.read_text() for path in branches.iterdir()}
    result = fetched_with_link_put_at("fetch", scene)
    assert {path.name: path.read_text() for path in branches.iterdir()} != before
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.OTHER)
    assert result.sentence.startswith("refs/remotes/origin became a symbolic link while git ran")


@pytest.mark.safety
def test_fetch_writes_no_pack_into_the_store_of_another(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.client.git("config", "fetch.unpackLimit", "1")
    scene.client.git("repack", "-a", "-d", "-q")
    for pack in (scene.git_dir / "objects/pack").iterdir():
        pack.rename(scene.victim.path / "objects/pack" / pack.name)
    scene.link("objects/pack", scene.victim.path / "objects/pack")
    before = sorted((scene.victim.path / "objects/pack").iterdir())
    assert fetched(scene.client.path).outcome is Outcome.REFUSED
    assert sorted((scene.victim.path / "objects/pack").iterdir()) == before


@pytest.mark.safety
@pytest.mark.parametrize("name", ["objects/info/commit-graph", "objects/pack/pack-%s.idx", "packed-refs"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_fifo_in_a_lender_holds_no_fetch_up(name: str, dry_run: bool, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.client.borrow_from(scene.victim)
    fifo = scene.victim.path / (name.replace("%s", "1" * 40))
    os.mkfifo(fifo)
    fifo.with_suffix(".pack").touch()
    result = fetched(scene.client.path, dry_run=dry_run, time_limit_s=5.0)
    assert (result.outcome, result.commands) == (Outcome.REFUSED, ())
    assert f"{fifo} is a FIFO" in result.sentence


@pytest.mark.safety
@pytest.mark.parametrize("name", ["refs/heads/x", "included"])
def test_fifo_in_a_lender_holds_up_no_fetch_that_names_its_references(name: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.client.borrow_from(scene.victim)
    scene.victim.git("config", "include.path", "included")
    os.mkfifo(scene.victim.path / name)
    result = fetched(scene.client.path, alternate_refs="use", time_limit_s=5.0)
    assert (result.outcome, result.commands) == (Outcome.REFUSED, ())
    assert f"{scene.victim.path / name}" in result.sentence
    assert fetched(scene.client.path, alternate_refs="suppress", time_limit_s=5.0).outcome is Outcome.DONE


@pytest.mark.safety
def test_link_that_was_made_after_the_plan_is_seen(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    report, plan = planned(scene.client.path)
    linked_log(scene)
    result = fetch(report, plan.remotes[0], program=find_git(GIT), now_s=time.time())
    assert result.outcome is Outcome.REFUSED
    assert scene.diary.read_text() == "mine\n"


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("how", ["config", "file"])
def test_paused_repository_is_left_alone_and_its_server_not_asked(how: str, dry_run: bool, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    if how == "config":
        scene.client.git("config", "gitdash.pause", "true")
    else:
        (scene.git_dir / "gitdash.pause").touch()
    result = fetched(scene.client.path, dry_run=dry_run)
    assert (result.outcome, result.commands) == (Outcome.REFUSED, ())
    assert result.sentence.startswith("paused by ")


@pytest.mark.parametrize("value", ["false", "0", "off"])
def test_marker_that_says_no_pauses_nothing(value: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.client.git("config", "gitdash.pause", value)
    assert fetched(scene.client.path).outcome is Outcome.DONE
