import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gitdash.gitcmd.installed import find_git
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.lookup import FIRST, MISSING, WARM
from gitdash.lab.many_packs import repository_of_packs
from gitdash.lab.request import ExperimentError
from gitdash.model.experiment import ExperimentKind, ExperimentRun, VariantResult
from tests.support.experiments import by_name, made, request_for, state_of
from tests.support.repositories import GIT, GitRepository

LOOKUP = ExperimentKind.LOOKUP
PACK_COUNT = 300


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    """Three hundred packs of three objects; who uses it must not write into it."""
    repository = GitRepository.init(tmp_path_factory.mktemp("packs") / "many.git")
    stream = b"".join(
        b"commit refs/heads/main\ncommitter C <c@example.com> %d +0000\ndata 1\nx\n" % (1_600_000_000 + number)
        + b"M 100644 inline file%d\ndata 4\n%04d\ncheckpoint\n\n" % (number % 9, number)
        for number in range(PACK_COUNT)
    )
    quick = ("-c", "fastimport.unpackLimit=0", "-c", "core.fsync=none")
    repository.git(*quick, "fast-import", "--quiet", stdin=stream)
    assert len(repository.packs()) == PACK_COUNT
    return repository


@pytest.fixture
def small(tmp_path: Path) -> GitRepository:
    repository = GitRepository.init(tmp_path / "a.git")
    for number in range(2):
        repository.commit({"file": f"{number}\n"})
        repository.git("repack", "-d", "-q", "--no-write-bitmap-index")
    repository.commit({"file": "loose\n"})
    return repository


def phase_s(variant: VariantResult, name: str) -> float:
    """The shortest: what else the machine does makes a look-up longer, never shorter."""
    return min(phase.elapsed_s for run in variant.runs for phase in run.phases if phase.name == name)


def test_a_missing_object_is_dear_among_many_packs_with_or_without_one_index_and_cheap_in_one(
    many: GitRepository,
) -> None:
    before = state_of(many.path)
    result = made(LOOKUP, many.path, runs=5, chosen=("as-it-is", "multi-pack-index", "one-pack"))
    assert state_of(many.path) == before
    variants = by_name(result)
    as_it_is, indexed, one = (variants[name] for name in ("as-it-is", "multi-pack-index", "one-pack"))
    assert result.question == MISSING
    for many_packs in (as_it_is, indexed):
        assert phase_s(many_packs, "missing") > 5 * phase_s(many_packs, "warm")
        assert phase_s(many_packs, "missing") > 3 * phase_s(one, "missing")
    assert phase_s(as_it_is, "first") > 2 * phase_s(one, "first")
    assert len(result.notes) == 3
    assert result.notes[0].startswith("packs as they are: first ")
    assert "a missing object costs " in result.notes[0]


@pytest.mark.parametrize(("question", "phase"), [(MISSING, "missing"), (FIRST, "first"), (WARM, "warm")])
def test_a_run_counts_with_the_look_up_that_is_asked_for(small: GitRepository, question: str, phase: str) -> None:
    result = made(LOOKUP, small.path, question=question)
    variants = by_name(result)
    for name in ("as-it-is", "multi-pack-index", "one-pack"):
        (run,) = variants[name].runs
        assert [part.name for part in run.phases] == ["first", "warm", "missing"]
        assert run.wall_s == next(part.elapsed_s for part in run.phases if part.name == phase)
        (run,) = variants[f"{name}-process"].runs
        assert run.phases == ()
        # a process starts and ends, which alone takes longer than any look-up here but the first, which starts one, too
        assert question == FIRST or run.wall_s > variants[name].runs[0].wall_s
        assert run.user_s is not None
        # the kernel counts a process that runs in nanoseconds, not in ticks of 10 ms
        (run,) = variants[name].runs
        assert run.user_s is not None
        assert run.system_s is not None
        assert run.user_s + run.system_s > 0
        assert run.peak_memory_bytes is not None
        assert run.peak_memory_bytes > 1024**2
    assert {variant.argv[-2:] for variant in result.variants} == {("cat-file", "--batch-check")}


@pytest.mark.parametrize(("question", "is_said"), [(MISSING, True), (FIRST, False)])
def test_look_ups_that_find_files_loaded_are_not_called_cold(
    small: GitRepository, question: str, is_said: bool
) -> None:
    result = made(LOOKUP, small.path, question=question, is_cold=True, chosen=("as-it-is",))
    assert any("find what that has loaded" in note for note in result.notes) is is_said


def test_time_for_copies_is_no_time_of_runs(small: GitRepository) -> None:
    result = made(LOOKUP, small.path, chosen=("one-pack",))
    # two processes of git at least: a repack, and a reader
    assert result.prepared_s > 0.002
    assert result.elapsed_s < 60


def test_the_copies_have_one_index_and_one_pack(small: GitRepository) -> None:
    seen: dict[str, list[str]] = {}

    def look(run: ExperimentRun) -> None:
        registry = Path(os.fsdecode(request.registry_dir))
        (copy,) = [path / "copy" for path in registry.iterdir() if path.is_dir()]
        seen[run.variant] = sorted(path.name for path in (copy / "objects" / "pack").iterdir())

    for variant in ("multi-pack-index", "one-pack"):
        request = request_for(small.path, chosen=(variant,), on_run=look)
        EXPERIMENTS[LOOKUP].run(request)
    assert [name for name in seen["multi-pack-index"] if name.startswith("multi-pack-index")] == ["multi-pack-index"]
    assert sum(name.endswith(".pack") for name in seen["multi-pack-index"]) == 2
    assert sum(name.endswith(".pack") for name in seen["one-pack"]) == 1
    assert not any(name.startswith("multi-pack-index") for name in seen["one-pack"])


def test_a_process_is_asked_for_an_object_that_is_there_or_for_one_that_nobody_has(
    small: GitRepository, tmp_path: Path
) -> None:
    log, spy = tmp_path / "log", tmp_path / "spy"
    spy.write_text(f'#!/bin/sh\nexec {GIT} "$@" | tee -a {log}\n')
    spy.chmod(0o700)
    for question in (MISSING, FIRST):
        request = request_for(small.path, chosen=("as-it-is-process",), question=question)
        EXPERIMENTS[LOOKUP].run(replace(request, program=replace(request.program, path=os.fspath(spy))))
    tip = small.git("rev-parse", "main")
    found = f"{tip} commit {small.git('cat-file', '-s', tip)}"
    # once to warm up, once that counts
    assert log.read_text().splitlines() == [f"{'d' * 40} missing"] * 2 + [found] * 2


def test_a_curve_has_generated_repositories_and_the_verdict_is_about_ones_own(small: GitRepository) -> None:
    request = request_for(small.path, curve=True)
    listed = [variant.name for variant in EXPERIMENTS[LOOKUP].variants_of(request)]
    assert listed[-4:] == ["packs-1", "packs-10", "packs-100", "packs-1000"]
    result = made(LOOKUP, small.path, runs=7, curve=True, chosen=("one-pack", "packs-1", "packs-100"))
    variants = by_name(result)
    assert phase_s(variants["packs-100"], "first") > 2 * phase_s(variants["packs-1"], "first")
    assert result.winner is None
    assert result.verdict == "Nothing to compare: fewer than two variants have runs."


@pytest.mark.oracle
def test_a_generated_repository_has_so_many_packs_and_the_object(tmp_path: Path) -> None:
    request = request_for(GitRepository.init(tmp_path / "unused.git").path)
    making = repository_of_packs(12, program=find_git(GIT), registry_dir=request.registry_dir, cancel=request.cancel)
    with making as made_one:
        repository = GitRepository(Path(os.fsdecode(made_one.git_dir)))
        assert len(repository.packs()) == 12
        assert repository.git("cat-file", "-t", made_one.object_id) == "blob"
        repository.git("fsck")
    assert os.listdir(request.registry_dir) == []


def test_without_a_pack_there_is_no_index_of_packs(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    repository.commit({"file": "loose\n"})
    variants = by_name(made(LOOKUP, repository.path, chosen=("as-it-is", "multi-pack-index")))
    assert variants["as-it-is"].runs
    skipped = variants["multi-pack-index"].skipped
    assert skipped == "there is no pack, so there is nothing to index"


def test_what_the_system_refuses_is_why_a_variant_is_skipped(
    small: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("gitdash.lab.many_packs._begin", refuse)
    variants = by_name(made(LOOKUP, small.path, curve=True, chosen=("as-it-is", "packs-1")))
    assert variants["as-it-is"].runs
    assert variants["packs-1"].skipped == "no repository can be made: No space left on device"


def test_without_references_no_object_is_known(tmp_path: Path) -> None:
    variants = by_name(made(LOOKUP, GitRepository.init(tmp_path / "a.git").path, chosen=("as-it-is", "one-pack")))
    assert {variant.skipped for variant in variants.values()} == {
        "it has no reference that can be read, so no object of it is known"
    }


def test_a_repack_while_it_runs_throws_the_runs_before_it_away(small: GitRepository) -> None:
    repacked = []

    def repack(run: ExperimentRun) -> None:
        if run.number == 1 and not repacked:
            repacked.append(run)
            small.repack()

    discarded: list[int] = []
    result = made(
        LOOKUP,
        small.path,
        runs=2,
        chosen=("as-it-is", "one-pack"),
        on_run=repack,
        on_discard=lambda: discarded.append(len(repacked)),
    )
    assert result.discarded_count == 2
    assert discarded == [1]
    assert all(len(variant.runs) == 2 for variant in result.variants)


def test_a_sha256_repository_is_asked_by_its_own_ids(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git", object_format="sha256")
    tree = repository.git("hash-object", "-t", "tree", "-w", "--stdin")
    repository.git("update-ref", "refs/heads/main", repository.git("commit-tree", "-m", "one", tree))
    result = made(LOOKUP, repository.path, chosen=("as-it-is", "as-it-is-process"))
    assert all(variant.runs for variant in result.variants)


def test_an_unknown_question_is_said(small: GitRepository) -> None:
    with pytest.raises(ExperimentError, match="no such question"):
        made(LOOKUP, small.path, question="everything")
