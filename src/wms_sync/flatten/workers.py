"""Flatten windows in parallel threads: as they land, while others are still being read, and the rest afterwards.

A flattener uses one processor, so there are as many as processors, within limits; they share ``WMS_MEMORY_LIMIT``.
One of them, or as many as its memory takes, pauses for what is done meanwhile: merging.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from wms_sync.durable import PRIVATE_FOLDER
from wms_sync.flatten.batch import Flattener
from wms_sync.flatten.errors import PageDamagedError
from wms_sync.flatten.window import flatten_window
from wms_sync.settings import Settings, memory_bytes
from wms_sync.state.store import StateStore

MOST_WORKERS = 4
"""The gate is Python, so that more threads would wait for one another."""
MEMORY_EACH = 95_000_000
"""The least memory of a flattener."""
MEMORY_MEANWHILE = 190_000_000
"""The least memory of what is done meanwhile, if there is so much."""
BATCH_SHARE = 2 / 3
"""The bytes of JSON in a batch, as a share of the flattener's memory. 84 MB in 150 MB leave some of it unused."""


def _silent(_: str) -> None:
    """Default for ``done``: do nothing."""


class Meanwhile(Protocol):
    """Work for which flatteners pause, because it needs their memory; done while hardly a window waits."""

    def flattened(self, window_id: str) -> None:
        """Note that a window was flattened."""

    @property
    def is_due(self) -> bool:
        """Return whether it is to be done now."""

    def merge(self, memory: int) -> None:
        """Do it with so many bytes of memory."""


class Flattening:
    """Threads that flatten each window added; leaving the block waits for all windows that were added.

    An error in one thread stops all; it is then in ``trouble``, and the remaining windows can be flattened later. A
    window with a damaged page is skipped; its error is then in ``damaged``. The threads call ``done`` for each window,
    and one does what is due ``meanwhile``, with the memory of its flattener. Others pause if that is too little.
    """

    def __init__(
        self,
        settings: Settings,
        store: StateStore,
        done: Callable[[str], object] = _silent,
        meanwhile: Meanwhile | None = None,
    ) -> None:
        self.trouble: Exception | None = None
        self.damaged: dict[str, PageDamagedError] = {}
        self._layout = settings.layout
        memory = memory_bytes(settings.memory_limit)
        self._workers = workers = workers_for(memory)
        self._memory_each = memory // workers
        self._store = store
        self._done = done
        self._meanwhile = meanwhile
        self._windows: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(1, workers + 1)]
        self._stopped = False
        self._pause = threading.Condition()
        self._flattening: set[int] = set()
        self._paused: frozenset[int] = frozenset()
        self._open: dict[int, Flattener] = {}

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
        try:
            while window is not None and not self._stopped:
                with self._unless_paused(number):
                    self._flatten(self._flattener(number, work_dir), window)
                self._do_meanwhile(number)
                window = self._windows.get()
        finally:
            self._close(number)

    def _flattener(self, number: int, work_dir: Path) -> Flattener:
        if number not in self._open:
            self._open[number] = Flattener(work_dir=work_dir, memory_limit=f"{self._memory_each}B")
        return self._open[number]

    def _close(self, *numbers: int) -> None:
        """Close flatteners that nobody uses; what they keep of their memory is only freed so."""
        for number in numbers:
            flattener = self._open.pop(number, None)
            if flattener is not None:
                flattener.close()

    def _flatten(self, flattener: Flattener, window: str) -> None:
        try:
            most = int(self._memory_each * BATCH_SHARE)
            flatten_window(self._layout, self._store, flattener, window, batch_bytes=most)
        except PageDamagedError as error:
            self.damaged[window] = error
        else:
            if self._meanwhile is not None:
                self._meanwhile.flattened(window)
        self._done(window)

    def _do_meanwhile(self, number: int) -> None:
        """Do what is due, unless another thread does: with the memory of this thread's flattener, and of the next."""
        meanwhile = self._meanwhile
        if meanwhile is None or self._windows.qsize() >= self._workers or not meanwhile.is_due:
            return
        pauses = min(self._workers, -(-MEMORY_MEANWHILE // self._memory_each))
        with self._pause:
            if self._paused:
                return
            self._paused = frozenset((number - 1 + more) % self._workers + 1 for more in range(pauses))
            self._pause.wait_for(lambda: self._paused.isdisjoint(self._flattening))
        try:
            self._close(*self._paused)
            meanwhile.merge(self._memory_each * pauses)
        finally:
            with self._pause:
                self._paused = frozenset()
                self._pause.notify_all()

    @contextmanager
    def _unless_paused(self, number: int) -> Iterator[None]:
        """Wait while the thread pauses; inside the block it does not."""
        with self._pause:
            self._pause.wait_for(lambda: number not in self._paused)
            self._flattening.add(number)
        try:
            yield
        finally:
            with self._pause:
                self._flattening.discard(number)
                self._pause.notify_all()


def workers_for(memory: int) -> int:
    """Return how many flatteners work side by side within this many bytes of memory."""
    return max(1, min(os.cpu_count() or 1, MOST_WORKERS, memory // MEMORY_EACH))
