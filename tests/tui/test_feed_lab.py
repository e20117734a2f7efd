"""Experiments through the dashboard's source, over real repositories: what is offered, made, kept and cancelled."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from gitdash.config.settings import FetchSettings, Settings
from gitdash.history.cut_off import this_process
from gitdash.history.store import History, open_history
from gitdash.model.experiment import ExperimentKind
from gitdash.model.job import JobKind, JobState
from gitdash.model.repository import Unreadable
from gitdash.model.sizes import Question
from gitdash.tui.experiments import ExperimentChoice, ExperimentUnderWay, LabAnswer
from gitdash.tui.feed.experiment_watch import ExperimentWatch
from gitdash.tui.feed.jobs import JobRegister
from tests.support.repositories import GitRepository
from tests.tui.fixture_lab import BITMAP, WALK, WEB, runs_of
from tests.tui.watched_feed import WaitingGit, WatchedFeed, watched_feed

CHOICE = ExperimentChoice(question="everything", variants=("walk",), runs=2, budget_s=30.0)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    root = tmp_path / "fleet"
    repository = GitRepository.init(root / "a.git")
    repository.commit({"file": "content"})
    return root


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(os.fspath(tmp_path / "state" / "state.db")) as opened:
        yield opened


def _answer(watched: WatchedFeed, path: bytes) -> LabAnswer:
    watched.until(lambda seen: path in seen.experiments)
    answer = watched.seen.experiments.pop(path)
    assert isinstance(answer, LabAnswer)
    return answer


def _every_file(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for file in sorted(folder.rglob("*")):
        status = file.lstat()
        content = file.read_bytes() if file.is_file() else b""
        found[os.fspath(file)] = (status.st_mtime_ns, status.st_mode, content)
    return found


def test_variants_that_cannot_run_say_why(fleet: Path) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet) as watched:
        watched.until_over()
        watched.feed.request_experiments(path)
        answer = _answer(watched, path)
    size = next(offer for offer in answer.offers if offer.kind is ExperimentKind.SIZE)
    variants = {variant.name: variant for question in size.questions for variant in question.variants}
    assert variants["walk"].skipped is None
    assert "no bitmap" in (variants["bitmap"].skipped or "")
    assert all(variant.explanation and not variant.runs for variant in variants.values())
    assert (answer.earlier, answer.others) == ((), ())


def test_repository_that_is_not_known_is_said_to_be(fleet: Path) -> None:
    with watched_feed(fleet) as watched:
        watched.until_over()
        watched.feed.request_experiments(b"/nowhere.git")
        watched.until(lambda seen: b"/nowhere.git" in seen.experiments)
        assert watched.seen.experiments[b"/nowhere.git"] == Unreadable("nothing is known of this repository yet")


def test_experiment_is_a_job_whose_runs_arrive_and_whose_result_is_kept(fleet: Path, history: History) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        before = _every_file(fleet)
        watched.feed.start_experiment(path, ExperimentKind.SIZE, CHOICE)
        key = (path, ExperimentKind.SIZE)
        watched.until(lambda seen: key in seen.experiment_runs and seen.experiment_runs[key].run_count == 2)
        job = watched.until_job(JobState.DONE, JobKind.BENCH, path)
        assert job.what == "size"
        answer = _answer(watched, path)
        under_way = watched.seen.experiment_runs[key]
        assert _every_file(fleet) == before
    (variant,) = under_way.variants
    assert (variant.name, [run.number for run in variant.runs]) == ("walk", [1, 2])
    assert variant.summary is not None
    assert variant.summary.count == 2
    (kept,) = answer.earlier
    assert kept == under_way.result
    assert (kept.number, kept.question, kept.variants[0].runs) == (1, "everything", variant.runs)
    assert history.experiments.newest(path, limit=5) == (kept,)


def test_what_is_remembered_for_sizes_stands_in_the_result(fleet: Path, history: History) -> None:
    GitRepository(fleet / "a.git").repack("--write-bitmap-index")
    path = os.fsencode(fleet / "a.git")
    choice = ExperimentChoice(question="everything", variants=("walk", "bitmap"), runs=5, budget_s=30.0)
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        watched.feed.start_experiment(path, ExperimentKind.SIZE, choice)
        watched.until_job(JobState.DONE, JobKind.BENCH, path)
    (kept,) = history.experiments.newest(path, limit=5)
    assert kept.comparison is not None
    assert kept.comparison.question is Question.REACHABLE


@pytest.mark.parametrize(("protocols", "state"), [(("file",), JobState.DONE), (("https",), JobState.FAILED)])
def test_real_remote_is_fetched_by_the_protocols_of_the_configuration_alone(
    fleet: Path, protocols: tuple[Literal["https", "file"], ...], state: JobState
) -> None:
    remote = GitRepository(fleet / "a.git")
    member = GitRepository.init(fleet / "member.git")
    member.borrow_from(remote)
    member.git("fetch", "-q", os.fspath(remote.path), "refs/heads/*:refs/heads/*")
    member.git("remote", "add", "--mirror=fetch", "origin", remote.path.as_uri())
    path = os.fsencode(member.path)
    settings = Settings(fetch=FetchSettings(protocols=protocols))
    choice = ExperimentChoice(question="what the real remote has", runs=1, budget_s=30.0)
    with watched_feed(fleet, settings=settings) as watched:
        watched.until_over()
        watched.feed.start_experiment(path, ExperimentKind.FETCH, choice)
        watched.until_job(state, JobKind.BENCH, path)


def test_server_of_the_question_that_asks_one_is_known_before(fleet: Path) -> None:
    member = GitRepository.init(fleet / "member.git")
    member.borrow_from(GitRepository(fleet / "a.git"))
    member.git("remote", "add", "origin", "https://me:secret@host.example/x.git")
    with watched_feed(fleet) as watched:
        watched.until_over()
        watched.feed.request_experiments(os.fsencode(member.path))
        offers = _answer(watched, os.fsencode(member.path)).offers
    asked = {question.text: question.contacts for offer in offers for question in offer.questions}
    assert {text for text, contacts in asked.items() if contacts} == {"what the real remote has"}
    assert asked["what the real remote has"].startswith("origin, https://")
    assert "host.example/x.git" in asked["what the real remote has"]
    assert "secret" not in repr(offers)


def test_a_question_whose_remote_would_be_refused_is_not_offered(fleet: Path) -> None:
    member = GitRepository.init(fleet / "member.git")
    member.borrow_from(GitRepository(fleet / "a.git"))
    member.git("remote", "add", "origin", "ssh://host.example/x.git")
    with watched_feed(fleet, settings=Settings(fetch=FetchSettings(protocols=("https",)))) as watched:
        watched.until_over()
        watched.feed.request_experiments(os.fsencode(member.path))
        offers = _answer(watched, os.fsencode(member.path)).offers
    (asked,) = [one for offer in offers for one in offer.questions if one.text == "what the real remote has"]
    assert (asked.variants, asked.contacts) == ((), "")
    assert "protocol ssh is not among those that are allowed, https" in asked.problem


def test_result_of_one_repository_is_shown_to_another(fleet: Path, history: History) -> None:
    GitRepository.init(fleet / "b.git").commit({"file": "other"})
    path, other = os.fsencode(fleet / "a.git"), os.fsencode(fleet / "b.git")
    with watched_feed(fleet, history=history) as watched:
        watched.until_over()
        watched.feed.start_experiment(other, ExperimentKind.SIZE, CHOICE)
        watched.until_job(JobState.DONE, JobKind.BENCH, other)
        watched.feed.request_experiments(path)
        answer = _answer(watched, path)
    assert answer.earlier == ()
    assert [result.path for result in answer.others] == [other]


def test_result_stays_as_long_as_the_dashboard_where_nothing_is_remembered(fleet: Path) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet) as watched:
        watched.until_over()
        watched.feed.start_experiment(path, ExperimentKind.SIZE, CHOICE)
        answer = _answer(watched, path)
    assert [result.number for result in answer.earlier] == [0]


def test_variant_that_there_is_not_fails_its_job(fleet: Path) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet) as watched:
        watched.until_over()
        choice = ExperimentChoice(question="everything", variants=("none-such",))
        watched.feed.start_experiment(path, ExperimentKind.SIZE, choice)
        job = watched.until_job(JobState.FAILED, JobKind.BENCH, path)
        assert "no such variant" in (job.reason or "")
        assert "no such variant" in (watched.seen.experiment_runs[path, ExperimentKind.SIZE].problem or "")


def test_cancelled_experiment_ends_soon_and_the_next_one_begins(fleet: Path, tmp_path: Path) -> None:
    path = os.fsencode(fleet / "a.git")
    git = WaitingGit(tmp_path)
    git.let_go()
    with watched_feed(fleet, git=os.fspath(git.program)) as watched:
        watched.until_over()
        (tmp_path / "go").unlink()
        key = (path, ExperimentKind.SIZE)
        watched.feed.start_experiment(path, ExperimentKind.SIZE, CHOICE)
        watched.feed.start_experiment(path, ExperimentKind.CLONE, ExperimentChoice(runs=1))
        first = watched.until_job(JobState.QUEUED, JobKind.BENCH, path)
        watched.until(lambda seen: bool(seen.experiment_runs[key].variants))
        watched.feed.cancel_job(watched.seen.experiment_runs[key].job_number)
        watched.until(lambda seen: seen.jobs[seen.experiment_runs[key].job_number].state is JobState.CANCELLED)
        problem = watched.seen.experiment_runs[key].problem
        assert problem == "it was cancelled before there was a run to keep"
        watched.until(lambda seen: seen.jobs[first.number].state is not JobState.QUEUED)
        git.let_go()


def test_runs_of_a_repository_that_has_changed_are_taken_away_at_once() -> None:
    shown: list[ExperimentUnderWay] = []
    register = JobRegister(lambda: 0.0, on_changed=lambda _: None, on_forgotten=lambda _: None)
    asked = ExperimentUnderWay(job_number=1, path=WEB, kind=ExperimentKind.SIZE, choice=CHOICE, variants=(BITMAP, WALK))
    watch = ExperimentWatch(asked, register, shown.append)
    for run in (*runs_of("walk", 0.2), *runs_of("bitmap", 0.1, first=2)):
        watch.take(run)
    assert shown[-1].run_count == 2
    watch.discard()
    assert (shown[-1].run_count, [variant.summary for variant in shown[-1].variants]) == (0, [None, None])
    assert shown[-1].step == "the repository has changed: its runs are thrown away"
    watch.take(*runs_of("walk", 0.3, first=3))
    assert [[run.number for run in variant.runs] for variant in shown[-1].variants] == [[], [3]]


def test_experiment_is_made_again_on_request(fleet: Path) -> None:
    path = os.fsencode(fleet / "a.git")
    with watched_feed(fleet) as watched:
        watched.until_over()
        watched.feed.start_experiment(path, ExperimentKind.SIZE, CHOICE)
        job = watched.until_job(JobState.DONE, JobKind.BENCH, path)
        watched.feed.retry_job(job.number)
        watched.until(lambda seen: any(one.number > job.number and one.what == "size" for one in seen.jobs.values()))
        again = watched.until_job(JobState.DONE, JobKind.BENCH, path)
        assert (again.what, again.number > job.number) == ("size", True)


def test_copies_of_a_killed_gitdash_are_removed_when_the_dashboard_opens(fleet: Path) -> None:
    registry = Path(f"{fleet}-lab")
    registry.mkdir()
    copy = registry / ".gitdash-lab-0123456789abcdef"
    copy.mkdir()
    (copy / "token").write_text("ab" * 16)
    process = this_process()
    marker = {
        "path": os.fsencode(copy),
        "token": "ab" * 16,
        "process_id": process.process_id,
        "process_started_at_s": process.started_at_s - 1_000.0,
        "host": process.host,
    }
    (registry / f"{copy.name}.copy").write_bytes(msgspec.json.encode(marker))
    with watched_feed(fleet) as watched:
        watched.until(lambda seen: bool(seen.notices))
        assert watched.seen.notices == ["removed 1 copy that an experiment of an earlier run had left"]
    assert [*registry.iterdir()] == []
