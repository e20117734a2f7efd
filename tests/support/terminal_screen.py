"""What stands on a terminal after some output: the few sequences that the dashboard draws with, and no others."""

import re

from rich.cells import cell_len

_TOKEN = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP.*?\x1b\\|\x1b[()].|\x1b.|(.)", re.DOTALL
)


def screen_lines(output: bytes, *, columns: int, lines: int) -> list[str]:
    """Return the lines of the screen, without spaces at their ends; what is no UTF-8 is a sign, as on a terminal."""
    screen = _Screen(columns, lines)
    for match in _TOKEN.finditer(output.decode(errors="replace")):
        parameters, final, character = match.groups()
        if character is not None:
            screen.write(character)
        elif final == "H":
            screen.move(parameters or "")
        elif final == "J":
            screen.clear()
        elif final in {*"ABCDEFGKLMPSTXdf@"}:
            raise AssertionError(f"a sequence that is not known here: {match.group()!r}")
    return ["".join(line).rstrip() for line in screen.grid]


class _Screen:
    def __init__(self, columns: int, lines: int) -> None:
        self._columns = columns
        self._lines = lines
        self._row = self._column = 0
        self.clear()

    def clear(self) -> None:
        self.grid = [[" "] * self._columns for _ in range(self._lines)]

    def move(self, parameters: str) -> None:
        row, _, column = parameters.partition(";")
        self._row, self._column = int(row or 1) - 1, int(column or 1) - 1

    def write(self, character: str) -> None:
        if character == "\n":
            self._row += 1
        elif character == "\r":
            self._column = 0
        else:
            width = cell_len(character)
            if self._row < self._lines and self._column < self._columns:
                self.grid[self._row][self._column : self._column + width] = [character, *[""] * (width - 1)]
            self._column += width
