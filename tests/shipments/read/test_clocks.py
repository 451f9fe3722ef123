"""Clocks that are wrong: the service's, one of its servers', this machine's. As answers tell of them."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.coverage import CLOCKS, results
from tests.conftest import CONFIG, Bench, logged, opened_store
from tests.landed import assert_landed
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.shipments.read.clocks import OBSERVED, clock_warning
from wms_sync.shipments.read.plan import MARGIN
from wms_sync.state.store import COVERAGE_WITHDRAWN
from wms_sync.upkeep.recovery import recover

HOUR = timedelta(hours=1)
TOLERANCE = timedelta(minutes=5)


@pytest.fixture
def service(sandbox: InProcess) -> Iterator[Sandbox]:
    """A small service whose clock agrees with this machine's, and then stands still."""
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=60, families=20, now=datetime.now(UTC)))
    yield sandbox.sandbox
    sandbox.sandbox.redate = None


@pytest.fixture
def bench(bench: Bench, service: Sandbox) -> Bench:
    bench.settings = bench.settings.model_copy(
        update={
            "start_date": (datetime.now(UTC) - timedelta(days=40)).date(),
            "audit_pages": 0,
            "clock_tolerance_seconds": TOLERANCE.seconds,
        }
    )
    return bench


def wrong_once(by: timedelta) -> Callable[[datetime], datetime]:
    """The first answer comes from a server with a clock of its own."""
    left = [by]
    return lambda right: right + (left.pop() if left else timedelta(0))


def off(bench: Bench) -> list[str]:
    """What status, check and doctor say of clocks; all three or none."""
    told = [line for line in bench.needs if "clock" in line or "Date" in line]
    [check] = [one for one in results(bench.settings) if one.check_name == CLOCKS]
    [finding] = [one for one in bench.examine() if one.name == "clock"]
    assert check.passed == (not told) == (finding.severity == "note"), (check, told, finding)
    return told


def test_one_answer_that_is_ahead_moves_nothing(bench, sandbox, service):
    service.redate = wrong_once(3 * HOUR)
    report = bench.read()
    service.advance(seconds=60, changed=20)
    assert report.horizon < datetime.now(UTC)
    assert report.warnings == ()
    service.clock.advance(10_000)
    bench.read()
    assert_landed(bench, sandbox)


def test_a_service_that_is_ahead_is_read_as_far_as_this_machine_vouches_for(bench, sandbox, service):
    service.clock.advance(3 * 3_600_000)
    report = bench.read()
    now = datetime.now(UTC)
    assert now < report.horizon <= now + TOLERANCE
    assert "WMS_CLOCK_TOLERANCE_SECONDS" in report.warnings[0]
    assert re.search("clock is (2:5.:..|3:00:00) ahead of this machine's", report.warnings[0])
    assert bench.store.covered(("landed",))[-1].end == report.horizon
    assert len(off(bench)) == 2
    service.advance(seconds=60, changed=20)
    assert "Nothing can be read" not in bench.read().warnings[0]
    bench.settings = bench.settings.model_copy(update={"clock_tolerance_seconds": 4 * 3600})
    service.clock.advance(10_000)
    assert bench.read().warnings == ()
    assert_landed(bench, sandbox)
    assert [line for line in bench.needs if "clock" in line] == []


def test_a_machine_that_is_far_behind_says_that_later_changes_wait(bench, service):
    """To a machine that is behind, the service is ahead; what it had read before lies further on than it may go."""
    bench.settings = bench.settings.model_copy(update={"clock_tolerance_seconds": 6 * 3600})
    service.clock.advance(5 * 3_600_000)
    assert bench.read().warnings == ()
    bench.settings = bench.settings.model_copy(update={"clock_tolerance_seconds": 4 * 3600 + 3000})
    assert "later changes wait" in bench.read().warnings[0]


@pytest.mark.parametrize(
    ("lost", "comes", "said"),
    [
        ("", "", []),
        ("state.db*", "", ["restored the readings of the service's clock from clocks.json", "restored 2 windows"]),
        (
            "state.db*",
            "copy.db",
            ["restored the readings of the service's clock from clocks.json", "restored 1 window "],
        ),
        ("clocks.json", "", []),
        ("clocks.json", "damaged", ["clocks.json is damaged"]),
    ],
)
def test_what_changes_after_the_clock_went_back_is_read(bench, sandbox, service, lost, comes, said):
    """It bears times that were covered before, and so does what changes until the clock is where it was."""
    root = bench.layout.root
    recover(bench.run)
    bench.read()
    with closing(sqlite3.connect(bench.layout.state)) as state, closing(sqlite3.connect(root / "copy.db")) as copy:
        state.backup(copy)
    service.clock.advance(-7_200_000)
    service.advance(seconds=120, changed=20)
    service.clock.advance(10_000)
    report = bench.read()
    assert "gone back by 1:5" in report.warnings[0]
    assert "Nothing can be read" in report.warnings[0]
    assert bench.store.covered()[-1].end == report.horizon
    seen = clock_warning(bench.store, TOLERANCE)
    bench.store.close()
    (root / "damaged").write_bytes(bench.layout.clocks.read_bytes()[:-30] + b"\xff")
    for path in root.glob(lost) if lost else ():
        path.unlink()
    if comes:
        shutil.copy(root / comes, root / lost.replace("*", ""))
    bench = replace(bench, store=opened_store(bench.settings))
    with logged() as told:
        recover(bench.run)
    assert [line for line in told if not any(one in line for one in said)] == []
    assert len(told) == len(said)
    assert bench.store.covered()[-1].end == report.horizon
    assert clock_warning(bench.store, TOLERANCE) == seen is not None
    assert COVERAGE_WITHDRAWN in bench.layout.clocks.read_text()
    service.advance(seconds=3600, changed=20)
    service.advance(seconds=3 * 3600)
    bench.read()
    assert_landed(bench, sandbox)
    bench.store.close()


def test_a_clock_that_went_back_is_noticed_also_when_it_has_passed_where_it_was(bench, sandbox, service):
    service.clock.advance(-3 * 3_600_000)
    bench.read()
    bench.store.observe(OBSERVED, 0, "0")  # as if this machine's clock had been there too
    service.clock.advance(-2 * 3_600_000)
    service.advance(seconds=600, changed=20)
    service.clock.advance(3 * 3_600_000 - 600_000)
    report = bench.read()
    assert "gone back by 2:0" in report.warnings[0]
    assert "Nothing can be read" not in report.warnings[0]
    service.clock.advance(2 * 3_600_000 + 10_000)
    assert bench.read().warnings == ()
    assert_landed(bench, sandbox)


def test_one_answer_that_is_behind_is_not_taken_for_a_clock_that_went_back(bench, sandbox, service):
    bench.read()
    service.advance(seconds=60, changed=20)
    service.clock.advance(10_000)
    service.redate = wrong_once(-7 * timedelta(days=365))
    report = bench.read()
    assert report.progress.records == 0
    assert "dated so far back" in report.warnings[0]
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
    report = bench.backfill(bench.settings.start, datetime.now(UTC))
    [again] = report.window_ids
    [first] = [window.id for window in bench.store.windows() if window.id != again]
    assert bench.store.pages(first)[-1].served_at < bench.store.pages(again)[0].served_at


def test_a_page_of_a_server_that_is_ahead_does_not_count_as_extracted_in_days_to_come(bench, service):
    service.redate = lambda right: right + timedelta(days=300)
    bench.read()
    [window] = bench.store.windows("landed")
    assert bench.store.pages(window.id)[0].served_at <= datetime.now(UTC) + TOLERANCE
    assert window.to_at <= datetime.now(UTC) + TOLERANCE
