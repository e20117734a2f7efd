"""`gitdash bench` with experiments that are made up: what is printed, kept and compared, and how it ends."""

import csv
import json
import os
import sys
from pathlib import Path

import pytest

from gitdash.cli.bench import BenchOptions, run_bench
from gitdash.cli.bench_stored import run_list, run_show
from gitdash.cli.session import Session
from gitdash.errors import ExitCode, GitdashError
from gitdash.history.store import open_history
from gitdash.lab.experiments import Experiment
from gitdash.lab.method import run_interleaved
from gitdash.lab.request import ExperimentError, NoSuchChoiceError
from gitdash.lab.variant import Measured, Variant
from gitdash.model.experiment import ExperimentKind, ExperimentResult
from tests.cli.process import Gitdash
from tests.support.experiment_results import result
from tests.support.repositories import GIT, GitRepository


def variant(name: str, wall_s: float, **more) -> Variant:
    return Variant(
        name=name,
        title=name.title(),
        explanation=f"Takes {wall_s} s.",
        run=lambda _context: Measured(wall_s=wall_s, user_s=wall_s, system_s=0.0, answer=7),
        **more,
    )


def experiment(*variants: Variant, fingerprint=lambda: b"state") -> Experiment:
    return Experiment(
        title="Fast and slow",
        explanation="Says which is which.",
        run=lambda request: run_interleaved(variants, request, kind=ExperimentKind.LOOKUP, fingerprint=fingerprint),
        variants_of=lambda _request: variants,
    )


FAST, SLOW, TOO_NEW = variant("fast", 0.01), variant("slow", 0.04), variant("new", 1.0, skipped="needs git 99.1")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = GitRepository.init(tmp_path / "x.git")
    made.commit({"a": "one\n"})
    return tmp_path / "x.git"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "state").mkdir()
    return Session(
        config_path=None, state_path=os.fspath(tmp_path / "state" / "state.db"), keeps_state=True, git_program=GIT
    )


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, session: Session, repository: Path, capfd: pytest.CaptureFixture[str]):
    """Make an experiment of variants; returns the exit code, stdout and stderr."""

    def run(*variants: Variant, **options) -> tuple[int, str, str]:
        found = {ExperimentKind.LOOKUP: options.pop("experiment", None) or experiment(*variants)}
        monkeypatch.setattr("gitdash.cli.bench.EXPERIMENTS", found)
        given = {
            "kind": ExperimentKind.LOOKUP,
            "repository": os.fsencode(repository),
            "runs": None,
            "budget_s": 60.0,
            "cold": False,
            "variants": (),
            "explain": False,
            "output_format": "table",
            "plot_path": None,
            "special": {},
        }
        code = run_bench(session, BenchOptions(**(given | options)))
        return code, *capfd.readouterr()

    return run


def stored(session: Session):
    with open_history(session.state_path) as history:
        return history.experiments.newest(limit=99)


def test_experiment_is_printed_and_remembered(make, session: Session, repository: Path) -> None:
    code, out, err = make(FAST, SLOW, TOO_NEW)
    assert (code, err) == (ExitCode.DONE, "")
    assert out.startswith(f"#1 lookup of {repository}, ")
    assert "fast *" in out
    assert "not run: needs git 99.1" in out
    (kept,) = stored(session)
    assert kept.winner == "fast"
    assert kept.path == os.fsencode(repository)
    # the runs of each are alike, so five say enough
    assert [len([run for run in one.runs if run.is_counted]) for one in kept.variants] == [5, 5, 0]


def test_number_of_runs_and_variants_are_what_was_asked_for(make, session: Session) -> None:
    make(FAST, SLOW, TOO_NEW, runs=3, variants=("slow",))
    (kept,) = stored(session)
    assert [one.name for one in kept.variants] == ["slow"]
    assert len([run for run in kept.variants[0].runs if run.is_counted]) == 3


def test_variant_that_does_not_exist_is_wrong_use_and_names_those_that_do(make, session: Session) -> None:
    with pytest.raises(GitdashError, match="fast, slow"):
        make(FAST, SLOW, variants=("faster",))
    assert stored(session) == ()


def test_nothing_that_can_be_run_is_exit_1_and_is_not_remembered(make, session: Session) -> None:
    code, out, _ = make(TOO_NEW)
    assert code == ExitCode.FINDINGS
    assert "needs git 99.1" in out
    assert stored(session) == ()


def raising(error: GitdashError) -> Experiment:
    def run(_request) -> ExperimentResult:
        raise error

    return Experiment(title="None", explanation="Cannot be made.", run=run, variants_of=lambda _request: ())


def test_experiment_that_cannot_be_made_here_is_exit_1_and_says_why(make, session: Session) -> None:
    code, out, err = make(experiment=raising(ExperimentError("it has no reference that can be read")))
    assert (code, out) == (ExitCode.FINDINGS, "")
    assert err == "gitdash: nothing could be run: it has no reference that can be read\n"
    with pytest.raises(NoSuchChoiceError):
        make(experiment=raising(NoSuchChoiceError("no such variant")))
    assert stored(session) == ()


def test_explain_runs_nothing(make, session: Session) -> None:
    def must_not_run(_context):
        raise AssertionError

    fast = Variant(name="fast", title="Fast", explanation="By magic.", run=must_not_run)
    code, out, _ = make(fast, TOO_NEW, explain=True)
    assert code == ExitCode.DONE
    for expected in ("Says which is which.", "fast: Fast", "By magic.", "not here: needs git 99.1"):
        assert expected in out
    assert make(TOO_NEW, explain=True)[0] == ExitCode.FINDINGS
    assert stored(session) == ()


def test_formats_say_the_same(make) -> None:
    (record,) = json.loads(make(FAST, SLOW, output_format="json")[1])["experiments"]
    assert record["winner"] == "fast"
    rows = list(csv.DictReader(make(FAST, SLOW, output_format="csv")[1].splitlines()))
    assert {row["wall_s"] for row in rows if row["variant"] == "slow"} == {"0.040000"}
    assert "| fast \\* | 10.0 ms |" in make(FAST, SLOW, output_format="markdown")[1]


def test_plot_is_written_as_svg_and_as_png(make, tmp_path: Path) -> None:
    for name, start in (("x.svg", b"<?xml"), ("X.PNG", b"\x89PNG\r\n\x1a\n")):
        path = tmp_path / name
        code, _, err = make(FAST, SLOW, plot_path=os.fspath(path))
        assert code == ExitCode.DONE
        assert path.read_bytes().startswith(start)
        assert os.fspath(path) in err


@pytest.mark.parametrize("name", ["x.jpeg", "x", "missing/x.svg"])
def test_plot_that_cannot_be_written_is_said_before_anything_runs(
    make, session: Session, tmp_path: Path, name: str
) -> None:
    with pytest.raises(GitdashError, match=name):
        make(FAST, SLOW, plot_path=os.fspath(tmp_path / name))
    assert stored(session) == ()


@pytest.mark.safety
@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "link to a fifo"])
def test_plot_in_place_of_what_is_no_file_is_refused_before_anything_runs(
    make, session: Session, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "x.svg"
    if kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/null")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        os.mkfifo(tmp_path / "fifo")
        path.symlink_to("fifo")
    with pytest.raises(GitdashError, match="is no file"):
        make(FAST, SLOW, plot_path=os.fspath(path))
    assert stored(session) == ()


def test_png_without_its_library_names_the_extra(make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "PIL.ImageDraw", None)
    with pytest.raises(GitdashError, match=r"'\.\[plot\]'"):
        make(FAST, SLOW, plot_path=os.fspath(tmp_path / "x.png"))


def test_earlier_results_of_the_repository_stand_beside_a_new_one(make) -> None:
    assert not [line for line in make(FAST, SLOW)[1].splitlines() if line.startswith("  earlier")]
    out = make(FAST, SLOW)[1]
    (line,) = [line for line in out.splitlines() if line.strip().startswith("#1 ")]
    assert "same" in line
    assert "10.0 ms" in line
    changed = make(experiment=experiment(FAST, fingerprint=lambda: b"changed"))[1]
    assert [line.split()[4] for line in changed.splitlines() if line.startswith("  #")] == ["changed", "changed"]


def test_state_file_that_is_not_wanted_is_not_made(make, session: Session, tmp_path: Path) -> None:
    object.__setattr__(session, "keeps_state", False)
    code, out, _ = make(FAST, SLOW)
    assert code == ExitCode.DONE
    assert out.startswith("lookup of ")
    assert not (tmp_path / "state" / "state.db").exists()


def test_stored_experiments_are_listed_and_shown(session: Session, capfd: pytest.CaptureFixture[str]) -> None:
    with open_history(session.state_path) as history:
        for path in (b"/gone/a.git", b"/gone/b.git", b"/gone/a.git"):
            history.experiments.save(result(path=path))
    options = {"repository": None, "kind": None, "limit": 20, "output_format": "table"}
    assert run_list(session, **options) == ExitCode.DONE
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == ["number", "#3", "#2", "#1"]
    run_list(session, **(options | {"repository": b"/gone/a.git", "output_format": "json"}))
    assert [one["number"] for one in json.loads(capfd.readouterr().out)["experiments"]] == [3, 1]
    run_list(session, **(options | {"kind": "fetch"}))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "gitdash: no experiment is remembered\n")
    run_show(session, 3, output_format="table", plot_path=None)
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("#3 size of /gone/a.git, ")
    assert [line.split()[0] for line in lines if line.startswith("  #")] == ["#1"]
    with pytest.raises(GitdashError, match="no experiment has number 4"):
        run_show(session, 4, output_format="table", plot_path=None)


@pytest.mark.parametrize(
    "arguments",
    [
        ["size"],
        ["sizes", "x.git"],
        ["size", "x.git", "--runs", "0"],
        ["size", "x.git", "--budget", "nan"],
        ["size", "x.git", "--budget", "inf"],
        ["size", "x.git", "--budget", "0"],
        ["size", "x.git", "--curve"],
        ["show"],
        ["show", "0"],
        ["show", "77"],
        ["list", "--kind", "speed"],
        ["size", "nowhere.git"],
    ],
)
def test_wrong_use_is_exit_2(gitdash: Gitdash, arguments: list[str]) -> None:
    assert gitdash.run("bench", *arguments).returncode == 2


def test_nothing_to_list_without_a_state_file(gitdash: Gitdash) -> None:
    gitdash.options = ["--no-state"]
    finished = gitdash.run("bench", "list")
    assert finished.returncode == 2
    assert "nothing is remembered" in finished.stderr
