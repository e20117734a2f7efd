"""Commands of remedies that name files or keys of a config: exact, with absolute paths, for a POSIX shell.

gitdash itself runs none of them.
"""

from collections.abc import Sequence
from typing import Final

from gitdash.assessment.sentences import listed, shell_word
from gitdash.model.config_facts import ConfigConcern
from gitdash.model.repository import Repository
from gitdash.units import human_count

_NAMED_MAXIMUM_COUNT: Final = 10
"""A longer command is no remedy that anyone would read before running it."""

_CONFIG_OPTIONS: Final = {"config": "", "config.worktree": "--worktree "}
"""By the file that a key stands in; git changes no others without being told their path."""

_INEXACT_SIGNS: Final = ("\\", "***", "…")
"""A key with one of these is shown escaped, masked or cut: it may not be the key in the file."""


def file_command(command: str, folder: bytes, names: Sequence[str], *, more_count: int = 0) -> str:
    """Return a command with the absolute paths of files, in backticks, and how many more files it should name.

    Args:
        command: What comes before the paths.
        folder: Absolute.
        names: Printable paths below the folder. One with an escape in it may not be the name on disk: it is counted
            among those that the command does not name.
        more_count: How many files there are whose names are not known.
    """
    exact = [name for name in names if "\\" not in name][:_NAMED_MAXIMUM_COUNT]
    rest_count = len(names) + more_count - len(exact)
    if not exact:
        return f"`{command}` with the path of each"
    words = " ".join(shell_word(folder + b"/" + name.encode()) for name in exact)
    return f"`{command} {words}`" + (f", and so with {human_count(rest_count)} more" if rest_count else "")


def unset_command(concerns: Sequence[ConfigConcern], repository: Repository, *, is_refused: bool = False) -> str:
    """Return the commands that take keys out of a config, in backticks; what no command can name, to be edited.

    A concern that is a file is removed. If git refuses to read the config, it gets the path of the file instead.
    """
    files = [concern.key for concern in concerns if concern.is_file]
    keys = [concern for concern in concerns if not concern.is_file]
    commands = {concern.key: _unset(concern, repository, is_refused=is_refused) for concern in keys}
    named = [*dict.fromkeys(command for command in commands.values() if command is not None)]
    others = [key for key, command in commands.items() if command is None]
    parts = [f"`{command}`" for command in named[:_NAMED_MAXIMUM_COUNT]]
    if len(named) > _NAMED_MAXIMUM_COUNT:
        parts.append(f"so with {human_count(len(named) - _NAMED_MAXIMUM_COUNT)} more")
    if files:
        parts.append(file_command("rm --", repository.common_dir, files))
    if others:
        # A backtick would begin a command, and the repository's owner chose the names of its keys.
        names = [key.replace("`", "'") for key in others]
        parts.append(f"an editor for {listed(names)}")
    return " and ".join(parts)


def _unset(concern: ConfigConcern, repository: Repository, *, is_refused: bool) -> str | None:
    if concern.source not in _CONFIG_OPTIONS or any(sign in concern.key for sign in _INEXACT_SIGNS):
        return None
    key = shell_word(concern.key.encode())
    if not is_refused:
        return f"{{git}} config {_CONFIG_OPTIONS[concern.source]}--unset-all {key}"
    folder = repository.common_dir if concern.source == "config" else repository.git_dir
    file = shell_word(folder + b"/" + concern.source.encode())
    return f"git -C / config --file {file} --unset-all {key}"
