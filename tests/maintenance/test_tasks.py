"""Every task for real: it does what it is for, and no object is gone afterwards, here or where it is borrowed."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.planning import plan
from gitdash.maintenance.tasks import ALLOWED_IN_LENDER
from gitdash.model.ledger import Outcome
from gitdash.model.task import Task
from tests.support.repositories import GitRepository, git_version
from tests.support.task_runs import program, report_of, run

NOW_S = 1_900_000_000.0
FORTY_DAYS_S = 40 * 86_400.0


def age_everything(repository: GitRepository) -> None:
    """Make every object file older than all grace periods."""
    for folder, _, names in os.walk(repository.git_dir / "objects"):
        for name in names:
            path = Path(folder) / name
            repository.age(path, FORTY_DAYS_S, path.lstat().st_mtime)


def objects(repository: GitRepository) -> set[str]:
    """Every object that git can see here, reachable or not, lenders included."""
    lines = repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    return {line for line in lines if not line.endswith("missing")}


def fill(repository: GitRepository) -> None:
    """Packs of several sizes, a cruft pack, loose and unreachable objects, branches and a tag."""
    for number in range(4):
        repository.commit({"a": f"{number}\n" * 50, f"f{number}": "x"})
        repository.git("repack", "-d", "-q")
    repository.git("branch", "gone")
    repository.commit({"lost": "y"}, reference="refs/heads/gone")
    repository.git("branch", "-D", "gone")
    repository.git("repack", "--cruft", "--cruft-expiration=never", "-d", "-q", "--no-write-bitmap-index")
    for number in range(5):
        repository.commit({"b": str(number)})
        repository.git("repack", "-d", "-q")
    repository.commit({"c": "1"}, reference="refs/heads/topic")
    repository.blob(b"unreachable and loose")
    repository.git("tag", "-a", "-m", "a tag", "v1", "main")
    age_everything(repository)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    made = GitRepository.init(tmp_path_factory.mktemp("one") / "template.git")
    fill(made)
    return made


@pytest.fixture
def repository(tmp_path: Path, template: GitRepository) -> GitRepository:
    path = tmp_path / "it's $HOME.git"
    shutil.copytree(template.path, path)
    return GitRepository(path, clock_s=template.clock_s)


@pytest.fixture(scope="module")
def pool_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepository, GitRepository]:
    """A pool that has forgotten a branch, and a member that still needs it."""
    folder = tmp_path_factory.mktemp("family")
    lender = GitRepository.init(folder / "pool.git")
    fill(lender)
    member = GitRepository.init(folder / "member.git")
    member.borrow_from(lender, relative=True)
    member.git("update-ref", "refs/heads/main", lender.git("rev-parse", "main"))
    member.git("update-ref", "refs/heads/keep", lender.git("rev-parse", "topic"))
    lender.git("update-ref", "-d", "refs/heads/topic")
    member.clock_s = lender.clock_s
    for number in range(3):
        member.commit({"own": str(number)})
        member.git("repack", "-d", "-l", "-q")
    member.commit({"own": "loose"})
    member.blob(b"unreachable in the member")
    # the lender packs what the member has loose, and may drop it later
    lender.git("fetch", "--no-auto-maintenance", "-q", os.fspath(member.path), "main:refs/heads/of-member")
    lender.git("repack", "-d", "-q")
    age_everything(lender)
    age_everything(member)
    return lender, member


@pytest.fixture
def pool(tmp_path: Path, pool_template: tuple[GitRepository, GitRepository]) -> Iterator[tuple[GitRepository, ...]]:
    """A copy of it, and a look at both afterwards."""
    shutil.copytree(pool_template[0].path.parent, tmp_path / "family")
    pair = tuple(GitRepository(tmp_path / "family" / each.path.name, clock_s=each.clock_s) for each in pool_template)
    yield pair
    for each in pair:
        each.git("fsck", "--connectivity-only")


KEEPING = [task for task in Task if task not in {Task.RECLAIM, Task.DEDUPLICATE, Task.UNLINK, Task.INDEX_PACK}]


@pytest.mark.oracle
@pytest.mark.parametrize("task", KEEPING)
def test_no_object_is_gone_afterwards(repository: GitRepository, task: Task) -> None:
    before = objects(repository)
    result = run(repository, task)
    assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, result.sentence
    assert objects(repository) == before
    repository.git("fsck", "--strict")


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("task", sorted(ALLOWED_IN_LENDER - {Task.INDEX_PACK}))
def test_borrowers_have_all_their_objects_after_any_task_in_their_pool(pool, task: Task) -> None:
    lender, member = pool
    before = objects(lender), objects(member)
    result = run(lender, task, borrowers=[member])
    assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, result.sentence
    assert (objects(lender), objects(member)) == before


@pytest.mark.safety
def test_what_takes_objects_out_of_a_store_is_not_allowed_in_a_lender() -> None:
    # what `git prune`, `repack -a -d -l` and leaving one's lenders do to it: the other tests go by the list itself
    assert set(Task) - ALLOWED_IN_LENDER == {Task.RECLAIM, Task.DEDUPLICATE, Task.UNLINK}


MEMBER_TASKS = [
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.MULTI_PACK_INDEX,
    Task.COMMIT_GRAPH,
    Task.PACK_REFS,
    Task.SWEEP,
    Task.ORPHAN_INDEXES,
    Task.VERIFY,
]


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("task", MEMBER_TASKS)
def test_member_keeps_what_only_the_lender_would_have(pool, task: Task) -> None:
    _, member = pool
    before = own_objects(member)
    result = run(member, task)
    assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, result.sentence
    assert own_objects(member) == before


def own_objects(member: GitRepository) -> set[str]:
    """Every object in the member's own store: the alternates file is out of the way meanwhile."""
    alternates = member.git_dir / "objects/info/alternates"
    aside = alternates.with_name("aside")
    alternates.rename(aside)
    try:
        return objects(member)
    finally:
        aside.rename(alternates)


@pytest.mark.oracle
@pytest.mark.safety
def test_geometric_repack_would_take_own_copies_from_a_member_or_copy_all_and_is_refused(pool) -> None:
    _, member = pool
    report = report_of(member)
    facts = read_facts(report, program=program(), now_s=NOW_S)
    planned = {task.task: task for task in plan(report, facts, list(Task)).tasks}
    assert [refusal.rule for refusal in planned[Task.GEOMETRIC_REPACK].refusals] == ["borrows-objects"]
    before = own_objects(member)
    step = planned[Task.GEOMETRIC_REPACK].steps[-1]
    assert "-l" not in step.arguments
    other = GitRepository(Path(shutil.copytree(member.path, member.path.parent / "other.git")))
    member.git(*step.arguments)
    assert own_objects(member) > before
    other.git(*step.arguments, "-l")
    assert own_objects(other) < before


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("task", [Task.FULL_REPACK, Task.RECLAIM])
def test_what_is_refused_in_a_member_would_copy_all_that_it_borrows_and_needs(pool, task: Task) -> None:
    """Which is what the refusal says, and no object of its own would be lost."""
    _, member = pool
    report = report_of(member)
    facts = read_facts(report, program=program(), now_s=NOW_S)
    (planned,) = plan(report, facts, [task]).tasks
    assert [refusal.rule for refusal in planned.refusals if "would get a copy" in refusal.reason] == ["borrows-objects"]
    before = {line.split()[0] for line in own_objects(member)}
    needed = set(member.git("rev-list", "--objects", "--no-object-names", "--all").split())
    assert not needed <= before
    (step,) = (step for step in planned.steps if step.arguments[:1] == ("repack",))
    member.git(*step.arguments)
    assert needed <= {line.split()[0] for line in own_objects(member)}


@pytest.mark.oracle
@pytest.mark.parametrize("task", [Task.LOOSE_OBJECTS, Task.GEOMETRIC_REPACK, Task.FULL_REPACK, Task.MULTI_PACK_BITMAP])
def test_no_object_of_sha256_is_gone_afterwards(tmp_path: Path, task: Task) -> None:
    repository = GitRepository.init(tmp_path / "sha256.git", object_format="sha256")
    repository.commit({"a": "1"})
    repository.git("repack", "-d", "-q")
    repository.commit({"a": "2"})
    repository.blob(b"unreachable")
    before = objects(repository)
    assert run(repository, task).outcome is Outcome.DONE
    assert objects(repository) == before


@pytest.mark.oracle
def test_loose_objects_are_packed(repository: GitRepository) -> None:
    run(repository, Task.LOOSE_OBJECTS)
    assert "count: 0\n" in repository.git("count-objects", "-v")


@pytest.mark.oracle
def test_full_repack_leaves_one_pack_and_a_cruft_pack(repository: GitRepository) -> None:
    run(repository, Task.FULL_REPACK)
    names = [path.name for path in repository.packs()]
    cruft = list((repository.git_dir / "objects/pack").glob("*.mtimes"))
    assert (len(names), len(cruft)) == (2, 1)


@pytest.mark.oracle
def test_kept_pack_stays(repository: GitRepository) -> None:
    kept = repository.packs()[0]
    kept.with_suffix(".keep").write_text("")
    content = kept.read_bytes()
    for task in (Task.INCREMENTAL_REPACK, Task.GEOMETRIC_REPACK, Task.FULL_REPACK, Task.MULTI_PACK_BITMAP):
        assert run(repository, task).outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}
    assert kept.read_bytes() == content


@pytest.mark.oracle
def test_geometric_repack_joins_small_packs(repository: GitRepository) -> None:
    before_count = len(repository.packs())
    run(repository, Task.GEOMETRIC_REPACK)
    assert len(repository.packs()) < before_count
    repository.git("multi-pack-index", "verify")


@pytest.mark.oracle
def test_second_incremental_repack_removes_what_the_first_made_superfluous(repository: GitRepository) -> None:
    first, second = run(repository, Task.INCREMENTAL_REPACK), run(repository, Task.INCREMENTAL_REPACK)
    assert first.outcome is Outcome.DONE
    assert second.removed
    repository.git("multi-pack-index", "verify")


@pytest.mark.oracle
@pytest.mark.parametrize("task", [Task.BITMAP, Task.MULTI_PACK_BITMAP])
def test_bitmap_has_hash_cache_and_lookup_table_and_is_used(repository: GitRepository, task: Task) -> None:
    run(repository, task)
    report = report_of(repository)
    (bitmap,) = report.inspection.bitmaps
    assert (bitmap.hash_cache, bitmap.lookup_table) == (True, True)
    by_bitmap = repository.git("rev-list", "--count", "--objects", "--all", "--use-bitmap-index")
    assert by_bitmap == repository.git("rev-list", "--count", "--objects", "--all")
    repository.git("rev-list", "--test-bitmap", "main")


@pytest.mark.oracle
@pytest.mark.parametrize("task", [Task.MULTI_PACK_BITMAP, Task.GEOMETRIC_REPACK, Task.FULL_REPACK])
def test_one_bitmap_is_left_where_packs_had_one(repository: GitRepository, task: Task) -> None:
    repository.git("repack", "-a", "-d", "-k", "-q", "--write-bitmap-index")
    repository.commit({"more": "1"})
    repository.git("repack", "-d", "-q")
    assert [bitmap.source.value for bitmap in report_of(repository).inspection.bitmaps] == ["pack"]
    assert run(repository, task).outcome is Outcome.DONE
    assert [bitmap.source.value for bitmap in report_of(repository).inspection.bitmaps] == ["multi_pack_index"]


def add_old_branches(repository: GitRepository) -> None:
    """300 branches, old enough for pseudo-merges."""
    tip = repository.git("rev-parse", "main")
    stream = "".join(
        f"commit refs/heads/side{number}\ncommitter C <c@example.com> {1_600_000_000 + number} +0000\n"
        f"data 1\nx\nfrom {tip}\nM 100644 inline side\ndata 3\n{number:03}\n"
        for number in range(300)
    )
    repository.git("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", stdin=stream.encode())


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 46), reason="pseudo-merges came with git 2.46")
@pytest.mark.parametrize("task", [Task.BITMAP, Task.MULTI_PACK_BITMAP, Task.FULL_REPACK])
def test_bitmap_of_a_pool_has_pseudo_merges(pool, task: Task) -> None:
    lender, member = pool
    add_old_branches(lender)
    lender.git("pack-refs", "--all")
    if task is Task.FULL_REPACK:
        lender.git("repack", "-d", "-q", "-a", "-k", "--write-bitmap-index")
    assert run(lender, task, borrowers=[member]).outcome is Outcome.DONE
    assert any(bitmap.pseudo_merges for bitmap in report_of(lender).inspection.bitmaps)


@pytest.mark.oracle
@pytest.mark.parametrize("task", [Task.GEOMETRIC_REPACK, Task.FULL_REPACK, Task.BITMAP, Task.MULTI_PACK_BITMAP])
@pytest.mark.parametrize(
    ("target", "name"),
    [("main:blob", "refs/remotes/x/tags/odd"), ("main:deep", "refs/tags/odd"), ("inner", "refs/x/odd")],
)
def test_reference_that_leads_to_no_commit_keeps_no_pool_from_its_bitmap(
    pool, task: Task, target: str, name: str
) -> None:
    """git dies of it when it makes pseudo-merges: 2.47 with a tag of a blob, 2.47 and 2.55 with one of a tree."""
    lender, member = pool
    add_old_branches(lender)
    lender.commit({"deep/file": "1", "blob": "2"})
    lender.git("tag", "-a", "-m", "inner", "inner", "main:deep")
    lender.git("tag", "-a", "-m", "odd", "odd", target)
    lender.git("update-ref", name, "odd")
    # git takes what a packed tag leads to from there, and does not look at the object
    lender.git("pack-refs", "--all")
    lender.git("repack", "-d", "-q", "-a", "-k", "--write-bitmap-index")
    lender.commit({"more": "1"})
    before = objects(lender)
    assert run(lender, task, borrowers=[member]).outcome is Outcome.DONE
    assert objects(lender) == before
    assert not list(lender.path.rglob("*.lock"))
    lender.git("fsck")
    (bitmap,) = report_of(lender).inspection.bitmaps
    assert not bitmap.pseudo_merges
    lender.git("rev-list", "--test-bitmap", "main")


@pytest.mark.oracle
def test_what_git_remarks_on_a_tag_of_a_blob_is_no_damage(repository: GitRepository) -> None:
    """Git 2.46 says it of whatever is no commit where the repository itself asks for pseudo-merges, and ends with 0."""
    add_old_branches(repository)
    repository.git("config", "bitmapPseudoMerge.own.pattern", "refs/heads/")
    repository.git("tag", "-a", "-m", "odd", "odd", "main:b")
    result = run(repository, Task.MULTI_PACK_BITMAP)
    assert (result.outcome, result.reason) == (Outcome.DONE, None)
    said = "".join(command.stderr for command in result.commands)
    assert ("is a blob, not a commit" in said) == (git_version() >= (2, 46))
    repository.git("fsck")


@pytest.mark.oracle
def test_commit_graph_gets_filters_and_a_second_run_adds_a_layer(repository: GitRepository) -> None:
    run(repository, Task.COMMIT_GRAPH)
    graph = report_of(repository).inspection.commit_graph
    assert (graph.chain_length, graph.bloom_filters, graph.generation_data) == (1, True, True)
    repository.commit({"d": "1"})
    run(repository, Task.COMMIT_GRAPH)
    after = report_of(repository).inspection.commit_graph
    assert after.commit_count == graph.commit_count + 1
    repository.git("commit-graph", "verify")


@pytest.mark.oracle
def test_plan_says_that_a_member_gets_the_lenders_history_into_its_commit_graph(pool) -> None:
    lender, member = pool
    lender.git("commit-graph", "write", "--reachable", "--changed-paths", "--split=replace")
    expected = []
    for _ in range(2):
        report = report_of(member)
        facts = read_facts(report, program=program(), now_s=NOW_S)
        (task,) = plan(report, facts, [Task.COMMIT_GRAPH]).tasks
        expected.append("the lender's commits among it" in task.gain)
        assert run(member, Task.COMMIT_GRAPH).outcome is Outcome.DONE
        member.commit({"own": "later"})
    assert expected == [True, False]
    graph = report_of(member).inspection.commit_graph
    # without the newest, which came after the last run
    assert graph.commit_count == int(member.git("rev-list", "--count", "--all")) - 1
    (layer, *_) = (member.git_dir / "objects/info/commit-graphs/commit-graph-chain").read_text().split()
    assert (member.git_dir / f"objects/info/commit-graphs/graph-{layer}.graph").exists()


def damage(path: Path, place: int = -25) -> None:
    """Break what the checksum at the end covers, and unless `place` lies there, not the header."""
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.oracle
def test_multi_pack_index_that_does_not_verify_is_written_anew(repository: GitRepository) -> None:
    repository.git("multi-pack-index", "write")
    path = repository.git_dir / "objects/pack/multi-pack-index"
    damage(path)
    repository.git("multi-pack-index", "verify", check=False)
    assert run(repository, Task.MULTI_PACK_INDEX).outcome is Outcome.DONE
    repository.git("multi-pack-index", "verify")


@pytest.mark.oracle
def test_multi_pack_index_that_names_an_absent_pack_is_written_anew(repository: GitRepository) -> None:
    repository.git("multi-pack-index", "write")
    index = repository.git_dir / "objects/pack/multi-pack-index"
    old = index.read_bytes()
    repository.git("repack", "-a", "-d", "-k", "-q")
    index.write_bytes(old)
    assert report_of(repository).inspection.multi_pack_index.missing_pack_count > 0
    assert run(repository, Task.MULTI_PACK_INDEX).outcome is Outcome.DONE
    assert report_of(repository).inspection.multi_pack_index.missing_pack_count == 0
    repository.git("multi-pack-index", "verify")


@pytest.mark.oracle
@pytest.mark.parametrize("place", [0, -25], ids=["signature", "content"])
def test_commit_graph_that_is_damaged_is_written_anew_and_said_to_be(repository: GitRepository, place: int) -> None:
    repository.git("commit-graph", "write", "--reachable", "--changed-paths", "--split")
    (layer,) = (repository.git_dir / "objects/info/commit-graphs").glob("*.graph")
    run(repository, Task.COMMIT_GRAPH)
    whole = layer.read_bytes()
    damage(layer, place)
    result = run(repository, Task.COMMIT_GRAPH)
    assert result.outcome is Outcome.DONE
    repository.git("commit-graph", "verify")
    # its name is that of what is in it, and so is the end of the file
    assert layer.read_bytes() == whole
    assert "removed and written anew" in result.sentence
    assert "file removed" not in result.sentence
    assert (result.removed, result.removed_count) == ((), 0)


@pytest.mark.oracle
def test_references_are_packed(repository: GitRepository) -> None:
    before = repository.git("for-each-ref")
    run(repository, Task.PACK_REFS)
    assert report_of(repository).inspection.references.loose_count == 0
    assert repository.git("for-each-ref") == before


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 45), reason="reftables came with git 2.45")
def test_reftables_are_compacted(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "a.git", reference_backend="reftable")
    repository.commit({"a": "1"})
    tip = repository.git("rev-parse", "main")
    for number in range(5):
        repository.git("update-ref", f"refs/heads/b{number}", tip, GIT_TEST_REFTABLE_AUTOCOMPACTION="false")
    before = repository.git("for-each-ref")
    run(repository, Task.PACK_REFS)
    assert len(report_of(repository).inspection.references.reftable_bytes) == 1
    assert repository.git("for-each-ref") == before


@pytest.mark.oracle
def test_pack_gets_its_index_back(repository: GitRepository) -> None:
    before = objects(repository)
    pack = max(repository.packs(), key=lambda path: path.stat().st_size)
    pack.with_suffix(".idx").unlink()
    assert objects(repository) != before
    assert run(repository, Task.INDEX_PACK).outcome is Outcome.DONE
    assert objects(repository) == before


@pytest.mark.oracle
def test_index_without_a_pack_is_removed(repository: GitRepository) -> None:
    orphan = repository.git_dir / f"objects/pack/pack-{'1' * 40}.idx"
    orphan.write_bytes(repository.packs()[0].with_suffix(".idx").read_bytes())
    result = run(repository, Task.ORPHAN_INDEXES)
    assert result.outcome is Outcome.DONE
    assert not orphan.exists()
    assert all(path.with_suffix(".idx").exists() for path in repository.packs())


@pytest.mark.oracle
def test_tasks_come_through_an_empty_repository(tmp_path: Path) -> None:
    empty = GitRepository.init(tmp_path / "empty.git")
    report = report_of(empty)
    facts = read_facts(report, program=program(), now_s=NOW_S)
    ran = []
    for planned in plan(report, facts, [task for task in Task if task is not Task.RECLAIM]).runnable:
        ran.append(planned.task)
        result = run(empty, planned.task)
        assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, (planned.task, result.sentence)
    assert {Task.LOOSE_OBJECTS, Task.FULL_REPACK, Task.COMMIT_GRAPH, Task.PACK_REFS, Task.VERIFY} <= set(ran)


@pytest.fixture
def partial(tmp_path: Path) -> GitRepository:
    """A partial clone with several promisor packs and loose commits of its own."""
    source = GitRepository.init(tmp_path / "source.git")
    source.git("config", "uploadpack.allowFilter", "true")
    for number in range(3):
        source.commit({f"f{number}": str(number)})
    clone = GitRepository(tmp_path / "clone.git")
    url = (tmp_path / "source.git").as_uri()
    source.git("clone", "-q", "--bare", "--filter=blob:none", url, os.fspath(clone.path))
    for number in range(3, 6):
        source.commit({f"f{number}": str(number)})
        clone.git(
            "-c", "fetch.unpackLimit=1", "fetch", "--no-auto-maintenance", "-q", "origin", f"main:refs/heads/b{number}"
        )
    clone.blob(b"an object of its own")
    return clone


def promisor_objects(clone: GitRepository) -> set[str]:
    found: set[str] = set()
    for mark in (clone.git_dir / "objects/pack").glob("*.promisor"):
        lines = clone.git("verify-pack", "-v", os.fspath(mark.with_suffix(".idx"))).splitlines()
        found |= {match.group() for line in lines if (match := re.match(r"[0-9a-f]{40}", line))}
    return found


@pytest.mark.oracle
@pytest.mark.safety
def test_partial_clone_keeps_objects_and_marks_whatever_may_run_there(partial: GitRepository) -> None:
    before = objects(partial), promisor_objects(partial)
    report = report_of(partial)
    facts = read_facts(report, program=program(), now_s=NOW_S)
    ran = []
    for planned in plan(report, facts, [task for task in Task if task is not Task.RECLAIM]).runnable:
        ran.append(planned.task)
        result = run(partial, planned.task)
        assert result.outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}, (planned.task, result.sentence)
        assert (objects(partial), promisor_objects(partial)) == before, planned.task
        partial.git("fsck", "--connectivity-only", GIT_NO_LAZY_FETCH="1")
    assert {Task.LOOSE_OBJECTS, Task.MULTI_PACK_INDEX, Task.COMMIT_GRAPH, Task.PACK_REFS} <= set(ran)
    assert (Task.GEOMETRIC_REPACK in ran) == (git_version() >= (2, 55))


@pytest.mark.oracle
def test_shallow_clone_keeps_its_objects_whatever_may_run_there(tmp_path: Path, repository: GitRepository) -> None:
    clone = GitRepository(tmp_path / "shallow.git")
    repository.git("clone", "-q", "--bare", "--depth=2", repository.path.as_uri(), os.fspath(clone.path))
    before, cut = objects(clone), (clone.git_dir / "shallow").read_bytes()
    report = report_of(clone)
    for planned in plan(report, read_facts(report, program=program(), now_s=NOW_S), list(Task)).runnable:
        assert run(clone, planned.task).outcome in {Outcome.DONE, Outcome.NOTHING_TO_DO}
        assert objects(clone) == before
    assert (clone.git_dir / "shallow").read_bytes() == cut


@pytest.mark.parametrize("task", [Task.GEOMETRIC_REPACK, Task.FULL_REPACK, Task.BITMAP])
@pytest.mark.parametrize("is_served", [False, True])
def test_packs_are_listed_for_a_server_of_files_only_where_they_were(
    tmp_path: Path, task: Task, is_served: bool
) -> None:
    made = GitRepository.init(tmp_path / "made.git")
    for number in range(2):
        made.commit({"a": str(number)})
        made.git("repack", "-d", "-q", "-n")
    if is_served:
        made.git("update-server-info")
    assert run(made, task).outcome is Outcome.DONE
    listed = made.git_dir / "objects" / "info" / "packs"
    assert listed.exists() == (made.git_dir / "info" / "refs").exists() == is_served
    if is_served:
        assert listed.read_text().split() == ["P", made.packs()[0].name]
