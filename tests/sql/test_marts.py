"""The marts: what they say of a few shipments whose answers are known."""

import os
import subprocess
import sys
from graphlib import CycleError
from pathlib import Path

import duckdb
import pytest

from tests.sql.scenario import Scenario, insert, load
from wms_sync.catalogue import in_order, mart_of, marts
from wms_sync.targets.database import create_empty

CLIENTS = Path(__file__).parents[2] / ".clients"


@pytest.fixture(scope="module")
def loaded():
    with duckdb.connect() as connection:
        # as an analyst's own connection may be: the days are the warehouses' all the same
        connection.execute("set timezone = 'Pacific/Auckland'")
        create_empty(connection)
        load(connection)
        yield connection


@pytest.fixture
def database(loaded):
    """All that a test writes is undone at its end."""
    loaded.begin()
    yield loaded
    loaded.rollback()


def ask(database, query):
    return database.execute(query).fetchall()


@pytest.mark.parametrize(
    ("status", "is_open", "verdict"),
    [
        ("new", True, "open"),
        ("Packed", True, "open"),
        ("never heard of", False, "unknown"),
        (None, False, "unknown"),
        ("Shipped", False, "unknown"),
        ("voided", False, "none"),
    ],
)
def test_the_unknown_is_neither_open_nor_late(database, status, is_open, verdict):
    insert(database, "shipments", id=1, status=status, target_ship_date="2024-01-05")

    assert ask(database, "select is_open, verdict from marts.shipment_overview") == [(is_open, verdict)]


LEFT = [
    # what the order says, when each of its shipments was packed, and where left_at comes from
    ("2024-01-08", ["2024-01-07"], ["order"]),
    ("2024-01-08", [None], ["order"]),
    ("2024-01-08", ["2024-01-09"], ["packed"]),
    (None, ["2024-01-07"], ["packed"]),
    (None, [None], ["unknown"]),
    ("2024-01-08", ["2024-01-06", "2024-01-08", None], ["packed", "packed", "order"]),
]


@pytest.mark.parametrize(("shipped_at", "packed", "sources"), LEFT)
def test_when_a_shipment_left(database, shipped_at, packed, sources):
    insert(database, "orders", id=7, shipped_at=shipped_at and f"{shipped_at} 12:00:00+00")
    for number, packed_at in enumerate(packed):
        at = packed_at and f"{packed_at} 12:00:00+00"
        insert(database, "shipments", id=number, status="shipped", order_id=7, packed_at=at)
    insert(database, "shipments", id=98, status="voided", order_id=7, packed_at="2024-01-01 12:00:00+00")

    taken = {"order": shipped_at, "unknown": None}
    assert ask(
        database,
        "select left_at_source, left_day::varchar from marts.shipment_timeline where has_left order by shipment_id",
    ) == [(source, taken.get(source, at)) for source, at in zip(sources, packed, strict=True)]


def test_a_cost_that_packages_cannot_share(database):
    shipments: list[tuple[list[tuple[float | None, str | None]], list[float | None], float | None]] = [
        # what the packages weigh, what each then costs of 9, and what none of them does
        ([], [], 9),
        ([(None, None)], [9], None),
        ([(2, "lb"), (1, "lb")], [6, 3], None),
        ([(2, "lb"), (None, None)], [None, None], 9),
        ([(2, "lb"), (1, "stone")], [None, None], 9),
        ([(0, "lb"), (0, "lb")], [None, None], 9),
    ]
    for number, (weights, _, _) in enumerate(shipments):
        insert(database, "shipments", id=number, status="shipped", carrier_shipping_cost=9)
        for position, (weight, unit) in enumerate(weights, start=1):
            given = {"billable_weight_value": weight, "billable_weight_unit": unit}
            insert(database, "packages", shipment_id=number, position=position, **given)
    insert(database, "shipments", id=98, status="voided", carrier_shipping_cost=5)
    insert(database, "shipments", id=99, status="shipped", carrier_shipping_cost=None)

    assert ask(
        database,
        "select shipment_id, package_position, packages_of_shipment, has_left, cost from marts.package_costs "
        "order by shipment_id, package_position nulls last",
    ) == [
        *(
            (number, position, len(weights), True, cost)
            for number, (weights, costs, of_none) in enumerate(shipments)
            for position, cost in (*enumerate(costs, start=1), *([(None, of_none)] if of_none else []))
        ),
        (98, None, 0, False, 5),
    ]
    assert ask(database, "select sum(cost) from marts.package_costs") == [(6 * 9 + 5,)]
    query = (
        "select billable_weight_value, billable_weight_unit from marts.shipment_overview where shipment_id in (2, 4)"
    )
    assert ask(database, f"{query} order by shipment_id") == [(3, "lb"), (None, None)], "units that differ"


def test_a_retailer_loses_what_was_given_up(database):
    insert(database, "retailers", id=1, code="ACME")
    day, gone = "2024-01-05", "2024-02-01 00:00:00+00"
    shipments = [
        # status, missing since, whether it counts
        ("shipped", None, True),
        ("shipped", gone, True),
        ("new", None, True),
        ("never heard of", None, True),
        ("new", gone, False),
        ("canceled", None, False),
        ("Voided", None, False),
    ]
    for number, (status, missing, _) in enumerate(shipments, start=1):
        given = {"status": status, "packed_at": "2024-01-05", "target_ship_date": day, "_missing_since": missing}
        insert(database, "shipments", id=number, retailer_id=1, **given)
        insert(database, "packages", shipment_id=number, position=1)
        # a different power of ten for each, so that the sum shows whose quantities are in it
        insert(database, "shipment_items", shipment_id=number, id=1, quantity=10**number)
    insert(database, "shipments", id=8, retailer_id=2, status="canceled")

    counted = [number for number, (_, _, counts) in enumerate(shipments, start=1) if counts]
    assert ask(
        database,
        "select retailer_id, shipments, packages, quantity from marts.retailer_performance order by retailer_id",
    ) == [(1, len(counted), len(counted), sum(10**number for number in counted)), (2, 0, None, None)]


def test_a_closed_order_waits_for_no_stock(database):
    orders = [
        # state, status, whether it waits
        ("processing", "backordered", True),
        ("New", None, True),
        (None, None, True),
        ("never heard of", "nor of this", True),
        ("canceled", "canceled", False),
        ("Complete", "backordered", False),
        (None, "complete", False),
    ]
    for number, (state, status, _) in enumerate(orders):
        insert(database, "orders", id=number, state=state, status=status, created_at="2024-01-03 12:00:00+00")
        insert(database, "order_items", order_id=number, id=1, sku="A", qty_backordered=10**number)
        insert(database, "shipments", id=number, order_id=number, status="new")

    waiting = sum(10**number for number, (_, _, waits) in enumerate(orders) if waits)
    assert ask(database, "select sku, units_backordered from marts.sku_per_week") == [("A", waiting)]


ATTACHED = """
import sys, duckdb
connection = duckdb.connect()
connection.execute("create table shipments as select 99 as id, 'theirs' as status; create table retailers (id integer)")
connection.execute("create schema marts; create view marts.shipment_overview as select 1 as nonsense")
connection.execute(f"attach '{sys.argv[1]}' as wms (read_only)")
if duckdb.__version__ < "1.4":
    connection.execute("use wms")  # older ones look for the tables of a view in the database in use
for mart in sys.argv[2:]:
    # every column as text, so that none is left out
    found = connection.execute(f"select count(distinct mart::varchar) from wms.{mart} as mart").fetchall()
    print(duckdb.__version__, mart, *found[0])
"""


@pytest.mark.proof
@pytest.mark.parametrize("version", ["1.1.3", "1.4.4", duckdb.__version__])
def test_an_attached_mart_reads_its_own_file(version, tmp_path):
    client = CLIENTS / f"duckdb-{version}"
    if version != duckdb.__version__ and not client.is_dir():
        pytest.skip(f"no DuckDB {version} in {client}: .ci/run installs it")
    with duckdb.connect(tmp_path / "analytics.duckdb") as published:
        create_empty(published)
        Scenario(published).fill()
        names = [f"{one.schema}.{one.name}" for one in marts()]
        rows = {name: len(ask(published, f"select distinct mart::varchar from {name} as mart")) for name in names}
    assert min(rows.values()) > 0
    environment = os.environ | ({} if version == duckdb.__version__ else {"PYTHONPATH": str(client)})
    command = [sys.executable, "-c", ATTACHED, str(tmp_path / "analytics.duckdb"), *names]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert told.stderr == ""
    assert told.stdout.splitlines() == [f"{version} {name} {count}" for name, count in rows.items()]


MART = """-- grain: one row
-- source: {source}, and not marts.other - or so
create or replace view marts.{name} as
select 1 as one -- One - no more
from {source}"""


def mart(name, *sources):
    return mart_of(MART.format(name=name, source=", ".join(sources)), f"marts/{name}.sql")


def test_marts_are_made_in_order_of_reading():
    found = [
        mart("a", "marts.b", "main.shipments"),
        mart("b", "marts.c", "marts.d"),
        mart("c", "marts.d"),
        mart("d", "x"),
    ]
    assert [one.name for one in in_order(found)] == ["d", "c", "b", "a"]
    with duckdb.connect() as connection:
        connection.execute(
            "create schema marts; create table x as select 1 as one; create table shipments (id integer)"
        )
        for one in in_order(found):
            connection.execute(one.create)
    with pytest.raises(CycleError):
        in_order([mart("a", "marts.b"), mart("b", "marts.a")])
