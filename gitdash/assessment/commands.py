"""Commands of remedies that name files: exact and absolute, for a POSIX shell. Nothing here is ever run by gitdash."""

from collections.abc import Sequence
from typing import Final

from gitdash.assessment.sentences import shell_word, shown

_NAMED_MAXIMUM_COUNT: Final = 10
"""A longer command is no remedy that anyone would read before running it."""


def file_command(command: str, folder: bytes, names: Sequence[str]) -> str:
    """Return a command with the absolute paths of files, in backticks, and how many more files it should name.

    Args:
        command: What comes before the paths.
        folder: Absolute.
        names: Printable paths below the folder. One with an escape in it may not be the name on disk: it is counted
            among those that the command does not name.
    """
    exact = [name for name in names if "\\" not in name][:_NAMED_MAXIMUM_COUNT]
    rest_count = len(names) - len(exact)
    if not exact:
        return f"`{command}` with the path of each"
    words = " ".join(shell_word(folder + b"/" + name.encode()) for name in exact)
    return f"`{command} {words}`" + (f", and so with {shown(rest_count)} more" if rest_count else "")
