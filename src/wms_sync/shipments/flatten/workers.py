"""Flatten windows in parallel threads: as they land, while others are still being read, and the rest afterwards.

A flattener uses one processor, so there is one flattener per processor, within limits; they share ``WMS_MEMORY_LIMIT``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType

from wms_sync.grammar import count_of
from wms_sync.settings import Settings, memory_bytes
from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.page import PageDamagedError
from wms_sync.shipments.flatten.window import delete_unnamed, flatten_window, is_flattened
from wms_sync.shipments.read.raw import is_dropped
from wms_sync.state.store import COMPLETE_STATES, StateStore
from wms_sync.storage.durable import PRIVATE_FOLDER

logger = logging.getLogger(__name__)

MOST_WORKERS = 4
"""The gate is Python, so more threads would wait for each other."""
MEMORY_EACH = 95_000_000
"""The minimum memory of a flattener, in bytes."""
BATCH_SHARE = 2 / 3
"""The bytes of JSON in a batch, as a share of the flattener's memory: 84 MB of 150 MB were measured to fit."""


class Flattening(AbstractContextManager["Flattening"]):
    """Threads that flatten each window added; leaving the block without an error waits for all added windows.

    An error in one thread stops all; ``trouble`` then has the error, and the remaining windows can be flattened later.
    A window with a damaged page is skipped; ``damaged`` then has its error.
    """

    def __init__(self, settings: Settings, store: StateStore) -> None:
        self.trouble: Exception | None = None
        self.damaged: dict[str, PageDamagedError] = {}
        self._layout = settings.layout
        memory = memory_bytes(settings.memory_limit)
        workers = max(1, min(os.cpu_count() or 1, MOST_WORKERS, memory // MEMORY_EACH))
        self._memory_each = memory // workers
        self._store = store
        self._idle: list[Flattener] = []
        self._pool = ThreadPoolExecutor(workers, "flatten")

    def add(self, window_id: str) -> None:
        """Queue a window that is complete on disk."""
        self._pool.submit(self._flatten, window_id)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._pool.shutdown(cancel_futures=error is not None)
        except BaseException:  # an interrupt: windows in progress are finished, no other is started
            self._pool.shutdown(wait=False, cancel_futures=True)
            raise
        for flattener in self._idle:
            flattener.close()

    def _flatten(self, window: str) -> None:
        if self.trouble is not None:
            return
        try:
            flattener = self._flattener()
            most = int(self._memory_each * BATCH_SHARE)
            try:
                flatten_window(self._layout, self._store, flattener, window, batch_bytes=most)
            except PageDamagedError as error:
                self.damaged[window] = error
            self._idle.append(flattener)
        except Exception as error:  # noqa: BLE001 - the caller handles it
            self.trouble = self.trouble or error

    def _flattener(self) -> Flattener:
        """Return a flattener that no thread uses."""
        try:
            return self._idle.pop()
        except IndexError:
            work_dir = self._store.lease.temporary("flatten")
        work_dir.mkdir(mode=PRIVATE_FOLDER)  # without its parents: the next holder of the lock may have removed them
        return Flattener(work_dir=work_dir, memory_limit=f"{self._memory_each}B")


def flatten_landed(settings: Settings, store: StateStore, *, from_scratch: bool) -> Mapping[str, PageDamagedError]:
    """Flatten every complete window without Parquet files or, if ``from_scratch``, every window with raw pages.

    Return the error of each window with a damaged page.
    """
    layout = settings.layout
    known = store.windows(*COMPLETE_STATES)
    windows = [
        window.id
        for window in known
        if not is_flattened(layout, window.id) or (from_scratch and not is_dropped(layout, window.id))
    ]
    if windows:
        logger.info("flattening %(windows)s", {"windows": count_of(len(windows), "window")})
    with Flattening(settings, store) as flattening:
        for window in windows:
            flattening.add(window)
    if flattening.trouble is not None:
        raise flattening.trouble
    if windows:
        delete_unnamed(store.lease, layout, set(windows))
    return flattening.damaged
