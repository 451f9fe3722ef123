"""Daily partitions in UTC, and ranges of them as one run.

A partition is a day of the service's `updated_at`. Today is a partition too, so that what changed this morning can be
read again; it is read up to the horizon.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Self

import dagster as dg
from msgspec import Struct

from wms_sync.intervals import Interval, midnight
from wms_sync.settings import Settings

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


def daily(settings: Settings) -> dg.DailyPartitionsDefinition:
    """Return daily partitions from the start date up to and including today."""
    return dg.DailyPartitionsDefinition(start_date=settings.start_date.isoformat(), end_offset=1)


class DayRange(Struct, frozen=True):
    """Days from `first` to `last`, both inclusive, like Dagster's ranges of partitions."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"a range of days must end after it starts: {self.first} to {self.last}")

    @classmethod
    def until(cls, start: date, end: date) -> Self:
        """Return the days of `[start, end)`."""
        return cls(start, end - timedelta(days=1))

    @property
    def tags(self) -> Mapping[str, str]:
        """Return the tags with which Dagster recognises a run of this range."""
        return {RANGE_START: self.first.isoformat(), RANGE_END: self.last.isoformat()}

    @property
    def interval(self) -> Interval:
        """Return midnight UTC of the first day to midnight after the last."""
        return Interval(midnight(self.first), midnight(self.last + timedelta(days=1)))
