"""The commands on one repository, their options and their help; what they do stands in a module for each.

Nothing heavy is imported before a command runs.
"""

from typing import Any

import click

from gitdash.cli.session import Session
from gitdash.cli.shared_options import CONTEXT, PATH, Count, format_option


@click.command(context_settings=CONTEXT)
@format_option()
@click.argument("repository", type=PATH, metavar="REPO")
@click.pass_obj
def show(session: Session, repository: bytes, output_format: str) -> None:
    """Print everything about one repository: facts, findings with remedies, sizes, remotes."""
    from gitdash.cli.show import run_show

    click.get_current_context().exit(run_show(session, repository, output_format=output_format))


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash size x.git                              what a full clone costs
  gitdash size x.git --exclude-alternates         without what the lender's references reach
  gitdash size x.git --exclude-refs 'refs/merge-requests/*' --exclude-refs 'refs/pipelines/*'
  gitdash size x.git --explain                    which strategy, why, and why the five figures differ
""",
)
@click.option("--exclude-alternates", is_flag=True, help="Leave out what is reachable from the lenders' references.")
@click.option(
    "--exclude-refs",
    metavar="GLOB",
    multiple=True,
    help="Leave out references that match, as in `git rev-list --exclude`; may be given several times.",
)
@click.option(
    "--strategy",
    type=click.Choice(("auto", "bitmap", "walk", "union")),
    default="auto",
    show_default=True,
    help="How to obtain the figure.",
)
@click.option("--explain", is_flag=True, help="Say which strategy, why, what it costs, and why the figures differ.")
@format_option()
@click.argument("repository", type=PATH, metavar="REPO")
@click.pass_obj
def size(session: Session, /, **options: Any) -> None:  # noqa: ANN401 - the options above, by name
    """Ask git how many bytes on disk the reachable objects of one repository take."""
    from gitdash.cli.size import SizeOptions, run_size

    click.get_current_context().exit(run_size(session, SizeOptions(**options)))


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash history                                 what was done last, to whichever repository
  gitdash history x.git                           what was done to it, the newest first
  gitdash history x.git --limit 1 --verbose       the last, with every command
  gitdash history x.git --format json             everything as data
""",
)
@format_option()
@click.option("--limit", type=Count(1), default=20, show_default=True, help="At most so many, the newest.")
@click.option("--verbose", "-v", is_flag=True, help="Print references, files and every command, too.")
@click.argument("repository", type=PATH, metavar="[REPO]", required=False)
@click.pass_obj
def history(session: Session, repository: bytes | None, output_format: str, limit: int, verbose: bool) -> None:
    """Print what gitdash did to one repository, or to all: when, how it went, and what changed."""
    from gitdash.cli.history import run_history

    code = run_history(session, repository, output_format=output_format, limit=limit, is_verbose=verbose)
    click.get_current_context().exit(code)


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash forget /srv/git/x.git                   it is gone for good
  gitdash forget /var/lib/ci --dry-run            what would be forgotten of all that lies below
  gitdash forget /mnt/backup --yes                also what may only be out of sight, as not mounted
  gitdash forget --searched /                     reclaim does not look for borrowers below it any more
""",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
@click.option("--yes", "agreed", is_flag=True, help="Forget also what may only be out of sight, without a question.")
@click.option(
    "--searched", is_flag=True, help="Forget that PATH was searched: reclaim looks for no borrowers below it."
)
@format_option()
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="PATH...")
@click.pass_obj
def forget(session: Session, /, **options: Any) -> None:  # noqa: ANN401 - the options above, by name
    """Forget repositories at or below each PATH that are gone for good: reports, sizes, and whom they borrowed from.

    What borrowed from a repository keeps that from being reclaimed, also while it is away. What is there is not
    forgotten, and no repository is touched. What gitdash did to them stays in `gitdash history`.
    """
    from gitdash.cli.forget import ForgetCommand, run_forget, run_forget_searched

    run = run_forget_searched if options.pop("searched") else run_forget
    click.get_current_context().exit(run(session, ForgetCommand(**options)))
