"""Where each object stands: inline, as a reference, or under `included` (specification 2.4 to 2.6)."""

from typing import Any

from wms_sandbox.kinds import PRODUCT_KINDS

Thing = dict[str, Any]
Included = dict[str, dict[int, Thing]]


def is_reference(value: Any, *kinds: str) -> bool:
    return value is None or (list(value) == ["type", "id"] and value["type"] in kinds)


def test_each_object_comes_once_a_page_under_its_kind(everything: list[Thing]):
    for page in everything:
        for kind, things in page["included"].items():
            assert things
            assert {thing["type"] for thing in things} == {kind}
            assert len({thing["id"] for thing in things}) == len(things)


def test_shipment_items_are_short_inline_and_full_under_included(shipments: list[Thing], included: Included):
    for shipment in shipments:
        for item in shipment["items"]:
            assert list(item) == ["type", "id", "product"]
            full = included["ShipmentItem"][item["id"]]
            assert full.get("product") == item["product"]
            assert is_reference(item["product"], *PRODUCT_KINDS)
            assert is_reference(full["order_item"], "OrderItem")
            assert full["order_item"]["id"] in included["OrderItem"]
            for reservation in full["reservations"]:
                assert sorted(reservation) == ["location", "quantity"]
                assert is_reference(reservation["location"], "Location")
    assert sum(len(shipment["items"]) for shipment in shipments) == len(included["ShipmentItem"])


def test_packages_are_inline_without_a_type_and_mostly_without_an_id(shipments: list[Thing], included: Included):
    packages = [package for shipment in shipments for package in shipment["packages"]]
    named = [package for package in packages if "id" in package]
    assert all(package.get("type") == ("ShipmentPackage" if "id" in package else None) for package in packages)
    assert 0.1 < len(named) / len(packages) < 0.3
    assert len({package["id"] for package in named}) == len(named)
    assert "ShipmentPackage" not in included
    for package in packages:
        assert is_reference(package.get("gallery"), "Gallery")
        assert is_reference(package.get("container"), "PackagingContainer")
        assert is_reference(package.get("infill"), "PackagingInfill")
        for packaging in package["packaging"]:
            assert sorted(packaging) == ["product", "quantity"]
            assert is_reference(packaging["product"], *PRODUCT_KINDS)
        for item in package["items"]:
            assert not {"type", "id"} & set(item)
            assert not {"order_item_quantity", "order_item_qty"} <= set(item)


def test_package_items_are_short_unless_selected(service):
    page = service.listing(("limit", "600"))
    items = [item for shipment in page["collection"] for package in shipment["packages"] for item in package["items"]]
    assert set().union(*(set(item) for item in items)) == {"sku", "quantity"}


def test_packing_solutions(shipments: list[Thing], included: Included):
    solutions = dict(included["ShipmentPackingSolution"])
    for shipment in shipments:
        assert is_reference(shipment.get("packing_solution"), "ShipmentPackingSolution")
        if shipment.get("packing_solution"):
            solution = solutions.pop(shipment["packing_solution"]["id"])
            for container in solution["containers"]:
                assert container["type"] == "ShipmentPackingSolutionContainer"
                assert "id" not in container
                assert {item["type"] for item in container["items"]} <= {"ShipmentPackingSolutionContainerItem"}
    assert not solutions


def test_galleries_refer_to_their_items(shipments: list[Thing], included: Included):
    owners = [*shipments, *(package for shipment in shipments for package in shipment["packages"])]
    galleries = [owner["gallery"]["id"] for owner in owners if owner.get("gallery")]
    assert sorted(galleries) == sorted(included["Gallery"])
    assert any(shipment.get("gallery") for shipment in shipments)
    items = [item for gallery in included["Gallery"].values() for item in gallery["items"]]
    assert all(is_reference(item, "GalleryItem") for item in items)
    assert sorted(item["id"] for item in items) == sorted(included["GalleryItem"])


def test_orders_hold_references_only(included: Included):
    single = {
        "brand": ("Brand",),
        "merchant": ("Merchant",),
        "tpb_group": ("ThirdPartyBillingGroup",),
        "retailer": ("Retailer",),
        "retailer_ship_to_location": ("RetailerShipToLocation",),
        "mark_for_location": ("RetailerShipToLocation",),
        "shipping_address": ("OrderAddress",),
        "original_address": ("OrderAddress",),
    }
    several = {
        "items": "OrderItem",
        "shipments": "Shipment",
        "status_history": "OrderStatusHistory",
        "address_candidates": "OrderAddressCandidate",
        "instructions": "OrderInstruction",
    }
    for order in included["Order"].values():
        assert all(is_reference(order.get(name), *kinds) for name, kinds in single.items())
        for name, kind in several.items():
            assert all(is_reference(each, kind) for each in order[name])
            assert name == "shipments" or all(each["id"] in included[kind] for each in order[name])


def test_orders_know_their_shipments(shipments: list[Thing], included: Included):
    by_order: dict[int, list[int]] = {}
    for shipment in shipments:
        by_order.setdefault(shipment["order"]["id"], []).append(shipment["id"])
    assert set(by_order) == set(included["Order"])
    for identity, order in included["Order"].items():
        assert [each["id"] for each in order["shipments"]] == by_order[identity]


def test_tpb_group_of_a_shipment_is_a_label(shipments: list[Thing]):
    assert {type(shipment.get("tpb_group")) for shipment in shipments} == {str, type(None)}


def test_nested_references_resolve(shipments: list[Thing], included: Included):
    retailers = included["Retailer"]
    for shipment in shipments:
        for name in ("retailer_ship_to_location", "mark_for_location"):
            if shipment.get(name):
                location = included["RetailerShipToLocation"][shipment[name]["id"]]
                assert is_reference(location["retailer"], "Retailer")
                assert location["retailer"]["id"] in retailers
    for merchant in included["Merchant"].values():
        assert all(brand["id"] in included["Brand"] for brand in merchant["brands"])
    children = [retailer for retailer in retailers.values() if retailer.get("parent_retailer")]
    assert all(is_reference(child["parent_retailer"], "Retailer") for child in children)
    assert any(retailers.get(child["parent_retailer"]["id"], {}).get("parent_retailer") for child in children)
