"""The demo fleet shows what it claims: a survey finds each finding in the repository that is there for it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from gitdash.assessment.rules import RULES
from gitdash.demo.exhibit import Exhibit
from gitdash.demo.fleet import EXHIBITS
from gitdash.model.config_facts import ConfigEffect, ConfigFacts
from gitdash.model.inspection import Inspection, ObjectFormat, ReferenceBackend
from gitdash.model.report import State
from gitdash.survey.survey import SizesWanted
from tests.demo.conftest import BuiltFleet, build, reports
from tests.support.repositories import GIT, clean_environment, git_version

NEEDS_REFTABLE = {"formats/reftable.git", "formats/reftable-stack.git", "formats/reftable-lost-table.git"}
"""git reads and writes reftable from 2.45 on."""
NEEDS_ROOT = {"broken/another-user-s.git"}
"""Nobody else can give files away."""

ABSENT = {path for path in NEEDS_REFTABLE if git_version() < (2, 45)} | {path for path in NEEDS_ROOT if os.geteuid()}
PRESENT = [exhibit for exhibit in EXHIBITS if os.fsdecode(exhibit.path) not in ABSENT]
HEALTHY = [exhibit for exhibit in PRESENT if not exhibit.shows]
ONLY_THERE = {
    "formats/reftable-stack.git": "reftable-stack",
    "formats/reftable-lost-table.git": "reftable-missing-tables",
    "broken/another-user-s.git": "foreign-owner",
}


def name(exhibit: Exhibit) -> str:
    return ascii(os.fsdecode(exhibit.path))[1:-1][:60]


def test_every_rule_has_an_exhibit() -> None:
    assert {rule for exhibit in EXHIBITS for rule in exhibit.shows} == {rule.id for rule in RULES}


def test_every_rule_that_this_machine_can_show_is_found(fleet: BuiltFleet) -> None:
    found = {finding.rule for report in fleet.reports.values() for finding in report.findings}
    missing = {ONLY_THERE[path] for path in ABSENT if path in ONLY_THERE}
    assert {rule.id for rule in RULES} - found == missing


@pytest.mark.parametrize("exhibit", PRESENT, ids=name)
def test_exhibit_has_exactly_its_findings(fleet: BuiltFleet, exhibit: Exhibit) -> None:
    report = fleet.reports[exhibit.path]
    assert {finding.rule for finding in report.findings} == {*exhibit.shows}
    assert (report.state is State.OK) or exhibit.shows


def test_survey_finds_the_exhibits_and_nothing_else(fleet: BuiltFleet) -> None:
    assert {*fleet.reports} == {exhibit.path for exhibit in PRESENT}


def test_what_cannot_be_shown_is_said_with_the_reason(fleet: BuiltFleet) -> None:
    expected = {ONLY_THERE.get(path, path) for path in ABSENT}
    assert {subject for omission in fleet.omissions for subject in omission.subjects} == expected
    reasons = " ".join(omission.reason for omission in fleet.omissions)
    assert ("reftable" in reasons) is (git_version() < (2, 45))
    assert ("root" in reasons) is bool(os.geteuid())


@pytest.mark.oracle
@pytest.mark.parametrize("exhibit", HEALTHY, ids=name)
def test_git_finds_nothing_wrong_with_a_healthy_one(fleet: BuiltFleet, exhibit: Exhibit) -> None:
    command = [GIT, "-C", fleet.root + b"/" + exhibit.path, "fsck", "--full", "--strict", "--no-dangling"]
    finished = subprocess.run(command, capture_output=True, env=clean_environment(), check=False)
    assert (finished.returncode, finished.stdout) == (0, b"")


@pytest.mark.oracle
def test_working_clone_is_clean(fleet: BuiltFleet) -> None:
    command = [GIT, "-C", fleet.root + b"/clones/healthy", "status", "--porcelain"]
    finished = subprocess.run(command, capture_output=True, env=clean_environment(), check=False)
    assert (finished.returncode, finished.stdout) == (0, b"")


def inspection(fleet: BuiltFleet, path: bytes) -> Inspection:
    found = fleet.reports[path].inspection
    assert isinstance(found, Inspection)
    return found


def test_bitmaps_of_each_kind_are_there(fleet: BuiltFleet) -> None:
    kinds = {
        path: [(bitmap.source.value, bitmap.lookup_table) for bitmap in inspection(fleet, path).bitmaps]
        for path in (b"pools/shared.git", b"archives/multi-pack-bitmap.git", b"archives/lookup-table-bitmap.git")
    }
    assert kinds == {
        b"pools/shared.git": [("pack", False)],
        b"archives/multi-pack-bitmap.git": [("multi_pack_index", False)],
        b"archives/lookup-table-bitmap.git": [("multi_pack_index", True)],
    }


def test_formats_are_what_their_names_say(fleet: BuiltFleet) -> None:
    assert inspection(fleet, b"formats/sha256.git").object_format is ObjectFormat.SHA256
    if git_version() >= (2, 45):
        assert inspection(fleet, b"formats/reftable.git").reference_backend is ReferenceBackend.REFTABLE


def test_pool_has_members(fleet: BuiltFleet) -> None:
    borrowers = {os.path.relpath(path, fleet.root) for path in fleet.reports[b"pools/shared.git"].borrowers}
    assert {b"members/one.git", b"members/two.git"} <= borrowers


def test_names_are_hostile_in_every_way() -> None:
    names = [exhibit.path.removeprefix(b"names/") for exhibit in EXHIBITS if exhibit.path.startswith(b"names/")]
    everything = b"".join(names)
    for hostile in (b"\x1b[", b"\x1b]0;", b"\x07", b"[bold", b"\n", b"\xe9", "\u202e".encode(), b"$(", b"'", b'"'):
        assert hostile in everything
    assert 200 in map(len, names)


@pytest.mark.safety
def test_programs_and_addresses_of_the_fleet_are_harmless(fleet: BuiltFleet) -> None:
    programs = set()
    for path, report in fleet.reports.items():
        if isinstance(report.inspection, Inspection) and isinstance(report.inspection.config, ConfigFacts):
            concerns = report.inspection.config.concerns
            programs |= {concern.value for concern in concerns if concern.effect is ConfigEffect.RUNS_PROGRAM}
            urls = re.findall(
                r"https?://[^\s\"]+", (Path(os.fsdecode(report.repository.git_dir)) / "config").read_text()
            )
            assert all(".invalid/" in url for url in urls), path
        assert not list(Path(os.fsdecode(fleet.root + b"/" + path)).glob("**/hooks"))
    assert programs == {"/bin/false"}


def references(root: bytes) -> dict[str, bytes]:
    """All references in files, by path."""
    top = Path(os.fsdecode(root))
    files = [*top.glob("**/packed-refs"), *(file for file in top.glob("**/refs/**/*") if file.is_file())]
    return {str(file.relative_to(top)): file.read_bytes() for file in files}


def test_object_ids_are_the_same_each_time(fleet: BuiltFleet, tmp_path: Path) -> None:
    again, _ = build(os.fsencode(tmp_path))
    first = references(fleet.root)
    assert len(first) > 60
    assert references(again) == first


def test_nothing_but_the_fleet_is_left(fleet: BuiltFleet) -> None:
    assert sorted(os.listdir(os.path.dirname(fleet.root))) == [b"elsewhere", b"fleet"]
    assert sorted(os.listdir(fleet.root)) == sorted({exhibit.path.partition(b"/")[0] for exhibit in EXHIBITS})


def test_no_rule_but_those_that_say_so_needs_a_size_that_was_not_measured(fleet: BuiltFleet) -> None:
    without_sizes = {report.repository.path: report for report in reports(fleet.root, SizesWanted.DISK)}
    needing = {rule.id for rule in RULES if rule.needs_sizes}
    missed = set()
    for report in fleet.reports.values():
        seen = {finding.rule for finding in without_sizes[report.repository.path].findings}
        missed |= {finding.rule for finding in report.findings} - seen
    assert missed == needing
