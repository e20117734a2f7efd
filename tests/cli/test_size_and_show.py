"""`gitdash size` and `gitdash show`, end to end."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GIT, GitRepository, clean_environment


def disk_usage(repository: Path, *arguments: str) -> int:
    command = [GIT, "-C", os.fspath(repository), "rev-list", "--objects", "--disk-usage", *arguments]
    return int(subprocess.run(command, capture_output=True, check=True, env=clean_environment()).stdout)


def test_json_of_a_size_has_the_promised_keys(gitdash: Gitdash, fleet: Path) -> None:
    answer = gitdash.json("size", fleet / "member.git")
    promised = {
        "path", "question", "bytes", "strategy", "exact", "elapsed_s", "measured_at", "argv", "git_version",
    }  # fmt: skip
    assert promised <= answer.keys()
    assert answer["path"] == os.fspath(fleet / "member.git")
    assert answer["question"] == "reachable"
    assert answer["argv"][:2] == ["git", "rev-list"]


@pytest.mark.oracle
def test_the_lender_is_left_out_only_if_that_is_asked_for(gitdash: Gitdash, fleet: Path) -> None:
    member = fleet / "member.git"
    assert gitdash.json("size", member)["bytes"] == disk_usage(member, "--all")
    own = gitdash.json("size", member, "--exclude-alternates")
    assert own["question"] == "reachable_own"
    assert own["bytes"] == disk_usage(member, "--not", "--alternate-refs", "--not", "--all")


@pytest.mark.oracle
def test_excluded_references_are_left_out(gitdash: Gitdash, fleet: Path) -> None:
    pool = GitRepository(fleet / "pool.git", clock_s=1_800_000_000)
    pool.commit({"big": "x\n" * 5000}, reference="refs/merge-requests/1/head")
    answer = gitdash.json("size", fleet / "pool.git", "--exclude-refs", "refs/merge-requests/*")
    assert answer["bytes"] == disk_usage(fleet / "pool.git", "--exclude=refs/merge-requests/*", "--all")
    assert answer["bytes"] < gitdash.json("size", fleet / "pool.git")["bytes"]


def test_a_size_is_answered_from_the_state_file_until_something_changes(gitdash: Gitdash, fleet: Path) -> None:
    assert not gitdash.json("size", fleet / "pool.git")["from_history"]
    gitdash.git_calls()
    assert gitdash.json("size", fleet / "pool.git")["from_history"]
    assert gitdash.git_calls() == ["version"]
    GitRepository(fleet / "pool.git", clock_s=1_800_000_000).commit({"n": "new\n"})
    assert not gitdash.json("size", fleet / "pool.git")["from_history"]


def test_the_age_of_a_size_reads_as_a_sentence(gitdash: Gitdash, fleet: Path) -> None:
    said = [gitdash.run("size", fleet / "pool.git").stdout for _ in range(2)]
    assert ", measured now, git " in said[0]
    assert ", remembered, measured " in said[1]
    assert "now ago" not in said[1]
    gitdash.run("scan", fleet, "--sizes", "all")
    assert "remembered, measured at " in gitdash.run("show", fleet / "pool.git").stdout


def test_a_strategy_that_is_asked_for_is_used_and_not_remembered(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.json("size", fleet / "pool.git")
    walked = gitdash.json("size", fleet / "pool.git", "--strategy", "walk")
    assert walked["strategy"] == "walk"
    assert not walked["from_history"]
    assert "--use-bitmap-index" not in walked["argv"]


def test_a_strategy_that_cannot_answer_is_one_sentence_and_exit_2(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("size", fleet / "pool.git", "--strategy", "union")
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1


@pytest.mark.parametrize("place", ["work", "work/.git", "work/inside", "work/.git/refs"])
def test_a_repository_is_found_from_any_folder_in_it(gitdash: Gitdash, fleet: Path, place: str) -> None:
    assert gitdash.json("size", fleet / place)["path"] == os.fspath(fleet / "work")


def test_a_relative_path_is_taken_from_the_current_folder(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("size", "--format", "json", ".", cwd=fleet / "work" / "inside")
    assert json.loads(finished.stdout)["path"] == os.fspath(fleet / "work")


@pytest.mark.safety
def test_an_empty_git_folder_never_answers_with_the_numbers_of_the_repository_around_it(
    gitdash: Gitdash, fleet: Path
) -> None:
    (fleet / "work" / "inside" / ".git").mkdir()
    finished = gitdash.run("size", fleet / "work" / "inside")
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert "is unreadable: .git: no HEAD" in finished.stderr
    shown = gitdash.run("show", fleet / "work" / "inside")
    assert "critical: repository-unreadable: cannot be read: .git: no HEAD" in shown.stdout


@pytest.mark.parametrize("command", ["size", "show"])
def test_what_is_no_repository_is_one_sentence_and_exit_2(gitdash: Gitdash, fleet: Path, command: str) -> None:
    for path in (fleet / "folder", fleet / "nothing"):
        finished = gitdash.run(command, path)
        assert finished.returncode == 2
        assert finished.stdout == ""
        assert len(finished.stderr.splitlines()) == 1


def test_a_missing_lender_fails_and_shows_no_number(gitdash: Gitdash, fleet: Path) -> None:
    (fleet / "pool.git").rename(fleet.parent / "elsewhere.git")
    finished = gitdash.run("size", fleet / "member.git", "--format", "json")
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert "pool.git" in finished.stderr


def test_explain_says_which_strategy_and_compares_all_figures(gitdash: Gitdash, fleet: Path) -> None:
    output = gitdash.run("size", fleet / "member.git", "--exclude-alternates", "--explain").stdout
    assert "strategy: walk: " in output
    assert "cost: " in output
    for figure in ("disk: ", "objects: ", "exclusive: ", "duplicate: ", "reachable: ", "own: "):
        assert f"\n{figure}" in output


def test_explain_says_that_git_walks_where_there_is_no_bitmap(gitdash: Gitdash, fleet: Path) -> None:
    with_bitmap = gitdash.run("size", fleet / "pool.git", "--explain").stdout
    assert "cost: reads the bitmap" in with_bitmap
    without = gitdash.run("size", fleet / "work", "--explain").stdout
    assert "strategy: bitmap: there is no bitmap here, so git walks" in without
    assert "reads the bitmap" not in without
    borrowed = gitdash.run("size", fleet / "member.git", "--explain").stdout
    assert "cost: reads the bitmap" in borrowed, "that of the lender"


def test_explain_leaves_json_on_stdout_alone(gitdash: Gitdash, fleet: Path) -> None:
    finished = gitdash.run("size", fleet / "member.git", "--explain", "--format", "json")
    assert json.loads(finished.stdout)["question"] == "reachable"
    assert "strategy: bitmap: " in finished.stderr


def test_show_says_what_is_known_and_hides_credentials(gitdash: Gitdash, fleet: Path) -> None:
    GitRepository(fleet / "pool.git").git("config", "remote.origin.url", "https://user:secret@example.com/x.git")
    for arguments in ([], ["--format", "json"]):
        finished = gitdash.run("show", fleet / "pool.git", *arguments)
        assert finished.returncode == 0
        assert "secret" not in finished.stdout
        assert "example.com/x.git" in finished.stdout
        assert os.fspath(fleet / "pool.git") in finished.stdout


def test_show_times_lookups(gitdash: Gitdash, fleet: Path) -> None:
    lookups = gitdash.json("show", fleet / "pool.git")["lookups"]
    assert 0 < lookups["warm_s"] <= 10
    assert 0 < lookups["missing_s"] <= 10


def test_show_knows_the_borrowers_that_the_last_survey_saw(gitdash: Gitdash, fleet: Path) -> None:
    assert gitdash.json("show", fleet / "pool.git")["borrowers"] == []
    gitdash.rows(fleet)
    shown = gitdash.json("show", fleet / "pool.git")
    assert shown["borrowers"] == [os.fspath(fleet / "member.git")]
    assert shown["role"] == ["pool"]
    assert gitdash.rows(fleet)["pool.git"]["borrowers"] == shown["borrowers"]


def test_show_reads_as_text(gitdash: Gitdash, fleet: Path) -> None:
    work = GitRepository(fleet / "work")
    plain = gitdash.run("show", work.path).stdout
    assert "\n  lookups            first " in plain
    assert " s 0 ms" not in plain
    assert "\n  config" not in plain, "nothing is unusual in it"
    work.git("config", "core.fsmonitor", "/bin/true")
    work.git("config", "core.hooksPath", ".githooks")
    told = gitdash.run("show", work.path).stdout
    assert len([line for line in told.splitlines() if line.startswith("  concerns ")]) == 2
    (work.path / ".git" / "packed-refs").mkdir()
    assert "\n  references         unreadable: " in gitdash.run("show", work.path).stdout


def test_show_prints_the_comparison_behind_a_finding(gitdash: Gitdash, fleet: Path) -> None:
    lock = fleet / "work" / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    finding, *_ = gitdash.json("show", fleet / "work")["findings"]
    assert finding["rule"] == "stale-lock"
    assert re.fullmatch(r"age [0-9,]+ s >= 3,600 s", finding["formula"])
    lines = gitdash.run("show", fleet / "work").stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith("    formula: ")]
    assert re.fullmatch(r"    formula: age [0-9,]+ s >= 3,600 s", lines[place])
    assert lines[place - 1].startswith("  warning: stale-lock: ")
    assert lines[place + 1].startswith("    remedy: ")


def test_a_shown_command_says_what_is_missing_to_repeat_it(gitdash: Gitdash, fleet: Path) -> None:
    gitdash.rows(fleet, "--sizes", "reachable")
    shown = gitdash.run("show", fleet / "work").stdout
    assert "` (in a git directory of gitdash's own, with the references' ids as input)" in shown


@pytest.mark.parametrize(("name", "has_bitmap"), [("work", False), ("pool.git", True), ("member.git", True)])
def test_a_bitmap_that_is_not_there_is_not_said_to_have_answered(
    gitdash: Gitdash, fleet: Path, name: str, has_bitmap: bool
) -> None:
    walked = "bitmap (there is none, so git walked), "
    for _ in ("measured", "remembered"):
        assert (walked in gitdash.run("size", fleet / name).stdout) is not has_bitmap
    gitdash.rows(fleet, "--sizes", "reachable")
    assert (walked in gitdash.run("show", fleet / name).stdout) is not has_bitmap


def test_lookups_that_fail_name_the_repository(gitdash: Gitdash, fleet: Path) -> None:
    work = GitRepository(fleet / "work")
    object_id = work.git("rev-parse", "HEAD")
    (work.path / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()
    (said,) = gitdash.run("show", work.path).stderr.splitlines()
    assert said.startswith(f"gitdash: no look-ups could be timed in {work.path}: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_owner_is_shown_to_the_last_digit(gitdash: Gitdash, fleet: Path) -> None:
    os.chown(fleet / "work" / ".git", 12345, 12345)
    assert "\n  foreign owner uid  12345\n" in gitdash.run("show", fleet / "work").stdout


@pytest.mark.oracle
@pytest.mark.parametrize("keeps_state", [True, False])
def test_show_measures_what_is_stored_here_alone(gitdash: Gitdash, fleet: Path, keeps_state: bool) -> None:
    if not keeps_state:
        gitdash.options = ["--no-state"]
    member = GitRepository(fleet / "member.git")
    blob = member.git("rev-parse", "main:a")
    copy = subprocess.run(
        [GIT, "-C", fleet / "pool.git", "cat-file", "blob", blob], capture_output=True, check=True
    ).stdout
    (fleet / "pool.git" / "objects").rename(fleet / "elsewhere")
    (fleet / "pool.git" / "objects").mkdir()
    assert member.blob(copy) == blob
    (fleet / "pool.git" / "objects").rmdir()
    (fleet / "elsewhere").rename(fleet / "pool.git" / "objects")
    loose = {path.parent.name + path.name: path.stat().st_size for path in member.path.glob("objects/??/*")}
    duplicate = loose.pop(blob)
    for _ in range(2):
        sizes = gitdash.json("show", member.path)["sizes"]
        assert sizes["exclusive"]["bytes"] == sum(loose.values())
        assert (sizes["duplicate"]["bytes"], sizes["duplicate"]["count"]) == (duplicate, 1)
    assert "duplicate          not measured" not in gitdash.run("show", member.path).stdout


def test_show_says_why_exclusive_bytes_cannot_be_told(gitdash: Gitdash, fleet: Path) -> None:
    shutil.rmtree(fleet / "pool.git")
    assert "unreadable" in gitdash.json("show", fleet / "member.git")["sizes"]["exclusive"]


def test_show_of_an_empty_repository_has_no_lookups(gitdash: Gitdash, fleet: Path) -> None:
    assert gitdash.json("show", fleet / "empty.git")["lookups"] is None


@pytest.mark.oracle
def test_a_size_grows_by_the_difference_and_equals_a_full_measurement(gitdash: Gitdash, fleet: Path) -> None:
    pool = GitRepository(fleet / "pool.git", clock_s=1_800_000_000)
    gitdash.json("size", pool.path)
    pool.commit({"a": "more\n" * 300, "b": "two\n" * 70})
    pool.git("repack", "-d", "-q")
    extended = gitdash.json("size", pool.path)
    assert extended["strategy"] == "difference"
    assert extended["bytes"] == disk_usage(pool.path, "--all")
    assert extended["exact"]


@pytest.mark.oracle
def test_what_a_small_fetch_brings_is_added_exactly_and_is_no_finding(gitdash: Gitdash, fleet: Path) -> None:
    mirror = GitRepository(fleet / "pool.git", clock_s=1_800_000_000)
    gitdash.json("size", mirror.path)
    for number in range(3):
        mirror.commit({"a": f"loose {number}\n" * 50})
        size = gitdash.json("size", mirror.path)
        assert (size["strategy"], size["exact"], size["notes"]) == ("difference", True, [])
        assert size["bytes"] == disk_usage(mirror.path, "--all")
        assert "measurement-notes" not in gitdash.run("check", mirror.path, "--sizes", "all").stdout


@pytest.mark.oracle
def test_what_was_loose_is_not_counted_again_once_it_is_packed(gitdash: Gitdash, fleet: Path) -> None:
    pool = GitRepository(fleet / "pool.git", clock_s=1_800_000_000)
    pool.blob(random.Random(1).randbytes(200_000))
    pool.commit({"big": "".join(f"{number}\n" for number in range(9000))})
    pool.commit({"a": "without it\n"})
    gitdash.json("size", pool.path)
    pool.git("repack", "-d", "-q")
    pool.commit({"big": "".join(f"{number}\n" for number in range(9000))})
    pool.git("repack", "-d", "-q")
    size = gitdash.json("size", pool.path)
    assert size["exact"]
    assert size["bytes"] == disk_usage(pool.path, "--all")


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_a_configured_program_for_alternate_references_is_not_run(gitdash: Gitdash, fleet: Path) -> None:
    marker = fleet.parent / "marker"
    member = GitRepository(fleet / "member.git")
    expected = disk_usage(member.path, "--not", "--alternate-refs", "--not", "--all")
    member.git("config", "core.alternateRefsCommand", f"touch {marker}; exit 0 #")
    disk_usage(member.path, "--not", "--alternate-refs", "--not", "--all")
    assert marker.exists(), "plain git runs it"
    marker.unlink()
    assert gitdash.json("size", member.path, "--exclude-alternates")["bytes"] == expected
    assert not marker.exists()
