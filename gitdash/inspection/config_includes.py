"""Included files and the conditions of conditional includes.

Source: git-config(1), "Includes", "Conditional includes"; git stops at a depth of 10. Knows `gitdir:`, `gitdir/i:`
and `onbranch:`; any other condition counts as true.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from gitdash.formats.git_config import ConfigEntry, read_config
from gitdash.formats.reading import FormatError
from gitdash.formats.wildmatch import wildmatch
from gitdash.gitcmd.masking import presentable_bytes
from gitdash.inspection.config_values import SourcedEntry
from gitdash.inspection.files import FileError, FileMissingError, read_file
from gitdash.inspection.reading import Problems

CONFIG_MAXIMUM_BYTES: Final = 4 << 20
"""A config of 40 MB makes git use 644 MiB; the largest honest ones have some 100 KB."""

WITHHELD: Final = b"(of a file outside the repository)"
_WORD: Final = re.compile(rb"(?i:true|false|yes|no|on|off|never|now|auto|always|[0-9]{1,4}[kmg]?)?")

_MAXIMUM_INCLUDE_DEPTH: Final = 10
_MAXIMUM_INCLUDES: Final = 200

_MAXIMUM_PATTERN_BYTES: Final = 4096
"""Of a condition; a longer one is not understood."""


@dataclass(slots=True)
class IncludeReader:
    """Reads config files and what they include."""

    git_dir: bytes
    head: str | None
    problems: Problems
    every_condition: bool = False
    """Take each condition for true."""
    included: list[bytes] = field(default_factory=list)
    """Paths, whether there is a file or not."""

    @property
    def included_count(self) -> int:
        """How many files were included, each as often as it was."""
        return len(self.included)

    def read(self, path: bytes, shown_path: bytes) -> tuple[ConfigEntry, ...]:
        """Return the keys of a file; one that is not there has none, as for git."""
        try:
            return read_config(read_file(path, CONFIG_MAXIMUM_BYTES))
        except FileMissingError:
            return ()
        except FileError as error:
            self.problems.note(shown_path, error.reason)
        except FormatError as error:
            self.problems.note(shown_path, str(error))
        return ()

    def expand(self, entries: Iterable[ConfigEntry], path: bytes, source: str, depth: int) -> Iterator[SourcedEntry]:
        """Yield the keys of a file and, where an include stands, those of the included file."""
        for entry in entries:
            yield SourcedEntry(entry=entry, source=source)
            if entry.name != "path" or not entry.value or not self._applies(entry, path):
                continue
            included = os.path.join(os.path.dirname(path), os.path.expanduser(entry.value))
            self.included.append(included)
            if depth >= _MAXIMUM_INCLUDE_DEPTH or self.included_count > _MAXIMUM_INCLUDES:
                self.problems.note(included, f"not read: includes are nested deeper than {_MAXIMUM_INCLUDE_DEPTH}")
                continue
            keys = self.expand(self.read(included, included), included, presentable_bytes(included), depth + 1)
            yield from keys if self._is_own(included) else map(_withheld, keys)

    def _is_own(self, path: bytes) -> bool:
        """Tell whether a file lies in the repository, so that who made its config could read it, too."""
        own_folder = os.path.realpath(self.git_dir)
        return os.path.commonpath((own_folder, os.path.realpath(path))) == own_folder

    def _applies(self, entry: ConfigEntry, path: bytes) -> bool:
        if entry.section == "include":
            return entry.subsection is None
        if self.every_condition:
            return entry.section == "includeif"
        return entry.section == "includeif" and condition_holds(
            entry.subsection or b"", git_dir=self.git_dir, config_path=path, head=self.head
        )


def _withheld(sourced: SourcedEntry) -> SourcedEntry:
    """Return a key of a file outside the repository without what only that file's readers may know.

    A scanned config can include any file that the user can read. Words that git itself defines stay.
    """
    entry = sourced.entry
    is_word = entry.value is None or _WORD.fullmatch(entry.value) is not None
    return replace(
        sourced,
        entry=replace(
            entry,
            subsection=None if entry.subsection is None else WITHHELD,
            value=entry.value if is_word else WITHHELD,
        ),
    )


def include_problem(git_dir: bytes, common_dir: bytes) -> str | None:
    """Return why git might wait for, or fail at, a file that the config includes; None if it can read all.

    A symbolic link is a problem too: what it leads to may include more. Conditions count as true.
    """
    reader = _read_all(git_dir, common_dir)
    noted = (f"{problem.path}: {problem.reason}" for problem in reader.problems.noted)
    return _irregular(reader) or next(noted, None)


def irregular_include(git_dir: bytes, common_dir: bytes) -> str | None:
    """Return only what git might wait for, in the same words."""
    return _irregular(_read_all(git_dir, common_dir))


def _read_all(git_dir: bytes, common_dir: bytes) -> IncludeReader:
    reader = IncludeReader(git_dir=git_dir, head=None, problems=Problems(), every_condition=True)
    for path in (common_dir + b"/config", git_dir + b"/config.worktree"):
        for _ in reader.expand(reader.read(path, path), path, "config", 0):
            pass
    return reader


def _irregular(reader: IncludeReader) -> str | None:
    irregular = next(filter(_is_irregular, reader.included), None)
    if irregular is None:
        return None
    return f"{presentable_bytes(irregular)}, which its config includes, is not a regular file"


def _is_irregular(path: bytes) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def condition_holds(condition: bytes, *, git_dir: bytes, config_path: bytes, head: str | None) -> bool:
    """Tell whether the subsection of an `includeIf` is true.

    Args:
        condition: Such as `gitdir:~/src/`.
        git_dir: Absolute.
        config_path: The file that it stands in; patterns starting with `./` are relative to its folder.
        head: The full name of the current branch, or None.
    """
    keyword, _, pattern = condition.partition(b":")
    if len(pattern) > _MAXIMUM_PATTERN_BYTES:
        return True
    if keyword in {b"gitdir", b"gitdir/i"}:
        return _is_git_dir(pattern, git_dir, config_path, ignore_case=keyword == b"gitdir/i")
    if keyword == b"onbranch":
        if head is None or not head.startswith("refs/heads/"):
            return False
        return wildmatch(_with_all_below(pattern), is_pathname=True)(os.fsencode(head.removeprefix("refs/heads/")))
    return True


def _is_git_dir(pattern: bytes, git_dir: bytes, config_path: bytes, *, ignore_case: bool) -> bool:
    folder = b""
    if pattern.startswith(b"~/"):
        pattern = os.path.realpath(os.path.expanduser(b"~")) + pattern[1:]
    elif pattern.startswith((b"~", b"%(prefix)/")):
        return True
    elif pattern.startswith(b"./"):
        folder, pattern = os.path.dirname(os.path.realpath(config_path)) + b"/", pattern[2:]
    elif not pattern.startswith(b"/"):
        pattern = b"**/" + pattern
    pattern = _with_all_below(folder + pattern)[len(folder) :]
    is_like = wildmatch(pattern, is_pathname=True, ignore_case=ignore_case)
    real_path = os.path.realpath(git_dir)
    # git tries the real path first, then what it was told, which is `.` for a git that is run there
    paths = (path for path in (real_path, git_dir, git_dir + b"/.") if _begins(path, folder, ignore_case=ignore_case))
    return _begins(real_path, folder, ignore_case=ignore_case) and any(is_like(path[len(folder) :]) for path in paths)


def _begins(path: bytes, folder: bytes, *, ignore_case: bool) -> bool:
    """Tell whether a path lies in a folder as that is spelt, whatever stars it has."""
    start = path[: len(folder)]
    return start.lower() == folder.lower() if ignore_case else start == folder


def _with_all_below(pattern: bytes) -> bytes:
    return pattern + b"**" if pattern.endswith(b"/") else pattern
