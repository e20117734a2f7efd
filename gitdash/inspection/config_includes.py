"""Conditions of conditional includes.

Source: git-config(1), "Conditional includes". Knows `gitdir:`, `gitdir/i:` and `onbranch:`; any other counts as
true. Patterns are git's wildmatch with `**`.
"""

import os
import re
from typing import Final

_MAXIMUM_PATTERN_BYTES: Final = 4096
_MAXIMUM_STARS: Final = 8
"""With more, matching could take for ever; such a condition is not understood."""


def condition_holds(condition: bytes, *, git_dir: bytes, config_path: bytes, head: str | None) -> bool:
    """Tell whether the subsection of an `includeIf` is true.

    Args:
        condition: Such as `gitdir:~/work/`.
        git_dir: Absolute.
        config_path: The file that it stands in; patterns starting with `./` are relative to its folder.
        head: The full name of the current branch, or None.
    """
    keyword, _, pattern = condition.partition(b":")
    if len(pattern) > _MAXIMUM_PATTERN_BYTES or pattern.count(b"*") > _MAXIMUM_STARS:
        return True
    if keyword in {b"gitdir", b"gitdir/i"}:
        expression = wildmatch(_directory_pattern(pattern, config_path), ignore_case=keyword == b"gitdir/i")
        return any(expression.fullmatch(path) for path in {git_dir, os.path.realpath(git_dir)})
    if keyword == b"onbranch":
        if head is None or not head.startswith("refs/heads/"):
            return False
        pattern += b"**" if pattern.endswith(b"/") else b""
        return wildmatch(pattern).fullmatch(os.fsencode(head.removeprefix("refs/heads/"))) is not None
    return True


def _directory_pattern(pattern: bytes, config_path: bytes) -> bytes:
    if pattern.startswith(b"~/"):
        pattern = os.path.expanduser(pattern)
    elif pattern.startswith(b"./"):
        pattern = os.path.dirname(os.path.realpath(config_path)) + pattern[1:]
    elif not pattern.startswith(b"/"):
        pattern = b"**/" + pattern
    return pattern + b"**" if pattern.endswith(b"/") else pattern


def wildmatch(pattern: bytes, *, ignore_case: bool = False) -> re.Pattern[bytes]:
    """Translate a wildmatch pattern in which a slash is matched by `**` only; repeated stars become one."""
    pattern = re.sub(rb"\*{3,}", b"**", pattern)
    pieces = re.findall(rb"\*\*/|\*\*|\*|\?|[^*?]+", pattern)
    known = {b"**/": rb"(?:.*/)?", b"**": rb".*", b"*": rb"[^/]*", b"?": rb"[^/]"}
    expression = b"".join(known.get(piece) or re.escape(piece) for piece in pieces)
    return re.compile(expression, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
