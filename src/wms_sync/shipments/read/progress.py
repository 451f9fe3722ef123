"""What a running read reports: its progress, which a watcher shows, and its warnings.

A warning means that data is omitted, or less certain than it should be. It is kept for the report of the run, and in
the state store, from which it becomes a finding. A remark is only logged. Each sentence is logged once per run,
immediately.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

logger = logging.getLogger(__name__)


class Progress(Struct, frozen=True):
    """The counters of a read. ``expected`` is the number of records expected in all its windows."""

    windows: int = 0
    windows_done: int = 0
    pages: int = 0
    records: int = 0
    bytes: int = 0
    expected: int = 0


Watcher = Callable[[Progress], None]


class Tally:
    """Adds up progress from several threads and passes it to the watcher."""

    def __init__(self, watcher: Watcher | None = None) -> None:
        self._watcher = watcher
        self._lock = threading.Lock()
        self.now = Progress()

    def add(self, **amounts: int) -> None:
        """Add to the named counters."""
        with self._lock:
            self.now = replace(self.now, **{name: getattr(self.now, name) + more for name, more in amounts.items()})
            if self._watcher is not None:
                self._watcher(self.now)


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
