"""Values as the slow path takes them, where a page has anything else that does not fit."""

from __future__ import annotations

import pytest

from wms_sync.shipments.flatten.values import DAY_KEPT, Cast, converted

DAY = "2026-03-04"
MIDNIGHTS = ("", "T00:00:00Z", " 00:00:00", "T00:00:00.000+00:00", "T00:00")
OTHER_TIMES = ("T00:00:01Z", "T23:30:00-05:00", "T00:00:00+01:00")


@pytest.mark.parametrize("time", MIDNIGHTS)
def test_a_day_followed_by_midnight_is_that_day(time):
    assert converted(f"{DAY}{time}", "DATE", odd=False) == DAY


@pytest.mark.parametrize("time", OTHER_TIMES)
def test_a_time_in_place_of_a_day_is_taken_in_another_form(time):
    assert converted(f"{DAY}{time}", "DATE", odd=False) == Cast(DAY, DAY_KEPT)
