"""The git directory that stands in for a repository's own during a fetch."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.stand_in import config_text, stand_in
from tests.support.repositories import GIT, GitRepository, clean_environment

CONFIG = [(("core", None, "repositoryformatversion"), "0"), (("core", None, "bare"), "true")]
HEAD = b"ref: refs/heads/main\n"


def make(path: Path) -> GitRepository:
    repository = GitRepository.init(path)
    repository.commit({"a": "1"})
    return repository


@pytest.mark.oracle
def test_references_and_objects_are_those_of_the_repository(tmp_path: Path) -> None:
    repository = make(tmp_path / "a.git")
    with stand_in(os.fsencode(repository.path), head=HEAD, config=CONFIG, keeps_objects=True) as place:
        output = run_git(find_git(GIT), ["log", "--format=%H %D"], environment=place.environment, time_limit_s=20)
    assert output.stdout.decode() == repository.git("log", "--format=%H %D", "refs/heads/main") + "\n"


@pytest.mark.oracle
def test_what_is_written_is_written_into_the_repository_and_its_config_is_not_read(tmp_path: Path) -> None:
    repository = make(tmp_path / "a.git")
    repository.git("pack-refs", "--all")
    (repository.path / "config").write_text("this is no config")
    tip = (repository.path / "packed-refs").read_text().split("\n")[1].split(" ")[0]
    with stand_in(os.fsencode(repository.path), head=HEAD, config=CONFIG, keeps_objects=True) as place:
        for arguments in (["update-ref", "refs/heads/new", tip], ["pack-refs", "--all"]):
            run_git(find_git(GIT), arguments, environment=place.environment, time_limit_s=20)
        assert stat.S_IMODE(os.lstat(place.folder).st_mode) == 0o700
        assert (Path(place.folder) / "packed-refs").is_symlink()
    assert not os.path.lexists(place.folder)
    assert f"{tip} refs/heads/new\n" in (repository.path / "packed-refs").read_text()


@pytest.mark.oracle
def test_objects_of_a_preview_are_gone_with_it(tmp_path: Path) -> None:
    repository = make(tmp_path / 'a"b\\c.git')
    before = sorted(repository.path.rglob("*"))
    with stand_in(os.fsencode(repository.path), head=HEAD, config=CONFIG, keeps_objects=False) as place:
        run_git(
            find_git(GIT),
            ["hash-object", "-w", "--stdin"],
            environment=place.environment,
            stdin=b"new",
            time_limit_s=20,
        )
        output = run_git(find_git(GIT), ["log", "--format=%H"], environment=place.environment, time_limit_s=20)
    assert output.stdout.decode().strip() == repository.git("rev-parse", "refs/heads/main")
    assert sorted(repository.path.rglob("*")) == before


@pytest.mark.safety
@pytest.mark.parametrize("name", ["packed-refs", "shallow", "objects/info/alternates"])
def test_file_that_git_would_wait_for_is_refused(name: str, tmp_path: Path) -> None:
    repository = make(tmp_path / "a.git")
    (repository.path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(repository.path / name)
    with (
        pytest.raises(GitError) as raised,
        stand_in(os.fsencode(repository.path), head=HEAD, config=CONFIG, keeps_objects=True),
    ):
        pass
    assert raised.value.kind is GitFailure.REFUSED
    assert str(raised.value) == f"{name} is a FIFO, and git would open it"


@pytest.mark.oracle
@given(
    subsection=st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=12),
    value=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
)
def test_git_reads_from_a_config_what_was_put_into_it(subsection: str, value: str) -> None:
    text = config_text([(("remote", subsection, "url"), value), (("core", None, "bare"), "true")])
    finished = subprocess.run(
        [GIT, "config", "--file", "-", "--list", "-z"],
        input=text.encode(),
        capture_output=True,
        env=clean_environment(),
        check=True,
    )
    assert finished.stdout.decode() == f"remote.{subsection}.url\n{value}\0core.bare\ntrue\0"
