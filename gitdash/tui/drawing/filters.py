"""Lines for terminals that show less: without colours (NO_COLOR), or without characters that their encoding lacks.

Textual applies these to every finished line, its own widgets' included. Its own filter for NO_COLOR leaves greys.
"""

from functools import lru_cache
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from typing_extensions import override

_GLYPHS: Final = "▌▾▸✓·…▼▲│─╭├└█▓▒░━▏■•┃├┤µ"
_ASCII: Final = {
    "▌": ">",
    "·": "-",
    "…": "~",
    "µ": "u",
    "▼": "v",
    "▲": "^",
    "▾": "-",
    "▸": "+",
    "✓": "*",
    "🔎": "> ",
    **dict.fromkeys("│┃║▎▏▕▐", "|"),
    **dict.fromkeys("─━═▔▁▂▃", "-"),
    **dict.fromkeys("╭╮╰╯┌┐└┘┏┓┗┛├┤┬┴┼", "+"),
    **dict.fromkeys("█▄▅▆▇▀■", "#"),
    **dict.fromkeys("•●○", "*"),
    "▓": "%",
    "▒": "=",
    "░": ":",
    "\N{NO-BREAK SPACE}": " ",
}
_SCROLLBAR_THUMB: Final = "grab"
"""What Textual has the pointer do on the moving part of a scrollbar, which it draws by a background colour alone."""


class WithoutColours(LineFilter):
    """Leaves bold, underline and reverse, and lets a scrollbar be seen."""

    @override
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without any colour."""
        return [Segment(text, style and _without_colours(style), control) for text, style, control in segments]


@lru_cache(maxsize=1024)
def _without_colours(style: Style) -> Style:
    is_thumb = style.meta.get("@mouse.down") == _SCROLLBAR_THUMB
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        reverse=is_thumb or style.reverse,
        meta=style.meta or None,
    )


class EncodableText(LineFilter):
    """Replaces what an encoding lacks by ASCII of the same width: lines and signs by similar ones, all else by `?`.

    With `ascii_signs`, lines and signs are replaced whatever the encoding has; names stay as they are.
    """

    def __init__(self, encoding: str, *, ascii_signs: bool = False) -> None:
        super().__init__()
        self._encoding = encoding
        self._ascii_signs = ascii_signs
        self._replaced: dict[str, str] = {}

    @override
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with text that can be written."""
        return [
            segment
            if segment.text.isascii()
            else Segment(self._encodable(segment.text), segment.style, segment.control)
            for segment in segments
        ]

    def _encodable(self, text: str) -> str:
        return "".join(character if character.isascii() else self._replacement(character) for character in text)

    def _replacement(self, character: str) -> str:
        replacement = self._replaced.get(character)
        if replacement is None:
            is_known = can_write(character, self._encoding) and not (self._ascii_signs and character in _ASCII)
            replacement = character if is_known else _ASCII.get(character, "?" * cell_len(character))
            self._replaced[character] = replacement
        return replacement


def can_write(text: str, encoding: str) -> bool:
    """Tell whether an encoding has all characters of a text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def filters_for(*, has_colours: bool, encoding: str, ascii_signs: bool = False) -> list[LineFilter]:
    """Return what a terminal needs; nothing for one that shows colours and our signs, where these are not unwanted."""
    filters: list[LineFilter] = [] if has_colours else [WithoutColours()]
    if can_write(_GLYPHS, encoding) and not ascii_signs:
        return filters
    return [*filters, EncodableText(encoding, ascii_signs=ascii_signs)]
