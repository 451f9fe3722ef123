"""The data (2.1 to 2.6): as ugly as life, complete, and each object where the specification has it."""

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from tests.sandbox.conftest import start
from wms_sandbox import texts
from wms_sandbox.kinds import CONDITIONAL, KINDS, PATHS, PRODUCT_KINDS
from wms_sandbox.options import OPTIONS

Thing = dict[str, Any]
EVERYTHING = {"fields": "all", **{f"fields:{path}": "all" for path in PATHS}, "sort": "id", "limit": "1000"}


class Data:
    """All that a sandbox shows in one page: every object by kind, inline ones too, and the ids of those included."""

    def __init__(self, page: Thing) -> None:
        shipments = page["collection"]
        packages = [package for shipment in shipments for package in shipment["packages"]]
        items = [item for package in packages for item in package["items"]]
        self.included: Mapping[str, list[Thing]] = page["included"]
        self.of: Mapping[str, list[Thing]] = {
            **self.included,
            "Shipment": shipments,
            "ShipmentPackage": packages,
            "ShipmentPackageItem": items,
        }
        self.ids = {kind: {thing["id"] for thing in things} for kind, things in self.included.items()}
        self.updates: list[str] = values(shipments, "updated_at")
        self.containers = [each for solution in self.of["ShipmentPackingSolution"] for each in solution["containers"]]
        self.written = json.dumps(page)


@pytest.fixture(scope="module")
def data() -> Data:
    return Data(start(shipments=1000).get(**EVERYTHING).json())


def keys(things: Iterable[Thing]) -> set[str]:
    return set().union(*things)


def values(things: Iterable[Thing], field: str) -> list[Any]:
    return [thing.get(field) for thing in things]


def given(things: Iterable[Thing], field: str) -> list[Any]:
    """Those that are not null."""
    return [value for value in values(things, field) if value is not None]


def occurs(value: object, kind: str, field: str, data: Data) -> bool:
    return value in values(data.of[kind], field)


def has_parts(kind: str, field: str, parts: str, data: Data) -> bool:
    found = given(data.of[kind], field)
    return found != [] and all(set(value) == set(parts.split()) for value in found)


def has_options(kind: str, data: Data) -> bool:
    """What the packaging kinds have in common, and in an object every option of this one."""
    name, fields = OPTIONS[kind]
    shared = {"type", "id", "sku", "name", "is_enabled", "merchant", "created_at", "updated_at"}
    return keys(data.of[kind]) == {*shared, name} and keys(given(data.of[kind], name)) == set(fields)


def references(things: Iterable[Thing], field: str) -> set[tuple[str, int]]:
    """Kinds and ids, of lists too."""
    lists = [value if isinstance(value, list) else [value] for value in values(things, field) if value]
    assert all(list(reference) == ["type", "id"] for each in lists for reference in each)
    return {(reference["type"], reference["id"]) for each in lists for reference in each}


def some_dangle(kind: str, field: str, data: Data) -> bool:
    found = references(data.of[kind], field)
    return 0 < sum(id_ not in data.ids[of] for of, id_ in found) < len(found) / 10


ROWS = [
    "Shipment",
    "ShipmentItem",
    "ShipmentPackage",
    "ShipmentPackageItem",
    "Order",
    "OrderItem",
    "OrderStatusHistory",
]
UGLY = "".join(texts.UGLY)
WEIGHT, MONEY = "value unit", "amount currency"
PARTS = {
    ("Shipment", "item_weight"): WEIGHT,
    ("ShipmentPackage", "billable_weight"): WEIGHT,
    ("ShipmentPackage", "dimensional_weight"): WEIGHT,
    ("ShipmentPackage", "total_item_volume"): WEIGHT,
    ("ShipmentPackageItem", "customs_value"): MONEY,
    ("Order", "declared_value"): MONEY,
    ("Order", "customs_value"): MONEY,
    ("Order", "weight"): WEIGHT,
    ("Order", "duties_payor"): "payor tpb_group_id",
    ("Order", "other_shipping_options"): "virtual_excluded_services",
    ("OrderItem", "row_weight"): WEIGHT,
    ("Product", "dimensions"): "length width height unit",
    ("Product", "inventory"): "backorders dynamic_allocation virtual_inventory",
    ("Product", "export"): "description customs_value country_of_manufacture hs_base_code hs_country_extension",
    ("Product", "regulated_goods"): (
        "regulation technical_name additional_information net_weight container_type container_meets_hazmat_specs "
        "regulation_units"
    ),
    ("Product", "packaging"): (
        "require_packaging require_weight_check require_confirmation_per_item unit_quantity bulk_quantity "
        "max_per_package is_ship_separately ship_separately_tag can_tip can_contain_other_items is_handling_surcharge"
    ),
}
TRUE_OF_THE_DATA: dict[str, Callable[[Data], bool]] = {
    "every kind occurs": lambda data: {*KINDS, *PRODUCT_KINDS} <= set(data.of),
    **{f"parts of {kind}.{field}": partial(has_parts, kind, field, parts) for (kind, field), parts in PARTS.items()},
    **{f"fields of {kind}": partial(has_options, kind) for kind in OPTIONS},
    "containers have every field": lambda data: (
        keys(data.containers) == {"type", "weight", "dimensions", "volume", "void_percent", "regulation_type", "items"}
    ),
    "packed items have every field": lambda data: (
        keys(item for container in data.containers for item in container["items"])
        == {"type", "sku", "quantity", "order_item_id", "order_item_sku", "order_item_qty"}
        | {"shipment_item_id", "weight"}
    ),
    "collected data has every field": lambda data: (
        keys(each for package in data.of["ShipmentPackage"] for each in package["collected_data"])
        == {"order_item_id", "label", "value"}
    ),
    "an object comes once in a page, under its kind": lambda data: all(
        len({thing["id"] for thing in things if thing["type"] == kind}) == len(things)
        for kind, things in data.included.items()
    ),
    "no package is included": lambda data: not {"ShipmentPackage", "ShipmentPackageItem"} & set(data.included),
    "a package has a type if it has an id": lambda data: all(
        package.get("type") == ("ShipmentPackage" if "id" in package else None)
        for package in data.of["ShipmentPackage"]
    ),
    "few packages have an id": lambda data: (
        0.1 < sum("id" in package for package in data.of["ShipmentPackage"]) / len(data.of["ShipmentPackage"]) < 0.3
    ),
    "items of packages have neither": lambda data: not {"type", "id"} & keys(data.of["ShipmentPackageItem"]),
    "items of packages have one name of the quantity, each of both": lambda data: (
        {frozenset(item) & {"order_item_quantity", "order_item_qty"} for item in data.of["ShipmentPackageItem"]}
        >= {frozenset({"order_item_quantity"}), frozenset({"order_item_qty"})}
        and not any({"order_item_quantity", "order_item_qty"} <= set(item) for item in data.of["ShipmentPackageItem"])
    ),
    "items of shipments are inline as references with their product": lambda data: (
        {tuple(item) for shipment in data.of["Shipment"] for item in shipment["items"]} == {("type", "id", "product")}
    ),
    "each of them is included once, with the same product": lambda data: (
        sorted((item["id"], repr(item["product"])) for shipment in data.of["Shipment"] for item in shipment["items"])
        == sorted((item["id"], repr(item.get("product"))) for item in data.of["ShipmentItem"])
    ),
    "orders know their shipments": lambda data: (
        {(shipment["order"]["id"], shipment["id"]) for shipment in data.of["Shipment"]}
        == {(order["id"], each["id"]) for order in data.of["Order"] for each in order["shipments"]}
    ),
    "some retailers are missing": partial(some_dangle, "Shipment", "retailer"),
    "some products are missing": partial(some_dangle, "OrderItem", "product"),
    "every ugly text occurs": lambda data: all(json.dumps(text) in data.written for text in texts.UGLY),
    "beyond 16 bits": lambda _: any(ord(char) > 0xFFFF for char in UGLY),
    "from right to left": lambda _: any(unicodedata.bidirectional(char) in ("R", "AL") for char in UGLY),
    "combining": lambda _: any(unicodedata.combining(char) for char in UGLY),
    "with a meaning somewhere": lambda _: {'"', "'", "\n", "\r", "\t", "\\", "%", "\u2028", "\u200d"} <= set(UGLY),
    "empty": lambda _: "" in texts.UGLY,
    "up to three packages": lambda data: {len(each["packages"]) for each in data.of["Shipment"]} == {0, 1, 2, 3},
    "one or two shipments an order": lambda data: {len(each["shipments"]) for each in data.of["Order"]} == {1, 2},
    "few orders with two": lambda data: (
        0.03 < sum(len(each["shipments"]) == 2 for each in data.of["Order"]) / len(data.of["Order"]) < 0.2
    ),
    "ids of orders": lambda data: min(data.ids["Order"]) > 2**31,
    "ids of status changes": lambda data: min(data.ids["OrderStatusHistory"]) > 2**32,
    "ids of photos": lambda data: 2**53 > max(data.ids["GalleryItem"]) > 2**52,
    "ids of products": lambda data: min(data.ids["Product"]) < 2**31 < max(data.ids["Product"]),
    "statuses": lambda data: set(values(data.of["Shipment"], "status")) == set(texts.SHIPMENT_STATUSES),
    "states of orders": lambda data: set(values(data.of["Order"], "state")) == set(texts.ORDER_STATES),
    "statuses of orders, one undocumented": lambda data: (
        set(values(data.of["Order"], "status")) == set(texts.ORDER_STATUSES)
    ),
    **{
        f"empty {field}": partial(occurs, {}, "Order", field)
        for field in ("custom_fields", "allocation_options", "automation_data")
    },
    **{
        f"no {field}": partial(occurs, [], "Order", field)
        for field in ("instructions", "address_candidates", "generate_sscc", "status_history")
    },
    "empty device_info": partial(occurs, {}, "GalleryItem", "device_info"),
    "merchants without brands": partial(occurs, [], "Merchant", "brands"),
    "whole, broken and no quantities": lambda data: (
        set(map(type, values(data.of["OrderItem"], "qty_ordered"))) == {int, float, type(None)}
    ),
    "whole, broken and no costs": lambda data: (
        set(map(type, values(data.of["Shipment"], "carrier_shipping_cost"))) == {int, float, type(None)}
    ),
    "weights of nothing and next to nothing": lambda data: (
        {None, True}
        <= {value and value < 0.001 for value in values(given(data.of["Shipment"], "item_weight"), "value")}
    ),
    "times with fractions": lambda data: any("." in each for each in data.updates),
    "times with an offset": lambda data: any(each.endswith("+00:00") for each in data.updates),
    "most times are plain": lambda data: (
        sum(len(each) == 20 and each.endswith("Z") for each in data.updates) > len(data.updates) * 0.9
    ),
    "created, then updated, before now": lambda data: all(
        "2025-03-03" <= each["created_at"][:19] <= each["updated_at"][:19] <= "2025-06-01T00:00:00"
        for each in data.of["Shipment"]
    ),
    "created mostly in the order of ids": lambda data: (
        0.5
        < sum(one <= next_ for one, next_ in pairwise(values(data.of["Shipment"], "created_at"))) / len(data.updates)
        < 1
    ),
    "archived retailers": lambda data: set(values(data.of["Retailer"], "status")) == {"active", "archived"},
    "about twelve rows a shipment": lambda data: (
        10 < sum(len(data.of[kind]) for kind in ROWS) / len(data.of["Shipment"]) < 16
    ),
}


@pytest.mark.parametrize("what", TRUE_OF_THE_DATA)
def test_what_is_true_of_the_data(data: Data, what: str):
    assert TRUE_OF_THE_DATA[what](data)


ALWAYS = {
    *("unique_id", "status", "state", "created_at", "updated_at", "items", "packages", "order", "code", "name"),
    *("label", "merchant", "brands", "quantity", "containers", "shipments", "packaging", "collected_data"),
    *("order_item", "reservations", "packing_solution_providers", "batch_tag", "retailer", *CONDITIONAL),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_values_nulls_and_gaps(data: Data, kind: str):
    """Products have the options of their own kind only."""
    options = {name for name, _ in OPTIONS.values()} if kind == "Product" else set()
    fields, things = set(KINDS[kind].fields) - options, data.of[kind]
    assert {field for field in fields if given(things, field) == []} == set()
    assert {field for field in fields if all(thing.get(field, "") is not None for thing in things)} <= (
        ALWAYS | ({"sku"} if kind == "Product" else set())
    )
    assert kind in {"Warehouse", "ThirdPartyBillingGroup", "Brand", "Merchant", "ShipmentPackingSolution"} or any(
        field not in thing for thing in things for field in fields
    )


REFERENCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Shipment": {
        "order": ("Order",),
        "retailer": ("Retailer",),
        "gallery": ("Gallery",),
        "packing_solution": ("ShipmentPackingSolution",),
        "retailer_ship_to_location": ("RetailerShipToLocation",),
        "mark_for_location": ("RetailerShipToLocation",),
        "warehouse": ("Warehouse",),
    },
    "ShipmentItem": {"product": PRODUCT_KINDS, "order_item": ("OrderItem",)},
    "ShipmentPackage": {
        "gallery": ("Gallery",),
        "container": ("PackagingContainer",),
        "infill": ("PackagingInfill",),
    },
    "Order": {
        "brand": ("Brand",),
        "merchant": ("Merchant",),
        "tpb_group": ("ThirdPartyBillingGroup",),
        "retailer": ("Retailer",),
        "retailer_ship_to_location": ("RetailerShipToLocation",),
        "mark_for_location": ("RetailerShipToLocation",),
        "shipping_address": ("OrderAddress",),
        "original_address": ("OrderAddress",),
        "items": ("OrderItem",),
        "shipments": ("Shipment",),
        "status_history": ("OrderStatusHistory",),
        "address_candidates": ("OrderAddressCandidate",),
        "instructions": ("OrderInstruction",),
    },
    "OrderItem": {"product": PRODUCT_KINDS},
    "Gallery": {"items": ("GalleryItem",)},
    "Merchant": {"brands": ("Brand",), "default_brand": ("Brand",)},
    "Retailer": {"parent_retailer": ("Retailer",)},
    "RetailerShipToLocation": {"retailer": ("Retailer",)},
}
"""Fields that hold references, and the kinds that they may refer to."""


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, fields in REFERENCES.items() for field in fields])
def test_a_reference_leads_to_an_object(data: Data, kind: str, field: str):
    """Some may refer to something that no page includes."""
    found = references(data.of[kind], field)
    assert set() < {of for of, _ in found} <= set(REFERENCES[kind][field])
    assert field in {"product", "retailer", "parent_retailer", "shipments", "container", "infill"} or all(
        id_ in data.ids[of] for of, id_ in found
    )
