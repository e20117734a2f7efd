"""A line to type on that shows nothing as it is that a terminal could act on, whatever is put in.

What is pasted comes through `pasted_text`, for the input of the command palette, which is Textual's own, too.
"""

from typing import Final

from textual.binding import Binding
from textual.widgets import Input

from gitdash.units import printable

TAKEN_KEYS: Final = frozenset(
    key.strip() for binding in Input.BINDINGS if isinstance(binding, Binding) for key in binding.key.split(",")
)
"""Keys, in Textual's spelling, that an input has for itself, whatever else they may do."""
LONGEST_TEXT: Final = 2_000
"""Characters that can be typed or pasted: a line that grows for ever is drawn slower and slower."""


class TextInput(Input):
    """An input whose value is printable."""

    def validate_value(self, value: str) -> str:
        """Return the value with escapes in place of what could act."""
        return printable(value)


def pasted_text(text: str) -> str:
    """Return the first line of what was pasted: printable, and not longer than what can be typed."""
    lines = text[: LONGEST_TEXT + 1].splitlines()
    return printable(lines[0])[:LONGEST_TEXT] if lines else ""
