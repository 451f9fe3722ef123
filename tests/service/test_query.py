from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from wms_sync.service.query import ids_among, updated_within

MARCH, APRIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)


def test_a_window_starts_one_tick_earlier():
    assert updated_within(MARCH, APRIL) == 'updated_at{gt:"2026-02-28T23:59:59Z",lt:"2026-04-01T00:00:00Z"}'


def test_either_side_may_be_open():
    assert updated_within(MARCH, None) == 'updated_at{gt:"2026-02-28T23:59:59Z"}'
    assert updated_within(None, APRIL) == 'updated_at{lt:"2026-04-01T00:00:00Z"}'


def test_other_time_zones_become_utc():
    berlin = datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert updated_within(berlin, None) == updated_within(MARCH, None)


def test_ids_are_asked_for_as_a_list():
    assert ids_among([15, 50]) == "id{in:[15,50]}"
