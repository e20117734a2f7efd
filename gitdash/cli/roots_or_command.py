"""The command group: the first argument is a command if it is the name of one, else a root for the dashboard.

`gitdash scan` is the command; a folder of that name is `gitdash ./scan` or `gitdash -- scan`.
"""

import click


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
        """Return the named command, or the dashboard's with all arguments as roots."""
        command = None if ctx.meta[__name__] else self.get_command(ctx, args[0])
        if command is None:
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
                raise
            names = error.ctx.command_path.removeprefix(ctx.command_path).strip() if error.ctx else ""
            place = f"the command: gitdash {error.option_name} {names} ..." if names else "the first ROOT"
            message = f"{error.option_name} is an option of gitdash itself and stands before {place}"
            raise click.UsageError(message, error.ctx) from error

    def similar_command(self, root: str) -> str | None:
        """Return the command that a root which does not exist was probably meant to be."""
        import difflib

        matches = difflib.get_close_matches(root, list(self.commands), n=1, cutoff=0.7)
        return matches[0] if matches else None
