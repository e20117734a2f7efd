import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.lab.connectivity import QUESTIONS
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.request import ExperimentError
from gitdash.model.experiment import CacheState, ExperimentKind, ExperimentRun
from tests.support.experiments import answers, by_name, made, request_for, state_of
from tests.support.repositories import GIT, GitRepository

CONNECTIVITY = ExperimentKind.CONNECTIVITY
HASH_CACHE, LOOKUP_TABLE = 0x4, 0x10
"""Flags in the head of a bitmap, by git's bitmap-format."""
WORDS = {
    "a tip": ["HEAD"],
    "all branches": ["--branches"],
    "branches and tags": ["--branches", "--tags"],
}


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """Two branches and a tag that reach different things, a pack with a bitmap, and what is newer."""
    repository = GitRepository.init(tmp_path / "a.git")
    for number in range(6):
        repository.commit({"file": f"{number}\n"})
    repository.commit({"side": "1\n"}, reference="refs/heads/side", parents=[])
    tagged = repository.commit({"tagged": "1\n"}, reference="refs/heads/passing", parents=[])
    repository.git("tag", "-a", "-m", "tag", "v1", tagged)
    repository.git("update-ref", "-d", "refs/heads/passing")
    repository.repack("--write-bitmap-index")
    repository.commit({"file": "newer\n"})
    return repository


@pytest.mark.oracle
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_parts_count_what_git_counts_and_nothing_is_written(repository: GitRepository, question: str) -> None:
    before = state_of(repository.path)
    chosen = ("as-it-is", "table-read", "table-not-read", "walk")
    result = made(CONNECTIVITY, repository.path, question=question, chosen=chosen)
    assert state_of(repository.path) == before
    beyond, _, named = question.rpartition(": ")
    revisions = [*WORDS[named], *(["--not", "--all"] if beyond else [])]
    count = int(repository.git("rev-list", "--count", "--objects", *revisions))
    assert (count == 0) == bool(beyond)
    assert answers(result) == dict.fromkeys(chosen, count)
    assert {variant.exact for variant in result.variants if variant.runs} == {True}


@pytest.mark.parametrize(
    ("variant", "flags", "has_reverse_index"),
    [
        ("table-read", HASH_CACHE | LOOKUP_TABLE, True),
        ("no-table", HASH_CACHE, True),
        ("no-hash-cache", LOOKUP_TABLE, True),
        ("no-reverse-index", HASH_CACHE | LOOKUP_TABLE, False),
    ],
)
def test_a_copy_has_the_parts_that_its_variant_is_about(
    repository: GitRepository, variant: str, flags: int, has_reverse_index: bool
) -> None:
    seen = []

    def look(_: ExperimentRun) -> None:
        (copy,) = [path / "copy" for path in Path(os.fsdecode(request.registry_dir)).iterdir() if path.is_dir()]
        (bitmap,) = copy.glob("objects/pack/*.bitmap")
        options = struct.unpack(">4sHH", bitmap.read_bytes()[:8])[2]
        seen.append((options & (HASH_CACHE | LOOKUP_TABLE), bool(list(copy.glob("objects/pack/*.rev")))))

    request = request_for(repository.path, chosen=(variant,), on_run=look)
    EXPERIMENTS[CONNECTIVITY].run(request)
    assert set(seen) == {(flags, has_reverse_index)}


def test_what_is_run_is_what_is_said(repository: GitRepository, tmp_path: Path) -> None:
    log, spy = tmp_path / "log", tmp_path / "spy"
    spy.write_text(f'#!/bin/sh\necho "$GIT_TEST_READ_COMMIT_TABLE|$*" >>{log}\nexec {GIT} "$@"\n')
    spy.chmod(0o700)
    request = request_for(
        repository.path, chosen=("table-not-read", "walk"), question="beyond all references: branches and tags"
    )
    request = replace(request, program=replace(request.program, path=os.fspath(spy)))
    variants = by_name(EXPERIMENTS[CONNECTIVITY].run(request))
    words = ("--branches", "--tags", "--not", "--all")
    count = ("rev-list", "--count", "--objects")
    assert variants["walk"].argv[-7:] == (*count, *words)
    assert variants["table-not-read"].argv[:2] == ("GIT_TEST_READ_COMMIT_TABLE=0", os.fspath(spy))
    assert variants["table-not-read"].argv[-8:] == (*count, "--use-bitmap-index", *words)
    timed = [line for line in log.read_text().splitlines() if "rev-list" in line]
    by_walk = [line for line in timed if line.startswith("|") and line.endswith(" ".join((*count, *words)))]
    by_bitmap = [
        line
        for line in timed
        if line.startswith("0|") and line.endswith(" ".join((*count, "--use-bitmap-index", *words)))
    ]
    # once to warm up, once that counts
    assert (len(by_walk), len(by_bitmap)) == (2, 2)


def test_a_member_s_lender_is_what_gets_the_bitmap(repository: GitRepository, tmp_path: Path) -> None:
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(repository)
    member.git("update-ref", "refs/heads/main", repository.git("rev-parse", "main~1"))
    member.commit({"own": "own\n"})
    before = state_of(member.path, repository.path)
    result = made(CONNECTIVITY, member.path, question="all branches")
    assert state_of(member.path, repository.path) == before
    count = int(member.git("rev-list", "--count", "--objects", "--branches"))
    assert set(answers(result).values()) == {count}
    assert all(variant.skipped is None for variant in result.variants)


def test_without_a_bitmap_only_fresh_ones_are_tried(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    repository.commit({"file": "1\n"})
    repository.repack("--no-write-bitmap-index")
    variants = by_name(made(CONNECTIVITY, repository.path, chosen=("as-it-is", "table-read")))
    assert variants["as-it-is"].skipped == "there is no bitmap, here or in a lender, so git would walk"
    assert variants["table-read"].runs


@pytest.mark.oracle
def test_a_partial_clone_is_checked_without_what_it_has_not_fetched(repository: GitRepository, tmp_path: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = GitRepository(tmp_path / "partial.git")
    repository.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{repository.path}", os.fspath(clone.path))
    result = made(CONNECTIVITY, clone.path, chosen=("walk",), question="all branches")
    listed = clone.git("rev-list", "--objects", "--missing=print", "--no-object-names", "--branches").split()
    assert answers(result) == {"walk": sum(not one.startswith("?") for one in listed)}


def test_without_references_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    with pytest.raises(ExperimentError, match="no reference that can be read"):
        made(CONNECTIVITY, repository.path)


def test_cold_runs_say_how_they_were_made_cold(repository: GitRepository) -> None:
    result = made(CONNECTIVITY, repository.path, chosen=("table-read", "walk"), is_cold=True)
    assert result.cache is CacheState.COLD
    assert "posix_fadvise(DONTNEED) on " in result.cache_note


def test_a_push_while_it_runs_throws_the_runs_before_it_away(repository: GitRepository) -> None:
    pushed = []

    def push(run: ExperimentRun) -> None:
        if run.number == 2 and not pushed:
            pushed.append(run)
            repository.commit({"file": "pushed\n"})

    result = made(CONNECTIVITY, repository.path, runs=2, chosen=("as-it-is", "walk"), on_run=push)
    assert result.discarded_count == 3
    assert all(len(variant.runs) == 2 for variant in result.variants)
    count = int(repository.git("rev-list", "--count", "--objects", "HEAD"))
    assert answers(result) == {"as-it-is": count, "walk": count}
