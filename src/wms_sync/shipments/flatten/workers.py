"""Flatten windows in parallel threads: as they land, while others are still being read, and the rest afterwards.

A flattener uses one processor, so there is one flattener per processor, within limits; they share ``WMS_MEMORY_LIMIT``.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

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


class Flattening:
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
        self._windows: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(1, workers + 1)]
        self._stopped = False

    def add(self, window_id: str) -> None:
        """Queue a window that is complete on disk."""
        self._windows.put(window_id)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = error is not None
        for _ in self._threads:
            self._windows.put(None)
        try:
            for thread in self._threads:
                thread.join()
        except BaseException:  # an interrupt: windows in progress are finished, no other is started
            self._stopped = True
            raise

    def _run(self, number: int) -> None:
        try:
            self._flatten_all(number)
        except Exception as error:  # noqa: BLE001 - the caller handles it
            self.trouble = self.trouble or error
            self._stopped = True

    def _flatten_all(self, number: int) -> None:
        window = self._windows.get()
        if window is None:
            return
        work_dir = self._store.turn.temporary(f"flatten-{number}")
        work_dir.mkdir(mode=PRIVATE_FOLDER)  # without its parents: the next holder of the lock may have removed them
        with Flattener(work_dir=work_dir, memory_limit=f"{self._memory_each}B") as flattener:
            while window is not None and not self._stopped:
                self._flatten(flattener, window)
                window = self._windows.get()

    def _flatten(self, flattener: Flattener, window: str) -> None:
        try:
            most = int(self._memory_each * BATCH_SHARE)
            flatten_window(self._layout, self._store, flattener, window, batch_bytes=most)
        except PageDamagedError as error:
            self.damaged[window] = error


def flatten_landed(settings: Settings, store: StateStore, *, from_scratch: bool) -> Mapping[str, PageDamagedError]:
    """Flatten every complete window without Parquet files or, if ``from_scratch``, every window with raw pages.

    Return the error of each window with a damaged page.
    """
    layout = settings.layout
    known = store.windows(*COMPLETE_STATES)
    kept = {
        window.id
        for window in known
        if is_flattened(layout, window.id) and (not from_scratch or is_dropped(layout, window.id))
    }
    windows = [window.id for window in known if window.id not in kept]
    if from_scratch and kept:
        logger.info(
            "%(windows)s loaded from Parquet files: the raw pages were dropped",
            {"windows": count_of(len(kept), "window is", "windows are")},
        )
    if windows:
        logger.info("flattening %(windows)s", {"windows": count_of(len(windows), "window")})
    with Flattening(settings, store) as flattening:
        for window in windows:
            flattening.add(window)
    if flattening.trouble is not None:
        raise flattening.trouble
    if windows:
        delete_unnamed(store.turn, layout, set(windows))
    return flattening.damaged
