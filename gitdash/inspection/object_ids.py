"""Where the object ids of a store are: its indexes and its loose objects.

Source: gitrepository-layout(5), "objects". Other parts use it for arithmetic over ids; it reads no file's content.
"""

import os
from collections.abc import Iterator

from gitdash.inspection.files import file_error
from gitdash.inspection.loose import loose_object_names


def index_paths(objects_dir: bytes) -> tuple[bytes, ...]:
    """Return the paths of all `*.idx` that have a pack, sorted. Raises FileError if the folder cannot be listed."""
    folder = objects_dir + b"/pack"
    try:
        names = set(os.listdir(folder))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise file_error(folder, error) from error
    indexes = sorted(name for name in names if name.endswith(b".idx") and name[:-4] + b".pack" in names)
    return tuple(folder + b"/" + name for name in indexes)


def loose_object_sizes(objects_dir: bytes) -> Iterator[tuple[str, int]]:
    """Yield id in hexadecimal and st_size of each loose object. Raises FileError if a shard cannot be listed."""
    for object_id, found in loose_object_names(objects_dir):
        yield object_id, found.st_size
