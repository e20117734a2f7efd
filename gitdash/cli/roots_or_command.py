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

    def similar_command(self, root: str) -> str | None:
        """Return the command that a root which does not exist was probably meant to be."""
        import difflib

        matches = difflib.get_close_matches(root, list(self.commands), n=1, cutoff=0.7)
        return matches[0] if matches else None
