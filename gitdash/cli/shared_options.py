"""What several commands' options have in common."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
PATH: Final = click.Path(path_type=bytes)
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
