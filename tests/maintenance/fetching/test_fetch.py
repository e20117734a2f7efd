"""Fetches from repositories on this machine, compared with what plain git does in a copy."""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.maintenance.fetching.running import fetch
from gitdash.model.fetch import FetchProgress, FetchResult
from gitdash.model.ledger import Outcome, Reason
from tests.support.fetching import fetched, planned
from tests.support.processes import left_after
from tests.support.repositories import GIT, GitRepository, git_version

TRACKING = "+refs/heads/*:refs/remotes/origin/*"


def make_upstream(folder: Path, **options: str) -> GitRepository:
    upstream = GitRepository.init(folder / "upstream.git", **options)
    first = upstream.commit({"a": "1"})
    upstream.git("update-ref", "refs/heads/topic", first)
    upstream.git("tag", "v1", first)
    upstream.commit({"a": "2", "b": "more"})
    return upstream


def make_client(path: Path, upstream: GitRepository, *, refspec: str = TRACKING, bare: bool = True, **options: str):
    client = GitRepository.init(path, bare=bare, **options)
    client.git("config", "remote.origin.url", os.fspath(upstream.path))
    client.git("config", "remote.origin.fetch", refspec)
    return client


def references(repository: GitRepository) -> dict[str, str]:
    lines = repository.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def changes(result: FetchResult) -> dict[str, tuple[str, str | None, str | None]]:
    return {change.name: (change.kind, change.old, change.new) for change in result.reference_changes}


def new_commit(upstream: GitRepository) -> None:
    upstream.commit({"a": "3"})


def new_tag(upstream: GitRepository) -> None:
    upstream.commit({"a": "4"})
    upstream.git("tag", "v2", "refs/heads/main")
    upstream.git("tag", "-a", "-m", "annotated", "v3", "refs/heads/main")


def rewound(upstream: GitRepository) -> None:
    upstream.commit({"a": "other"}, parents=[])


def deleted(upstream: GitRepository) -> None:
    upstream.git("update-ref", "-d", "refs/heads/topic")


def folder_for_a_file(upstream: GitRepository) -> None:
    deleted(upstream)
    upstream.commit({"a": "5"}, reference="refs/heads/topic/deeper")


def nothing(_upstream: GitRepository) -> None:
    pass


@pytest.mark.oracle
@pytest.mark.parametrize("prune", [None, True])
@pytest.mark.parametrize("refspec", [TRACKING, "+refs/*:refs/*", "+refs/heads/to*:refs/x/y*"])
@pytest.mark.parametrize("change", [nothing, new_commit, new_tag, rewound, deleted, folder_for_a_file])
def test_references_and_objects_are_those_of_a_plain_fetch(
    change: Callable[[GitRepository], None], refspec: str, prune: bool | None, tmp_path: Path
) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream, refspec=refspec)
    fetched(client.path)
    change(upstream)
    shutil.copytree(client.path, tmp_path / "plain.git", symlinks=True)
    plain = GitRepository(tmp_path / "plain.git")
    before = references(client)
    result = fetched(client.path, prune=prune)
    # git 2.48 and newer would make a HEAD for the remote
    off = ("-c", "remote.origin.followRemoteHEAD=never")
    plain.git(*off, "fetch", "--quiet", *(["--prune"] if prune else []), "origin", check=False)
    after = references(client)
    if change is not folder_for_a_file or not prune:
        # one git removes before it writes, another after: the second try of gitdash succeeds where git's first fails
        assert after == references(plain)
    client.git("fsck", "--connectivity-only")
    expected = {
        name: (before.get(name), after.get(name)) for name in {*before, *after} if before.get(name) != after.get(name)
    }
    told = {name: (old, new) for name, (kind, old, new) in changes(result).items() if kind != "rejected"}
    assert told == expected


@pytest.mark.oracle
@pytest.mark.parametrize("prune", [None, True])
@pytest.mark.parametrize("change", [nothing, new_commit, new_tag, rewound, deleted])
def test_preview_says_what_the_fetch_then_does_and_changes_nothing(
    change: Callable[[GitRepository], None], prune: bool | None, tmp_path: Path
) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    fetched(client.path)
    change(upstream)
    before = {path: path.lstat().st_mtime_ns for path in client.path.rglob("*")}
    preview = fetched(client.path, dry_run=True, prune=prune)
    assert {path: path.lstat().st_mtime_ns for path in client.path.rglob("*")} == before
    assert changes(preview) == changes(fetched(client.path, prune=prune))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("object_format", "backend"),
    [
        ("sha256", None),
        pytest.param("sha1", "reftable", marks=pytest.mark.skipif(git_version() < (2, 45), reason="no reftable")),
    ],
)
def test_other_hash_functions_and_stores_of_references_work(
    object_format: str, backend: str | None, tmp_path: Path
) -> None:
    options = {"object_format": object_format} | ({"reference_backend": backend} if backend else {})
    upstream = make_upstream(tmp_path, **options)
    client = make_client(tmp_path / "client.git", upstream, **options)
    assert fetched(client.path).outcome is Outcome.DONE
    tip = upstream.git("rev-parse", "refs/heads/main")
    assert references(client)["refs/remotes/origin/main"] == tip
    upstream.commit({"a": "new"})
    assert changes(fetched(client.path)) == {
        "refs/remotes/origin/main": ("updated", tip, upstream.git("rev-parse", "refs/heads/main"))
    }


@pytest.mark.oracle
def test_log_of_a_reference_says_what_a_plain_fetch_would_say(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client", upstream, bare=False)
    client.git("commit", "--quiet", "--allow-empty", "-m", "so that there is a folder for logs")
    fetched(client.path)
    upstream.commit({"a": "3"})
    fetched(client.path)
    said = client.git("log", "--walk-reflogs", "--format=%gs", "refs/remotes/origin/main").splitlines()
    assert said == ["fetch origin: fast-forward", "fetch origin: storing head"]


def test_a_second_fetch_has_nothing_to_do(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    assert fetched(client.path).outcome is Outcome.DONE
    result = fetched(client.path)
    assert (result.outcome, result.reason) == (Outcome.NOTHING_TO_DO, None)
    assert result.received_objects is None
    assert result.sentence == "no reference changed"


@pytest.mark.oracle
def test_shallow_clone_stays_shallow_and_gets_what_is_new(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    client.git("fetch", "--quiet", "--depth=1", f"file://{upstream.path}", "+refs/heads/main:refs/remotes/origin/main")
    shallow = (client.path / "shallow").read_text()
    tip = upstream.commit({"a": "3"})
    assert fetched(client.path).outcome is Outcome.DONE
    assert references(client)["refs/remotes/origin/main"] == tip
    assert (client.path / "shallow").read_text() == shallow
    client.git("fsck", "--connectivity-only")


@pytest.mark.oracle
def test_partial_clone_leaves_out_what_its_filter_says(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    upstream.git("config", "uploadpack.allowFilter", "true")
    upstream.git("config", "uploadpack.allowAnySHA1InWant", "true")
    client = make_client(tmp_path / "client.git", upstream)
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
    }.items():
        client.git("config", key, value)
    for content in ("3", "4"):
        assert fetched(client.path).outcome is Outcome.DONE
        blob = upstream.git("rev-parse", "refs/heads/main:a")
        missing = client.git(
            "rev-list", "--objects", "--missing=print", "refs/remotes/origin/main", GIT_NO_LAZY_FETCH="1"
        )
        assert f"?{blob}" in missing.splitlines()
        upstream.commit({"a": content})
    assert list((client.path / "objects" / "pack").glob("*.promisor"))


@pytest.mark.oracle
def test_linked_worktree_is_fetched_into_the_repository_that_it_belongs_to(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    main = make_client(tmp_path / "main", upstream, bare=False)
    main.git("commit", "--quiet", "--allow-empty", "-m", "first")
    main.git("worktree", "add", "--quiet", "-b", "side", "../side")
    assert fetched(tmp_path / "side").outcome is Outcome.DONE
    assert references(main)["refs/remotes/origin/main"] == upstream.git("rev-parse", "refs/heads/main")


@pytest.mark.oracle
def test_branch_that_a_linked_worktree_of_a_mirror_has_checked_out_is_not_moved(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream, refspec="+refs/*:refs/*")
    fetched(client.path)
    client.git("worktree", "add", "--quiet", "../side", "topic")
    before = references(client)["refs/heads/topic"]
    upstream.commit({"a": "3"}, reference="refs/heads/topic")
    result = fetched(client.path)
    assert result.outcome is Outcome.FAILED
    assert references(client)["refs/heads/topic"] == before


def test_path_of_a_remote_is_relative_to_the_repository(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    client.git("config", "remote.origin.url", "../upstream.git")
    assert fetched(client.path).outcome is Outcome.DONE


def test_references_that_are_rejected_are_told_and_the_others_are_written(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream, refspec="refs/heads/*:refs/remotes/origin/*")
    fetched(client.path)
    old = references(client)["refs/remotes/origin/main"]
    new = upstream.commit({"a": "other"}, parents=[])
    topic = upstream.commit({"a": "9"}, reference="refs/heads/topic")
    result = fetched(client.path)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.REJECTED)
    assert {name: kind for name, (kind, _, _) in changes(result).items()} == {
        "refs/remotes/origin/main": "rejected",
        "refs/remotes/origin/topic": "updated",
    }
    assert references(client)["refs/remotes/origin/main"] == old != new
    assert references(client)["refs/remotes/origin/topic"] == topic


@pytest.mark.parametrize("lock", ["refs/remotes/origin/main.lock", "packed-refs.lock"])
def test_lock_of_another_process_is_seen_by_the_fetch(lock: str, tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    fetched(client.path)
    client.git("pack-refs", "--all")
    (client.path / lock).parent.mkdir(parents=True, exist_ok=True)
    (client.path / lock).write_text("")
    upstream.commit({"a": "3"})
    upstream.git("update-ref", "-d", "refs/heads/topic")
    result = fetched(client.path, prune=True)
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.LOCK_HELD)
    assert (client.path / lock).exists()


def test_race_for_a_reference_is_tried_again_once(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    fetched(client.path)
    upstream.commit({"a": "3"})
    (client.path / "refs/remotes/origin/main.lock").write_text("")
    result = fetched(client.path)
    assert sum("fetch" in command.argv for command in result.commands) == 2
    assert "tried twice: another process was at the same references" in result.choices


def test_phases_add_up_to_the_time_that_passed(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    result = fetched(client.path)
    assert sum(phase.elapsed_s for phase in result.phases) == pytest.approx(result.elapsed_s)
    assert {"connect", "receive", "connectivity check", "other"} <= {phase.name for phase in result.phases}


@pytest.mark.oracle
def test_received_bytes_are_those_of_the_pack(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    client.git("config", "fetch.unpackLimit", "1")
    result = fetched(client.path)
    (pack,) = client.packs()
    index = client.git("verify-pack", "--verbose", os.fspath(pack)).splitlines()
    assert result.received_objects == sum(" commit " in line or " tree " in line or " blob " in line for line in index)
    # git stops counting before the last bytes of the checksum, which may come by themselves
    assert result.received_bytes is not None
    assert 0 <= pack.stat().st_size - result.received_bytes <= 20


@pytest.mark.parametrize("unpack_limit", ["1", "100"], ids=["keeps the pack", "unpacks"])
def test_dry_run_says_how_much_the_server_sent(unpack_limit: str, tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    upstream.commit({"noise": random.Random(5).randbytes(300_000).hex()})
    client = make_client(tmp_path / "client.git", upstream)
    client.git("config", "fetch.unpackLimit", unpack_limit)
    result = fetched(client.path, dry_run=True)
    assert result.received_objects == int(upstream.git("rev-list", "--objects", "--all", "--count"))
    # 600,000 hexadecimal digits take half of it, and not much less, however they are compressed
    assert result.received_bytes is not None
    assert 300_000 < result.received_bytes < 400_000


@pytest.mark.safety
@pytest.mark.parametrize("name", ["x; touch PWNED; #", "$(touch PWNED)", "a\\b", "x`touch PWNED`"])
def test_log_of_a_reference_takes_no_words_from_the_name_of_a_remote(name: str, tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = GitRepository.init(tmp_path / "client", bare=False)
    client.git("commit", "--quiet", "--allow-empty", "-m", "so that there is a folder for logs")
    client.git("config", f"remote.{name}.url", os.fspath(upstream.path))
    client.git("config", f"remote.{name}.fetch", TRACKING)
    assert fetched(client.path).outcome is Outcome.DONE
    said = client.git("log", "--walk-reflogs", "--format=%gs", "refs/remotes/origin/main").splitlines()
    assert said == ["fetch: storing head"]


def test_repository_that_goes_in_the_middle_is_said_to_be_gone(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    result = fetched(client.path, on_progress=lambda _: shutil.rmtree(client.path, ignore_errors=True))
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.VANISHED)
    assert result.sentence == "the repository is not there any more"


def test_lock_that_is_in_the_way_is_named_where_it_lies(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    lock = client.path / "refs" / "remotes" / "origin" / "main.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    result = fetched(client.path)
    assert result.reason is Reason.LOCK_HELD
    assert os.fspath(lock) in result.sentence
    assert "gitdash-shadow" not in result.sentence + "".join(command.stderr for command in result.commands)


def test_progress_is_told_in_words_of_git(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    client.git("config", "fetch.unpackLimit", "1")
    told: list[FetchProgress] = []
    result = fetched(client.path, on_progress=told.append)
    assert {"counting objects", "receiving objects"} <= {progress.phase for progress in told}
    last = next(progress for progress in reversed(told) if progress.phase == "receiving objects")
    assert last.done_count == last.total_count == result.received_objects
    assert last.received_bytes == result.received_bytes


def test_cancelled_fetch_changes_nothing_and_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    seen, slow = tmp_path / "seen", tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\necho $$ >{seen}.part && mv {seen}.part {seen}\nsleep 60\n")
    slow.chmod(0o755)
    (Path(os.environ["HOME"]) / ".gitconfig").write_text(f"[uploadpack]\n\tpackObjectsHook = {slow}\n")
    cancel = threading.Event()
    cancelled_s: list[float] = []

    def cancel_when_seen() -> None:
        while not seen.exists():
            time.sleep(0.005)
        cancelled_s.append(time.monotonic())
        cancel.set()

    watching = threading.Thread(target=cancel_when_seen, daemon=True)
    watching.start()
    result = fetched(client.path, cancel=cancel)
    # git and what it started would go on for 60 s
    assert time.monotonic() - cancelled_s[0] < 10
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, Reason.CANCELLED)
    assert references(client) == {}
    assert not list(client.path.rglob("*.lock"))
    assert (
        left_after([psutil.Process(int(seen.read_text()))] if psutil.pid_exists(int(seen.read_text())) else [], 2) == []
    )


def test_repository_that_vanished_is_told_in_a_sentence(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    report, plan = planned(client.path)
    shutil.rmtree(client.path)
    result = fetch(report, plan.remotes[0], program=find_git(GIT), now_s=time.time())
    assert (result.outcome, result.reason) == (Outcome.FAILED, Reason.VANISHED)
    assert not client.path.exists()


def test_nothing_of_a_stand_in_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", os.fspath(tmp_path / "temporary"))
    upstream = make_upstream(tmp_path)
    client = make_client(tmp_path / "client.git", upstream)
    assert fetched(client.path).outcome is Outcome.DONE
    assert list((tmp_path / "temporary").iterdir()) == []


def test_member_does_not_name_what_its_lender_has_unless_that_is_wanted(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.git("fetch", "--quiet", os.fspath(upstream.path), "+refs/heads/topic:refs/heads/topic")
    client = make_client(tmp_path / "client.git", upstream, refspec="+refs/heads/main:refs/remotes/origin/main")
    client.borrow_from(lender)
    first = fetched(client.path, dry_run=True)
    assert "alternate refs suppressed: the lender has none of 1 wanted tip" in first.choices
    lender.git("fetch", "--quiet", os.fspath(upstream.path), "+refs/heads/main:refs/heads/main")
    second = fetched(client.path)
    assert "alternate refs used: the lender has 1 of 1 wanted tip" in second.choices
    assert second.received_objects is None
    assert references(client)["refs/remotes/origin/main"] == upstream.git("rev-parse", "refs/heads/main")
    assert "alternate refs suppressed: nothing is wanted that is not here" in fetched(client.path).choices


def test_member_that_is_a_little_behind_does_not_name_many_references(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.git("fetch", "--quiet", os.fspath(upstream.path), "+refs/heads/main:refs/heads/main")
    tip = lender.git("rev-parse", "refs/heads/main")
    names = "".join(f"create refs/keep/{number} {tip}\n" for number in range(100))
    lender.git("update-ref", "--stdin", stdin=names.encode())
    client = make_client(tmp_path / "client.git", upstream, refspec="+refs/heads/main:refs/remotes/origin/main")
    client.borrow_from(lender)
    client.git("update-ref", "refs/heads/main", tip)
    commit = upstream.commit({"more": "1"})
    lender.git("fetch", "--quiet", os.fspath(upstream.path), "+refs/heads/main:refs/heads/main")
    (choice,) = [choice for choice in fetched(client.path).choices if choice.startswith("alternate refs")]
    assert choice.startswith(
        "alternate refs suppressed: the lender has 1 of 1 wanted tip, but to receive 1 commit costs"
    )
    assert references(client)["refs/remotes/origin/main"] == commit


def test_fetch_without_the_lender_says_that_objects_may_be_lacking(tmp_path: Path) -> None:
    """git says so on stderr alone, and ends with 0."""
    upstream, lender = make_upstream(tmp_path), GitRepository.init(tmp_path / "lender.git")
    client = make_client(tmp_path / "client.git", upstream)
    client.borrow_from(lender)
    assert "lacking" not in fetched(client.path, dry_run=True).sentence
    shutil.rmtree(lender.path)
    result = fetched(client.path)
    assert result.outcome is Outcome.DONE
    assert f"; objects may be lacking: its lender {lender.git_dir}/objects: " in result.sentence


@pytest.mark.parametrize(("choice", "word"), [("use", "used"), ("suppress", "suppressed")])
def test_choice_about_alternate_references_can_be_forced(choice: str, word: str, tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    lender = GitRepository.init(tmp_path / "lender.git")
    client = make_client(tmp_path / "client.git", upstream)
    client.borrow_from(lender)
    result = fetched(client.path, alternate_refs=choice)
    assert f"alternate refs {word}: asked for" in result.choices
    assert not any("ls-remote" in command.argv for command in result.commands)


def test_new_tag_in_a_mirror_counts_as_the_commit_that_it_names(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path)
    lender = GitRepository.init(tmp_path / "lender.git")
    client = make_client(tmp_path / "client.git", upstream, refspec="+refs/*:refs/*")
    client.borrow_from(lender)
    fetched(client.path)
    upstream.commit({"new": "2"})
    upstream.git("tag", "-a", "-m", "new", "v2", "main")
    upstream.git("tag", "-a", "-m", "of the tag", "v2-again", "v2")
    lender.git("fetch", "--quiet", os.fspath(upstream.path), "+refs/*:refs/*")
    tip = lender.git("rev-parse", "refs/heads/main")
    names = "".join(f"create refs/heads/n{number} {tip}\n" for number in range(500))
    lender.git("update-ref", "--stdin", stdin=names.encode())
    (choice,) = [choice for choice in fetched(client.path).choices if choice.startswith("alternate refs")]
    # a branch, a tag, and a tag of that one: all stand for one commit
    assert "the lender has 3 of 3 wanted tips, but to receive 1 commit costs less" in choice
