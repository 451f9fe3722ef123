"""What the tables must hold, worked out slowly and independently: the service read with plain httpx, the mechanical
column rule applied to JSON in Python. It shares nothing with the product but the list of field-selection parameters.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Set as AbstractSet
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import httpx

from tests.services import Service
from wms_sandbox.transport import InProcess
from wms_sync.catalogue import table as described
from wms_sync.service.selection import Selection
from wms_sync.shipments.load.checks import checks

Record = dict[str, Any]
Row = dict[str, Any]
Tables = dict[str, dict[tuple[Any, ...], Row]]

RENAMED = {"order_item_qty": "order_item_quantity"}
AS_JSON = {
    "custom_fields",
    "device_info",
    "media_info",
    "allocation_options",
    "automation_data",
    "container",
    "infill",
    "options",
    "export_hs_country_extension",
}
CHILDREN = {
    "shipments": {"items": "shipment_items", "packages": "packages"},
    "shipment_items": {"reservations": "shipment_item_reservations"},
    "packages": {
        "items": "package_items",
        "packaging": "package_packaging",
        "collected_data": "package_collected_data",
    },
    "packing_solutions": {"containers": "packing_solution_containers"},
    "packing_solution_containers": {"items": "packing_solution_container_items"},
    "galleries": {"items": "gallery_items"},
    "orders": {
        "items": "order_items",
        "status_history": "order_status_history",
        "instructions": "order_instructions",
        "address_candidates": "order_address_candidates",
    },
}
"""By table, the fields with lists of objects, and the tables of those."""
LISTS_OF_OBJECTS = {field for fields in CHILDREN.values() for field in fields}
BY_ID = {"shipment_items", "order_items", "gallery_items"}
"""Their objects are known by an id; others by their position alone."""
WITH_GALLERY = {"shipments", "packages"}
PRODUCT_KINDS = {
    "Product": "",
    "PackagingContainer": "container_options",
    "PackagingSupplies": "supplies_options",
    "PackagingDataCollection": "data_collection_options",
    "PackagingInstruction": "instruction_options",
    "PackagingInfill": "infill_options",
}
"""The kinds in one table, and the key of what becomes its column options."""
SHARED_KINDS = {
    "Brand": "brands",
    "Merchant": "merchants",
    "Retailer": "retailers",
    "RetailerShipToLocation": "retailer_ship_to_locations",
    "ThirdPartyBillingGroup": "third_party_billing_groups",
    "Warehouse": "warehouses",
}
SHARED = {*SHARED_KINDS.values(), "products"}
"""Tables whose rows stay when no shipment shows them any more."""
GALLERIES = {"galleries": "id", "gallery_items": "gallery_id"}
"""Their rows stay too; these are those that count, as the comments on the tables say."""
IN_USE = """
    select gallery_id from shipments where id not in (select unnest($gone::bigint[]))
    union all
    select gallery_id from packages where shipment_id not in (select unnest($gone::bigint[]))
"""
PARTS = ("id", "ids", "value", "unit", "amount", "currency", "length", "width", "height")
FIXED_OBJECTS = {"inventory", "export", "regulated_goods", "packaging", "other_shipping_options", "duties_payor"}


def service_pages(service: Service, *, include_addresses: bool = False) -> Iterator[Record]:
    """Every page of the whole service, newest first page last."""
    headers = {"Authorization": f"Bearer {service.sandbox.config.token}"}
    params = httpx.QueryParams(
        [("sort", "id"), ("limit", "500"), *Selection(include_addresses=include_addresses).params]
    )
    within = InProcess(service.sandbox)
    with httpx.Client(base_url=within.base_url, headers=headers, transport=within) as http:
        page: Record = {"has_more": True, "next": f"/api/global/v1/shipping/shipments?{params}"}
        while page["has_more"]:
            page = http.get(page["next"]).raise_for_status().json()
            yield page


def expected_tables(service: Service) -> Tables:
    """Rows by table and key, for all tables but those of schema pii."""
    tables: Tables = defaultdict(dict)
    for page in service_pages(service):
        _Page(page, tables).flatten()
    return tables


class _Page:
    def __init__(self, page: Record, tables: Tables) -> None:
        self._page = page
        self._tables = tables
        self._included = {
            (kind, one["id"]): one for kind, objects in (page.get("included") or {}).items() for one in objects
        }

    def flatten(self) -> None:
        for shipment in self._page["collection"]:
            self._add("shipments", (shipment["id"],), shipment)
        for order in (self._page.get("included") or {}).get("Order", ()):
            address = self._full(order.get("shipping_address") or {})
            shown = {f"ship_to_{name}": address.get(name) for name in ("country", "region", "classification")}
            self._add("orders", (order["id"],), order, **shown)
        for (kind, key), one in self._included.items():
            if kind in SHARED_KINDS:
                self._add(SHARED_KINDS[kind], (key,), one)
            elif kind in PRODUCT_KINDS:
                product = {"options" if name == PRODUCT_KINDS[kind] else name: value for name, value in one.items()}
                self._add("products", (key,), product, type=kind)

    def _full(self, one: Record) -> Record:
        return self._included.get((one.get("type"), one.get("id")), one) if one else one

    def _add(self, table: str, key: tuple[Any, ...], record: Record, **more: Any) -> None:
        """A row, and those of the objects below it."""
        self._tables[table][key] = columns(record) | more
        for field, child in CHILDREN.get(table, {}).items():
            for position, reference in enumerate(record.get(field) or (), 1):
                thing = self._full(reference)
                self._add(child, (*key, thing["id"] if child in BY_ID else position), thing, position=position)
        if table in WITH_GALLERY and record.get("gallery"):
            self._add("galleries", (record["gallery"]["id"],), self._full(record["gallery"]))
        if table == "shipments" and record.get("packing_solution"):
            self._add("packing_solutions", key, self._full(record["packing_solution"]))


def columns(record: Record) -> Row:
    """The mechanical rule, for one object."""
    fields = {RENAMED.get(name, name): value for name, value in record.items() if name != "type"}
    return {column: inner for name, value in fields.items() for column, inner in _column(name, value).items()}


def _column(name: str, value: Any) -> Row:
    if name in AS_JSON or not isinstance(value, dict | list):
        return {name: value}
    if isinstance(value, list):
        if name in LISTS_OF_OBJECTS or not value:
            return {}
        return {f"{name}_ids": [one["id"] for one in value]} if isinstance(value[0], dict) else {name: value}
    if "type" in value:
        return {f"{name}_id": value["id"]}
    if value.keys() <= {"value", "unit", "amount", "currency", "length", "width", "height"}:
        return {f"{name}_{field}": inner for field, inner in value.items()}
    assert name in FIXED_OBJECTS, f"the rule says nothing of {name}: {value}"
    return {column: inner for field in value for column, inner in _column(f"{name}_{field}", value[field]).items()}


def differences(
    connection: duckdb.DuckDBPyConnection, expected: Tables, gone: AbstractSet[int] = frozenset()
) -> list[str]:
    """Where the database does not equal the service, or history does not end in the tables; empty when they do.

    ``gone`` are the shipments and orders that the service had once; what the database kept of them is no difference.
    """
    found = [
        f"{check.table} ({row[0]}): {check.description}"
        for check in checks()
        if check.name.startswith("history_of_")
        for row in connection.execute(check.query).fetchall()
    ]
    for table, rows in expected.items():
        stored, keys = rows_by_key(connection, table, gone), described(table).keys
        found += [f"{table} {key}: not in the database" for key in rows.keys() - stored.keys()]
        found += [
            f"{table} {key}: not in the service"
            for key in stored.keys() - rows.keys()
            if table not in SHARED and key[0] not in gone
        ]
        for key in rows.keys() & stored.keys():
            row = stored[key]
            for column, value in rows[key].items():
                if column not in row:
                    if value is not None or not _all_null(row, column):
                        found.append(f"{table}: no column for {column} = {value!r}")
                # an object may lack its copy of the key
                elif column not in keys and not _is_same(row[column], value):
                    found.append(f"{table} {key} {column}: {row[column]!r} instead of {value!r}")
    return found


def rows_by_key(
    connection: duckdb.DuckDBPyConnection, slug: str, gone: AbstractSet[int] | None = None
) -> dict[tuple[Any, ...], Row]:
    """The rows of a table; with ``gone``, without the galleries of these shipments."""
    table = described(slug)
    query, parameters = f"select * from {table.qualified}", None
    if slug in GALLERIES and gone is not None:
        query, parameters = f"{query} where {GALLERIES[slug]} in ({IN_USE})", {"gone": list(gone)}
    result = connection.execute(query, parameters)
    names = [column[0] for column in result.description or []]
    rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    stored = {tuple(row[key] for key in table.keys): row for row in rows}
    assert len(stored) == len(rows), f"{slug} holds a key twice"
    return stored


def _all_null(stored: Row, name: str) -> bool:
    """A null object leaves each of the columns that it would have become null."""
    parts = [stored[f"{name}_{part}"] for part in PARTS if f"{name}_{part}" in stored]
    parts += [value for column, value in stored.items() if name in FIXED_OBJECTS and column.startswith(f"{name}_")]
    return bool(parts or name in LISTS_OF_OBJECTS) and all(part is None for part in parts)


def _is_same(stored: Any, wanted: Any) -> bool:
    """Whether a stored value is the wanted one, in the terms in which JSON writes it."""
    if stored is None or (type(stored) is type(wanted) and stored == wanted):
        return bool(stored == wanted)  # as most are, in the same terms
    if isinstance(wanted, float):
        return round(Decimal(str(stored)), 4) == round(Decimal(str(wanted)), 4)
    if isinstance(wanted, dict | list | int) and isinstance(stored, str):
        return bool(json.loads(stored) == wanted)
    if isinstance(stored, datetime):
        return stored == _moment(wanted)
    return bool((stored.isoformat() if isinstance(stored, date) else stored) == wanted)


@cache
def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
