"""The nightly audit: slices of old shipments read again, what they find, and that they cover nothing."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from starlette.responses import Response

from pipelines.metadata import of_refresh, of_table
from tests.conftest import FEWER, NOW, logged
from tests.landed import assert_landed
from tests.test_sync import assert_equal, begun, first_synced, published, synced
from wms_sandbox.app import Sandbox
from wms_sync.cli.views import refresh_lines
from wms_sync.json_values import LARGEST_ID
from wms_sync.reports.explain import explain
from wms_sync.shipments.audit import SliceReader
from wms_sync.shipments.load.audits import stored_shipments
from wms_sync.shipments.load.refresh import RefreshReport, rebuild, refresh
from wms_sync.state.audits import Audit, Audits
from wms_sync.state.schema import audits as audits_table

LONG_AGO = timedelta(days=2)
DIFFERS = "audits_find_no_change_that_the_sync_missed"
ROUND = "after_a_whole_round_the_tables_equal_the_service"
COUNTS = "the_service_has_the_shipments_that_the_tables_have"
BEFORE_START = 1_600_000_000_000
YEAR_2999 = 32_472_144_000_000


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(FEWER)
    return in_process


@contextmanager
def store(sandbox):
    """The service's own data, to change without a trace in ``updated_at``."""
    held = sandbox.sandbox._store
    with sandbox.sandbox._lock:
        yield held
        held.version += 1


def hide(sandbox, index: int) -> int:
    """Let the service not list a shipment any more; its ``updated_at``, to show it again."""
    with store(sandbox) as held:
        before = int(held.updated[index])
        held.updated[index] = BEFORE_START
    return before


def show(sandbox, index: int, updated: int) -> None:
    with store(sandbox) as held:
        held.updated[index] = updated


def one_page(bench, sandbox, settings_for) -> None:
    """Everything fits into one slice."""
    bench.settings = settings_for(sandbox, page_size=1000)


def night(bench, sandbox):
    """An hour later: a sync, the audit's slice, and the tables."""
    slice_, said = slice_read(bench, sandbox)
    return slice_, refresh(bench.run), said


def slice_read(bench, sandbox):
    """An hour later: what a sync reads, and the audit's slice; nothing is loaded."""
    sandbox.sandbox.advance(seconds=3600)
    make_due(bench)
    with bench.api() as api:
        report = bench.reading(api).sync()
        with logged() as said:
            return audit_reading(bench, api).read(report.horizon), said


def audit_reading(bench, api) -> SliceReader:
    return SliceReader(bench.run, api, stored=partial(stored_shipments, bench.settings))


def make_due(bench):
    """As if the last slice was read two days ago."""
    dated(bench, datetime.now(UTC) - LONG_AGO)


def dated(bench, moment):
    """As if every slice was read at a moment."""
    with Audits(bench.settings.database_url) as store, store._engine.begin() as connection:
        connection.execute(audits_table.update().values(read_at=moment))


def audits(bench) -> tuple[Audit, ...]:
    """All that were read, oldest first."""
    with Audits(bench.settings.database_url) as store:
        return store.all()


def last(bench) -> Audit:
    return audits(bench)[-1]


def warned(report) -> set[str]:
    return {
        outcome.check.name for outcome in report.checks if not outcome.passed and outcome.check.table == "ops_audits"
    }


def test_slices_follow_each_other_and_begin_anew(bench, sandbox, settings_for):
    """One that fails is reported, and touches neither the sync nor the slices after it."""
    first, _ = first_synced(bench, sandbox)
    bench.settings = settings_for(sandbox, page_size=40, audit_pages=4)
    sandbox.sandbox.intercept = lambda request: Response("{}", 400) if "id%7B" in request.url.query else None
    failed, said = slice_read(bench, sandbox)
    sandbox.sandbox.intercept = None
    assert (failed, "audit" in said[0]) == (None, True)
    with bench.api() as api:
        for hours in (2, 3, 4):
            sandbox.sandbox.advance(seconds=3600)
            make_due(bench)
            audit_reading(bench, api).read(first.horizon + timedelta(hours=hours))
    refreshed = refresh(bench.run)
    assert (refreshed.published, warned(refreshed)) == (True, set())
    slices = audits(bench)
    assert [one.after_id for one in slices] == [0, slices[0].to_id, 0]
    assert slices[1].to_id == LARGEST_ID
    assert [one.compared for one in slices] == [160, 80, 160]
    assert all((one.changed, one.missed, one.absent, one.orders_changed) == (0, 0, 0, 0) for one in slices)
    assert_equal(bench, sandbox)


def test_what_a_sync_cannot_see_is_found_and_healed(bench, sandbox, settings_for):
    """Changes without a sign, late commits, what moved back in time; also after a rebuild, which keeps what was found.

    The late one is further back than the overlap reads again. A clock said 2999 for a while, and a backup was put back.
    """
    one_page(bench, sandbox, settings_for)
    late = hide(sandbox, 50)
    with store(sandbox) as held:
        before = int(held.updated[7]), int(held.updated[9])
        held.updated[7] = YEAR_2999
        held.order_updated[held.order_first[20]] = YEAR_2999
    synced(bench)
    slice_read(bench, sandbox)
    show(sandbox, 50, late)
    with store(sandbox) as held:
        held.step[[3, 40]] += 1
        held.shown[70] = 0 if held.shown[70] else 1
        firsts = sorted({int(held.order_first[index]) for index in (100, 200)})
        held.order_step[firsts] += 1
        changed = [int(held.ids[index]) for index in (3, 40, 70)]
        missed = int(held.ids[50])
        held.updated[[7, 9]] = before[0], before[1] - 86_400_000
        held.step[[7, 9]] += 1
        held.order_updated[held.order_first[20]] = before[0]
        moved = sorted(int(held.ids[index]) for index in (7, 9))

    _, refreshed, _ = night(bench, sandbox)

    found = last(bench)
    examples = json.loads(found.examples or "")
    assert (found.compared, found.changed, found.missed, found.absent, found.voided) == (237, 3, 1, 0, 3)
    assert (examples["changed"], examples["missed"], examples["voided_shipments"]) == (changed, [missed], moved)
    assert (found.orders_changed, len(examples["voided_orders"])) == (len(firsts), 1)
    assert found.settled_counted == (found.settled_in_tables or 0) + 2  # the late one, and the one of the year 2999
    assert warned(refreshed) == {DIFFERS, COUNTS, ROUND}
    assert_reported_apart_from_what_the_sync_merged(refreshed)
    assert_equal(bench, sandbox)
    verdicts = [version.verdict for version in explain(bench.settings, bench.store, str(moved[0])).versions]
    assert verdicts[0].startswith("void: the audit")
    assert verdicts[-1].startswith("in the table: the newest since the audit")

    rebuilt = rebuild(bench.run)
    assert (rebuilt.audits, rebuilt.merged["shipments"]) == ((), 240)
    assert last(bench) == found
    with published(bench) as connection:
        assert connection.execute("select changed, missed from ops.audits").fetchall() == [(0, 0), (3, 1)]
    assert_equal(bench, sandbox)


def assert_reported_apart_from_what_the_sync_merged(refreshed: RefreshReport) -> None:
    found = "475 shipments compared, 3 changed, 2 orders changed, 1 missed, 3 updated_at moved back"  # by two slices
    lines = list(refresh_lines(refreshed))
    assert lines[0].startswith("merged    0 rows of ")
    assert lines[1] == f"audit     {found}"
    assert sum(refreshed.merged.values()) == 0
    assert [refreshed.counts[name] for name in ("merged", "shipments_compared")] == [0, 475]
    assert refreshed.audited == of_refresh(refreshed)["audit"] == found
    assert of_table("shipments", refreshed, None)["rows_merged"] == 0


def test_what_changes_between_the_sync_and_the_slice_is_no_finding(bench, sandbox, settings_for):
    first_synced(bench, sandbox)
    one_page(bench, sandbox, settings_for)

    def move_on(request):
        if "id%7Bgt" in request.url.query and "fields" in request.url.query:
            sandbox.sandbox.intercept = None
            sandbox.sandbox.advance(seconds=600, changed=30, new=10, packages_removed=10, orders=10)

    sandbox.sandbox.intercept = move_on
    _, refreshed, _ = night(bench, sandbox)

    assert sandbox.sandbox.intercept is None
    found = last(bench)
    assert 160 < (found.compared or 0) < 240
    assert (found.changed, found.missed, found.absent, found.orders_changed) == (0, 0, 0, 0)
    assert warned(refreshed) == set()
    sandbox.sandbox.advance(seconds=10)
    bench.read()
    assert_landed(bench, sandbox)


DAY = (NOW - timedelta(days=3), NOW - timedelta(days=2))


def read_a_day(bench) -> None:
    """And see that there is nothing to audit before it is loaded."""
    with bench.api() as api:
        bench.reading(api).backfill(*DAY)
        assert audit_reading(bench, api).read(NOW) is None
    refresh(bench.run)


def test_a_slice_covers_no_time_and_is_read_once_a_night(bench, sandbox, settings_for):
    begun(bench, sandbox, read_a_day)
    with bench.api() as api:
        reading = audit_reading(bench, api)
        bench.settings = settings_for(sandbox, audit_pages=0)
        assert audit_reading(bench, api).read(NOW) is None
        assert reading.read(NOW) is not None
        assert reading.read(NOW) is None
    assert [window.reason for window in bench.store.windows("landed")] == ["audit"]
    (covered,) = bench.store.covered()
    assert (covered.start, covered.end) == DAY


def test_after_a_clock_ahead_the_next_slice_follows(bench, sandbox, settings_for):
    begun(bench, sandbox, read_a_day)
    bench.settings = settings_for(sandbox, page_size=50, audit_pages=2)
    with bench.api() as api:
        reading = audit_reading(bench, api)
        first = reading.read(NOW)
        dated(bench, datetime.now(UTC) + timedelta(days=40))
        second = reading.read(NOW)
        assert first is not None
        assert second is not None
        assert second.after_id == first.to_id
        assert last(bench).window_id == second.window_id
        assert reading.read(NOW) is None


def of_shipments(field: str, value: object):
    """Shipments have this value from now on."""
    return lambda page, ids: [one.update({field: value}) for one in page["collection"] if one["id"] in ids]


def of_packages(page, ids):
    """Packages, which have no id of their own, have a price that is no number."""
    for one in page["collection"]:
        for package in one.get("packages") or () if one["id"] in ids else ():
            package["num_cartons"] = "a few"


def of_orders(field: str, value: object):
    """The orders of these shipments have this value from now on."""

    def edit(page, ids):
        orders = {one["order"]["id"] for one in page["collection"] if one["id"] in ids}
        for order in page["included"].get("Order", ()):
            if order["id"] in orders:
                order[field] = value

    return edit


POISONS = {
    of_shipments("status", {"a": 1}): (3, 40),
    of_shipments("updated_at", "yesterday"): (4, 41),
    of_shipments("items", "none"): (5, 42),
    of_packages: (6, 43),
    of_orders("total_item_count", "many"): (7, 44),
    of_shipments("unique_id", {"a": 1}): (8, 45),
}
"""What does not fit, and which shipments have it: the last two changed, so that the sync reads them too."""


def test_a_value_that_does_not_fit_is_no_change(bench, sandbox, settings_for):
    """A record in front of them stands whole in quarantine; one more shipment did change without notice."""
    first_synced(bench, sandbox)
    one_page(bench, sandbox, settings_for)
    with store(sandbox) as held:
        ids = held.ids.tolist()
        held.shown[70] = 0 if held.shown[70] else 1
        held.updated[[8, 45]] = sandbox.sandbox.clock.now()
        held.revision[[8, 45]] += 1

    def rewritten(page):
        for poison, indexes in POISONS.items():
            poison(page, [ids[index] for index in indexes])
        for one in page["collection"]:
            if one["id"] == ids[2]:
                one.update(is_deleted=True)
        return page

    sandbox.sandbox.rewrite = rewritten
    _, refreshed, _ = night(bench, sandbox)
    found = last(bench)
    assert json.loads(found.examples or "")["changed"] == [ids[70]]
    assert (found.changed, found.missed, found.orders_changed) == (1, 0, 0)
    with published(bench) as connection:
        query = "select distinct regexp_extract(path, '[a-z_]*$') from ops.quarantine order by all"
        fields = [field for (field,) in connection.execute(query).fetchall()]
    assert fields == ["", "items", "num_cartons", "status", "total_item_count", "unique_id", "updated_at"]
    check = next(one for one in refreshed.checks if one.check.name == "nothing_was_quarantined_in_the_latest_load")
    assert check.offending == refreshed.quarantined == refreshed.rows["ops_quarantine"] - 2
