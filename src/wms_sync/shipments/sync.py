"""Read changes and then the slice of an audit, or whole days; flatten each window while others are read.

``load.refresh`` loads the landed windows afterwards. Only this module defines this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

from wms_sync.intervals import Interval
from wms_sync.service.client import GlobalApi
from wms_sync.shipments.audit import SliceReader
from wms_sync.shipments.flatten.workers import Flattening
from wms_sync.shipments.read.progress import Warnings, Watcher
from wms_sync.shipments.read.reader import Reading, ReadReport
from wms_sync.state.store import Run
from wms_sync.targets.target import target_of


def read_changes(
    run: Run, read: Callable[[ReadReport], object], watcher: Watcher | None, transport: httpx.BaseTransport | None
) -> ReadReport:
    """Read the changes since the sync cursor, then, if due, the slice of an audit. Return the report of the changes.

    ``read`` is called with this report before the audit, so that its counts are kept even if the audit fails.
    """
    with _reading(run, watcher, transport) as (reading, audit):
        report = reading.sync()
        read(report)
        audit.read(report.horizon)
    return report


def read_days(run: Run, days: Interval, watcher: Watcher | None, transport: httpx.BaseTransport | None) -> ReadReport:
    """Read whole days again."""
    with _reading(run, watcher, transport) as (reading, _):
        return reading.backfill(days.start, days.end)


@contextmanager
def _reading(
    run: Run, watcher: Watcher | None, transport: httpx.BaseTransport | None
) -> Iterator[tuple[Reading, SliceReader]]:
    """Yield the readers. Other threads flatten landed windows: all by the end of the block, unless an error stops them.

    Before the first request, raise the error that a load's file operations would raise.
    """
    target_of(run.settings).try_files()
    settings, warnings = run.settings, Warnings()
    with (
        GlobalApi.from_settings(settings, warn=warnings.warn, transport=transport) as api,
        Flattening(settings, run.store) as flattening,
    ):
        yield (
            Reading(run, api, watcher=watcher, landed=flattening.add, warnings=warnings),
            SliceReader(run, api, landed=flattening.add, warnings=warnings),
        )
