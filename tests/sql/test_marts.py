"""The marts: what they say of a few shipments whose answers are known."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.sql.scenario import Row, at, fill, order, package, write
from wms_sync.catalogue import marts
from wms_sync.targets.database import create_empty

CLIENTS = Path(__file__).parents[2] / ".clients"


def left(number, order_id, packed, status="shipped") -> Row:
    return "shipments", {"id": number, "status": status, "order_id": order_id, "packed_at": at(packed)}


def costing(number, *weights, status="shipped", cost=9) -> list[Row]:
    """A shipment with its packages."""
    return [
        ("shipments", {"id": number, "status": status, "carrier_shipping_cost": cost}),
        *(
            package(number, position, weight, billable_weight_unit=unit)
            for position, (weight, unit) in enumerate(weights, start=1)
        ),
    ]


def of_retailer(number, status, missing_since=None) -> list[Row]:
    """A different power of ten for each, so that a sum shows whose quantities are in it."""
    return [
        (
            "shipments",
            {
                "id": number,
                "status": status,
                "retailer_id": 1,
                "_missing_since": at(missing_since),
                "packed_at": at("01-05 12:00"),
                "target_ship_date": "2024-01-05",
            },
        ),
        package(number, 1, None),
        ("shipment_items", {"shipment_id": number, "id": 1, "quantity": 10**number}),
    ]


def backordered(number, state, status) -> list[Row]:
    return [
        ("orders", {"id": number, "state": state, "status": status, "created_at": at("01-03 12:00")}),
        ("order_items", {"order_id": number, "id": 1, "sku": "A", "qty_backordered": 10**number}),
        ("shipments", {"id": number, "order_id": number, "status": "new"}),
    ]


STATUSES = ["new", "Packed", "never heard of", None, "Shipped", "voided"]
COSTS = [
    *costing(0),
    *costing(1, (None, None)),
    *costing(2, (2, "lb"), (1, "lb")),
    *costing(3, (2, "lb"), (None, None)),
    *costing(4, (2, "lb"), (1, "stone")),
    *costing(5, (0, "lb"), (0, "lb")),
    *costing(98, status="voided", cost=5),
    *costing(6, (1, "lb"), cost=None),
]
SAYS: dict[str, tuple[list[Row], str, list[tuple[object, ...]]]] = {
    # the rows of tables, what is asked, and the answer
    "the unknown is neither open nor late": (
        [
            ("shipments", {"id": number, "status": status, "target_ship_date": "2024-01-05"})
            for number, status in enumerate(STATUSES)
        ],
        "select is_shipped, is_open, is_live, is_on_time from marts.shipments order by shipment_id",
        [
            (False, True, True, False),
            (False, True, True, False),
            (None, None, True, None),
            (None, None, True, None),
            (True, False, True, None),  # at an unknown time
            (False, False, False, None),
        ],
    ),
    "when a shipment was shipped": (
        [
            *(order(number, "01-01 00:00", "01-08 12:00") for number in (1, 2, 3, 6)),
            *(order(number, "01-01 00:00") for number in (4, 5)),
            *(left(number, number % 10, "01-01 12:00", "voided") for number in range(91, 97)),
            left(10, 1, "01-07 12:00"),
            left(20, 2, None),
            left(30, 3, "01-09 12:00"),
            left(40, 4, "01-07 12:00"),
            left(50, 5, None),
            left(60, 6, "01-06 12:00"),
            left(61, 6, "01-08 12:00"),
            left(62, 6, None),
        ],
        "select shipment_id, shipped_at_source, shipped_day::varchar from marts.shipments where is_shipped "
        "order by all",
        [
            (10, "order", "2024-01-08"),
            (20, "order", "2024-01-08"),
            (30, "packed", "2024-01-09"),
            (40, "packed", "2024-01-07"),
            (50, "unknown", None),
            (60, "packed", "2024-01-06"),
            (61, "packed", "2024-01-08"),
            (62, "order", "2024-01-08"),
        ],
    ),
    "packages share a cost by weight, or equally if a weight is missing": (
        COSTS,
        "select shipment_id, package_position, cost, cost_by_kg, round(billed_kg, 3) from marts.packages order by all",
        [
            (1, 1, 9, None, None),
            (2, 1, 6, 6, 0.907),
            (2, 2, 3, 3, 0.454),
            (3, 1, 4.5, 4.5, 0.907),
            (3, 2, 4.5, None, None),
            (4, 1, 4.5, 4.5, 0.907),
            (4, 2, 4.5, None, None),
            (5, 1, 4.5, None, None),
            (5, 2, 4.5, None, None),
            (6, 1, None, None, None),  # a weight, and no cost
        ],
    ),
    "the obvious query gives the cost per kg, and costs add up": (
        COSTS,
        "select sum(cost), sum(cost_by_kg), round(sum(billed_kg), 3), count(*) filter (where (cost_by_kg is null) <> "
        "(billed_kg is null)) from marts.shipments",
        [(59, 18, 3.175, 0)],
    ),
    "what was given up is neither live nor late": (
        [
            *of_retailer(1, "shipped"),
            *of_retailer(2, "shipped", "02-01 00:00"),
            *of_retailer(3, "new"),
            *of_retailer(4, "never heard of"),
            *of_retailer(5, "new", "02-01 00:00"),
            *of_retailer(6, "canceled"),
            *of_retailer(7, "Voided"),
            *of_retailer(8, "never heard of", "02-01 00:00"),
        ],
        "select sum(units) filter (where is_live), sum(packages) filter (where is_live), avg(is_on_time::int), "
        "count(is_on_time), count(*) filter (where is_deleted) from marts.shipments",
        [(11_110, 4, 2 / 3, 3, 3)],
    ),
    "a closed order waits for no stock": (
        [
            *backordered(0, "processing", "backordered"),
            *backordered(1, "New", None),
            *backordered(2, None, None),
            *backordered(3, "never heard of", "nor of this"),
            *backordered(4, "canceled", "canceled"),
            *backordered(5, "Complete", "backordered"),
            *backordered(6, None, "complete"),
        ],
        "select sum(units_backordered) from marts.order_lines "
        "union all select sum(units_backordered) from marts.orders",
        [(1111,), (1111,)],
    ),
}


@pytest.mark.parametrize(("rows", "query", "answer"), SAYS.values(), ids=SAYS)
def test_what_a_mart_makes_of_the_rows(rows, query, answer, database):
    write(database, rows)
    assert database.execute(query).fetchall() == answer


ATTACHED = """
import sys, duckdb
connection = duckdb.connect()
connection.execute("create table shipments as select 99 as id, 'theirs' as status; create table retailers (id integer)")
connection.execute("create schema marts; create view marts.shipments as select 1 as nonsense")
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
        fill(published)
        names = [f"{mart.schema}.{mart.name}" for mart in marts()]
        counts = {
            name: published.execute(f"select count(distinct mart::varchar) from {name} as mart").fetchall()
            for name in names
        }
    environment = os.environ | ({} if version == duckdb.__version__ else {"PYTHONPATH": str(client)})
    command = [sys.executable, "-c", ATTACHED, str(tmp_path / "analytics.duckdb"), *names]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert told.stderr == ""
    assert told.stdout.splitlines() == [f"{version} {name} {count}" for name, [(count,)] in counts.items()]
