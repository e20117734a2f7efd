"""Starts gitdash itself as a process, with the git under test first on PATH and a bound on its own memory."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.repositories import GIT

LIMITED = ("/bin/sh", "-c", f'ulimit -d {512 * 1024}; exec "$@"', "sh")
"""Half a GiB of memory for gitdash and, by inheritance, for all that it starts."""


IN_TURN = """
import json, sys
from gitdash.__main__ import main
calls = json.loads(sys.argv[1])
exit_codes = []
for call in calls:
    sys.argv = ["gitdash", *call]
    exit_codes.append(main())
print(json.dumps(exit_codes))
"""
"""One interpreter for many commands: starting it takes longer than most of them."""


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
    return _run(folder, ["-m", "gitdash", *arguments], time_limit_s, variables)


def run_in_turn(folder: Path, calls: Iterable[tuple[str | os.PathLike[str], ...]]) -> list[int]:
    """Run gitdash's commands one after the other in one process; return their exit codes."""
    listed = json.dumps([[os.fspath(word) for word in call] for call in calls])
    answer = _run(folder, ["-c", IN_TURN, listed], 300, {})
    assert answer.exit_code == 0, answer.stderr
    exit_codes: list[int] = json.loads(answer.stdout.splitlines()[-1])
    return exit_codes


def _run(
    folder: Path, arguments: Sequence[str | os.PathLike[str]], time_limit_s: float, variables: dict[str, str]
) -> Answer:
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (programs / "git").symlink_to(GIT)
    finished = subprocess.run(
        [*LIMITED, sys.executable, *arguments],
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
