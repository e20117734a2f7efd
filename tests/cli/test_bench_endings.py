"""`gitdash bench` as a process: what a terminal sees of it, and what is left when it is interrupted or killed."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import PROJECT, Gitdash
from tests.support.repositories import GitRepository

MADE_UP = """
import sys, time
from gitdash import __main__
from gitdash.cli import bench
from gitdash.lab.experiments import Experiment
from gitdash.lab.method import run_interleaved
from gitdash.lab.variant import Measured, Variant
from gitdash.model.experiment import ExperimentKind

marker = sys.argv.pop()
count = 0

def run(context):
    global count
    count += 1
    BODY
    return Measured(wall_s=0.25)

def make(request):
    BEFORE
    return run_interleaved(variants, request, kind=ExperimentKind.LOOKUP, fingerprint=lambda: b"f")

variants = [Variant(name="only", title="Only", explanation="Waits.", run=run)]
bench.EXPERIMENTS = {ExperimentKind.LOOKUP: Experiment(
    title="t", explanation="e", variants_of=lambda request: variants,
    run=make,
)}
sys.exit(__main__.main())
"""


def made_up(*, run: str = "pass", before: str = "pass") -> str:
    """A gitdash whose experiment does something in each run, or before all of them."""
    return MADE_UP.replace("BODY", run).replace("BEFORE", before)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = GitRepository.init(tmp_path / "x.git")
    made.commit({"a": "one\n"})
    made.repack()
    return tmp_path / "x.git"


def start(gitdash: Gitdash, command: list[str]) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=gitdash.environment, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )


def wait_for(condition: Callable[[], object], process: "subprocess.Popen[str]") -> None:
    deadline_s = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline_s and process.poll() is None:
        time.sleep(0.01)


def interrupted(gitdash: Gitdash, script: str, repository: Path, marker: Path) -> tuple[int, str, str]:
    """Start it, interrupt it when it makes the marker, and return how it ended."""
    arguments = [*gitdash.options, "bench", "lookup", os.fspath(repository), os.fspath(marker)]
    process = start(gitdash, [sys.executable, "-c", script, *arguments])
    try:
        wait_for(marker.exists, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert "Traceback" not in err
    return process.returncode, out, err


def test_interrupt_keeps_what_was_measured_and_says_that_it_is_not_complete(
    gitdash: Gitdash, repository: Path, tmp_path: Path
) -> None:
    waits_in_its_fourth = 'count > 3 and (open(marker, "w").close(), context.cancel.wait(30))'
    code, out, err = interrupted(gitdash, made_up(run=waits_in_its_fourth), repository, tmp_path / "marker")
    assert code == 130
    assert "not complete" in err
    assert "Not complete" in out
    assert "250 ms" in out
    (kept,) = gitdash.json("bench", "list")["experiments"]
    assert kept["is_complete"] is False
    # the run under way may or may not count: two came before it, and the warm-up
    assert [run["wall_s"] for run in kept["variants"][0]["runs"]][:2] == [0.25, 0.25]


def test_interrupt_before_the_first_run_is_no_failure_of_what_it_ended(
    gitdash: Gitdash, repository: Path, tmp_path: Path
) -> None:
    fails_when_cancelled = 'open(marker, "w").close(); request.cancel.wait(30); raise bench.GitdashError("cancelled")'
    code, out, err = interrupted(gitdash, made_up(before=fails_when_cancelled), repository, tmp_path / "marker")
    assert (code, out) == (130, "")
    assert err.strip() == "gitdash: interrupted"
    assert gitdash.json("bench", "list")["experiments"] == []


@pytest.mark.safety
def test_copies_of_a_killed_experiment_are_removed_by_the_next(gitdash: Gitdash, repository: Path) -> None:
    before = sorted(os.listdir(repository.parent))
    registry = gitdash.folder / "state" / "lab"
    killed = start(gitdash, gitdash.command("bench", "size", repository, "--runs", "100000"))
    try:
        wait_for(lambda: registry.is_dir() and len(os.listdir(registry)) > 1, killed)
        killed.kill()
        killed.communicate(timeout=30)
    finally:
        killed.kill()
    left = set(os.listdir(registry))
    assert left, "it was killed while it had copies"
    finished = gitdash.run("bench", "size", repository, "--runs", "1", "--variant", "walk")
    assert finished.returncode == 0
    assert "that an earlier run had left" in finished.stderr
    assert os.listdir(registry) == []
    assert sorted(os.listdir(repository.parent)) == before


def test_terminal_sees_which_run_it_is_and_the_median_so_far(gitdash: Gitdash, repository: Path) -> None:
    terminal, stderr = pty.openpty()
    arguments = [*gitdash.options, "bench", "lookup", os.fspath(repository), "--runs", "2", "unused"]
    finished = subprocess.run(
        [sys.executable, "-c", made_up(run="time.sleep(0.12)"), *arguments],
        env=gitdash.environment | {"TERM": "xterm"},
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        timeout=30,
    )
    os.close(stderr)
    said = os.read(terminal, 65_536).decode()
    os.close(terminal)
    assert finished.returncode == 0
    drawn = [text.strip() for text in said.split("\r") if text.strip()]
    # a line is drawn ten times a second at most: of two that come at once the first stands
    assert "lookup: only, once to warm up" in drawn
    assert "lookup: only, run 2, median so far 250 ms" in drawn or "lookup: only, run 1, median so far 250 ms" in drawn
    assert said.endswith("\r"), "the line is taken away"
