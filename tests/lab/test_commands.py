"""The command beside a result is what was started, word for word: a program in git's place writes it down."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.lab.commands import masked
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.variant import Limits
from gitdash.maintenance.fetching.ssh_command import ssh_environment
from gitdash.model.experiment import ExperimentKind
from tests.support.lab_requests import import_objects, request_for
from tests.support.repositories import GIT, GitRepository

ONCE = Limits(least_runs=1, most_runs=1, budget_s=60)


@pytest.fixture
def member(tmp_path: Path) -> GitRepository:
    lender = GitRepository.init(tmp_path / "lender.git")
    import_objects(lender, 5)
    lender.repack("--write-bitmap-index")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    member.commit({"own": "own\n"})
    member.repack("-l")
    return member


@pytest.fixture
def started(member: GitRepository, tmp_path: Path) -> Callable[[ExperimentKind], tuple[list[list[str]], list[str]]]:
    """Make an experiment, and return the commands of its variants, and each command that git was started with."""

    def run(kind: ExperimentKind) -> tuple[list[list[str]], list[str]]:
        log, spy = tmp_path / "log", tmp_path / "spy"
        spy.write_text(
            f'#!/bin/sh\nfor word in "$0" "$@"; do printf \'%s\\n\' "$word"; done >{log}.$$\n'
            f'printf "%s\\n" "$GIT_OBJECT_DIRECTORY" >{log}.$$.objects\nexec {GIT} "$@"\n'
        )
        spy.chmod(0o700)
        request = request_for(member, tmp_path / "registry", limits=ONCE)
        result = EXPERIMENTS[kind].run(replace(request, program=replace(request.program, path=os.fspath(spy))))
        ran = [variant for variant in result.variants if variant.runs]
        said = [part.split("\n") for variant in ran for part in "\n".join(variant.argv).split("\n;\n")]
        heard = [
            f"GIT_OBJECT_DIRECTORY={objects}\n{path.read_text()}"
            for path in tmp_path.glob("log.*[0-9]")
            for objects in [path.with_name(path.name + ".objects").read_text().strip()]
        ]
        return said, heard

    return run


def from_program(words: list[str]) -> list[str]:
    """Leave out what stands before the program: variables, and what starts it."""
    return words[next(place for place, word in enumerate(words) if word.endswith("/spy")) :]


@pytest.mark.parametrize(
    "kind", [ExperimentKind.SIZE, ExperimentKind.FETCH, ExperimentKind.CONNECTIVITY, ExperimentKind.LOOKUP]
)
def test_every_word_that_git_got_stands_beside_the_result(started, kind: ExperimentKind) -> None:
    said, heard = started(kind)
    assert said
    for words in said:
        command = from_program(words)
        objects = [word for word in words if word.startswith("GIT_OBJECT_DIRECTORY=")]
        assert any(
            one.endswith("\n" + "\n".join(command) + "\n") and (not objects or one.startswith(objects[0] + "\n"))
            for one in heard
        ), (command, heard)
    if kind in (ExperimentKind.SIZE, ExperimentKind.LOOKUP):
        assert all(any(word.startswith("GIT_OBJECT_DIRECTORY=") for word in words) for words in said)


def test_clones_name_the_folders_and_both_calls_of_strace(started) -> None:
    said, heard = started(ExperimentKind.CLONE)
    gits = ["\n".join(from_program(words)) for words in said]
    assert all(any(one.endswith(f"\n{command}\n") for one in heard) for command in gits)
    assert all(words[-1].endswith("/clone.git") and os.path.isabs(words[-2]) for words in said)
    if shutil.which("strace") is not None:
        assert [("-c" in words[:4], "-Z" in words) for words in said[-2:]] == [(True, False), (False, True)]


def test_what_git_was_given_on_stdin_is_said(member: GitRepository, tmp_path: Path) -> None:
    result = EXPERIMENTS[ExperimentKind.SIZE].run(request_for(member, tmp_path / "registry", limits=ONCE))
    tip, lent = member.git("rev-parse", "main"), member.git("rev-parse", "main~1")
    walk = next(variant for variant in result.variants if variant.name == "walk-without-lender")
    assert walk.stdin == f"2 lines, from {tip} to ^{lent}"


def test_nothing_of_our_own_ssh_options_is_masked_and_a_password_beside_them_is():
    ours = "GIT_SSH_COMMAND=" + ssh_environment({}, None, None)["GIT_SSH_COMMAND"]
    assert "-oPasswordAuthentication=no" in ours
    assert masked(ours) == ours
    own = ssh_environment({"GIT_SSH_COMMAND": "ssh -oProxyCommand='connect --token=hunter2'"}, None, "ssh")
    said = masked("GIT_SSH_COMMAND=" + own["GIT_SSH_COMMAND"])
    assert "hunter2" not in said
    assert "-oNumberOfPasswordPrompts=1" in said
