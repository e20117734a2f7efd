"""The tips that sizes are measured from, with git as the oracle."""

import errno
import os
import time
import tracemalloc
from pathlib import Path

import pytest

from gitdash.formats.reading import FormatError
from gitdash.inspection import references
from gitdash.inspection.files import FileError
from gitdash.inspection.references import ReferenceTips, is_valid_reference_name, read_tips
from gitdash.model.inspection import ObjectFormat
from tests.inspection.oracle import needs_git
from tests.support.repositories import GitRepository


def tips_of(repository: GitRepository, object_format: str = "sha1") -> ReferenceTips:
    git_dir = os.fsencode(repository.git_dir)
    return read_tips(git_dir, git_dir, ObjectFormat(object_format))


def listed_by_git(repository: GitRepository) -> dict[bytes, str]:
    lines = repository.git_bytes("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return {name: object_id.decode() for name, object_id in (line.rsplit(b" ", 1) for line in lines)}


@pytest.mark.oracle
def test_tips_are_what_for_each_ref_lists_and_head(repository: GitRepository, object_format: str) -> None:
    repository.commit({"a": "1"})
    repository.git("tag", "-a", "-m", "x", "annotated", "main")
    repository.git("branch", "topic/one", "main")
    repository.git("pack-refs", "--all")
    repository.commit({"a": "2"})
    repository.git("branch", "topic/two", "main")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/topic/one")
    repository.git("update-ref", "refs/dangling/x", "main")
    tips = tips_of(repository, object_format)
    assert dict(tips.references) == listed_by_git(repository) | {b"HEAD": repository.git("rev-parse", "HEAD")}
    assert tips.broken == ()


@pytest.mark.oracle
def test_names_of_any_bytes_are_kept(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    names = [b"refs/heads/\xff\xfe", "refs/heads/\u202e\u009b".encode(), b"refs/heads/a@(b)]"]
    stdin = b"".join(b"create %b %b\n" % (name, commit.encode()) for name in names)
    sha1_repository.git("update-ref", "--stdin", stdin=stdin)
    assert dict(tips_of(sha1_repository).references) == listed_by_git(sha1_repository) | {b"HEAD": commit}
    sha1_repository.git("pack-refs", "--all")
    assert dict(tips_of(sha1_repository).references) == listed_by_git(sha1_repository) | {b"HEAD": commit}


def test_an_unborn_branch_is_not_broken(sha1_repository: GitRepository) -> None:
    assert tips_of(sha1_repository) == ReferenceTips(references=(), broken=())


@pytest.mark.oracle
def test_heads_and_own_references_of_all_worktrees_are_tips(tmp_path: Path) -> None:
    main = GitRepository.init(tmp_path / "main", bare=False)
    first = main.commit({"a": "1"})
    second = main.commit({"a": "2"})
    third = main.commit({"a": "3"}, reference="refs/heads/other")
    main.git("worktree", "add", "-q", "--detach", os.fspath(tmp_path / "linked"), first)
    linked = GitRepository(tmp_path / "linked")
    linked.git("update-ref", "refs/bisect/bad", third)
    linked.git("update-ref", "refs/worktree/own", second)
    git_dir = os.fsencode(main.git_dir / "worktrees" / "linked")
    common_dir = os.fsencode(main.git_dir)
    expected = {
        b"HEAD": second,
        b"refs/heads/main": second,
        b"refs/heads/other": third,
        b"worktrees/linked/HEAD": first,
        b"worktrees/linked/refs/bisect/bad": third,
        b"worktrees/linked/refs/worktree/own": second,
    }
    for own_dir in (git_dir, common_dir):
        tips = read_tips(own_dir, common_dir, ObjectFormat.SHA1)
        assert dict(tips.references) == expected
        assert tips.broken == ()
    for name, object_id in expected.items():
        assert main.git("rev-parse", os.fsdecode(name)) == object_id


@pytest.mark.oracle
@pytest.mark.safety
def test_broken_references_are_left_out_named_and_explained(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    heads = sha1_repository.git_dir / "refs" / "heads"
    (heads / "empty").write_bytes(b"")
    (heads / "zeros").write_bytes(b"0" * 40 + b"\n")
    (heads / "nul").write_bytes(b"\0" * 41)
    (heads / "garbage").write_bytes(b"secret password\n")
    (heads / "dangling").write_bytes(b"ref: refs/heads/nowhere\n")
    (heads / "loop").write_bytes(b"ref: refs/heads/loop\n")
    os.mkfifo(heads / "fifo")
    (heads / "device").symlink_to("/dev/zero")
    (heads / "passwd").symlink_to("/etc/passwd")
    (heads / "with space").write_text(commit)
    (heads / "esc\x1b[31m").write_text(commit)
    (heads / "main.lock").write_text(commit)
    (heads / ".hidden").write_text(commit)
    with (heads / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    tips = tips_of(sha1_repository)
    assert tips.references == ((b"HEAD", commit), (b"refs/heads/main", commit))
    assert {name.removeprefix(b"refs/heads/") for name, _ in tips.broken} == {
        b"empty", b"zeros", b"nul", b"garbage", b"loop", b"fifo", b"device", b"passwd", b"with space",
        b"esc\x1b[31m", b"sparse",
    }  # fmt: skip
    assert tips.dangling == (b"refs/heads/dangling",)
    assert all(reason.isprintable() and "root:" not in reason for _, reason in tips.broken)


@pytest.mark.oracle
def test_symbolic_references_are_followed_five_deep_and_no_deeper(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    heads = sha1_repository.git_dir / "refs" / "heads"
    (heads / "s1").write_text("ref: refs/heads/main\n")
    for depth in range(2, 7):
        (heads / f"s{depth}").write_text(f"ref: refs/heads/s{depth - 1}\n")
    tips = tips_of(sha1_repository)
    names = {name for name, object_id in tips.references if object_id == commit}
    listed = listed_by_git(sha1_repository)
    assert names == listed.keys() | {b"HEAD"}
    assert [name for name, _ in tips.broken] == [b"refs/heads/s5", b"refs/heads/s6"]


def test_a_link_to_a_name_is_the_old_symbolic_reference(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    (sha1_repository.git_dir / "refs" / "heads" / "alias").symlink_to("refs/heads/main")
    assert dict(tips_of(sha1_repository).references)[b"refs/heads/alias"] == commit


@pytest.mark.oracle
def test_a_broken_loose_reference_hides_the_packed_one_as_in_git(sha1_repository: GitRepository) -> None:
    sha1_repository.commit({"a": "1"})
    sha1_repository.git("pack-refs", "--all")
    (sha1_repository.git_dir / "refs" / "heads" / "main").write_bytes(b"")
    tips = tips_of(sha1_repository)
    assert [name for name, _ in tips.references] == list(listed_by_git(sha1_repository)) == []
    assert (b"refs/heads/main", "empty reference") in tips.broken


def test_a_reference_that_is_packed_while_we_read_is_not_lost(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = sha1_repository.commit({"a": "1"})
    sha1_repository.git("update-ref", "refs/heads/topic", commit)
    lstat = os.lstat

    def lstat_then_pack(path):
        found = lstat(path)
        if os.fsencode(path).endswith(b"refs/heads/topic"):
            sha1_repository.git("pack-refs", "--all")
        return found

    monkeypatch.setattr(os, "lstat", lstat_then_pack)
    assert dict(tips_of(sha1_repository).references)[b"refs/heads/topic"] == commit


@pytest.mark.safety
def test_unreadable_packed_references_are_an_error(sha1_repository: GitRepository) -> None:
    path = sha1_repository.git_dir / "packed-refs"
    path.write_bytes(b"garbage")
    with pytest.raises(FormatError):
        tips_of(sha1_repository)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match="a FIFO"):
        tips_of(sha1_repository)


@needs_git(2, 45)
def test_reftable_needs_git(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    with pytest.raises(FileError, match="reftable needs git"):
        tips_of(repository)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [
        b"refs/heads/a", b"refs/heads/.a", b"refs/heads/a.lock", b"refs/heads/a.lock/b", b"refs/heads/a..b",
        b"refs/heads/a.", b"refs/heads/a/", b"refs//heads", b"/refs/a", b"refs/heads/a b", b"refs/heads/a~b",
        b"refs/heads/a^", b"refs/heads/a:b", b"refs/heads/a?", b"refs/heads/*", b"refs/heads/[", b"refs/heads/]",
        b"refs/heads/a\\b", b"refs/heads/@{", b"refs/heads/@", b"refs/heads/\x7f", b"refs/heads/\x01",
        b"refs/heads/\xff", b"refs/heads/-x", b"refs/heads/{}",
    ],
)  # fmt: skip
def test_names_are_judged_as_check_ref_format_judges_them(sha1_repository: GitRepository, name: bytes) -> None:
    finished = sha1_repository.git(
        "-c", 'alias.judge=!git check-ref-format "$1" && echo valid #', "judge", os.fsdecode(name), check=False
    )
    assert is_valid_reference_name(name) == (finished == "valid")


@pytest.mark.safety
@pytest.mark.parametrize("packed", [True, False], ids=["packed", "loose"])
def test_more_references_than_the_limit_are_an_error_and_as_many_are_not(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    commit = sha1_repository.commit({"a": "1"})
    for number in range(4):
        sha1_repository.git("update-ref", f"refs/heads/x{number}", commit)
    if packed:
        sha1_repository.git("pack-refs", "--all", "--prune")
    monkeypatch.setattr(references, "MAXIMUM_REFERENCES", 5)
    assert len(tips_of(sha1_repository).references) == 6
    monkeypatch.setattr(references, "MAXIMUM_REFERENCES", 4)
    with pytest.raises(FileError) as caught:
        tips_of(sha1_repository)
    assert caught.value.reason == "5 references are too many to measure from, the limit is 4"


@pytest.mark.safety
def test_a_reference_over_the_limit_is_refused_at_once_and_in_little_memory(sha1_repository: GitRepository) -> None:
    line = b"1" * 40 + b" refs/heads/a-name-that-is-as-long-as-names-are\n"
    (sha1_repository.git_dir / "packed-refs").write_bytes(line * 1_000_001)
    tracemalloc.start()
    start_s = time.process_time()
    with pytest.raises(FileError, match="1000001 references are too many to measure from"):
        tips_of(sha1_repository)
    elapsed_s, (_, peak_bytes) = time.process_time() - start_s, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert elapsed_s < 10
    assert peak_bytes < 3 * len(line) * 1_000_001


@pytest.mark.safety
@pytest.mark.parametrize(
    "name", ["refs/", "refs/heads/", "refs/heads/topic/", "worktrees/", "worktrees/w/refs/bisect/"]
)
def test_a_folder_of_references_that_cannot_be_listed_costs_all_of_them(
    name: str, sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = sha1_repository.commit({"a": "1"})
    closed = sha1_repository.git_dir / name
    closed.mkdir(parents=True, exist_ok=True)
    (sha1_repository.git_dir / "refs" / "heads" / "other").write_text(commit)
    list_really = os.listdir

    def listdir(path: bytes) -> list[bytes]:
        if path == os.fsencode(closed) + b"/":
            raise PermissionError(errno.EACCES, "Permission denied")
        return list_really(path)

    monkeypatch.setattr(os, "listdir", listdir)
    with pytest.raises(FileError, match=r"[Pp]ermission"):
        tips_of(sha1_repository)


@pytest.mark.safety
@pytest.mark.parametrize("place", ["refs/heads/linked", "refs/linked", "refs/heads"])
def test_a_link_to_a_folder_of_references_costs_all_of_them(
    place: str, sha1_repository: GitRepository, tmp_path: Path
) -> None:
    sha1_repository.commit({"a": "1"})
    path = sha1_repository.git_dir / place
    outside = tmp_path / "outside"
    if path.exists():
        path.rename(outside)
    else:
        outside.mkdir()
    path.symlink_to(outside)
    with pytest.raises(FileError, match="a symbolic link to a folder"):
        tips_of(sha1_repository)


def test_a_head_of_a_worktree_that_cannot_be_looked_at_is_broken(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha1_repository.commit({"a": "1"})
    worktrees = sha1_repository.git_dir / "worktrees"
    (worktrees / "closed").mkdir(parents=True)
    (worktrees / "empty").mkdir()
    (worktrees / "stray").touch()
    look_really = os.lstat

    def lstat(path: bytes) -> os.stat_result:
        if path == os.fsencode(worktrees / "closed" / "HEAD"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return look_really(path)

    monkeypatch.setattr(os, "lstat", lstat)
    assert [name for name, _ in tips_of(sha1_repository).broken] == [b"worktrees/closed/HEAD"]
