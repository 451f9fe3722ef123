"""A few shipments with every trap, written straight into an empty database; what the marts say of them is known.

'Now' is 2024-03-15 03:00 UTC: 14 March, 20:00 in the West (Los Angeles) and 23:00 in the East (New York). Summer time
began on 10 March: at 10:00 UTC in the West, at 07:00 UTC in the East. Times are given in UTC as ``03-10 07:30``, days
as ``03-10``; the year is 2024.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from types import SimpleNamespace

import duckdb

from wms_sync.catalogue import quote, table
from wms_sync.shipments.load.pending import write_timezones
from wms_sync.targets.database import replace_rows
from wms_sync.timezones import parse_warehouse_timezones

NOW = datetime(2024, 3, 15, 3, 0, tzinfo=UTC)
WEST, EAST, UNKNOWN_WAREHOUSE = 1, 2, 9
MAKER, TRADER = 1, 2
ACME, BETA, IDLE = 1, 2, 4
A, A_AGAIN, A_OF_TRADER, B, BOX, PAPER, LABEL = 100, 101, 102, 200, 300, 301, 302
Row = tuple[str, dict[str, object]]
"""The slug of a table, and values by column."""


def load(
    connection: duckdb.DuckDBPyConnection,
    zones: str = "West=America/Los_Angeles,East=America/New_York",
    until: datetime = NOW,
) -> None:
    """Write what a load writes besides the rows: the time zones, and how far the data reaches."""
    parsed = parse_warehouse_timezones(zones)
    write_timezones(connection, parsed)
    replace_rows(
        connection,
        "latest_load",
        [SimpleNamespace(loaded_at=until, data_until=until, run_id="r", version="0", default_timezone=parsed.default)],
    )


def insert(connection: duckdb.DuckDBPyConnection, slug: str, **values: object) -> None:
    """Insert a row."""
    names, marks = ", ".join(map(quote, values)), ", ".join("?" for _ in values)
    connection.execute(f"insert into {table(slug).qualified} ({names}) values ({marks})", list(values.values()))


def write(connection: duckdb.DuckDBPyConnection, rows: Iterable[Row]) -> None:
    for slug, values in rows:
        insert(connection, slug, **values)


def at(moment: str | None) -> str | None:
    """Return a time of 2024 as DuckDB reads it."""
    return moment and f"2024-{moment}:00+00"


def day(number: int) -> date:
    """Return a day of March."""
    return date(2024, 3, number)


def product(number: int, merchant: int | None, sku: str, kind: str, goods: str | None) -> Row:
    return "products", {
        "id": number,
        "merchant_id": merchant,
        "sku": sku,
        "type": kind,
        "goods_type": goods,
        "name": sku,
    }


def order(number: int, created: str, shipped: str | None = None, **values: object) -> Row:
    done = "processing" if shipped is None else "complete"
    return "orders", {
        "state": done,
        "status": done,
        "id": number,
        "unique_id": f"O-{number}",
        "order_ref": f"R-{number}",
        "created_at": at(created),
        "shipped_at": at(shipped),
        **values,
    }


def item(order_id: int, sku: str, ordered: object, shipped: object, number: int = 1, **values: object) -> Row:
    return "order_items", {
        "order_id": order_id,
        "id": number,
        "sku": sku,
        "qty_ordered": ordered,
        "qty_shipped": shipped,
        **values,
    }


def shipment(
    number: int, order_id: int, status: str, created: str, packed: str | None, target: str | None, **values: object
) -> Row:
    return "shipments", {
        "id": number,
        "unique_id": f"S-{number}",
        "order_id": order_id,
        "status": status,
        "created_at": at(created),
        "packed_at": at(packed),
        "target_ship_date": target and f"2024-{target}",
        **values,
    }


def part(
    shipment_id: int, product_id: int, sku: str, quantity: object, shipped: object, number: int = 1, **values: object
) -> Row:
    return "shipment_items", {
        "shipment_id": shipment_id,
        "id": number,
        "product_id": product_id,
        "sku": sku,
        "quantity": quantity,
        "qty_shipped": shipped,
        **values,
    }


def package(shipment_id: int, position: int, billable: float | None, **values: object) -> Row:
    return "packages", {
        "shipment_id": shipment_id,
        "position": position,
        "tracking_ref": f"T-{shipment_id}-{position}",
        "billable_weight_value": billable,
        "billable_weight_unit": None if billable is None else "lb",
        **values,
    }


def packaging(position: int, product_id: int, quantity: int | None) -> Row:
    """Of the first package."""
    return "package_packaging", {
        "shipment_id": 1,
        "package_position": 1,
        "position": position,
        "product_id": product_id,
        "quantity": quantity,
    }


def status_of(order_id: int, position: int, status: str, since: str) -> Row:
    return "order_status_history", {
        "order_id": order_id,
        "position": position,
        "id": position,
        "status": status,
        "created_at": at(since),
    }


def version(name: str, number: int, since: str, until: str | None, **values: object) -> Row:
    return f"history_{name}", {
        "id": 1,
        "version": number,
        "valid_from": at(since),
        "valid_to": at(until),
        "seen_at": at("03-11 01:00"),
        "last_seen_at": at("03-11 01:00"),
        "is_current": until is None,
        **values,
    }


OF_WEST: dict[str, object] = {"warehouse_id": WEST, "shipping_carrier_code": "ups"}
OF_EAST: dict[str, object] = {"warehouse_id": EAST, "shipping_carrier_code": "ups"}
OF_ACME: dict[str, object] = {
    "merchant_id": MAKER,
    "retailer_id": ACME,
    "shipping_method": "ups_GROUND",
    "generate_sscc": ["carton"],
}
OF_BETA: dict[str, object] = OF_EAST | {"retailer_id": BETA, "shipping_method": "ups_GROUND"}
ROWS: tuple[Row, ...] = (
    ("warehouses", {"id": WEST, "name": "West"}),
    ("warehouses", {"id": EAST, "name": "East"}),
    ("merchants", {"id": MAKER, "code": "maker", "name": "Maker"}),
    ("merchants", {"id": TRADER, "code": "trader", "name": "Trader"}),
    ("retailers", {"id": ACME, "code": "ACME", "name": "Acme", "allowed_shipping_methods": ["ups_GROUND"]}),
    ("retailers", {"id": BETA, "code": "BETA", "name": "Beta", "allowed_shipping_methods": []}),
    ("retailers", {"id": IDLE, "code": "IDLE"}),
    product(A, MAKER, "A", "Product", "NORMAL"),
    product(A_AGAIN, MAKER, "A", "Product", "HAZMAT"),
    product(A_OF_TRADER, TRADER, "A", "Product", "NORMAL"),
    product(B, TRADER, "B", "Product", None),
    product(BOX, None, "BOX", "PackagingContainer", None),
    product(PAPER, None, "PAPER", "PackagingInfill", None),
    product(LABEL, None, "LABEL", "PackagingSupplies", None),
    # 1 left before midnight of its warehouse, which was the next day in UTC
    order(
        1,
        "03-09 17:00",
        "03-10 07:30",
        **OF_ACME,
        delivered_at=at("03-12 07:30"),
        ship_to_country="US",
        ship_to_region="California",
        customs_value_amount=100,
        customs_value_currency="USD",
    ),
    item(1, "A", 2, 2),
    shipment(
        1,
        1,
        "shipped",
        "03-09 18:00",
        "03-10 06:00",
        "03-09",
        **OF_WEST,
        retailer_id=ACME,
        shipping_method="ups_GROUND",
        carrier_shipping_cost=10,
    ),
    part(1, A, "A", 2, 2, qty_picked=2),
    package(
        1,
        1,
        5,
        sscc="00123",
        container_id=BOX,
        infill_id=PAPER,
        total_void_percent=20,
        dimensional_weight_value=5,
        dimensional_weight_unit="lb",
    ),
    (
        "package_items",
        {
            "shipment_id": 1,
            "package_position": 1,
            "position": 1,
            "sku": "A",
            "quantity": 2,
            "weight_value": 16,
            "weight_unit": "oz",
        },
    ),
    packaging(1, LABEL, 2),
    packaging(2, BOX, 1),
    packaging(3, LABEL, None),
    (
        "package_collected_data",
        {"shipment_id": 1, "package_position": 1, "position": 1, "label": "Serial", "value": "SN-7"},
    ),
    # 2 left after midnight, in summer time
    order(
        2,
        "03-10 19:00",
        "03-11 07:15",
        **OF_ACME,
        ship_to_country="DE",
        ship_to_region="Berlin",
        customs_value_amount=50,
        customs_value_currency="EUR",
    ),
    item(2, "A", 1, 1),
    shipment(
        2,
        2,
        "Shipped",
        "03-10 20:00",
        "03-11 07:00",
        "03-10",
        warehouse_id=WEST,
        retailer_id=ACME,
        shipping_method="fedex_2DAY",
        shipping_carrier_code="fedex",
        carrier_shipping_cost=20,
    ),
    part(2, A_AGAIN, "A", 1, 1, qty_picked=1),
    package(2, 1, 2),
    # 3 and 4 are one order, which was shipped with the second; 4 has two packages
    order(
        3,
        "03-11 12:00",
        "03-13 15:00",
        merchant_id=MAKER,
        retailer_id=BETA,
        ship_to_country="US",
        ship_to_region="New York",
        generate_sscc=[],
    ),
    item(3, "A", 10, 10),
    shipment(3, 3, "shipped", "03-11 13:00", "03-12 14:00", "03-12", **OF_BETA),
    part(3, A, "A", 6, 6, qty_picked=6),
    package(3, 1, None),
    shipment(4, 3, "shipped", "03-11 13:00", "03-13 03:30", "03-12", **OF_BETA, carrier_shipping_cost=9),
    part(4, A, "A", 4, 4, qty_picked=4),
    package(4, 1, 1, container_id=BOX, total_void_percent=40),
    package(4, 2, 2),
    # 5 was packed and voided; 6 took its place, left late and lacked two of five pieces
    order(4, "03-12 20:00", "03-13 20:00", merchant_id=TRADER),
    item(4, "B", 5, 3),
    shipment(5, 4, "voided", "03-12 20:30", "03-12 21:00", "03-12", **OF_EAST, carrier_shipping_cost=7),
    part(5, B, "B", 5, 0, qty_picked=5),
    package(5, 1, 4),
    shipment(6, 4, "shipped", "03-13 01:00", "03-13 16:00", "03-12", **OF_EAST, carrier_shipping_cost=8),
    part(6, B, "B", 5, 3, qty_picked=3),
    package(6, 1, 4, container_id=BOX),
    # 7 was canceled
    order(5, "03-12 18:00", merchant_id=TRADER, state="Canceled", status="canceled"),
    item(5, "B", 2, 0, qty_canceled=2),
    shipment(7, 5, "canceled", "03-12 18:00", None, "03-13", **OF_WEST),
    part(7, B, "B", 2, 0, qty_canceled=2),
    # 8 is open and overdue
    order(6, "03-12 03:00", merchant_id=TRADER),
    item(6, "B", 4, 0, qty_backordered=2, qty_allocated=1),
    shipment(8, 6, "picking", "03-12 04:00", None, "03-13", **OF_WEST),
    part(8, B, "B", 2, 0),
    # 9 is open and due today, which is yesterday in UTC; its order is on hold for the second time, with a comment since
    order(7, "03-14 03:00", merchant_id=TRADER, state="holded", status="holded"),
    status_of(7, 1, "new", "03-14 03:00"),
    status_of(7, 2, "holded", "03-14 04:00"),
    status_of(7, 3, "processing", "03-14 05:00"),
    status_of(7, 4, "holded", "03-14 06:00"),
    status_of(7, 5, "holded", "03-14 07:00"),
    item(7, "B", None, None),
    shipment(9, 7, "new", "03-14 03:00", None, "03-14", **OF_WEST),
    part(9, B, "B", None, None),
    # 13 is deleted
    order(11, "03-12 03:00", merchant_id=TRADER),
    shipment(13, 11, "new", "03-12 12:00", None, "03-12", warehouse_id=EAST, _missing_since=at("03-14 00:00")),
    # 10 has a new status
    order(8, "03-12 12:00", merchant_id=MAKER),
    item(8, "A", 1, 0),
    shipment(10, 8, "mystery", "03-12 12:00", None, "03-12", **OF_EAST),
    # 11 left nobody knows when
    order(9, "03-12 12:00", merchant_id=MAKER),
    item(9, "A", 1, 1),
    shipment(11, 9, "shipped", "03-12 12:00", None, "03-12", **OF_EAST),
    part(11, A, "A", 1, 1),
    # 12 has no target day and no package
    order(10, "03-11 12:00", merchant_id=MAKER),
    item(10, "A", 1, 1),
    item(10, "A", 3, 3, number=2),
    shipment(12, 10, "shipped", "03-12 12:00", "03-12 15:00", None, **OF_EAST, carrier_shipping_cost=6),
    part(12, A, "A", None, None),
    part(12, A_AGAIN, "A", 3, 3, number=2),
    # 14 came without order and warehouse
    shipment(14, 99, "shipped", "03-13 10:00", "03-13 23:30", "03-13", warehouse_id=UNKNOWN_WAREHOUSE, retailer_id=3),
    # a shipment that waits, is moved to another warehouse while it is picked, and leaves; an order that is new
    version("shipments", 1, "03-08 10:00", "03-08 16:30", status="new", warehouse_id=WEST),
    version("shipments", 2, "03-08 16:30", "03-09 09:00", status="picking", warehouse_id=WEST),
    version("shipments", 3, "03-09 09:00", "03-10 10:00", status="picking", warehouse_id=EAST),
    version("shipments", 4, "03-10 10:00", None, status="shipped", warehouse_id=EAST),
    version("orders", 1, "03-08 09:00", None, status="new"),
    # what was promised for 4 was moved by a day
    version("shipments", 1, "03-11 13:00", "03-11 14:00", id=4, status="new", target_ship_date="2024-03-11"),
    version("shipments", 2, "03-11 14:00", None, id=4, status="new", target_ship_date="2024-03-12"),
)
