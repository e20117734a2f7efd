"""Only where object stores have files is looked: an alternates file may name the root of all file systems."""

import os
from pathlib import Path

import pytest

from gitdash.lab.store_folders import files_of_store
from gitdash.model.experiment import ExperimentKind, ExperimentRun
from tests.support.experiments import made
from tests.support.repositories import GitRepository


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "fleet" / "a.git")
    made.commit({"file": "content\n"})
    made.repack("--write-bitmap-index")
    made.git("commit-graph", "write", "--reachable", "--split")
    made.commit({"file": "loose\n"})
    return made


def test_files_are_those_of_packs_loose_objects_and_graphs(repository: GitRepository) -> None:
    found = {Path(os.fsdecode(entry.path)) for entry in files_of_store(os.fsencode(repository.path / "objects"))}
    assert found == {path for path in (repository.path / "objects").rglob("*") if path.is_file()}
    assert {path.suffix for path in found} >= {".pack", ".idx", ".bitmap", ".graph", ""}


@pytest.mark.safety
def test_root_of_all_file_systems_has_no_files_of_a_store() -> None:
    assert [*files_of_store(b"/")] == []


@pytest.mark.safety
def test_experiment_does_not_look_at_what_is_no_part_of_a_lender(tmp_path: Path, repository: GitRepository) -> None:
    elsewhere = tmp_path / "all"
    (elsewhere / "home" / "deep").mkdir(parents=True)
    (repository.path / "objects" / "info" / "alternates").write_text(f"{elsewhere}\n")

    def write_elsewhere(run: ExperimentRun) -> None:
        (elsewhere / "home" / "deep" / f"file{run.number}").touch()

    result = made(
        ExperimentKind.SIZE,
        repository.path,
        runs=2,
        chosen=("walk",),
        on_run=write_elsewhere,
        question="everything",
    )
    assert (result.discarded_count, len(result.variants[0].runs)) == (0, 2)
