"""What is done without the rights of root."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A folder that an ordinary user owns, with that user's rights: root may read and write everywhere."""
    if os.geteuid():
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    uid = 65534
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chown(folder, uid, uid)
    try:
        os.setresuid(uid, uid, 0)
        try:
            yield folder
        finally:
            os.setresuid(0, 0, 0)
    finally:
        shutil.rmtree(folder)
