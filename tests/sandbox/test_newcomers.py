"""What callers create shows up in shipments: new ones refer to it, and nothing else changes."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service
from wms_sandbox.app import PRODUCTS, RETAILERS
from wms_sandbox.kinds import PRODUCT_KINDS

SELECTED = (
    ("fields:items", "all"),
    ("fields:items.product", "all"),
    ("fields:packages", "all"),
    ("fields:order", "all"),
    ("fields:order.items", "all"),
    ("fields:retailer", "all"),
    ("fields:retailer.parent_retailer", "all"),
    ("fields:order.retailer", "all"),
    ("sort", "id"),
    ("limit", "1000"),
)


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    return start(shipments=300, families=100)


def create(service: Service, retailers: int = 0, products: int = 0) -> None:
    """Retailers that are each other's children, and products of all kinds in turn."""
    parent: dict[str, Any] | None = None
    for number in range(retailers):
        body: dict[str, Any] = {"code": f"NEW-{number}", "name": f"New {number}"}
        response = service.post(RETAILERS, body | ({"parent_retailer": parent} if parent else {}))
        parent = response.raise_for_status().json()["resource"]
    for number in range(products):
        resource = {"type": PRODUCT_KINDS[number % 6], "sku": f"NEW-{number}", "name": f"New {number}"}
        service.post(PRODUCTS, {"resource": resource}).raise_for_status()


def new_shipments(service: Service, ids: list[int]) -> list[dict[str, Any]]:
    listed = service.listing(*SELECTED, ("filter", f"id{{in:{ids}}}"))["collection"]
    assert [shipment["id"] for shipment in listed] == ids
    return list(listed)


def shown_retailers(shipments: list[dict[str, Any]]) -> list[int]:
    return [shipment["retailer"]["id"] for shipment in shipments if shipment.get("retailer")]


def shown_products(shipments: list[dict[str, Any]]) -> list[tuple[str, int]]:
    items = [item for shipment in shipments for item in shipment["items"]]
    return [(item["product"]["type"], item["product"]["id"]) for item in items if item.get("product")]


def test_new_shipments_refer_to_what_was_created(fresh: Service):
    create(fresh, retailers=7, products=23)
    done = fresh.sandbox.advance(new=30)
    shipments = new_shipments(fresh, done.new)
    assert [each["id"] for each in fresh.sandbox.retailers()] == sorted(set(shown_retailers(shipments)))[-7:]
    created = {(each["type"], each["id"]) for each in fresh.sandbox.products()}
    assert len(created) == 23
    assert created <= set(shown_products(shipments))


def test_they_are_included_whole_with_their_parents(fresh: Service):
    create(fresh, retailers=3, products=6)
    done = fresh.sandbox.advance(new=8)
    included = fresh.listing(*SELECTED, ("filter", f"id{{in:{done.new}}}"))["included"]
    retailers = {each["id"]: each for each in included["Retailer"]}
    for retailer in fresh.sandbox.retailers():
        assert retailers[retailer["id"]] == retailer
    for product in fresh.sandbox.products():
        (found,) = (each for each in included[product["type"]] if each["id"] == product["id"])
        assert found == product
        assert any(item["sku"] == product["sku"] for item in included["ShipmentItem"])


def test_shipments_are_found_by_a_created_retailer(fresh: Service):
    create(fresh, retailers=1)
    (retailer,) = fresh.sandbox.retailers()
    assert fresh.ids(("filter", f"retailer_id:{retailer['id']}")) == []
    done = fresh.sandbox.advance(new=4)
    (found,) = fresh.ids(("filter", f"retailer_id:{retailer['id']}"))
    assert found in done.new


def test_what_finds_no_room_waits(fresh: Service):
    create(fresh, retailers=12)
    seen: set[int] = set()
    for _ in range(6):
        seen |= set(shown_retailers(new_shipments(fresh, fresh.sandbox.advance(new=4).new)))
    assert {each["id"] for each in fresh.sandbox.retailers()} <= seen


def test_archived_retailers_are_not_assigned(fresh: Service):
    fresh.post(RETAILERS, {"code": "OLD", "name": "Old", "status": "archived"})
    (retailer,) = fresh.sandbox.retailers()
    fresh.sandbox.advance(new=30)
    assert retailer["id"] not in shown_retailers(fresh.listing(*SELECTED)["collection"])


def test_other_shipments_stay_as_they_are(start: Callable[..., Service]):
    plain, with_created = start(shipments=300, families=100), start(shipments=300, families=100)
    create(with_created, retailers=5, products=5)
    listings = []
    for service in (plain, with_created):
        service.sandbox.advance(changed=50, new=40)
        listings.append(service.listing(*SELECTED)["collection"])
    different = [one for one, other in zip(*listings, strict=True) if one != other]
    assert len(different) == 5
    assert {shipment["id"] for shipment in different} < {shipment["id"] for shipment in listings[0][300:]}


def test_they_change_like_all_others(fresh: Service):
    create(fresh, retailers=2, products=12)
    new = fresh.sandbox.advance(new=10).new
    before = new_shipments(fresh, new)
    fresh.sandbox.advance(changed=310, packages_added=100, packages_removed=100, orders=100, retailers=20)
    after = new_shipments(fresh, new)
    assert shown_products(after) == shown_products(before)
    assert [each["updated_at"] for each in after] != [each["updated_at"] for each in before]
    numbers = [package.get("tracking_ref") for shipment in after for package in shipment["packages"]]
    for number in filter(None, numbers):
        (found,) = fresh.ids(("filter", f'tracking_number{{eq:"{number}"}}'))
        assert found in new
