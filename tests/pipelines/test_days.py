from datetime import UTC, date, datetime

import pytest

from pipelines.days import RANGE_END, RANGE_START, DayRange, daily
from wms_sync.intervals import Interval


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


def test_partitions_begin_at_the_start_date_and_include_today(settings):
    keys = daily(settings).get_partition_keys(current_time=at(3, 15))
    assert keys[0] == "2026-02-20"
    assert keys[-1] == "2026-03-03"


def test_days_until_a_day_leave_it_out():
    days = DayRange.until(date(2026, 3, 1), date(2026, 3, 4))
    assert days == DayRange(date(2026, 3, 1), date(2026, 3, 3))
    assert days.interval == Interval(at(1), at(4))
    assert days.tags == {RANGE_START: "2026-03-01", RANGE_END: "2026-03-03"}


def test_a_range_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="must end after"):
        DayRange.until(date(2026, 3, 1), date(2026, 3, 1))
