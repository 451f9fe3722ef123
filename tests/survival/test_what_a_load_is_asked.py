"""Asked only of what a load may have changed, the checks find what they find in the whole tables.

Random merges, and random damage such as a defect of the merge would do to rows of what was merged.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import duckdb
import pytest

from tests.survival.counts import LOADS_WITH_DAMAGE
from tests.survival.test_order_of_versions import Version, connection, landed
from wms_sync.catalogue import ops_tables, tables
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import flattened_window
from wms_sync.shipments.load.checking import OF_LOAD, CheckResult, ask_after_load, ask_whole_tables
from wms_sync.shipments.load.merge import Merger
from wms_sync.targets.database import Session
from wms_sync.targets.errors import CountsDisagreeError

__all__ = ["connection"]
LOADS = 7
OBJECTS = 60

OF_A_SHIPMENT = (
    "insert into shipments select * from shipments where id = $id",
    "delete from shipments where id = $id",
    "update shipments set id = null where id = $id",
    "update shipments set _window_id = 'unknown' where id = $id",
    "update shipments set created_at = '2026-03-02', packed_at = '2026-03-01' where id = $id",
    "update shipments set created_at = '2026-03-02', target_ship_date = '1926-03-01' where id = $id",
    "update shipments set updated_at = '2036-03-01' where id = $id",
    "insert into packages select * from packages where shipment_id = $id",
    "update packages set position = null where shipment_id = $id",
    "insert into packages (shipment_id, position) values (null, 1)",
    "insert into package_items (shipment_id, package_position, position) values ($id, 77, 1)",
    "insert into shipment_items (shipment_id, id, quantity) values ($id, 1, -1)",
    "insert into ops.quarantine (page_key, position, object, object_id, path, _window_id, _extracted_at) "
    "select 'page', 1, 'Shipment', $id, '$.updated_at', _window_id, _extracted_at + interval 1 hour from shipments "
    "where id = $id",
)


def wide(chance: random.Random, load: int) -> list[Version]:
    """One or two windows that show a few of many objects; the first load shows all."""
    versions = []
    for number in range(1, chance.randrange(2, 4)):
        for kind in ("shipments", "retailers", "warehouses"):
            ids = range(1, OBJECTS + 1) if load == 0 else chance.sample(range(1, OBJECTS + 1), chance.randrange(5))
            for one in ids:
                packages = chance.randrange(3) if kind == "shipments" else 0
                read, updated = load * 10 + number, chance.choice((None, load, load * 10))
                versions.append(Version(kind, one, "sync", f"w{load}-{number}", 1, read, updated, packages))
    return versions


def load(connection: duckdb.DuckDBPyConnection, layout: Layout, chance: random.Random, number: int) -> bool:
    """Merge some windows, do damage, and ask as in whole tables; whether the load was asked by itself."""
    versions = wide(chance, number)
    merger = Merger(Session(connection), layout, run_id="load", include_addresses=False, omitted={})
    windows = landed(layout, versions)
    merged = {window.id: flattened_window(layout, window.id) for window in windows}
    if windows:
        try:
            merger.merge([(window, merged[window.id]) for window in windows])
        except CountsDisagreeError:  # the merge itself meets earlier damage: nothing is merged, and the load ends
            return False
    shipments = [one.id for one in versions if one.kind == "shipments"]
    if number and shipments and chance.random() < 0.4:
        connection.execute(chance.choice(OF_A_SHIPMENT).replace("$id", str(chance.choice(shipments))))
    checked = ask_after_load(connection, layout, merged, everything=False).results
    assert offenders(checked) == offenders(ask_whole_tables(connection))
    return any(result.asked == OF_LOAD for result in checked)


def offenders(results: Iterable[CheckResult]) -> dict[str, tuple[int, bool]]:
    return {result.check.name: (result.offending, bool(result.sample)) for result in results}


@pytest.mark.seeds(LOADS_WITH_DAMAGE)
def test_checks_of_a_load_find_all_offenders(seed, connection, tmp_path):
    for table in (*tables(), *ops_tables()):
        connection.execute(f"truncate {table.qualified}")
    chance = random.Random(seed)
    limited = [load(connection, Layout(tmp_path), chance, number) for number in range(LOADS)]
    assert any(limited), "no load was asked by itself: the test shows nothing"
