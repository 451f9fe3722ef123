"""Merge windows while others are still being read, so that after the last page only the last windows are left.

This is done when hardly a window waits to be flattened, thus while the service is being waited for, and not shortly
before the end: a load in several transactions costs more processor time than one in a single transaction. Whatever goes
wrong is left to the load that follows.
"""

from __future__ import annotations

import logging
import threading

from wms_sync.load.pending import RECORDS_PER_TRANSACTION
from wms_sync.load.refresh import Refresh
from wms_sync.state.run import Run

logger = logging.getLogger(__name__)

PAGES = 30
"""Fewer pages, full ones, are not worth a transaction of their own: each one packs the rows of small tables anew, and
leaves free space in the file."""
SHARE = 4
"""A transaction has at least the fourth part of what was merged before, so that large reads do not have many."""


class MergingAhead:
    """Merges what is flattened; one thread at a time, which has the memory for it."""

    def __init__(self, run: Run, load: Refresh) -> None:
        self._store = run.store
        self._load = load
        self._lock = threading.Lock()
        self._waiting: dict[str, int] = {}
        self._least = self._enough = PAGES * run.settings.page_size
        self._merged = 0
        self._merging = threading.Lock()
        self._is_stopped = not load.merges_ahead

    def flattened(self, window_id: str) -> None:
        """Note that a window was flattened."""
        records = self._store.window(window_id).records
        with self._lock:
            self._waiting[window_id] = records

    @property
    def is_due(self) -> bool:
        """Return whether enough is flattened for a transaction."""
        with self._lock:
            has_enough = not self._is_stopped and sum(self._waiting.values()) >= self._enough
        return has_enough and self._reads_on

    @property
    def _reads_on(self) -> bool:
        """Return whether a window is still to be begun: else the read ends before what would be merged now is."""
        return any(not window.pages for window in self._store.windows("reading"))

    def stop(self) -> None:
        """Merge nothing more, and wait for what is being merged."""
        with self._lock:
            self._is_stopped = True
        with self._merging:
            pass

    def merge(self, memory: int) -> None:
        """Merge what is flattened by now with so many bytes of memory, unless stopped."""
        with self._merging:
            if self.is_due:
                self._merge(f"{memory // 10**6}MB")

    def _merge(self, memory_limit: str) -> None:
        with self._lock:
            ready, self._waiting = self._waiting, {}
        try:
            self._load.merge_ahead(ready, memory_limit)
        except Exception as error:  # noqa: BLE001 - the load does it again, and tells
            logger.info(
                "merging ahead failed (%(kind)s): the load merges everything",
                {"kind": type(error).__name__},
            )
            self._load.start_over()
            self._is_stopped = True
        self._merged += sum(ready.values())
        self._enough = min(RECORDS_PER_TRANSACTION, max(self._least, self._merged // SHARE))
