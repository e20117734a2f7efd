"""The command group: the first argument is a command if it is the name of one, else a root for the dashboard.

`gitdash scan` is the command; a folder of that name is `gitdash ./scan` or `gitdash -- scan`.
"""

import itertools
import os
from typing import Final

import click

from gitdash.units import printable

_WORDS_FOR_OPTIONS: Final = {"help": "--help", "version": "--version"}
"""What other programs have as commands."""


class RootsOrCommand(click.Group):
    """A group whose arguments are roots of the dashboard unless the first one names a command."""

    roots_command: click.Command
    """Gets the roots; it has no name that could be typed."""

    # typing.override came with Python 3.12, and typing_extensions would be a dependency for a marker.
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:  # type: ignore[explicit-override]
        """Note whether `--` stood before the first argument: then it is a root whatever its name."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        first = len(given) - len(rest) - 1
        ctx.meta[__name__] = first > 0 and given[first - 1] == "--"
        return rest

    def resolve_command(  # type: ignore[explicit-override]
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command, or the dashboard's with all arguments as roots. Raises UsageError."""
        if ctx.meta[__name__]:
            return "", self.roots_command, args
        command = self.get_command(ctx, args[0])
        if command is None:
            if not ctx.resilient_parsing:
                self._refuse_command_among_roots(ctx, args)
            # An empty name, so that usage lines do not show one that cannot be typed.
            return "", self.roots_command, args
        return args[0], command, args[1:]

    def invoke(self, ctx: click.Context) -> object:  # type: ignore[explicit-override]
        """Run the command; an option of ours that stands behind its name is known here, and not to it."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            options = {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}
            if error.option_name not in options:
                self._show_usage_of_ours(ctx, error)
                raise
            names = error.ctx.command_path.removeprefix(ctx.command_path).strip() if error.ctx else ""
            place = f"the command: gitdash {error.option_name} {names} ..." if names else "the first ROOT"
            message = f"{error.option_name} is an option of gitdash itself and stands before {place}"
            raise click.UsageError(message, error.ctx if names else ctx) from error
        except click.UsageError as error:
            self._show_usage_of_ours(ctx, error)
            raise

    def _show_usage_of_ours(self, ctx: click.Context, error: click.UsageError) -> None:
        """Have the usage of the whole shown for what is wrong among roots, whose command has no name."""
        if error.ctx is not None and error.ctx.command is self.roots_command:
            error.ctx = ctx

    def _refuse_command_among_roots(self, ctx: click.Context, args: list[str]) -> None:
        """Say what was probably meant where an argument that is no path names a command, or nearly one."""
        roots = list(itertools.takewhile(lambda argument: not argument.startswith("-"), args))
        missing = [root for root in roots if root and not os.path.lexists(root)]
        if args[0] in missing and args[0] in _WORDS_FOR_OPTIONS:
            option, named = _WORDS_FOR_OPTIONS[args[0]], [name for name in args[1:2] if name in self.commands]
            raise click.UsageError(f"no command '{args[0]}': it is gitdash {' '.join((*named, option))}", ctx)
        for root in missing:
            if root in self.commands:
                raise click.UsageError(f"'{root}' is a command and stands first: gitdash {root} {roots[0]} ...", ctx)
            similar = self._similar_command(root)
            if similar is not None:
                message = f"no folder and no command '{printable(root)}'; did you mean '{similar}'?"
                raise click.UsageError(message, ctx)

    def _similar_command(self, root: str) -> str | None:
        import difflib

        matches = difflib.get_close_matches(root, list(self.commands), n=1, cutoff=0.7)
        return matches[0] if matches else None
