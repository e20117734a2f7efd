"""The commands in a remedy, apart from the words around them. Pure.

A remedy puts each command in backticks, and whatever else is typed as it stands, such as a key of the configuration. A
path in a command is quoted for the shell, and may have a backtick between its quotes: a command ends at the first
backtick outside of quotes. Where backticks do not pair, nothing is taken for a command, so that no part of a name is
ever offered as one.
"""

import re
from dataclasses import dataclass
from typing import Final

_COMMAND: Final = re.compile(
    r"""`((?:
        \$'(?:[^'\\]|\\.)*'   # as sh writes what cannot be shown
      | '[^']*'
      | "(?:[^"\\]|\\.)*"
      | \\.
      | \$(?!')
      | [^`'"\\$]
    )+)`""",
    re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""\$?'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_PROGRAMS: Final = ("git ", "gitdash ", "rm ")
"""What the commands of remedies begin with: a program, which does nothing for anyone without an argument."""
_PLACEHOLDER: Final = "<"
"""Stands before what a person has to put in; a shell would open a file of that name."""


@dataclass(frozen=True, slots=True)
class RemedyPart:
    """A stretch of a remedy."""

    text: str
    is_verbatim: bool
    """It stands between backticks: a command, or a word to type."""


def remedy_parts(remedy: str) -> list[RemedyPart]:
    """Return the words and what stands between backticks, in their order."""
    parts: list[RemedyPart] = []
    end = 0
    for match in _COMMAND.finditer(remedy):
        parts += [RemedyPart(remedy[end : match.start()], False), RemedyPart(match[1], True)]
        end = match.end()
    parts.append(RemedyPart(remedy[end:], False))
    if any("`" in part.text for part in parts if not part.is_verbatim):
        return [RemedyPart(remedy, False)]
    return [part for part in parts if part.text.strip()]


def commands_of(remedy: str) -> tuple[str, ...]:
    """Return the commands that can be pasted into a shell as they are: those without a word to put in."""
    verbatim = [part.text for part in remedy_parts(remedy) if part.is_verbatim and part.text.isprintable()]
    commands = [text for text in verbatim if text.startswith(_PROGRAMS)]
    return tuple(command for command in commands if _PLACEHOLDER not in _QUOTED.sub("", command))
