"""What is taken for a git directory is what git takes for one."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitdash.discovery.git_directory import GitDirectory, examine
from gitdash.inspection.files import read_file
from tests.support.repositories import GIT, GitRepository, clean_environment

pytestmark = pytest.mark.oracle

HEADS = [
    b"",
    b"\n",
    b"ref: refs/heads/main",
    b"ref: refs/heads/main\n",
    b"ref:refs/heads/main\n",
    b"ref:\t \nrefs/heads/main\n",
    b"ref:\x0brefs/heads/main\n",
    b"ref:\x0crefs/heads/main\n",
    b"ref:\rrefs/heads/main\n",
    b"ref: refs/",
    b"ref: ref",
    b"ref: HEAD\n",
    b"ref: heads/main\n",
    b" ref: refs/heads/main\n",
    b"Ref: refs/heads/main\n",
    b"ref: refs/heads/.invalid\n",
    b"ref: refs/heads/\xff\x1b\n",
    b"ref: refs/../../etc\n",
    b"0" * 40 + b"\n",
    b"a" * 39 + b"\n",
    b"a" * 41 + b"\n",
    b"A" * 40,
    b"a" * 64 + b"\n",
    b"a" * 40 + b" trailing",
    b"g" * 40,
    b"\0" * 40,
    b"ref: \0refs/heads/main\n",
    b"\xef\xbb\xbfref: refs/heads/main\n",
]


def git_accepts(path: Path) -> bool:
    command = [GIT, f"--git-dir={path}", "rev-parse", "--git-dir"]
    return not subprocess.run(command, check=False, env=clean_environment(), capture_output=True).returncode


def we_accept(path: Path) -> bool:
    examined = examine(os.fsencode(path), read_file)
    if isinstance(examined, str):
        assert examined
        assert examined.isprintable()
        return False
    return isinstance(examined, GitDirectory)


@pytest.mark.parametrize("head", HEADS)
def test_head_is_judged_as_git_does(tmp_path: Path, head: bytes) -> None:
    repository = GitRepository.init(tmp_path / "x")
    (repository.path / "HEAD").write_bytes(head)
    assert we_accept(repository.path) == git_accepts(repository.path)


@settings(max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    head=st.one_of(
        st.binary(max_size=80),
        st.builds(lambda left, right: left + right, st.sampled_from(HEADS), st.binary(max_size=10)),
        st.from_regex(rb"ref:[ \t\n\v\f\r\0]{0,3}(refs)?/?[a-z.]{0,5}\n?", fullmatch=True),
    )
)
def test_any_head_is_judged_as_git_does(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "x"
    if not path.exists():
        GitRepository.init(path)
    (path / "HEAD").write_bytes(head)
    assert we_accept(path) == git_accepts(path)


@pytest.mark.parametrize("target", ["refs/heads/main", "refs/", "../refs", "objects", "/etc/passwd", "HEAD"])
def test_head_that_is_a_link_is_judged_as_git_does(tmp_path: Path, target: str) -> None:
    repository = GitRepository.init(tmp_path / "x")
    (repository.path / "HEAD").unlink()
    (repository.path / "HEAD").symlink_to(target)
    assert we_accept(repository.path) == git_accepts(repository.path)


@pytest.mark.parametrize("name", ["objects", "refs"])
@pytest.mark.parametrize("change", ["gone", "file", "executable file", "link", "dangling link", "no rights"])
def test_parts_are_judged_as_git_does(tmp_path: Path, name: str, change: str) -> None:
    repository = GitRepository.init(tmp_path / "x")
    part = repository.path / name
    part.rename(tmp_path / "moved")
    if "file" in change:
        part.write_bytes(b"")
        part.chmod(0o755 if change.startswith("executable") else 0o644)
    elif "link" in change:
        part.symlink_to(tmp_path / ("gone" if change.startswith("dangling") else "moved"))
    elif change == "no rights":
        part.mkdir(mode=0)
    assert we_accept(repository.path) == git_accepts(repository.path)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"..\n", b"../main/.git\n", b"../main/.git", b"../main/.git\r\n", b"gone"]
)
def test_common_directory_is_judged_as_git_does(tmp_path: Path, content: bytes) -> None:
    GitRepository.init(tmp_path / "main", bare=False)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "HEAD").write_text("ref: refs/heads/main\n")
    (linked / "commondir").write_bytes(content)
    assert we_accept(linked) == git_accepts(linked)


def test_common_directory_is_the_one_of_git(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    main.commit({"file": "content"})
    main.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), "main")
    examined = examine(os.fsencode(main.git_dir / "worktrees" / "linked"), read_file)
    common = GitRepository(tmp_path / "linked").git("rev-parse", "--path-format=absolute", "--git-common-dir")
    assert examined == GitDirectory(os.fsencode(common), linked=True)
