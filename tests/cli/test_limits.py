"""Limits of the configuration hold for git."""

import os
from pathlib import Path

import pytest

from tests.cli.process import Gitdash
from tests.support.repositories import GIT

LIMIT_BYTES = 200 * 1024**2
EXECUTABLE = 0o755


def limits_seen(gitdash: Gitdash, *arguments: str | os.PathLike[str]) -> dict[str, set[int]]:
    """Run gitdash with a limit and a git that notes its own; KiB by subcommand."""
    git = gitdash.folder / "limited-git"
    log = gitdash.folder / "limits"
    git.write_text(f'#!/bin/sh\nprintf "%s\\037" "$(ulimit -d)" "$@" >>{log}; echo >>{log}\nexec {GIT} "$@"\n')
    git.chmod(EXECUTABLE)
    config = gitdash.folder / "limits.toml"
    config.write_text(f'[git]\nprogram = "{git}"\nmemory_limit_bytes = {LIMIT_BYTES}\n')
    finished = gitdash.run("--config", config, *arguments)
    assert finished.returncode == 0, finished.stderr
    seen: dict[str, set[int]] = {}
    for line in log.read_text().splitlines():
        limit_kib, *words = line.split("\037")
        while words[0] == "-c":
            del words[:2]
        seen.setdefault(words[0], set()).add(int(limit_kib))
    return seen


@pytest.mark.safety
@pytest.mark.parametrize(
    ("arguments", "commands"),
    [
        (["scan", "--sizes", "all"], {"version", "rev-list"}),
        (["size"], {"version", "rev-list"}),
        (["show"], {"version", "cat-file"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_memory_limit_of_the_configuration_reaches_every_git(
    gitdash: Gitdash, fleet: Path, arguments: list[str], commands: set[str]
) -> None:
    assert limits_seen(gitdash, *arguments, fleet / "pool.git") == {name: {LIMIT_BYTES // 1024} for name in commands}
