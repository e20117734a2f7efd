"""Secrets that lie in repositories, and in files that a repository can name, reach neither output nor state."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.safety.product import run_gitdash, run_many
from tests.support.repositories import GitRepository

pytestmark = pytest.mark.safety

CANARY = "CANARY0123456789"
URL = f"https://bob:{CANARY}@host/x.git"


def append(name: str, text: str) -> Callable[[Path, Path], None]:
    """Add to a file of the repository."""

    def plant(git_dir: Path, _folder: Path) -> None:
        file = git_dir / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as opened:
            opened.write(text)

    return plant


def include(text: str) -> Callable[[Path, Path], None]:
    """Let the config include a file of the user."""

    def plant(git_dir: Path, folder: Path) -> None:
        (folder / "of-the-user").write_text(text)
        append("config", f"[include]\n\tpath = {folder / 'of-the-user'}\n")(git_dir, folder)

    return plant


def packed_references(git_dir: Path, _folder: Path) -> None:
    tip = GitRepository(git_dir).git("rev-parse", "main")
    (git_dir / "packed-refs").write_text(f"{tip} refs/heads/{URL}\n{'1' * 40} refs/heads/ghp_{CANARY}\n")


PLANTS: dict[str, Callable[[Path, Path], None]] = {
    "netrc": include(f"machine host login bob password {CANARY}\n"),
    "netrc in lines": include(f"machine host\nlogin bob\npassword {CANARY}\n"),
    "key of ssh": include(f"-----BEGIN KEY-----\n{CANARY}\n"),
    "environment": include(f"[x]\nA_B={CANARY}\n"),
    "header": include(f"[{CANARY}\n"),
    "value": include(f"[x]\na = {CANARY}\\{CANARY}\n"),
    "include of a URL": append("config", f"[include]\n\tpath = {URL}\n[include]\n\tpath = /dev/../{URL}/\n"),
    "key": append("config", f"{CANARY}\n"),
    "remote name": append("config", f'[remote "{URL}"]\n\turl = {URL}\n\tproxy = {URL}\n'),
    "remote": append(
        "config",
        f'[remote "origin"]\n\turl = https://user:{CANARY}@host/x.git?private_token={CANARY}\n'
        f'[remote "other"]\n\turl = user:{CANARY}@host:x.git\n[url "https://{CANARY}@host/"]\n\tinsteadOf = h:\n',
    ),
    "headers": append(
        "config",
        f"[http]\n\textraHeader = PRIVATE-TOKEN: {CANARY}\n\tproxy = http://user:{CANARY}@proxy:3128\n"
        f'[http "https://host/"]\n\textraHeader = Authorization: Basic {CANARY}\n',
    ),
    "programs": append(
        "config",
        f"[core]\n\tsshCommand = curl -u bob:{CANARY} x\n\tfsmonitor = sshpass -p {CANARY} x\n"
        f"\taskPass = x --token {CANARY}\n[alias]\n\tx = !X_TOKEN={CANARY} x\n",
    ),
    "version": append("config", f"[core]\n\trepositoryformatversion = {URL}\n"),
    "prune expiry": append("config", f"[gc]\n\tpruneExpire = {URL}\n"),
    "gc.log": append("gc.log", f"fatal: unable to access 'https://host/x?private_token={CANARY}': no\n"),
    "gc.log with an address": append("gc.log", f"{'x' * 190} {URL}\n"),
    "gc.pid": append("gc.pid", f"1 {URL}\n"),
    "alternates": append("objects/info/alternates", f"{URL}/objects\nbob:{CANARY}@host:x.git/objects\n"),
    "packed-refs": append("packed-refs", f"{CANARY} {URL}\n"),
    "header of packed-refs": append("packed-refs", f"# {CANARY} {URL}\n"),
    "names in packed-refs": packed_references,
    "reference": append("refs/heads/x", f"{CANARY}\n"),
    "symbolic reference": append("refs/heads/x", f"ref: refs/heads/{URL}\n"),
    "HEAD": lambda git_dir, _: (git_dir / "HEAD").write_text(f"ref: refs/heads/{URL}\n") and None,
    "HEAD without meaning": lambda git_dir, _: (git_dir / "HEAD").write_text(f"{CANARY}\n") and None,
    "commondir": append("commondir", f"{URL}\n"),
    "pack": append("objects/pack/pack-1.pack", CANARY),
    "index": append("objects/pack/pack-1.idx", CANARY),
    "keep": append("objects/pack/pack-1.keep", f"receive-pack {CANARY}"),
    "bitmap": append("objects/pack/pack-1.bitmap", CANARY),
    "multi-pack-index": append("objects/pack/multi-pack-index", CANARY),
    "chain of multi-pack-indexes": append("objects/pack/multi-pack-index.d/multi-pack-index-chain", f"{CANARY}\n"),
    "commit-graph": append("objects/info/commit-graph", CANARY),
    "chain of commit-graphs": append("objects/info/commit-graphs/commit-graph-chain", f"{CANARY}\n"),
    "shallow": append("shallow", f"{CANARY} {URL}\n"),
    "tables.list": lambda git_dir, folder: (
        append("config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n")(
            git_dir, folder
        ),
        append("reftable/tables.list", f"{URL}\n")(git_dir, folder),
    )[-1],
}
"""What is planted into a repository of its own, by name."""

TOGETHER = ("netrc", "include of a URL", "remote name", "programs", "gc.log", "gc.pid", "alternates", "HEAD")
"""Plants that leave something to be shown when they come together."""


def test_no_secret_reaches_output_or_state(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name, plant in PLANTS.items():
        repository = GitRepository.init(root / f"{name.replace(' ', '-')}.git")
        repository.commit({"a": b"1"})
        plant(repository.path, tmp_path)
    (root / "work").mkdir()
    (root / "work" / ".git").write_text(f"gitdir: {URL}\n")
    state = tmp_path / "state"
    state.mkdir()
    of_state: tuple[str | os.PathLike[str], ...] = ("--state", state / "state.sqlite")
    together = GitRepository.init(root / "together.git")
    together.commit({"a": b"1"})
    for name in TOGETHER:
        PLANTS[name](together.path, tmp_path)
    first = run_gitdash(tmp_path, *of_state, "scan", "--sizes", "all", "--format", "json", root)
    assert len(first.document["repositories"]) >= len(PLANTS) - 5
    answers = run_many(
        tmp_path,
        [
            *((*of_state, "scan", "--format", name, root) for name in ("table", "jsonl", "csv", "markdown")),
            (*of_state, "check", root),
            (*of_state, "show", together.path),
            (*of_state, "show", "--format", "json", together.path),
            (*of_state, "size", "--explain", "--exclude-alternates", together.path),
            (*of_state, "size", "--explain", root / "names-in-packed-refs.git"),
            (*of_state, "show", root / "work"),
        ],
    )
    for answer in (first, *answers):
        assert answer.stdout + answer.stderr
        assert CANARY not in answer.stdout + answer.stderr
    assert any(state.iterdir())
    assert [file for file in state.rglob("*") if CANARY.encode() in file.read_bytes()] == []
