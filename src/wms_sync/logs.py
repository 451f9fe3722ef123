"""Route the library's log records, and format them and progress as lines: for a run's log, a terminal and programs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from wms_sync.grammar import count_of

if TYPE_CHECKING:
    from wms_sync.master_data.create import PushProgress
    from wms_sync.shipments.read.progress import Progress

T = TypeVar("T")
LINE_SECONDS = 10.0
LIBRARY = logging.getLogger("wms_sync")


class ThisRun:
    """The run that records of the log belong to: the latest one of this process, which has one at a time."""

    id: str | None = None


class Lines(logging.Handler):
    """Passes the level and the text of each record to a function, which may be called from any thread."""

    def __init__(self, write: Callable[[int, str], object]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the level and the text of a record to the function."""
        self._write(record.levelno, record.getMessage())


def stamped(text: str) -> str:
    """Return a line that begins with the time of day, for output that is kept."""
    return f"{datetime.now(UTC):%H:%M:%S} UTC  {text}"


def json_line(level: int, text: str) -> str:
    """Return a record of the log as one line of JSON: time, level, message and the id of the run."""
    return json.dumps(
        {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": logging.getLevelName(level).lower(),
            "message": text,
            "run": ThisRun.id,
        }
    )


def logging_to(log: logging.Logger) -> AbstractContextManager[None]:
    """Inside the block, send the library's log records to another log, such as that of a step."""
    return handling(Lines(log.log))


@contextmanager
def handling(handler: logging.Handler, level: int | str = logging.INFO) -> Iterator[None]:
    """Inside the block, pass the library's log records of this level and above to a handler."""
    before = LIBRARY.level
    LIBRARY.addHandler(handler)
    LIBRARY.setLevel(level)
    try:
        yield
    finally:
        LIBRARY.removeHandler(handler)
        LIBRARY.setLevel(before)


class PlainLines(Generic[T]):
    """A watcher that writes a line at once, then at most one every ten seconds. The result has the final state."""

    def __init__(self, write: Callable[[str], object], line: Callable[[T], str]) -> None:
        self._write = write
        self._line = line
        self._next = monotonic()

    def __call__(self, progress: T) -> None:
        """Write the progress if a line is due. Any thread may call it, after a page or row."""
        now = monotonic()
        if now >= self._next:
            self._next = now + LINE_SECONDS
            self._write(self._line(progress))


def line(progress: Progress) -> str:
    """Return the progress of a read: `52,000 of 100,000 shipments (52%), 52 pages, 4 of 10 windows`."""
    share = f" ({progress.records * 100 // progress.expected}%)" if progress.expected else ""
    return (
        f"{progress.records:,} of {count_of(progress.expected, 'shipment')}{share}, "
        f"{count_of(progress.pages, 'page')}, {progress.windows_done:,} of {count_of(progress.windows, 'window')}"
    )


def push_line(progress: PushProgress) -> str:
    """Return the progress of a push: `1,200 of 10,000 sent (12%), 1,198 created, 2 rejected, about 80 s left`."""
    counted = "".join(f", {count:,} {outcome}" for outcome, count in progress.counts.items())
    return (
        f"{progress.done:,} of {progress.total:,} sent ({progress.done * 100 // progress.total}%){counted}, "
        f"about {(progress.total - progress.done) * progress.seconds / progress.done:.0f} s left"
    )
