"""What a window omits stays as it is in the tables, in whatever order windows come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from tests.beginnings import empty_tables
from tests.conftest import CONFIG, NOW, Bench, ending, opened_store
from tests.oracle import differences, expected_tables
from tests.shipments.read.test_field_selection import refuse
from tests.test_sync import first_synced, load, published, synced
from wms_sandbox.app import Sandbox
from wms_sandbox.field_treatment import FieldTreatment
from wms_sandbox.transport import InProcess
from wms_sync.catalogue import history_tables, table, tables
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.shipments.flatten.workers import Flattening
from wms_sync.shipments.load.merge import Merger
from wms_sync.shipments.load.omitted import omitted_data
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.state.store import Window
from wms_sync.targets.database import Session
from wms_sync.targets.opening import open_for_writing

Rows = dict[tuple[object, ...], dict[str, object]]
Dump = dict[str, Rows]

FEW = replace(CONFIG, shipments=90, families=30)
REFUSALS = [
    (
        "fields:packages.items",
        "fields:items",
        "fields:order=items",
        "fields:order=carrier",
        "fields:order.shipping_address",
        "fields:gallery.items",
        "fields:retailer=all",
        "fields:retailer=dba",
    ),
    (
        "fields",
        "fields:packages",
        "fields:order.items",
        "fields:order.shipping_address=region",
        "fields:order.status_history",
        "fields:warehouse",
    ),
]


@pytest.fixture
def bench(in_process: InProcess, settings_for: Callable[..., Settings]) -> Iterator[Bench]:
    """A small in_process: its tables are compared row by row."""
    in_process.sandbox = Sandbox(FEW)
    settings = settings_for(in_process, audit_pages=0)
    store = opened_store(settings)
    yield Bench(settings, store, in_process)
    store.close()


@pytest.fixture
def sandbox(bench: Bench, in_process: InProcess) -> InProcess:
    return in_process


def dump(connection: duckdb.DuckDBPyConnection) -> Dump:
    found: Dump = {}
    for one in (*tables(), *history_tables()):
        if one.schema in {"main", "pii", "history"}:
            result = connection.execute(f"select * from {one.qualified}")
            names = [column[0] for column in result.description or []]
            rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
            found[one.slug] = {tuple(row[key] for key in one.keys): row for row in rows}
            assert len(found[one.slug]) == len(rows), f"{one.slug} holds a key twice"
    return found


def names_by_window(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], tuple[str, int | None]]:
    rows = connection.execute("select window_id, name, reason, referring from ops.omitted").fetchall()
    return {(window, name): (reason, referring) for window, name, reason, referring in rows}


def shown(bench: Bench) -> Dump:
    with published(bench) as connection:
        return dump(connection)


def changed(sandbox) -> None:
    sandbox.sandbox.advance(seconds=7200, changed=40, new=5, packages_added=12, packages_removed=12, orders=20)
    sandbox.sandbox.advance(seconds=10)


@pytest.mark.parametrize("refused", REFUSALS, ids=lambda refused: refused[0])
def test_what_a_window_was_not_asked_for_stays_as_it_is(bench, sandbox, refused):
    first_synced(bench, sandbox)
    before = shown(bench)
    changed(sandbox)
    refuse(sandbox, *refused)
    read, refreshed = synced(bench)
    assert refreshed.published
    assert [
        one.check.name for one in refreshed.checks if not one.passed and re.search("belong|history", one.check.name)
    ] == []
    after, data = shown(bench), omitted_data(tuple(bench.store.window(read.window_ids[0]).omitted))
    assert data.columns or data.sets
    with published(bench) as connection:
        rows = connection.execute("select name, said from ops.omitted where reason = 'refused'").fetchall()
    assert set(rows) == set(bench.store.window(read.window_ids[0]).omitted.items())
    for slug in data.sets:
        assert len(after[slug]) >= 0.8 * len(before[slug]) > 0 or slug.startswith("pii")
    for slug, columns in data.columns.items():
        kept = [key for key in before[slug].keys() & after[slug].keys() if same_thing(slug, before, after, key)]
        for key in kept:
            for column in columns:
                old, new = before[slug][key][column], after[slug][key][column]
                assert new is not None or old is None, (slug, key, column)
    refuse(sandbox)
    with_everything_left_out(bench, sandbox, after, data)


def same_thing(slug: str, before: Dump, after: Dump, key: tuple[object, ...]) -> bool:
    one, other = before[slug][key], after[slug][key]
    return all(
        one[name] is None or other[name] is None or one[name] == other[name]
        for name in ("sku", "created_at", "product_id", "label", "id")
        if name in one and name not in table(slug).keys
    )


def with_everything_left_out(bench: Bench, sandbox, after: Dump, data) -> None:
    """But for what was not asked for, the tables equal the service."""
    expected = {
        name: {key: {c: v for c, v in row.items() if not is_omitted(name, c, data)} for key, row in rows.items()}
        for name, rows in expected_tables(sandbox).items()
        if name not in data.sets and name in after
    }
    with published(bench) as connection:
        found = differences(connection, expected)
    # an order that changed while none was requested shows in no other table
    unseen = {"orders", "order_items", "order_status_history", "order_instructions", "order_address_candidates"}
    allowed = {"galleries", "gallery_items", "warehouses", "products", "brands", "merchants"}
    allowed |= {"third_party_billing_groups", "retailers", "retailer_ship_to_locations"}
    if "orders" in data.columns and len(data.columns["orders"]) > 3:
        allowed |= unseen
    assert [one for one in found if one.split()[0].strip(":") not in allowed] == []


def is_omitted(name: str, column: str, data) -> bool:
    columns = data.columns_of(name)
    return column in columns or any(one.startswith(f"{column}_") or column.startswith(f"{one}_") for one in columns)


def test_the_order_of_windows_that_omit_data_does_not_matter(bench, sandbox, tmp_path):
    """Nor whether each table is merged by itself, with the file opened anew before some or all."""
    bench.backfill(NOW - timedelta(days=9), NOW)
    changed(sandbox)
    refuse(sandbox, *REFUSALS[0])
    bench.backfill(NOW - timedelta(days=9), NOW + timedelta(hours=2))
    windows = bench.store.windows("landed")
    with Flattening(bench.settings, bench.store) as flattening:
        for window in windows:
            flattening.add(window.id)
    assert all(is_flattened(bench.layout, window.id) for window in windows)
    forwards = merged(bench, windows, tmp_path / "forwards.duckdb")
    backwards = merged(bench, windows[::-1], tmp_path / "backwards.duckdb")
    for slug in forwards:
        assert forwards[slug] == backwards[slug], slug


def merged(bench: Bench, windows: tuple[Window, ...], path: Path) -> Dump:
    omitted = {window.id: tuple(sorted(window.omitted)) for window in windows if window.omitted}
    with open_for_writing(empty_tables(path), memory_limit="500MB") as connection:
        merger = Merger(Session(connection), bench.layout, run_id="t", include_addresses=False, omitted=omitted)
        for window in windows:
            merger.merge([(window, flattened_window(bench.layout, window.id))])
        return dump(connection)


def test_what_the_service_does_not_send_stays_as_it_is(bench, sandbox):
    """A service that ignores field selection for a night, then leaves ``included`` out, empties nothing."""
    first_synced(bench, sandbox)
    before = shown(bench)
    for treatment in (FieldTreatment(ignored=True), FieldTreatment(drops_included=True)):
        sandbox.sandbox.field_treatment = treatment
        sandbox.sandbox.advance(seconds=3600, changed=40, packages_added=0, packages_removed=0)
        sandbox.sandbox.advance(seconds=10)
        read = bench.read()
    refreshed = load(bench)
    assert ending(bench.settings, read, refreshed) == 3
    for name in ("fields:order", "fields:warehouse"):
        assert f"{name} was requested" in "\n".join(bench.needs)
    assert refreshed.merged["shipments"] >= 40
    with published(bench) as connection:
        omitted = names_by_window(connection)
    assert {window for window, _ in omitted} == set(refreshed.windows)
    assert {reason for reason, _ in omitted.values()} == {"not sent"}
    assert all((omitted[window, "fields:warehouse"][1] or 0) >= 40 for window in refreshed.windows)
    after = shown(bench)
    emptied = [
        (slug, key, name)
        for slug, rows in before.items()
        for key, row in rows.items()
        for name, value in row.items()
        if value is not None and after[slug].get(key, {}).get(name) is None
    ]
    assert emptied == []
    assert rebuild(bench.run).published
    assert shown(bench) == after
    with published(bench) as connection:
        assert names_by_window(connection) == omitted, "each window by itself, though all are counted together"


def test_the_time_that_ranks_a_version_is_never_that_of_another():
    assert omitted_data(("fields:order=updated_at", "fields:order=status")).columns_of("orders") == {"status"}
