"""The file that a script of plans is written to."""

import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gitdash
from gitdash.tui.plans.export import name_problem, script_name, write_script
from tests.tui.fixture_fleet import NOW_S


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_proposed_name_has_the_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.localtime", time.gmtime)
    assert script_name(NOW_S) == "gitdash-plan-2025-06-15.sh"


def test_script_is_readable_for_its_owner_alone_and_not_executable(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = write_script("plan.sh", "#!/bin/sh\n# \udce9\n", replaces=False)
    finally:
        os.umask(before)
    assert path == tmp_path / "plan.sh"
    assert path.read_bytes() == b"#!/bin/sh\n# \xe9\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_file_that_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "plan.sh").write_text("mine")
    with pytest.raises(FileExistsError):
        write_script("plan.sh", "new", replaces=False)
    assert (tmp_path / "plan.sh").read_text() == "mine"
    write_script("plan.sh", "new", replaces=True)
    assert (tmp_path / "plan.sh").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "plan.sh").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["plan.sh"]


@pytest.mark.safety
@pytest.mark.parametrize("replaces", [False, True])
def test_link_of_that_name_is_never_written_through(tmp_path: Path, replaces: bool) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "plan.sh").symlink_to("precious")
    try:
        write_script("plan.sh", "new", replaces=replaces)
    except FileExistsError:
        assert not replaces
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "plan.sh").is_symlink() is not replaces


def test_failed_replacement_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "plan.sh").mkdir()
    with pytest.raises(OSError, match="plan"):
        write_script("plan.sh", "new", replaces=True)
    assert os.listdir(tmp_path) == ["plan.sh"]


@pytest.mark.safety
@pytest.mark.parametrize("name", ["../x.sh", "/etc/x.sh", "a/b.sh", ".bashrc", "-rf"])
def test_name_that_means_something_else_than_a_file_here_is_refused(name: str) -> None:
    assert name_problem(name) is not None


@pytest.mark.parametrize("name", ["gitdash-plan-2025-06-15.sh", "a b", "é.sh"])
def test_plain_name_is_taken(name: str) -> None:
    assert name_problem(name) is None


def test_script_that_cannot_be_written_as_a_whole_is_not_left(tmp_path: Path) -> None:
    code = (
        "import signal; from gitdash.tui.plans.export import write_script\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for replaces in (False, True):\n"
        "    try: write_script('plan.sh', 'x' * 10_000, replaces=replaces)\n"
        "    except OSError as error: print(error.strerror)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.fspath(Path(gitdash.__file__).parent.parent)},
    )
    assert finished.stdout.splitlines() == ["File too large"] * 2
    assert os.listdir(tmp_path) == []
