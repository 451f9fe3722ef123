"""Find the page size: the number of records wanted, or the largest number that the service accepts.

A service may refuse a ``limit`` that the specification allows (4.4: 1 to 1000). Each refusal halves it; the first
accepted size is kept for the rest of the run. A refusal is attributed to the limit until a page of that size has been
served, because the preceding request for one record was accepted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from wms_sync.service.errors import Rejected

_OF_PARAMETERS = frozenset({400, 413, 422})


def ignored(_: int) -> None:
    """Default for ``found``: do nothing."""


class PageSize:
    """The page size of one run, shared by its threads. ``found`` is called once, with a smaller size that works."""

    def __init__(self, wanted: int, *, known: int | None = None, found: Callable[[int], object] = ignored) -> None:
        self.wanted = wanted
        self._now = wanted if known is None else min(known, wanted)
        self._found = found
        self._is_reported = False
        self._largest_taken = 0
        self._lock = threading.Lock()

    @property
    def now(self) -> int:
        """Return the current page size."""
        with self._lock:
            return self._now

    def taken(self, size: int) -> None:
        """Record that the service served a page of this size."""
        with self._lock:
            self._largest_taken = max(size, self._largest_taken)
            new = size < self.wanted and not self._is_reported
            self._is_reported |= new
        if new:
            self._found(size)

    def refused(self, size: int, refusal: Rejected) -> bool:
        """Halve the size after a refusal. Return whether to retry: not at size 1, nor if such a page was served."""
        with self._lock:
            if refusal.status not in _OF_PARAMETERS or size <= self._largest_taken:
                return False
            self._now = min(self._now, max(1, size // 2))  # another thread may have lowered it already
            return self._now < size
