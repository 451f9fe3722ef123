"""Clocks that are wrong: the service's, one of its servers', this machine's. As answers tell of them."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import CONFIG, opened_store
from tests.landed import assert_landed
from wms_sandbox.app import Sandbox
from wms_sync.shipments.read.clocks import OBSERVED, clock_warning
from wms_sync.shipments.read.plan import MARGIN
from wms_sync.state.store import COVERAGE_WITHDRAWN
from wms_sync.upkeep.recovery import recover

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
    assert_landed(bench, sandbox)


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
    assert_landed(bench, sandbox)
    assert off(bench) == []


def test_what_changes_after_the_clock_went_back_is_read(bench, sandbox, service):
    """It bears times that were covered before, and so does what changes until the clock is where it was.

    Also where the state store or ``clocks.json`` was lost, is an older one or damaged.
    """
    recover(bench.run)
    bench.read()
    bench.store.close()
    older = shutil.copy(bench.layout.state, bench.layout.root / "copy.db")
    bench.store = opened_store(bench.settings)
    service.clock.advance(-7_200_000)
    service.advance(seconds=120, changed=20)
    service.clock.advance(10_000)
    report = bench.read()
    assert "gone back by 1:5" in report.warnings[0]
    seen = clock_warning(bench.store, TOLERANCE)
    for lose in (
        lambda: None,
        bench.lose_the_state_store,
        lambda: bench.lose_the_state_store(older),
        bench.layout.clocks.unlink,
        lambda: bench.layout.clocks.write_bytes(b"[damaged\xff"),
    ):
        lose()
        recover(bench.run)
        assert bench.store.covered()[-1].end == report.horizon
        assert clock_warning(bench.store, TOLERANCE) == seen is not None
        assert COVERAGE_WITHDRAWN in bench.layout.clocks.read_text()
    service.advance(seconds=3600, changed=20)
    service.advance(seconds=3 * 3600)
    bench.read()
    assert_landed(bench, sandbox)


def test_a_clock_that_went_back_is_noticed_also_when_it_has_passed_where_it_was(bench, sandbox, service):
    service.clock.advance(-3 * 3_600_000)
    bench.read()
    bench.store.observe(OBSERVED, 0, "0")  # as if this machine's clock had been there too
    service.clock.advance(-2 * 3_600_000)
    service.advance(seconds=600, changed=20)
    service.clock.advance(3 * 3_600_000 - 600_000)
    assert "gone back by 2:0" in bench.read().warnings[0]
    service.clock.advance(2 * 3_600_000 + 10_000)
    assert bench.read().warnings == ()
    assert_landed(bench, sandbox)


def test_answers_without_a_date_are_read_by_this_machines_clock(bench, sandbox, service):
    service.redate = lambda _: None
    before = datetime.now(UTC)
    report = bench.read()
    assert before - TOLERANCE - MARGIN - timedelta(seconds=1) <= report.horizon <= datetime.now(UTC) - TOLERANCE
    assert report.warnings == ()
    assert "no Date" in off(bench)[0]
    service.redate = None
    bench.read()
    assert_landed(bench, sandbox)
    assert off(bench) == []


def test_what_was_extracted_later_counts_as_later_whatever_the_clocks_say(bench, service):
    """Kinds without ``updated_at`` go by it."""
    bench.read()
    service.redate = lambda right: right - 5 * HOUR
    [again] = bench.backfill(bench.settings.start, datetime.now(UTC)).window_ids
    [first] = [window.id for window in bench.store.windows() if window.id != again]
    assert bench.store.pages(first)[-1].served_at < bench.store.pages(again)[0].served_at
