"""Clocks that are wrong: the service's, one of its servers', this machine's. As answers tell of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from starlette.responses import Response

from tests.bench import CONFIG, asks_for_page, queried
from wms_sandbox.app import Sandbox
from wms_sync.reports.explain import explain
from wms_sync.service.errors import ServiceFailed
from wms_sync.shipments.read.clocks import OBSERVED, SINCE_BOOT
from wms_sync.shipments.read.plan import MARGIN

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TOLERANCE = timedelta(minutes=5)


@pytest.fixture
def service(bench, sandbox):
    """A small service whose clock agrees with this machine's, and then stands still, for ``bench`` to read."""
    now = datetime.now(UTC)
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=60, families=20, now=now))
    bench.settings = bench.settings.model_copy(
        update={
            "start_date": (now - timedelta(days=40)).date(),
            "audit_pages": 0,
            "clock_tolerance_seconds": TOLERANCE.seconds,
        }
    )
    return sandbox.sandbox


def since_the_last_read(bench, passed=timedelta(0), put_back=timedelta(0), *, restarted=False):
    """Let the state store remember the clocks as if, since then, that had happened to this machine and its clock."""
    ahead, at_boot = bench.store.observation(OBSERVED), bench.store.observation(SINCE_BOOT)
    bench.store.observe(OBSERVED, ahead.value + round((passed - put_back).total_seconds()), ahead.about)
    boot = "an earlier start" if restarted else at_boot.about
    bench.store.observe(SINCE_BOOT, at_boot.value + round(passed.total_seconds()), boot)


def wrong_once(by: timedelta):
    """The first answer comes from a server with a clock of its own."""
    left = [by]
    return lambda right: right + (left.pop() if left else timedelta(0))


def off(bench) -> list[str]:
    """What is found of clocks."""
    return [line for line in bench.needs if "clock" in line or "Date" in line]


def test_one_answer_that_is_far_off_moves_nothing(bench, sandbox, service):
    """Neither one that is ahead, nor one that is behind: that is not taken for a clock that went back."""
    service.redate = wrong_once(3 * HOUR)
    ahead = bench.read()
    service.advance(seconds=60, changed=20)
    assert ahead.horizon < datetime.now(UTC)
    assert ahead.warnings == ()
    service.clock.advance(10_000)
    service.redate = wrong_once(-7 * timedelta(days=365))
    behind = bench.read()
    assert behind.progress.records == 0
    assert "dated so far back" in behind.warnings[0]
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)


def test_a_service_that_is_ahead_is_read_as_far_as_this_machine_vouches_for(bench, sandbox, service):
    service.clock.advance(3 * 3_600_000)
    report = bench.read()
    now = datetime.now(UTC)
    assert now < report.horizon <= now + TOLERANCE
    assert "WMS_CLOCK_TOLERANCE_SECONDS" in report.warnings[0]
    assert bench.store.covered(("landed",))[-1].end == report.horizon
    assert bench.store.latest_served() <= now + TOLERANCE, "nor does a page count as extracted later"
    assert len(off(bench)) == 1
    service.advance(seconds=60, changed=20)
    assert bench.read().warnings
    bench.settings = bench.settings.model_copy(update={"clock_tolerance_seconds": 4 * 3600})
    service.clock.advance(10_000)
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)
    assert off(bench) == []


def test_what_changes_after_the_clock_went_back_is_read(bench, sandbox, service):
    """It bears times that were covered before, and so does what changes until the clock is where it was."""
    bench.read()
    service.clock.advance(-7_200_000)
    service.advance(seconds=120, changed=20)
    service.clock.advance(10_000)
    report = bench.read()
    assert "gone back by 1:5" in report.warnings[0]
    bench.lose_the_state_store()
    bench.recover()
    assert bench.store.covered()[-1].end == report.horizon
    service.advance(seconds=3600, changed=20)
    service.advance(seconds=3 * 3600)
    bench.read()
    bench.assert_landed(sandbox)


CHANGES = {"changed": 20, "new": 5, "orders": 10}


def receipts(bench) -> set[tuple[object, ...]]:
    return set(queried(bench.layout.published, "select window_id, from_at, to_at from ops.loads"))


def passes_the_hours_again(bench, sandbox, service):
    """After the next night every table equals the service, also what changed in the hours that pass twice."""
    service.advance(seconds=1200, **CHANGES)
    service.clock.advance(7_200_000)
    bench.sync()
    bench.assert_equal(sandbox)


@pytest.mark.proof
@pytest.mark.parametrize("restarted", [False, True])
def test_both_clocks_put_right_between_two_syncs_hide_nothing(bench, sandbox, service, restarted):
    """Two hours ahead, both covered two hours too many. What is in the tables keeps its receipt.

    The newest window covers nothing any more. After a restart, or on another machine, the windows alone show it.
    """
    bench.settings = bench.settings.model_copy(update={"page_size": 5})
    bench.sync()
    [shipment, *_] = service.advance(seconds=60, **CHANGES).changed
    service.clock.advance(10_000)
    [newest] = bench.sync()[0].window_ids
    before, loaded = bench.store.covered()[-1].end, receipts(bench)
    service.clock.advance(-7_200_000)
    since_the_last_read(bench, put_back=2 * HOUR, restarted=restarted)
    service.advance(seconds=5400, **CHANGES)
    service.clock.advance(10_000)
    report, _ = bench.sync()
    assert "gone back by" in report.warnings[0]
    assert bench.store.covered()[-1].end == report.horizon < before
    assert not bench.store.window(newest).covers_time
    assert explain(bench.settings, bench.store, str(shipment))[0].versions
    assert loaded < receipts(bench)
    reaches = "select max(to_at) from ops.windows where reason = 'sync' and from_at < to_at"
    assert queried(bench.layout.published, reaches) == [(report.horizon,)]
    passes_the_hours_again(bench, sandbox, service)


def test_both_clocks_put_right_long_before_the_next_sync_hide_nothing(bench, sandbox, service):
    """They have passed where they were: only the clock that is never set shows it."""
    service = sandbox.sandbox = Sandbox(replace(service.config, now=datetime.now(UTC) - DAY + 2 * HOUR))
    bench.sync()
    since_the_last_read(bench, passed=DAY, put_back=2 * HOUR)
    service.clock.advance(-7_200_000)
    for _ in range(3):
        service.advance(seconds=1800, **CHANGES)
    service.clock.advance(23 * 3_600_000 - 1_800_000)
    report, _ = bench.sync()
    assert "gone back by" in report.warnings[0]
    bench.assert_equal(sandbox)
    assert bench.read().warnings == ()


@pytest.mark.proof
@pytest.mark.parametrize(
    ("page", "passed", "is_backfill"), [(1, 0, False), (6, 5400, False), (11, 0, False), (1, 0, True), (6, 5400, True)]
)
def test_both_clocks_put_right_during_a_read_hide_nothing(bench, sandbox, service, page, passed, is_backfill):
    """What pages proved before is covered too far, also if the clock is almost where it was when the read ends."""
    bench.settings = bench.settings.model_copy(update={"page_size": 5, "max_parallel_requests": 1})
    pages = count(1)

    def put_right(request):
        if asks_for_page(request.url.query):
            asked = next(pages)
            if asked == page:
                service.clock.advance(-7_200_000)
            if asked == page + 1:
                service.advance(seconds=passed + 120, **CHANGES)

    service.intercept = put_right
    start = bench.settings.start
    report = bench.backfill(start, start + 50 * DAY) if is_backfill else bench.read()
    service.intercept = None
    bench.load()
    assert "gone back by" in report.warnings[0]
    assert bench.store.covered()[-1].end <= report.horizon - 2 * HOUR
    passes_the_hours_again(bench, sandbox, service)


def fails_at_page(service, number):
    pages = count(1)
    service.intercept = lambda request: (
        Response("down", 503) if asks_for_page(request.url.query) and next(pages) >= number else None
    )


@pytest.mark.proof
def test_a_run_that_ends_after_coverage_was_withdrawn_loses_nothing(bench, sandbox, service):
    """Of a half-read window that reaches beyond, too: its pages are of the time before."""
    bench.settings = bench.settings.model_copy(update={"page_size": 5})
    bench.sync()
    service.advance(seconds=60, **CHANGES)
    service.clock.advance(10_000)
    fails_at_page(service, 2)
    with pytest.raises(ServiceFailed):
        bench.read()
    service.clock.advance(-7_200_000)
    service.advance(seconds=120, **CHANGES)
    fails_at_page(service, 1)
    with pytest.raises(ServiceFailed):
        bench.read()
    service.intercept = None
    passes_the_hours_again(bench, sandbox, service)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_went_back_is_noticed_also_when_it_has_passed_where_it_was(bench, sandbox, service, restarted):
    service.clock.advance(-3 * 3_600_000)
    bench.read()
    since_the_last_read(bench, passed=3 * HOUR, restarted=restarted)
    service.clock.advance(-2 * 3_600_000)
    service.advance(seconds=600, changed=20)
    service.clock.advance(3 * 3_600_000 - 600_000)
    assert "gone back by" in bench.read().warnings[0]
    service.clock.advance(2 * 3_600_000 + 10_000)
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)


def test_answers_without_a_date_are_read_by_this_machines_clock(bench, sandbox, service):
    service.redate = lambda _: None
    before = datetime.now(UTC)
    report = bench.read()
    assert before - TOLERANCE - MARGIN - timedelta(seconds=1) <= report.horizon <= datetime.now(UTC) - TOLERANCE
    assert report.warnings == ()
    assert "no Date" in off(bench)[0]
    service.redate = None
    bench.read()
    bench.assert_landed(sandbox)
    assert off(bench) == []


def test_what_was_extracted_later_counts_as_later_whatever_the_clocks_say(bench, service):
    """Kinds without ``updated_at`` go by it."""
    bench.read()
    service.redate = lambda right: right - 5 * HOUR
    [again] = bench.backfill(bench.settings.start, datetime.now(UTC)).window_ids
    [first] = [window.id for window in bench.store.windows() if window.id != again]
    assert bench.store.pages(first)[-1].served_at < bench.store.pages(again)[0].served_at
