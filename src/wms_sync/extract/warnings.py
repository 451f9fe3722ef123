"""Collect the warnings of a read that continues in spite of a problem.

A warning is kept for the report of the run, which then ends with exit code 3, and for ``wms-sync status``. A remark is
only printed. Each sentence is printed once per run, immediately.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from wms_sync.api.connection import silent


class Warnings:
    """The warnings of one run; thread-safe. ``tell`` prints each one immediately."""

    def __init__(self, tell: Callable[[str], object] = silent) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self._kept: list[str] = []

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the warnings so far, in order."""
        with self._lock:
            return tuple(self._kept)

    def warn(self, text: str) -> None:
        """Keep and print a warning: something is narrower or less certain than it should be."""
        if self._is_new(text):
            with self._lock:
                self._kept.append(text)
            self._tell(text)

    def remark(self, text: str) -> None:
        """Print a remark: something is unusual, but nothing is lost."""
        if self._is_new(text):
            self._tell(text)

    def _is_new(self, text: str) -> bool:
        with self._lock:
            new = text not in self._told
            self._told.add(text)
        return new
