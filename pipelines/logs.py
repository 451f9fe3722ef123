"""Where the library's log records go: to the log of Dagster's run, and on the command line to the terminal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

LIBRARY = logging.getLogger("wms_sync")


class Lines(logging.Handler):
    """Passes each record on as its level and its text. Call it from any thread."""

    def __init__(self, write: Callable[[int, str], object]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on."""
        self._write(record.levelno, record.getMessage())


def stamped(text: str) -> str:
    """Return a line with the time of day: what is no terminal keeps it."""
    return f"{datetime.now(UTC):%H:%M:%S} UTC  {text}"


@contextmanager
def logging_to(log: logging.Logger) -> Iterator[None]:
    """Log what the library logs inside the block to the log of a step."""
    with handling(Lines(log.log)):
        yield


@contextmanager
def handling(handler: logging.Handler) -> Iterator[None]:
    """Have a handler take what the library logs inside the block, from INFO upwards."""
    before = LIBRARY.level
    LIBRARY.addHandler(handler)
    LIBRARY.setLevel(logging.INFO)
    try:
        yield
    finally:
        LIBRARY.removeHandler(handler)
        LIBRARY.setLevel(before)
