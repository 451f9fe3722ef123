from datetime import UTC, datetime, timedelta, timezone

import pytest

from wms_sync.service.query import updated_within

MARCH, APRIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
AFTER = 'gt:"2026-02-28T23:59:59Z"'
"""A window starts one tick earlier."""
BEFORE = 'lt:"2026-04-01T00:00:00Z"'


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (MARCH, APRIL, f"updated_at{{{AFTER},{BEFORE}}}"),
        (MARCH, None, f"updated_at{{{AFTER}}}"),
        (None, APRIL, f"updated_at{{{BEFORE}}}"),
        (MARCH.astimezone(timezone(timedelta(hours=1))), None, f"updated_at{{{AFTER}}}"),
    ],
)
def test_a_window_as_a_filter(start, end, said):
    assert updated_within(start, end) == said
