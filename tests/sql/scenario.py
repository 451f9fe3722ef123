"""A few shipments with every trap, written straight into an empty database; what the marts say of them is known.

'Now' is 2024-03-15 03:00 UTC: 14 March, 20:00 in the West (Los Angeles) and 23:00 in the East (New York). Summer time
began on 10 March: at 10:00 UTC in the West, at 07:00 UTC in the East.
"""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import duckdb

from wms_sync.catalogue import quote, table
from wms_sync.shipments.load.mirrors import write_timezones
from wms_sync.targets.database import replace_rows
from wms_sync.timezones import parse_warehouse_timezones

NOW = datetime(2024, 3, 15, 3, 0, tzinfo=UTC)
ZONES = "West=America/Los_Angeles,East=America/New_York"
WEST, EAST, UNKNOWN_WAREHOUSE = 1, 2, 9
MAKER, TRADER = 1, 2
ACME, BETA, IDLE = 1, 2, 4
A, A_AGAIN, A_OF_TRADER, B, BOX, PAPER, LABEL = 100, 101, 102, 200, 300, 301, 302


def load(connection: duckdb.DuckDBPyConnection, zones: str = ZONES, until: datetime = NOW) -> None:
    """Write what a load writes besides the rows: the time zones, and how far the data reaches."""
    parsed = parse_warehouse_timezones(zones)
    write_timezones(connection, parsed)
    row = {"loaded_at": until, "run_id": "r", "version": "0", "default_timezone": parsed.default}
    replace_rows(connection, "latest_load", [SimpleNamespace(data_until=until, **row)])


def insert(connection: duckdb.DuckDBPyConnection, slug: str, **values: object) -> None:
    """Insert a row."""
    names = ", ".join(quote(name) for name in values)
    marks = ", ".join("?" for _ in values)
    connection.execute(f"insert into {table(slug).qualified} ({names}) values ({marks})", list(values.values()))


class Scenario:
    """Fills a database. Times are given in UTC as ``03-10 07:30``, days as ``03-10``; the year is 2024."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def fill(self) -> None:
        """Write everything."""
        self._master_data()
        self._left()
        self._split()
        self._voided()
        self._not_left()
        self._undecidable()
        self._history()
        load(self._connection)

    def _insert(self, slug: str, **values: object) -> None:
        insert(self._connection, slug, **values)

    def _master_data(self) -> None:
        self._insert("warehouses", id=WEST, name="West")
        self._insert("warehouses", id=EAST, name="East")
        self._insert("merchants", id=MAKER, code="maker", name="Maker")
        self._insert("merchants", id=TRADER, code="trader", name="Trader")
        self._insert("retailers", id=ACME, code="ACME", name="Acme", allowed_shipping_methods=["ups_GROUND"])
        self._insert("retailers", id=BETA, code="BETA", name="Beta", allowed_shipping_methods=[])
        self._insert("retailers", id=IDLE, code="IDLE")
        for number, merchant, sku, kind, goods in (
            (A, MAKER, "A", "Product", "NORMAL"),
            (A_AGAIN, MAKER, "A", "Product", "HAZMAT"),
            (A_OF_TRADER, TRADER, "A", "Product", "NORMAL"),
            (B, TRADER, "B", "Product", None),
            (BOX, None, "BOX", "PackagingContainer", None),
            (PAPER, None, "PAPER", "PackagingInfill", None),
            (LABEL, None, "LABEL", "PackagingSupplies", None),
        ):
            self._insert("products", id=number, merchant_id=merchant, sku=sku, type=kind, goods_type=goods, name=sku)

    def _history(self) -> None:
        """A shipment that waits, is moved to another warehouse while it is picked, and leaves; an order that is new."""
        for version, (status, warehouse, since) in enumerate(
            (("new", WEST, "03-08 10:00"), ("picking", WEST, "03-08 16:30"), ("picking", EAST, "03-09 09:00")), start=1
        ):
            self._version("shipments", version, since, status=status, warehouse_id=warehouse)
        self._version("shipments", 4, "03-10 10:00", status="shipped", warehouse_id=EAST)
        self._version("orders", 1, "03-08 09:00", status="new")
        for name in ("shipments", "orders"):
            self._connection.execute(
                f"update history.{name} set valid_to = later.valid_from, is_current = false "
                f"from history.{name} as later where later.version = history.{name}.version + 1"
            )

    def _version(self, name: str, version: int, since: str, **values: object) -> None:
        seen = {"seen_at": at("03-11 01:00"), "last_seen_at": at("03-11 01:00"), "is_current": True}
        self._insert(f"history_{name}", id=1, version=version, valid_from=at(since), **seen, **values)

    def _order(self, number: int, created: str, shipped: str | None = None, **values: object) -> None:
        known = {"unique_id": f"O-{number}", "order_ref": f"R-{number}", "created_at": at(created)}
        self._insert("orders", id=number, shipped_at=at(shipped), **(known | values))

    def _item(self, order: int, sku: str, ordered: object, shipped: object, number: int = 1, **values: object) -> None:
        self._insert(
            "order_items", order_id=order, id=number, sku=sku, qty_ordered=ordered, qty_shipped=shipped, **values
        )

    def _shipment(
        self, number: int, order: int, status: str, created: str, packed: str | None, target: str | None, **v: object
    ) -> None:
        self._insert(
            "shipments",
            id=number,
            unique_id=f"S-{number}",
            order_id=order,
            status=status,
            created_at=at(created),
            packed_at=at(packed),
            target_ship_date=target and f"2024-{target}",
            **v,
        )

    def _part(self, shipment: int, product: int, sku: str, quantity: object, shipped: object, **v: object) -> None:
        number = v.pop("number", 1)
        self._insert(
            "shipment_items",
            shipment_id=shipment,
            id=number,
            product_id=product,
            sku=sku,
            quantity=quantity,
            qty_shipped=shipped,
            **v,
        )

    def _package(self, shipment: int, position: int, billable: float | None, **values: object) -> None:
        self._insert(
            "packages",
            shipment_id=shipment,
            position=position,
            tracking_ref=f"T-{shipment}-{position}",
            billable_weight_value=billable,
            billable_weight_unit=None if billable is None else "lb",
            **values,
        )

    def _left(self) -> None:
        """1 left before midnight of its warehouse, which was the next day in UTC; 2 after it, in summer time."""
        self._order(
            1,
            "03-09 17:00",
            "03-10 07:30",
            merchant_id=MAKER,
            retailer_id=ACME,
            shipping_method="ups_GROUND",
            generate_sscc=["carton"],
            delivered_at=at("03-12 07:30"),
            ship_to_country="US",
            ship_to_region="California",
            customs_value_amount=100,
            customs_value_currency="USD",
        )
        self._item(1, "A", 2, 2)
        self._shipment(
            1,
            1,
            "shipped",
            "03-09 18:00",
            "03-10 06:00",
            "03-09",
            warehouse_id=WEST,
            retailer_id=ACME,
            shipping_method="ups_GROUND",
            shipping_carrier_code="ups",
            carrier_shipping_cost=10,
        )
        self._part(1, A, "A", 2, 2, qty_picked=2)
        self._package(
            1,
            1,
            5,
            sscc="00123",
            container_id=BOX,
            infill_id=PAPER,
            total_void_percent=20,
            dimensional_weight_value=5,
            dimensional_weight_unit="lb",
        )
        self._insert(
            "package_items",
            shipment_id=1,
            package_position=1,
            position=1,
            sku="A",
            quantity=2,
            weight_value=16,
            weight_unit="oz",
        )
        for position, product, quantity in ((1, LABEL, 2), (2, BOX, 1), (3, LABEL, None)):
            self._insert(
                "package_packaging",
                shipment_id=1,
                package_position=1,
                position=position,
                product_id=product,
                quantity=quantity,
            )
        self._insert(
            "package_collected_data",
            shipment_id=1,
            package_position=1,
            position=1,
            label="Serial",
            value="SN-7",
        )
        self._order(
            2,
            "03-10 19:00",
            "03-11 07:15",
            merchant_id=MAKER,
            retailer_id=ACME,
            shipping_method="ups_GROUND",
            generate_sscc=["carton"],
            ship_to_country="DE",
            ship_to_region="Berlin",
            customs_value_amount=50,
            customs_value_currency="EUR",
        )
        self._item(2, "A", 1, 1)
        self._shipment(
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
        )
        self._part(2, A_AGAIN, "A", 1, 1, qty_picked=1)
        self._package(2, 1, 2)

    def _split(self) -> None:
        """3 and 4 are one order, which was shipped with the second; 4 has two packages."""
        known = {"ship_to_country": "US", "ship_to_region": "New York", "generate_sscc": []}
        self._order(3, "03-11 12:00", "03-13 15:00", merchant_id=MAKER, retailer_id=BETA, **known)
        self._item(3, "A", 10, 10)
        both = {
            "warehouse_id": EAST,
            "retailer_id": BETA,
            "shipping_carrier_code": "ups",
            "shipping_method": "ups_GROUND",
        }
        self._shipment(3, 3, "shipped", "03-11 13:00", "03-12 14:00", "03-12", carrier_shipping_cost=None, **both)
        self._part(3, A, "A", 6, 6, qty_picked=6)
        self._package(3, 1, None)
        self._shipment(4, 3, "shipped", "03-11 13:00", "03-13 03:30", "03-12", carrier_shipping_cost=9, **both)
        self._part(4, A, "A", 4, 4, qty_picked=4)
        self._package(4, 1, 1, container_id=BOX, total_void_percent=40)
        self._package(4, 2, 2)

    def _voided(self) -> None:
        """5 was packed and voided; 6 took its place, left late and lacked two of five pieces."""
        self._order(4, "03-12 20:00", "03-13 20:00", merchant_id=TRADER)
        self._item(4, "B", 5, 3)
        both = {"warehouse_id": EAST, "shipping_carrier_code": "ups"}
        self._shipment(5, 4, "voided", "03-12 20:30", "03-12 21:00", "03-12", carrier_shipping_cost=7, **both)
        self._part(5, B, "B", 5, 0, qty_picked=5)
        self._package(5, 1, 4)
        self._shipment(6, 4, "shipped", "03-13 01:00", "03-13 16:00", "03-12", carrier_shipping_cost=8, **both)
        self._part(6, B, "B", 5, 3, qty_picked=3)
        self._package(6, 1, 4, container_id=BOX)

    def _not_left(self) -> None:
        """7 was canceled; 8 is open and overdue; 9 is open and due today, which is yesterday in UTC; 13 is deleted."""
        west = {"warehouse_id": WEST, "shipping_carrier_code": "ups"}
        self._order(5, "03-12 18:00", merchant_id=TRADER)
        self._item(5, "B", 2, 0, qty_canceled=2)
        self._shipment(7, 5, "canceled", "03-12 18:00", None, "03-13", **west)
        self._part(7, B, "B", 2, 0, qty_canceled=2)
        self._order(6, "03-12 03:00", merchant_id=TRADER)
        self._item(6, "B", 4, 0, qty_backordered=2)
        self._shipment(8, 6, "picking", "03-12 04:00", None, "03-13", **west)
        self._part(8, B, "B", 2, 0)
        self._order(7, "03-14 03:00", merchant_id=TRADER)
        self._item(7, "B", None, None)
        self._shipment(9, 7, "new", "03-14 03:00", None, "03-14", **west)
        self._part(9, B, "B", None, None)
        self._order(11, "03-12 03:00", merchant_id=TRADER)
        self._shipment(13, 11, "new", "03-12 12:00", None, "03-12", warehouse_id=EAST, _missing_since=at("03-14 00:00"))

    def _undecidable(self) -> None:
        """10 has a new status; 11 left nobody knows when; 12 has no target day and no package.

        14 came without order and warehouse.
        """
        east = {"warehouse_id": EAST, "shipping_carrier_code": "ups"}
        self._order(8, "03-12 12:00", merchant_id=MAKER)
        self._item(8, "A", 1, 0)
        self._shipment(10, 8, "mystery", "03-12 12:00", None, "03-12", **east)
        self._order(9, "03-12 12:00", merchant_id=MAKER)
        self._item(9, "A", 1, 1)
        self._shipment(11, 9, "shipped", "03-12 12:00", None, "03-12", **east)
        self._part(11, A, "A", 1, 1)
        self._order(10, "03-11 12:00", merchant_id=MAKER)
        self._item(10, "A", 1, 1)
        self._item(10, "A", 3, 3, number=2)
        self._shipment(12, 10, "shipped", "03-12 12:00", "03-12 15:00", None, carrier_shipping_cost=6, **east)
        self._part(12, A, "A", None, None)
        self._part(12, A_AGAIN, "A", 3, 3, number=2)
        self._shipment(
            14, 99, "shipped", "03-13 10:00", "03-13 23:30", "03-13", warehouse_id=UNKNOWN_WAREHOUSE, retailer_id=3
        )


def at(moment: str | None) -> str | None:
    """Return a time of 2024 as DuckDB reads it."""
    return moment and f"2024-{moment}:00+00"
