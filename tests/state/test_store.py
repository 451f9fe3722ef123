"""The state store over SQLite and over a real PostgreSQL."""

from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace

from tests.state.test_ledger import intent
from wms_sync.intervals import Interval
from wms_sync.state.ledger import PushedFile
from wms_sync.state.store import LandedPage, Refusal, Window

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def window(name: str, start: int = 0, end: int = 1, state: str = "reading") -> Window:
    return Window(
        id=name,
        from_at=DAY + timedelta(days=start),
        to_at=DAY + timedelta(days=end),
        state=state,
        reason="sync",
        run_id="run",
        signature="s",
    )


def test_a_window_is_read_landed_and_loaded(store):
    begun, name = window("window"), "window"
    pages = tuple(
        LandedPage(name, number, f"page-{number}", number + 1, 10, 2**53, 100, 1000, "0" * 64, DAY) for number in (1, 2)
    )
    store.begin_windows([replace(begun, from_at=DAY.astimezone(timezone(timedelta(hours=1))))])
    store.set_count(name, 20)
    for landed in pages:
        store.record_page(landed)
    store.mark_loaded([name])
    read = replace(begun, count_reported=20, pages=2, records=20, bytes=200)
    assert (store.window(name), store.pages(name)) == (read, pages)
    assert store.window(name).from_at.utcoffset() == timedelta(0), "times come back in UTC"
    store.mark_landed(name, read_seconds=1.5)
    store.mark_loaded([name])
    loaded = store.window(name)
    assert loaded.loaded_at >= loaded.landed_at
    assert loaded == replace(
        read, state="loaded", read_seconds=1.5, landed_at=loaded.landed_at, loaded_at=loaded.loaded_at
    )


def test_a_base_url_may_be_long(store):
    service = f"https://{'a-long-name.' * 25}example.com"
    store.observe("found", 1, service)
    store.ledger.record([intent("a", service=service)])
    store.pushed_files.record(PushedFile(service, "retailers", "a.csv", "", "run", 0, 0, None, DAY, None))
    store.replace_refusals(service, "2026-01", [Refusal(service, "2026-01", "include", "no", DAY)])
    assert {seen.about for seen in [store.observation("found")] if seen is not None} == store.ledger.services()
    assert (len(store.pushed_files.of_kind(service, "retailers")), len(store.refusals(service, "2026-01"))) == (1, 1)


def test_orders_are_forgotten_once_however_many_there_are(store):
    """A statement of PostgreSQL takes 65,535 parameters."""
    store.remember_forgotten([1])
    store.mark_forgotten()
    first = store.forgotten_list()
    store.remember_forgotten(range(70_000))
    store.mark_forgotten()
    assert [order for order in store.forgotten_list() if order.order_id == 1] == [*first]
    assert (len(store.forgotten()), store.forgotten(unfinished=True)) == (70_000, frozenset())


def test_coverage_is_the_union_of_windows_that_count_up_to_where_it_is_withdrawn(store):
    """Half-read windows that reach beyond are given up; those that cover no time stay as they are."""
    listed = (
        (0, 2, "loaded"),
        (1, 4, "landed"),
        (4, 5, "loaded"),
        (0, 3, "reading"),
        (2, 6, "reading"),
        (5, 6, "abandoned"),
    )
    untimed = [replace(window(reason, 4, 6, "loaded"), reason=reason) for reason in ("undated", "audit")]
    store.begin_windows([*(window(f"{state} {start}", start, end, state) for start, end, state in listed), *untimed])
    assert list(store.covered()) == [Interval(DAY, DAY + timedelta(days=5))]
    moment = DAY + timedelta(days=3)
    store.withdraw_coverage(moment)
    assert list(store.covered()) == [Interval(DAY, moment)]
    assert {found.id for found in store.windows("loaded") if not found.covers_time} == {"loaded 4", "undated", "audit"}
    assert {found.id for found in store.windows("abandoned")} == {"reading 2", "abandoned 5"}
    assert [store.window(found.id) for found in untimed] == untimed
