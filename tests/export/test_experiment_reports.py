"""Experiments as lines, data and markdown: nothing is lost, nothing of a repository is markup or a formula."""

import csv
import json
import shlex
from pathlib import Path

import msgspec
import pytest

from gitdash.export.experiment_lines import comparison_line, experiment_lines, list_lines
from gitdash.export.experiment_markdown import experiment_markdown
from gitdash.export.experiment_record import experiments_csv, experiments_document
from gitdash.export.json_values import json_text
from gitdash.gitcmd.environment import config_arguments
from gitdash.model.experiment import ExperimentKind, StrategyComparison, Summary
from gitdash.model.ledger import Phase
from gitdash.model.sizes import Question, Strategy
from tests.support.experiment_results import MOMENT_S, result, run, variant, variants

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def text_of(one=None, **more) -> str:
    return "\n".join(experiment_lines(one or result(), width=100, **more))


def document(*results) -> dict:
    return json.loads(json_text(experiments_document(results, gitdash_version="0.1.0", now_s=MOMENT_S)))


def test_json_has_every_field_of_every_record() -> None:
    (experiment,) = document(result(number=3, notes=("one",)))["experiments"]
    fields = {field.name for field in msgspec.structs.fields(result())}
    times = {name for name in fields if name.endswith("_at_s")}
    assert set(experiment) == fields - times | {"started_at", "path_bytes_base64"}
    assert experiment["number"] == 3
    assert experiment["fingerprint"] == "7072696e74"
    assert experiment["started_at"] == "2023-11-14T22:13:20Z"
    first, _, skipped = experiment["variants"]
    assert skipped["skipped"] == "needs git 2.46"
    assert [one["wall_s"] for one in first["runs"]] == [0.1, 0.12, 0.11, 0.1, 0.14]
    assert first["summary"] == {"count": 5, "median_s": 0.11, "minimum_s": 0.1, "low_s": 0.1, "high_s": 0.14}


def test_csv_has_a_line_for_each_run_and_each_variant_without_any() -> None:
    rows = list(csv.DictReader(experiments_csv([result(number=3)]).splitlines()))
    assert [row["variant"] for row in rows] == ["bitmap"] * 5 + ["walk"] * 5 + ["pseudo-merges"]
    assert rows[0]["wall_s"] == "0.100000"
    assert rows[0]["run"] == "1"
    assert rows[0]["answer"] == "4096"
    assert rows[0]["experiment"] == "3"
    assert rows[-1]["skipped"] == "needs git 2.46"
    assert rows[-1]["wall_s"] == ""


def test_csv_keeps_zero_and_unknown_apart() -> None:
    runs = (run("x", 1, 0.5, read_bytes=0, user_s=None),)
    (row,) = csv.DictReader(experiments_csv([result(variants=(variant("x", (), None, runs=runs),))]).splitlines())
    assert (row["read_bytes"], row["user_s"]) == ("0", "")


@pytest.mark.safety
def test_csv_has_no_formula() -> None:
    (row, *_) = csv.DictReader(experiments_csv([result(path=b"=HYPERLINK(1)")]).splitlines())
    assert row["path"] == "'=HYPERLINK(1)"


def test_lines_have_verdict_figures_commands_and_circumstances() -> None:
    text = text_of()
    for expected in (
        "size of /srv/\\xff.git, 2023-11-14 22:13:20 UTC",
        "bitmap is 3.8 times as fast as walk",
        "bitmap *",
        "100 ms to 140 ms",
        "3.82",  # 0.42 / 0.11
        "82.5 ms",  # three quarters of 0.11
        "~4,096",
        "counts 1,024 bytes more",
        "not run: needs git 2.46",
        "git rev-list --walk",
        "warm cache",
        "file system ext4",
        "fingerprint 7072696e74",
    ):
        assert expected in text


def test_lines_say_what_makes_a_result_doubtful() -> None:
    text = text_of(result(is_complete=False, discarded_count=2, notes=("the lender is far away",)))
    assert "Not complete" in text
    assert "2 runs were thrown away" in text
    assert "the lender is far away" in text
    assert "Not complete" not in text_of()
    assert "thrown away" not in text_of()


def test_earlier_results_stand_beside_each_other() -> None:
    earlier = [
        result(number=5, fingerprint=b"other", git_version="2.30.1"),
        result(number=4, variants=variants()[1:]),
    ]
    lines = text_of(earlier=earlier).splitlines()
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["earlier"])
    assert lines[at].split()[-2:] == ["bitmap", "walk"]
    assert lines[at + 1].split() == ["#5", "2023-11-14", "2.30.1", "warm", "changed", "110", "ms", "420", "ms"]
    assert lines[at + 2].split() == ["#4", "2023-11-14", "2.39.5", "warm", "same", "-", "420", "ms"]


def test_phases_and_counts_are_medians_of_the_runs_that_count() -> None:
    runs = tuple(
        run("x", number, 1.0, phases=(Phase(name="connect", elapsed_s=elapsed_s),), counts={"lookups": count})
        for number, elapsed_s, count in ((0, 9.0, 900), (1, 0.1, 10), (2, 0.3, 30), (3, 0.2, 2000))
    )
    text = text_of(result(variants=(variant("x", (), None, runs=runs),)))
    assert "connect 200 ms" in text
    assert "lookups 30" in text


def test_list_has_a_line_for_each_with_its_winner() -> None:
    lines = list_lines([result(number=9), result(number=8, winner=None, is_complete=False)], MOMENT_S + 7200)
    assert lines[1].split() == ["#9", "2h", "size", "warm", "bitmap", "/srv/\\xff.git"]
    assert "none (not complete)" in lines[2]


COMPARED = StrategyComparison(
    question=Question.REACHABLE_OWN,
    by_rule=Strategy.WALK,
    by_rule_s=6.0,
    best=Strategy.UNION,
    best_s=1.5,
    winner=Strategy.UNION,
    measured_at_s=MOMENT_S,
    git_version="2.39.5",
)


def test_regret_stands_in_every_form_of_a_result() -> None:
    kept = result(comparison=COMPARED, winner=None, verdict="No verdict: the intervals do not part.")
    # the verdict is on all variants, this on those that gitdash can take
    sentence = "Of what `gitdash size` can do here, copies left out, union was the fastest, and is taken until"
    assert sentence in text_of(kept)
    assert "regret 4.00." in text_of(kept)
    assert "regret 4.00." in experiment_markdown(kept)
    (record,) = document(kept)["experiments"]
    assert (record["comparison"]["winner"], record["comparison"]["regret"]) == ("union", 4.0)
    assert record["comparison"]["measured_at"] == "2023-11-14T22:13:20Z"


def test_time_that_copies_took_is_said() -> None:
    (head, *_) = text_of(result(elapsed_s=3.4, prepared_s=33.0)).splitlines()
    assert head.endswith(", 3.4 s after 33.0 s of preparing")
    assert "preparing" not in text_of(result(prepared_s=0.01))


def test_comparison_says_what_it_costs_to_go_by_the_rule() -> None:
    compared = COMPARED
    text = comparison_line(compared, MOMENT_S + 60)
    assert "1m ago" in text
    assert "union was the fastest" in text
    assert "regret 4.00" in text
    assert "the rule stays" in comparison_line(msgspec.structs.replace(compared, winner=None), MOMENT_S)


def test_markdown_has_what_a_reader_needs_to_doubt_it() -> None:
    text = experiment_markdown(result(kind=ExperimentKind.LOOKUP, question="without the lender", is_complete=False))
    for expected in (
        "## gitdash bench lookup: without the lender",
        "`/srv/\\xff.git`",
        "| variant | median |",
        "| walk | 420 ms | 400 ms to 500 ms |",
        "Not complete",
        "Not run: needs git 2.46",
        "  git rev-list --bitmap",
        "- git 2.39.5",
    ):
        assert expected in text


@pytest.mark.safety
def test_markdown_from_a_repository_is_no_markup() -> None:
    hostile = "<img src=x> [a](http://x) `b` *c* @all #1 www.x.org"
    text = experiment_markdown(
        result(
            path=b"/a`</code><b>\x1b]8;;\x07",
            verdict=hostile,
            notes=(hostile,),
            variants=(variant("x", (0.1,), None, argv=("git", "```\n# head"), note=hostile),),
        )
    )
    outside = "\n".join(line for line in text.splitlines() if hostile[1:4] in line)
    assert "\\<img src=x\\> \\[a\\](http\\://x) \\`b\\` \\*c\\* \\@all \\#1 www\\.x.org" in outside
    assert "<img" not in outside.replace("\\<img", "")
    assert "`` /a`</code><b>" in text
    assert "\x1b" not in text
    assert "\n# head" not in text
    assert "````text" in text


def test_pairs_of_every_call_are_left_out_for_people_alone() -> None:
    pairs = tuple(config_arguments())
    argv = ("GIT_OBJECT_DIRECTORY=/o", "/usr/bin/git", *pairs, "-c", "pack.threads=1", "rev-list", "--stdin")
    made = result(variants=(variant("x", (0.5,), None, argv=argv, stdin="2 lines, from 1 to ^2"),))
    text = text_of(made)
    assert "    GIT_OBJECT_DIRECTORY=/o /usr/bin/git -c pack.threads=1 rev-list --stdin\n" in text
    assert "    on stdin: 2 lines, from 1 to ^2\n" in text
    assert f"commands without {len(pairs) // 2} pairs of -c that each call gets" in text
    for whole in (experiment_markdown(made), experiments_csv([made]).replace('""', '"')):
        assert shlex.join(argv) in whole
        assert "2 lines, from 1 to ^2" in whole.replace("\\", "")


def test_columns_in_which_nothing_is_known_are_left_out() -> None:
    runs = (run("x", 1, 0.5, answer=None, user_s=None, system_s=None, read_bytes=None, peak_memory_bytes=None),)
    summary = Summary(count=1, median_s=0.5, minimum_s=0.5, low_s=0.5, high_s=0.5)
    unknown = result(variants=(variant("x", (), summary, runs=runs),))
    heads = next(line for line in text_of(unknown).splitlines() if "median" in line).split()
    assert heads == ["variant", "median", "minimum", "times", "runs"]
    assert "| variant | median | minimum | times | runs |" in experiment_markdown(unknown)


def names(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(names, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(names(child) for key, child in value.items() if key != "counts"))


def test_readme_names_all_of_the_json() -> None:
    runs = (run("x", 1, 0.5, phases=(Phase(name="connect", elapsed_s=0.1),), counts={"lookups": 1}),)
    written = document(
        result(comparison=COMPARED), result(path=b"/a.git", variants=(variant("x", (), None, runs=runs),))
    )
    shown = {name for name in names(written) if f"`{name}`" in README or f'"{name}"' in README}
    assert {name for name in names(written) - shown if not name.endswith("_bytes_base64")} == set()
