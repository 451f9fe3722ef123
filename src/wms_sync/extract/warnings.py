"""What a read warns of: it went on, and somebody should know.

A warning is kept for the report of the run, which then ends in exit 3, and for ``wms-sync status``. A remark is only
told. Each sentence is told once a run, at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from wms_sync.api.connection import silent


class Warnings:
    """The warnings of one run, from whichever thread; ``tell`` is given each as it comes up."""

    def __init__(self, tell: Callable[[str], object] = silent) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self._kept: list[str] = []

    @property
    def kept(self) -> tuple[str, ...]:
        """The warnings so far, in the order in which they came up."""
        with self._lock:
            return tuple(self._kept)

    def warn(self, text: str) -> None:
        """Something is narrower or less certain than it should be."""
        if self._is_new(text):
            with self._lock:
                self._kept.append(text)
            self._tell(text)

    def remark(self, text: str) -> None:
        """Something is odd and takes nothing away."""
        if self._is_new(text):
            self._tell(text)

    def _is_new(self, text: str) -> bool:
        with self._lock:
            new = text not in self._told
            self._told.add(text)
        return new
