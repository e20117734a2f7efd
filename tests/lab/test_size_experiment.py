import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gitdash.lab.answers import judged
from gitdash.lab.experiments import EXPERIMENTS
from gitdash.lab.request import ExperimentError
from gitdash.lab.size_variants import QUESTIONS, STRATEGIES
from gitdash.model.experiment import ExperimentKind, ExperimentRun, VariantResult
from tests.support.experiment_results import result as a_result
from tests.support.experiment_results import variant as a_variant
from tests.support.experiments import answers, by_name, made, request_for, state_of
from tests.support.repositories import GitRepository, git_version

SIZE = ExperimentKind.SIZE
VERSION = git_version()


def with_answer(variant: VariantResult, answer: int) -> VariantResult:
    run = msgspec.structs.replace(variant.runs[0], answer=answer)
    return msgspec.structs.replace(variant, runs=(run,))


def usage(repository: GitRepository, *arguments: str) -> int:
    return int(repository.git("rev-list", "--disk-usage", "--objects", *arguments))


@pytest.fixture
def plain(tmp_path: Path) -> GitRepository:
    """Two packs, one with a bitmap, and loose objects; thirty references that are old enough for pseudo-merges."""
    repository = GitRepository.init(tmp_path / "plain.git")
    lines = []
    for number in range(30):
        lines.append(f"commit refs/heads/main\ncommitter C <c@example.com> {1_600_000_000 + number} +0000\ndata 1\nx\n")
        lines += [f"M 100644 inline {name}\ndata 6\n{number:06}\n" for name in ("file", f"other{number % 5}")]
        lines.append(f"reset refs/heads/topic/{number}\nfrom refs/heads/main\n\n")
    repository.git("fast-import", "--quiet", stdin="".join(lines).encode())
    repository.repack("--write-bitmap-index")
    repository.commit({"file": "second pack\n"})
    repository.git("repack", "-d", "-q", "--no-write-bitmap-index")
    repository.commit({"file": "loose\n"})
    repository.git("tag", "-a", "-m", "of a blob", "blob", "main:file")
    repository.git("pack-refs", "--all")
    return repository


@pytest.fixture
def member(tmp_path: Path) -> GitRepository:
    """Borrows; and has again, in its newest commit, a file that only deeper history of the lender has."""
    lender = GitRepository.init(tmp_path / "lender.git")
    lender.commit({"deep": b"deep\n" * 50, "file": "0\n"})
    for number in range(1, 12):
        lender.commit({"file": f"{number}\n" * 20})
    lender.repack("--write-bitmap-index")
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(lender)
    member.clock_s = lender.clock_s
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main~2"))
    member.commit({"own": b"own\n" * 50})
    member.commit({"own": b"own 2\n" * 50, "deep": b"deep\n" * 50})
    member.repack("-l")
    return member


def exact_own_bytes(member: GitRepository, lender: GitRepository) -> int:
    """By ids: all that the member reaches and the lender does not."""
    own = set(member.git("rev-list", "--objects", "--no-object-names", "--all").split())
    own -= set(lender.git("rev-list", "--objects", "--no-object-names", "--all").split())
    sizes = member.git(
        "cat-file", "--batch-check=%(objectsize:disk)", stdin="".join(f"{one}\n" for one in own).encode()
    )
    return sum(map(int, sizes.split()))


def test_memory_of_runs_that_take_a_moment_is_known_and_that_of_git_alone(plain: GitRepository) -> None:
    peaks = [run.peak_memory_bytes for variant in made(SIZE, plain.path).variants for run in variant.runs]
    assert peaks
    assert all(peak is not None and 1024**2 < peak < 25 * 1024**2 for peak in peaks)


@pytest.mark.oracle
def test_every_way_counts_everything_and_writes_nothing(plain: GitRepository) -> None:
    before = state_of(plain.path)
    result = made(SIZE, plain.path)
    assert state_of(plain.path) == before
    everything = usage(plain, "--all")
    variants = by_name(result)
    assert result.question == "everything"
    assert answers(result)["bitmap"] == answers(result)["walk"] == everything
    assert {variants["bitmap"].exact, variants["walk"].exact} == {True}
    assert {variant.runs[-1].answer for variant in result.variants if variant.exact} == {everything}
    ran = set(answers(result))
    assert ran >= {"bitmap", "walk", "fresh-bitmap", "multi-pack-bitmap"}
    assert ("pseudo-merges" in ran) == (VERSION >= (2, 46))


@pytest.mark.oracle
def test_a_copy_that_is_packed_anew_has_the_same_objects_and_says_by_how_much_its_bytes_differ(
    plain: GitRepository,
) -> None:
    variants = by_name(made(SIZE, plain.path, chosen=("bitmap", "multi-pack-bitmap")))
    count = plain.git("rev-list", "--count", "--objects", "--all")
    copy = variants["multi-pack-bitmap"]
    # three loose objects are in a pack there
    off = usage(plain, "--all") - (copy.runs[0].answer or 0)
    assert off > 0
    assert copy.exact is False
    assert copy.note == (
        f"counts {off} bytes less: the same {count} objects, in packs that were written anew, which take other bytes"
    )


@pytest.mark.oracle
def test_without_the_lender_exact_ways_agree_and_the_walk_says_how_much_it_counts_too_much(
    member: GitRepository, tmp_path: Path
) -> None:
    lender = GitRepository(tmp_path / "lender.git")
    before = state_of(member.path, lender.path)
    result = made(SIZE, member.path)
    assert state_of(member.path, lender.path) == before
    exact = exact_own_bytes(member, lender)
    variants = by_name(result)
    assert result.question == "without the lender"
    for name in ("bitmap-without-lender", "union-minus-lender", "fresh-bitmap", "multi-pack-bitmap"):
        assert (variants[name].runs[-1].answer, variants[name].exact) == (exact, True)
    walk = variants["walk-without-lender"]
    over = usage(member, "--all", "--not", "--alternate-refs") - exact
    assert over > 0
    assert (walk.exact, walk.note) == (False, f"counts {over} bytes more")
    assert {variant.runs[-1].answer for variant in result.variants if variant.exact} == {exact}


def test_what_is_timed_is_what_gitdash_runs(member: GitRepository) -> None:
    variants = by_name(made(SIZE, member.path, question="without the lender"))
    walk = ("rev-list", "--objects", "--disk-usage", "--stdin")
    bitmap = (*walk, "--use-bitmap-index")
    assert variants["walk-without-lender"].argv[-4:] == walk
    assert variants["bitmap-without-lender"].argv[-5:] == bitmap
    union = variants["union-minus-lender"].argv
    assert (union[union.index(";") - 5 : union.index(";")], union[-5:]) == (bitmap, bitmap)
    if VERSION >= (2, 42):
        boundary = ("-c", "pack.useBitmapBoundaryTraversal=true", *bitmap)
        assert variants["boundary-traversal"].argv[-7:] == boundary
    else:
        assert variants["boundary-traversal"].skipped == f"needs git 2.42, this is {'.'.join(map(str, VERSION))}"


def test_a_copy_gets_pseudo_merges_where_git_knows_them(plain: GitRepository) -> None:
    variant = by_name(made(SIZE, plain.path, chosen=("pseudo-merges",)))["pseudo-merges"]
    if VERSION >= (2, 46):
        assert variant.skipped is None
        assert variant.runs
    else:
        assert variant.skipped == f"needs git 2.46, this is {'.'.join(map(str, VERSION))}"


def test_references_that_are_too_young_for_pseudo_merges_are_said(tmp_path: Path) -> None:
    if VERSION < (2, 46):
        pytest.skip("needs git 2.46")
    # git takes commits into them that are older than a week
    repository = GitRepository.init(tmp_path / "young.git")
    repository.clock_s = int(time.time())
    repository.commit({"file": "1\n"})
    repository.repack("--write-bitmap-index")
    variant = by_name(made(SIZE, repository.path, chosen=("bitmap", "pseudo-merges")))["pseudo-merges"]
    assert variant.skipped == "git made no pseudo-merges: too few references, or none that is old enough"


def test_without_any_bitmap_what_needs_one_is_left_out_and_a_copy_gets_one(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    repository.commit({"file": "1\n"})
    repository.repack("--no-write-bitmap-index")
    variants = by_name(made(SIZE, repository.path))
    assert variants["bitmap"].skipped == "there is no bitmap, here or in a lender, so git would walk"
    assert variants["walk"].runs
    assert variants["fresh-bitmap"].runs


def test_without_a_lender_nothing_can_be_left_out(plain: GitRepository) -> None:
    result = made(SIZE, plain.path, question="without the lender")
    assert {variant.skipped for variant in result.variants} == {"it borrows from no other repository"}
    assert (result.winner, result.verdict) == (None, "Nothing to compare: fewer than two variants have runs.")


def test_a_lender_that_is_missing_is_no_answer(member: GitRepository, tmp_path: Path) -> None:
    os.rename(tmp_path / "lender.git", tmp_path / "elsewhere.git")
    with pytest.raises(ExperimentError, match="a lender is missing: "):
        made(SIZE, member.path)


def push_once(repository: GitRepository) -> Callable[[ExperimentRun], None]:
    pushed = []

    def push(run: ExperimentRun) -> None:
        if run.number == 2 and not pushed:
            pushed.append(run)
            repository.commit({"file": "pushed\n"})

    return push


@pytest.mark.oracle
def test_a_push_while_it_runs_throws_the_runs_before_it_away_and_its_commit_is_counted(plain: GitRepository) -> None:
    before = usage(plain, "--all")
    chosen = ("bitmap", "walk", "fresh-bitmap")
    result = made(SIZE, plain.path, runs=2, chosen=chosen, on_run=push_once(plain))
    assert result.discarded_count == 3
    assert all(len(variant.runs) == 2 for variant in result.variants)
    after = usage(plain, "--all")
    assert after > before
    assert answers(result)["walk"] == answers(result)["bitmap"] == after
    assert "the same " in by_name(result)["fresh-bitmap"].note or by_name(result)["fresh-bitmap"].exact


def test_a_repository_that_does_not_come_to_rest_is_too_busy(plain: GitRepository) -> None:
    def push(run: ExperimentRun) -> None:
        plain.commit({"file": f"{time.time()}\n"})

    with pytest.raises(ExperimentError, match="the repository changed 3 times while it was measured: too busy"):
        made(SIZE, plain.path, chosen=("bitmap", "walk"), on_run=push)


def test_the_question_is_that_of_the_chosen_variants(member: GitRepository) -> None:
    assert made(SIZE, member.path, chosen=("bitmap",)).question == "everything"
    assert made(SIZE, member.path, chosen=("walk-without-lender",)).question == "without the lender"


def test_an_unknown_question_is_said(plain: GitRepository) -> None:
    with pytest.raises(ExperimentError, match="no such question; there are: everything, without the lender"):
        made(SIZE, plain.path, question="why")


def test_a_list_of_variants_makes_no_copy(member: GitRepository) -> None:
    request = request_for(member.path)
    experiment = EXPERIMENTS[SIZE]
    listed = experiment.variants_of(request)
    assert {variant.name for variant in listed if variant.skipped is None} >= {"union-minus-lender", "fresh-bitmap"}
    assert os.listdir(request.registry_dir) == []
    assert set(experiment.questions_of(request)) == set(QUESTIONS)
    assert set(STRATEGIES) >= {variant.name for variant in listed if variant.name.endswith("-lender")}


@pytest.mark.oracle
def test_nested_lenders_are_counted_and_copies_are_left_out(member: GitRepository, tmp_path: Path) -> None:
    borrower = GitRepository.init(tmp_path / "borrower.git")
    borrower.borrow_from(member)
    borrower.git("update-ref", "refs/heads/main", member.git("rev-parse", "main"))
    borrower.commit({"last": b"last\n" * 20})
    variants = by_name(made(SIZE, borrower.path))
    assert variants["union-minus-lender"].runs[0].answer == usage(
        borrower, "--all", "--not", member.git("rev-parse", "main")
    )
    assert variants["fresh-bitmap"].skipped == (
        "it borrows from 2 stores, and no bitmap of one of them can name what is in the others"
    )


@pytest.mark.oracle
def test_a_partial_clone_is_counted_without_what_it_has_not_fetched(plain: GitRepository, tmp_path: Path) -> None:
    plain.git("config", "uploadpack.allowFilter", "true")
    clone = GitRepository(tmp_path / "partial.git")
    plain.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{plain.path}", os.fspath(clone.path))
    before = state_of(clone.path)
    variants = by_name(made(SIZE, clone.path))
    assert state_of(clone.path) == before
    there = clone.git("rev-list", "--objects", "--missing=print", "--no-object-names", "--all").split()
    ids = "".join(f"{one}\n" for one in there if not one.startswith("?")).encode()
    stored = sum(map(int, clone.git("cat-file", "--batch-check=%(objectsize:disk)", stdin=ids).split()))
    assert (variants["walk"].runs[0].answer, variants["walk"].exact) == (stored, True)


@pytest.mark.parametrize("at", ["preparing", "running"])
def test_what_was_measured_before_it_was_cancelled_is_kept_and_copies_go(member: GitRepository, at: str) -> None:
    request = request_for(member.path, runs=3, on_run=lambda run: cancel_at(run.number == 3))

    def cancel_at(is_now: bool) -> None:
        if is_now:
            request.cancel.set()

    if at == "preparing":
        request = replace(request, on_step=lambda _: request.cancel.set())
    result = EXPERIMENTS[SIZE].run(request)
    assert not result.is_complete
    assert "Cancelled." in result.notes
    assert sum(len(variant.runs) for variant in result.variants) == (3 if at == "running" else 0)
    assert os.listdir(request.registry_dir) == []


def test_exact_variants_that_do_not_agree_have_no_winner() -> None:
    fine, lying = a_variant("bitmap", (0.1,), None), with_answer(a_variant("walk", (0.2,), None), 5000)
    result = a_result(variants=(fine, lying))
    found = judged(result, trusted=("bitmap", "walk"), unit="byte", remarks={})
    assert found.winner is None
    assert found.verdict == "No verdict: what should be equal is not: bitmap 4,096 bytes, walk 5,000 bytes."
    assert {variant.exact for variant in found.variants} == {None}


def test_a_winner_that_counts_too_much_is_said() -> None:
    slow = a_variant("union", (0.2,), None)
    fast = with_answer(a_variant("walk", (0.1,), None), 4097)
    found = judged(
        a_result(variants=(slow, fast), winner="walk", verdict="Walk wins."),
        trusted=("union",),
        unit="byte",
        remarks={},
    )
    assert found.winner == "walk"
    assert found.verdict == "Walk wins. But it is not exact: it counts 1 byte more."
