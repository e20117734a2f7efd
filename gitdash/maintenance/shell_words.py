"""Paths as words of a shell script: exact, printable, and for every POSIX shell.

What remedies show to people (`$'...'` of POSIX.1-2024) dash does not know; a script must run there, too.
"""

import shlex

from gitdash.units import printable_path


def posix_word(path: bytes) -> str:
    r"""Return a path as one word; bytes that may not reach a terminal are written as `"$(printf '%b' '\0351')"`.

    A line feed at the very end would be lost in that, so such a path gets a slash behind it.
    """
    text = path.decode("utf-8", "surrogateescape")
    if printable_path(path) == text:
        return shlex.quote(text)
    ending = "/" if path.endswith(b"\n") else ""
    return "\"$(printf '%b' '" + "".join(map(_octal, path)) + ending + "')\""


def _octal(byte: int) -> str:
    character = chr(byte)
    return character if character.isascii() and (character.isalnum() or character in "/._-@ ") else f"\\0{byte:03o}"
