"""Collect the warnings of a read that continues in spite of a problem.

A warning is kept for the report of the run, which then ends with exit code 3, and for ``wms-sync status``. A remark is
only logged. Each sentence is logged once per run, immediately.
"""

from __future__ import annotations

import logging
import threading

logger = logging.getLogger(__name__)


class Warnings:
    """The warnings of one run; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._kept: list[str] = []

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the warnings so far, in order."""
        with self._lock:
            return tuple(self._kept)

    def warn(self, text: str) -> None:
        """Keep and log a warning: something is narrower or less certain than it should be."""
        if self._is_new(text):
            with self._lock:
                self._kept.append(text)
            logger.warning(text)

    def remark(self, text: str) -> None:
        """Log a remark: something is unusual, but nothing is lost."""
        if self._is_new(text):
            logger.info(text)

    def _is_new(self, text: str) -> bool:
        with self._lock:
            new = text not in self._known
            self._known.add(text)
        return new
