"""Flatten windows in parallel threads: as they land, while others are still being read, and the rest afterwards.

A flattener uses one processor, so there are as many as processors, but at most two; they share ``WMS_MEMORY_LIMIT``. A
batch of 80 MB of JSON needs 150 MB.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from wms_sync.durable import PRIVATE_FOLDER
from wms_sync.flatten.batch import Flattener
from wms_sync.flatten.errors import PageDamagedError
from wms_sync.flatten.window import flatten_window
from wms_sync.settings import Settings, memory_bytes
from wms_sync.state.store import StateStore

WORKERS = min(2, os.cpu_count() or 1)


def _silent(_: str) -> None:
    """Default for ``done``: do nothing."""


class Flattening:
    """Threads that flatten each window added; leaving the block waits for all windows that were added.

    An error in one thread stops all; it is then in ``trouble``, and the remaining windows can be flattened later. A
    window with a damaged page is skipped; its error is then in ``damaged``. The threads call ``done`` for each window.
    """

    def __init__(self, settings: Settings, store: StateStore, done: Callable[[str], object] = _silent) -> None:
        self.trouble: Exception | None = None
        self.damaged: dict[str, PageDamagedError] = {}
        self._layout = settings.layout
        self._memory_limit = f"{memory_bytes(settings.memory_limit) // WORKERS}B"
        self._store = store
        self._done = done
        self._windows: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(1, WORKERS + 1)]
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
        except BaseException:  # an interrupt: windows already started are finished, no other is started
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
        work_dir.mkdir(mode=PRIVATE_FOLDER)  # without its parents: another turn may have removed them
        with Flattener(work_dir=work_dir, memory_limit=self._memory_limit) as flattener:
            while window is not None and not self._stopped:
                try:
                    flatten_window(self._layout, self._store, flattener, window)
                except PageDamagedError as error:
                    self.damaged[window] = error
                self._done(window)
                window = self._windows.get()
