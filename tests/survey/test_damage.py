"""Damage that git does not look for, in the store of a repository and in its lenders."""

import os
import threading
from pathlib import Path

import pytest

from gitdash.gitcmd.git_program import GitProgram
from gitdash.inspection.references import ReferenceTips
from gitdash.model.inspection import ObjectFormat, ReferenceBackend
from gitdash.survey import damage as damage_module
from gitdash.survey.damage import Damage, DamageSearch
from gitdash.survey.lenders import Lender, Lenders
from gitdash.survey.tips import TipsSource, tips_of
from tests.safety.product import run_gitdash
from tests.support.repositories import GIT, GitRepository, git_version

PROGRAM = GitProgram(path=GIT, version=(2, 39, 5), version_text="2.39.5")
PATTERNS = ("pack/*.idx", "pack/*.rev", "pack/*.bitmap", "pack/multi-pack-index", "info/commit-graph")


def make_store(path: Path) -> GitRepository:
    repository = GitRepository.init(path)
    for number in range(4):
        repository.commit({"a": f"{number}\n" * 40})
    repository.git("-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-b")
    repository.git("commit-graph", "write", "--reachable")
    repository.git("multi-pack-index", "write")
    return repository


def make_pool(folder: Path) -> tuple[GitRepository, GitRepository, GitRepository]:
    """A member, its lender, and the lender of that one."""
    far = make_store(folder / "far.git")
    near = GitRepository.init(folder / "near.git")
    near.borrow_from(far)
    near.git("update-ref", "refs/heads/main", far.git("rev-parse", "main"))
    near.commit({"near": "near"})
    near.git("repack", "-q", "-a", "-d", "-l")
    member = GitRepository.init(folder / "member.git")
    member.borrow_from(near)
    member.git("update-ref", "refs/heads/main", near.git("rev-parse", "main"))
    member.commit({"own": "own"})
    return member, near, far


def objects(repository: GitRepository) -> bytes:
    return os.fsencode(repository.git_dir / "objects")


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x10
    file.chmod(0o644)
    file.write_bytes(content)


def found(search: DamageSearch, *repositories: GitRepository) -> Damage:
    return search.search([objects(repository) for repository in repositories], ObjectFormat.SHA1)


def test_what_git_wrote_has_no_damage(tmp_path: Path) -> None:
    assert found(DamageSearch(), make_store(tmp_path / "r.git")) == Damage()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_flipped_bit_is_found_in_the_store_and_in_a_lender(pattern: str, tmp_path: Path) -> None:
    repository, sound = make_store(tmp_path / "r.git"), make_store(tmp_path / "sound.git")
    (file,) = (repository.git_dir / "objects").glob(pattern)
    flip(file)
    damage = found(DamageSearch(), sound, repository)
    path = os.fsencode(file)
    if pattern.endswith(".idx"):
        assert damage == Damage(indexes=(path,))
    else:
        assert damage.derived_files == (path,)
    assert (damage.problem is not None) == pattern.endswith(".idx")


def test_a_file_is_hashed_once_while_it_stays_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_store(tmp_path / "r.git")
    hashed = []

    def has_valid_checksum(buffer: object, _object_format: ObjectFormat) -> bool:
        hashed.append(buffer)
        return True

    monkeypatch.setattr(damage_module, "has_valid_checksum", has_valid_checksum)
    search = DamageSearch()
    found(search, repository)
    assert len(hashed) == len(PATTERNS)
    found(search, repository)
    assert len(hashed) == len(PATTERNS)
    flip(repository.git_dir / "objects" / "info" / "commit-graph")
    found(search, repository)
    assert len(hashed) == len(PATTERNS) + 1


@pytest.mark.parametrize("name", ["*.idx", "*.rev", "*.bitmap", "*.pack", "multi-pack-index", "../info/commit-graph"])
@pytest.mark.safety
def test_a_lender_that_would_hold_git_up_is_unreadable(name: str, tmp_path: Path) -> None:
    repository = make_store(tmp_path / "lender.git")
    lenders = Lenders(PROGRAM, lambda: 0.0)
    assert isinstance(lenders.lender(objects(repository), cancel=threading.Event()), Lender)
    ((file),) = (repository.git_dir / "objects" / "pack").glob(name)
    file.unlink()
    os.mkfifo(file)
    lender = lenders.lender(objects(repository), cancel=threading.Event())
    assert not isinstance(lender, Lender)
    assert lender.reason.endswith("is a FIFO, and git would open it")


@pytest.mark.safety
@pytest.mark.parametrize("whose", ["near", "far"])
@pytest.mark.parametrize("flags", [[], ["--exclude-alternates"], ["--exclude-alternates", "--strategy", "union"]])
def test_the_size_of_a_member_does_not_wait_for_a_fifo_of_its_lender(
    whose: str, flags: list[str], tmp_path: Path
) -> None:
    member, near, far = make_pool(tmp_path)
    folder = (near if whose == "near" else far).git_dir / "objects" / "info" / "commit-graphs"
    folder.mkdir()
    os.mkfifo(folder / "commit-graph-chain")
    answer = run_gitdash(tmp_path, "--no-state", "size", *flags, member.git_dir, time_limit_s=30)
    assert answer.exit_code == 1
    assert answer.stdout == ""
    assert "commit-graph-chain is a FIFO" in answer.stderr


@pytest.mark.oracle
@pytest.mark.safety
def test_a_lying_bitmap_of_a_lender_is_not_used(tmp_path: Path) -> None:
    member, _, far = make_pool(tmp_path)
    expected = member.git("rev-list", "--all", "--objects", "--disk-usage")
    (file,) = (far.git_dir / "objects" / "pack").glob("*.bitmap")
    flip(file)
    answer = run_gitdash(tmp_path, "--no-state", "size", "--format", "json", member.git_dir)
    assert str(answer.document["bytes"]) == expected
    assert file.name in answer.document["notes"][0]


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("whose", ["member", "far"])
@pytest.mark.parametrize("flags", [[], ["--exclude-alternates"], ["--exclude-alternates", "--strategy", "union"]])
def test_a_damaged_reverse_index_is_not_used_by_any_git(whose: str, flags: list[str], tmp_path: Path) -> None:
    member, _, far = make_pool(tmp_path)
    member.git("-c", "pack.writeReverseIndex=true", "repack", "-q", "-a", "-d", "-l")
    expected = run_gitdash(tmp_path, "--no-state", "size", *flags, "--format", "json", member.git_dir).document
    if not flags:
        assert str(expected["bytes"]) == member.git("rev-list", "--all", "--objects", "--disk-usage")
    (file,) = ((far if whose == "far" else member).git_dir / "objects" / "pack").glob("*.rev")
    flip(file)
    answer = run_gitdash(tmp_path, "--no-state", "size", *flags, "--format", "json", member.git_dir).document
    assert (answer["bytes"], answer["exact"]) == (expected["bytes"], expected["exact"])
    assert answer["notes"] == [*expected["notes"], f"measured without derived files, for damage in {file}"]


@pytest.mark.safety
def test_a_damaged_index_of_a_lender_makes_the_size_unreadable(tmp_path: Path) -> None:
    member, _, far = make_pool(tmp_path)
    (file,) = (far.git_dir / "objects" / "pack").glob("*.idx")
    flip(file)
    answer = run_gitdash(tmp_path, "--no-state", "size", member.git_dir)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "its content does not match its checksum" in answer.stderr


@pytest.mark.safety
@pytest.mark.skipif(git_version() < (2, 45), reason="git knows no reftable")
@pytest.mark.parametrize("name", ["reftable/*.ref", "reftable/tables.list", "HEAD", "packed-refs"])
def test_git_is_not_asked_for_references_where_it_would_wait(name: str, tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "r.git", reference_backend="reftable")
    repository.commit({"a": "1"})
    git_dir = repository.git_dir
    source = TipsSource(
        git_dir=os.fsencode(git_dir),
        common_dir=os.fsencode(git_dir),
        object_format=ObjectFormat.SHA1,
        backend=ReferenceBackend.REFTABLE,
        is_foreign=False,
    )
    program = GitProgram(path=GIT, version=git_version(), version_text="")
    assert isinstance(tips_of(source, program, threading.Event()), ReferenceTips)
    file = next(git_dir.glob(name), git_dir / name)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    tips = tips_of(source, program, threading.Event())
    assert not isinstance(tips, ReferenceTips)
    assert tips.reason.endswith("is a FIFO, and git would open it")
