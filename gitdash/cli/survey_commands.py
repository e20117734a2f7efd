"""The commands over many repositories, their options and their help; what they do stands in a module for each.

Nothing heavy is imported before a command runs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gitdash.cli.session import Session
from gitdash.cli.shared_options import CONTEXT, ROOTS, format_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SIZES = ("disk", "exclusive", "reachable", "all")
_SORT_HELP = (
    "Sort by this column: the biggest number, the worst state, the first name comes first; `-COLUMN` turns the order"
    " round."
)


def _complete_column(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from gitdash.cli.completion import complete_column

    return complete_column(ctx, parameter, incomplete)


def _complete_columns(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from gitdash.cli.completion import complete_columns

    return complete_columns(ctx, parameter, incomplete)


def _survey_options(command: _Command) -> _Command:
    for option in (
        click.option(
            "--sizes",
            type=click.Choice(_SIZES),
            help="What to measure beyond file sizes: index differences, what git answers, or both; without it, what"
            " --columns, --sort and --where need.",
        ),
        click.option("--where", metavar="SQL", help="Only rows for which this SQL condition over columns holds."),
        click.option("--sort", metavar="COLUMN", shell_complete=_complete_column, help=_SORT_HELP),
        click.option(
            "--columns", metavar="A,B", shell_complete=_complete_columns, help="These columns, in this order."
        ),
        ROOTS,
    ):
        command = option(command)
    return command


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash scan /srv/git --sort exclusive
  gitdash scan /srv/git --format csv --columns path,disk,packs
  gitdash scan /srv/git --where "bitmap IS NULL AND packs > 10"
""",
)
@format_option(("table", "json", "jsonl", "csv", "markdown"))
@_survey_options
@click.pass_obj
def scan(session: Session, /, **options: Any) -> None:  # noqa: ANN401 - the options above, by name
    """Find, inspect and judge all repositories below ROOT, and print them."""
    from gitdash.cli.scan import ScanOptions, run_scan

    click.get_current_context().exit(run_scan(session, ScanOptions(**options)))


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash check /srv/git                          exit 1 from warnings on
  gitdash check /srv/git --fail-on critical
""",
)
@click.option(
    "--fail-on",
    type=click.Choice(("notice", "warning", "critical")),
    default="warning",
    show_default=True,
    help="The least severity for exit code 1.",
)
@click.option(
    "--sizes",
    type=click.Choice(_SIZES),
    default="disk",
    show_default=True,
    help="What to measure before judging. What only a measurement shows goes unseen without it: duplicate-objects needs"
    " `exclusive`, measurement-notes and shallow-hides-objects need `reachable`, size-unreadable `all`.",
)
@ROOTS
@click.pass_obj
def check(session: Session, roots: tuple[bytes, ...], fail_on: str, sizes: str) -> None:
    """Print findings, one a line; exit 1 if one is at or above --fail-on, or a measurement failed."""
    from gitdash.cli.check import run_check

    click.get_current_context().exit(run_check(session, roots, fail_on=fail_on, sizes=sizes))
