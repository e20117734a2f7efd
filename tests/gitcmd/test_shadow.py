import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.runner import run_git
from gitdash.gitcmd.shadow import shadow_git_dir, sweep_abandoned
from gitdash.model.inspection import ObjectFormat
from tests.support.repositories import GIT, GitRepository


@pytest.fixture(scope="module")
def program() -> GitProgram:
    return find_git(GIT)


def size_through_shadow(
    program: GitProgram, repository: GitRepository, tips: str, *more: str, object_format: str = "sha1"
) -> int:
    shallow = repository.git_dir / "shallow"
    with shadow_git_dir(
        object_format=ObjectFormat(object_format),
        objects_dir=os.fsencode(repository.git_dir / "objects"),
        shallow_file=os.fsencode(shallow) if shallow.exists() else None,
    ) as shadow:
        output = run_git(
            program,
            ["rev-list", "--objects", "--disk-usage", *more, "--stdin"],
            environment=shadow.environment,
            stdin=tips.encode() + b"\n",
            time_limit_s=20,
        )
    assert not output.stderr
    return int(output.stdout)


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("bitmap", [False, True])
def test_size_through_the_shadow_equals_size_in_the_repository(
    tmp_path: Path, program: GitProgram, object_format: str, bitmap: bool
) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format)
    repository.commit({"a": os.urandom(2000)})
    tip = repository.commit({"a": b"2" * 900, "b/c": b"3"})
    repository.repack("--write-bitmap-index" if bitmap else "--no-write-bitmap-index")
    flags = ["--use-bitmap-index"] if bitmap else []
    expected = int(repository.git("rev-list", "--all", "--objects", "--disk-usage", *flags))
    assert size_through_shadow(program, repository, tip, *flags, object_format=object_format) == expected > 2000


@pytest.mark.oracle
def test_alternates_and_their_references_work_through_the_shadow(tmp_path: Path, program: GitProgram) -> None:
    pool = GitRepository.init(tmp_path / "pool.git")
    base = pool.commit({"a": os.urandom(3000)})
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(pool)
    member.git("update-ref", "refs/heads/main", base)
    tip = member.commit({"a": os.urandom(500)})
    arguments = ("rev-list", "--objects", "--disk-usage", "--not", "--alternate-refs", "--not", "--all")
    expected = int(member.git(*arguments))
    assert expected < 1500
    assert size_through_shadow(program, member, tip, "--not", "--alternate-refs", "--not") == expected


@pytest.mark.oracle
def test_a_shallow_repository_is_measured_with_its_shallow_file(tmp_path: Path, program: GitProgram) -> None:
    origin = GitRepository.init(tmp_path / "origin.git")
    for number in range(3):
        tip = origin.commit({"a": os.urandom(100 + number)})
    origin.git("clone", "--quiet", "--bare", "--depth=1", f"file://{origin.path}", os.fspath(tmp_path / "shallow.git"))
    shallow = GitRepository(tmp_path / "shallow.git")
    expected = int(shallow.git("rev-list", "--all", "--objects", "--disk-usage"))
    assert size_through_shadow(program, shallow, tip) == expected


def test_the_shadow_is_private_empty_and_gone_afterwards(tmp_path: Path) -> None:
    with shadow_git_dir(object_format=ObjectFormat.SHA1, objects_dir=os.fsencode(tmp_path)) as shadow:
        assert stat.S_IMODE(os.stat(shadow.path).st_mode) == 0o700
        assert os.listdir(os.path.join(shadow.path, b"refs")) == os.listdir(os.path.join(shadow.path, b"objects")) == []
        assert "GIT_SHALLOW_FILE" not in shadow.environment
    assert not os.path.exists(shadow.path)


def test_the_shadow_is_gone_after_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        shadow_git_dir(object_format=ObjectFormat.SHA256, objects_dir=os.fsencode(tmp_path)) as shadow,
    ):
        raise KeyboardInterrupt
    assert not os.path.exists(shadow.path)


def test_a_full_folder_for_temporary_files_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(**_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", no_room)
    with pytest.raises(GitError, match=r"^cannot make a folder for temporary files: No space left on device$"):
        shadow_git_dir(object_format=ObjectFormat.SHA1, objects_dir=b"/nonexistent/objects").__enter__()


def test_an_object_directory_whose_name_is_not_text_works(tmp_path: Path, program: GitProgram) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"a\xff\n:'\"$(x)")
    repository = GitRepository.init(Path(os.fsdecode(path)))
    tip = repository.commit({"a": b"1" * 500})
    assert size_through_shadow(program, repository, tip) > 0


def test_the_current_folder_never_serves_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with (
        pytest.raises(GitError, match="no folder for temporary files"),
        shadow_git_dir(object_format=ObjectFormat.SHA1, objects_dir=b"/nonexistent/objects"),
    ):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


def test_only_old_shadow_folders_of_ours_are_swept(tmp_path: Path) -> None:
    ages_s = {"gitdash-shadow-old": 90_000, "gitdash-shadow-young": 3_600, "other-old": 90_000}
    for name in ages_s:
        (tmp_path / name / "refs").mkdir(parents=True)
    (tmp_path / "gitdash-shadow-file").touch()
    (tmp_path / "gitdash-shadow-link").symlink_to(tmp_path / "other-old")
    now_s = (tmp_path).stat().st_mtime
    for name, age_s in ages_s.items():
        os.utime(tmp_path / name, (now_s - age_s, now_s - age_s))
    os.utime(tmp_path / "gitdash-shadow-file", (0, 0))
    os.utime(tmp_path / "gitdash-shadow-link", (0, 0), follow_symlinks=False)
    sweep_abandoned(os.fspath(tmp_path))
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"gitdash-shadow-young", "other-old", "gitdash-shadow-file", "gitdash-shadow-link"}
    assert (tmp_path / "other-old" / "refs").is_dir()


HOLDER = """
import sys, time
from gitdash.gitcmd.shadow import held_folder
with held_folder(lambda folder: None) as folder:
    print(folder, flush=True)
    time.sleep(60)
"""


def test_folder_of_a_gitdash_that_was_killed_is_swept_at_once_and_that_of_one_that_lives_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", os.fspath(tmp_path))
    sweep_abandoned.cache_clear()
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        folder = Path(holder.stdout.readline().rstrip("\n"))
        (folder / "objects").mkdir()
        sweep_abandoned(os.fspath(tmp_path))
        assert list(tmp_path.iterdir()) == [folder]
        holder.kill()
    assert list(tmp_path.iterdir()) == [folder]
    sweep_abandoned.cache_clear()
    sweep_abandoned(os.fspath(tmp_path))
    assert list(tmp_path.iterdir()) == []
