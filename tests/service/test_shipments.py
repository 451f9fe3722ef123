"""How shipments are listed: a ``limit`` that the service refuses is halved until it is taken, a window is a filter."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from wms_sync.service.errors import Rejected
from wms_sync.service.query import updated_within
from wms_sync.service.selection import Selection
from wms_sync.service.shipments import Learned

HALVED = [(1000, 400, True, 500), (500, 400, True, 250), (250, 400, True, 125), (125, None, False, 125)]
STORIES: dict[str, tuple[int, list[tuple[int, int | None, bool, int]]]] = {
    # the size that is wanted; for each request its size, the status of its refusal if it is refused, whether that
    # lowers the size and which it is then
    "halved until taken": (1000, [*HALVED, HALVED[-1]]),
    "taken at once": (100, [(100, None, False, 100)] * 2),
    "refused for something else": (100, [(100, 404, False, 100)]),
    "there is no smaller one": (1, [(1, 400, False, 1)]),
    "a size that was taken is not to blame": (
        100,
        [(100, 400, True, 50), (50, None, False, 50), (50, 400, False, 50)],
    ),
    "two threads lower it once": (1000, [(1000, 400, True, 500)] * 2),
}


@pytest.mark.parametrize(("wanted", "requests"), STORIES.values(), ids=STORIES)
def test_which_refusals_lower_the_size(wanted, requests):
    learned = Learned(wanted, Selection(include_addresses=False))
    for asked, status, lowers, now in requests:
        if status is None:
            learned.taken(asked)
        else:
            assert learned.refused(asked, Rejected("no", status=status)) == lowers
        assert learned.page_size == now


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
