"""Interrupts: SIGTERM acts like Ctrl-C, DuckDB's queries end with it too, and a push finishes what is under way.

An orchestrator raises an interrupt wherever the code is. Before the first request of a push that is right. Later it
would end the run without a report of what was sent. Terminating a run in Dagster's UI sends the same signal as Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STANDARD_ERROR = 2
NOTICE = b"Stopping: requests under way are finished and recorded.\n"


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise the interrupt that ended a query of DuckDB inside the block, which turns it into a ``RuntimeError``."""
    try:
        yield
    except RuntimeError as error:
        if error.__cause__ is None or isinstance(error.__cause__, Exception):
            raise
        raise error.__cause__ from None


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, with ``KeyboardInterrupt``. Only the main thread can do so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Stopping:
    """From ``listen`` to the end of the context the first signal sets ``asked``, and a second one raises an interrupt.

    Only the main thread can listen for signals; in any other thread this does nothing.
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
        """Start to catch signals, because requests begin now."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._stop) for number in SIGNALS}

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self.asked.is_set():
            raise KeyboardInterrupt
        self.asked.set()
        os.write(STANDARD_ERROR, NOTICE)  # unbuffered: the signal may have come in the middle of a print
