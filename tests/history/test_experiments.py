"""Experiments in the state file: what comes back, in which order, how many, and for which fingerprint."""

import contextlib
import sqlite3
from pathlib import Path

import msgspec
import pytest

from gitdash.history import experiments
from gitdash.history.store import HistoryError, open_history
from gitdash.model.experiment import ExperimentKind, StrategyComparison
from gitdash.model.sizes import Question, Strategy
from tests.history.test_store import write_older_file
from tests.support.experiment_results import MOMENT_S, result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def comparison(**more) -> StrategyComparison:
    fields = {
        "question": Question.REACHABLE_OWN,
        "by_rule": Strategy.WALK,
        "by_rule_s": 6.0,
        "best": Strategy.UNION,
        "best_s": 1.5,
        "winner": Strategy.UNION,
        "measured_at_s": MOMENT_S,
        "git_version": "2.39.5",
    }
    return StrategyComparison(**(fields | more))


def test_result_comes_back_as_it_was_with_its_number(path: Path) -> None:
    with open_history(str(path)) as history:
        saved = history.experiments.save(result())
        assert saved == msgspec.structs.replace(result(), number=saved.number)
        assert saved.number > 0
    with open_history(str(path)) as history:
        assert history.experiments.one(saved.number) == saved
        assert history.experiments.one(saved.number + 1) is None


def test_results_are_those_of_a_repository_and_kind_the_newest_first(path: Path) -> None:
    with open_history(str(path)) as history:
        save = history.experiments.save
        first = save(result(path=b"/a"))
        other = save(result(path=b"/b"))
        lookup = save(result(path=b"/a", kind=ExperimentKind.LOOKUP))
        last = save(result(path=b"/a"))
        newest = history.experiments.newest
        assert newest(limit=9) == (last, lookup, other, first)
        assert newest(b"/a", limit=9) == (last, lookup, first)
        assert newest(b"/a", ExperimentKind.SIZE, limit=9) == (last, first)
        assert newest(None, ExperimentKind.SIZE, limit=2) == (last, other)
        assert newest(b"/c", limit=9) == ()


def test_oldest_results_are_dropped_and_numbers_not_given_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "MOST_EXPERIMENTS", 3)
    with open_history(str(path)) as history:
        saved = [history.experiments.save(result()).number for _ in range(5)]
        assert [one.number for one in history.experiments.newest(limit=9)] == saved[:1:-1]
        assert len(set(saved)) == 5


def test_results_outlive_a_repository_and_its_comparison_does_not(path: Path) -> None:
    with open_history(str(path)) as history:
        history.experiments.save(result(path=b"/a"))
        for name in (b"/a", b"/b"):
            history.experiments.save_comparison(name, comparison(), fingerprint=b"f")
        history.forget([b"/a"])
        assert len(history.experiments.newest(b"/a", limit=9)) == 1
        assert history.experiments.comparison(b"/a", Question.REACHABLE_OWN, b"f") is None
        assert history.experiments.comparison(b"/b", Question.REACHABLE_OWN, b"f") == comparison()


def test_comparison_holds_for_its_question_and_fingerprint_only(path: Path) -> None:
    with open_history(str(path)) as history:
        known = history.experiments
        known.save_comparison(b"/a", comparison(best_s=9.0), fingerprint=b"f")
        known.save_comparison(b"/a", comparison(), fingerprint=b"f")
        assert known.comparison(b"/a", Question.REACHABLE_OWN, b"f") == comparison()
        assert known.comparison(b"/a", Question.REACHABLE_OWN, b"g") is None
        assert known.comparison(b"/a", Question.REACHABLE, b"f") is None
        assert known.comparison(b"/b", Question.REACHABLE_OWN, b"f") is None


def test_regret_is_how_many_times_as_long_the_choice_takes() -> None:
    assert comparison().regret == 4.0
    assert comparison(best=Strategy.WALK, best_s=6.0).regret == 1.0
    assert comparison(best_s=0.0).regret == 1.0


def test_result_that_no_longer_decodes_counts_as_unknown(path: Path) -> None:
    with open_history(str(path)) as history:
        number = history.experiments.save(result()).number
        history.experiments.save_comparison(b"/a", comparison(), fingerprint=b"f")
    change(path, "UPDATE experiments SET result = x'00'", "UPDATE comparisons SET comparison = x'00'")
    with open_history(str(path)) as history:
        assert history.experiments.one(number) is None
        assert history.experiments.newest(limit=9) == ()
        assert history.experiments.comparison(b"/a", Question.REACHABLE_OWN, b"f") is None


@pytest.mark.parametrize("statement", ["UPDATE experiments SET result = 5", "UPDATE experiments SET result = 'text'"])
def test_value_of_another_kind_is_damage(path: Path, statement: str) -> None:
    with open_history(str(path)) as history:
        history.experiments.save(result())
    change(path, statement)
    with open_history(str(path)) as history, pytest.raises(HistoryError, match="is damaged"):
        history.experiments.newest(limit=9)


def test_older_file_gets_the_tables(path: Path) -> None:
    write_older_file(path, 4)
    with open_history(str(path)) as history:
        assert history.report(b"/a") is not None
        assert history.experiments.newest(limit=9) == ()
        assert history.experiments.save(result()).number == 1
        assert history.problem is None


def test_result_that_cannot_be_written_keeps_number_0(path: Path) -> None:
    with open_history(str(path)) as history:
        history.experiments.save(result())
    change(path, "DROP TABLE experiments")
    with open_history(str(path)) as history:
        assert history.experiments.save(result()) == result()
        assert "nothing more is remembered" in (history.problem or "")


def change(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
