"""Field selection (specification 4.5): every parameter, every value; optional fields only when selected."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.sandbox.case import violations
from wms_sandbox.kinds import CONDITIONAL, KINDS, PATHS, PRODUCT_KINDS

Thing = dict[str, Any]

LISTED = {
    "Merchant": "basic all code name status created_at updated_at brands default_brand custom_fields",
    "Brand": "basic all code name is_active is_deleted sort_order",
    "OrderAddress": (
        "all first_name last_name company street city region postcode country telephone email classification is_valid"
    ),
    "OrderStatusHistory": "all status comment notify_merchant user script_id created_at",
    "OrderAddressCandidate": "all address_id street city region_code postal_code country_code classification",
    "OrderInstruction": (
        "basic all order_id note file_name presentation print_target print_orientation copies_printed"
    ),
    "ThirdPartyBillingGroup": "all label status",
    "Warehouse": "basic all id name is_active abbreviation",
    "ShipmentPackage": (
        "basic all tracking_ref alt_tracking_number alt_tracking_description billable_weight dimensional_weight "
        "dimensional_weight_divisor total_item_volume total_void_percent container_style num_cartons sscc "
        "manifest_courier_code items container infill packaging collected_data gallery created_at updated_at"
    ),
    "Gallery": "basic all items",
    "GalleryItem": "all url thumbnail_url caption taken_at device_info media_info created_at",
    "ShipmentPackageItem": (
        "all sku name quantity weight hazmat_unit_weight customs_value order_item_id order_item_sku order_item_quantity"
    ),
    "Product": "all created_at updated_at",
    "Retailer": (
        "basic all code name status fulfillment_model parent_retailer legal_name dba default_duties_payor "
        "default_shipping_method allowed_shipping_methods routing_guide_notes custom_fields created_at updated_at"
    ),
    "RetailerShipToLocation": (
        "basic all code qualifier label location_type company street city region_id region postcode country_id "
        "telephone email is_default status retailer created_at updated_at"
    ),
}
"""The table of specification 4.5, word for word."""

INLINE = {"packages", "packages.items"}
PACKAGING = "sku name is_enabled merchant created_at updated_at"
"""What the packaging kinds have in common (2.3); each has its own options besides."""
PACKAGING_PATHS = {
    "packages.packaging.product": "container_options supplies_options data_collection_options instruction_options",
    "packages.container": "container_options",
    "packages.infill": "infill_options",
}
SHOWN_AS = {"user": {"requester"}, "order_item_quantity": {"order_item_quantity", "order_item_qty"}}


def needed(path: str) -> list[tuple[str, str]]:
    """What must be selected for the objects at a path to be reached: at each parent, just the next reference."""
    names = path.split(".")
    parents = [(".".join(names[:depth]), names[depth]) for depth in range(1, len(names))]
    return [("fields", names[0]), *((f"fields:{parent}", name) for parent, name in parents if parent in PATHS)]


def fields_at(page: Thing, path: str) -> set[str]:
    """The fields that the objects at a path show, leaving out what they show because another path led to them too."""
    found = set().union(*(set(thing) for thing in things_at(page, path))) - {"type", "id"}
    return found - {"parent_retailer"} if path.endswith("parent_retailer") else found


def possible(path: str, names: Iterable[str]) -> set[str]:
    own = set(names) - (set(CONDITIONAL) if path == "order" else set())
    return own - {"parent_retailer"} if path.endswith("parent_retailer") else own


def things_at(page: Thing, path: str) -> Iterator[Thing]:
    if path == "packages":
        yield from (package for shipment in page["collection"] for package in shipment["packages"])
    elif path in ("packages.items", "packages.packaging"):
        name = path.split(".")[1]
        yield from (item for package in things_at(page, "packages") for item in package[name])
    else:
        kinds = PRODUCT_KINDS if PATHS[path] == "Product" else (PATHS[path],)
        ids = {(target["type"], target["id"]) for target in targets(page, path)}
        yield from (thing for kind in kinds for thing in page["included"].get(kind, []) if (kind, thing["id"]) in ids)


def targets(page: Thing, path: str) -> Iterator[Thing]:
    """The references at a path."""
    parent, _, name = path.rpartition(".")
    for thing in things_at(page, parent) if parent else page["collection"]:
        value = thing.get(name) or []
        yield from value if isinstance(value, list) else [value]


@pytest.mark.parametrize("kind", LISTED)
def test_values_are_those_of_the_specification(kind: str):
    assert set(KINDS[kind].values) == set(LISTED[kind].split())


@pytest.mark.parametrize("path", PATHS)
def test_every_listed_value_of_every_path_is_taken(bare, path: str):
    for value in KINDS[PATHS[path]].values:
        bare.listing((f"fields:{path}", value), ("limit", "1"))


@pytest.mark.parametrize("path", PATHS)
def test_other_values_are_refused_and_named(service, path: str):
    """Also ``basic`` where the table does not have it."""
    unlisted = [] if "basic" in LISTED.get(PATHS[path], "basic").split() else ["basic"]
    for value in ("", "nothing", "All", "basic,nothing", "all,", "*", *unlisted):
        assert set(violations(service.get((f"fields:{path}", value)))) == {f"fields:{path}"}


@pytest.mark.parametrize("path", PATHS)
def test_all_shows_every_field(everything: list[Thing], path: str):
    shown = set().union(*(fields_at(page, path) for page in everything))
    own = {*PACKAGING.split(), *PACKAGING_PATHS[path].split()} if path in PACKAGING_PATHS else KINDS[PATHS[path]].fields
    assert shown - {"parent_retailer"} == set(own) - {"parent_retailer"}


@pytest.mark.parametrize("path", [path for path, kind in PATHS.items() if "basic" in KINDS[kind].values])
def test_basic_shows_what_is_not_optional(small, path: str):
    kind = KINDS[PATHS[path]]
    shown = fields_at(small.listing(*needed(path), (f"fields:{path}", "basic"), ("limit", "120")), path)
    assert shown <= possible(path, kind.basic)
    assert len(shown) > len(kind.basic) * 0.8


@pytest.mark.parametrize("path", PATHS)
def test_single_names_show_just_these(small, path: str):
    kind = KINDS[PATHS[path]]
    names = [value for value in kind.values if value not in ("basic", "all", "type", "id")]
    for name in names if len(names) < 16 else names[::7]:
        page = small.listing(*needed(path), (f"fields:{path}", name), ("limit", "120"))
        always = kind.basic if kind.name == "Product" else ()
        expected = possible(path, {*SHOWN_AS.get(name, {name}), *always})
        shown = fields_at(page, path)
        assert shown <= expected
        assert shown or not expected


@pytest.mark.parametrize("path", [path for path in PATHS if path not in INLINE])
def test_objects_come_only_when_their_path_is_selected(small, path: str):
    others = [(f"fields:{other}", "all") for other in PATHS if other != path and not other.startswith(f"{path}.")]
    same = [(f"fields:{other}", "all") for other, kind in PATHS.items() if kind == PATHS[path] and other != path]
    page = small.listing(*[each for each in others if each not in same], ("limit", "30"))
    kinds = PRODUCT_KINDS if PATHS[path] == "Product" else (PATHS[path],)
    assert not set(kinds) & set(page["included"])


def test_without_selection_nothing_is_included(service):
    page = service.listing(("limit", "50"))
    assert page["included"] == {}
    shown = set().union(*(set(shipment) for shipment in page["collection"]))
    assert shown == {"type", "id", *KINDS["Shipment"].basic}


def test_a_reference_that_is_not_shown_includes_nothing(service):
    page = service.listing(("fields:retailer", "basic"), ("fields:retailer.parent_retailer", "all"), ("limit", "600"))
    assert all("legal_name" not in retailer for retailer in page["included"]["Retailer"])


@pytest.mark.parametrize("name", CONDITIONAL)
def test_what_an_order_owns_is_absent_unless_selected(small, name: str):
    without = small.listing(("fields", "order"), ("fields:order", "all"), ("limit", "120"))
    assert all(name not in order for order in without["included"]["Order"])
    page = small.listing(
        ("fields", "order"), ("fields:order", "all"), (f"fields:order.{name}", "all"), ("limit", "120")
    )
    assert any(order.get(name) for order in page["included"]["Order"])
    kind = PATHS[f"order.{name}"]
    references = [(each["type"], each["id"]) for each in targets(page, f"order.{name}")]
    assert references == [(kind, thing["id"]) for thing in page["included"][kind]]


def test_two_paths_to_one_object_join_their_fields(service):
    page = service.listing(
        ("fields:retailer", "code"), ("fields:order", "retailer"), ("fields:order.retailer", "dba"), ("limit", "1000")
    )
    by_shipment = {shipment["retailer"]["id"] for shipment in page["collection"] if shipment.get("retailer")}
    by_order = {order["retailer"]["id"] for order in page["included"]["Order"] if order.get("retailer")}
    retailers = {retailer["id"]: retailer for retailer in page["included"]["Retailer"]}
    assert len(retailers) == len(page["included"]["Retailer"])
    assert any("dba" in retailers[each] for each in by_order & set(retailers))
    for each in by_shipment & set(retailers):
        assert "code" in retailers[each]
    for each in by_order & set(retailers):
        assert "name" not in retailers[each]
