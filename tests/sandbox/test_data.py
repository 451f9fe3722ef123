"""The data: as ugly as life, complete, and the same each time."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from wms_sandbox import texts
from wms_sandbox.kinds import CONDITIONAL, KINDS, PRODUCT_KINDS
from wms_sandbox.options import OPTIONS

Thing = dict[str, Any]
Included = dict[str, dict[int, Thing]]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def test_every_kind_occurs(objects: dict[str, list[Thing]]):
    assert set(objects) >= {*KINDS, *PRODUCT_KINDS}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Product"])
def test_every_field_has_values_nulls_and_gaps(objects: dict[str, list[Thing]], kind: str):
    always = {"unique_id", "status", "state", "created_at", "updated_at", "items", "packages", "order", "code", "name"}
    always |= {"label", "merchant", "brands", "quantity", "containers", "shipments", "packaging", "collected_data"}
    always |= {"order_item", "reservations", "packing_solution_providers", "batch_tag", "retailer", *CONDITIONAL}
    things = objects[kind]
    for field in KINDS[kind].fields:
        assert any(thing.get(field) is not None for thing in things), field
        assert field in always or any(thing.get(field, "") is None for thing in things), field
    if kind not in ("Warehouse", "ThirdPartyBillingGroup", "Brand", "Merchant", "ShipmentPackingSolution"):
        assert any(field not in thing for thing in things for field in KINDS[kind].fields)


def test_every_field_of_products_has_values_and_nulls(objects: dict[str, list[Thing]]):
    shared = {"sku", "name", "is_enabled", "merchant", "created_at", "updated_at"}
    options = {options for options, _ in OPTIONS.values()}
    for field in set(KINDS["Product"].fields) - options:
        assert any(thing.get(field) is not None for thing in objects["Product"]), field
        assert field in ("sku", "name") or any(thing.get(field, "") is None for thing in objects["Product"]), field
    for kind, (name, fields) in OPTIONS.items():
        assert all({*thing} <= {"type", "id", *shared, name} for thing in objects[kind])
        assert shared <= set().union(*(set(thing) for thing in objects[kind]))
        found = [thing[name] for thing in objects[kind] if thing.get(name)]
        assert set(fields) == set().union(*(set(each) for each in found))


@pytest.mark.parametrize(
    ("kind", "field", "parts"),
    [
        ("Shipment", "item_weight", {"value", "unit"}),
        ("ShipmentPackage", "billable_weight", {"value", "unit"}),
        ("ShipmentPackage", "dimensional_weight", {"value", "unit"}),
        ("ShipmentPackage", "total_item_volume", {"value", "unit"}),
        ("ShipmentPackageItem", "customs_value", {"amount", "currency"}),
        ("Order", "declared_value", {"amount", "currency"}),
        ("Order", "customs_value", {"amount", "currency"}),
        ("Order", "weight", {"value", "unit"}),
        ("Order", "duties_payor", {"payor", "tpb_group_id"}),
        ("Order", "other_shipping_options", {"virtual_excluded_services"}),
        ("OrderItem", "row_weight", {"value", "unit"}),
        ("Product", "dimensions", {"length", "width", "height", "unit"}),
        ("Product", "inventory", {"backorders", "dynamic_allocation", "virtual_inventory"}),
        (
            "Product",
            "export",
            {"description", "customs_value", "country_of_manufacture", "hs_base_code", "hs_country_extension"},
        ),
        (
            "Product",
            "regulated_goods",
            {"regulation", "technical_name", "additional_information", "net_weight", "container_type"}
            | {"container_meets_hazmat_specs", "regulation_units"},
        ),
        (
            "Product",
            "packaging",
            {"require_packaging", "require_weight_check", "require_confirmation_per_item", "unit_quantity"}
            | {"bulk_quantity", "max_per_package", "is_ship_separately", "ship_separately_tag", "can_tip"}
            | {"can_contain_other_items", "is_handling_surcharge"},
        ),
    ],
)
def test_shapes_of_fixed_objects(objects: dict[str, list[Thing]], kind: str, field: str, parts: set[str]):
    found = [thing[field] for thing in objects[kind] if thing.get(field) is not None]
    assert found
    assert all(set(each) == parts for each in found)


def keys(things: Iterable[Thing]) -> set[str]:
    return set().union(*(set(thing) for thing in things))


def values(things: Iterable[Thing], field: str) -> list[Any]:
    return [thing.get(field) for thing in things]


def depth(retailers: dict[int, Thing], retailer: Thing) -> int:
    above = retailer.get("parent_retailer")
    return 1 + depth(retailers, retailers[above["id"]]) if above and above["id"] in retailers else 1 + bool(above)


@dataclass(frozen=True)
class Data:
    """All that a larger sandbox shows: every object by kind, inline ones too; by kind and id; every text."""

    of: dict[str, list[Thing]]
    included: Included
    written: set[str]

    @property
    def containers(self) -> list[Thing]:
        return [each for solution in self.of["ShipmentPackingSolution"] for each in solution["containers"]]

    @property
    def weights(self) -> list[float | None]:
        return values(filter(None, values(self.of["Shipment"], "item_weight")), "value")

    @property
    def updates(self) -> list[str]:
        return values(self.of["Shipment"], "updated_at")


@pytest.fixture(scope="module")
def data(objects: dict[str, list[Thing]], included: Included, everything: list[Thing]) -> Data:
    return Data(objects, included, set(strings(everything)))


def occurs(value: object, kind: str, field: str, data: Data) -> bool:
    return value in values(data.of[kind], field)


CONTAINER = {"type", "weight", "dimensions", "volume", "void_percent", "regulation_type", "items"}
PACKED = {"type", "sku", "quantity", "order_item_id", "order_item_sku", "order_item_qty", "shipment_item_id", "weight"}
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
TRUE_OF_THE_DATA: dict[str, Callable[[Data], bool]] = {
    "containers have every field": lambda data: keys(data.containers) == CONTAINER,
    "packed items have every field": lambda data: (
        keys(one for each in data.containers for one in each["items"]) == PACKED
    ),
    "collected data has every field": lambda data: (
        keys(each for package in data.of["ShipmentPackage"] for each in package["collected_data"])
        == {"order_item_id", "label", "value"}
    ),
    "every ugly text occurs": lambda data: set(texts.UGLY) <= data.written,
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
    "ids of orders": lambda data: min(data.included["Order"]) > 2**31,
    "ids of status changes": lambda data: min(data.included["OrderStatusHistory"]) > 2**32,
    "ids of photos": lambda data: 2**53 > max(data.included["GalleryItem"]) > 2**52,
    "ids of products": lambda data: min(data.included["Product"]) < 2**31 < max(data.included["Product"]),
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
        <= {each and each < 0.001 for each in values(filter(None, values(data.of["Shipment"], "item_weight")), "value")}
    ),
    "both names of the quantity": lambda data: (
        {"order_item_quantity", "order_item_qty"} <= keys(data.of["ShipmentPackageItem"])
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
    "retailers in three levels": lambda data: (
        {1, 2, 3} <= {depth(data.included["Retailer"], each) for each in data.of["Retailer"]}
    ),
    "about twelve rows a shipment": lambda data: (
        10 < sum(len(data.of[kind]) for kind in ROWS) / len(data.of["Shipment"]) < 16
    ),
}


@pytest.mark.parametrize("what", TRUE_OF_THE_DATA)
def test_what_is_true_of_the_data(data: Data, what: str):
    assert TRUE_OF_THE_DATA[what](data)


def test_some_references_dangle(shipments: list[Thing], included: Included):
    retailers = {shipment["retailer"]["id"] for shipment in shipments if shipment.get("retailer")}
    missing = retailers - set(included["Retailer"])
    assert 0 < len(missing) < len(retailers) / 10
    products = {
        (item["product"]["type"], item["product"]["id"])
        for item in included["OrderItem"].values()
        if item.get("product")
    }
    lost = {each for each in products if each[1] not in included[each[0]]}
    assert 0 < len(lost) < len(products) / 10


def test_equal_seeds_give_equal_bytes(start: Callable[..., Any]):
    asked = (("fields:order", "all"), ("fields:order.items", "all"), ("fields:retailer", "all"), ("count", "1"))
    one, two, other = (start(shipments=300, families=60, seed=seed) for seed in (7, 7, 8))
    for sandbox in (one, two):
        sandbox.get(("limit", "3"))
    assert one.get(*asked).content == two.get(*asked).content
    assert one.get(*asked).content != other.get(*asked).content
    for sandbox in (one, two):
        sandbox.sandbox.advance(changed=50, new=10, orders=5, retailers=3)
    assert one.get(*asked).content == two.get(*asked).content
