"""Limit parallel requests, and cut requests that take too long.

The time limits of httpx apply to single reads: an answer that sends a byte each second never reaches them, be it in a
header, an interim answer (1xx), a chunk size or a trailer. So each request has its own deadline, enforced outside the
parser: another thread shuts the socket down. httpx passes the socket of each new connection to its request extension
``trace``. A client has one connection at a time, so that socket is the one in use.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

import httpx

from wms_sync.errors import TooManyFiles
from wms_sync.service.errors import NotSent


class Throttle:
    """A limit on parallel requests, shared by all threads of a client.

    ``close`` wakes every sleeping thread, so a run stops at once.
    """

    def __init__(self, parallel: int) -> None:
        self._slots = threading.Semaphore(parallel)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._paused_until = 0.0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the parallel slots, after the current pause. Raise ``NotSent`` if the throttle is closed."""
        with self._slots:
            while (wait := self._paused_until - monotonic()) > 0:
                self.sleep(wait)
            self.sleep(0)
            yield

    def pause(self, seconds: float) -> None:
        """Start no request for this many seconds."""
        with self._lock:
            self._paused_until = max(self._paused_until, monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait. Raise ``NotSent`` if the client is closed meanwhile."""
        if self._closed.wait(seconds):
            raise NotSent("The client was closed while a request was waiting.")

    def close(self) -> None:
        """Start no further request, and wake every sleeping thread."""
        self._closed.set()


class TimedClient:
    """A client of httpx with at most one connection. One request at a time uses it."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.is_cut = False
        self._socket: socket.socket | None = None
        self._watcher: threading.Thread | None = None
        self._changed = threading.Condition()
        self._deadline: float | None = None
        self._is_closed = False

    def send(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer is streamed. Raise ``httpx.HTTPError``."""
        request.extensions["trace"] = self._traced
        return self.http.send(request, stream=True)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Cut the connection if the block takes longer; then ``is_cut`` is true."""
        if self._watcher is None:
            # one for all requests: if memory runs out while a thread starts, its starter can wait forever
            watcher = threading.Thread(target=self._watch, name="deadlines", daemon=True)
            watcher.start()
            self._watcher = watcher
        with self._changed:
            self._deadline, self.is_cut = monotonic() + seconds, False
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._deadline = None

    def cut(self) -> None:
        """End the request in progress, if there is one, from another thread."""
        with self._changed:
            if self._deadline is not None:
                self._shut_down()

    def close(self) -> None:
        """Close the connection."""
        self.http.close()
        self._forget()
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._is_closed:
                left = None if self._deadline is None or self.is_cut else self._deadline - monotonic()
                if left is not None and left <= 0:
                    self._shut_down()
                else:
                    self._changed.wait(left)

    def _shut_down(self) -> None:
        self.is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        if not event.endswith("connect_tcp.complete"):
            return
        with self._changed:
            self._forget()
            stream = info["return_value"]
            try:
                self._socket = stream.get_extra_info("socket").dup()  # TLS takes over the original
            except OSError as error:  # no file descriptor is left
                stream.close()
                raise NotSent(f"Nothing was sent: {TooManyFiles()}") from error
            if self.is_cut:
                self._shut_down()

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
