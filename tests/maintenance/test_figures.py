"""The figures before and after an action: what is absent is told from what is not known."""

from pathlib import Path

from gitdash.export.ledger_lines import short_lines
from gitdash.maintenance.figures import figures_of
from gitdash.model.ledger import LedgerEntry, Outcome
from gitdash.model.task import Task
from tests.support.repositories import GitRepository
from tests.support.task_runs import report_of, run


def test_a_bitmap_that_is_absent_is_a_dash_and_no_question(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    result = run(repository, Task.MULTI_PACK_BITMAP)
    entry = LedgerEntry(
        number=1,
        run="x",
        action="maintain",
        path=b"/one.git",
        outcome=Outcome.DONE,
        started_at_s=0.0,
        gitdash_version="1",
        git_version="2",
        before=result.before,
        after=result.after,
        process_id=1,
        process_started_at_s=0.0,
        host="here",
    )
    (changes,) = [line for line in short_lines(entry) if "packs" in line]
    assert "bitmap - -> midx" in changes


def test_a_bitmap_that_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    repository = GitRepository.init(tmp_path / "one.git")
    repository.commit({"a": "1"})
    repository.repack("--write-bitmap-index")
    assert figures_of(report_of(repository)).bitmap == "pack"
    (bitmap,) = (repository.git_dir / "objects" / "pack").glob("*.bitmap")
    bitmap.chmod(0o600)
    bitmap.write_bytes(b"no bitmap")
    assert figures_of(report_of(repository)).bitmap is None
