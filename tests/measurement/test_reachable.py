"""Reachable sizes are right whatever a repository or its lender says of itself, and nothing of them runs."""

import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.measurement.queries import UntrustworthySizeError
from gitdash.measurement.reachable import measure_reachable
from gitdash.measurement.size_request import SizeRequest, choose, counted_tips
from gitdash.measurement.strategy import StrategyError
from gitdash.model.sizes import Bound, Question, SizeMeasurement, Strategy
from tests.measurement.built import RecordingGit, disk_sizes, git_program, request_for
from tests.support.repositories import GitRepository, git_version

OWN = Question.REACHABLE_OWN


def measure(request: SizeRequest) -> SizeMeasurement:
    return measure_reachable(request, git_program(), now_s=0.0, time_limit_s=30.0)


def plain(repository: GitRepository, *arguments: str) -> int:
    """What git says in the repository itself."""
    return int(repository.git("rev-list", *arguments, "--all", "--objects", "--disk-usage"))


def grown(path: Path, object_format: str = "sha1") -> tuple[GitRepository, GitRepository]:
    """A member and its lender with a common history, and each with commits of its own."""
    pool = GitRepository.init(path / "pool.git", object_format=object_format)
    for number in range(6):
        pool.commit({"shared": f"{number}\n" * 200})
    member = GitRepository.init(path / "member.git", object_format=object_format)
    member.borrow_from(pool)
    member.git("update-ref", "refs/heads/main", pool.git("rev-parse", "main"))
    for number in range(3):
        member.commit({"own": f"own {number}\n" * 100})
    pool.commit({"later": "in the pool"}, reference="refs/heads/later")
    member.repack("-l")
    pool.repack("-b")
    return member, pool


def exact_own_bytes(member: GitRepository) -> int:
    """The exact difference of two sets of objects, by listing both."""
    sizes = disk_sizes(member)
    lent_tips = member.git("rev-list", "--no-walk", "--alternate-refs").split()
    names = ("--objects", "--no-object-names")
    own = set(member.git("rev-list", "--all", *names).split())
    lent = set(member.git("rev-list", *names, *lent_tips).split()) if lent_tips else set()
    return sum(sizes[object_id] for object_id in own - lent)


@pytest.mark.oracle
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("strategy", [Strategy.BITMAP, Strategy.WALK, Strategy.UNION])
def test_every_strategy_finds_the_own_part(strategy: Strategy, object_format: str, tmp_path: Path) -> None:
    member, pool = grown(tmp_path, object_format)
    request = request_for(member, OWN, pool, object_format=object_format, requested=strategy, every_object_once=True)
    size = measure(request)
    assert size.bytes == exact_own_bytes(member)
    assert size.strategy is strategy
    assert (
        size.exact
        is {
            Strategy.BITMAP: git_version() >= (2, 42),
            Strategy.WALK: False,
            Strategy.UNION: True,
        }[strategy]
    )


def resurrected(path: Path) -> tuple[GitRepository, GitRepository]:
    """A member whose newest tree has a file again that only the lender's deeper history has."""
    pool = GitRepository.init(path / "pool.git")
    for number in range(30):
        pool.commit({"old": "old\n" * 500} if number == 0 else {"new": f"{number}\n"})
    member = GitRepository.init(path / "member.git")
    member.borrow_from(pool)
    member.git("update-ref", "refs/heads/main", pool.git("rev-parse", "main"))
    member.commit({"old": "old\n" * 500})
    member.repack("-l")
    pool.repack("-b")
    return member, pool


@pytest.mark.oracle
def test_walk_with_an_exclusion_is_an_upper_bound_and_says_so(tmp_path: Path) -> None:
    member, pool = resurrected(tmp_path)
    exact_bytes = exact_own_bytes(member)
    walk = measure(request_for(member, OWN, pool))
    assert walk.bytes > exact_bytes
    assert not walk.exact
    for strategy in (Strategy.BITMAP, Strategy.UNION):
        size = measure(request_for(member, OWN, pool, requested=strategy, every_object_once=True))
        assert size.bytes == exact_bytes


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 46), reason="git before 2.46 has no pseudo-merge bitmaps")
def test_pseudo_merges_of_the_lender_make_the_bitmap_the_best_and_exact(tmp_path: Path) -> None:
    member, pool = resurrected(tmp_path)
    for number in range(20):
        pool.commit({"side": f"{number}"}, reference=f"refs/heads/side{number}")
    for key, value in (("pattern", "refs/"), ("threshold", "now"), ("stableThreshold", "never")):
        pool.git("config", f"bitmapPseudoMerge.all.{key}", value)
    pool.repack("-b")
    size = measure(request_for(member, OWN, pool, lender_has_pseudo_merges=True))
    assert (size.strategy, size.exact) == (Strategy.BITMAP, True)
    assert "--use-bitmap-index" in size.argv
    assert size.bytes == exact_own_bytes(member)


@pytest.mark.oracle
def test_bitmap_that_git_did_not_use_is_no_proof(tmp_path: Path) -> None:
    member, pool = resurrected(tmp_path)
    for bitmap in (pool.git_dir / "objects" / "pack").glob("*.bitmap"):
        bitmap.unlink()
    size = measure(request_for(member, OWN, pool, requested=Strategy.BITMAP))
    assert size.bytes > exact_own_bytes(member)
    assert not size.exact


@pytest.mark.oracle
def test_union_with_objects_stored_twice_does_not_call_itself_exact(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    member.repack()
    size = measure(request_for(member, OWN, pool, requested=Strategy.UNION, every_object_once=False))
    assert not size.exact
    assert "stored twice" in size.notes[0]


def test_size_costs_one_git_call_and_a_union_two(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    for strategy, count in ((None, 1), (Strategy.BITMAP, 1), (Strategy.UNION, 2)):
        folder = tmp_path / f"{strategy}"
        folder.mkdir()
        recording = RecordingGit(folder)
        request = request_for(member, OWN, pool, requested=strategy)
        measure_reachable(request, recording.program, now_s=0.0, time_limit_s=30.0)
        assert len(recording.calls()) == count


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("where", ["member", "pool"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.alternateRefsCommand", "exit 0 #"),
        ("core.alternateRefsCommand", ""),
        ("core.alternateRefsCommand", "touch MARKER; exit 0 #"),
        ("core.alternateRefsCommand", "sleep 60 #"),
        ("core.alternateRefsPrefixes", "refs/nothing"),
        ("core.fsmonitor", "touch MARKER;"),
        ("include.path", "FIFO"),
    ],
)
def test_config_of_member_and_lender_has_no_effect(key: str, value: str, where: str, tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    marker, fifo = tmp_path / "marker", tmp_path / "fifo"
    os.mkfifo(fifo)
    wanted_bytes = plain(member, "--not", "--alternate-refs", "--not")
    request = request_for(member, OWN, pool)
    hostile = member if where == "member" else pool
    section, name = key.split(".")
    told = value.replace("MARKER", str(marker)).replace("FIFO", str(fifo))
    with (hostile.git_dir / "config").open("a") as config:
        config.write(f'[{section}]\n\t{name} = "{told}"\n')
    if where == "member" and "exit 0" in value:
        # plain git falls for it
        assert plain(member, "--not", "--alternate-refs", "--not") > wanted_bytes
        assert marker.exists() is ("MARKER" in value)
        marker.unlink(missing_ok=True)
    size = measure_reachable(request, git_program(), now_s=0.0, time_limit_s=10.0)
    assert size.bytes == wanted_bytes
    assert not marker.exists()


@pytest.mark.oracle
def test_lender_of_a_lender_is_excluded_too(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    deeper = GitRepository.init(tmp_path / "deeper.git")
    deeper.commit({"deep": "d" * 2000})
    pool.borrow_from(deeper)
    member.git("update-ref", "refs/heads/deep", deeper.git("rev-parse", "main"))
    wanted_bytes = plain(member, "--not", "--alternate-refs", "--not")
    assert measure(request_for(member, OWN, pool, deeper)).bytes == wanted_bytes
    assert measure(request_for(member, Question.REACHABLE, pool, deeper)).bytes == plain(member)


@pytest.mark.oracle
def test_head_of_the_lender_excludes_nothing_as_in_git(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    pool.commit({"detached": "x"}, reference="refs/heads/gone")
    tip = pool.git("rev-parse", "refs/heads/gone")
    pool.git("update-ref", "--no-deref", "HEAD", tip)
    pool.git("update-ref", "-d", "refs/heads/gone")
    member.git("update-ref", "refs/heads/detached", tip)
    assert (b"HEAD", tip) in request_for(member, OWN, pool).lender_references
    assert measure(request_for(member, OWN, pool)).bytes == plain(member, "--not", "--alternate-refs", "--not")


@pytest.mark.oracle
def test_broken_references_of_the_lender_are_left_out_with_a_note(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    wanted_bytes = measure(request_for(member, OWN, pool)).bytes
    request = request_for(member, OWN, pool)
    broken = ((b"refs/heads/missing", "1" * 40), (b"refs/heads/no-id", "?"))
    request = request_for(member, OWN, pool, lender_references=(*request.lender_references, *broken))
    size = measure(request)
    assert size.bytes == wanted_bytes
    assert size.notes == (
        "1 reference of the lender cannot be read: refs/heads/no-id",
        "1 reference of the lender points to a missing object: refs/heads/missing",
    )
    assert size.bound is Bound.UPPER
    union = measure(
        request_for(
            *(member, OWN, pool),
            requested=Strategy.UNION,
            every_object_once=True,
            lender_references=(*request_for(member, OWN, pool).lender_references, *broken),
        )
    )
    assert (union.bytes, union.bound) == (exact_own_bytes(member), Bound.UPPER)


@pytest.mark.oracle
@pytest.mark.parametrize("has_bitmap", [True, False])
def test_broken_references_are_dropped_and_reported(has_bitmap: bool, tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    own.repack("-b" if has_bitmap else "-q")
    wanted_bytes = plain(own)
    (own.git_dir / "refs" / "heads" / "missing\x1b").write_text("1" * 40 + "\n")
    references = (*request_for(own).references, (b"refs/heads/missing\x1b", "1" * 40))
    size = measure(request_for(own, references=references, broken_references=((b"refs/heads/empty", "is empty"),)))
    assert size.bytes == wanted_bytes
    assert size.notes == (
        "1 reference broken and left out: refs/heads/empty",
        "1 reference points to a missing object and is left out: refs/heads/missing\\x1b",
    )
    assert size.bound is Bound.LOWER


@pytest.mark.oracle
@pytest.mark.parametrize("broken", [("missing",), ("unreadable",), ("missing", "unreadable")])
@pytest.mark.parametrize("question", list(Question))
def test_a_dropped_reference_of_its_own_makes_a_lower_bound(
    question: Question, broken: tuple[str, ...], tmp_path: Path
) -> None:
    member, pool = grown(tmp_path)
    whole = measure(request_for(member, question, pool))
    references = (*request_for(member).references, *((b"refs/heads/x", "1" * 40) for _ in broken if _ == "missing"))
    unreadable = tuple((b"refs/heads/y", "is empty") for name in broken if name == "unreadable")
    size = measure(request_for(member, question, pool, references=references, broken_references=unreadable))
    assert size.bytes == whole.bytes
    assert not size.exact
    assert size.bound is (Bound.LOWER if whole.exact else Bound.UNKNOWN)
    assert len(size.warnings) == len(broken)


@pytest.mark.safety
@pytest.mark.parametrize("strategy", [Strategy.BITMAP, Strategy.WALK])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("damaged_files", [(), ("commit-graph",)])
def test_no_size_where_no_reference_can_be_followed(
    strategy: Strategy, partial: bool, damaged_files: tuple[str, ...], tmp_path: Path
) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    own.repack("-b")
    own.git("commit-graph", "write", "--reachable")
    request = request_for(own, partial=partial, requested=strategy, damaged_files=damaged_files)
    for file in (own.git_dir / "objects" / "pack").iterdir():
        file.unlink()
    with pytest.raises(UntrustworthySizeError, match="no reference can be followed: 2 references point to missing"):
        measure(request)


@pytest.mark.safety
def test_no_size_where_no_reference_can_be_read(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    with pytest.raises(UntrustworthySizeError, match=r"no reference can be read: 1 reference broken .*: refs/heads/x"):
        measure(request_for(own, references=(), broken_references=((b"refs/heads/x", "is empty"),)))


@pytest.mark.oracle
@pytest.mark.safety
def test_a_partial_clone_that_lost_a_tip_gets_a_lower_bound(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    references = (*request_for(own).references, (b"refs/heads/x", "1" * 40))
    size = measure(request_for(own, references=references, partial=True))
    assert (size.bytes, size.bound) == (plain(own), Bound.LOWER)


@pytest.mark.oracle
def test_a_symbolic_reference_to_nothing_costs_no_exactness_as_in_git(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    own.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
    size = measure(request_for(own, dangling_references=(b"refs/remotes/origin/HEAD",)))
    assert (size.bytes, size.exact, size.warnings) == (plain(own), True, ())
    assert size.notes == ("1 reference symbolic and points to nothing: refs/remotes/origin/HEAD",)


@pytest.mark.oracle
def test_argv_of_a_union_has_both_queries(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    size = measure(request_for(member, OWN, pool, requested=Strategy.UNION, every_object_once=True))
    query = ("git", "rev-list", "--objects", "--disk-usage", "--stdin", "--use-bitmap-index")
    assert size.argv == (*query, ";", *query)


@pytest.mark.safety
@pytest.mark.parametrize("question", list(Question))
def test_lender_that_git_cannot_use_raises_although_git_answers(question: Question, tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    alternates = own.git_dir / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_text(f"{tmp_path}/gone.git/objects\n")
    assert plain(own, "--not", "--alternate-refs", "--not") > 0
    with pytest.raises(UntrustworthySizeError, match="lender"):
        measure(request_for(own, question))


@pytest.mark.oracle
def test_shallow_clone_is_measured_to_its_border(tmp_path: Path) -> None:
    origin = GitRepository.init(tmp_path / "origin.git")
    for number in range(5):
        origin.commit({"file": f"{number}\n" * 100})
    origin.git("clone", "-q", "--bare", "--depth=2", f"file://{origin.path}", tmp_path / "shallow.git")
    shallow = GitRepository(tmp_path / "shallow.git")
    size = measure(request_for(shallow, shallow_file=bytes(shallow.git_dir / "shallow")))
    assert size.bytes == plain(shallow) < plain(origin)
    with pytest.raises(GitError):
        measure(request_for(shallow))


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("strategy", [Strategy.BITMAP, Strategy.WALK])
def test_partial_clone_fetches_nothing_and_says_what_is_missing(strategy: Strategy, tmp_path: Path) -> None:
    origin = GitRepository.init(tmp_path / "origin.git")
    for number in range(4):
        origin.commit({"file": f"{number}\n" * 100, f"other{number}": f"{number}"})
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{origin.path}", tmp_path / "partial.git")
    partial = GitRepository(tmp_path / "partial.git")
    partial.git("config", "remote.origin.uploadpack", f"touch {tmp_path}/marker;git-upload-pack")
    present = {path for path in partial.git_dir.rglob("*") if path.is_file()}
    types = origin.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    size = measure(request_for(partial, partial=True, requested=strategy))
    assert size.bytes == sum(disk_sizes(partial).values())
    assert size.notes == (f"{types.count('blob')} objects of this partial clone are not fetched and not counted",)
    assert {path for path in partial.git_dir.rglob("*") if path.is_file()} == present
    assert not (tmp_path / "marker").exists()
    with pytest.raises(GitError):
        measure(request_for(partial))


@pytest.mark.safety
def test_ids_that_are_none_never_reach_git(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    wanted_bytes = plain(own)
    odd = ("--all", "HEAD", "1" * 39, "A" * 40, f"{'1' * 40}\n--all", "")
    references = (*request_for(own).references, *((f"refs/x{n}".encode(), value) for n, value in enumerate(odd)))
    size = measure(request_for(own, references=references))
    assert size.bytes == wanted_bytes
    assert size.notes == ("6 references broken and left out: refs/x0, refs/x1, refs/x2 and 3 more",)


def test_store_without_references_is_zero_and_not_an_error(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.blob(b"unreachable")
    for strategy in (Strategy.BITMAP, Strategy.WALK):
        size = measure(request_for(own, requested=strategy))
        assert (size.bytes, size.exact) == (0, True)


def test_lender_without_references_leaves_nothing_out(tmp_path: Path) -> None:
    member, pool = grown(tmp_path)
    size = measure(request_for(member, OWN, pool, lender_references=()))
    assert (size.bytes, size.exact) == (plain(member), True)


def test_time_limit_is_for_all_queries_and_ends_in_an_error(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    with pytest.raises(GitError) as caught:
        measure_reachable(request_for(own), git_program(), now_s=0.0, time_limit_s=0.0)
    assert caught.value.kind is GitFailure.TIMED_OUT


def test_cancelled_measurement_raises(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(GitError) as caught:
        measure_reachable(request_for(own), git_program(), now_s=0.0, time_limit_s=30.0, cancel=cancel)
    assert caught.value.kind is GitFailure.CANCELLED


def test_nonsense_is_refused_with_a_sentence(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    with pytest.raises(StrategyError, match="has no alternates"):
        measure(request_for(own, OWN, requested=Strategy.UNION))


@pytest.mark.safety
def test_git_that_does_not_stop_talking_costs_no_memory(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    own.commit({"file": "content"})
    script = tmp_path / "talkative-git"
    script.write_text("#!/bin/sh\nexec head -c 1000000000 /dev/zero\n")
    script.chmod(0o755)
    program = GitProgram(path=str(script), version=git_version(), version_text="talkative")
    tracemalloc.start()
    try:
        with pytest.raises(GitError, match="wrote more than"):
            measure_reachable(request_for(own), program, now_s=0.0, time_limit_s=30.0)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 2_000_000


@pytest.mark.oracle
def test_tips_that_count_are_those_that_are_not_excluded(tmp_path: Path) -> None:
    own = GitRepository.init(tmp_path / "own.git")
    kept = own.commit({"file": "kept"})
    own.commit({"file": "left out"}, reference="refs/keep-around/1")
    request = request_for(own, excluded_references=("refs/keep-*",))
    assert counted_tips(request) == {kept}
    assert choose(request, git_program()).strategy is Strategy.BITMAP
