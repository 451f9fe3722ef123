"""The warnings of a read: data is omitted, or less certain than it should be.

A warning is kept for the report of the run, and in the state store, from which it becomes a finding. A remark is only
logged. Each sentence is logged once per run, immediately.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

logger = logging.getLogger(__name__)


class Warnings:
    """The warnings of one run; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._kept: dict[str, str] = {}

    @property
    def kept(self) -> Mapping[str, str]:
        """Return the warnings so far, in order, by name."""
        with self._lock:
            return dict(self._kept)

    def warn(self, name: str, text: str) -> None:
        """Keep and log a warning: data is omitted, or less certain than it should be.

        ``name`` is the name of the finding. It stays the same while the problem is the same, although numbers and times
        in the text change.
        """
        if self._is_new(text):
            with self._lock:
                self._kept.setdefault(name, text)
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
