"""The whole program against whole fleets: nothing runs, nothing leaks, nothing is left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.safety.hostile import TRAPS, Site, make_site, make_template
from tests.safety.product import run_gitdash, run_in_turn, run_many
from tests.support.repositories import GIT, GitRepository, git_version

pytestmark = pytest.mark.safety


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    folder = tmp_path_factory.mktemp("traps")
    make_template(folder / "template")
    sites = {}
    for number, trap in enumerate(TRAPS):
        if git_version() >= trap.oldest_git:
            site = make_site(folder / "template", folder / "root" / f"site{number:02}")
            trap.plant(site)
            site.marker.unlink(missing_ok=True)
            sites[trap.name] = site
    return sites


def sprung(sites: dict[str, Site]) -> list[str]:
    return [name for name, site in sites.items() if site.marker.exists()]


def root_of(sites: dict[str, Site]) -> Path:
    return next(iter(sites.values())).folder.parent


def test_scanning_and_checking_traps_springs_none(sites: dict[str, Site]) -> None:
    root = root_of(sites)
    answer = run_gitdash(root.parent, "--no-state", "scan", "--sizes", "all", "--format", "json", root)
    assert sprung(sites) == []
    assert answer.exit_code == 0
    assert len(answer.document["repositories"]) >= 3 * len(sites)
    sizes = [row["sizes"][key] for row in answer.document["repositories"] for key in ("reachable", "reachable_own")]
    assert all(size["bytes"] > 0 for size in sizes)
    assert run_gitdash(root.parent, "--no-state", "check", root).exit_code in {0, 1}
    assert sprung(sites) == []


def test_showing_and_sizing_traps_springs_none(sites: dict[str, Site]) -> None:
    root = root_of(sites)
    calls: list[tuple[str | os.PathLike[str], ...]] = []
    for site in sites.values():
        calls.append(("--no-state", "show", site.work))
        calls.append(("--no-state", "size", "--exclude-alternates", "--explain", site.work))
    exit_codes = run_in_turn(root.parent, calls)
    assert sprung(sites) == []
    assert exit_codes == [0] * len(calls)


def test_a_size_without_the_lender_is_right_whatever_the_config_says(sites: dict[str, Site]) -> None:
    root = root_of(sites)
    names = ("core.alternateRefsCommand", "core.fsmonitor, status")
    calls = [("--no-state", "size", "--exclude-alternates", "--format", "json", sites[name].work) for name in names]
    hostile, sound = run_many(root.parent, calls)
    assert hostile.document["bytes"] == sound.document["bytes"] > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_a_foreign_repository_is_measured_and_nothing_of_it_runs(tmp_path: Path) -> None:
    make_template(tmp_path / "template")
    site = make_site(tmp_path / "template", tmp_path / "root" / "site")
    site.configure(core__fsmonitor=site.evil, core__alternateRefsCommand=site.evil)
    for path in (site.work, *site.work.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    refusal = site.plain_git("status")
    assert "dubious ownership" in refusal
    answer = run_gitdash(tmp_path, "--no-state", "scan", "--sizes", "all", "--format", "json", site.folder)
    row = answer.row(site.work)
    assert row["foreign_owner_uid"] == 12345
    assert row["sizes"]["reachable"]["bytes"] > 0
    assert not site.marker.exists()


def test_no_credential_reaches_output_or_state(tmp_path: Path) -> None:
    canary = "CANARY0123456789"
    repository = GitRepository.init(tmp_path / "r.git")
    repository.commit({"a": b"1"})
    for key, value in {
        "remote.origin.url": f"https://user:{canary}@host/x.git?private_token={canary}",
        "remote.other.url": f"user:{canary}@host:x.git",
        f"url.https://{canary}@host/.insteadOf": "https://host/",
        "http.extraHeader": f"PRIVATE-TOKEN: {canary}",
        "http.https://host/.extraHeader": f"Authorization: Basic {canary}",
        "http.proxy": f"http://user:{canary}@proxy:3128",
    }.items():
        repository.git("config", key, value)
    state = tmp_path / "state"
    state.mkdir()
    said = ""
    commands: list[tuple[str | os.PathLike[str], ...]] = [
        ("scan", "--sizes", "all", "--format", "json", repository.path),
        ("scan", repository.path),
        ("show", repository.path),
        ("show", "--format", "json", repository.path),
    ]
    for answer in run_many(tmp_path, [("--state", state / "state.sqlite", *command) for command in commands]):
        said += answer.stdout + answer.stderr
    assert os.fspath(repository.path) in said
    assert canary not in said
    assert any(state.iterdir())
    assert [file for file in state.rglob("*") if canary.encode() in file.read_bytes()] == []


def test_control_characters_of_a_repository_do_not_reach_a_terminal(tmp_path: Path) -> None:
    root = tmp_path / "root"
    path = root / "a\x1b]52;c;YQ==\x07\x9b31m\n\u202e[red].git"
    repository = GitRepository.init(path)
    repository.commit({"a": b"1"})
    (path / "refs" / "heads" / "x\x1b[31m").write_text("1" * 40 + "\n")
    (path / "objects" / "pack" / "junk\x1b[31m").touch()
    with (path / "config").open("a") as config:
        config.write('[include]\n\tpath = "\x1b]0;title\x07"\n[core]\n\tfsmonitor = "\x1b[31m"\n')
    calls = [
        *(("--no-state", "scan", "--format", name, root) for name in ("table", "json", "jsonl", "csv", "markdown")),
        ("--no-state", "show", path),
        ("--no-state", "check", root),
        ("--no-state", "size", "--explain", path),
    ]
    for call, answer in zip(calls, run_many(tmp_path, calls), strict=True):
        said = answer.stdout + answer.stderr
        assert said
        assert [character for character in "\x1b\x07\x9b\u202e" if character in said] == [], call


def test_ctrl_c_ends_all_within_a_second_and_leaves_no_git(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for number in range(4):
        GitRepository.init(root / f"r{number}.git").commit({"a": b"%d" % number})
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *rev-list*) echo $$ >>{tmp_path}/pids; sleep 1000 & wait;; esac\nexec {GIT} "$@"\n'
    )
    (programs / "git").chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "gitdash", "--no-state", "scan", "--sizes", "all", root],
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    pids = tmp_path / "pids"
    deadline_s = time.monotonic() + 30
    while not pids.exists():
        assert time.monotonic() < deadline_s
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.01)
    children = psutil.Process(process.pid).children(recursive=True)
    started_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    elapsed_s = time.monotonic() - started_s
    assert process.returncode == 130, stderr
    assert b"Traceback" not in stderr
    assert elapsed_s < 1.0
    psutil.wait_procs(children, timeout=2)
    assert [child for child in children if is_running(child)] == []


def is_running(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
