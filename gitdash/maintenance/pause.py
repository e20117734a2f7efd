"""The marker by which somebody asks for a repository to be left alone, by maintenance and by fetches.

`gitdash.pause` in its config, its includes or its worktree config, or a file of that name in its git directory. What
cannot be read is no marker here: it is refused elsewhere.
"""

import os
from collections.abc import Iterable
from typing import Final

from gitdash.formats.git_config import read_config
from gitdash.formats.reading import FormatError
from gitdash.inspection.config_includes import CONFIG_MAXIMUM_BYTES, IncludeReader
from gitdash.inspection.config_values import SourcedEntry, parse_bool
from gitdash.inspection.files import FileError, read_file
from gitdash.inspection.reading import Problems

_PAUSE_FILE: Final = b"gitdash.pause"


def pause_marker(git_dir: bytes, common_dir: bytes) -> str | None:
    """Return where the marker stands; None if there is none. A value that is no boolean pauses, too: `until Monday`."""
    if any(os.path.lexists(folder + b"/" + _PAUSE_FILE) for folder in (git_dir, common_dir)):
        return f"the file {_PAUSE_FILE.decode()}"
    values = [
        sourced.entry.value
        for path in (common_dir + b"/config", git_dir + b"/config.worktree")
        for sourced in _config_entries(git_dir, path)
        if (sourced.entry.section, sourced.entry.subsection, sourced.entry.name) == ("gitdash", None, "pause")
    ]
    return "gitdash.pause in its config" if values and parse_bool(values[-1]) is not False else None


def _config_entries(git_dir: bytes, path: bytes) -> Iterable[SourcedEntry]:
    """Return no keys of a file that cannot be read: that is refused elsewhere."""
    reader = IncludeReader(git_dir=git_dir, head=None, problems=Problems())
    try:
        return list(reader.expand(read_config(read_file(path, CONFIG_MAXIMUM_BYTES)), path, "config", 0))
    except (FileError, FormatError):
        return []
