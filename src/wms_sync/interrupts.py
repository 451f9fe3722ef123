"""Handle interrupts: SIGTERM acts like Ctrl-C, both end DuckDB's queries, and a push finishes its open requests.

A signal raises an interrupt wherever the code happens to be. After the first request of a push this would end the run
without a report of the rows that were sent. Terminating a run in Dagster's UI sends the same signal as Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTED = 130
"""The exit code of an interrupted command, as a shell shows it."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
STANDARD_ERROR = 2
NOTICE = b"Stopping: requests under way are finished and recorded first.\n"


@contextmanager
def interruptible() -> Iterator[None]:
    """If an interrupt ended a query of DuckDB, raise the interrupt instead of DuckDB's ``RuntimeError``."""
    try:
        yield
    except RuntimeError as error:
        if error.__cause__ is None or isinstance(error.__cause__, Exception):
            raise
        raise error.__cause__ from None


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, with ``KeyboardInterrupt``. Outside the main thread, do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Stopping:
    """Sets ``asked`` at the first signal, and raises an interrupt at the second.

    It does so from ``listen`` to the end of the context, in the main thread only: other threads get no signals.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def listen(self) -> None:
        """Start to catch signals. Call it before the first request."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._stop) for number in SIGNALS}

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self.asked.is_set():
            raise KeyboardInterrupt
        self.asked.set()
        os.write(STANDARD_ERROR, NOTICE)  # unbuffered: the signal may come in the middle of a print
