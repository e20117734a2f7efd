"""Plans as scripts: what a shell makes of one is what gitdash makes of the plan."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.planning import plan
from gitdash.maintenance.script import shell_script
from gitdash.maintenance.shell_words import posix_word
from gitdash.model.plan import Plan
from gitdash.model.repository import Role
from gitdash.model.task import Task
from tests.assessment.subjects import REPOSITORY, alternates
from tests.support.maintenance_values import action_facts, finding, held, report
from tests.support.repositories import GIT, GitRepository
from tests.support.task_runs import program, report_of, run

NOW_S = 1_900_000_000.0
SHELLS = [shell for shell in ("/bin/sh", "/bin/bash", "/bin/dash", "/bin/ksh") if Path(shell).exists()]
TASKS = [
    Task.LOOSE_OBJECTS,
    Task.INCREMENTAL_REPACK,
    Task.GEOMETRIC_REPACK,
    Task.BITMAP,
    Task.ORPHAN_INDEXES,
    Task.PACK_REFS,
    Task.COMMIT_GRAPH,
    Task.VERIFY,
]


def build(path: Path) -> GitRepository:
    repository = GitRepository.init(path)
    for number in range(4):
        repository.commit({"a": f"{number}\n"})
        repository.git("repack", "-d", "-q", "--no-write-bitmap-index")
    repository.commit({"b": "1"})
    repository.blob(b"unreachable")
    orphan = repository.git_dir / f"objects/pack/pack-{'1' * 40}.idx"
    orphan.write_bytes(repository.packs()[0].with_suffix(".idx").read_bytes())
    return repository


def plan_of(repository: GitRepository, tasks: Sequence[Task]) -> Plan:
    made = report_of(repository)
    return plan(made, read_facts(made, program=program(), now_s=NOW_S), tasks)


def run_script(script: str, shell: str = "/bin/sh") -> subprocess.CompletedProcess[str]:
    # what a person's shell has set must not change what git does
    environment = {"PATH": os.environ["PATH"], "GIT_OBJECT_DIRECTORY": "/nowhere", "GIT_CONFIG_COUNT": "x"}
    data = script.encode("utf-8", "surrogateescape")
    finished = subprocess.run([shell, "-s"], input=data, capture_output=True, check=False, env=environment)
    return subprocess.CompletedProcess(
        finished.args, finished.returncode, finished.stdout.decode("latin-1"), finished.stderr.decode("latin-1")
    )


def state(repository: GitRepository) -> dict[str, object]:
    """What a task is to bring about, without names that depend on how packs came out."""
    facts = report_of(repository).inspection
    return {
        "objects": repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"),
        "references": repository.git("for-each-ref"),
        "loose references": facts.references.loose_count,
        "loose objects": facts.loose.count,
        "packs": sorted((pack.object_count, pack.cruft, pack.in_multi_pack_index) for pack in facts.packs.packs),
        "bitmaps": [(bitmap.source, bitmap.lookup_table, bitmap.hash_cache) for bitmap in facts.bitmaps],
        "commit-graph": facts.commit_graph and (facts.commit_graph.commit_count, facts.commit_graph.bloom_filters),
        "orphans": facts.packs.orphan_index_names,
        "locks": facts.locks,
    }


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    return build(tmp_path_factory.mktemp("script") / "template.git")


def copies(template: GitRepository, folder: Path, *names: str) -> list[GitRepository]:
    return [GitRepository(Path(shutil.copytree(template.path, folder / name))) for name in names]


@pytest.mark.oracle
@pytest.mark.parametrize("task", TASKS)
def test_script_does_what_a_direct_run_does(tmp_path: Path, template: GitRepository, task: Task) -> None:
    by_script, direct = copies(template, tmp_path, "it's a $HOME `x`.git", "direct.git")
    finished = run_script(shell_script([plan_of(by_script, [task])], git=GIT))
    assert finished.returncode == 0, finished.stderr
    run(direct, task)
    assert state(by_script) == state(direct)


def test_script_says_what_it_does_and_no_more(tmp_path: Path, template: GitRepository) -> None:
    (repository,) = copies(template, tmp_path, "a.git")
    plan = plan_of(repository, [Task.LOOSE_OBJECTS, Task.PACK_REFS])
    said = run_script(shell_script([plan], git=GIT)).stdout.splitlines()
    assert said == [
        os.fspath(repository.path),
        *(f"  {planned.task}: {step.does}" for planned in plan.runnable for step in planned.steps),
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("shell", SHELLS)
def test_script_of_several_tasks_runs_in_every_shell(tmp_path: Path, template: GitRepository, shell: str) -> None:
    by_script, direct = copies(template, tmp_path, "by_script.git", "direct.git")
    assert run_script(shell_script([plan_of(by_script, TASKS)], git=GIT), shell).returncode == 0
    for planned in plan_of(direct, TASKS).runnable:
        run(direct, planned.task)
    assert state(by_script) == state(direct)


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "name", [b"caf\xe9.git", b"a\nb.git", b"\x1b[31m.git", "a\u202eb.git".encode(), b"-rf %s \\0.git"]
)
def test_script_finds_repositories_of_any_name_and_is_printable(
    tmp_path: Path, template: GitRepository, shell: str, name: bytes
) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    repository = GitRepository(Path(shutil.copytree(template.path, path)))
    script = shell_script([plan_of(repository, [Task.LOOSE_OBJECTS, Task.MULTI_PACK_INDEX])], git=GIT)
    assert all(line.isprintable() for line in script.splitlines())
    assert run_script(script, shell).returncode == 0
    assert repository.git("count-objects") == "0 objects, 0 kilobytes"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("path", [b"/a\n", b"/\x01\\0101'\"$x", bytes(range(1, 256)) + b"/x"])
def test_word_of_a_script_is_the_path(shell: str, path: bytes) -> None:
    echoed = subprocess.run([shell, "-c", f"printf %s {posix_word(path)}"], capture_output=True, check=True)
    assert os.path.normpath(echoed.stdout) == os.path.normpath(path)


@pytest.mark.oracle
@pytest.mark.safety
def test_script_passes_by_a_repository_whose_lock_is_held(tmp_path: Path, template: GitRepository) -> None:
    locked, free = copies(template, tmp_path, "locked.git", "free.git")
    script = shell_script([plan_of(each, [Task.LOOSE_OBJECTS]) for each in (locked, free)], git=GIT)
    lock = locked.git_dir / "objects/maintenance.lock"
    lock.write_text("")
    finished = run_script(script)
    assert finished.returncode == 1
    assert finished.stderr == f"skipped: {lock} is held, or cannot be made\n"
    assert lock.exists()
    assert report_of(locked).inspection.loose.count > 0
    assert report_of(free).inspection.loose.count == 0


@pytest.mark.oracle
def test_script_that_only_checks_waits_for_no_lock(tmp_path: Path, template: GitRepository) -> None:
    (locked,) = copies(template, tmp_path, "locked.git")
    script = shell_script([plan_of(locked, [Task.VERIFY])], git=GIT)
    (locked.git_dir / "objects/maintenance.lock").write_text("")
    finished = run_script(script)
    assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.safety
def test_script_passes_by_a_repository_in_which_a_gc_runs(tmp_path: Path, template: GitRepository) -> None:
    (repository,) = copies(template, tmp_path, "a.git")
    script = shell_script([plan_of(repository, [Task.PACK_REFS])], git=GIT)
    gc_pid = repository.git_dir / "gc.pid"
    gc_pid.write_text("1 elsewhere\n")
    finished = run_script(script)
    assert (finished.returncode, finished.stderr) == (1, f"skipped: {gc_pid} is there\n")
    os.utime(gc_pid, (1, 1))
    assert run_script(script).returncode == 0


@pytest.mark.oracle
@pytest.mark.safety
@pytest.mark.parametrize("task", [Task.FULL_REPACK, Task.GEOMETRIC_REPACK])
def test_script_of_a_repository_that_borrows_by_now_gives_up_none_of_its_own_copies(
    task: Task, tmp_path: Path, template: GitRepository
) -> None:
    member, lender = copies(template, tmp_path, "member.git", "lender.git")
    lender.repack()
    script = shell_script([plan_of(member, [task])], git=GIT)
    member.borrow_from(lender)
    finished = run_script(script)
    assert finished.returncode == 1
    assert "borrows objects, and did not when this was written" in finished.stderr
    (member.git_dir / "objects/info/alternates").unlink()
    member.git("fsck", "--connectivity-only")


@pytest.mark.oracle
@pytest.mark.safety
def test_script_stops_a_repository_at_the_first_failure_and_gives_its_lock_back(
    tmp_path: Path, template: GitRepository
) -> None:
    broken, free = copies(template, tmp_path, "broken.git", "free.git")
    script = shell_script([plan_of(each, [Task.FULL_REPACK, Task.PACK_REFS]) for each in (broken, free)], git=GIT)
    (broken.git_dir / "refs/heads/bad").write_text("0" * 39 + "1\n")
    finished = run_script(script)
    assert finished.returncode == 1
    assert not (broken.git_dir / "objects/maintenance.lock").exists()
    assert not (broken.git_dir / "packed-refs").exists()
    assert (free.git_dir / "packed-refs").exists()


@pytest.mark.oracle
def test_script_mends_a_multi_pack_index_that_does_not_verify(tmp_path: Path, template: GitRepository) -> None:
    (repository,) = copies(template, tmp_path, "a.git")
    repository.git("multi-pack-index", "write")
    script = shell_script([plan_of(repository, [Task.MULTI_PACK_INDEX])], git=GIT)
    path = repository.git_dir / "objects/pack/multi-pack-index"
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[-25] ^= 0xFF
    path.write_bytes(data)
    assert run_script(script).returncode == 0
    repository.git("multi-pack-index", "verify")


def test_refused_tasks_are_comments_with_their_reason() -> None:
    case = report(findings=(finding("loose-objects"),))
    script = shell_script([plan(case, action_facts(maintenance_lock=held()))])
    assert "# -- loose-objects is refused: objects/maintenance.lock, held by PID 4711 since " in script
    assert "call --git-dir" not in script


@pytest.mark.safety
def test_what_only_gitdash_can_check_is_no_part_of_a_script() -> None:
    member = report(roles=(Role.MEMBER,), alternates=alternates())
    made = plan(member, action_facts(), [Task.DEDUPLICATE, Task.UNLINK, Task.SWEEP])
    assert len(made.runnable) == 3
    script = shell_script([made])
    assert "call --git-dir" not in script
    for task in ("deduplicate", "unlink", "sweep"):
        assert f"gitdash maintain --task {task}" in script


@pytest.mark.safety
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", [b"a.git", b"it's $(touch PWNED) \\n.git", b"\xff\x1b[2J\n`touch PWNED`.git"])
def test_script_says_what_it_leaves_out_with_the_whole_command_and_ends_with_1(
    shell: str, name: bytes, tmp_path: Path
) -> None:
    path = os.fsencode(tmp_path) + b"/" + name
    left_out = report(msgspec.structs.replace(REPOSITORY, path=path, common_dir=path))
    finished = run_script(shell_script([plan(left_out, action_facts(), [Task.SWEEP])]), shell)
    assert finished.returncode == 1
    assert list(tmp_path.iterdir()) == []
    (line,) = finished.stderr.splitlines()
    assert line.isprintable()
    command = line.partition(": ")[2].partition(": ")[2]
    if shell_understands_ansi_c_quotes(shell):
        told = subprocess.run(
            [shell, "-c", f"set -- {command}; printf '%s\\0' \"$@\""], capture_output=True, check=True
        ).stdout.split(b"\0")[:-1]
        assert told == [b"gitdash", b"maintain", b"--task", b"sweep", path]


def shell_understands_ansi_c_quotes(shell: str) -> bool:
    return subprocess.run([shell, "-c", r"printf %s $'\x61'"], capture_output=True, check=True).stdout == b"a"


@pytest.mark.safety
def test_texts_of_a_repository_cannot_leave_their_comment() -> None:
    evil = "x\nrm -rf /\r\x1b[2J"
    case = report(msgspec.structs.replace(REPOSITORY, path=b"/srv/a\nrm -rf /"), findings=(finding("pack-refs", evil),))
    lines = shell_script([plan(case, action_facts())]).splitlines()
    assert not any(line.lstrip().startswith("rm -rf /") for line in lines)
    assert all(line.isprintable() for line in lines)


@pytest.mark.safety
def test_no_script_drops_an_object(tmp_path: Path) -> None:
    """Nobody types a name into one, and somebody may borrow by the time at which it is run."""
    script = shell_script([plan(report(), action_facts(), [Task.RECLAIM])])
    assert "call --git-dir" not in script
    assert "left out" in script
    assert "gitdash maintain --task reclaim" in script
