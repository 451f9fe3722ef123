"""Count the shipments that were read for each day, for Dagster's daily partitions.

A window covers several days. The Parquet files have the day of each record.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.shipments.read.plan import gaps_so_far
from wms_sync.state.store import COMPLETE_STATES, StateStore

logger = logging.getLogger(__name__)
DAY = timedelta(days=1)


class DayRead(Struct, frozen=True):
    """What windows have read for a day.

    ``records`` counts the shipments whose ``updated_at`` is on that day (UTC); None if the windows' Parquet files
    cannot be read. ``windows`` are the windows that overlap the day.
    """

    windows: tuple[str, ...]
    records: int | None


def days_of(intervals: Iterable[Interval]) -> set[date]:
    """Return the days that the intervals touch."""
    return {
        interval.start.date() + number * DAY
        for interval in intervals
        for number in range((_last(interval).toordinal() - interval.start.date().toordinal()) + 1)
    }


def covered_days(settings: Settings, store: StateStore) -> set[date]:
    """Return the days without a gap in coverage. The last day may be covered only up to the newest moment read."""
    covered = store.covered()
    newest, gaps = gaps_so_far(settings.start, covered)
    return days_of([Interval(settings.start, newest)] if settings.start < newest else []) - days_of(gaps)


def windows_of(store: StateStore, days: Iterable[date]) -> tuple[str, ...]:
    """Return the ids of the complete windows that overlap these days, whichever run read them."""
    wanted = set(days)
    return tuple(
        window.id
        for window in store.windows(*COMPLETE_STATES)
        if window.covers_time and not wanted.isdisjoint(days_of([window.interval]))
    )


def read_of_days(
    settings: Settings, store: StateStore, days: Sequence[date], window_ids: Sequence[str]
) -> dict[date, DayRead]:
    """Return what these windows have read for each of these days."""
    windows = [store.window(window_id) for window_id in window_ids]
    by_day: dict[date, list[str]] = {day: [] for day in days}
    for window in windows:
        for day in sorted(by_day.keys() & days_of([window.interval])):
            by_day[day].append(window.id)
    files = [file for window in windows for file in _files(settings.layout, window.id)]
    counts: dict[date, int] = {}
    try:
        if files:
            with duckdb.connect(config={"memory_limit": settings.memory_limit}) as connection:
                query = sql_files.read("queries/read_of_days.sql")
                counts = dict(connection.execute(query, {"files": files}).fetchall())
    except (duckdb.Error, OSError) as error:
        logger.warning("The records read of each day cannot be counted: %(error)s", {"error": error})
        return {day: DayRead(tuple(ids), None) for day, ids in by_day.items()}
    return {day: DayRead(tuple(ids), counts.get(day, 0)) for day, ids in by_day.items()}


def _files(layout: Layout, window_id: str) -> list[str]:
    if not is_flattened(layout, window_id):
        return []
    return flattened_window(layout, window_id).files(layout, "shipments")


def _last(interval: Interval) -> date:
    return (interval.end - timedelta(microseconds=1)).date()
