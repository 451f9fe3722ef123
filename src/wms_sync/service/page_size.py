"""Find the page size: the number of records wanted, or the largest number that the service accepts.

A service may refuse a ``limit`` that the specification allows (4.4: 1 to 1000). Each refusal halves the limit, or sets
it to the number in the refusal if that is larger; the first accepted size is kept for the rest of the run. A refusal
that names no parameter is attributed to the limit until a page of that size has been served, because the request
before it, for one record, was accepted.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator

from wms_sync.service.errors import Problem, Rejected

_KEY = re.compile(r"(?:^|[^a-z_])limit(?:$|[^a-z_])", re.IGNORECASE)
_OTHER = re.compile(r"filter|sort|count|cursor|fields", re.IGNORECASE)
_OF_PARAMETERS = frozenset({400, 413, 422})
_NUMBER = re.compile(r"(?<![0-9.,])[0-9]{1,4}(?![0-9.,]?[0-9])")


def ignored(_: int) -> None:
    """Default for ``found``: do nothing."""


class PageSize:
    """The page size of one run, shared by its threads. ``found`` is called once, with a smaller size that works."""

    def __init__(self, wanted: int, *, known: int | None = None, found: Callable[[int], object] = ignored) -> None:
        self.wanted = wanted
        self._now = wanted if known is None else min(known, wanted)
        self._found = found
        self._told = False
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
            new = size < self.wanted and not self._told
            self._told |= new
        if new:
            self._found(size)

    def refused(self, size: int, refusal: Rejected) -> bool:
        """Lower the size after a refusal. Return whether to retry: not if something else was refused, nor at size 1."""
        named = any(_is_of_limit(problem) for problem in refusal.problems)
        with self._lock:
            if not named and (_names_another(refusal) or size <= self._largest_taken):
                return False
            if self._now >= size:  # else another thread has lowered it already
                self._now = max(_smaller(size, refusal))
            return self._now < size


def _smaller(size: int, refusal: Rejected) -> Iterator[int]:
    yield max(1, size // 2)
    for problem in refusal.problems:
        yield from (number for text in _NUMBER.findall(problem.message) if size // 2 < (number := int(text)) < size)


def _is_of_limit(problem: Problem) -> bool:
    if _OTHER.search(problem.key):
        return False
    return any(_KEY.search(text) for text in (problem.key, problem.message))


def _names_another(refusal: Rejected) -> bool:
    """Return whether the refusal certainly concerns something other than the limit."""
    return refusal.status not in _OF_PARAMETERS or any(_OTHER.search(problem.key) for problem in refusal.problems)
