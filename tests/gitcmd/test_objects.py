import hashlib
import os
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from gitdash.gitcmd.command_log import COMMAND_LOG, commands_for
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.installed import find_git
from gitdash.gitcmd.lookup_times import measure_lookups
from gitdash.gitcmd.objects import DETAILED, ObjectReader, open_reader
from gitdash.gitcmd.runner import stop_everything
from gitdash.model.inspection import ObjectFormat
from tests.support.repositories import GIT, GitRepository, git_version


@pytest.fixture(scope="module")
def program() -> GitProgram:
    return find_git(GIT)


def objects_of(repository: GitRepository) -> bytes:
    return os.fsencode(repository.git_dir / "objects")


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_the_reader_knows_what_is_there_and_what_is_not(
    tmp_path: Path, program: GitProgram, object_format: str
) -> None:
    repository = GitRepository.init(tmp_path / "$HOME_x.git", object_format=object_format)
    tip = repository.commit({"a": b"1"})
    repository.repack()
    loose = repository.blob(b"loose")
    with open_reader(program, objects_of(repository), ObjectFormat(object_format), time_limit_s=20) as reader:
        for line in repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines():
            assert reader.has(line.split()[0])
        assert reader.has(loose)
        assert not reader.has("f" * len(tip))


@pytest.mark.skipif(git_version() < (2, 45), reason="no reftable")
def test_how_references_are_stored_does_not_matter(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    tip = repository.commit({"a": b"1"})
    assert measure_lookups(os.fsencode(repository.path), tip, time_limit_s=20, program=program).first_s > 0


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_look_ups_are_timed(tmp_path: Path, program: GitProgram, object_format: str) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format)
    tip = repository.commit({"a": b"1"})
    repository.repack()
    lookups = measure_lookups(os.fsencode(repository.path), tip, time_limit_s=20, program=program)
    assert 0 < lookups.warm_s < 2
    assert 0 < lookups.first_s < 2
    assert 0 < lookups.missing_s < 2


def detailed(
    repository: GitRepository, program: GitProgram, *, object_format: str = "sha1", time_limit_s: float = 20.0
) -> ObjectReader:
    return open_reader(
        program, objects_of(repository), ObjectFormat(object_format), time_limit_s=time_limit_s, option=DETAILED
    )


def script(folder: Path, body: str) -> GitProgram:
    fake = folder / "git"
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    return GitProgram(path=os.fspath(fake), version=(2, 39, 5), version_text="2.39.5")


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_look_up_says_what_git_says_of_each_object(tmp_path: Path, program: GitProgram, object_format: str) -> None:
    repository = GitRepository.init(tmp_path / "r.git", object_format=object_format)
    text = b"".join(b"line %d\n" % number for number in range(300))
    repository.commit({"a": text})
    repository.commit({"a": text + b"more\n"})
    repository.git("tag", "-a", "-m", "m", "v1", "refs/heads/main")
    repository.repack("-f")
    repository.blob(b"loose")
    wanted = "%(objectname) %(objecttype) %(objectsize) %(objectsize:disk) %(deltabase)"
    listed = repository.git("cat-file", "--batch-all-objects", f"--batch-check={wanted}").splitlines()
    with detailed(repository, program, object_format=object_format) as reader:
        answers = [reader.look_up(line.split()[0]) for line in listed]
    zero = "0" * len(listed[0].split()[0])
    assert [
        f"{one.object_id} {one.type} {one.bytes} {one.stored_bytes} {one.delta_base or zero}" for one in answers
    ] == listed
    assert {one.type for one in answers} == {"commit", "tree", "blob", "tag"}
    assert sum(one.delta_base is not None for one in answers) == 1
    assert all(one.problem is None and one.elapsed_s > 0 for one in answers)


def test_four_digits_are_enough_in_either_case(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    object_id = repository.blob(b"one")
    with detailed(repository, program) as reader:
        assert reader.look_up(object_id[:4].upper()).object_id == object_id
        assert reader.look_up(object_id[:17]).object_id == object_id


def test_an_object_that_is_missing_is_an_answer(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with detailed(repository, program) as reader:
        for asked in ("1" * 40, "dead"):
            answer = reader.look_up(asked)
            assert (answer.asked, answer.object_id, answer.problem) == (asked, None, None)


def test_an_ambiguous_prefix_is_told(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    seen: dict[str, bytes] = {}
    for number in range(70_000):
        content = b"%d" % number
        prefix = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()[:4]
        if prefix in seen:
            break
        seen[prefix] = content
    ids = {repository.blob(seen[prefix]), repository.blob(content)}
    assert {object_id[:4] for object_id in ids} == {prefix}
    with detailed(repository, program) as reader:
        answer = reader.look_up(prefix)
        assert answer.object_id is None
        assert answer.problem == "more than one object begins like this"
        assert {reader.look_up(object_id).object_id for object_id in ids} == ids


@pytest.mark.safety
@pytest.mark.parametrize(
    "text",
    ["", "abc", "HEAD", "refs/heads/main", "a" * 41, "abcd\n", "abcd\nabcd", "abcd ", " abcd", "abcd^{tree}", "-abcd",
     "\uff11\uff12\uff13\uff14", "\u0661" * 4, "\x1b[2J", ":/abcd", "abcd\0", "\udcff" * 4],
)  # fmt: skip
def test_what_is_no_id_never_reaches_git(tmp_path: Path, text: str) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    heard = tmp_path / "heard"
    program = script(tmp_path, f'while IFS= read -r line; do echo "$line" >>{heard}; echo "$line missing"; done')
    with detailed(repository, program) as reader:
        answer = reader.look_up(text)
        assert answer.problem == "an object id is 4 to 40 hexadecimal digits"
        assert answer.asked.isprintable()
        assert reader.look_up("abcd").problem is None
    assert heard.read_text() == "abcd\n"


def test_the_time_limit_is_for_each_look_up_and_not_for_the_life_of_a_reader(
    tmp_path: Path, program: GitProgram
) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with detailed(repository, program, time_limit_s=0.5) as reader:
        started_s = time.monotonic()
        while time.monotonic() - started_s < 1.2:
            assert reader.look_up("1" * 40).problem is None


@pytest.mark.safety
def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    program = script(tmp_path, 'read -r x; echo "$x missing"; read -r y; printf "%s" "$y"; sleep 0.3; echo " missing"')
    with detailed(repository, program) as reader:
        assert reader.look_up("aaaa").problem is None
        with pytest.raises(GitError, match="did not answer in time"):
            reader.look_up("bbbb", deadline_s=time.monotonic() + 0.1)
        with pytest.raises(GitError, match="did not answer in time"):
            reader.look_up("cccc")


@pytest.mark.safety
def test_an_answer_without_an_end_is_none(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    program = script(tmp_path, 'read -r x; yes | tr -d "\\n"')
    with detailed(repository, program) as reader, pytest.raises(GitError, match="without an answer"):
        reader.look_up("aaaa")


@pytest.mark.safety
def test_a_strange_answer_is_told_and_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with detailed(repository, script(tmp_path, 'read -r x; printf "\\033[2J\\n"')) as reader:
        answer = reader.look_up("aaaa")
    assert answer.object_id is None
    assert answer.problem is not None
    assert "\\x1b[2J" in answer.problem


def test_an_interrupted_look_up_ends_at_once(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    program = script(tmp_path, f"read -r x; echo >{tmp_path}/asked; exec sleep 100")
    with detailed(repository, program) as reader:

        def interrupt() -> None:
            while not (tmp_path / "asked").exists():
                time.sleep(0.005)
            reader.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(GitError) as caught:
            reader.look_up("aaaa")
        thread.join()
    assert caught.value.kind is GitFailure.CANCELLED


def test_a_reader_is_in_the_log_while_it_runs_and_after(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with commands_for(b"/read"), detailed(repository, program) as reader:
        reader.look_up("1" * 40)
        assert [record.elapsed_s for record in COMMAND_LOG.records_of(b"/read")] == [None]
    (record,) = COMMAND_LOG.records_of(b"/read")
    assert record.argv[:2] == ("git", "cat-file")
    assert (record.exit_code, record.ending) == (0, None)
    stuck = script(tmp_path, "exec sleep 100")
    with commands_for(b"/stuck"), detailed(repository, stuck, time_limit_s=0.1) as reader, pytest.raises(GitError):
        reader.look_up("1" * 40)
    (record,) = COMMAND_LOG.records_of(b"/stuck")
    assert (record.exit_code, record.ending) == (None, "timed out")


def test_an_object_that_is_missing_cannot_be_timed(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with pytest.raises(GitError, match="missing"):
        measure_lookups(os.fsencode(repository.path), "1" * 40, time_limit_s=20, program=program)
    with pytest.raises(GitError, match="40 or 64 digits"):
        measure_lookups(os.fsencode(repository.path), "HEAD", time_limit_s=20, program=program)


@pytest.mark.safety
def test_a_git_that_hangs_ends_at_the_time_limit(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\nexec sleep 1000\n")
    fake.chmod(0o755)
    program = GitProgram(path=os.fspath(fake), version=(2, 39, 5), version_text="2.39.5")
    started_s = time.monotonic()
    with pytest.raises(GitError, match="did not answer in time") as caught:
        measure_lookups(os.fsencode(repository.path), "1" * 40, time_limit_s=0.5, program=program)
    assert caught.value.kind is GitFailure.TIMED_OUT
    assert time.monotonic() - started_s < 4
    assert not [child for child in psutil.Process().children() if child.name() == "sleep"]


@pytest.mark.safety
def test_twenty_thousand_complaints_do_not_stop_the_reader(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    tip = repository.commit({"a": b"1"})
    info = repository.git_dir / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text("".join(f"/nonexistent/{number}\n" for number in range(20_000)))
    assert measure_lookups(os.fsencode(repository.path), tip, time_limit_s=60, program=program).warm_s > 0


def test_stop_everything_ends_a_reader(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    with open_reader(program, objects_of(repository), ObjectFormat.SHA1, time_limit_s=60) as reader:
        assert not reader.has("1" * 40)
        thread = threading.Thread(target=stop_everything)
        thread.start()
        thread.join(5)
        with pytest.raises(GitError, match="was cancelled"):
            reader.has("1" * 40)


def test_a_closed_reader_leaves_no_process_and_no_descriptor(tmp_path: Path, program: GitProgram) -> None:
    repository = GitRepository.init(tmp_path / "r.git")

    def use() -> ObjectReader:
        with open_reader(program, objects_of(repository), ObjectFormat.SHA1, time_limit_s=60) as reader:
            reader.has("1" * 40)
        return reader

    use()
    before = os.listdir("/proc/self/fd")
    reader = use()
    assert not psutil.pid_exists(reader.pid)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    with pytest.raises(GitError):
        reader.has("1" * 40)


@pytest.mark.safety
def test_nothing_inherited_reaches_the_reader(
    tmp_path: Path, program: GitProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = GitRepository.init(tmp_path / "r.git")
    other = GitRepository.init(tmp_path / "other.git")
    tip = other.commit({"a": b"1"})
    marker = tmp_path / "marker"
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", os.fspath(other.git_dir / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", os.fspath(other.git_dir / "objects"))
    monkeypatch.setenv("GIT_TRACE2", os.fspath(marker))
    with open_reader(program, objects_of(repository), ObjectFormat.SHA1, time_limit_s=60) as reader:
        assert not reader.has(tip)
    assert not marker.exists()


def test_gitpython_is_imported_when_a_reader_opens_and_not_before() -> None:
    import subprocess

    code = "import sys, gitdash.gitcmd.objects; sys.exit('git' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
