"""Keep the memory of a process bounded where the C library is glibc.

glibc gives each thread an arena of its own and keeps there what was freed. A run reads, unpacks and flattens in a dozen
threads before it merges, which needs all that ``WMS_MEMORY_LIMIT`` allows: what the arenas kept would come on top.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

M_ARENA_MAX = -8
"""As ``malloc.h`` has it."""


def share_arena() -> None:
    """Have all threads that are not started yet share one arena."""
    with suppress(OSError, AttributeError):  # another C library has neither arenas nor the function
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Give the memory that was freed back to the system."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
