"""The survey as a stream of events."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import psutil
import pytest

from gitdash.config.settings import ScanSettings, Settings
from gitdash.discovery.roots import RootError
from gitdash.history.store import History, open_history
from gitdash.model.inspection import Inspection
from gitdash.model.policy import Policy
from gitdash.model.report import State
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import ExclusiveSizes, SizeMeasurement, Sizes
from gitdash.survey import exclusive, workers
from gitdash.survey.events import Discovered, Finished, Progress, Report
from gitdash.survey.judging import Inspected, Judge
from gitdash.survey.memory import Memory
from gitdash.survey.priorities import Priorities
from gitdash.survey.summarize import summarize
from gitdash.survey.survey import SizesWanted, run_survey
from tests.support.repositories import GitRepository
from tests.survey.surveys import NOW_S, finished, last_reports, request, survey


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state.db")) as opened:
        yield opened


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    root = tmp_path / "fleet"
    root.mkdir()
    pool = GitRepository.init(root / "pool.git")
    pool.commit({"a": "one\n" * 50})
    member = GitRepository.init(root / "member.git")
    member.borrow_from(pool)
    member.commit({"b": "two\n" * 50})
    GitRepository.init(root / "plain.git").commit({"c": "three\n"})
    return root


def test_events_come_in_order(fleet: Path) -> None:
    events = survey(fleet)
    kinds = [type(event) for event in events]
    assert kinds.index(Discovered) < kinds.index(Report) < kinds.index(Finished) == len(kinds) - 1
    assert kinds.count(Discovered) == kinds.count(Report) == 3
    progress = [event for event in events if isinstance(event, Progress)]
    assert (progress[-1].done_count, progress[-1].known_count, progress[-1].complete) == (3, 3, True)


def test_a_root_that_does_not_exist_is_an_error_before_the_first_event(tmp_path: Path) -> None:
    with pytest.raises(RootError):
        run_survey(request(tmp_path / "nothing"), cancel=threading.Event())


def test_an_unchanged_repository_is_reused_and_is_as_young_as_the_survey(fleet: Path, history: History) -> None:
    assert finished(survey(fleet, history=history)).reused_count == 0
    later = survey(fleet, history=history, now_s=NOW_S + 60)
    assert finished(later).reused_count == 3
    for event in last_reports(later).values():
        assert isinstance(event.report.inspection, Inspection)
        assert event.report.inspection.inspected_at_s == NOW_S + 60
        assert event.summary.inspected_at_s == NOW_S + 60


def test_a_reused_report_says_the_same_as_a_new_one(fleet: Path, history: History) -> None:
    survey(fleet, history=history, sizes=SizesWanted.EXCLUSIVE)
    reused = last_reports(survey(fleet, history=history))
    fresh = last_reports(survey(fleet, sizes=SizesWanted.EXCLUSIVE))
    for name, event in fresh.items():
        assert reused[name].report.inspection == event.report.inspection
        assert reused[name].report.findings == event.report.findings
        assert reused[name].summary == event.summary


def test_another_policy_judges_and_inspects_anew(fleet: Path, history: History) -> None:
    (fleet / "plain.git" / "objects" / "pack").mkdir(exist_ok=True)
    survey(fleet, history=history)
    strict = Settings(policy=Policy(loose_limit=0, loose_stale_age_s=1.0))
    events = survey(fleet, history=history, settings=strict)
    assert finished(events).reused_count == 0
    inspection = last_reports(events)["plain.git"].report.inspection
    assert isinstance(inspection, Inspection)
    assert not isinstance(inspection.loose, Unreadable)
    assert inspection.loose.stale_count == inspection.loose.count > 0


def test_a_policy_change_keeps_measured_sizes(fleet: Path, history: History) -> None:
    survey(fleet, history=history, sizes=SizesWanted.ALL)
    events = survey(fleet, history=history, settings=Settings(policy=Policy(loose_limit=0)))
    sizes = last_reports(events)["plain.git"].report.sizes
    assert isinstance(sizes.exclusive, ExclusiveSizes)
    assert isinstance(sizes.reachable, SizeMeasurement)
    assert sizes.reachable.from_history


def test_a_number_is_better_than_a_failure_whoever_came_first(fleet: Path, history: History) -> None:
    survey(fleet, history=history, sizes=SizesWanted.REACHABLE)
    stored = history.report(os.fsencode(fleet / "plain.git"))
    assert stored is not None
    memory = Memory(history, now_s=NOW_S, policy_for=Settings().policy_for)
    failed = msgspec.structs.replace(stored, sizes=Sizes(reachable=Unreadable("git died")))
    kept = memory.with_newer_sizes(failed).sizes
    assert kept.reachable == stored.sizes.reachable
    memory.save(failed, summarize(failed))
    assert memory.with_newer_sizes(stored).sizes == stored.sizes
    unknown = msgspec.structs.replace(stored, sizes=Sizes())
    assert memory.with_newer_sizes(unknown).sizes.reachable == Unreadable("git died")


def test_a_failure_of_another_git_is_not_kept(fleet: Path, history: History) -> None:
    def known_to(git_version: str) -> Sizes:
        one = Inspected(repository=stored.repository, inspection=stored.inspection, stored=stored, is_reused=True)
        judge = Judge(
            [one],
            policy_for=Settings().policy_for,
            outside_fingerprint=lambda _: b"",
            stores_fingerprint=lambda _: b"",
            git_version=git_version,
            now_s=NOW_S,
        )
        return judge.facts(stored.repository.path).sizes

    survey(fleet, history=history)
    stored = history.report(os.fsencode(fleet / "plain.git"))
    assert stored is not None
    died = Unreadable("git died")
    stored = msgspec.structs.replace(stored, sizes=Sizes(reachable=died, reachable_own=died, git_version="2.39.5"))
    assert known_to("2.39.5").reachable == died
    assert known_to("2.47.3").reachable is None
    assert known_to("2.47.3").reachable_own is None


@pytest.mark.parametrize("changed", ["plain.git", "pool.git", "member.git"])
def test_a_new_branch_or_a_lock_does_not_change_what_is_stored(fleet: Path, history: History, changed: str) -> None:
    measured = last_reports(survey(fleet, history=history, sizes=SizesWanted.EXCLUSIVE))
    (fleet / changed / "refs" / "heads" / "branch").write_text(
        (fleet / changed / "refs" / "heads" / "main").read_text()
    )
    (fleet / changed / "packed-refs.lock").touch()
    reports = last_reports(survey(fleet, history=history, now_s=NOW_S + 60))
    inspection = reports[changed].report.inspection
    assert isinstance(inspection, Inspection)
    assert [lock.path for lock in inspection.locks] == ["packed-refs.lock"]
    for name, event in reports.items():
        assert event.report.sizes.exclusive == measured[name].report.sizes.exclusive
        assert isinstance(event.report.sizes.exclusive, ExclusiveSizes)


@pytest.mark.parametrize("changed", ["pool.git", "member.git"])
def test_new_objects_in_a_repository_or_its_lender_change_what_is_exclusive(
    fleet: Path, history: History, changed: str
) -> None:
    survey(fleet, history=history, sizes=SizesWanted.EXCLUSIVE)
    GitRepository(fleet / changed).commit({"new": "new\n" * 9})
    reports = last_reports(survey(fleet, history=history, now_s=NOW_S + 60))
    assert reports["member.git"].report.sizes.exclusive is None
    assert isinstance(reports["plain.git"].report.sizes.exclusive, ExclusiveSizes)


def test_a_new_borrower_changes_the_reused_lender(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    newcomer = GitRepository.init(fleet / "newcomer.git")
    newcomer.borrow_from(GitRepository(fleet / "plain.git"))
    report = last_reports(survey(fleet, history=history))["plain.git"].report
    assert report.borrowers == (os.fsencode(newcomer.path),)
    assert [role.value for role in report.roles] == ["pool"]


def test_a_lock_that_grows_old_becomes_a_finding_though_no_file_changes(fleet: Path, history: History) -> None:
    lock = fleet / "plain.git" / "packed-refs.lock"
    lock.write_text("")
    os.utime(lock, (NOW_S - 60, NOW_S - 60))
    assert not last_reports(survey(fleet, history=history))["plain.git"].report.findings
    later = last_reports(survey(fleet, history=history, now_s=NOW_S + 7_200))["plain.git"].report
    assert [finding for finding in later.findings if "packed-refs.lock" in finding.summary]


def test_a_pack_that_stays_without_index_becomes_a_finding_though_no_file_changes(
    fleet: Path, history: History
) -> None:
    GitRepository(fleet / "plain.git").repack()
    (index,) = (fleet / "plain.git" / "objects" / "pack").glob("*.idx")
    index.unlink()
    for path in (fleet / "plain.git").rglob("*"):
        os.utime(path, (NOW_S - 60, NOW_S - 60))
    assert not last_reports(survey(fleet, history=history))["plain.git"].report.findings
    later = last_reports(survey(fleet, history=history, now_s=NOW_S + 7_200))["plain.git"].report
    assert [finding.rule for finding in later.findings] == ["pack-without-index"]


def test_alternates_that_cannot_be_read_are_not_none(fleet: Path) -> None:
    os.mkfifo(fleet / "plain.git" / "objects" / "info" / "alternates")
    row = last_reports(survey(fleet))["plain.git"].summary
    assert isinstance(row.alternate_count, Unreadable)


def test_early_reports_come_before_the_last_repository_is_judged_and_are_replaced(fleet: Path) -> None:
    events = survey(fleet, reports_early=True)
    reports = [event for event in events if isinstance(event, Report)]
    assert len(reports) == 5, "the member is judged with its lender, the two others twice"
    assert last_reports(events)["pool.git"].report.borrowers


def test_a_cancelled_survey_ends_without_the_last_event(fleet: Path) -> None:
    cancel = threading.Event()
    events = []
    for event in run_survey(request(fleet), cancel=cancel):
        events.append(event)
        cancel.set()
    assert not any(isinstance(event, Finished) for event in events)


def test_a_survey_that_nobody_reads_to_the_end_leaves_no_worker(fleet: Path) -> None:
    running = run_survey(request(fleet), cancel=threading.Event())
    next(running)
    running.close()  # type: ignore[attr-defined]
    children = psutil.Process().children(recursive=True)
    assert [child.cmdline() for child in children if "gitdash.inspection.worker" in child.cmdline()] == []


def test_gone_repositories_are_named_and_forgotten(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    (fleet / "plain.git").rename(fleet.parent / "plain.git")
    assert finished(survey(fleet, history=history)).gone_paths == (os.fsencode(fleet / "plain.git"),)
    assert os.fsencode(fleet / "plain.git") not in history.paths([os.fsencode(fleet)])


def test_a_gone_repository_below_two_roots_is_named_once(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    without = Settings(scan=ScanSettings(exclude=("plain.git",)))
    twice = replace(request(fleet, settings=without, history=history), roots=(os.fsencode(fleet),) * 2)
    gone = [event.gone_paths for event in run_survey(twice, cancel=threading.Event()) if isinstance(event, Finished)]
    assert gone == [(os.fsencode(fleet / "plain.git"),)]


def test_a_root_that_is_suddenly_empty_is_not_forgotten(fleet: Path, history: History) -> None:
    survey(fleet, history=history)
    fleet.rename(fleet.parent / "unmounted")
    fleet.mkdir()
    assert len(finished(survey(fleet, history=history)).gone_paths) == 3
    assert len(history.paths([os.fsencode(fleet)])) == 3


@pytest.mark.safety
def test_a_repository_that_hangs_or_kills_its_worker_costs_its_own_row_only(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORKER_MODULE", "tests.survey.strange_worker")
    for name in ("hang.git", "die.git", "a.git", "z.git"):
        GitRepository.init(fleet / name)
    settings = Settings(scan=ScanSettings(time_limit_s=1.0, workers=1))
    reports = {name: event.report for name, event in last_reports(survey(fleet, settings=settings)).items()}
    assert reports["hang.git"].inspection == Unreadable("did not answer within 1 s")
    assert reports["die.git"].inspection == Unreadable("the inspection of this repository ended its process")
    assert reports["hang.git"].state is State.UNREADABLE
    others = [name for name in reports if name not in {"hang.git", "die.git"}]
    assert len(others) == 5
    assert all(isinstance(reports[name].inspection, Inspection) for name in others)


def test_what_people_look_at_is_measured_first(fleet: Path) -> None:
    priorities = Priorities()
    priorities.prioritise([os.fsencode(fleet / "plain.git")])
    running = run_survey(request(fleet, sizes=SizesWanted.EXCLUSIVE), cancel=threading.Event(), priorities=priorities)
    measured = [
        event.summary.name
        for event in running
        if isinstance(event, Report) and isinstance(event.report.sizes.exclusive, ExclusiveSizes)
    ]
    assert measured[0] == "plain.git"
    assert len(measured) == 3


def test_what_nobody_foresaw_costs_one_cell_only(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreseen = exclusive.exclusive_of

    def sometimes(common_dir: bytes, *arguments: object, **more: object) -> object:
        if common_dir.endswith(b"member.git"):
            raise RuntimeError("not foreseen")
        return foreseen(common_dir, *arguments, **more)

    monkeypatch.setattr(exclusive, "exclusive_of", sometimes)
    reports = last_reports(survey(fleet, sizes=SizesWanted.EXCLUSIVE))
    assert reports["member.git"].report.sizes.exclusive == Unreadable("gitdash failed: RuntimeError: not foreseen")
    assert isinstance(reports["pool.git"].report.sizes.exclusive, ExclusiveSizes)


def test_sizes_that_someone_else_stored_meanwhile_are_kept(fleet: Path, history: History) -> None:
    survey(fleet, history=history, sizes=SizesWanted.REACHABLE)
    found = map(history.report, history.paths([os.fsencode(fleet)]))
    known = {report.repository.path: report.sizes for report in found if report is not None}
    running = run_survey(
        request(fleet, sizes=SizesWanted.EXCLUSIVE, settings=Settings(policy=Policy(loose_limit=7))),
        cancel=threading.Event(),
    )
    assert len(list(running)) > 3
    report = last_reports(survey(fleet, history=history))["member.git"].report
    stored = known[report.repository.path].reachable
    assert isinstance(stored, SizeMeasurement)
    assert report.sizes.reachable == msgspec.structs.replace(stored, from_history=True)
