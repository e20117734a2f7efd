"""Writes a script into the current folder: readable for its owner alone, and in place of nothing unless asked to.

Names come from a person: only plain ones are taken, so that nothing outside of the folder can be meant.
"""

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import Final

_MODE: Final = 0o600
"""`sh NAME` runs it; what can be run by its name alone is run before it is read."""


def script_name(now_s: float) -> str:
    """Return the name that is proposed, with the date of the day."""
    return f"gitdash-plan-{time.strftime('%Y-%m-%d', time.localtime(now_s))}.sh"


def name_problem(name: str) -> str | None:
    """Return why a name cannot be that of a script; None if it can."""
    if "/" in name:
        return "The script goes to the current folder: a name without a slash, please."
    if name.startswith((".", "-")):
        return "The name of a script begins with neither a dot nor a dash."
    return None


def write_script(name: str, text: str, *, replaces: bool) -> Path:
    """Write a script into the current folder and return its path.

    Raises FileExistsError if there is one of that name and `replaces` is not set, and OSError if it cannot be written.
    A file is replaced at once, as a link of that name is, and never written through.
    """
    path = Path.cwd() / name
    data = text.encode("utf-8", "surrogateescape")
    if not replaces:
        _write(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE), os.fspath(path), data)
        return path
    descriptor, temporary = tempfile.mkstemp(prefix=".gitdash-plan-", dir=path.parent)
    _write(descriptor, temporary, data)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def _write(descriptor: int, new_path: str, data: bytes) -> None:
    """Write a file that was just made; what cannot be written as a whole goes."""
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new_path)
        raise
