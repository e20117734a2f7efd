"""List a folder with what lstat(2) says of each entry, while others may change it.

Does not judge what the entries are.
"""

import os

from gitdash.inspection.files import file_error


def list_folder(path: bytes) -> tuple[list[bytes], list[os.stat_result]]:
    """Return the names of a folder, sorted, and what lstat(2) says of each; `path` ends with a slash or is empty.

    If an entry vanishes between the two, the folder is listed again: git writes new packs before it removes old ones.
    One that vanishes then has never been there. Raises FileError if the folder cannot be listed.
    """
    names = _names(path)
    if not names:
        return names, []
    try:
        return names, list(map(os.lstat, [path + name for name in names]))
    except OSError:
        return _list_again(path)


def _names(path: bytes) -> list[bytes]:
    try:
        names = os.listdir(path or b".")
    except OSError as error:
        raise file_error(path, error) from error
    names.sort()
    return names


def _list_again(path: bytes) -> tuple[list[bytes], list[os.stat_result]]:
    kept: list[bytes] = []
    stats: list[os.stat_result] = []
    for name in _names(path):
        try:
            found = os.lstat(path + name)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise file_error(path, error) from error
        kept.append(name)
        stats.append(found)
    return kept, stats
