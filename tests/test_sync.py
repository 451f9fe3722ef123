"""The whole way: after each sync every table equals the service, row by row and value by value."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.bench import FEWER, NOW, let_pass, logged, opened_store, queried
from tests.services import data_of
from wms_sandbox.app import Sandbox
from wms_sync.reports.explain import explain
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.upkeep.forget import forget

PERSONAL = ("pii_order_addresses", "pii_order_address_candidates", "pii_retailer_ship_to_contacts")


def test_after_each_sync_every_table_equals_the_service(bench, sandbox):
    """A late merge or a clock put back restores no old state; a rebuild asks nothing."""
    sandbox.sandbox = Sandbox(FEWER)
    read, refreshed = bench.sync()
    assert read.progress.records == refreshed.rows["shipments"] == 240
    assert (refreshed.quarantined, refreshed.drift) == (0, 0)
    assert {name: rows for name, rows in refreshed.rows.items() if name in PERSONAL} == dict.fromkeys(PERSONAL, 0)
    bench.assert_equal(sandbox)

    sandbox.sandbox.advance(seconds=3600)
    assert bench.read().requests <= 5
    day = datetime(2026, 3, 25, tzinfo=UTC)
    bench.backfill(day, day + timedelta(days=2))
    early = {window.id for window in bench.store.windows("landed")}
    let_pass(sandbox.sandbox, seconds=7200, changed=120, new=20, packages_added=15, packages_removed=20, orders=40)
    _, refreshed = bench.sync()
    assert early < set(refreshed.windows)
    bench.assert_equal(sandbox)

    with data_of(sandbox) as held:
        held.updated[100:120] -= 86_400_000
        held.step[100:120] += 1
    sandbox.sandbox.advance(seconds=10)
    bench.backfill(datetime(2026, 3, 11, tzinfo=UTC), NOW)
    with logged() as said:
        verdicts = refresh(bench.run).verdicts
    assert verdicts["shipments"]["moved back"] == 20
    over = sum(counts["moved back"] for counts in verdicts.values())
    assert f"{over} rows started over from all merged windows: {over} moved back" in said
    bench.assert_equal(sandbox)

    served = len(sandbox.sandbox.requests)
    assert rebuild(bench.run).published
    assert len(sandbox.sandbox.requests) == served
    bench.assert_equal(sandbox)


def test_a_data_folder_may_have_any_name(bench, sandbox, settings_for, tmp_path):
    """Its letters mean something in a URL, to a glob or to SQL; a neighbour that they would match is left alone."""
    neighbour = tmp_path / "a b#c;d x'y"
    neighbour.mkdir()
    folder = tmp_path / "a%20b#c;d [x]*'y"
    sandbox.sandbox = Sandbox(replace(FEWER, shipments=60))
    bench.settings = settings_for(sandbox, data_dir=folder, include_addresses=True)
    bench.store = opened_store(bench.settings)
    bench.read()
    refreshed = rebuild(bench.run)
    assert min(refreshed.rows[name] for name in PERSONAL) > 0
    bench.assert_equal(sandbox)
    [order] = queried(bench.layout.published, "select min(order_id) from pii.order_addresses")
    assert forget(bench.run, order).pages
    [(shipment,)] = queried(bench.layout.published, "select min(id) from shipments")
    assert explain(bench.settings, bench.store, str(shipment))[0].versions
    assert list(neighbour.iterdir()) == []
