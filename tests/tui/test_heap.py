"""Threads that share one heap: what the kernel says of this process's memory."""

import subprocess
import sys

import pytest

_THREADS = """
import sys, threading
from gitdash.tui.heap import use_one_heap

if sys.argv[1] == "shared":
    use_one_heap()
is_done = threading.Event()
ready = threading.Barrier(4)

def allocate():
    kept = [bytes(2_000) for _ in range(100)]
    ready.wait()
    is_done.wait()

for _ in range(3):
    threading.Thread(target=allocate, daemon=True).start()
ready.wait()
reserved = 0
for line in open("/proc/self/maps"):
    addresses, access = line.split()[:2]
    first, end = (int(address, 16) for address in addresses.split("-"))
    reserved += access == "---p" and end - first > 32 << 20
print(reserved)
"""


def _reserved_count(sharing: str) -> int:
    """How many heaps the C library has set address space aside for: 64 MiB each on machines of 64 bits."""
    done = subprocess.run([sys.executable, "-c", _THREADS, sharing], check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_threads_share_the_heap_of_the_first() -> None:
    if _reserved_count("apart") == 0:
        pytest.skip("this C library has one heap for all threads anyway")
    assert _reserved_count("shared") == 0
