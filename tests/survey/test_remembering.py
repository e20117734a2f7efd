"""The winner of an experiment: which strategy it is, and how long `gitdash size` goes by it."""

import os
import threading
from pathlib import Path

import pytest

from gitdash.config.settings import load_settings
from gitdash.gitcmd.installed import find_git
from gitdash.history.store import open_history
from gitdash.model.experiment import CacheState, Summary
from gitdash.model.sizes import Question, Strategy
from gitdash.survey.comparing import comparison_of
from gitdash.survey.remembering import Remembering
from gitdash.survey.single import find_repository, report_single
from gitdash.survey.size_inputs import SizeQuestion
from gitdash.survey.sizing import Sizing
from tests.support.experiment_results import result, variant
from tests.support.repositories import GIT, GitRepository

NOW_S = 1_800_000_000.0
STRATEGIES = {"bitmap": Strategy.BITMAP, "walk": Strategy.WALK, "union": Strategy.UNION}


def measured(name: str, low_s: float, median_s: float, high_s: float, *, exact: bool | None = True, count: int = 5):
    summary = Summary(count=count, median_s=median_s, minimum_s=low_s, low_s=low_s, high_s=high_s)
    return variant(name, (median_s,), summary, exact=exact)


FAST, SLOW = measured("bitmap", 0.9, 1.0, 1.1), measured("walk", 3.0, 4.0, 5.0)
UNION = measured("union", 2.0, 3.0, 4.0)


@pytest.mark.parametrize(
    ("variants", "by_rule", "winner", "regret"),
    [
        ((FAST, SLOW), Strategy.WALK, Strategy.BITMAP, 4.0),
        ((FAST, SLOW), Strategy.BITMAP, Strategy.BITMAP, 1.0),
        # intervals that overlap
        ((FAST, measured("walk", 1.05, 1.2, 1.3)), Strategy.WALK, None, 1.2),
        # what is no strategy of `gitdash size` cannot win
        ((FAST, SLOW, measured("fresh-bitmap", 0.1, 0.1, 0.1)), Strategy.WALK, Strategy.BITMAP, 4.0),
        # a bound does not replace an exact answer
        ((measured("walk", 0.1, 0.2, 0.3, exact=False), FAST, UNION), Strategy.BITMAP, Strategy.BITMAP, 1.0),
        # but stays where the rule takes it
        ((measured("walk", 0.1, 0.2, 0.3, exact=False), FAST), Strategy.WALK, Strategy.WALK, 1.0),
    ],
)
def test_winner_is_the_fastest_that_may_win(variants, by_rule, winner, regret) -> None:
    found = comparison_of(result(variants=variants), Question.REACHABLE_OWN, STRATEGIES, by_rule)
    assert found is not None
    assert found.winner is winner
    assert found.regret == pytest.approx(regret)


@pytest.mark.parametrize("variants", [(FAST,), (SLOW, measured("union", 1, 1, 1)), ()])
def test_nothing_is_said_without_the_choice_of_the_rule_or_without_another(variants) -> None:
    assert comparison_of(result(variants=variants), Question.REACHABLE_OWN, STRATEGIES, Strategy.BITMAP) is None


@pytest.mark.parametrize("slow_count", [1, 4])
def test_nothing_is_said_of_too_few_runs(slow_count: int) -> None:
    few = result(variants=(FAST, measured("walk", 3.0, 3.0, 3.0, count=slow_count)))
    assert comparison_of(few, Question.REACHABLE, STRATEGIES, Strategy.WALK) is None


def test_nothing_is_said_of_what_was_ended_early() -> None:
    ended = result(variants=(FAST, SLOW), is_complete=False)
    assert comparison_of(ended, Question.REACHABLE, STRATEGIES, Strategy.WALK) is None


@pytest.fixture
def pool(tmp_path: Path) -> GitRepository:
    made = GitRepository.init(tmp_path / "pool.git")
    made.commit({"a": "one\n" * 50})
    made.repack()
    return made


@pytest.fixture
def member(tmp_path: Path, pool: GitRepository) -> GitRepository:
    made = GitRepository.init(tmp_path / "member.git")
    made.borrow_from(pool)
    made.commit({"b": "two\n" * 50})
    made.repack("-l")
    return made


@pytest.fixture
def history(tmp_path: Path):
    with open_history(os.fspath(tmp_path / "state.db")) as opened:
        yield opened


class Asked:
    """`gitdash size --exclude-alternates` of a repository, and an experiment on it."""

    def __init__(self, path: Path, history) -> None:
        self.path, self.history = os.fsencode(path), history
        self.program = find_git(GIT)
        self.settings = load_settings(None, home=os.fspath(path.parent))
        self.sizing = Sizing(self.program, history=history, clock=lambda: NOW_S, time_limit_s=60.0)

    def report(self):
        repository = find_repository(self.path, settings=self.settings, effective_uid=os.geteuid())
        return report_single(
            repository,
            settings=self.settings,
            history=self.history,
            program=self.program,
            effective_uid=os.geteuid(),
            now_s=NOW_S,
        ).facts

    def choice(self):
        asked = SizeQuestion(question=Question.REACHABLE_OWN)
        return self.sizing.prepare(self.report(), asked, cancel=threading.Event()).choice

    def experiment(self, *variants, meanwhile=lambda: None, **more):
        remembering = Remembering(self.report(), self.sizing, cancel=threading.Event())
        meanwhile()
        return remembering.remember(
            self.report(),
            result(path=self.path, variants=variants, **more),
            question=Question.REACHABLE_OWN,
            strategies=STRATEGIES,
            experiments=self.history.experiments,
        )


def test_winner_is_taken_until_something_changes(pool: GitRepository, member: GitRepository, history) -> None:
    asked = Asked(member.path, history)
    assert asked.choice().strategy is Strategy.WALK
    said = asked.experiment(SLOW, measured("union", 1.0, 1.0, 1.0))
    assert said is not None
    assert (said.by_rule, said.winner, said.regret) == (Strategy.WALK, Strategy.UNION, 4.0)
    assert asked.choice().strategy is Strategy.UNION
    assert "fastest" in asked.choice().reason
    pool.repack("--write-bitmap-index")
    assert asked.choice().strategy is Strategy.WALK


@pytest.mark.parametrize("change", ["bitmap of the lender", "commit-graph", "reference"])
def test_what_makes_git_faster_or_the_size_another_ends_it(
    pool: GitRepository, member: GitRepository, history, change: str
) -> None:
    pool.repack("--write-bitmap-index")
    asked = Asked(member.path, history)
    asked.experiment(SLOW, measured("union", 1.0, 1.0, 1.0))
    assert asked.choice().strategy is Strategy.UNION
    match change:
        case "bitmap of the lender":
            next((pool.git_dir / "objects" / "pack").glob("*.bitmap")).unlink()
        case "commit-graph":
            member.git("commit-graph", "write", "--reachable")
        case "reference":
            member.git("update-ref", "refs/heads/other", "HEAD")
    assert asked.choice().strategy is Strategy.WALK


def test_change_during_the_experiment_and_a_cold_cache_leave_the_rule(member: GitRepository, history) -> None:
    asked = Asked(member.path, history)
    variants = (SLOW, measured("union", 1.0, 1.0, 1.0))
    assert asked.experiment(*variants, meanwhile=lambda: member.commit({"c": "three\n"})) is None
    assert asked.experiment(*variants, cache=CacheState.COLD) is None
    assert asked.choice().strategy is Strategy.WALK


def test_intervals_that_do_not_part_leave_the_rule_and_keep_the_regret(member: GitRepository, history) -> None:
    asked = Asked(member.path, history)
    said = asked.experiment(measured("walk", 1.0, 2.0, 3.0), measured("union", 0.5, 1.0, 1.5))
    assert said is not None
    assert (said.winner, said.regret) == (None, 2.0)
    assert asked.choice().strategy is Strategy.WALK
