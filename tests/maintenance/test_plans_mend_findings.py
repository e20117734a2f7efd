"""The plan of every finding that names a task, run for real: the finding goes, and no object goes with it."""

import os
import threading
import time
from pathlib import Path

import pytest

from gitdash.config.settings import Settings
from gitdash.maintenance.facts import read_facts
from gitdash.maintenance.planning import plan
from gitdash.maintenance.running import run_task
from gitdash.model.ledger import Outcome
from gitdash.model.report import RepositoryReport
from gitdash.survey.single import find_repository, report_single
from tests.demo.conftest import build
from tests.support.repositories import GitRepository
from tests.support.task_runs import program

HELD_BY_A_LIVE_PROCESS = {b"stale-lock", b"gc-that-hangs"}
"""The demo holds these locks open itself."""


def report_at(path: bytes) -> RepositoryReport:
    settings = Settings()
    found = find_repository(path, settings=settings, effective_uid=os.geteuid())
    return report_single(
        found, settings=settings, history=None, program=program(), effective_uid=os.geteuid(), now_s=time.time()
    ).report


def mend(path: bytes) -> list[tuple[str, Outcome]]:
    """Run what may run of the plan that the findings make."""
    report = report_at(path)
    made = plan(report, read_facts(report, program=program(), now_s=time.time()))
    return [
        (
            planned.task.value,
            run_task(
                report,
                planned,
                look=lambda: report_at(path),
                program=program(),
                cancel=threading.Event(),
                on_step=lambda *_: None,
                close_readers=lambda: None,
                warm_readers=lambda: None,
                now_s=time.time(),
            ).outcome,
        )
        for planned in made.runnable
    ]


def objects(path: bytes) -> set[str]:
    lines = GitRepository(Path(os.fsdecode(path))).git("cat-file", "--batch-all-objects", "--batch-check", check=False)
    return {line for line in lines.splitlines() if not line.endswith("missing")}


@pytest.mark.oracle
def test_plans_of_the_demo_fleet_mend_what_they_are_for(tmp_path: Path) -> None:
    root, _ = build(os.fsencode(tmp_path / "demo"))
    folders = [
        os.path.join(root, group, name)
        for group in (b"archives", b"members", b"clones", b"pools")
        for name in sorted(os.listdir(os.path.join(root, group)))
    ]
    mended = set()
    for path in folders:
        name = os.path.basename(path)
        before = objects(path)
        done = [] if name in HELD_BY_A_LIVE_PROCESS else mend(path)
        assert {outcome for _, outcome in done} <= {Outcome.DONE}, (path, done)
        assert before <= objects(path), path
        left = {finding.task for finding in report_at(path).findings}
        assert not left & {task for task, _ in done}, path
        mended |= {task for task, _ in done}
    assert mended == {
        "sweep", "commit-graph", "pack-refs", "orphan-indexes", "geometric-repack", "multi-pack-index",
        "multi-pack-bitmap", "loose-objects", "index-pack", "deduplicate", "bitmap",
    }  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("path", "task"), [("pack/multi-pack-index", "multi-pack-index"), ("info/commit-graph", "commit-graph")]
)
def test_derived_file_that_cannot_be_read_is_written_anew(tmp_path: Path, path: str, task: str) -> None:
    repository = GitRepository.init(tmp_path / "a.git")
    for number in range(5):
        repository.commit({"a": str(number)})
        repository.git("repack", "-d", "-q")
    before = objects(os.fsencode(repository.path))
    (repository.git_dir / "objects" / path).write_bytes(b"no such file\n" * 40)
    assert task in {finding.task for finding in report_at(os.fsencode(repository.path)).findings}
    assert (task, Outcome.DONE) in mend(os.fsencode(repository.path))
    assert "unreadable-parts" not in {finding.rule for finding in report_at(os.fsencode(repository.path)).findings}
    assert objects(os.fsencode(repository.path)) == before
    repository.git(task, "verify")
