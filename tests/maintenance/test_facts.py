"""What is read before anything is done: each fact is there when it is, and not when it is not."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from gitdash.gitcmd.git_error import GitError
from gitdash.maintenance.action_facts import ActionFacts
from gitdash.maintenance.facts import git_says_of_tasks, read_facts
from gitdash.maintenance.lock import own_content
from gitdash.maintenance.refusals import refusals_of
from gitdash.model.task import Task
from tests.support.meanwhile import Meanwhile
from tests.support.repositories import GitRepository, git_version
from tests.support.task_runs import program, report_of


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "a.git")
    made.commit({"a": "1"})
    return made


def facts_of(
    repository: GitRepository, *, now_s: float | None = None, cancel: threading.Event | None = None
) -> ActionFacts:
    now_s = time.time() if now_s is None else now_s
    return read_facts(report_of(repository), program=program(), now_s=now_s, cancel=cancel)


def test_nothing_speaks_against_a_quiet_repository(repository: GitRepository) -> None:
    facts = facts_of(repository)
    assert (facts.pause, facts.operations, facts.maintenance_lock, facts.gc_pid, facts.live_locks) == (
        None, (), None, None, (),
    )  # fmt: skip
    assert (facts.is_mounted_read_only, facts.objects_is_link, facts.broken_references) == (False, False, None)
    assert facts.owner_uid == facts.effective_uid == os.geteuid()
    assert facts.git_version == program().version


def test_free_space_is_that_of_the_volume(repository: GitRepository) -> None:
    volume = os.statvfs(repository.path)
    free_bytes = facts_of(repository).free_bytes
    # others write to the volume meanwhile
    assert free_bytes == pytest.approx(volume.f_bavail * volume.f_frsize, rel=0.2)


def test_read_only_mount_is_seen(repository: GitRepository) -> None:
    read_only = next(
        (
            fields[1]
            for fields in (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
            if "ro" in fields[3].split(",") and os.path.isdir(fields[1]) and os.access(fields[1], os.X_OK)
        ),
        None,
    )
    if read_only is None:
        pytest.skip("no file system is mounted read-only")
    (repository.git_dir / "objects").rename(repository.path / "elsewhere")
    report = report_of_with_link(repository, read_only)
    assert read_facts(report, program=program(), now_s=time.time()).is_mounted_read_only


def report_of_with_link(repository: GitRepository, target: str):
    (repository.path / "elsewhere").rename(repository.git_dir / "objects")
    report = report_of(repository)
    (repository.git_dir / "objects").rename(repository.path / "elsewhere")
    (repository.git_dir / "objects").symlink_to(target)
    return report


def test_object_store_behind_a_link_is_seen(repository: GitRepository, tmp_path: Path) -> None:
    (repository.git_dir / "objects").rename(tmp_path / "store")
    (repository.git_dir / "objects").symlink_to(tmp_path / "store")
    assert facts_of(repository).objects_is_link


@pytest.mark.parametrize(
    ("text", "is_paused"),
    [
        ("[gitdash]\n\tpause = true\n", True),
        ("[gitdash]\n\tpause\n", True),
        ("[gitdash]\n\tpause = until Monday\n", True),
        ("[GitDash]\n\tPause = 1\n", True),
        ("[gitdash]\n\tpause = false\n", False),
        ("[gitdash]\n\tpause = true\n\tpause = no\n", False),
        ('[gitdash "x"]\n\tpause = true\n', False),
        ("[other]\n\tpause = true\n", False),
    ],
)
def test_pause_in_the_config(repository: GitRepository, text: str, is_paused: bool) -> None:
    with (repository.git_dir / "config").open("a") as config:
        config.write(text)
    assert facts_of(repository).pause == ("gitdash.pause in its config" if is_paused else None)


def test_pause_in_an_included_file_counts(repository: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "more").write_text("[gitdash]\n\tpause = true\n")
    repository.git("config", "include.path", os.fspath(tmp_path / "more"))
    assert facts_of(repository).pause == "gitdash.pause in its config"


def test_pause_by_a_file_of_any_kind(repository: GitRepository) -> None:
    (repository.git_dir / "gitdash.pause").symlink_to("/nowhere")
    assert facts_of(repository).pause == "the file gitdash.pause"


@pytest.mark.safety
@pytest.mark.parametrize(
    "place",
    [
        "info/attributes",
        "info/grafts",
        "packed-refs",
        "index",
        "refs/heads/x",
        "logs/refs/heads/x",
        "worktrees/w/HEAD",
        "worktrees/w/index",
        "worktrees/w/gitdir",
        "worktrees/w/logs/HEAD",
        "objects/pack/pack-x.pack",
        "objects/info/commit-graph",
        "included",
    ],
)
def test_git_is_not_asked_where_it_would_wait_for_a_fifo(repository: GitRepository, place: str) -> None:
    report = report_of(repository)
    path = repository.git_dir / place
    path.parent.mkdir(exist_ok=True, parents=True)
    os.mkfifo(path)
    if place == "included":
        repository.git("config", "--file", "config", "include.path", "included")
    started_s = time.monotonic()
    facts = read_facts(report, program=program(), now_s=time.time())
    assert time.monotonic() - started_s < 5
    assert facts.irregular_file is not None
    assert place in facts.irregular_file
    assert git_says_of_tasks(report, facts, program=program()) == ()


@pytest.mark.safety
def test_fifo_in_a_lender_counts(repository: GitRepository, tmp_path: Path) -> None:
    member = GitRepository.init(tmp_path / "member.git")
    member.borrow_from(repository)
    assert facts_of(member).irregular_file is None
    report = report_of(member)
    os.mkfifo(repository.git_dir / "objects/pack/pack-x.pack")
    assert "pack-x.pack is a FIFO" in (read_facts(report, program=program(), now_s=0.0).irregular_file or "")


def test_cancelled_reading_ends_with_the_error_of_git(repository: GitRepository) -> None:
    report = report_of(repository)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(GitError):
        read_facts(report, program=program(), now_s=time.time(), cancel=cancel)


STATES = [
    "rebase-merge/",
    "rebase-apply/",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "NOTES_MERGE_PARTIAL",
    "MERGE_AUTOSTASH",
]


@pytest.fixture
def clone(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "clone", bare=False)
    made.commit({"a": "1"})
    made.git("worktree", "add", "-q", os.fspath(tmp_path / "linked"), "-b", "linked")
    return made


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("folder", [".git", ".git/worktrees/linked"])
def test_operation_in_any_work_tree_is_seen(clone: GitRepository, state: str, folder: str) -> None:
    path = clone.path / folder / state
    if state.endswith("/"):
        path.mkdir()
    else:
        path.write_text("")
    (operation,) = facts_of(clone).operations
    assert ("work tree linked" in operation) == folder.endswith("linked")
    assert [refusal.rule for refusal in refusals_of(Task.PACK_REFS, report_of(clone), facts_of(clone))] == [
        "operation-in-progress"
    ]


def started_in_reftables(path: Path, folder: Path, operation: tuple[str, ...]) -> GitRepository:
    """Make a clone with reftables and a linked work tree, and begin in a folder of one what meets a conflict."""
    made = GitRepository.init(path / "clone", bare=False, reference_backend="reftable")
    made.commit({"a": "1"})
    made.commit({"a": "theirs"}, reference="refs/heads/other", parents=[made.git("rev-parse", "main")])
    made.commit({"a": "ours"})
    made.git("reset", "-q", "--hard", "main")
    made.git("worktree", "add", "-q", "--detach", os.fspath(path / "linked"), "main")
    for name in ("commits", "theirs"):
        made.git("notes", f"--ref={name}", "add", "-m", name, "main")
    made.git("-C", folder, *operation, check=False)
    return made


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.skipif(git_version() < (2, 45), reason="reftables came with git 2.45")
@pytest.mark.parametrize("folder", ["clone", "linked"])
@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (("cherry-pick", "other"), "a cherry-pick"),
        (("revert", "main^"), "a revert"),
        (("notes", "merge", "theirs"), "a merge of notes"),
    ],
)
def test_operation_whose_reference_is_in_a_table_is_seen(
    operation: tuple[str, ...], said: str, folder: str, tmp_path: Path
) -> None:
    made = started_in_reftables(tmp_path, tmp_path / folder, operation)
    where = " in the work tree linked" if folder == "linked" else ""
    assert facts_of(made).operations == (f"{said} is in progress{where}",)
    for task in (Task.FULL_REPACK, Task.RECLAIM):
        rules = [refusal.rule for refusal in refusals_of(task, report_of(made), facts_of(made))]
        assert "operation-in-progress" in rules


@pytest.mark.safety
@pytest.mark.skipif(git_version() < (2, 45), reason="reftables came with git 2.45")
def test_work_tree_whose_table_cannot_be_asked_may_be_in_the_middle_of_something(tmp_path: Path) -> None:
    made = started_in_reftables(tmp_path, tmp_path / "clone", ("status",))
    assert facts_of(made).operations == ()
    folder = made.git_dir / "worktrees" / "linked"
    (folder / "commondir").write_text(f"{tmp_path}\n")
    (said,) = facts_of(made).operations
    assert said == (
        "nobody can say whether an operation is in progress in the work tree linked: it is not one of this repository"
    )
    (folder / "commondir").write_text("../..\n")
    (folder / "reftable" / "tables.list").write_text("gone.ref\n")
    (said,) = facts_of(made).operations
    assert said == (
        "nobody can say whether an operation is in progress in the work tree linked: reftable/gone.ref is missing"
    )


@pytest.mark.oracle
def test_reference_of_a_linked_work_tree_that_git_prune_does_not_look_at_is_seen(
    clone: GitRepository, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    assert facts_of(clone).worktree_with_references is None
    lost = clone.commit({"b": "2"}, reference="refs/heads/gone")
    clone.git("update-ref", "-d", "refs/heads/gone")
    clone.git("-C", linked, "update-ref", "refs/worktree/keep", lost)
    assert facts_of(clone).worktree_with_references == "linked"
    refused = [refusal.rule for refusal in refusals_of(Task.RECLAIM, report_of(clone), facts_of(clone))]
    assert refused == ["worktree-references"]
    # that is why
    assert clone.git("cat-file", "-t", lost) == "commit"
    clone.git("prune", "--expire=now")
    assert clone.git("cat-file", "-t", lost, check=False) == ""


@pytest.mark.oracle
def test_operations_are_those_that_git_itself_begins(clone: GitRepository) -> None:
    clone.git("checkout", "-q", "-f", "main")
    clone.commit({"a": "theirs"}, reference="refs/heads/other", parents=[clone.git("rev-parse", "main")])
    clone.commit({"a": "ours"})
    clone.git("checkout", "-q", "-f", "main")
    clone.git("merge", "other", check=False)
    assert facts_of(clone).operations == ("a merge is in progress",)
    clone.git("merge", "--abort")
    clone.git("rebase", "other", check=False)
    assert facts_of(clone).operations == ("a rebase is in progress",)
    clone.git("rebase", "--abort")
    clone.commit({"a": "theirs, more"}, reference="refs/heads/more", parents=[clone.git("rev-parse", "other")])
    clone.git("cherry-pick", "other", "more", check=False)
    (clone.path / "a").write_text("both")
    clone.git("commit", "-q", "-a", "-m", "both")
    assert facts_of(clone).operations == ("a cherry-pick or revert of several commits is in progress",)
    clone.git("cherry-pick", "--quit")
    clone.git("bisect", "start")
    assert facts_of(clone).operations == ("a bisect is in progress",)
    clone.git("bisect", "reset")
    assert facts_of(clone).operations == ()


def test_maintenance_lock_of_git_is_somebody_elses(repository: GitRepository) -> None:
    (repository.git_dir / "objects/maintenance.lock").write_text("")
    lock = facts_of(repository).maintenance_lock
    assert lock is not None
    assert (lock.path, lock.holder) == ("objects/maintenance.lock", None)


def test_lock_that_this_process_has_taken_is_no_reason(repository: GitRepository) -> None:
    (repository.git_dir / "objects/maintenance.lock").write_bytes(own_content())
    assert facts_of(repository).maintenance_lock is None


def test_lock_of_a_gitdash_that_is_dead_is_no_reason_and_of_one_that_lives_is(repository: GitRepository) -> None:
    code = "import sys; from gitdash.maintenance.lock import own_content; sys.stdout.buffer.write(own_content())"
    process = subprocess.Popen(
        [sys.executable, "-c", code + "; sys.stdout.flush(); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    content = process.stdout.readline()
    lock = repository.git_dir / "objects/maintenance.lock"
    lock.write_bytes(content)
    held = facts_of(repository).maintenance_lock
    process.communicate()
    assert held is not None
    assert held.holder == f"gitdash, PID {process.pid} on {os.uname().nodename}"
    assert facts_of(repository).maintenance_lock is None


@pytest.mark.safety
def test_lock_that_is_no_file_is_held(repository: GitRepository) -> None:
    os.mkfifo(repository.git_dir / "objects/maintenance.lock")
    lock = facts_of(repository).maintenance_lock
    assert lock is not None
    assert lock.holder == "a FIFO, not a regular file"


HOUR_S = 3_600.0


@pytest.mark.parametrize(
    ("content", "age_s", "holder"),
    [
        ("{pid} {host}", 0.0, "PID {pid}"),
        ("{pid} {host}", 12 * HOUR_S - 60, "PID {pid}"),
        ("{pid} {host}", 12 * HOUR_S, None),
        # more than any process has
        ("4194305 {host}", 0.0, None),
        ("17 another-host", 0.0, "a process on another-host"),
        ("17 another-host", 12 * HOUR_S, None),
    ],
)
def test_gc_pid_counts_as_long_as_git_honours_it(
    repository: GitRepository, content: str, age_s: float, holder: str | None
) -> None:
    path = repository.git_dir / "gc.pid"
    here = {"pid": os.getpid(), "host": os.uname().nodename}
    path.write_text(content.format_map(here))
    now_s = time.time()
    repository.age(path, age_s, now_s)
    gc_pid = facts_of(repository, now_s=now_s).gc_pid
    assert (gc_pid.holder if gc_pid else None) == (holder and holder.format_map(here))


@pytest.mark.parametrize(
    ("name", "age_s", "is_live"),
    [
        ("packed-refs.lock", HOUR_S - 1, True),
        ("packed-refs.lock", HOUR_S, False),
        ("packed-refs.lock", HOUR_S + 1, False),
        ("config.lock", 15 * 60 - 1, True),
        ("config.lock", 15 * 60, False),
        ("index.lock", 5, True),
        ("objects/pack/multi-pack-index.lock", 5, True),
        ("refs/heads/main.lock", 5, True),
    ],
)
def test_young_lock_is_live_and_an_old_one_is_not(
    repository: GitRepository, name: str, age_s: float, is_live: bool
) -> None:
    path = repository.git_dir / name
    path.write_text("")
    now_s = time.time()
    repository.age(path, age_s, now_s)
    assert [lock.path for lock in facts_of(repository, now_s=now_s).live_locks] == ([name] if is_live else [])


LOCKS = ("packed-refs.lock", "refs/heads/main.lock", "objects/maintenance.lock")


def locks_in(facts: ActionFacts) -> list[str]:
    alone = (facts.maintenance_lock,) if facts.maintenance_lock else ()
    return [lock.path for lock in (*facts.live_locks, *alone)]


@pytest.mark.parametrize("name", LOCKS)
def test_lock_that_is_gone_a_moment_later_is_none(repository: GitRepository, name: str) -> None:
    path = repository.git_dir / name
    path.touch()
    assert locks_in(facts_of(repository, cancel=Meanwhile(lambda: path.unlink(missing_ok=True)))) == []


@pytest.mark.parametrize("name", LOCKS)
def test_lock_of_another_push_a_moment_later_is_none(repository: GitRepository, name: str, tmp_path: Path) -> None:
    """A busy server has one at most moments, each another file."""
    path = repository.git_dir / name
    path.touch()

    def push_again() -> None:
        (tmp_path / "next").touch()
        (tmp_path / "next").rename(path)

    assert locks_in(facts_of(repository, cancel=Meanwhile(push_again))) == []


@pytest.mark.parametrize("name", LOCKS)
def test_lock_that_is_being_written_is_the_same(repository: GitRepository, name: str) -> None:
    path = repository.git_dir / name
    path.touch()

    def write() -> None:
        with path.open("a") as file:
            file.write("another line of many")

    assert locks_in(facts_of(repository, cancel=Meanwhile(write))) == [name]


@pytest.mark.safety
def test_lock_whose_name_does_not_print_is_not_passed_by(repository: GitRepository) -> None:
    (repository.git_dir / os.fsdecode(b"refs/heads/\xff.lock")).touch()
    assert len(facts_of(repository).live_locks) == 1


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock"])
def test_commit_in_a_linked_work_tree_is_seen_from_the_main_one(clone: GitRepository, name: str) -> None:
    (clone.git_dir / "worktrees/linked" / name).write_text("")
    assert [lock.path for lock in facts_of(clone).live_locks] == [f"worktrees/linked/{name}"]


@pytest.mark.skipif(
    os.stat("/dev/shm").st_dev == os.stat("/tmp").st_dev, reason="needs a second file system"
)  # fmt: skip
def test_lender_on_another_file_system_is_what_leaving_it_copies(repository: GitRepository) -> None:
    member = GitRepository.init(repository.path.parent / "member.git")
    member.borrow_from(repository)
    assert facts_of(member).lent_bytes_elsewhere == 0
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        lender = GitRepository.init(Path(folder) / "lender.git")
        lender.blob(b"x" * 100)
        lender.repack()
        lender.commit({"a": "1"})
        lender.repack()
        lender.blob(b"y" * 100)
        member.borrow_from(lender)
        files = [
            path for path in (lender.git_dir / "objects").rglob("*") if path.is_file() and path.parent.name != "info"
        ]
        assert facts_of(member).lent_bytes_elsewhere == sum(path.stat().st_size for path in files) > 0


@pytest.mark.oracle
@pytest.mark.parametrize("value", ["", "nonsense\n", "0" * 39 + "1\n"])
def test_reference_that_leads_nowhere_is_seen(repository: GitRepository, value: str) -> None:
    (repository.git_dir / "refs/heads/bad").write_text(value)
    assert "refs/heads/bad" in (facts_of(repository).broken_references or "")


@pytest.mark.oracle
def test_damaged_commit_graph_and_multi_pack_index_do_not_count_as_broken_references(repository: GitRepository) -> None:
    repository.git("commit-graph", "write", "--reachable", "--split")
    (layer,) = (repository.git_dir / "objects/info/commit-graphs").glob("*.graph")
    layer.unlink()
    repository.repack()
    repository.git("multi-pack-index", "write")
    index = repository.git_dir / "objects/pack/multi-pack-index"
    index.chmod(0o644)
    index.write_bytes(index.read_bytes()[:40])
    report = report_of(repository)
    facts = read_facts(report, program=program(), now_s=time.time())
    assert facts.broken_references is None
    assert refusals_of(Task.COMMIT_GRAPH, report, facts) == refusals_of(Task.MULTI_PACK_INDEX, report, facts) == ()


def test_git_says_nothing_of_references_that_are_whole(repository: GitRepository) -> None:
    repository.git("update-ref", "refs/heads/blob", repository.blob(b"x"), check=False)
    repository.git("update-ref", "refs/tags/blob", repository.blob(b"x"))
    repository.git("tag", "-a", "-m", "x", "annotated", "main")
    assert facts_of(repository).broken_references is None


def said_of(repository: GitRepository) -> dict[Task, bool]:
    return dict(git_says_of_tasks(report_of(repository), facts_of(repository), program=program()))


@pytest.mark.oracle
@pytest.mark.skipif(git_version() < (2, 53), reason="is-needed came with git 2.53")
def test_answer_of_git_is_read(repository: GitRepository) -> None:
    answers = said_of(repository)
    assert set(answers) == {
        Task.LOOSE_OBJECTS, Task.INCREMENTAL_REPACK, Task.GEOMETRIC_REPACK, Task.COMMIT_GRAPH, Task.PACK_REFS,
    }  # fmt: skip
    assert answers[Task.LOOSE_OBJECTS] is False
    for number in range(101):
        repository.blob(str(number).encode())
    assert said_of(repository)[Task.LOOSE_OBJECTS] is True


@pytest.mark.skipif(git_version() >= (2, 53), reason="is-needed came with git 2.53")
def test_older_git_has_no_answer(repository: GitRepository) -> None:
    assert said_of(repository) == {}
