"""Data folders that earlier releases left: a sync of this one goes on with them, and every table equals the service."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from tests.conftest import Bench, logged, opened_store
from tests.oracle import differences, expected_tables
from tests.survival.installation import columns, rows
from tests.test_sync import synced
from tests.upgrades.lives import LIVES, RELEASES, SETTINGS, first_order, relived, unpacked
from wms_sandbox.transport import InProcess
from wms_sync.layout import PAGES_DROPPED, Layout
from wms_sync.load.refresh import rebuild, refresh
from wms_sync.reports.doctor import examine
from wms_sync.settings import Settings
from wms_sync.state.run import Run
from wms_sync.upkeep.backup import backup
from wms_sync.upkeep.recovery import recover
from wms_sync.upkeep.restore import restore
from wms_sync.upkeep.verify import verify

Upgraded = Callable[[str], Bench]


@pytest.fixture(params=RELEASES)
def upgraded(request, in_process: InProcess, tmp_path: Path) -> Iterator[Upgraded]:
    """Gives the data folder of a life, and the service as it was then."""
    opened: list[Bench] = []

    def give(name: str) -> Bench:
        relived(name, in_process)
        variables = {**SETTINGS, **LIVES[name].settings}
        settings = Settings.load(
            _env_file=None,
            base_url=in_process.base_url,
            api_token=in_process.sandbox.config.token,
            data_dir=unpacked(request.param, name, tmp_path),
            **{variable.removeprefix("WMS_").lower(): value for variable, value in variables.items()},
        )
        opened.append(Bench(settings, opened_store(settings), in_process))
        return opened[-1]

    yield give
    for bench in opened:
        bench.store.close()


NOT_ASKED_FOR_THEN = ("retailers", "products", "brands")
"""Of these release 0.1.0 did not ask for all; what its pages lack comes with the first shipment that shows it."""


NOT_ASKED_OF_ORDERS = re.compile(r"orders \(\d+,\) (?:shipping_address_id|ship_to_\w+): None instead of ")
"""Where an order goes comes when the order is read again."""


def found(bench: Bench, in_process: InProcess) -> list[str]:
    return [
        one
        for one in differing(bench, in_process)
        if not (one.startswith(NOT_ASKED_FOR_THEN) and one.endswith("not in the database"))
        and not NOT_ASKED_OF_ORDERS.match(one)
    ]


def differing(bench: Bench, in_process: InProcess) -> list[str]:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return differences(connection, expected_tables(in_process))


def test_a_sync_goes_on_with_a_whole_data_folder(upgraded, in_process):
    bench = upgraded("whole")
    in_process.sandbox.advance(seconds=86_400, changed=20, new=5, packages_removed=5, orders=5)
    in_process.sandbox.advance(seconds=10)
    synced(bench)
    assert found(bench, in_process) == []
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        order = first_order(in_process.sandbox)
        assert connection.sql(f"select 1 from pii.order_addresses where order_id = {order}").fetchall() == []
        assert connection.sql("select 1 from pii.order_addresses limit 1").fetchall() == [(1,)]


def test_a_rebuild_of_a_whole_data_folder_makes_the_tables_that_it_had_and_the_history_of_its_parquet_files(upgraded):
    bench = upgraded("whole")
    layout = Layout(bench.settings.data_dir)
    then = columns(layout)
    before = rows(layout, then)
    with logged() as said:
        assert refresh(bench.run).published
    assert "history was made from the Parquet files of 5 windows" in said
    kept = {table: names for table, names in columns(layout).items() if table.startswith("history.")}
    found = rows(layout, kept)
    assert len(found["history.shipments"]) > len(before["main.shipments"])
    assert rebuild(bench.run).published
    assert rows(layout, then) == before
    assert rows(layout, kept) == found


def test_a_page_that_an_earlier_release_lost_is_brought_in_again(upgraded, in_process):
    bench = upgraded("page-lost-for-one-value")
    with logged() as said:
        recover(bench.run)
    refreshed = refresh(bench.run)
    assert sum("without 10 of its shipments" in line for line in said) == 1
    assert (refreshed.published, refreshed.quarantined) == (True, 1)
    assert [one for one in found(bench, in_process) if not one.startswith("shipments")] == []
    assert refreshed.rows["shipments"] == len(in_process.sandbox._store.ids)
    with logged() as again:
        recover(bench.run)
    assert again == []
    assert refresh(Run(bench.settings, bench.store, "again")).windows == ()


def test_a_page_that_an_earlier_release_lost_is_asked_for_again_where_it_is_not_kept(upgraded, in_process):
    bench = upgraded("page-lost-for-one-value")
    for page in bench.layout.raw.glob("*/page-*"):
        page.unlink()
    for window in bench.layout.raw.glob("*"):
        (window / PAGES_DROPPED).write_bytes(b"{}")
    recover(bench.run)
    synced(bench)
    recover(bench.run)
    assert found(bench, in_process) == []


def test_quantities_that_were_whole_numbers_take_decimals(upgraded, in_process):
    bench = upgraded("whole")
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        was = connection.sql("select quantity from shipment_item_reservations").fetchall()
        assert {type(value) for (value,) in was} == {int}

    def halve(envelope):
        for item in (envelope.get("included") or {}).get("ShipmentItem", ()):
            item["reservations"] = [{"location": {"type": "Location", "id": 1}, "quantity": 0.5}]
        return envelope

    in_process.sandbox.rewrite = halve
    in_process.sandbox.advance(seconds=86_400, changed=20)
    in_process.sandbox.advance(seconds=10)
    synced(bench)
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        now = {value for (value,) in connection.sql("select quantity from shipment_item_reservations").fetchall()}
    assert now > {Decimal("0.5")}
    assert now - {Decimal("0.5")} <= {value for (value,) in was}
    assert rebuild(bench.run).published


@pytest.mark.parametrize("release", RELEASES)
def test_the_doctor_names_the_migrations_and_a_backup_of_the_upgraded_folder_comes_back(release, tmp_path):
    settings = Settings.load(_env_file=None, data_dir=unpacked(release, "whole", tmp_path))
    [told] = [finding.message for finding in examine(settings) if finding.subject == "upgrade"]
    assert "0011_narrowed" in told
    assert [finding for finding in examine(settings) if finding.subject == "upgrade"] == []
    then = columns(settings.layout)
    before = rows(settings.layout, then)
    backup(settings, tmp_path / "backups")
    shutil.rmtree(settings.data_dir)
    restore(settings, tmp_path / "backups")
    assert verify(settings).damaged == ()
    assert rows(settings.layout, then) == before
