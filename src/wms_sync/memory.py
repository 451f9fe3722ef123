"""Keep the memory of a process bounded where the C library is glibc.

glibc gives each thread an arena of its own and keeps there what was freed. A run reads, unpacks and flattens in a dozen
threads before it merges, which needs all that ``WMS_MEMORY_LIMIT`` allows: what the arenas kept would come on top.
Between pages, on the other hand, some memory is worth keeping: to get the 8 MB of an unpacked page anew from the system
takes as long as to unpack it.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""As ``malloc.h`` has them."""
KEPT = 32 * 1024**2
"""How much free memory at the end of the arena stays with the process."""
LARGE = 32 * 1024**2
"""What is larger goes straight back to the system when it is freed; glibc allows no more than this."""


def share_arena() -> None:
    """Have all threads that are not started yet share one arena, which keeps what it needs for the next pages."""
    with suppress(OSError, AttributeError):  # another C library has neither arenas nor the function
        libc = ctypes.CDLL(None)
        libc.mallopt(M_ARENA_MAX, 1)
        libc.mallopt(M_MMAP_THRESHOLD, LARGE)
        libc.mallopt(M_TRIM_THRESHOLD, KEPT)


def give_back() -> None:
    """Give the memory that was freed back to the system."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
