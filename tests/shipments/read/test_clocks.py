"""Clocks that are wrong: the service's, one of its servers', this machine's. As answers tell of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tests.bench import CONFIG, asks_for_page, queried
from tests.shipments.read.conftest import read_until_down
from wms_sandbox.app import Sandbox
from wms_sync.reports.explain import explain
from wms_sync.shipments.read.clocks import OBSERVED, SINCE_BOOT
from wms_sync.shipments.read.plan import MARGIN

MILLISECOND = timedelta(milliseconds=1)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TOLERANCE = timedelta(minutes=5)
CHANGES = {"changed": 20, "new": 5, "orders": 10}
RECEIPTS = "select window_id, from_at, to_at from ops.loads"


@pytest.fixture
def service(bench, sandbox):
    """A small service whose clock agrees with this machine's, and then stands still, for ``bench`` to read."""
    now = datetime.now(UTC)
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=60, families=20, now=now))
    bench.settings = bench.settings.model_copy(
        update={
            "start_date": (now - timedelta(days=40)).date(),
            "page_size": 5,
            "audit_pages": 0,
            "clock_tolerance_seconds": TOLERANCE.seconds,
        }
    )
    return sandbox.sandbox


def since_the_last_read(bench, passed=timedelta(0), put_back=timedelta(0), *, restarted=False):
    """Let the state store remember the clocks as if, since then, that had happened to this machine and its clock."""
    ahead, at_boot = bench.store.observation(OBSERVED), bench.store.observation(SINCE_BOOT)
    bench.store.observe(OBSERVED, ahead.value + round((passed - put_back).total_seconds()), ahead.about)
    bench.store.observe(
        SINCE_BOOT,
        at_boot.value + round(passed.total_seconds()),
        "an earlier start" if restarted else at_boot.about,
    )


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
    assert (ahead.horizon < datetime.now(UTC), ahead.warnings) == (True, ())
    service.clock.advance(10_000)
    service.redate = wrong_once(-7 * timedelta(days=365))
    behind = bench.read()
    assert (behind.progress.records, "dated so far back" in behind.warnings[0]) == (0, True)
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)


def test_a_service_that_is_ahead_is_read_as_far_as_this_machine_vouches_for(bench, sandbox, service):
    service.clock.advance(3 * 3_600_000)
    report = bench.read()
    now = datetime.now(UTC)
    assert now < report.horizon == bench.store.covered(("landed",))[-1].end <= now + TOLERANCE
    assert "WMS_CLOCK_TOLERANCE_SECONDS" in report.warnings[0]
    assert bench.store.latest_served() <= now + TOLERANCE, "nor does a page count as extracted later"
    assert len(off(bench)) == 1
    service.advance(seconds=60, changed=20)
    assert bench.read().warnings
    bench.settings = bench.settings.model_copy(update={"clock_tolerance_seconds": 4 * 3600})
    service.clock.advance(10_000)
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)
    assert off(bench) == []


def test_a_tolerance_above_the_overlap_hides_no_step_back(bench, sandbox, service):
    """The overlap does not reach back to what changes while the times pass again."""
    bench.settings = bench.settings.model_copy(update={"clock_tolerance_seconds": 3600})
    bench.read()
    service.clock.advance(-2_000_000)
    service.advance(seconds=60, changed=20)
    assert "gone back by" in bench.read().warnings[0]
    service.clock.advance(2_000_000)  # past the times before the step, from which the service still counts up
    bench.read()
    bench.assert_landed(sandbox)


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

    The newest window covers nothing any more, also where the state store is lost then. After a restart, or on another
    machine, the windows alone show it.
    """
    bench.sync()
    [shipment, *_] = service.advance(seconds=60, **CHANGES).changed
    service.clock.advance(10_000)
    [newest] = bench.sync()[0].window_ids
    before, loaded = bench.store.covered()[-1].end, queried(bench.layout.published, RECEIPTS)
    service.clock.advance(-7_200_000)
    since_the_last_read(bench, put_back=2 * HOUR, restarted=restarted)
    service.advance(seconds=5400, **CHANGES)
    service.clock.advance(10_000)
    report, _ = bench.sync()
    assert "gone back by" in report.warnings[0]
    bench.lose_the_state_store()
    bench.recover()
    assert bench.store.covered()[-1].end == report.horizon < before
    assert not bench.store.window(newest).covers_time
    assert explain(bench.settings, bench.store, str(shipment))[0].versions
    assert {*loaded} < {*queried(bench.layout.published, RECEIPTS)}
    reaches = "select max(to_at) from ops.windows where reason = 'sync' and from_at < to_at"
    assert queried(bench.layout.published, reaches) == [(report.horizon,)]
    passes_the_hours_again(bench, sandbox, service)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("page", "passed", "is_backfill"), [(1, 0, False), (6, 5400, False), (11, 0, False), (1, 0, True), (6, 5400, True)]
)
def test_both_clocks_put_right_during_a_read_hide_nothing(bench, sandbox, service, page, passed, is_backfill):
    """What pages proved before is covered too far, also if the clock is almost where it was when the read ends."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1})
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


@pytest.mark.proof
def test_a_run_that_ends_after_coverage_was_withdrawn_loses_nothing(bench, sandbox, service):
    """Of a half-read window that reaches beyond, too: its pages are of the time before."""
    bench.sync()
    service.advance(seconds=60, **CHANGES)
    service.clock.advance(10_000)
    read_until_down(bench, sandbox, 1, asks_for_page)
    service.clock.advance(-7_200_000)
    service.advance(seconds=120, **CHANGES)
    read_until_down(bench, sandbox, 0, asks_for_page)
    passes_the_hours_again(bench, sandbox, service)


@pytest.mark.parametrize(
    ("passed", "put_back", "restarted"),
    [(3 * HOUR, 0 * HOUR, False), (3 * HOUR, 0 * HOUR, True), (DAY, 2 * HOUR, False)],
    ids=["the service's", "the service's before a restart", "both"],
)
def test_a_clock_that_went_back_is_noticed_also_when_it_has_passed_where_it_was(
    bench, sandbox, service, passed, put_back, restarted
):
    """If both went back together, only the clock that is never set shows it."""
    service.clock.advance((put_back - passed) // MILLISECOND)
    bench.read()
    since_the_last_read(bench, passed, put_back, restarted=restarted)
    service.clock.advance(-7_200_000)
    for _ in range(3):
        service.advance(seconds=1800, **CHANGES)
    service.clock.advance((passed - 1.5 * HOUR) // MILLISECOND)
    assert "gone back by 1:5" in bench.read().warnings[0]
    service.clock.advance((2 * HOUR - put_back) // MILLISECOND + 10_000)
    assert bench.read().warnings == ()
    bench.assert_landed(sandbox)


def test_answers_without_a_date_are_read_by_this_machines_clock(bench, sandbox, service):
    service.redate = lambda _: None
    before = datetime.now(UTC)
    report = bench.read()
    assert before - TOLERANCE - MARGIN - timedelta(seconds=1) <= report.horizon <= datetime.now(UTC) - TOLERANCE
    assert (report.warnings, "no Date" in off(bench)[0]) == ((), True)
    service.redate = None
    bench.read()
    bench.assert_landed(sandbox)
    assert off(bench) == []


def test_what_was_extracted_later_counts_as_later_whatever_the_clocks_say(bench, service):
    """Kinds without ``updated_at`` go by it."""
    bench.read()
    latest = bench.store.latest_served()
    service.redate = lambda right: right - 5 * HOUR
    again = bench.backfill(bench.settings.start, datetime.now(UTC)).window_ids
    assert latest < min(page.served_at for window in again for page in bench.store.pages(window))
