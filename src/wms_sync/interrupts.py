"""Handle interrupts: SIGTERM and SIGHUP act like Ctrl-C and end DuckDB's queries; a push finishes its open requests.

A signal raises an interrupt wherever the code happens to be. After the first request of a push this would end the run
without a report of the rows that were sent. Terminating a run in Dagster's UI sends the same signal as Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTED = 130
"""The exit code of an interrupted command, as a shell shows it."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STANDARD_ERROR = 2
Handlers = dict[signal.Signals, Any]
NOTICE = b"Stopping: requests under way are finished and recorded first.\n"


@contextmanager
def interruptible() -> Iterator[None]:
    """If an interrupt ended a query of DuckDB, raise the interrupt instead of DuckDB's ``RuntimeError``."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise (error.__cause__ or KeyboardInterrupt) from None  # DuckDB 2 states no cause


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, with ``KeyboardInterrupt``.

    Outside the main thread, do nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _handled_by(signal.default_int_handler)
    try:
        yield
    finally:
        _restore(before)


def _handled_by(handler: Callable[[int, FrameType | None], object]) -> Handlers:
    """Set the handler of the signals, and return those before. Leave out what is ignored, as SIGHUP is by nohup."""
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heeded}


def _restore(handlers: Handlers) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


class Stopping:
    """Sets ``asked`` at the first signal, and raises an interrupt at the second.

    It does so from ``listen`` to the end of the context, in the main thread only: other threads get no signals.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._before: Handlers = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _restore(self._before)

    def listen(self) -> None:
        """Start to catch signals. Call it before the first request."""
        if threading.current_thread() is threading.main_thread():
            self._before = _handled_by(self._stop)

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self.asked.is_set():
            raise KeyboardInterrupt
        self.asked.set()
        with suppress(OSError):  # the terminal is gone
            os.write(STANDARD_ERROR, NOTICE)  # unbuffered: the signal may come in the middle of a print
