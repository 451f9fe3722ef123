"""Merge windows while others are still being read, so that after the last page only the last windows are left.

This is done when nothing is left to flatten, thus while the service is being waited for: a load in several transactions
costs more processor time than one in a single transaction. Whatever goes wrong is left to the load that follows.
"""

from __future__ import annotations

import logging
import threading

from wms_sync.load.pending import RECORDS_PER_TRANSACTION
from wms_sync.load.refresh import Refresh
from wms_sync.state.run import Run

logger = logging.getLogger(__name__)

PAGES = 15
"""Fewer pages, full ones, are not worth a transaction of their own."""
SHARE = 4
"""A transaction has at least the fourth part of what was merged before, so that large reads do not have many."""


class MergingAhead:
    """Merges what is flattened; one thread at a time, while nothing else flattens or merges."""

    def __init__(self, run: Run, refresh: Refresh) -> None:
        self._store = run.store
        self._refresh = refresh
        self._lock = threading.Lock()
        self._waiting: dict[str, int] = {}
        self._least = self._enough = PAGES * run.settings.page_size
        self._merged = 0
        self._merging = threading.Lock()
        self._is_stopped = not refresh.merges_ahead

    def flattened(self, window_id: str) -> None:
        """Note that a window was flattened."""
        records = self._store.window(window_id).records
        with self._lock:
            self._waiting[window_id] = records

    @property
    def is_due(self) -> bool:
        """Return whether enough is flattened for a transaction."""
        with self._lock:
            return not self._is_stopped and sum(self._waiting.values()) >= self._enough

    def stop(self) -> None:
        """Merge nothing more, and wait for what is being merged."""
        with self._lock:
            self._is_stopped = True
        with self._merging:
            pass

    def merge(self) -> None:
        """Merge what is flattened by now, unless stopped."""
        with self._merging:
            if self.is_due:
                self._merge()

    def _merge(self) -> None:
        with self._lock:
            ready, self._waiting = self._waiting, {}
        try:
            self._refresh.merge_ahead(ready)
        except Exception as error:  # noqa: BLE001 - the load does it again, and tells
            logger.info(
                "merging while others are read failed (%(kind)s): the load merges everything",
                {"kind": type(error).__name__},
            )
            self._refresh.start_over()
        self._merged += sum(ready.values())
        self._enough = min(RECORDS_PER_TRANSACTION, max(self._least, self._merged // SHARE))
