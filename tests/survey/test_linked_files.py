"""What several repositories take that have links to the same files, as clones of a local path have them."""

import os
import random
import shutil
from pathlib import Path

import pytest

from gitdash.export.columns import column_named
from gitdash.measurement.explain import explain_difference
from gitdash.model.report import RepositoryReport
from gitdash.model.summary import RepositorySummary
from gitdash.survey.summarize import totals_of
from gitdash.survey.survey import SizesWanted
from gitdash.tui.table.group import Group
from gitdash.tui.table.row import FleetRow
from gitdash.tui.table.totals import RunningTotals
from tests.support.repositories import GitRepository
from tests.survey.surveys import finished, last_reports, survey


def bytes_once(root: Path) -> int:
    """As du(1) counts them, without folders."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            stats = os.lstat(os.path.join(folder, name))
            found[stats.st_dev, stats.st_ino] = stats.st_size
    return sum(found.values())


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A repository with a link to each of its files in two others, and one that shares nothing."""
    root = tmp_path / "fleet"
    first = GitRepository.init(root / "first.git")
    first.commit({"a": random.Random(1).randbytes(50_000)})
    first.repack("-d")
    for name in ("second.git", "third.git"):
        shutil.copytree(first.path, root / name, copy_function=os.link)
    alone = GitRepository.init(root / "alone.git")
    alone.commit({"b": "1"})
    return root


def reports(root: Path) -> list[RepositoryReport]:
    return [event.report for event in last_reports(survey(root)).values()]


def summaries(root: Path) -> list[RepositorySummary]:
    return [event.summary for event in last_reports(survey(root)).values()]


@pytest.mark.oracle
def test_totals_count_a_file_once_that_several_repositories_link(fleet: Path) -> None:
    events = survey(fleet)
    each = [event.summary.disk_bytes for event in last_reports(events).values()]
    assert finished(events).totals.disk_bytes == bytes_once(fleet)
    assert sum(size for size in each if isinstance(size, int)) > bytes_once(fleet) + 100_000


def test_running_totals_are_those_of_the_survey_in_whichever_order_rows_come_and_go(fleet: Path) -> None:
    rows = summaries(fleet)
    random.Random(2).shuffle(rows)
    totals = RunningTotals()
    for row in (*rows, rows[0]):
        totals.add(row)
    totals.remove(rows[0])
    assert totals.disk_bytes == totals_of(reports(fleet)).disk_bytes
    ours = totals.copy()
    for row in rows:
        ours.remove(row)
    assert ours.disk_bytes == 0
    assert totals.disk_bytes == bytes_once(fleet)


def test_packs_that_several_link_are_exclusive_once(fleet: Path) -> None:
    expected = sum(
        int(GitRepository(fleet / name).git("rev-list", "--all", "--objects", "--disk-usage"))
        for name in ("first.git", "alone.git")
    )
    events = survey(fleet, sizes=SizesWanted.EXCLUSIVE)
    rows = [event.summary for event in last_reports(events).values()]
    assert finished(events).totals.exclusive_bytes == expected
    assert sum(row.exclusive_bytes for row in rows if isinstance(row.exclusive_bytes, int)) > expected + 100_000
    random.Random(3).shuffle(rows)
    totals = RunningTotals()
    for row in (*rows, rows[0]):
        totals.add(row)
    totals.remove(rows[0])
    assert totals.copy().exclusive_bytes == expected
    group = Group(0, ("root", os.fsencode(fleet)), [FleetRow(row) for row in rows], lambda _: None, 0)
    group.numbers = [*range(len(rows))]
    found = group.sum_of(column_named("exclusive"))
    assert found is not None
    assert found.value == expected


def test_explained_size_promises_no_room_that_links_keep(fleet: Path) -> None:
    events = last_reports(survey(fleet, sizes=SizesWanted.EXCLUSIVE))
    explained = {event.summary.name: "\n".join(explain_difference(event.report)) for event in events.values()}
    assert "would free those that lie in no file that other folders link" in explained["first.git"]
    assert "what deleting this repository would free" not in explained["first.git"]
    assert "what deleting this repository would free" in explained["alone.git"]


def test_head_of_a_group_counts_them_once_too(fleet: Path) -> None:
    rows = [FleetRow(summary) for summary in summaries(fleet)]
    group = Group(0, ("root", os.fsencode(fleet)), rows, lambda _: None, 0)
    group.numbers = [*range(len(rows))]
    found = group.sum_of(column_named("disk"))
    assert found is not None
    assert found.value == bytes_once(fleet)


def test_file_that_nobody_else_links_is_not_noted(fleet: Path) -> None:
    by_name = {event.summary.name: event.summary for event in last_reports(survey(fleet)).values()}
    assert by_name["alone.git"].linked_files == ()
    largest = max(by_name["first.git"].linked_files, key=lambda file: file.bytes)
    (pack,) = (fleet / "second.git" / "objects" / "pack").glob("*.pack")
    stats = pack.stat()
    assert (largest.device, largest.inode, largest.bytes) == (stats.st_dev, stats.st_ino, stats.st_size)
