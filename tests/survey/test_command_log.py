"""Each git command of a survey stands in the log of the repository that it ran for, and nowhere else."""

import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.config.settings import Settings, SizeSettings
from gitdash.gitcmd.command_log import COMMAND_LOG
from gitdash.gitcmd.git_program import GitProgram
from gitdash.survey.survey import SizesWanted, run_survey
from tests.support.repositories import GIT, GitRepository, git_version
from tests.survey.surveys import request

Command = tuple[str, ...]


def without_pairs(arguments: Sequence[str]) -> Command:
    kept = list(arguments)
    while kept and kept[0] == "-c":
        del kept[:2]
    return tuple(kept)


def seen_by_git(log: Path) -> Iterator[tuple[str, Command]]:
    """The repository of each call, by the object store or the git directory that git got, and its arguments."""
    for line in log.read_text().splitlines():
        objects_dir, *arguments = line.split("\037")[:-1]
        command = without_pairs(arguments)
        named = command[0].removeprefix("--git-dir=") if command[0].startswith("--git-dir=") else None
        yield named or os.path.dirname(objects_dir), command


def measured_fleet(tmp_path: Path, *, thread_count: int) -> tuple[list[Path], Path]:
    """Build a fleet, measure it with a git that writes down what it gets, and return the paths and that file."""
    log, script, fleet = tmp_path / "calls", tmp_path / "git", tmp_path / "fleet"
    script.write_text(
        f'#!/bin/sh\nline=$(printf "%s\\037" "$GIT_OBJECT_DIRECTORY" "$@")\necho "$line" >>{log}\nexec {GIT} "$@"\n'
    )
    script.chmod(0o755)
    fleet.mkdir()
    pool = GitRepository.init(fleet / "pool.git")
    pool.commit({"shared": b"s" * 2000})
    repositories = [pool]
    for number in range(6):
        repository = GitRepository.init(fleet / f"{number}.git", object_format="sha256" if number == 5 else "sha1")
        if number % 2 == 0:
            repository.borrow_from(pool)
        repository.commit({"own": b"%d" % number})
        repositories.append(repository)
    if git_version() >= (2, 45):
        repository = GitRepository.init(fleet / "tables.git", reference_backend="reftable")
        repository.commit({"own": b"t"})
        repositories.append(repository)
    wanted = replace(
        request(
            fleet,
            sizes=SizesWanted.REACHABLE,
            settings=Settings(size=SizeSettings(workers=thread_count)),
        ),
        program=GitProgram(path=os.fspath(script), version=git_version(), version_text="recorded"),
    )
    list(run_survey(wanted, cancel=threading.Event()))
    return [repository.path for repository in repositories], log


@pytest.mark.oracle
@pytest.mark.parametrize("thread_count", [1, 4])
def test_the_log_of_each_repository_has_what_git_got_for_it(tmp_path: Path, thread_count: int) -> None:
    paths, calls = measured_fleet(tmp_path, thread_count=thread_count)
    seen = Counter(seen_by_git(calls))
    logged = Counter(
        (os.fspath(path), without_pairs(record.argv[1:]))
        for path in paths
        for record in COMMAND_LOG.records_of(os.fsencode(path))
    )
    assert logged == seen
    assert {path for path, _ in seen} == set(map(os.fspath, paths))
    for path in paths:
        for record in COMMAND_LOG.records_of(os.fsencode(path)):
            assert (record.exit_code, record.ending) == (0, None)
            assert record.elapsed_s is not None
