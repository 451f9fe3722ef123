"""The progress of a running read, which several threads add to and a watcher shows."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

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
