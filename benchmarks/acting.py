"""Fetches and jobs: the choice about alternate refs, what orchestration costs, and how fast a cancel is."""

import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from benchmarks.fleet import git, history
from benchmarks.timing import Result, interleave, run_once, speedup

GITDASH = (sys.executable, "-m", "gitdash", "--no-state")
LENDER_REFERENCES = 50_000
AHEAD_COMMITS = 60_000
"""Of five or six objects each."""
FETCHES = 200
JOBS = 4


def alternate_references(scratch: Path, runs: int) -> list[Result]:
    """A fetch of one commit into a member whose lender has many references; and of a tip that the lender holds."""
    scratch.mkdir(parents=True, exist_ok=True)
    lender, remote, member = make_pool(scratch, LENDER_REFERENCES)
    new, held = scratch / "new.git", scratch / "held.git"
    shutil.copytree(member, new, symlinks=True)
    shutil.copytree(member, held, symlinks=True)
    add_commits(remote, "main", 1)
    by_git = _fetched(new, lambda: _git_fetch(new))
    by_gitdash = _fetched(new, lambda: _gitdash_fetch(new, "auto"))
    default, ours = interleave([("git's default", by_git), ("gitdash", by_gitdash)], runs)
    first = Result(
        f"fetch of 1 commit, lender with {LENDER_REFERENCES:,} references",
        speedup(ours, default),
        "x faster",
        10,
        True,
        (default.text(), ours.text()),
    )
    # the member is far behind: the lender has what the remote has
    ahead = history("main", AHEAD_COMMITS, b"from refs/heads/main^0\n", start_s=1_701_000_000)
    git("-C", str(remote), "fast-import", "--quiet", stdin=ahead)
    git("-C", str(lender), "fetch", "--quiet", str(remote), "+refs/heads/*:refs/remotes/origin/*")
    variants = [
        (choice, _fetched(held, lambda choice=choice: _gitdash_fetch(held, choice)))
        for choice in ("auto", "use", "suppress")
    ]
    auto, use, suppress = interleave(variants, runs)
    better = min(use, suppress, key=lambda timing: timing.median_wall_s)
    second = Result(
        "fetch of a tip that the lender holds, against the better choice",
        statistics.median(a / b for a, b in zip(auto.wall_s, better.wall_s, strict=True)),
        "x of",
        1.2,
        False,
        tuple(timing.text() for timing in (auto, use, suppress)),
    )
    return [first, second]


def make_pool(scratch: Path, reference_count: int) -> tuple[Path, Path, Path]:
    """Make a lender with so many references, the remote that it was cloned from, and a member with one reference."""
    lender, remote, member = (scratch / name for name in ("lender.git", "remote.git", "member.git"))
    git("init", "--quiet", "--bare", "--initial-branch=main", "--template=", str(remote))
    git("-C", str(remote), "fast-import", "--quiet", stdin=_history())
    git("clone", "--quiet", "--bare", str(remote), str(lender))
    git("-C", str(lender), "fast-import", "--quiet", stdin=_side_branches(reference_count))
    git("-C", str(lender), "repack", "-a", "-d", "-q")
    git("-C", str(lender), "pack-refs", "--all")
    tip = git("-C", str(remote), "rev-parse", "main").decode().strip()
    git("init", "--quiet", "--bare", "--initial-branch=main", "--template=", str(member))
    (member / "objects" / "info" / "alternates").write_text(f"{lender}/objects\n")
    git("-C", str(member), "update-ref", "refs/heads/main", tip)
    git("-C", str(member), "pack-refs", "--all")
    git("-C", str(member), "config", "remote.origin.url", str(remote))
    git("-C", str(member), "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    return lender, remote, member


def _history() -> Iterator[bytes]:
    for number in range(1_000):
        yield commit("main", number, f"file{number % 50}")


def _side_branches(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield commit(f"side/{number}", number, "side", parent="refs/heads/main")


def commit(branch: str, number: int, file: str, parent: str | None = None) -> bytes:
    """Return a commit that changes one file, for fast-import; `parent` None for the last one of the branch."""
    start = f"from {parent}\n" if parent else ""
    return (
        f"commit refs/heads/{branch}\ncommitter C O Mitter <c@example.com> {1_700_000_000 + number} +0000\n"
        f"data 7\nmessage\n{start}M 100644 inline {file}\ndata 20\n{number:019d}\n\n"
    ).encode()


def add_commits(repository: Path, branch: str, count: int) -> None:
    """Put commits on a branch that is there."""
    text = b"".join(commit(branch, 10**6 + number, "more", f"refs/heads/{branch}^0") for number in range(count))
    git("-C", str(repository), "fast-import", "--quiet", stdin=text)


def _fetched(repository: Path, fetch: Callable[[], tuple[float, float]]) -> Callable[[], tuple[float, float]]:
    """Return a run that is timed, and taken back before the next: the member is as it was before the fetch."""

    def run() -> tuple[float, float]:
        timing = fetch()
        for name in git("-C", str(repository), "for-each-ref", "--format=%(refname)", "refs/remotes").decode().split():
            git("-C", str(repository), "update-ref", "-d", name)
        for folder in (repository / "objects").iterdir():
            if folder.name not in {"info", "pack"}:
                shutil.rmtree(folder)
        for file in (repository / "objects" / "pack").iterdir():
            file.unlink()
        return timing

    return run


def _git_fetch(repository: Path) -> tuple[float, float]:
    command = ["git", "-C", str(repository), "fetch", "--quiet", "--no-auto-maintenance", "origin"]
    return run_once(command)


def _gitdash_fetch(repository: Path, choice: str) -> tuple[float, float]:
    """Return the seconds of the fetch itself, as the ledger has them, and its share of the CPU by git's processes."""
    command = [*GITDASH, "fetch", str(repository), "--protocol", "file", "--alternate-refs", choice, "--format", "json"]
    answer = subprocess.run(command, capture_output=True, check=True, env=os.environ)
    (action,) = json.loads(answer.stdout)["actions"]
    return action["elapsed_s"], sum(one["elapsed_s"] or 0.0 for one in action["commands"])


def orchestration(scratch: Path, runs: int) -> list[Result]:
    """Many small fetches from a local bare repository, whole process, against xargs."""
    scratch.mkdir(parents=True, exist_ok=True)
    source = scratch / "source.git"
    git("init", "--quiet", "--bare", "--initial-branch=main", "--template=", str(source))
    git("-C", str(source), "fast-import", "--quiet", stdin=b"".join(commit("main", n, f"f{n}") for n in range(20)))
    template = scratch / "template.git"
    git("clone", "--quiet", "--bare", str(source), str(template))
    git("-C", str(template), "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    add_commits(source, "main", 1)

    def fleet() -> list[str]:
        folder = scratch / "clones"
        shutil.rmtree(folder, ignore_errors=True)
        paths = [folder / f"clone-{number:03d}.git" for number in range(FETCHES)]
        for path in paths:
            shutil.copytree(template, path)
        return [str(path) for path in paths]

    def ours() -> tuple[float, float]:
        return run_once([*GITDASH, "fetch", "--protocol", "file", "--format", "json", *fleet()])

    def theirs() -> tuple[float, float]:
        listing = scratch / "clones.txt"
        listing.write_text("\n".join(fleet()))
        return run_once(["xargs", f"-P{JOBS}", "-I{}", "git", "-C", "{}", "fetch", "--quiet"], stdin_path=str(listing))

    mine, xargs = interleave([("gitdash fetch", ours), ("xargs git fetch", theirs)], runs)
    ratio = statistics.median(a / b for a, b in zip(mine.wall_s, xargs.wall_s, strict=True))
    name = f"{FETCHES} fetches from a local repository against xargs -P{JOBS} git fetch"
    return [Result(name, ratio, "x of", 1.15, False, (mine.text(), xargs.text()))]


def cancelling(scratch: Path, runs: int) -> list[Result]:
    """Ctrl-C while four fetches wait for a server that says nothing: to the end of the process, nothing left behind."""
    scratch.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        paths = []
        for number in range(JOBS):
            path = scratch / f"waiting-{number}.git"
            git("init", "--quiet", "--bare", "--template=", str(path))
            git("-C", str(path), "remote", "add", "origin", f"git://127.0.0.1:{port}/x.git")
            paths.append(path)
        samples = [_cancel(paths, server) for _ in range(runs)]
    spread = f"{min(samples):.3f} .. {max(samples):.3f} s"
    return [Result(f"cancel of {JOBS} running fetches", statistics.median(samples), "s", 1.0, False, (spread,))]


def _cancel(paths: list[Path], server: socket.socket) -> float:
    config = paths[0].parent / "jobs.toml"
    config.write_text("[jobs]\nlimit_per_host = 4\nhost_pause_s = 0\n")
    command = [*GITDASH, "--config", str(config), "fetch", "--protocol", "git", *map(str, paths)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ)
    peers = [server.accept()[0] for _ in paths]
    children = psutil.Process(process.pid).children(recursive=True)
    start_s = time.perf_counter()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    elapsed_s = time.perf_counter() - start_s
    for peer in peers:
        peer.close()
    left = [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    locks = [lock for path in paths for lock in path.rglob("*.lock")]
    if left or locks:
        raise SystemExit(f"a cancel left {left} and {locks}")
    return elapsed_s
