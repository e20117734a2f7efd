"""What the path of a git directory says of a forge."""

import pytest

from gitdash.discovery.layout import storage_layout
from gitdash.model.repository import StorageLayout

PLAIN, HASHED, POOL = StorageLayout.PLAIN, StorageLayout.GITLAB_HASHED, StorageLayout.GITLAB_POOL
DIGEST = "abcd" + "0123456789" * 6


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/x.git", PLAIN),
        (f"/srv/@hashed/ab/cd/{DIGEST}.git", HASHED),
        (f"/srv/@hashed/ab/cd/{DIGEST}.wiki.git", HASHED),
        (f"/srv/@hashed/ab/cd/{DIGEST}.design.git", HASHED),
        (f"/srv/@hashed/ab/ce/{DIGEST}.git", PLAIN),
        (f"/srv/@hashed/ab/cd/{DIGEST[:-1]}.git", PLAIN),
        (f"/srv/@hashed/ab/cd/{DIGEST.upper()}.git", PLAIN),
        (f"/srv/@hashed/ab/cd/{DIGEST}.git\n", PLAIN),
        (f"/srv/@pools/ab/cd/{DIGEST}.git", POOL),
        (f"/srv/@pools/aa/cd/{DIGEST}.git", PLAIN),
        (f"/srv/@pools/ab/cd/{DIGEST}.wiki.git", PLAIN),
        (f"/srv/x@pools/ab/cd/{DIGEST}.git", PLAIN),
        ("/srv/@cluster/pools/ab/cd/17", POOL),
        ("/srv/@cluster/pools/ab/cd/17.git", PLAIN),
        ("/srv/@cluster/repositories/ab/cd/17", PLAIN),
        ("/srv/@else/x.git", PLAIN),
    ],
)
def test_layout_is_known_by_the_path(path: str, expected: StorageLayout) -> None:
    assert storage_layout(path.encode()) is expected
