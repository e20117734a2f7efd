"""Shell completion: what is offered, and that a real bash offers it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitdash.export.columns import COLUMNS
from tests.cli.process import Gitdash


def offered(gitdash: Gitdash, words: str, shell: str = "bash") -> list[str]:
    variables = {"_GITDASH_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    return gitdash.run(**variables).stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_both_names_of_the_program(gitdash: Gitdash, shell: str) -> None:
    finished = gitdash.run("completion", shell)
    assert finished.returncode == 0
    assert "_GITDASH_COMPLETE" in finished.stdout
    assert "git-dash" in finished.stdout


def test_zsh_loads_one_function_for_both_names(gitdash: Gitdash) -> None:
    script = gitdash.run("completion", "zsh").stdout
    assert script.startswith("#compdef gitdash git-dash\n")
    assert "    compdef _gitdash_completion gitdash git-dash\n" in script


def test_fish_keeps_the_commas_of_a_list(gitdash: Gitdash) -> None:
    assert 'string split --max 1 "," $completion' in gitdash.run("completion", "fish").stdout


def test_commands_and_columns_are_offered(gitdash: Gitdash) -> None:
    gitdash.options = []
    assert offered(gitdash, "gitdash sc") == ["plain,scan"]
    assert offered(gitdash, "gitdash scan --sort ") == [f"plain,{column.key}" for column in COLUMNS]
    assert offered(gitdash, "gitdash scan --columns na") == ["plain,name"]
    assert offered(gitdash, "gitdash scan --columns name,disk,di") == []
    assert offered(gitdash, "gitdash scan --columns name,di") == ["plain,name,disk"]
    assert gitdash.git_calls() == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("COMP_WORDS=(gitdash scan --sort pa); COMP_CWORD=3; _gitdash_completion gitdash", "packs path pack_bytes"),
        ("COMP_WORDS=(git-dash scan --columns name,di); COMP_CWORD=3; _gitdash_completion git-dash", "name,disk"),
        ("words=(git dash sc); cword=2; _git_dash", "scan"),
        ("words=(git -C x dash scan --sort dis); cword=6; __git_cmd_idx=3; _git_dash", "disk"),
    ],
    ids=["gitdash", "git-dash", "git dash", "git -C x dash"],
)
def test_bash_offers_it_by_any_name(gitdash: Gitdash, call: str, expected: str) -> None:
    for name in ("gitdash", "git-dash"):
        program = Path(gitdash.folder, "programs", name)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m gitdash "$@"\n')
        program.chmod(0o755)
    script = gitdash.folder / "completion.bash"
    script.write_text(gitdash.run("completion", "bash").stdout)
    shell = f'. "{script}"; {call}; echo "${{COMPREPLY[@]}}"; complete -p gitdash git-dash'
    finished = subprocess.run(
        ["bash", "--norc", "-c", shell], env=gitdash.environment, capture_output=True, text=True, check=True
    )
    assert finished.stdout.splitlines() == [
        expected,
        "complete -o nosort -F _gitdash_completion gitdash",
        "complete -o nosort -F _gitdash_completion git-dash",
    ]
    assert finished.stderr == ""
