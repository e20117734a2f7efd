"""`gitdash scan`, end to end."""

import csv
import io
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GIT, GitRepository, clean_environment


def disk_usage(repository: Path, *arguments: str) -> int:
    command = [GIT, "-C", os.fspath(repository), "rev-list", "--objects", "--disk-usage", *arguments]
    return int(subprocess.run(command, capture_output=True, check=True, env=clean_environment()).stdout)


@pytest.mark.parametrize("command", ["scan", "check", "fetch"])
def test_plain_file_with_the_name_of_a_repository_is_not_worth_a_line(
    gitdash: Gitdash, fleet: Path, command: str
) -> None:
    (fleet / "refs.origin_branch1.git").write_text("test data")
    (fleet / "away.git").symlink_to("/proc")
    finished = gitdash.run(command, fleet)
    assert "refs.origin" not in finished.stderr
    assert "away.git: a symbolic link out of the root" in finished.stderr


def test_every_repository_is_a_row_and_what_is_none_is_said_on_stderr(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("scan", fleet, "--format", "json")
    rows = {Path(row["path"]).name: row["kind"] for row in json.loads(finished.stdout)["repositories"]}
    assert rows == {"pool.git": "bare", "member.git": "bare", "work": "worktree", "empty.git": "bare"}
    assert "not a repository" in finished.stderr
    assert "broken.git" in finished.stderr
    assert "folder" not in finished.stderr


@pytest.mark.safety
def test_a_repository_that_is_lost_is_a_row_and_makes_check_fail(gitdash: Gitdash, fleet: Path) -> None:
    (fleet / "pool.git" / "HEAD").write_bytes(b"")
    shutil.rmtree(fleet / "empty.git" / "refs")
    shutil.rmtree(fleet / "work" / ".git")
    (fleet / "work" / ".git").write_text("gitdir: ../gone/.git/worktrees/work\n")
    document = json.loads(gitdash.run("scan", fleet, "--format", "json").stdout)
    lost = {Path(row["path"]).name: row["packs"] for row in document["repositories"] if row["state"] == "unreadable"}
    assert lost == {
        "pool.git": {"unreadable": "HEAD holds neither an object id nor a reference"},
        "empty.git": {"unreadable": "no refs folder"},
        "work": {"unreadable": ".git: names ../gone/.git/worktrees/work: no such file or directory"},
    }
    assert document["totals"]["unreadable_count"] == 3
    checked = gitdash.run("check", fleet, "--fail-on", "critical")
    assert checked.returncode == 1
    assert checked.stdout.count("repository-unreadable") == 3
    again = json.loads(gitdash.run("scan", fleet, "--format", "json").stdout)
    assert again["totals"] == document["totals"]


@pytest.mark.safety
@pytest.mark.parametrize("damage", ["packs deleted", "packs deleted, one object left", "index deleted", "index cut"])
def test_references_without_their_objects_are_critical_or_unreadable(
    gitdash: Gitdash, tmp_path: Path, damage: str
) -> None:
    lost = GitRepository.init(tmp_path / "root" / "lost.git")
    lost.commit({"a": "1", "b": "2"})
    lost.repack()
    (pack,) = lost.packs()
    index = pack.with_suffix(".idx")
    if damage == "index cut":
        index.write_bytes(index.read_bytes()[:500])
    else:
        index.unlink()
    if damage.startswith("packs"):
        pack.unlink()
    if damage.endswith("left"):
        lost.blob(b"left")
    lost.age(pack.parent, 3600, time.time())
    if pack.exists():
        lost.age(pack, 3600, time.time())
    row = gitdash.rows(tmp_path / "root", "--sizes", "all", exit_code=1)["lost.git"]
    assert set(row["sizes"]["reachable"]) == {"unreadable"}
    assert set(row["sizes"]["reachable_own"]) == {"unreadable"}
    assert row["state"] == ("warning" if damage == "index cut" else "critical")
    assert gitdash.run("size", lost.path).returncode == 1


def test_pool_and_member_know_each_other(gitdash: Gitdash, fleet: Path) -> None:
    rows = gitdash.rows(fleet)
    assert rows["pool.git"]["role"] == ["pool"]
    assert rows["pool.git"]["borrowers"] == [os.fspath(fleet / "member.git")]
    assert rows["member.git"]["role"] == ["member"]
    assert rows["member.git"]["alternates"][0]["path"] == os.fspath(fleet / "pool.git" / "objects")
    assert rows["member.git"]["bitmap"]["location"] == "lender"
    assert rows["work"]["role"] == ["plain"]


@pytest.mark.oracle
def test_sizes_are_those_of_git(gitdash: Gitdash, fleet: Path) -> None:
    rows = gitdash.rows(fleet, "--sizes", "all")
    member = rows["member.git"]["sizes"]
    assert member["reachable"]["bytes"] == disk_usage(fleet / "member.git", "--all")
    own = disk_usage(fleet / "member.git", "--not", "--alternate-refs", "--not", "--all")
    assert member["reachable_own"]["bytes"] == own
    assert member["exclusive"]["bytes"] == own
    assert rows["empty.git"]["sizes"]["reachable"]["bytes"] == 0
    assert "--use-bitmap-index" in member["reachable"]["argv"]
    assert "--use-bitmap-index" not in member["reachable_own"]["argv"]


def test_sizes_that_were_not_asked_for_are_null_and_not_zero(gitdash: Gitdash, fleet: Path) -> None:
    sizes = gitdash.rows(fleet)["pool.git"]["sizes"]
    assert sizes["exclusive"] is None
    assert sizes["reachable"] is None
    assert sizes["disk"]["bytes"] > 0


def test_a_second_scan_answers_sizes_from_the_state_file_and_runs_git_once(gitdash: Gitdash, fleet: Path) -> None:
    age_everything(fleet)
    first = gitdash.rows(fleet, "--sizes", "all")
    assert len(gitdash.git_calls()) > 1
    second = gitdash.rows(fleet, "--sizes", "all")
    assert gitdash.git_calls() == ["version"]
    for name, row in second.items():
        assert row["sizes"]["reachable"]["from_history"]
        assert row["sizes"]["reachable"]["bytes"] == first[name]["sizes"]["reachable"]["bytes"]
        assert row["sizes"]["exclusive"] == first[name]["sizes"]["exclusive"]


def test_a_scan_of_files_runs_git_once_for_any_number_of_repositories(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.rows(fleet)
    assert [call for call in gitdash.git_calls() if call != "version"] == []


def test_reachable_sizes_cost_a_few_git_calls_for_each_repository(gitdash: Gitdash, fleet: Path) -> None:
    rows = gitdash.rows(fleet, "--sizes", "reachable")
    assert len(gitdash.git_calls()) <= 1 + 2 * len(rows)


def test_a_new_commit_is_seen_by_the_next_scan(gitdash: Gitdash, fleet: Path) -> None:
    age_everything(fleet)
    before = gitdash.rows(fleet, "--sizes", "all")
    GitRepository(fleet / "work", clock_s=1_800_000_000).commit({"x": "z\n" * 1000})
    after = gitdash.rows(fleet, "--sizes", "all")
    assert after["work"]["sizes"]["reachable"]["bytes"] == disk_usage(fleet / "work", "--all")
    assert after["work"]["sizes"]["reachable"]["bytes"] > before["work"]["sizes"]["reachable"]["bytes"]
    assert after["pool.git"]["sizes"]["reachable"]["from_history"]


def test_a_change_in_the_lender_makes_the_members_sizes_unknown(gitdash: Gitdash, fleet: Path) -> None:
    age_everything(fleet)
    gitdash.rows(fleet, "--sizes", "all")
    GitRepository(fleet / "pool.git", clock_s=1_800_000_000).commit({"a": "new\n"})
    rows = gitdash.rows(fleet)
    assert rows["member.git"]["sizes"]["exclusive"] is None
    assert rows["member.git"]["sizes"]["reachable_own"] is None


def test_a_missing_lender_is_unreadable_and_not_the_full_size(gitdash: Gitdash, fleet: Path) -> None:
    (fleet / "pool.git").rename(fleet.parent / "elsewhere.git")
    row = gitdash.rows(fleet, "--sizes", "all", exit_code=1)["member.git"]
    assert "unreadable" in row["sizes"]["reachable"]
    assert "unreadable" in row["sizes"]["reachable_own"]
    assert "unreadable" in row["sizes"]["exclusive"]
    assert row["state"] == "critical"


def lose_a_tree(repository: Path) -> str:
    """Take away an object that every clone needs; returns its id."""
    object_id = GitRepository(repository).git("rev-parse", "HEAD^{tree}")
    git_dir = repository / ".git" if (repository / ".git").exists() else repository
    (git_dir / "objects" / object_id[:2] / object_id[2:]).unlink()
    return object_id


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["scan", "--sizes", "reachable"], "reachable, own"),
        (["scan", "--columns", "name,own"], "own"),
        (["check", "--fail-on", "critical", "--sizes", "all"], "reachable, own"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_measurement_that_fails_is_said_once_and_exit_1(
    gitdash: Gitdash, fleet: Path, arguments: list[str], names: str
) -> None:
    object_id = lose_a_tree(fleet / "work")
    finished = gitdash.run(*arguments, fleet)
    assert finished.returncode == 1
    said = [line for line in finished.stderr.splitlines() if "a measurement failed" in line]
    assert len(said) == 1
    assert f"{fleet / 'work'}: {names}: " in said[0]
    assert object_id in said[0]


def test_a_failed_measurement_is_remembered_with_its_reason_until_something_changes(
    gitdash: Gitdash, fleet: Path
) -> None:
    object_id = lose_a_tree(fleet / "work")
    age_everything(fleet)
    failed = gitdash.rows(fleet, "--sizes", "all", exit_code=1)["work"]
    assert object_id in failed["sizes"]["reachable"]["unreadable"]
    again = gitdash.rows(fleet)["work"]
    assert again["sizes"] == failed["sizes"]
    assert again["findings"] == failed["findings"]
    assert object_id in gitdash.run("show", fleet / "work").stdout
    gitdash.git_calls()
    gitdash.rows(fleet, "--sizes", "all", exit_code=1)
    assert len(gitdash.git_calls()) > 1, "asked for, it is tried again"
    GitRepository(fleet / "work", clock_s=1_800_000_000).git("hash-object", "-w", "-t", "tree", "--stdin")
    assert gitdash.rows(fleet)["work"]["sizes"]["reachable"] is None


def test_a_store_that_rows_share_counts_once(gitdash: Gitdash, fleet: Path) -> None:
    GitRepository(fleet / "work").git("worktree", "add", "-q", "--detach", os.fspath(fleet / "linked"))
    document = gitdash.json("scan", fleet, "--sizes", "exclusive")
    rows = {Path(row["path"]).name: row for row in document["repositories"]}
    assert rows["linked"]["kind"] == "linked_worktree"
    assert document["totals"]["repository_count"] == 5
    assert document["totals"]["object_store_count"] == 4
    disk = sum(row["sizes"]["disk"]["bytes"] for name, row in rows.items() if name != "linked")
    assert document["totals"]["disk_bytes"] == disk


def test_a_bitmap_of_the_lender_is_shown_wherever_bitmaps_are(gitdash: Gitdash, fleet: Path) -> None:
    table = gitdash.run("scan", fleet, "--format", "csv", "--columns", "name,bitmap").stdout.splitlines()
    assert {"pool.git,pack", "member.git,lender", "work,"} <= {*table}
    assert gitdash.json("show", fleet / "member.git")["bitmap"]["location"] == "lender"


def test_partial_sums_say_what_is_missing(gitdash: Gitdash, fleet: Path) -> None:
    assert gitdash.json("scan", fleet, "--sizes", "exclusive")["totals"]["exclusive_unknown_count"] == 0
    (fleet / "pool.git").rename(fleet.parent / "elsewhere.git")
    totals = gitdash.json("scan", fleet, "--sizes", "exclusive", exit_code=1)["totals"]
    assert (totals["object_store_count"], totals["exclusive_unknown_count"]) == (3, 1)


def test_formats_agree(gitdash: Gitdash, fleet: Path) -> None:
    records = gitdash.rows(fleet)
    lines = gitdash.run("scan", fleet, "--format", "jsonl").stdout.splitlines()
    assert {json.loads(line)["path"] for line in lines} == {row["path"] for row in records.values()}
    table = list(csv.DictReader(io.StringIO(gitdash.run("scan", fleet, "--format", "csv").stdout)))
    assert {row["name"]: int(row["disk_bytes"]) for row in table} == {
        name: row["sizes"]["disk"]["bytes"] for name, row in records.items()
    }
    assert gitdash.run("scan", fleet, "--format", "markdown").stdout.startswith("| name |")
    assert gitdash.run("scan", fleet).stdout.split()[0] == "name"


def test_rows_are_selected_sorted_and_cut_to_columns(gitdash: Gitdash, fleet: Path) -> None:
    arguments = ["--format", "csv", "--columns", "name,packs", "--sort", "-name", "--where", "loose > 0 OR packs > 0"]
    lines = gitdash.run("scan", fleet, *arguments).stdout.splitlines()
    assert lines == ["name,pack_count", "work,0", "pool.git,1", "member.git,0"]


@pytest.mark.parametrize(
    ("arguments", "measured"),
    [
        (["--columns", "name,exclusive"], ["exclusive"]),
        (["--where", "duplicate_bytes >= 0"], ["exclusive"]),
        (["--sort", "-own"], ["reachable_own"]),
        (["--columns", "name,reachable"], ["reachable"]),
        (["--columns", "name,reachable", "--sort", "own"], ["reachable", "reachable_own"]),
        (["--where", "saved_bytes > 0 OR name <> ''"], ["exclusive", "reachable"]),
        (["--where", "reachable > 0", "--sort", "exclusive"], ["exclusive", "reachable"]),
        (["--columns", "name,own", "--sizes", "all"], ["exclusive", "reachable", "reachable_own"]),
        (["--where", "name <> 'exclusive'", "--columns", "name,disk", "--sort", "packs"], []),
        (["--where", "exclusive IS NULL", "--sizes", "disk"], []),
    ],
    ids=" ".join,
)
def test_a_size_that_is_named_is_measured(
    gitdash: Gitdash, fleet: Path, arguments: list[str], measured: list[str]
) -> None:
    sizes = gitdash.rows(fleet, *arguments)["pool.git"]["sizes"]
    questions = ("exclusive", "reachable", "reachable_own")
    assert [question for question in questions if sizes[question] is not None] == measured


def test_a_condition_on_a_size_that_shall_not_be_measured_is_said(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("scan", fleet / "work", "--where", "duplicate_bytes >= 0", "--sizes", "reachable")
    assert finished.returncode == 0
    assert finished.stdout.splitlines()[1:] == []
    assert "--sizes reachable does not measure duplicate" in finished.stderr


@pytest.mark.parametrize("key", ["disk", "packs"])
def test_numbers_are_sorted_biggest_first_and_turned_round_by_a_minus(gitdash: Gitdash, fleet: Path, key: str) -> None:
    def column(sort: str) -> list[int]:
        lines = gitdash.run("scan", fleet, "--format", "csv", "--columns", key, "--sort", sort).stdout.splitlines()
        return [int(line) for line in lines[1:]]

    assert column(key) == sorted(column(key), reverse=True)
    assert column(f"-{key}") == sorted(column(key))
    assert len({*column(key)}) > 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--columns", "nonsense"],
        ["--sort", "nonsense"],
        ["--where", "nonsense > 1"],
        ["--where", "(("],
        ["--columns", ""],
    ],
    ids=" ".join,
)
def test_a_wrong_column_or_condition_is_one_sentence_and_exit_2(
    gitdash: Gitdash, fleet: Path, arguments: list[str]
) -> None:
    finished = gitdash.run("scan", fleet, *arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1


@pytest.mark.safety
def test_names_of_repositories_cannot_act_on_a_terminal_or_a_line(gitdash: Gitdash, tmp_path: Path) -> None:
    root = os.fsencode(tmp_path / "names")
    os.mkdir(root)
    for name in (b"esc\x1b]0;x\x07.git", b"line\nbreak.git", b"bytes\xff.git", "bidi\u202egit.git".encode()):
        subprocess.run(
            [GIT, "init", "-q", "--bare", "--template=", os.path.join(root, name)], check=True, env=clean_environment()
        )
    for output_format in ("table", "json", "jsonl", "csv", "markdown"):
        output = gitdash.run("scan", os.fsdecode(root), "--format", output_format).stdout
        assert "\x1b" not in output
        assert "\u202e" not in output
        assert "\x07" not in output
        assert "\udcff" not in output
    assert len(gitdash.run("scan", os.fsdecode(root), "--format", "jsonl").stdout.splitlines()) == 4


@pytest.mark.safety
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_owners_repository_is_a_row_with_the_line_that_would_trust_it(gitdash: Gitdash, fleet: Path) -> None:
    for folder, _, names in os.walk(fleet / "work"):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.chown(path, 12345, 12345)
    row = gitdash.rows(fleet, "--sizes", "all")["work"]
    assert row["state"] == "foreign"
    assert row["loose"]["count"] == 3
    assert row["sizes"]["reachable"]["bytes"] > 0
    remedies = [finding["remedy"] for finding in row["findings"]]
    assert any(f"safe.directory {fleet / 'work'}" in remedy for remedy in remedies), remedies
    gitdash.git_calls()


def test_without_state_nothing_is_written(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.options = ["--no-state"]
    before = sorted(gitdash.folder.rglob("*"))
    assert gitdash.rows(fleet)
    assert [path for path in sorted(gitdash.folder.rglob("*")) if path.name != "calls"] == before


def test_a_repository_that_is_gone_is_forgotten(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.rows(fleet)
    (fleet / "empty.git").rename(fleet.parent / "moved.git")
    assert "empty.git" not in gitdash.rows(fleet)
    (fleet.parent / "moved.git").rename(fleet / "empty.git")
    assert "empty.git" in gitdash.rows(fleet)


def age_everything(root: Path) -> None:
    """Set all times to a day ago: a change within the last seconds might hide behind a coarse time stamp."""
    for folder, _, names in os.walk(root):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            status = os.lstat(path)
            os.utime(path, (status.st_mtime - 86_400, status.st_mtime - 86_400), follow_symlinks=False)
