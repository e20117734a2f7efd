"""What several commands' options have in common."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

HELP_OPTIONS: Final = ["-h", "--help"]
CONTEXT: Final = {"help_option_names": HELP_OPTIONS, "max_content_width": 100}


class NamedPath(click.Path):
    """A path that is not empty.

    An empty one would be the current folder, which nobody means who writes `"$FOLDER"`.
    """

    # typing.override came with Python 3.12, and typing_extensions would be a dependency for a marker.
    def convert(  # type: ignore[explicit-override]
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Refuse an empty one."""
        if not value:
            self.fail("a path is empty; the current folder is '.'", param, ctx)
        return super().convert(value, param, ctx)


PATH: Final = NamedPath(path_type=bytes)
FILE: Final = NamedPath(path_type=str)
ROOTS: Final = click.argument("roots", nargs=-1, type=PATH, metavar="[ROOT]...")


class Count(click.IntRange):
    """A whole number in a range, by a name that people know."""

    name = "whole number"


class Seconds(click.FloatRange):
    """A duration in a range, by a name that people know."""

    name = "number of seconds"


def format_option(formats: Sequence[str] = ("table", "json"), *, text: str = "How to print.") -> Decorator:
    """Return the option that chooses among `formats`, of which the first is the default."""
    return click.option(
        "--format", "output_format", type=click.Choice(formats), default=formats[0], show_default=True, help=text
    )
