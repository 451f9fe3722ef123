"""The data: as ugly as life, complete, and the same each time."""

import json
import unicodedata
from collections.abc import Callable, Iterator
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


@pytest.fixture(scope="module")
def written(everything: list[Thing]) -> set[str]:
    return set(strings(everything))


@pytest.fixture(scope="module")
def packages(shipments: list[Thing]) -> list[Thing]:
    return [package for shipment in shipments for package in shipment["packages"]]


@pytest.fixture(scope="module")
def objects(shipments: list[Thing], packages: list[Thing], included: Included) -> dict[str, list[Thing]]:
    """Every object by kind, inline ones too."""
    return {kind: list(things.values()) for kind, things in included.items()} | {
        "Shipment": shipments,
        "ShipmentPackage": packages,
        "ShipmentPackageItem": [item for package in packages for item in package["items"]],
    }


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


def test_packing_solutions_have_every_field(objects: dict[str, list[Thing]]):
    containers = [each for solution in objects["ShipmentPackingSolution"] for each in solution["containers"]]
    assert set().union(*(set(each) for each in containers)) == {
        "type", "weight", "dimensions", "volume", "void_percent", "regulation_type", "items",
    }  # fmt: skip
    items = [item for container in containers for item in container["items"]]
    assert set().union(*(set(item) for item in items)) == {
        "type", "sku", "quantity", "order_item_id", "order_item_sku", "order_item_qty", "shipment_item_id", "weight",
    }  # fmt: skip


def test_collected_data_has_every_field(packages: list[Thing]):
    collected = [each for package in packages for each in package["collected_data"]]
    assert set().union(*(set(each) for each in collected)) == {"order_item_id", "label", "value"}


def test_every_ugly_text_occurs(written: set[str]):
    assert set(texts.UGLY) <= written


def test_ugly_texts_are_ugly():
    every = "".join(texts.UGLY)
    assert any(ord(char) > 0xFFFF for char in every)
    assert any(unicodedata.bidirectional(char) in ("R", "AL") for char in every)
    assert any(unicodedata.combining(char) for char in every)
    assert {'"', "'", "\n", "\r", "\t", "\\", "%", "\u2028", "\u200d"} <= set(every)
    assert "" in texts.UGLY


def test_both_ways_of_writing_text_occur(service):
    raw = service.get(("fields:order", "all"), ("limit", "600")).text
    assert "\\u" in raw
    assert "\\/" in raw
    assert any(ord(char) > 0xFFFF for char in raw)


def test_numbers_of_packages(shipments: list[Thing]):
    assert {len(shipment["packages"]) for shipment in shipments} == {0, 1, 2, 3}


def test_orders_are_shared_by_two_shipments(included: Included):
    numbers = [len(order["shipments"]) for order in included["Order"].values()]
    assert set(numbers) == {1, 2}
    assert 0.03 < numbers.count(2) / len(numbers) < 0.2


def test_ids_are_large(included: Included):
    assert min(included["Order"]) > 2**31
    assert min(included["OrderStatusHistory"]) > 2**32
    assert 2**53 > max(included["GalleryItem"]) > 2**52
    products = included["Product"]
    assert min(products) < 2**31 < max(products)


def test_statuses_and_one_that_is_in_no_documentation(shipments: list[Thing], included: Included):
    assert {shipment["status"] for shipment in shipments} == set(texts.SHIPMENT_STATUSES)
    assert {order["state"] for order in included["Order"].values()} == set(texts.ORDER_STATES)
    assert {order["status"] for order in included["Order"].values()} == set(texts.ORDER_STATUSES)


def test_custom_fields_of_all_shapes(included: Included):
    shapes: dict[str, set[Any]] = {}
    for kind in ("Retailer", "Merchant", "Order"):
        for thing in included[kind].values():
            for value in (thing.get("custom_fields") or {}).values():
                if isinstance(value, list):
                    shapes.setdefault(kind, set()).add("[]" if not value else f"[{sorted(value[0])}]")
                elif "value" in value:
                    shapes.setdefault(kind, set()).add(type(value["value"]))
                else:
                    shapes.setdefault(kind, set()).add(str(sorted(value)))
        assert {bool, str, int, "['id', 'label']", "[['id', 'label']]", "['amount', 'currency']"} <= shapes[kind]
    products = [each for thing in included["Product"].values() for each in thing.get("custom_fields") or []]
    assert {tuple(each) for each in products} == {("code", "value"), ("code", "value", "label")}


def test_empty_lists_and_objects(shipments: list[Thing], included: Included):
    orders = list(included["Order"].values())
    for field in ("custom_fields", "allocation_options", "automation_data"):
        assert any(order.get(field) == {} for order in orders), field
    for field in ("instructions", "address_candidates", "generate_sscc", "status_history"):
        assert any(order.get(field) == [] for order in orders), field
    assert any(photo.get("device_info") == {} for photo in included["GalleryItem"].values())
    assert any(merchant["brands"] == [] for merchant in included["Merchant"].values())
    assert any(shipment["items"] == [] for shipment in shipments) or len(shipments) < 10_000


def test_numbers_with_and_without_decimals(shipments: list[Thing], included: Included):
    quantities = [item.get("qty_ordered") for item in included["OrderItem"].values()]
    assert {type(each) for each in quantities} == {int, float, type(None)}
    costs = [shipment.get("carrier_shipping_cost") for shipment in shipments]
    assert {type(each) for each in costs} == {int, float, type(None)}
    values = [(shipment.get("item_weight") or {}).get("value", 0) for shipment in shipments]
    assert None in values
    assert any(value is not None and 0 < value < 0.001 for value in values)


def test_both_names_of_the_order_item_quantity(packages: list[Thing]):
    items = [item for package in packages for item in package["items"]]
    assert any("order_item_quantity" in item for item in items)
    assert any("order_item_qty" in item for item in items)


def test_times_with_fractions_and_offsets(shipments: list[Thing]):
    updates = [shipment["updated_at"] for shipment in shipments]
    assert any("." in each for each in updates)
    assert any(each.endswith("+00:00") for each in updates)
    assert sum(len(each) == 20 and each.endswith("Z") for each in updates) > len(updates) * 0.9


def test_times_are_in_order(shipments: list[Thing]):
    created = [shipment["created_at"][:19] for shipment in shipments]
    assert all(
        shipment["created_at"][:19] <= shipment["updated_at"][:19] <= "2025-06-01T00:00:00" for shipment in shipments
    )
    assert min(created)[:10] >= "2025-03-03"
    assert sum(earlier <= later for earlier, later in pairwise(created)) > len(created) * 0.5
    assert created != sorted(created)


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


def test_archived_retailers_and_three_levels(included: Included):
    retailers = included["Retailer"]
    assert {retailer["status"] for retailer in retailers.values()} == {"active", "archived"}
    depths = set()
    for retailer in retailers.values():
        depth, above = 1, retailer.get("parent_retailer")
        while above:
            depth, above = depth + 1, retailers.get(above["id"], {}).get("parent_retailer")
        depths.add(depth)
    assert {1, 2, 3} <= depths


def test_about_twelve_rows_a_shipment(objects: dict[str, list[Thing]]):
    rows = (
        "Shipment",
        "ShipmentItem",
        "ShipmentPackage",
        "ShipmentPackageItem",
        "Order",
        "OrderItem",
        "OrderStatusHistory",
    )
    assert 10 < sum(len(objects[kind]) for kind in rows) / len(objects["Shipment"]) < 16


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


def test_an_empty_sandbox(start: Callable[..., Any]):
    empty = start(shipments=0, families=20)
    assert empty.listing(("count", "1"))["meta"]["count"] == 0
    assert empty.ids(("filter", "updated_at{gt:'2020-01-01'}")) == []
    assert len(empty.sandbox.advance(new=3, changed=2).new) == 3
    assert len(empty.ids()) == 3


def test_json_has_no_repeated_keys(service):
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    json.loads(service.get(("fields:packages", "all"), ("fields:order", "all")).text, object_pairs_hook=once)
