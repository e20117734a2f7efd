"""Text broken into lines of terminal cells, and lines joined side by side. Pure."""

from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

from gitdash.tui.drawing.cells import Line, Piece, Tone, cut_line


def wrap_cells(text: str, width: int) -> list[str]:
    """Return `text` broken between words into lines of at most `width` cells; longer words are broken inside."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        for part in [word] if cell_len(word) <= width else chop_cells(word, max(width, 2)):
            if line and cell_len(line) + 1 + cell_len(part) > width:
                lines.append(line)
                line = part
            else:
                line = f"{line} {part}" if line else part
    return [*lines, line] if line else lines


def wrapped(text: str, tone: Tone, width: int, *, indent: int = 1, hanging: int = 0) -> list[Line]:
    """Return `text` as lines with a left margin; `hanging` cells more from the second line on."""
    texts = wrap_cells(text, max(width - indent - hanging - 1, 8))
    return [
        [Piece(" " * (indent + (hanging if number else 0)), tone), Piece(part, tone)]
        for number, part in enumerate(texts)
    ]


def flow(groups: Sequence[Line], width: int, *, gap: int = 3) -> list[Line]:
    """Return groups of pieces one after another, a new line where the next one does not fit."""
    lines: list[Line] = []
    line: list[Piece] = []
    used = 0
    for group in groups:
        length = sum(cell_len(piece.text) for piece in group)
        if line and used + gap + length > width - 1:
            lines.append(line)
            line, used = [], 0
        margin = gap if line else 1
        line = [*line, Piece(" " * margin, Tone.PLAIN), *group]
        used += margin + length
    return [*lines, line] if line else lines


def side_by_side(left: Sequence[Line], right: Sequence[Line], left_width: int, width: int) -> list[Line]:
    """Return two blocks of lines beside each other, a rule between them; the left one alone if the right is empty."""
    if not right:
        return list(left)
    lines: list[Line] = []
    for number in range(max(len(left), len(right))):
        left_line = left[number] if number < len(left) else ()
        right_line = right[number] if number < len(right) else ()
        lines.append(
            [*cut_line(left_line, left_width), Piece("│", Tone.DIM), *cut_line(right_line, width - left_width - 1)]
        )
    return lines
