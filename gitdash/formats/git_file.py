"""A `.git` file: where the git directory of a linked worktree or a submodule lies.

Source: gitrepository-layout(5), "A gitfile", and git's limit of 1 MiB. Does not resolve the path.

    offset  size  field
    0       8     `gitdir: `
    8       ...   path, to the end without trailing newlines and carriage returns; it may hold newlines
"""

from typing import Final

from gitdash.formats.reading import FormatError

MAXIMUM_BYTES: Final = 1 << 20
"""git refuses a larger `.git` file."""

_PREFIX: Final = b"gitdir: "


def read_git_file(data: bytes) -> bytes:
    """Return the path, absolute or relative to the folder of the file; never empty."""
    if len(data) > MAXIMUM_BYTES:
        raise FormatError(f"{len(data)} bytes are too large for a .git file", MAXIMUM_BYTES)
    if not data.startswith(_PREFIX):
        raise FormatError("no `gitdir: ` at the start", 0)
    path = data[len(_PREFIX) :].rstrip(b"\r\n")
    if not path:
        raise FormatError("no path after `gitdir: `", len(_PREFIX))
    if b"\0" in path:
        raise FormatError("path holds a NUL", data.index(b"\0"))
    return path
