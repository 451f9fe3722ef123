"""Flattening windows while others are still being read: the service is waited for, the processor is not.

What is not flattened ahead, or fails here, is flattened by the refresh, which also reports the error.
"""

from __future__ import annotations

import queue
import threading
from types import TracebackType
from typing import Self

import duckdb

from wms_sync.analytics.flattened import flatten_window
from wms_sync.durable import make_private
from wms_sync.errors import WmsSyncError
from wms_sync.flatten.batch import Flattener
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore


class FlattenAhead:
    """A thread that flattens each window it is told of; leaving the block waits for those begun and queued."""

    def __init__(self, settings: Settings, store: StateStore) -> None:
        self._settings = settings
        self._store = store
        self._layout = Layout(settings.data_dir)
        self._landed: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="flatten ahead")

    def landed(self, window_id: str) -> None:
        """A window is complete on disk."""
        self._landed.put(window_id)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._landed.put(None)
        self._thread.join()

    def _run(self) -> None:
        first = self._landed.get()
        if first is None:
            return
        work = make_private(self._layout.work / "ahead")
        with Flattener(work_dir=work) as flattener:
            window: str | None = first
            while window is not None:
                try:
                    flatten_window(self._layout, self._store, flattener, window)
                except (WmsSyncError, OSError, duckdb.Error):
                    return  # the refresh meets the same trouble, and says so
                window = self._landed.get()
