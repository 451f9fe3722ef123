"""The state store over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from msgspec.structs import replace

from wms_sync.intervals import Interval
from wms_sync.state.errors import StateUrlError
from wms_sync.state.store import LandedPage, StateStore, Window

DAY = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(url, turn) -> Iterator[StateStore]:
    with StateStore(url, turn) as opened:
        yield opened


def window(name: str, start: int = 0, end: int = 1, state: str = "reading") -> Window:
    return Window(
        id=name,
        from_at=DAY + timedelta(days=start),
        to_at=DAY + timedelta(days=end),
        state=state,
        reason="sync",
        run_id="run",
        signature="s",
        count_reported=None,
        pages=0,
        records=0,
        bytes=0,
        started_at=datetime.now(UTC),
        landed_at=None,
        loaded_at=None,
        read_seconds=None,
    )


def page(name: str, number: int) -> LandedPage:
    return LandedPage(name, number, f"page-{number}", number + 1, 10, 2**53, 100, 1000, "0" * 64, DAY)


def test_a_window_is_read_landed_and_loaded(store, request):
    name, berlin = request.node.name, timezone(timedelta(hours=1))
    begun = window(name)
    store.begin_windows([replace(begun, from_at=DAY.astimezone(berlin))])
    store.set_count(name, 20)
    for number in (1, 2):
        store.record_page(page(name, number))
    store.mark_loaded([name])
    read = replace(begun, count_reported=20, pages=2, records=20, bytes=200)
    assert (store.window(name), store.window(name).from_at.utcoffset()) == (read, timedelta(0)), (
        "times come back in UTC"
    )
    store.mark_landed(name, read_seconds=1.5)
    landed = store.window(name)
    assert landed == replace(read, state="landed", read_seconds=1.5, landed_at=landed.landed_at)
    store.mark_loaded([name])
    loaded = store.window(name)
    assert loaded == replace(landed, state="loaded", loaded_at=loaded.loaded_at)
    assert loaded.loaded_at >= landed.landed_at
    assert store.pages(name) == (page(name, 1), page(name, 2))


def test_coverage_is_the_union_of_windows_that_count(store, request):
    far = -1000 if "postgresql" in request.node.name else -2000
    windows = ((0, 2, "loaded"), (1, 3, "landed"), (3, 4, "reading"), (5, 6, "abandoned"))
    store.begin_windows(
        [window(f"{request.node.name}-{start}", far + start, far + end, state) for start, end, state in windows]
    )
    assert Interval(DAY + timedelta(days=far), DAY + timedelta(days=far + 3)) in store.covered()


def test_a_store_that_is_opened_again_remembers(url, turn, request):
    with StateStore(url, turn) as first:
        first.begin_windows([window(request.node.name)])
        first.observe("seen", 5, "here")
        first.observe("seen", 6, "there")
    with StateStore(url) as second:
        assert second.window(request.node.name).id == request.node.name
        seen: Any = second.observation("seen")
    assert (seen.value, seen.about) == (6, "there")


@pytest.mark.parametrize("wrong", ["nonsense", "mysterydb://host/x"])
def test_a_wrong_url_is_named(wrong):
    with pytest.raises(StateUrlError, match="WMS_STATE_URL"):
        StateStore(wrong)
