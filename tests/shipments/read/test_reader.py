"""Reading windows against the sandbox: what lands on disk and what the state store says of it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import cycle
from urllib.parse import parse_qs

import pytest
from msgspec.structs import replace
from starlette.responses import Response

from tests.conftest import NOW, asks_for_page, logged
from tests.landed import landed_ids
from tests.shipments.read.conftest import SHIPMENTS
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sync.intervals import Interval
from wms_sync.service.errors import Rejected, ServiceFailed
from wms_sync.shipments.read.counts import PAGES_PER_WINDOW
from wms_sync.shipments.read.plan import MARGIN, RESUME_WITHIN, remember_backfill
from wms_sync.state.store import Window


def test_what_the_first_nights_read(bench, sandbox):
    first = bench.read()
    assert first.horizon == NOW - MARGIN
    assert len(landed_ids(bench)) == len(set(landed_ids(bench))) == SHIPMENTS
    assert first.progress.records == first.progress.expected == SHIPMENTS
    assert bench.store.covered(("landed",)) == first.intervals
    windows = bench.store.windows("landed")
    assert len(windows) == len(first.window_ids) > 1, "a large interval is several windows of bounded size"
    assert max(window.records for window in windows) <= PAGES_PER_WINDOW * bench.settings.page_size
    for window in windows:
        folder, pages = bench.layout.window(window.id), bench.store.pages(window.id)
        assert [page.number for page in pages] == list(range(1, window.pages + 1))
        assert [page.next_cursor is None for page in pages] == [False] * (len(pages) - 1) + [True]
        landed = [(folder / page.file).read_bytes() for page in pages]
        assert [(hashlib.sha256(content).hexdigest(), len(content)) for content in landed] == [
            (page.sha256, page.bytes) for page in pages
        ]
        manifest = json.loads((folder / "manifest.json").read_bytes())
        assert [page["sha256"] for page in manifest["pages"]] == [page.sha256 for page in pages]

    sandbox.sandbox.advance(seconds=3600)
    before = len(sandbox.sandbox.requests)
    second = bench.read()
    assert len(sandbox.sandbox.requests) - before <= 4, "there was nothing new"
    assert second.horizon == NOW + timedelta(hours=1) - MARGIN
    assert len(bench.store.covered()) == 1

    sandbox.sandbox.advance(seconds=3600, changed=40, new=10)
    sandbox.sandbox.advance(seconds=10)
    third = bench.read()
    assert third.intervals[0].start == second.horizon - timedelta(seconds=bench.settings.overlap_seconds)
    assert 50 <= third.progress.records < 70, "the changes and the overlap only"


def test_a_backfill_reads_exactly_the_days_named(bench):
    day = datetime(2026, 3, 20, tzinfo=UTC)
    with bench.api() as api:
        report = bench.reading(api).backfill(day, day + timedelta(days=2))
        last = bench.reading(api).backfill(NOW - timedelta(days=1), NOW + timedelta(days=5))
    windows = [bench.store.window(id_) for id_ in report.window_ids]
    assert min(window.from_at for window in windows) == day
    assert max(window.to_at for window in windows) == day + timedelta(days=2)
    assert all(window.reason == "backfill" for window in windows)
    assert report.progress.records > 0
    assert last.intervals[0].end == NOW - MARGIN, "the horizon"


def test_shipments_from_before_the_start_date_are_counted_once_and_reported(bench, sandbox, settings_for):
    early = settings_for(sandbox, start_date="2026-03-20")
    bench.settings = early
    report = bench.read()
    before = bench.store.observation("records_before_start")
    assert before is not None
    assert before.value > 0
    assert report.progress.records >= SHIPMENTS - before.value


def fail_after(sandbox, served: int, answer) -> None:
    left = [served]

    def intercept(_):
        left[0] -= 1
        return None if left[0] >= 0 else answer()

    sandbox.sandbox.intercept = intercept


def test_after_a_failure_the_read_goes_on_at_the_next_page(bench, sandbox):
    fail_after(sandbox, 12, lambda: Response("down", 500))
    with pytest.raises(ServiceFailed):
        bench.read()
    assert sum(window.pages for window in bench.store.windows("reading")) > 0
    sandbox.sandbox.intercept = None
    report = bench.read()
    assert report.progress.pages < sum(window.pages for window in bench.store.windows("landed"))
    landed = Counter(landed_ids(bench))
    assert len(landed) == SHIPMENTS
    assert sum(times > 1 for times in landed.values()) < 20, "more than the overlap was asked for again"


def test_a_read_that_goes_on_knows_how_much_is_expected_also_of_windows_without_a_page(bench, sandbox):
    bench.settings = bench.settings.model_copy(update={"page_size": 4})
    left_half_read(bench, sandbox)
    assert any(window.pages == 0 for window in bench.store.windows("reading"))
    done = bench.read().progress
    assert done.records <= 1.1 * done.expected, "counts of parts are estimates"


def test_what_is_committed_late_behind_the_pages_of_a_half_read_window_is_read(bench, sandbox):
    """It lies below the window's end, which is the horizon of the run that failed, so no later overlap reaches it."""
    half_read = left_half_read(bench, sandbox)
    assert half_read.to_at == NOW - MARGIN
    done = sandbox.sandbox.advance(seconds=60, changed=120, late=300)
    bench.read()
    landed = Counter(landed_ids(bench))
    assert set(done.changed) <= {one for one in landed if landed[one] > 1}


def test_what_changes_while_a_read_takes_long_is_read_by_the_next(bench, sandbox):
    """Longer than the overlap reaches: coverage ends before the first page, and not when the last one was served."""
    changed: list[int] = []

    def change_midway(request):
        if "cursor_start" in request.query_params and not changed:
            changed.extend(sandbox.sandbox.advance(seconds=7200, changed=80).changed)

    sandbox.sandbox.intercept = change_midway
    bench.read()
    sandbox.sandbox.advance(seconds=10)
    again = {one for window in bench.read().window_ids for one in landed_ids(bench, only=window)}
    assert len(changed) == 80
    assert set(changed) - again == set()


@pytest.mark.parametrize("times", [1, 1_000_000])
def test_a_refused_page_cursor_is_read_anew_once(bench, sandbox, times):
    """In the same run. Those that are always refused stop it."""
    left = [times]

    def intercept(request):
        left[0] -= "cursor_start" in request.query_params
        return Response('{"errors": []}', 400) if "cursor_start" in request.query_params and left[0] >= 0 else None

    sandbox.sandbox.intercept = intercept
    with nullcontext() if times == 1 else pytest.raises(Rejected):
        bench.read()
        assert len(landed_ids(bench)) == SHIPMENTS


def is_of_the_day_before(bench, half_read: Window) -> None:
    """Its first pages may be stale by now."""
    old = replace(half_read, started_at=half_read.started_at - RESUME_WITHIN)
    bench.store.adopt(old, bench.store.pages(old.id))


def has_page_cursors_that_mislead(bench, half_read: Window) -> None:
    """As one that once pointed to its own page: 'sent shipment 1 after 156' was a failure of the next run too."""
    for page in bench.store.pages(half_read.id):
        bench.store.rewrite_page(replace(page, next_cursor=1))


def lacks_fields_that_are_asked_for_now(bench, _: Window) -> None:
    bench.settings = bench.settings.model_copy(update={"include_addresses": True})


def has_pages_of_another_size(bench, _: Window) -> None:
    refuse_large_pages(bench.transport, 12)


@pytest.mark.parametrize(
    ("happens", "state"),
    [
        (is_of_the_day_before, "abandoned"),
        (has_page_cursors_that_mislead, "abandoned"),
        (lacks_fields_that_are_asked_for_now, "abandoned"),
        (has_pages_of_another_size, "landed"),
    ],
)
def test_a_half_read_window_resumes_or_is_read_anew(bench, sandbox, happens, state):
    half_read = left_half_read(bench, sandbox)
    happens(bench, half_read)
    bench.read()
    assert bench.store.window(half_read.id).state == state
    assert len(landed_ids(bench)) == len(set(landed_ids(bench))) == SHIPMENTS
    assert len(bench.store.covered(("landed",))) == 1


def left_half_read(bench, sandbox) -> Window:
    """A window of some pages whose run failed."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1})
    fail_after(sandbox, 22, lambda: Response("down", 500))
    with pytest.raises(ServiceFailed):
        bench.read()
    sandbox.sandbox.intercept = None
    [half_read] = [window for window in bench.store.windows("reading") if window.pages]
    assert isinstance(half_read, Window)
    return half_read


def refuse_large_pages(sandbox, largest: int) -> None:
    def intercept(request):
        too_large = int(request.query_params.get("limit", 0)) > largest
        return bad_parameters(ParameterError("limit", f"At most {largest}.")) if too_large else None

    sandbox.sandbox.intercept = intercept


def limits_asked(sandbox) -> list[int]:
    queries = [parse_qs(one.query) for one in sandbox.sandbox.requests if asks_for_page(one.query)]
    return [int(query["limit"][0]) for query in queries]


def test_the_largest_page_that_the_service_takes_is_found_and_told_each_night(bench, sandbox):
    refuse_large_pages(sandbox, 12)
    [warning] = bench.read().warnings
    assert len(landed_ids(bench)) == len(set(landed_ids(bench))) == SHIPMENTS
    assert "WMS_PAGE_SIZE=10" in warning
    assert set(limits_asked(sandbox)) == {20, 10}

    def limits_of_the_next_night() -> tuple[set[int], tuple[str, ...]]:
        sandbox.sandbox.advance(seconds=60)
        sandbox.sandbox.requests.clear()
        warnings = bench.read().warnings
        return set(limits_asked(sandbox)), warnings

    assert limits_of_the_next_night() == ({20, 10}, (warning,))
    sandbox.sandbox.intercept = None
    assert limits_of_the_next_night() == ({20}, ())


def test_of_next_nothing_but_the_page_cursor_is_sent_anywhere(bench, sandbox):
    """Requests go to our own address with our own parameters."""
    hosts = cycle(["wms.internal", sandbox.sandbox.config.token])

    def elsewhere(page):
        if page["next"]:
            page["next"] = (
                f"https://user:password@{next(hosts)}:8443/api?limit=7&cursor_start={page['meta']['cursor_start']}"
            )
        return page

    sandbox.sandbox.rewrite = elsewhere
    with logged() as told:
        bench.read()
    assert len(landed_ids(bench)) == SHIPMENTS
    assert told == []
    asked = [one for one in sandbox.sandbox.requests if "cursor_start" in one.query]
    assert asked
    assert {one.path for one in asked} == {"/api/global/v1/shipping/shipments"}
    assert all("limit=20" in one.query and "filter=updated_at" in one.query for one in asked)


DAYS = (datetime(2026, 3, 12, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC))


def backfilled(bench, start=DAYS[0], end=DAYS[1]):
    return bench.backfill(start, end)


def pages_asked(sandbox) -> list[str]:
    return [one.query for one in sandbox.sandbox.requests if "fields" in one.query]


def test_a_backfill_that_was_interrupted_goes_on_where_it_was(bench, sandbox):
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1, "page_size": 8})
    fail_after(sandbox, 20, lambda: Response("down", 500))
    with pytest.raises(ServiceFailed):
        backfilled(bench)
    assert {window.state for window in bench.store.windows()} == {"reading", "landed"}
    sandbox.sandbox.intercept = None
    served = [one for one in sandbox.sandbox.requests if "fields" in one.query and one.status == 200]
    report = backfilled(bench)
    asked = Counter(pages_asked(sandbox)[len(pages_asked(sandbox)) - report.progress.pages :])
    assert not asked & Counter(one.query for one in served[:-1])
    assert len(set(landed_ids(bench))) == len(landed_ids(bench))
    [note] = report.notes
    assert "resumes" in note


def test_a_backfill_that_was_killed_after_its_last_window_is_read_again(bench, sandbox):
    """It is still remembered as unfinished."""
    began_at = datetime.now(UTC)
    first = backfilled(bench)
    remember_backfill(bench.store, Interval(*DAYS), DAYS[1], began_at)
    again = backfilled(bench)
    assert again.progress.records == first.progress.records > 0
    assert {*first.window_ids}.isdisjoint(again.window_ids)


def test_a_backfill_of_other_days_does_not_go_on_with_one(bench, sandbox):
    bench.settings = bench.settings.model_copy(update={"page_size": 8})
    fail_after(sandbox, 20, lambda: Response("down", 500))
    with pytest.raises(ServiceFailed):
        backfilled(bench)
    sandbox.sandbox.intercept = None
    wider = backfilled(bench, DAYS[0] - timedelta(days=1))
    read = [bench.store.window(one) for one in wider.window_ids]
    assert sum((one.interval.length for one in read), timedelta(0)) == DAYS[1] - DAYS[0] + timedelta(days=1)
    assert wider.progress.records == sum(one.records for one in read)
    assert bench.store.windows("reading") == ()


def test_a_backfill_that_had_landed_everything_is_read_again_whole(bench, sandbox):
    """Killed before it was loaded; what has changed since without a sign in ``updated_at`` would be missed.

    Where it was up to now, the horizon has moved on: that is not one that was interrupted either.
    """
    first = backfilled(bench, end=NOW + timedelta(days=1))
    sandbox.sandbox.advance(seconds=3600)
    again = backfilled(bench, end=NOW + timedelta(days=1))
    assert min(bench.store.window(one).from_at for one in again.window_ids) == DAYS[0]
    assert again.progress.records >= first.progress.records > 0
    [note] = again.notes
    assert (first.notes, "read again" in note) == ((), True)
