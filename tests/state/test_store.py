"""The state store over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from msgspec.structs import replace

from wms_sync.intervals import Interval
from wms_sync.state.errors import StateUrlError
from wms_sync.state.store import LandedPage, StateStore, Window

DAY = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(url, turn) -> Iterator[StateStore]:
    opened = StateStore(url, turn)
    yield opened
    opened.close()


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
    store.begin_windows([replace(window(name), from_at=DAY.astimezone(berlin))])
    store.set_count(name, 20)
    store.record_page(page(name, 1))
    store.record_page(page(name, 2))
    store.mark_loaded([name])
    reading = store.window(name)
    assert (reading.state, reading.pages, reading.records, reading.bytes) == ("reading", 2, 20, 200)
    assert (reading.from_at, reading.from_at.utcoffset()) == (DAY, timedelta(0)), "times come back in UTC"
    store.mark_landed(name, read_seconds=1.5)
    assert store.window(name).state == "landed"
    store.mark_loaded([name])
    loaded = store.window(name)
    assert (loaded.state, loaded.count_reported) == ("loaded", 20)
    assert loaded.loaded_at is not None
    assert [landed.last_id for landed in store.pages(name)] == [2**53, 2**53]


def test_coverage_is_the_union_of_windows_that_count(store, request):
    far = -1000 if "postgresql" in request.node.name else -2000
    names = [f"{request.node.name}-{number}" for number in range(4)]
    store.begin_windows(
        [
            window(names[0], far, far + 2, "loaded"),
            window(names[1], far + 1, far + 3, "landed"),
            window(names[2], far + 3, far + 4, "reading"),
            window(names[3], far + 5, far + 6, "abandoned"),
        ]
    )
    ends = Interval(DAY + timedelta(days=far), DAY + timedelta(days=far + 3))
    assert ends in store.covered()


def test_a_store_that_is_opened_again_remembers(url, turn, request):
    first = StateStore(url, turn)
    first.begin_windows([window(request.node.name)])
    first.observe("seen", 5, "here")
    first.observe("seen", 6, "there")
    first.close()
    second = StateStore(url)
    assert second.window(request.node.name).id == request.node.name
    seen = second.observation("seen")
    assert seen is not None
    assert (seen.value, seen.about) == (6, "there")
    second.close()


@pytest.mark.parametrize("wrong", ["nonsense", "mysterydb://host/x"])
def test_a_wrong_url_is_named(wrong):
    with pytest.raises(StateUrlError, match="WMS_STATE_URL"):
        StateStore(wrong)
