"""Reading windows against the sandbox: what lands on disk and what the state store says of it."""

import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from msgspec.structs import replace
from starlette.responses import Response

from tests.bench import NOW, asks_for_page, let_pass
from tests.shipments.read.conftest import SHIPMENTS, change_midway, ids, read_until_down
from wms_sync.intervals import Interval
from wms_sync.shipments.read.counts import PAGES_PER_WINDOW
from wms_sync.shipments.read.plan import MARGIN, RESUME_WITHIN, remember_backfill
from wms_sync.shipments.read.raw import NotEnoughRoom, damage, refuse_without_room

START, END = datetime(2026, 3, 12, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC)


def test_what_the_first_nights_read(bench, sandbox):
    first = bench.read()
    assert (first.horizon, first.intervals) == (NOW - MARGIN, bench.store.covered(("landed",)))
    assert sorted(bench.landed_ids()) == ids(sandbox)
    assert first.progress.records == first.progress.expected == SHIPMENTS
    windows = bench.store.windows("landed")
    assert len(windows) == len(first.window_ids) > 1, "a large interval is several windows of bounded size"
    assert max(window.records for window in windows) <= PAGES_PER_WINDOW * bench.settings.page_size
    assert {damage(bench.layout, page) for window in windows for page in bench.store.pages(window.id)} == {None}

    let_pass(sandbox.sandbox, seconds=3600, changed=40, new=10)
    second = bench.read()
    assert second.intervals[0].start == first.horizon - timedelta(seconds=bench.settings.overlap_seconds)
    assert 50 <= second.progress.records < 70, "the changes and the overlap only"
    assert len(bench.store.covered()) == 1


def left_half_read(bench, sandbox, served: int = 22, **settings: int):
    """A window of some pages whose run failed."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1, **settings})
    read_until_down(bench, sandbox, served)
    [half_read] = [window for window in bench.store.windows("reading") if window.pages]
    return half_read


def test_after_a_failure_the_read_goes_on_at_the_next_page(bench, sandbox):
    """It knows how much is expected, also of windows without a page. Those that landed are not read again."""
    left_half_read(bench, sandbox, served=60, page_size=4)
    whole = bench.store.windows("landed")
    assert whole
    assert any(window.pages == 0 for window in bench.store.windows("reading"))
    changed = sandbox.sandbox.advance(seconds=60, changed=20).changed
    sandbox.sandbox.advance(seconds=10)
    report = bench.read()
    assert (report.warnings, [bench.store.window(window.id) for window in whole]) == ((), [*whole])
    done = report.progress
    assert done.pages < sum(bench.store.window(window).pages for window in report.window_ids)
    assert done.records <= 1.1 * done.expected, "counts of parts are estimates"
    landed = Counter(bench.landed_ids())
    assert len(landed) == SHIPMENTS
    again = [shipment for shipment, times in landed.items() if times > 1 and shipment not in changed]
    assert len(again) < 20, "more than the overlap was asked for again"


def test_what_is_committed_late_behind_the_pages_of_a_half_read_window_is_read(bench, sandbox):
    """It lies below the window's end, which is the horizon of the run that failed, so no later overlap reaches it."""
    assert left_half_read(bench, sandbox).to_at == NOW - MARGIN
    done = sandbox.sandbox.advance(seconds=60, changed=120, late=300)
    bench.read()
    landed = Counter(bench.landed_ids())
    assert set(done.changed) <= {shipment for shipment in landed if landed[shipment] > 1}


def test_what_changes_while_a_read_takes_long_is_read_by_the_next(bench, sandbox):
    """Longer than the overlap reaches: coverage ends before the first page, and not when the last one was served."""
    changed = change_midway(sandbox, seconds=7200, changed=80)
    bench.read()
    sandbox.sandbox.advance(seconds=10)
    assert len(changed) == 80
    again = {shipment for window in bench.read().window_ids for shipment in bench.landed_ids(only=window)}
    assert set(changed) <= again


def is_of_the_day_before(bench, half_read) -> None:
    """Its first pages may be stale by now."""
    bench.store._update(half_read.id, started_at=half_read.started_at - RESUME_WITHIN)


def has_page_cursors_that_mislead(bench, half_read) -> None:
    """As one that once pointed to its own page: 'sent shipment 1 after 156' was a failure of the next run too."""
    for page in bench.store.pages(half_read.id):
        bench.store.rewrite_page(replace(page, next_cursor=1))


def has_a_page_cursor_that_is_refused_once(bench, half_read) -> None:
    """The pages of the window that is read anew are as large as they were: the limit was not what was refused."""
    cursor, asked = str(bench.store.pages(half_read.id)[-1].next_cursor), count()

    def refuse(request):
        if asks_for_page(f"{request.url.query}"):
            assert request.query_params["limit"] == str(bench.settings.page_size)
        is_refused = request.query_params.get("cursor_start") == cursor and next(asked) == 0
        return Response('{"errors": []}', 400) if is_refused else None

    bench.transport.sandbox.intercept = refuse


def lacks_fields_that_are_asked_for_now(bench, _) -> None:
    bench.settings = bench.settings.model_copy(update={"include_addresses": True})


def has_pages_of_another_size(bench, _) -> None:
    bench.settings = bench.settings.model_copy(update={"page_size": 12})


@pytest.mark.parametrize(
    ("happens", "state"),
    [
        (is_of_the_day_before, "abandoned"),
        (has_page_cursors_that_mislead, "abandoned"),
        (has_a_page_cursor_that_is_refused_once, "abandoned"),
        (lacks_fields_that_are_asked_for_now, "abandoned"),
        (has_pages_of_another_size, "landed"),
    ],
)
def test_a_half_read_window_resumes_or_is_read_anew(bench, sandbox, happens, state):
    half_read = left_half_read(bench, sandbox)
    happens(bench, half_read)
    bench.read()
    assert (bench.store.window(half_read.id).state, len(bench.store.covered(("landed",)))) == (state, 1)
    assert sorted(bench.landed_ids()) == ids(sandbox)


def interrupt_a_backfill(bench, sandbox) -> int:
    """How many pages are on disk."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1, "page_size": 8})
    read_until_down(bench, sandbox, 20, read=lambda bench: bench.backfill(START, END))
    assert {window.state for window in bench.store.windows()} == {"reading", "landed"}
    return sum(window.pages for window in bench.store.windows())


def test_a_backfill_that_was_interrupted_goes_on_where_it_was(bench, sandbox):
    """It reads the days that are named, and the overlap before a gap, up to the horizon."""
    before = interrupt_a_backfill(bench, sandbox)
    report = bench.backfill(START, END)
    assert before + report.progress.pages == sum(window.pages for window in bench.store.windows("landed"))
    assert len(set(bench.landed_ids())) == len(bench.landed_ids())
    assert "resumes" in report.notes[0]
    assert bench.store.covered() == report.intervals == (Interval(START, END),)
    assert bench.backfill(END, NOW + timedelta(days=5)).intervals == (
        Interval(END - timedelta(minutes=10), NOW - MARGIN),
    )


@pytest.mark.parametrize("served", [None, 58])
def test_a_backfill_of_today_leaves_nothing_late_unread(bench, sandbox, served):
    """The night ended just after midnight; the backfill is whole, or interrupted after its newest windows landed."""
    service, today = sandbox.sandbox, Interval(NOW.replace(hour=0) + timedelta(days=1), NOW + timedelta(days=2))
    service.advance(seconds=43_440)
    bench.read()
    service.advance(seconds=60, changed=30, late=420)
    service.advance(seconds=36_000, changed=150)
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1, "page_size": 4})
    if served:
        read_until_down(bench, sandbox, served, read=lambda bench: bench.backfill(today.start, today.end))
        service.advance(seconds=60, changed=30, late=300)
        service.advance(seconds=18_000)
    bench.backfill(today.start, today.end)
    service.advance(seconds=50_400)
    bench.read()
    bench.assert_landed(sandbox)


def test_a_backfill_of_other_days_does_not_go_on_with_one(bench, sandbox):
    interrupt_a_backfill(bench, sandbox)
    wider = bench.backfill(START - timedelta(days=1), END)
    read = [bench.store.window(window) for window in wider.window_ids]
    assert sum((window.interval.length for window in read), timedelta(0)) == END - START + timedelta(days=1)
    assert wider.progress.records == sum(window.records for window in read)
    assert bench.store.windows("reading") == ()


def test_a_backfill_that_was_killed_after_its_last_window_is_read_again(bench):
    """Before it was loaded, whether or not it was still remembered as unfinished."""
    began_at = datetime.now(UTC)
    first = bench.backfill(START, END)
    again = bench.backfill(START, END)
    remember_backfill(bench.store, Interval(START, END), END, began_at)
    for report in (again, bench.backfill(START, END)):
        assert report.progress.records == first.progress.records > 0
        assert {*first.window_ids}.isdisjoint(report.window_ids)
        assert "read again" in report.notes[0]


def test_more_than_the_disk_holds_is_refused_before_anything_is_read(bench, sandbox):
    """By what shipments took so far, and with room for the copy that is published."""
    bench.read()
    refuse_without_room(bench.layout, bench.store, 1000)
    with bench.layout.published.open("wb") as file:
        file.truncate(shutil.disk_usage(bench.layout.root).free + 2**30)  # takes no disk: it is one hole
    with pytest.raises(NotEnoughRoom, match="WMS_START_DATE"):
        refuse_without_room(bench.layout, bench.store, 1)
    bench.layout.published.unlink()
    sandbox.sandbox.advance(seconds=3600, changed=30)
    [window, *_] = bench.store.windows()
    bench.store.rewrite_page(replace(bench.store.pages(window.id)[0], bytes=10**15))
    windows = bench.store.windows()
    with pytest.raises(NotEnoughRoom):
        bench.read()
    assert bench.store.windows() == windows, "nothing was begun"
