"""Where each object stands: inline, as a reference, or under ``included`` (2.4 to 2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from wms_sandbox.kinds import PRODUCT_KINDS

Thing = dict[str, Any]
Included = dict[str, dict[int, Thing]]
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
DANGLING = {"product", "retailer", "parent_retailer", "shipments", "container", "infill"}
"""What may refer to something that no page includes."""
FIELDS = [(kind, name) for kind, fields in REFERENCES.items() for name in fields]


def test_an_object_comes_once_under_its_kind(everything: list[Thing]):
    for page in everything:
        for kind, things in page["included"].items():
            assert {thing["type"] for thing in things} == {kind}
            assert len({thing["id"] for thing in things}) == len(things)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_a_reference_leads_to_an_object(objects: dict[str, list[Thing]], kind: str, name: str):
    known = {(of, thing["id"]) for of, things in objects.items() for thing in things if "id" in thing}
    values = [thing[name] for thing in objects[kind] if thing.get(name)]
    references = [each for value in values for each in (value if isinstance(value, list) else [value])]
    assert references
    assert all(list(each) == ["type", "id"] and each["type"] in REFERENCES[kind][name] for each in references)
    assert name in DANGLING or {(each["type"], each["id"]) for each in references} <= known


def test_shipment_items_are_full_under_included(shipments: list[Thing], included: Included):
    items = [item for shipment in shipments for item in shipment["items"]]
    assert {tuple(item) for item in items} == {("type", "id", "product")}
    assert all(included["ShipmentItem"][item["id"]].get("product") == item["product"] for item in items)
    assert len(items) == len(included["ShipmentItem"])


def test_packages_are_inline_and_few_have_an_id(objects: dict[str, list[Thing]], included: Included):
    packages = objects["ShipmentPackage"]
    assert {package.get("type") for package in packages if "id" in package} == {"ShipmentPackage"}
    assert not any("type" in package for package in packages if "id" not in package)
    assert 0.1 < sum("id" in package for package in packages) / len(packages) < 0.3
    assert not {"ShipmentPackage", "ShipmentPackageItem"} & set(included)
    for item in objects["ShipmentPackageItem"]:
        assert not {"type", "id"} & set(item)
        assert not {"order_item_quantity", "order_item_qty"} <= set(item)


def test_orders_know_their_shipments(shipments: list[Thing], included: Included):
    pairs = {(shipment["order"]["id"], shipment["id"]) for shipment in shipments}
    assert pairs == {(key, each["id"]) for key, order in included["Order"].items() for each in order["shipments"]}
