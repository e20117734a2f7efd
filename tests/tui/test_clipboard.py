"""A copied path can be pasted into a shell: it names the file, and nothing of its name acts."""

import subprocess
from pathlib import Path

import pytest

from gitdash.assessment.sentences import shell_word
from tests.tui.fixture_fleet import HOSTILE_NAMES

_AWKWARD_NAMES = (b"plain", b"with space", b"it's", b"back\\slash", b"a'\n'b", b"~user")


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, *_AWKWARD_NAMES])
def test_shell_reads_the_very_bytes_back(name: bytes) -> None:
    path = b"/srv/git/" + name
    script = f"printf %s {shell_word(path)}"
    command = ["bash", "-c", script.encode()]
    finished = subprocess.run(command, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert finished.stdout == path


@pytest.mark.safety
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_control_character_reaches_the_clipboard(name: bytes) -> None:
    assert shell_word(b"/srv/git/" + name).isprintable()


@pytest.mark.safety
@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("name", [b"it' ;touch PWN #.git", b"it' ;touch PWN #\x01.git", b"it\\' ;touch PWN #\x01.git"])
def test_nothing_of_a_name_is_run_by_any_shell(shell: str, name: bytes, tmp_path: Path) -> None:
    subprocess.run([shell, "-c", f": {shell_word(b'/srv/' + name)}"], check=True, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
