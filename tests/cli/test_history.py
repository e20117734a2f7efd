"""`gitdash history`, end to end: entries are written as another gitdash would, and read from its output."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from gitdash.history.cut_off import this_process
from gitdash.history.store import History, open_history
from gitdash.model.ledger import Outcome, Phase, Reason, RecordedCommand, ReferenceChange, StoreFigures
from tests.cli.process import PROJECT, Gitdash
from tests.history.ledger_entries import MOMENT_S, entry
from tests.support.repositories import GIT, GitRepository

README = (PROJECT / "README.md").read_text()


def open_state(gitdash: Gitdash) -> History:
    return open_history(os.fspath(gitdash.folder / "state" / "state.db"))


def record(gitdash: Gitdash, repository: Path, **more) -> int:
    """Record a fetch that ended, and return its number."""
    with open_state(gitdash) as history:
        begun = history.ledger.begin(entry(os.fsencode(repository), started_at_s=more.pop("started_at_s", MOMENT_S)))
        fields = {"outcome": Outcome.DONE, "elapsed_s": 3.25} | more
        history.ledger.put(msgspec.structs.replace(begun, **fields))
        return begun.number


def detailed() -> dict[str, object]:
    return {
        "outcome": Outcome.FAILED,
        "reason": Reason.AUTHENTICATION,
        "sentence": "the server takes no key of yours",
        "choices": ("alternate refs suppressed: the lender has 50,000",),
        "before": StoreFigures(pack_count=3, loose_count=12, disk_bytes=3 * 1024**2, reference_count=9),
        "after": StoreFigures(pack_count=4, loose_count=12, disk_bytes=1024**2, reference_count=9),
        "phases": (Phase(name="connect", elapsed_s=1.0), Phase(name="receive", elapsed_s=3.0)),
        "received_objects": 300,
        "received_bytes": 2048,
        "reference_changes": (ReferenceChange(name="refs/heads/x", kind="new", new="ab" * 20),),
        "reference_change_count": 1,
        "removed": ("objects/pack/tmp_pack_1",),
        "commands": (
            RecordedCommand(
                argv=("git", "fetch", "a b"), started_at_s=MOMENT_S, elapsed_s=2.0, exit_code=128, stderr="fatal: no\n"
            ),
        ),
    }


def names(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(names, value))
    return set(value).union(*map(names, value.values())) if isinstance(value, dict) else set()


def test_json_has_everything_and_the_readme_names_it(gitdash: Gitdash, fleet: Path) -> None:
    number = record(gitdash, fleet / "pool.git", **detailed())
    document = gitdash.json("history", fleet / "pool.git")
    (action,) = document["actions"]
    assert document["path"] == action["path"] == os.fspath(fleet / "pool.git")
    assert action["number"] == number
    assert action["started_at"] == "2023-11-14T22:13:20Z"
    assert (action["outcome"], action["reason"], action["elapsed_s"]) == ("failed", "authentication", 3.25)
    assert action["before"]["pack_count"] == 3
    assert action["phases"] == [{"name": "connect", "elapsed_s": 1.0}, {"name": "receive", "elapsed_s": 3.0}]
    (command,) = action["commands"]
    assert command == {
        "argv": ["git", "fetch", "a b"],
        "started_at": "2023-11-14T22:13:20Z",
        "elapsed_s": 2.0,
        "exit_code": 128,
        "ending": None,
        "stderr": "fatal: no\n",
    }
    assert {name for name in names(document) if f"`{name}`" not in README and f'"{name}"' not in README} == set()


def test_text_says_how_it_went_with_bars_before_and_after_and_commands(gitdash: Gitdash, fleet: Path) -> None:
    record(gitdash, fleet / "pool.git", **detailed())
    output = gitdash.run("history", fleet / "pool.git", "--verbose").stdout
    lines = output.splitlines()
    assert re.fullmatch(
        r"2023-11-14 22:13:20 UTC \(\w+ ago\)  fetch origin: failed \(authentication\), 3\.2 s", lines[0]
    )
    assert "packs 3 -> 4, loose 12, disk 3.00 MiB -> 1.00 MiB, references 9" in output
    assert "alternate refs suppressed: the lender has 50,000" in output
    assert f"connect |{'#' * 10}{' ' * 30}| 1.0 s" in output, "a quarter of the time"
    assert f"receive |{' ' * 10}{'#' * 30}| 3.0 s" in output
    assert "git fetch 'a b'\n" in output
    assert "2.0 s, exit code 128" in output
    assert "fatal: no" in output
    assert "1 new\n" in output


def test_an_action_is_told_in_three_lines_unless_more_is_asked_for(gitdash: Gitdash, fleet: Path) -> None:
    changes = tuple(ReferenceChange(name=f"refs/heads/{number}", kind="new", new="ab" * 20) for number in range(50))
    record(gitdash, fleet / "pool.git", **detailed() | {"reference_changes": changes, "reference_change_count": 50})
    first, second, third = gitdash.run("history", fleet / "pool.git").stdout.splitlines()
    assert first.endswith("fetch origin: failed (authentication), 3.2 s: the server takes no key of yours")
    expected = "received 300 objects, 2.00 KiB, references: 50 new, packs 3 -> 4, disk 3.00 MiB -> 1.00 MiB"
    assert second == f"    {expected}"
    assert third == "    phases: connect 1.0 s, receive 3.0 s"


def test_without_a_repository_the_last_actions_on_all_are_told(gitdash: Gitdash, fleet: Path) -> None:
    record(gitdash, fleet / "pool.git", started_at_s=MOMENT_S)
    record(gitdash, fleet / "member.git", started_at_s=MOMENT_S + 60)
    lines = gitdash.run("history").stdout.splitlines()
    assert [line.partition("  ")[2] for line in lines] == [
        f"{fleet / 'member.git'}: fetch origin: done, 3.2 s",
        f"{fleet / 'pool.git'}: fetch origin: done, 3.2 s",
    ]
    document = gitdash.json("history", "--limit", "1")
    assert (document["path"], len(document["actions"])) == (None, 1)
    verbose = gitdash.run("history", "--verbose").stdout
    assert f"{fleet / 'pool.git'}: fetch origin: done" in verbose
    empty = gitdash.run("--state", gitdash.folder / "other.db", "history")
    assert (empty.returncode, empty.stderr) == (0, "gitdash: nothing is recorded\n")


def test_what_was_done_by_way_of_a_linked_worktree_is_found_from_both(gitdash: Gitdash, fleet: Path) -> None:
    main = GitRepository.init(fleet / "main", bare=False)
    main.commit({"a": "1"})
    linked = fleet / "linked"
    main.git("worktree", "add", "--quiet", "--detach", linked, "main")
    assert gitdash.run("maintain", linked, "--task", "loose-objects", "--yes").returncode == 0
    assert gitdash.run("maintain", main.path, "--task", "verify", "--yes").returncode == 0
    for path in (main.path, linked, main.git_dir):
        actions = gitdash.json("history", path)["actions"]
        assert [(action["task"], action["path"]) for action in actions] == [
            ("verify", os.fspath(main.path)),
            ("loose-objects", os.fspath(main.path)),
        ]
    assert actions[1]["before"]["disk_bytes"] is None, "those of the linked worktree say nothing of the store"


def test_the_newest_come_first_and_no_more_than_asked_for(gitdash: Gitdash, fleet: Path) -> None:
    numbers = [record(gitdash, fleet / "pool.git", started_at_s=MOMENT_S + number) for number in range(25)]
    record(gitdash, fleet / "member.git")
    shown = [action["number"] for action in gitdash.json("history", fleet / "pool.git")["actions"]]
    assert shown == numbers[:4:-1], "20 without --limit"
    limited = gitdash.json("history", fleet / "pool.git", "--limit", "2")["actions"]
    assert [action["number"] for action in limited] == numbers[:-3:-1]


def test_a_folder_in_a_work_tree_and_a_repository_that_is_gone_are_found(gitdash: Gitdash, fleet: Path) -> None:
    number = record(gitdash, fleet / "work")
    assert gitdash.json("history", fleet / "work" / "inside")["actions"][0]["number"] == number
    shutil.rmtree(fleet / "work")
    assert gitdash.json("history", fleet / "work")["actions"][0]["number"] == number


def test_nothing_recorded_is_no_error_and_no_data(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("history", fleet / "pool.git")
    assert (finished.returncode, finished.stdout) == (0, "")
    assert "nothing is recorded of " in finished.stderr
    assert gitdash.json("history", fleet / "pool.git")["actions"] == []
    assert gitdash.git_calls() == [], "it needs no git"


@pytest.mark.parametrize("name", ["folder", "nothing"])
def test_what_is_no_repository_is_one_sentence_and_exit_2(gitdash: Gitdash, fleet: Path, name: str) -> None:
    finished = gitdash.run("history", fleet / name)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert len(finished.stderr.splitlines()) == 1


def test_without_a_state_file_there_is_no_history(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.options = ["--no-state"]
    finished = gitdash.run("history", fleet / "pool.git")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "with --no-state nothing is remembered" in finished.stderr


def test_an_action_that_was_cut_off_is_told_once_with_what_it_left(gitdash: Gitdash, fleet: Path) -> None:
    pool = fleet / "pool.git"
    with subprocess.Popen(["true"]) as process:
        process.wait()
    host = os.uname().nodename
    me = this_process()
    with open_state(gitdash) as history:
        gone = history.ledger.begin(entry(os.fsencode(pool), process_id=process.pid, host=host))
        mine = entry(
            os.fsencode(pool),
            remote="upstream",
            process_id=me.process_id,
            process_started_at_s=me.started_at_s,
            host=host,
        )
        history.ledger.begin(mine)
        history.ledger.begin(entry(os.fsencode(fleet / "gone.git"), process_id=process.pid, host=host))
    (pool / "packed-refs.lock").touch()
    said = gitdash.run("history", pool).stderr
    assert (
        f"cut off: fetch origin of {pool}, begun 2023-11-14 22:13:20 UTC; it may have left packed-refs.lock\n" in said
    )
    assert f"cut off: fetch origin of {fleet / 'gone.git'}, " in said
    again = gitdash.run("history", pool, "--format", "json")
    assert again.stderr == ""
    by_number = {action["number"]: action for action in json.loads(again.stdout)["actions"]}
    assert by_number.pop(gone.number)["leftovers"] == ["packed-refs.lock"]
    assert [action["outcome"] for action in by_number.values()] == ["running"]


HANGS = """#!/bin/sh
for word; do
    case $word in {subcommand}) echo $$ >{started}.new; mv {started}.new {started}; exec sleep 60;; esac
done
exec {git} "$@"
"""
"""A git that begins one subcommand and never ends it."""


@pytest.mark.parametrize(
    ("command", "subcommand"), [(("maintain", "--task", "full-repack", "--yes"), "repack"), (("fetch",), "fetch")]
)
def test_action_that_was_killed_says_which_git_ran_and_what_was_there_before(
    gitdash: Gitdash, fleet: Path, command: tuple[str, ...], subcommand: str
) -> None:
    pool, started, program = fleet / "pool.git", fleet / "started", fleet / "git"
    GitRepository(pool).git("config", "remote.origin.url", "https://127.0.0.1:9/a.git")
    GitRepository(pool).git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    program.write_text(HANGS.format(subcommand=subcommand, started=started, git=GIT))
    program.chmod(0o755)
    running = gitdash.command("--git", program, command[0], pool, *command[1:])
    with subprocess.Popen(running, env=gitdash.environment, stderr=subprocess.DEVNULL) as process:
        deadline_s = time.monotonic() + 30
        while not started.exists():
            assert time.monotonic() < deadline_s
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(started.read_text()), signal.SIGKILL)
    (action,) = gitdash.json("history", pool)["actions"]
    assert action["outcome"] == "cut off"
    last = action["commands"][-1]
    assert subcommand in last["argv"]
    assert (last["elapsed_s"], last["exit_code"]) == (None, None)
    assert all(one["exit_code"] == 0 for one in action["commands"][:-1])
    assert action["before"]["pack_count"] is not None
    assert "; the last that it began was git " in action["sentence"]
    assert action["sentence"].endswith(shlex.join(last["argv"][last["argv"].index(subcommand) :]))
    assert " -c " not in action["sentence"], "of the pairs that gitdash pins there are dozens"


KILLED = """
import os, time
from gitdash.gitcmd.shadow import held_folder
with held_folder(lambda folder: None) as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_temporary_folder_of_a_gitdash_that_was_killed_is_named_and_gone(gitdash: Gitdash, fleet: Path) -> None:
    pool = fleet / "pool.git"
    temporary = fleet / "temporary"
    temporary.mkdir()
    variables = {"TMPDIR": os.fspath(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, env=gitdash.environment | variables
    ) as process:
        folder = Path(process.communicate(timeout=60)[0].rstrip("\n"))
    assert list(temporary.iterdir()) == [folder]
    changed_at_s = folder.stat().st_mtime
    with open_state(gitdash) as history:
        for number, started_at_s in enumerate((changed_at_s - 5.0, changed_at_s + 100.0)):
            begun = entry(
                os.fsencode(pool),
                remote=f"r{number}",
                process_id=process.pid,
                host=os.uname().nodename,
                started_at_s=started_at_s,
            )
            history.ledger.begin(begun)
    said = gitdash.run("history", pool, **variables).stderr
    assert re.search(rf"fetch r0 of .* it may have left {re.escape(str(folder))}/ \(removed now\)\n", said)
    assert re.search(r"fetch r1 of .*; it has left nothing that is seen\n", said)
    assert list(temporary.iterdir()) == []


@pytest.mark.safety
def test_nothing_that_was_recorded_reaches_the_terminal_raw(gitdash: Gitdash, fleet: Path) -> None:
    bad = "x\x1b[31m\u202ey\n"
    command = RecordedCommand(argv=("git", bad), started_at_s=0.0, elapsed_s=None, exit_code=None, stderr=bad)
    record(gitdash, fleet / "pool.git", sentence=bad, remote=bad, choices=(bad,), leftovers=(bad,), commands=(command,))
    output = "".join(gitdash.run("history", fleet / "pool.git", *more).stdout for more in ([], ["--verbose"]))
    assert all(line.isprintable() for line in output.splitlines())
    assert "\\x1b[31m\\u202ey" in output
