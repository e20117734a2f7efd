import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gitdash.errors import GitdashError
from gitdash.gitcmd.installed import find_git
from gitdash.lab import method
from gitdash.lab.method import run_interleaved
from gitdash.lab.request import ExperimentError, ExperimentRequest
from gitdash.lab.variant import Limits, Measured, RunContext, Variant
from gitdash.model.experiment import CacheState, ExperimentKind, ExperimentResult, ExperimentRun
from gitdash.model.report import RepositoryReport
from tests.support.fetching import report_of
from tests.support.repositories import GIT, GitRepository


@dataclass
class Bench:
    """Variants whose runs take what a test says, on a clock of its own."""

    report: RepositoryReport
    now_s: float = 1000.0
    ran: list[str] = field(default_factory=list)
    heard: list[ExperimentRun] = field(default_factory=list)
    cancel: threading.Event = field(default_factory=threading.Event)

    def variant(self, name: str, take_s: float | Iterator[float], **more: Any) -> Variant:
        def run(_: RunContext) -> Measured:
            self.ran.append(name)
            wall_s = take_s if isinstance(take_s, float) else next(take_s)
            self.now_s += wall_s
            return Measured(wall_s=wall_s, user_s=wall_s / 2, system_s=wall_s / 4, read_bytes=0)

        return Variant(**({"name": name, "title": name.upper(), "explanation": "waits", "run": run} | more))

    def result(
        self,
        *variants: Variant,
        fingerprint: Callable[[], bytes] = lambda: b"same",
        chosen: tuple[str, ...] = (),
        is_cold: bool = False,
        **limits: Any,
    ) -> ExperimentResult:
        request = ExperimentRequest(
            report=self.report,
            program=find_git(GIT),
            clock=lambda: self.now_s + 1e9,
            registry_dir=b"/nonexistent",
            limits=Limits(**limits),
            chosen=chosen,
            cancel=self.cancel,
            on_run=self.heard.append,
            on_discard=self.heard.clear,
            is_cold=is_cold,
        )
        return run_interleaved(variants, request, kind=ExperimentKind.SIZE, fingerprint=fingerprint)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> RepositoryReport:
    repository = GitRepository.init(tmp_path_factory.mktemp("method") / "a.git")
    repository.commit({"file": "content\n"})
    repository.repack()
    return report_of(repository.path)


@pytest.fixture
def bench(report: RepositoryReport, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(report)
    monkeypatch.setattr(method, "time", SimpleNamespace(monotonic=lambda: bench.now_s))
    return bench


def spread() -> Iterator[float]:
    """Times that never give a narrow interval."""
    while True:
        yield from (1.0, 2.0)


def test_variants_take_turns_after_a_warm_up_of_each(bench: Bench) -> None:
    result = bench.result(
        bench.variant("a", 1.0), bench.variant("b", 2.0), bench.variant("c", 3.0), least_runs=5, budget_s=100.0
    )
    assert bench.ran == ["a", "b", "c"] * 6
    assert [(run.variant, run.number) for run in bench.heard] == [
        *(("a", 0), ("b", 0), ("c", 0)),
        *(("abc"[turn % 3], turn + 1) for turn in range(15)),
    ]
    assert [[run.number for run in variant.runs] for variant in result.variants] == [
        [1, 4, 7, 10, 13],
        [2, 5, 8, 11, 14],
        [3, 6, 9, 12, 15],
    ]
    assert (result.winner, result.is_complete, result.discarded_count) == ("a", True, 0)
    assert result.started_at_s == 1e9 + 1000.0
    assert result.elapsed_s == 36.0
    assert (result.cache, result.cache_note) == (CacheState.WARM, "")


@pytest.mark.parametrize("runs", [1, 4])
def test_fewer_runs_than_an_interval_needs_have_no_winner(bench: Bench, runs: int) -> None:
    result = bench.result(bench.variant("a", 1.0), bench.variant("b", 2.0), least_runs=runs, most_runs=runs)
    assert result.winner is None
    assert result.verdict == f"Too few runs for a verdict: A has {runs}, and 5 are needed."
    assert result.is_complete


def test_narrow_intervals_end_it_at_the_least_runs(bench: Bench) -> None:
    bench.result(bench.variant("a", 1.0), bench.variant("b", 2.0), budget_s=1000.0)
    assert bench.ran.count("a") == bench.ran.count("b") == 1 + 5


def test_wide_intervals_end_it_at_the_most_runs(bench: Bench) -> None:
    result = bench.result(bench.variant("a", spread()), bench.variant("b", 2.0), budget_s=1000.0, most_runs=12)
    assert bench.ran.count("a") == bench.ran.count("b") == 1 + 12
    assert result.is_complete
    assert result.notes == ()


def test_runs_end_when_the_budget_is_spent(bench: Bench) -> None:
    result = bench.result(bench.variant("a", spread()), budget_s=20.0)
    # with the warm-up 14 runs of 1 and 2 s take 21 s
    assert bench.ran.count("a") == 14
    assert result.is_complete
    assert len(result.notes) == 1
    assert "was spent" in result.notes[0]


def test_a_budget_that_does_not_reach_for_the_least_runs_is_said(bench: Bench) -> None:
    result = bench.result(bench.variant("a", 10.0), bench.variant("b", 10.0), budget_s=35.0)
    assert bench.ran == ["a", "b", "a", "b"]
    assert not result.is_complete
    assert [len(variant.runs) for variant in result.variants] == [1, 1]


def test_a_run_during_which_the_repository_changed_is_thrown_away_with_those_before(bench: Bench) -> None:
    state = [b"one"]

    def change(_: RunContext) -> Measured:
        bench.ran.append("b")
        if bench.ran.count("b") == 3:
            state[0] = b"two"
        return Measured(wall_s=2.0)

    result = bench.result(
        bench.variant("a", 1.0), bench.variant("b", 2.0, run=change), fingerprint=lambda: state[0], least_runs=3
    )
    # a 1, b 2, a 3 and the run that changed it
    assert result.discarded_count == 4
    assert result.fingerprint == b"two"
    # who draws them hears at once that those before count for nothing
    assert [run.number for run in bench.heard] == [4, 5, 6, 7, 8, 9]
    assert [[run.number for run in variant.runs] for variant in result.variants] == [[4, 6, 8], [5, 7, 9]]
    assert result.is_complete


def test_a_repository_that_changes_in_three_runs_in_a_row_ends_it(bench: Bench) -> None:
    state = [0]

    def change(_: RunContext) -> Measured:
        bench.ran.append("a")
        state[0] += 1
        return Measured(wall_s=1.0)

    result = bench.result(bench.variant("a", 1.0, run=change), fingerprint=lambda: b"%d" % state[0])
    assert bench.ran == ["a"] * 3
    assert result.discarded_count == 3
    assert not result.is_complete
    assert result.notes == ("The repository changed during 3 runs in a row: too busy.",)
    assert result.variants[0].summary is None


def test_a_run_that_fails_because_the_repository_changed_is_thrown_away_and_made_again(bench: Bench) -> None:
    state = [b"one"]

    def find_it_packed_anew(_: RunContext) -> Measured:
        bench.ran.append("a")
        if bench.ran.count("a") == 3:
            state[0] = b"two"
            raise GitdashError("packfile objects/pack/pack-1.pack cannot be accessed")
        return Measured(wall_s=2.0)

    result = bench.result(bench.variant("a", 2.0, run=find_it_packed_anew), fingerprint=lambda: state[0], least_runs=3)
    # the one before it, and itself
    assert result.discarded_count == 2
    assert [len(variant.runs) for variant in result.variants] == [3]
    assert result.variants[0].note == ""
    assert result.fingerprint == b"two"
    assert result.is_complete


def test_a_variant_that_fails_after_some_runs_does_not_keep_the_others_from_a_verdict(bench: Bench) -> None:
    def fail_in_the_third(_: RunContext) -> Measured:
        bench.ran.append("a")
        if bench.ran.count("a") == 4:
            raise GitdashError("git rev-list failed")
        return Measured(wall_s=0.5)

    result = bench.result(
        bench.variant("a", 0.5, run=fail_in_the_third), bench.variant("b", 1.0), bench.variant("c", 2.0)
    )
    assert result.winner == "b"
    assert result.variants[0].note == "git rev-list failed"
    assert (len(result.variants[0].runs), result.variants[0].summary) == (2, None)


def test_a_repository_that_goes_ends_it_and_what_there_is_stays(bench: Bench) -> None:
    def look() -> bytes:
        if len(bench.ran) == 3:
            raise GitdashError("/srv/a.git: missing")
        return b"same"

    result = bench.result(bench.variant("a", 1.0), fingerprint=look)
    assert result.notes == ("The repository cannot be looked at any more: /srv/a.git: missing.",)
    assert not result.is_complete
    assert len(result.variants[0].runs) == 1


def test_a_cancel_ends_it_and_keeps_what_there_is(bench: Bench) -> None:
    def run(context: RunContext) -> Measured:
        bench.ran.append("a")
        if len(bench.ran) == 3:
            context.cancel.set()
        return Measured(wall_s=1.0)

    result = bench.result(bench.variant("a", 1.0, run=run))
    assert len(bench.ran) == 3
    assert not result.is_complete
    assert result.notes == ("Cancelled.",)
    assert len(result.variants[0].runs) == 2


def test_what_is_cancelled_after_many_runs_is_not_complete_and_nobody_wins_it(bench: Bench) -> None:
    def run(context: RunContext) -> Measured:
        bench.ran.append("a")
        if bench.ran.count("a") == 10:
            context.cancel.set()
        return Measured(wall_s=1.0)

    result = bench.result(bench.variant("a", 1.0, run=run), bench.variant("b", 2.0), least_runs=5, narrow_ratio=-1.0)
    assert [len(variant.runs) for variant in result.variants] == [9, 8]
    assert not result.is_complete
    assert (result.winner, result.verdict) == (None, "No verdict: it was ended before each variant had its runs.")


def test_a_variant_that_fails_ends_alone_and_says_why(bench: Bench) -> None:
    def fail(_: RunContext) -> Measured:
        raise GitdashError("git rev-list failed: no\x1bway")

    result = bench.result(bench.variant("a", 1.0, run=fail), bench.variant("b", 1.0), least_runs=2)
    assert bench.ran == ["b"] * 3
    assert result.variants[0].note == "git rev-list failed: no\\x1bway"
    assert len(result.variants[1].runs) == 2
    # its note says that it failed; the others have all their runs
    assert result.is_complete


def test_where_every_variant_fails_nothing_was_ended_early(bench: Bench) -> None:
    def fail(_: RunContext) -> Measured:
        raise GitdashError("git fetch failed")

    result = bench.result(bench.variant("a", 1.0, run=fail), bench.variant("b", 1.0, run=fail))
    assert result.is_complete
    assert result.verdict == "Nothing to compare: fewer than two variants have runs."


@pytest.mark.parametrize(
    ("budget_s", "verdict"),
    [
        # of 20 runs each has 7
        (23.5, "No verdict: it was ended before each variant had its runs."),
        # each has 3
        (11.5, "Too few runs for a verdict: A has 3, and 5 are needed."),
    ],
)
def test_nobody_wins_what_was_ended_early(bench: Bench, budget_s: float, verdict: str) -> None:
    result = bench.result(
        bench.variant("a", 1.0), bench.variant("b", 2.0), least_runs=20, most_runs=20, budget_s=budget_s
    )
    assert not result.is_complete
    assert (result.winner, result.verdict) == (None, verdict)


def test_skipped_variants_are_not_run_and_not_missed(bench: Bench) -> None:
    result = bench.result(bench.variant("a", 1.0, skipped="needs git 9.9"), bench.variant("b", 1.0))
    assert set(bench.ran) == {"b"}
    assert result.is_complete
    assert result.variants[0].skipped == "needs git 9.9"


@pytest.mark.parametrize(
    ("type_name", "cache"), [("tmpfs", CacheState.WARM), ("ramfs", CacheState.WARM), ("ext4", CacheState.COLD)]
)
def test_what_lies_in_memory_is_not_called_cold(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, type_name: str, cache: CacheState
) -> None:
    monkeypatch.setattr(method, "filesystem_of", lambda _: type_name)
    result = bench.result(bench.variant("a", 1.0), is_cold=True)
    assert result.cache is cache
    assert (f"lies on {type_name}, which is memory itself" in result.cache_note) is (cache is CacheState.WARM)
    assert bench.result(bench.variant("a", 1.0)).cache_note == ""


def test_only_chosen_variants_are_in_the_result(bench: Bench) -> None:
    result = bench.result(bench.variant("a", 1.0), bench.variant("b", 1.0), chosen=("b",))
    assert [variant.name for variant in result.variants] == ["b"]
    with pytest.raises(ExperimentError, match="there are a"):
        bench.result(bench.variant("a", 1.0), chosen=("c",))


def test_credentials_in_what_was_timed_are_masked(bench: Bench) -> None:
    argv = ("git", "fetch", "https://user:secret@example.com/a.git")
    result = bench.result(bench.variant("a", 1.0, argv=argv), least_runs=1)
    assert "secret" not in repr(result)


def test_what_of_the_machine_matters_stands_beside_the_result(bench: Bench, tmp_path: Path) -> None:
    import os

    result = bench.result(bench.variant("a", 1.0), least_runs=1)
    assert result.host == os.uname().nodename
    assert 1 <= result.processor_count <= (os.cpu_count() or 1)
    assert find_git(GIT).version_text == result.git_version
    assert bench.heard[0].load_1m is not None
