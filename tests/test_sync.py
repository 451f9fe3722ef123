"""The whole way: after each sync every table equals the service, row by row and value by value."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from tests.beginnings import NEW, T, alike, empty_tables, made
from tests.conftest import FEWER, NOW, Bench, let_pass, logged, opened_store, queried
from tests.oracle import differences, expected_tables
from tests.services import Service, data_of
from wms_sandbox.app import Sandbox
from wms_sync.reports.explain import explain
from wms_sync.shipments.load.refresh import RefreshReport, rebuild, refresh
from wms_sync.shipments.read.reader import ReadReport
from wms_sync.upkeep.forget import forget

PERSONAL = ("pii_order_addresses", "pii_order_address_candidates", "pii_retailer_ship_to_contacts")


def synced(bench: Bench) -> tuple[ReadReport, RefreshReport]:
    """What a sync reads and loads; the first one into tables that are there and empty."""
    read = bench.read()
    return read, load(bench)


def load(bench: Bench) -> RefreshReport:
    """A load of what is landed; the first one into tables that are there and empty."""
    if bench.settings.analytics == "file" and not bench.layout.published.exists():
        empty_tables(bench.layout.published)
    return refresh(bench.run)


def first_synced(bench: Bench, service: Service) -> tuple[ReadReport, RefreshReport]:
    """As ``synced`` on an empty data folder, with a service to which nothing happened yet."""
    return begun(bench, service, synced)


def begun(bench: Bench, service: Service, how: Callable[[Bench], T]) -> T:
    """What ``how`` does with an empty data folder and a service to which nothing happened yet."""
    assert {path.name for path in bench.layout.root.iterdir()} <= {*NEW, "state.db-wal", "state.db-shm"}
    assert bench.store.windows() == ()

    def make(folder: Path) -> T:
        settings = bench.settings.model_copy(update={"data_dir": folder})
        with closing(opened_store(settings)) as store:
            return how(replace(bench, settings=settings, store=store))

    folder, reports = made((how, alike(service, bench.settings)), make)
    bench.store.close()
    shutil.rmtree(bench.layout.root)
    shutil.copytree(folder, bench.layout.root)
    bench.store = opened_store(bench.settings)
    return reports


@contextmanager
def published(bench: Bench) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        yield connection


def assert_equal(bench: Bench, sandbox) -> None:
    with published(bench) as connection:
        found = differences(connection, expected_tables(sandbox))
    assert not found, f"{len(found)} differences, such as " + "; ".join(sorted(set(found))[:20])


def test_after_each_sync_every_table_equals_the_service(bench, sandbox):
    """A late merge or a clock put back restores no old state; a rebuild asks nothing."""
    sandbox.sandbox = Sandbox(FEWER)
    read, refreshed = synced(bench)
    assert read.progress.records == refreshed.rows["shipments"] == 240
    assert (refreshed.quarantined, refreshed.drift) == (0, 0)
    assert {name: rows for name, rows in refreshed.rows.items() if name in PERSONAL} == dict.fromkeys(PERSONAL, 0)
    assert_equal(bench, sandbox)

    sandbox.sandbox.advance(seconds=3600)
    assert bench.read().requests <= 5
    day = datetime(2026, 3, 25, tzinfo=UTC)
    bench.backfill(day, day + timedelta(days=2))
    early = {window.id for window in bench.store.windows("landed")}
    let_pass(sandbox.sandbox, seconds=7200, changed=120, new=20, packages_added=15, packages_removed=20, orders=40)
    _, refreshed = synced(bench)
    assert early < set(refreshed.windows)
    assert_equal(bench, sandbox)

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
    assert_equal(bench, sandbox)

    served = len(sandbox.sandbox.requests)
    assert rebuild(bench.run).published
    assert len(sandbox.sandbox.requests) == served
    assert_equal(bench, sandbox)


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
    assert_equal(bench, sandbox)
    [order] = queried(bench.layout.published, "select min(order_id) from pii.order_addresses")
    assert forget(bench.run, order).pages
    [(shipment,)] = queried(bench.layout.published, "select min(id) from shipments")
    assert explain(bench.settings, bench.store, str(shipment)).versions
    assert list(neighbour.iterdir()) == []
