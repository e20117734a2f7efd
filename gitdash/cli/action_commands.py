"""The commands that act on repositories, their options and their help; what they do stands in a module for each.

Nothing heavy is imported before a command runs.
"""

from typing import TYPE_CHECKING, Any

import click

from gitdash.cli.session import Session
from gitdash.cli.shared_options import CONTEXT, PATH, Seconds, format_option
from gitdash.model.fetch import PROTOCOLS
from gitdash.model.task import Task

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_REPOSITORIES = click.argument("paths", nargs=-1, required=True, type=PATH, metavar="REPO|ROOT...")
_VERBOSE = click.option("--verbose", "-v", is_flag=True, help="Print every command, its seconds and what it said.")
_WHERE = click.option(
    "--where", metavar="SQL", help="Only repositories for which this SQL condition over the columns of a scan holds."
)


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash fetch ~/src                             all remotes of all below it, four at a time
  gitdash fetch mirror.git --remote origin --prune
  gitdash fetch x.git --dry-run                   which references would change
  gitdash fetch x.git --format json               phases, bytes and references as data
""",
)
@click.option("--remote", "remotes", metavar="NAME", multiple=True, help="Only from this remote; may be repeated.")
@click.option(
    "--group",
    metavar="NAME",
    help="Only from the remotes of this group, `remotes.NAME` of the config, and from those of --remote.",
)
@click.option(
    "--alternate-refs",
    type=click.Choice(("auto", "suppress", "use")),
    help="Whether a member offers its lender's references to the server.",
)
@click.option(
    "--prune/--no-prune", default=None, help="Remove references that are gone there; else as a mirror's config says."
)
@click.option(
    "--protocol",
    "protocols",
    type=click.Choice(PROTOCOLS),
    multiple=True,
    help="What may be fetched by, instead of what the configuration allows; may be repeated.",
)
@click.option("--time-limit", "time_limit_s", metavar="S", type=Seconds(min=0, min_open=True), help="Seconds for each.")
@click.option("--dry-run", is_flag=True, help="Only say which references would change; downloads, and keeps nothing.")
@format_option()
@_VERBOSE
@_WHERE
@_REPOSITORIES
@click.pass_obj
def fetch(session: Session, /, **options: Any) -> None:  # noqa: ANN401 - the options above, by name
    """Fetch into each REPO, timed, and say what came of it: bytes, references, and where the time went.

    A folder that is in no repository stands for all repositories below it.

    The repository's own configuration chooses no program and no other address; the user's does.
    """
    from gitdash.cli.fetch import FetchCommand, run_fetch

    click.get_current_context().exit(run_fetch(session, FetchCommand(**options)))


def _complete_task(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(task.value) for task in Task if task.value.startswith(incomplete)]


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash maintain x.git --dry-run                the plan: commands, gain, and every refusal
  gitdash maintain /srv/git --yes                 what the findings ask for, without a question
  gitdash maintain /srv/git --where "packs > 50" --task geometric-repack
  gitdash maintain x.git --task pack-refs --task commit-graph
  gitdash maintain x.git --format script > plan.sh
  gitdash maintain x.git --task reclaim --confirm x.git    once a folder around it was scanned
""",
)
@click.option(
    "--task",
    "tasks",
    metavar="NAME",
    multiple=True,
    shell_complete=_complete_task,
    help="This task instead of what the findings ask for; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan, and run nothing.")
@click.option("--yes", "agreed", is_flag=True, help="Run what nothing speaks against, without a question.")
@click.option(
    "--confirm",
    "confirmed_name",
    metavar="NAME",
    help="The repository's name, to confirm `reclaim`, the one task that drops objects.",
)
@format_option(
    ("table", "json", "script"),
    text="How to print; `script` prints the plan as a shell script, and runs nothing.",
)
@_VERBOSE
@_WHERE
@_REPOSITORIES
@click.pass_obj
def maintain(session: Session, /, tasks: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - by name, see above
    """Make the plan of each REPO from its findings, show it, and run it once that is agreed.

    A folder that is in no repository stands for all repositories below it.

    Nothing but the task `reclaim` drops an object, and no plan has that unless it is asked for. A task that there is
    not is refused, with exit code 3.
    """
    from gitdash.cli.maintain import MaintainCommand, run_maintain

    command = MaintainCommand(task_names=tasks, **options)
    click.get_current_context().exit(run_maintain(session, command))
