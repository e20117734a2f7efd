"""References counted by namespace, with git as the oracle."""

import os
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.formats.reading import FormatError
from gitdash.inspection import loose_references, reference_names
from gitdash.inspection.files import FileError
from gitdash.inspection.namespaces import read_namespaces
from gitdash.inspection.reference_names import NameCounts, count_packed
from gitdash.inspection.references import is_valid_reference_name
from gitdash.model.inspection import ObjectFormat
from gitdash.model.namespaces import ReferenceNamespace, ReferenceNamespaces
from tests.support.repositories import GitRepository, git_version
from tests.support.speed import slowness


def namespaces_of(
    repository: GitRepository, object_format: str = "sha1", *, git_dir: Path | None = None
) -> ReferenceNamespaces:
    common_dir = os.fsencode(repository.git_dir)
    return read_namespaces(os.fsencode(git_dir) if git_dir else common_dir, common_dir, ObjectFormat(object_format))


def by_name(found: ReferenceNamespaces) -> dict[str, ReferenceNamespace]:
    return {one.name: one for one in found.namespaces}


def counts(found: ReferenceNamespaces) -> dict[str, int]:
    return {one.name: one.count for one in found.namespaces if one.count and one.name != "(root)"}


def namespace_by_hand(name: str) -> str:
    parts = name.split("/")
    size = 3 if parts[1] == "remotes" else 2
    return "/".join(parts[: min(size, len(parts) - 1)])


def listed_by_git(repository: GitRepository, *folder: str) -> dict[str, int]:
    names = repository.git(*folder, "for-each-ref", "--format=%(refname)").splitlines()
    return dict(Counter(map(namespace_by_hand, names)))


def fill(repository: GitRepository) -> str:
    """References of all kinds: loose, packed, both."""
    commit = repository.commit({"a": "1"})
    names = ["refs/heads/a/b/c", "refs/tags/v1", "refs/remotes/origin/x", "refs/remotes/fork/x", "refs/remotes/y/1/2"]
    names += [f"refs/merge-requests/{number}/head" for number in range(7)]
    names += ["refs/keep-around/" + commit, "refs/pull/1/head", "refs/notes/commits"]
    repository.git("update-ref", "--stdin", stdin="".join(f"create {name} {commit}\n" for name in names).encode())
    repository.git("tag", "-a", "-m", "m", "annotated", commit)
    repository.git("pack-refs", "--all")
    later = repository.commit({"a": "2"})
    loose = ["refs/stash", "refs/remotes/git-svn", "refs/tags/v1", "refs/heads/loose", "refs/merge-requests/3/head"]
    repository.git("update-ref", "--stdin", stdin="".join(f"update {name} {later}\n" for name in loose).encode())
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/x")
    return later


@pytest.mark.oracle
def test_counts_are_those_of_for_each_ref(repository: GitRepository, object_format: str) -> None:
    fill(repository)
    found = namespaces_of(repository, object_format)
    assert counts(found) == listed_by_git(repository)
    assert found.incomplete is None
    assert found.head == "refs/heads/main"
    assert found.elapsed_s > 0


def test_loose_and_packed_are_counted_each_and_what_is_both_once(repository: GitRepository, object_format: str) -> None:
    fill(repository)
    found = by_name(namespaces_of(repository, object_format))
    # refs/tags/v1 is both; the annotated tag is packed, what it points to is none
    assert (found["refs/tags"].loose_count, found["refs/tags"].packed_count, found["refs/tags"].count) == (1, 2, 2)
    requests = found["refs/merge-requests"]
    assert (requests.loose_count, requests.packed_count, requests.count) == (1, 7, 7)
    # main was packed and moved on
    heads = found["refs/heads"]
    assert (heads.loose_count, heads.packed_count, heads.count) == (2, 2, 3)
    assert (found["refs"].loose_count, found["refs"].packed_count, found["refs"].examples) == (1, 0, ("refs/stash",))
    assert found["refs/remotes"].examples == ("refs/remotes/git-svn",)


def test_the_largest_namespace_is_first_and_examples_are_the_first_five_names(sha1_repository: GitRepository) -> None:
    fill(sha1_repository)
    first = namespaces_of(sha1_repository).namespaces[0]
    assert first.name == "refs/merge-requests"
    assert first.examples == tuple(f"refs/merge-requests/{number}/head" for number in range(5))


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 45), reason="git lists no root references")
def test_root_references_are_those_that_git_lists(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    for name in ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "AUTO_MERGE", "NO_REFERENCE", "lower_HEAD"):
        (sha1_repository.git_dir / name).write_text(commit + "\n")
    listed = sha1_repository.git("for-each-ref", "--include-root-refs", "--format=%(refname)").splitlines()
    root = by_name(namespaces_of(sha1_repository))["(root)"]
    assert list(root.examples) == sorted(name for name in listed if not name.startswith("refs/"))
    assert root.count == len(root.examples) == 3


def test_head_of_a_repository_without_commits_is_told_and_counted_nowhere(sha1_repository: GitRepository) -> None:
    found = namespaces_of(sha1_repository)
    assert (found.head, found.namespaces, found.incomplete) == ("refs/heads/main", (), None)


def test_a_detached_head_is_an_id(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    (sha1_repository.git_dir / "HEAD").write_text(commit + "\n")
    assert namespaces_of(sha1_repository).head == commit


@pytest.mark.oracle
def test_a_linked_worktree_sees_its_own_references_in_place_of_the_main_ones(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r", bare=False)
    commit = repository.commit({"a": "1"})
    repository.git("worktree", "add", "-q", "--detach", tmp_path / "linked", commit)
    repository.git("update-ref", "refs/bisect/main-only", commit)
    for name in ("refs/bisect/bad", "refs/bisect/good-1", "refs/worktree/x"):
        repository.git("-C", tmp_path / "linked", "update-ref", name, commit)
    linked = repository.git_dir / "worktrees" / "linked"
    assert counts(namespaces_of(repository)) == listed_by_git(repository)
    found = namespaces_of(repository, git_dir=linked)
    assert counts(found) == listed_by_git(repository, "-C", os.fspath(tmp_path / "linked"))
    assert counts(found)["refs/bisect"] == 2
    assert found.head == commit


@pytest.mark.oracle
def test_what_git_passes_over_is_broken_and_hides_what_is_packed(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    packed = [f"refs/heads/{name}" for name in ("empty", "text", "dangling", "zero", "fine")]
    sha1_repository.git("update-ref", "--stdin", stdin="".join(f"create {name} {commit}\n" for name in packed).encode())
    sha1_repository.git("pack-refs", "--all")
    heads = sha1_repository.git_dir / "refs" / "heads"
    contents = {
        "empty": "",
        "text": "hello\n",
        "dangling": "ref: refs/heads/none\n",
        "zero": "0" * 40 + "\n",
        "new": "",
        "bad~name": commit + "\n",
        "circle": "ref: refs/heads/circle\n",
        "alias": "ref: refs/heads/fine\n",
        "alias-of-alias": "ref: refs/heads/alias\n",
    }
    for name, content in contents.items():
        (heads / name).write_text(content)
    found = namespaces_of(sha1_repository)
    assert counts(found) == listed_by_git(sha1_repository)
    record = by_name(found)["refs/heads"]
    assert (record.loose_count, record.packed_count, record.broken_count) == (2, 6, 7)
    # fine, main and the two aliases
    assert record.count == 4


@pytest.mark.oracle
@pytest.mark.oracle
def test_symbolic_references_lead_as_deep_as_in_git(sha1_repository: GitRepository) -> None:
    sha1_repository.commit({"a": "1"})
    for number in range(1, 8):
        target = f"refs/heads/s{number - 1}" if number > 1 else "refs/heads/main"
        sha1_repository.git("symbolic-ref", f"refs/heads/s{number}", target)
    assert counts(namespaces_of(sha1_repository)) == listed_by_git(sha1_repository)
    assert len(sha1_repository.git("for-each-ref").splitlines()) == 5


def test_packed_names_that_are_not_valid_are_broken(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    names = ["refs/heads/a..b", "refs/heads/fine", "refs/tags/x.lock", "refs/tags/y.lock/z", "refs/tags/.hidden"]
    lines = [f"{commit} {name}\n" for name in sorted(names)]
    (sha1_repository.git_dir / "packed-refs").write_text(
        "# pack-refs with: peeled fully-peeled sorted \n" + "".join(lines)
    )
    found = namespaces_of(sha1_repository)
    assert counts(found) == listed_by_git(sha1_repository)
    assert {name: one.broken_count for name, one in by_name(found).items()} == {
        "refs/heads": 1,
        "refs/tags": 3,
        "(root)": 0,
    }


@pytest.mark.safety
def test_nothing_irregular_is_opened_or_followed(sha1_repository: GitRepository, tmp_path: Path) -> None:
    commit = sha1_repository.commit({"a": "1"})
    heads = sha1_repository.git_dir / "refs" / "heads"
    os.mkfifo(heads / "fifo")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text(commit + "\n")
    (heads / "link-to-file").symlink_to(tmp_path / "outside" / "secret")
    (heads / "link-to-folder").symlink_to(tmp_path / "outside")
    (heads / "old-style").symlink_to("refs/heads/main")
    os.mkfifo(sha1_repository.git_dir / "packed-refs")
    found = namespaces_of(sha1_repository)
    record = by_name(found)["refs/heads"]
    assert (record.loose_count, record.packed_count, record.broken_count) == (2, None, 2)
    assert found.incomplete is not None
    assert found.incomplete.endswith("link-to-folder: a symbolic link to a folder, and 1 more problems")


@pytest.mark.safety
def test_a_folder_that_cannot_be_listed_costs_only_its_own_references(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(sha1_repository)
    real = os.listdir

    def refusing(path: bytes) -> list[bytes]:
        if path.endswith(b"/refs/tags/"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "listdir", refusing)
    found = namespaces_of(sha1_repository)
    assert found.incomplete is not None
    assert found.incomplete.endswith("refs/tags/: permission denied")
    assert by_name(found)["refs/heads"].count == 3


def test_packed_references_that_cannot_be_read_are_unknown_and_not_zero(sha1_repository: GitRepository) -> None:
    fill(sha1_repository)
    with (sha1_repository.git_dir / "packed-refs").open("ab") as file:
        file.write(b"nonsense\n")
    found = namespaces_of(sha1_repository)
    assert found.incomplete is not None
    assert found.incomplete.startswith("packed-refs: not a packed reference")
    heads = by_name(found)["refs/heads"]
    assert (heads.loose_count, heads.packed_count, heads.count) == (2, None, 2)


def test_a_head_that_cannot_be_read_is_told(sha1_repository: GitRepository) -> None:
    fill(sha1_repository)
    (sha1_repository.git_dir / "HEAD").write_text("")
    found = namespaces_of(sha1_repository)
    assert (found.head, found.incomplete) == (None, "HEAD cannot be read")


def test_a_reftable_is_not_taken_for_a_repository_without_references(sha1_repository: GitRepository) -> None:
    (sha1_repository.git_dir / "HEAD").write_text("ref: refs/heads/.invalid\n")
    with pytest.raises(FileError, match="reftable needs git"):
        namespaces_of(sha1_repository)


@pytest.mark.safety
def test_names_of_any_bytes_can_be_shown(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    names = [b"refs/\xff\xfe/x", "refs/\u202e\u009b/y".encode(), b"refs/long/" + b"n" * 20_000]
    lines = b"".join(commit.encode() + b" " + name + b"\n" for name in names)
    (sha1_repository.git_dir / "packed-refs").write_bytes(lines)
    found = namespaces_of(sha1_repository)
    for record in found.namespaces:
        assert all(text.isprintable() and len(text) < 2000 for text in (record.name, *record.examples))
    assert {"refs/\\xff\\xfe", "refs/\\u202e\\x9b", "refs/long"} <= by_name(found).keys()


@pytest.mark.safety
def test_a_namespace_for_each_reference_is_bounded(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = sha1_repository.commit({"a": "1"})
    lines = "".join(f"{commit} refs/{number:06}/x\n" for number in range(60_000))
    (sha1_repository.git_dir / "packed-refs").write_text(lines)
    found = namespaces_of(sha1_repository)
    assert len(found.namespaces) == 1001
    assert found.namespaces[-1].name == "(others)"
    # and main, and HEAD
    assert sum(one.count for one in found.namespaces) == 60_002
    assert sum(one.packed_count or 0 for one in found.namespaces) == 60_000
    monkeypatch.setattr(loose_references, "MAXIMUM_REFERENCES", 1)
    assert namespaces_of(sha1_repository).incomplete == "more than 1 loose references"


@pytest.mark.parametrize("piece_bytes", [200, 201, 260, 1000])
def test_a_file_in_pieces_counts_as_in_one(
    sha1_repository: GitRepository, monkeypatch: pytest.MonkeyPatch, piece_bytes: int
) -> None:
    fill(sha1_repository)
    for number in range(20):
        sha1_repository.git("tag", "-a", "-m", "m", f"t{number}", "main")
    sha1_repository.git("pack-refs", "--all")
    whole = namespaces_of(sha1_repository)
    monkeypatch.setattr(reference_names, "_PIECE_BYTES", piece_bytes)
    assert namespaces_of(sha1_repository).namespaces == whole.namespaces


@pytest.mark.safety
def test_a_header_in_the_middle_and_an_endless_line_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_names, "_PIECE_BYTES", 100)
    line = b"1" * 40 + b" refs/heads/%03d\n"
    header = b"# pack-refs with: peeled \n"
    fine = b"".join(line % number for number in range(9))
    assert count_packed(header + fine, ObjectFormat.SHA1, frozenset()).counts == {b"refs/heads": 9}
    for data in (fine + header + fine, b"1" * 40 + b" refs/heads/" + b"x" * 400 + b"\n", fine[:-1]):
        with pytest.raises(FormatError):
            count_packed(data, ObjectFormat.SHA1, frozenset())


PARTS = st.sampled_from([b"a", b"heads", b".", b"..", b"@", b"@{", b".lock", b"x.lock", b"a b", b"~", b"", b"\xff"])
NAMES = st.lists(PARTS, min_size=1, max_size=4).map(b"/".join).filter(bool).map(lambda name: b"refs/" + name)


@given(st.lists(NAMES, max_size=6))
def test_a_name_counts_exactly_if_it_is_valid(names: list[bytes]) -> None:
    counted = NameCounts()
    counted.add(names)
    valid = [name for name in names if is_valid_reference_name(name)]
    assert sum(counted.counts.values()) == len(valid)
    assert sum(counted.broken_counts.values()) == len(names) - len(valid)
    assert {name for kept in counted.examples.values() for name in kept} <= set(valid)


def test_half_a_million_packed_references_take_less_than_a_second(sha1_repository: GitRepository) -> None:
    commit = sha1_repository.commit({"a": "1"})
    names = (f"refs/{('heads', 'keep-around', 'merge-requests')[number % 3]}/{number:07}" for number in range(500_000))
    lines = "".join(f"{commit} {name}\n" for name in names)
    (sha1_repository.git_dir / "packed-refs").write_text(lines)
    started_s = time.process_time()
    found = namespaces_of(sha1_repository)
    assert time.process_time() - started_s < 1.5 * slowness()
    assert sum(one.packed_count or 0 for one in found.namespaces) == 500_000
