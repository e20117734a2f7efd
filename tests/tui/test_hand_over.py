"""Handing over to other programs: when that is refused, what is warned of, and that the dashboard comes back."""

import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.runner import run_in_foreground
from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts
from gitdash.model.inspection import Inspection
from gitdash.model.report import RepositoryReport
from gitdash.tui.dashboard import Dashboard
from gitdash.tui.hand_over import what_git_would_run
from gitdash.tui.options import Options
from tests.support.pty_session import PtySession
from tests.support.repositories import GitRepository
from tests.tui.fixture_fleet import NOW_S, ROOT, fixed_reports, fixed_summaries
from tests.tui.source_double import SourceDouble

PROJECT = os.fspath(Path(__file__).parents[2])
DEPLOY = ROOT + b"/infra/deploy.git"


def _report(*keys: str) -> RepositoryReport:
    report = next(report for report in fixed_reports() if report.repository.path == DEPLOY)
    assert isinstance(report.inspection, Inspection)
    assert isinstance(report.inspection.config, ConfigFacts)
    concerns = tuple(
        ConfigConcern(key=key, value="x", source="config", effect=ConfigEffect.RUNS_PROGRAM, answer="not run")
        for key in keys
    )
    config = msgspec.structs.replace(report.inspection.config, concerns=concerns)
    return msgspec.structs.replace(report, inspection=msgspec.structs.replace(report.inspection, config=config))


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (_report(), ""),
        (_report("core.fsmonitor"), "The config of this repository has git run programs: core.fsmonitor."),
        (
            _report("a.b", "c.d", "e.f", "g.h"),
            "The config of this repository has git run programs: a.b, c.d, e.f and 1 more.",
        ),
        (None, "What the config of this repository has git run is not known."),
    ],
)
def test_programs_that_a_config_names_are_told_of(report: RepositoryReport | None, sentence: str) -> None:
    assert what_git_would_run(report) == sentence


@pytest.mark.parametrize("key", ["exclamation_mark", "o"])
async def test_read_only_starts_no_program(key: str) -> None:
    source = SourceDouble(fixed_reports())
    options = Options(read_only=True, shell=sys.executable, open_with=(sys.executable,))
    app = Dashboard([ROOT], fixed_summaries(), source, lambda: NOW_S, options)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert [toast.message for toast in app._notifications] == ["Read-only: no other program is started."]
        assert source.rescanned == []


async def test_program_that_is_not_installed_is_named() -> None:
    app = Dashboard(
        [ROOT],
        fixed_summaries(),
        SourceDouble(fixed_reports()),
        lambda: NOW_S,
        Options(open_with=("nolazygit", "notig")),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o")
        await pilot.pause()
        assert [toast.message for toast in app._notifications] == [
            "There is no nolazygit or notig installed: [dashboard] open_with names others."
        ]


@pytest.mark.safety
@pytest.mark.parametrize(
    ("name", "path"), [("lazygit", ":/usr/bin"), ("lazygit", ".:/usr/bin"), ("./lazygit", "/usr/bin")]
)
async def test_program_of_the_repository_is_not_taken_for_an_installed_one(
    name: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "lazygit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    assert shutil.which(name) is not None
    app = Dashboard(
        [ROOT], fixed_summaries(), SourceDouble(fixed_reports()), lambda: NOW_S, Options(open_with=(name,), shell=name)
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o", "exclamation_mark")
        await pilot.pause()
        assert [toast.message for toast in app._notifications] == [
            f"There is no {name} installed: [dashboard] open_with names others.",
            f"There is no program {name}: [dashboard] shell names another.",
        ]


def test_foreground_program_runs_in_the_folder_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    command = "import os, sys; open('here', 'w').write(os.getcwd()); sys.exit(7)"
    assert run_in_foreground([sys.executable, "-c", command], os.fsencode(tmp_path)) == 7
    assert (tmp_path / "here").read_text() == os.fspath(tmp_path)


def test_program_that_does_not_start_is_said(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="/nonexistent/shell could not be started"):
        run_in_foreground(["/nonexistent/shell"], os.fsencode(tmp_path))


def test_program_of_the_configuration_opens_and_the_dashboard_comes_back(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "fleet" / "one.git", bare=True)
    program = tmp_path / "viewer"
    program.write_text("#!/bin/sh\nprintf 'shows<%s>\\n' \"$PWD\"\nread -r line\n")
    program.chmod(0o755)
    config = tmp_path / "config.toml"
    config.write_text(f'[dashboard]\nopen_with = ["notig", "{program}"]\n')
    argv = [sys.executable, "-m", "gitdash", "--config", os.fspath(config), "--no-state", os.fspath(tmp_path / "fleet")]
    with PtySession(argv, columns=120, lines=40, folder=PROJECT) as session:
        session.wait_for_text("1 surveyed")
        start = len(session.output)
        session.send(b"o")
        session.wait_for_text(f"shows<{repository.path}>", start=start)
        start = len(session.output)
        session.send(b"\r")
        session.wait_for_text("one.git", start=start)
        session.send(b"q")
        assert session.wait_for_exit() == 0


def test_shell_opens_in_the_repository_and_the_dashboard_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = GitRepository.init(tmp_path / "fleet" / "one.git", bare=True)
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\nprintf 'in<%s>\\n' \"$PWD\"\nread -r line\nprintf 'got<%s>\\n' \"$line\"\n")
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", os.fspath(shell))
    argv = [sys.executable, "-m", "gitdash", "--no-state", os.fspath(tmp_path / "fleet")]
    with PtySession(argv, columns=120, lines=40, folder=PROJECT) as session:
        session.wait_for_text("1 surveyed")
        start = len(session.output)
        session.send(b"!")
        session.wait_for_text(f"in<{repository.path}>", start=start)
        # Ctrl-C is the shell's: it ends it, not the dashboard.
        session.send(b"\x03")
        start = len(session.output)
        session.wait_for_text("one.git", start=start)
        session.send(b"!")
        session.wait_for_text(f"in<{repository.path}>", start=start)
        session.send(b"hello\r")
        session.wait_for_text("got<hello>", start=start)
        start = len(session.output)
        session.send(b"q")
        assert session.wait_for_exit() == 0
