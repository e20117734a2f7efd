"""How much of an open file is in memory. Reads nothing of it, and maps nothing.

Source: cachestat(2), since Linux 6.5. mincore(2) would need a mapping, and preadv2(2) with RWF_NOWAIT has the system
read ahead what is not there. On an overlay the pages belong to the file beneath, and none are seen.
"""

import os
from typing import Final

_CACHESTAT: Final = 451
"""The number of the system call, the same on all processors but alpha."""
_FIELD_COUNT: Final = 5
"""struct cachestat: pages that are there, first, and of what kind they are or were."""


def cached_page_bytes(descriptor: int) -> int | None:
    """Return how many bytes of a file are in memory, in whole pages; None where the system does not say."""
    # here: only experiments need it, and it takes time to load
    import ctypes

    whole_file = (ctypes.c_uint64 * 2)(0, 0)
    found = (ctypes.c_uint64 * _FIELD_COUNT)()
    try:
        failed = ctypes.CDLL(None).syscall(
            ctypes.c_long(_CACHESTAT), ctypes.c_uint(descriptor), whole_file, found, ctypes.c_uint(0)
        )
    except (OSError, AttributeError):
        return None
    return None if failed else int(found[0]) * os.sysconf("SC_PAGE_SIZE")
