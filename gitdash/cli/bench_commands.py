"""The commands of the lab, their options and their help; what they do stands in `bench` and `bench_stored`.

Nothing heavy is imported before a command runs.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import click

from gitdash.cli.session import Session
from gitdash.cli.shared_options import CONTEXT, PATH, Count, Decorator, NamedPath, Seconds, format_option
from gitdash.model.experiment import ExperimentKind
from gitdash.model.fetch import PROTOCOLS

_KINDS: Final = tuple(kind.value for kind in ExperimentKind)

_FORMAT: Final = format_option(
    ("table", "json", "csv", "markdown"),
    text="How to print; `markdown` is a report for a change proposal, `csv` has a line for each run.",
)
_PLOT: Final = click.option(
    "--plot",
    "plot_path",
    metavar="FILE",
    type=NamedPath(dir_okay=False),
    help="Draw all runs into this file, .svg or .png.",
)


@click.group(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash bench size x.git                        which way to a size is the fastest here
  gitdash bench connectivity x.git --cold --runs 7
  gitdash bench lookup x.git --curve --plot lookups.svg
  gitdash bench fetch x.git --explain             what the variants do, and which can run here
  gitdash bench list x.git                        what was measured before
  gitdash bench show 12 --format markdown         one of it as a report

\b
Exit codes: 0 done, 1 nothing could be run, 2 wrong use, 130 interrupted (what was measured is printed and kept).
""",
)
def bench() -> None:
    """Compare ways to do the same on one repository, by measurement.

    Variants take turns, after one run each that does not count, at least 5 times, until the interval of each median
    is narrow, each has run 30 times, or the time is over. One wins only if its interval lies below all others. The
    repository is never written to: what needs other files runs on a throw-away copy, which is made first.
    """


def _experiment(kind: ExperimentKind, summary: str, more: Sequence[Decorator] = ()) -> click.Command:
    """Return the command of one kind of experiment; `more` are options that only it has."""

    @click.pass_obj
    def command(session: Session, /, **options: Any) -> None:  # noqa: ANN401 - the options below, by name
        from gitdash.cli.bench import BenchOptions, run_bench

        known = {name: options.pop(name) for name in _COMMON}
        # what is not given is not asked for: then an experiment goes by the variants that were chosen
        special = {name: value for name, value in options.items() if value}
        click.get_current_context().exit(run_bench(session, BenchOptions(kind=kind, special=special, **known)))

    for option in (*more, *_OPTIONS):
        command = option(command)
    return click.command(name=kind.value, help=summary, context_settings=CONTEXT)(command)


def _finite(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    """Refuse what a range lets through although no clock reaches it: `nan` and `inf`."""
    if not math.isfinite(value):
        raise click.BadParameter("is no number of seconds")
    return value


_OPTIONS: Final[tuple[Decorator, ...]] = (
    _PLOT,
    _FORMAT,
    click.option("--explain", is_flag=True, help="Say what the variants do and which can run here; run nothing."),
    click.option(
        "--variant",
        "variants",
        metavar="NAME",
        multiple=True,
        help="Only this variant; may be repeated. --explain names them.",
    ),
    click.option(
        "--cold", is_flag=True, help="Drive the files out of memory before each run, and see whether it worked."
    ),
    click.option(
        "--budget",
        "budget_s",
        metavar="S",
        type=Seconds(min=0, min_open=True),
        callback=_finite,
        default=60.0,
        show_default=True,
        help="Seconds for all runs together, without the copies that are made before; then no further run begins.",
    ),
    click.option(
        "--runs",
        metavar="N",
        type=Count(1),
        help="Just so many runs of each variant, however wide the intervals are; fewer than 5 give no verdict.",
    ),
    click.argument("repository", type=PATH, metavar="REPO"),
)
_COMMON: Final = ("repository", "runs", "budget_s", "cold", "variants", "explain", "output_format", "plot_path")

_CURVE: Final = click.option(
    "--curve", is_flag=True, help="Also in repositories of 1, 10, 100 and 1,000 packs, which are made."
)

_QUESTION: Final = click.option(
    "--question",
    metavar="TEXT",
    help="Which of its questions, or how it begins; without it the first that --explain names.",
)

_FETCHES: Final = (
    _QUESTION,
    click.option(
        "--remote",
        metavar="NAME",
        help="From this remote of REPO, into copies, instead of from a stand-in on this host.",
    ),
    click.option(
        "--protocol",
        "protocols",
        type=click.Choice(PROTOCOLS),
        multiple=True,
        help="What the remote may be fetched by, instead of what the configuration allows; may be repeated.",
    ),
    click.option(
        "--new-commits",
        metavar="N",
        type=Count(1),
        help="How many new commits the stand-in has, instead of 1.",
    ),
)

for _kind, _summary, _more in (
    (
        ExperimentKind.SIZE,
        "How a reachable size is obtained the fastest.",
        (_QUESTION,),
    ),
    (ExperimentKind.FETCH, "Whether offering the lender's references pays.", _FETCHES),
    (ExperimentKind.CONNECTIVITY, "What the check of a fetch costs, by parts of a bitmap.", (_QUESTION,)),
    (ExperimentKind.LOOKUP, "What finding an object costs among the packs.", (_QUESTION, _CURVE)),
    (ExperimentKind.FILESYSTEM, "What look-ups and writes cost on its file system.", ()),
    (ExperimentKind.CLONE, "What a clone costs here, counted and timed.", ()),
):
    bench.add_command(_experiment(_kind, _summary, _more))


@bench.command(name="list", context_settings=CONTEXT)
@click.option("--kind", type=click.Choice(_KINDS), help="Only experiments of this kind.")
@click.option("--limit", type=Count(1), default=20, show_default=True, help="At most so many, the newest.")
@format_option(("table", "json", "csv"))
@click.argument("repository", type=PATH, metavar="[REPO]", required=False)
@click.pass_obj
def list_command(session: Session, /, **options: Any) -> None:  # noqa: ANN401 - the options above, by name
    """Print the experiments that are remembered.

    Of REPO or of all repositories, the newest first.
    """
    from gitdash.cli.bench_stored import run_list

    click.get_current_context().exit(run_list(session, **options))


@bench.command(name="show", context_settings=CONTEXT)
@_FORMAT
@_PLOT
@click.argument("number", type=Count(1), metavar="NUMBER")
@click.pass_obj
def show_command(session: Session, number: int, output_format: str, plot_path: str | None) -> None:
    """Print one experiment that is remembered.

    NUMBER is what `gitdash bench list` says.
    """
    from gitdash.cli.bench_stored import run_show

    click.get_current_context().exit(run_show(session, number, output_format=output_format, plot_path=plot_path))
