"""The command line as a whole, and the commands that are about no repository.

Nothing heavy is imported before a command runs.
"""

from collections.abc import Callable
from typing import Any

import click

from gitdash import __version__
from gitdash.cli.action_commands import fetch, maintain
from gitdash.cli.bench_commands import bench
from gitdash.cli.repository_commands import forget, history, show, size
from gitdash.cli.roots_or_command import RootsOrCommand
from gitdash.cli.serve import WebServer
from gitdash.cli.session import Dashboard, Session
from gitdash.cli.shared_options import CONTEXT, FILE, HELP_OPTIONS, PATH, ROOTS
from gitdash.cli.survey_commands import check, scan


def make_command_line(dashboard: Dashboard, web_server: WebServer) -> click.Group:
    """Return the whole command line; `dashboard` opens the terminal dashboard, `web_server` serves it to browsers."""
    group = _group(dashboard)
    for command in (
        scan,
        show,
        size,
        check,
        fetch,
        maintain,
        history,
        forget,
        bench,
        completion,
        _demo(dashboard),
        _serve(web_server),
    ):
        group.add_command(command)
    for command in (group, group.roots_command, bench, *bench.commands.values(), *group.commands.values()):
        _print_help_ourselves(command)
    return group


def _print_help_ourselves(command: click.Command) -> None:
    """Have --help write as all else is written: click's own ends in a traceback where that fails."""
    option = command.get_help_option(click.Context(command, help_option_names=HELP_OPTIONS))
    if option is not None:
        option.callback = _print_help


def _print_help(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    _print_and_exit(ctx, value, ctx.get_help)


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    _print_and_exit(ctx, value, lambda: f"gitdash {__version__}")


def _print_and_exit(ctx: click.Context, is_wanted: bool, text: Callable[[], str]) -> None:
    if is_wanted and not ctx.resilient_parsing:
        from gitdash.cli.output import write_text

        write_text(f"{text()}\n")
        ctx.exit()


def _group(dashboard: Dashboard) -> RootsOrCommand:
    @click.command(name="dashboard", context_settings=CONTEXT)
    @ROOTS
    @click.pass_obj
    def roots_command(session: Session, roots: tuple[bytes, ...]) -> None:
        """Open the dashboard on ROOTs."""
        from gitdash.cli.scan import open_dashboard_or_scan

        click.get_current_context().exit(open_dashboard_or_scan(session, roots, dashboard))

    @click.group(
        cls=RootsOrCommand,
        invoke_without_command=True,
        subcommand_metavar="[ROOT]...",
        context_settings=CONTEXT,
        epilog=_GROUP_EPILOG,
        short_help="A terminal dashboard for the health of many Git repositories.",
    )
    @click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_print_version,
        help="Show the version and exit.",
    )
    @click.option(
        "--config", "config_path", metavar="FILE", type=FILE, help="Configuration file instead of the default one."
    )
    @click.option(
        "--state", "state_path", metavar="FILE", type=FILE, help="State file (SQLite) instead of the default one."
    )
    @click.option("--no-state", is_flag=True, help="Neither read nor write a state file.")
    @click.option(
        "--git", "git_program", metavar="PROGRAM", type=FILE, help="The git to run, instead of the first on PATH."
    )
    @click.option("--theme", metavar="NAME", help="Colour theme of the dashboard, instead of the remembered one.")
    @click.option("--no-mouse", "mouse", flag_value=False, default=None, help="Leave the mouse to the terminal.")
    @click.option("--ascii", "glyphs", flag_value="ascii", default=None, help="Draw lines and signs in ASCII alone.")
    @click.option(
        "--read-only",
        flag_value=True,
        default=None,
        help="Change nothing: no shell, no other programs, no jobs that write.",
    )
    @click.option("--served", "is_served", is_flag=True, hidden=True, help="Speak to the server of `gitdash serve`.")
    @click.pass_context
    def gitdash(ctx: click.Context, /, no_state: bool, **options: Any) -> None:  # noqa: ANN401 - see above, by name
        """Show which Git repositories below ROOT are unhealthy, why, and how big they really are.

        Without a command, opens the dashboard on ROOT (else the roots of the configuration, else the
        current folder); where stdout is no terminal, or TERM is `dumb`, prints the table of `gitdash scan`.

        An argument that is the name of a command is that command: a folder called `scan` is `./scan`.
        """
        ctx.obj = Session(keeps_state=not no_state, **options)
        if ctx.invoked_subcommand is None:
            ctx.invoke(roots_command, roots=())

    gitdash.roots_command = roots_command
    return gitdash


def _demo(dashboard: Dashboard) -> click.Command:
    @click.command(context_settings=CONTEXT)
    @click.option("--no-open", is_flag=True, help="Make the fleet, print its path, and leave it there.")
    @click.argument("folder", type=PATH, metavar="[DIR]", required=False)
    @click.pass_obj
    def demo(session: Session, folder: bytes | None, no_open: bool) -> None:
        """Make a small fleet that shows every finding, and open the dashboard on it.

        In DIR, which must be empty or not exist, the fleet stays; without it, it is made in a temporary folder and
        removed when the dashboard is left. Where stdout is no terminal, prints the table of `gitdash scan`.
        """
        from gitdash.cli.demo import run_demo

        click.get_current_context().exit(run_demo(session, folder, opens=not no_open, dashboard=dashboard))

    return demo


def _serve(web_server: WebServer) -> click.Command:
    @click.command(
        context_settings=CONTEXT,
        epilog="""\b
Examples:
  gitdash serve /srv/git                          prints the URL to open
  gitdash serve /srv/git --port 8765              for ssh -L 8765:127.0.0.1:8765
""",
    )
    @click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        show_default=True,
        help="The port on 127.0.0.1; 0 is any that is free.",
    )
    @click.option("--allow-actions", is_flag=True, help="Let whoever has the URL do what changes repositories.")
    @ROOTS
    @click.pass_obj
    def serve(session: Session, roots: tuple[bytes, ...], port: int, allow_actions: bool) -> None:
        """Show the dashboard in a browser of this host, to whoever has the URL that is printed.

        Each tab has a dashboard of its own, which ends with the tab. Ctrl-C ends all. It is read-only unless
        --allow-actions is given.
        """
        from gitdash.cli.serve import run_serve

        code = run_serve(session, roots, port=port, allow_actions=allow_actions, web_server=web_server)
        click.get_current_context().exit(code)

    return serve


_GROUP_EPILOG = """\b
Examples:
  gitdash /srv/git                                open the dashboard
  gitdash scan /srv/git --sort disk               a table, the biggest first
  gitdash scan . --format json > fleet.json       everything as data
  gitdash scan . --where "packs > 50"             only what has many packs
  gitdash size /srv/git/x.git --explain           why five figures differ
  gitdash check /srv/git --fail-on warning        exit 1 if anything is wrong
  gitdash maintain x.git --dry-run                what would be done to it, and why
  gitdash bench size x.git                        which way to a size is the fastest here

\b
Exit codes: 0 done, 1 findings or something failed, 2 wrong use, 3 refused for safety, 130 interrupted.
"""


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  gitdash completion bash >> ~/.bash_completion
  gitdash completion zsh > "${fpath[1]}/_gitdash"
  gitdash completion fish > ~/.config/fish/completions/gitdash.fish
""",
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell: for gitdash, git-dash and, in bash, `git dash`."""
    from gitdash.cli.completion import completion_script
    from gitdash.cli.output import write_text

    write_text(completion_script(ctx.find_root().command, shell))
