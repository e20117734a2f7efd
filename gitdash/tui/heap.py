"""One heap for all threads: each with its own keeps what it has freed from the others, 5 to 8 MB in a large fleet.

Source: mallopt(3), `M_ARENA_MAX`. Where the C library is another one nothing happens.
"""

import contextlib
import ctypes
from typing import Final

_M_ARENA_MAX: Final = -8


def use_one_heap() -> None:
    """Have threads that begin from now on take memory from one heap; Python's lock lets one at a time do so anyway."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
