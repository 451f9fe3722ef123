"""Limit parallel requests, and pause all of them if the service is too busy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from wms_sync.service.errors import NotSent


class Throttle:
    """The limit shared by all threads of a client. ``close`` wakes every waiting thread, so a run stops at once."""

    def __init__(self, parallel: int) -> None:
        self._slots = threading.Semaphore(parallel)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._paused_until = 0.0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the parallel slots, after the current pause. Raises ``NotSent`` once closed."""
        with self._slots:
            while (wait := self._paused_until - monotonic()) > 0:
                self.sleep(wait)
            self._raise_if_closed()
            yield

    def pause(self, seconds: float) -> None:
        """Start no request for this long."""
        with self._lock:
            self._paused_until = max(self._paused_until, monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait. Raises ``NotSent`` if the client is closed meanwhile."""
        self._closed.wait(seconds)
        self._raise_if_closed()

    def close(self) -> None:
        """Start no further request, and wake every waiting thread."""
        self._closed.set()

    def _raise_if_closed(self) -> None:
        if self._closed.is_set():
            raise NotSent("The client was closed while a request was waiting.")
