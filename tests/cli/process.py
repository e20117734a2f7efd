"""Runs gitdash as people do, as a process, and puts a git before it that keeps count of its calls."""

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.preloaded import Preloaded
from tests.support.repositories import GIT

PROJECT = Path(__file__).resolve().parents[2]


@dataclass
class Gitdash:
    """How gitdash is started in one test: with its own state file and a counting git."""

    folder: Path
    options: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path) -> "Gitdash":
        programs = folder / "programs"
        programs.mkdir(parents=True)
        wrapper = programs / "git"
        wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "" >>"{folder}/calls"\nexec {GIT} "$@"\n')
        wrapper.chmod(0o755)
        (folder / "state").mkdir()
        return cls(folder, ["--state", os.fspath(folder / "state" / "state.db")])

    @property
    def environment(self) -> dict[str, str]:
        return _python_environment() | {"PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}"}

    def command(self, *arguments: str | os.PathLike[str]) -> list[str]:
        return [sys.executable, "-m", "gitdash", *self.options, *map(os.fspath, arguments)]

    def run(
        self, *arguments: str | os.PathLike[str], cwd: Path | None = None, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        finished = _preloaded().run(
            [*self.options, *map(os.fspath, arguments)],
            environment=self.environment | variables,
            folder=cwd or self.folder,
            time_limit_s=60,
        )
        assert "Traceback" not in finished.stderr, finished.stderr
        return finished

    def json(self, *arguments: str | os.PathLike[str], exit_code: int = 0) -> Any:
        finished = self.run(*arguments, "--format", "json")
        assert finished.returncode == exit_code, finished.stderr
        return json.loads(finished.stdout)

    def rows(self, *arguments: str | os.PathLike[str], exit_code: int = 0) -> dict[str, Any]:
        """The records of a scan by the last part of the path."""
        document = self.json("scan", *arguments, exit_code=exit_code)
        return {Path(row["path"]).name: row for row in document["repositories"]}

    def git_calls(self) -> list[str]:
        """The subcommands that git got since the last question."""
        calls = self.folder / "calls"
        text = calls.read_text() if calls.exists() else ""
        calls.unlink(missing_ok=True)
        return [_subcommand(call.split("\n")) for call in text.split("\n\n") if call]


@functools.cache
def _preloaded() -> Preloaded:
    """One for each process of the tests."""
    # numpy's library starts threads otherwise, and a process with threads is not to be copied
    return Preloaded(_python_environment() | {"OPENBLAS_NUM_THREADS": "1"})


def _python_environment() -> dict[str, str]:
    """This process's environment for a Python that keeps what it compiles, so that the next one need not."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return inherited | {"PYTHONPATH": os.fspath(PROJECT), "PYTHONWARNINGS": "error"}


def _subcommand(arguments: list[str]) -> str:
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "-c":
            next(remaining)
        elif not argument.startswith("-"):
            return argument
    raise AssertionError(arguments)
