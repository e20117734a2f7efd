"""Starts gitdash itself as a process, with the git under test first on PATH and a bound on its own memory."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.repositories import GIT

LIMITED = ("/bin/sh", "-c", f'ulimit -d {512 * 1024}; exec "$@"', "sh")
"""Half a GiB of memory for gitdash and, by inheritance, for all that it starts."""


@dataclass(frozen=True)
class Answer:
    """What gitdash said."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.stdout)
        return document

    def row(self, path: Path) -> dict[str, Any]:
        """The record of one repository."""
        rows = [row for row in self.document["repositories"] if row["path"] == os.fspath(path)]
        assert len(rows) == 1, (os.fspath(path), [row["path"] for row in self.document["repositories"]])
        found: dict[str, Any] = rows[0]
        return found


def run_gitdash(folder: Path, *arguments: str | os.PathLike[str], time_limit_s: float = 60, **variables: str) -> Answer:
    """Run `python -m gitdash`; `folder` is for the search path. Fails the test if it does not end in time."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (programs / "git").symlink_to(GIT)
    finished = subprocess.run(
        [*LIMITED, sys.executable, "-m", "gitdash", *arguments],
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONWARNINGS": "error"} | variables,
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=time_limit_s,
        text=True,
        errors="surrogateescape",
    )
    assert "Traceback" not in finished.stderr, finished.stderr
    return Answer(finished.returncode, finished.stdout, finished.stderr)


def run_many(folder: Path, calls: Iterable[tuple[str | os.PathLike[str], ...]]) -> list[Answer]:
    """Run gitdash several times, two at once."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda arguments: run_gitdash(folder, *arguments), calls))
