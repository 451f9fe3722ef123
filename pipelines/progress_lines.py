"""Progress as lines of text: for a log, and for a terminal that is none."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from wms_sync.grammar import count_of

if TYPE_CHECKING:
    from wms_sync.extract.progress import Progress
    from wms_sync.master_data.push.outcomes import PushProgress

LINE_SECONDS = 10.0
T = TypeVar("T")


class PlainLines(Generic[T]):
    """A watcher that writes a line at once, then one every ten seconds; the final state is in the step's metadata."""

    def __init__(self, write: Callable[[str], object], line: Callable[[T], str]) -> None:
        self._write = write
        self._line = line
        self._next = monotonic()

    def __call__(self, progress: T) -> None:
        """Take the progress after a page or row; called from any thread."""
        now = monotonic()
        if now >= self._next:
            self._next = now + LINE_SECONDS
            self._write(self._line(progress))


def line(progress: Progress) -> str:
    """Return progress as a line: `52,000 of 100,000 shipments (52 %), 52 pages, 4 of 10 windows`."""
    share = f" ({progress.records * 100 // progress.expected} %)" if progress.expected else ""
    return (
        f"{progress.records:,} of {count_of(progress.expected, 'shipment')}{share}, "
        f"{count_of(progress.pages, 'page')}, {progress.windows_done:,} of {count_of(progress.windows, 'window')}"
    )


def push_line(progress: PushProgress) -> str:
    """Return progress as a line: `1,200 of 10,000 sent (12 %), 1,198 created, 2 rejected, about 80 s left`."""
    counted = "".join(f", {count:,} {outcome}" for outcome, count in progress.counts.items())
    left = f", about {progress.remaining_seconds:.0f} s left" if progress.remaining_seconds is not None else ""
    return f"{progress.done:,} of {progress.total:,} sent ({progress.done * 100 // progress.total} %){counted}{left}"
