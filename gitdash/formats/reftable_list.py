"""The list of tables of the reftable backend, `reftable/tables.list`.

Source: git's Documentation/technical/reftable, "Layout", and git's reader. Does not read tables.

    line   field
    name   file name of a table, the oldest first; empty lines mean nothing, the last newline may lack
"""

from typing import Final

from gitdash.formats.reading import FormatError

_LONGEST_NAME_BYTES: Final = 255


def read_tables_list(data: bytes) -> tuple[bytes, ...]:
    """Return the names; one that could lead out of the folder is an error."""
    names: list[bytes] = []
    offset = 0
    for line in data.split(b"\n"):
        if line in {b".", b".."} or b"/" in line or b"\0" in line or len(line) > _LONGEST_NAME_BYTES:
            raise FormatError("a name of a table is not a file name", offset)
        if line:
            names.append(line)
        offset += len(line) + 1
    return tuple(names)
