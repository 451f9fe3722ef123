"""The cases of field selection (4.5): what each parameter takes and refuses, and which objects and fields then come."""

from typing import Any

from httpx import Response

from tests.deferred import deferred
from tests.sandbox.case import gives, has_status, listing, refused
from tests.sandbox.conftest import Service
from wms_sandbox.kinds import CONDITIONAL, KINDS, PATHS, PRODUCT_KINDS

Page = dict[str, Any]
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

PATHS_IN_THE_FACTS = (
    "warehouse items items.product packages packages.items packages.gallery packages.gallery.items packing_solution "
    "gallery gallery.items retailer retailer.parent_retailer retailer_ship_to_location "
    "retailer_ship_to_location.retailer mark_for_location mark_for_location.retailer order order.items "
    "order.items.product order.brand order.merchant order.merchant.brands order.shipping_address "
    "order.original_address order.address_candidates order.status_history order.instructions order.tpb_group "
    "order.retailer order.retailer.parent_retailer order.retailer_ship_to_location order.mark_for_location"
)
FIRST_PATHS = {kind: path for path, kind in reversed(PATHS.items())}
"""A path of each kind."""
INLINE = {"ShipmentPackage", "ShipmentPackageItem"}
PACKAGING = "sku name is_enabled merchant created_at updated_at"
ONLY_PACKAGING = {
    "packages.packaging.product": (
        f"{PACKAGING} container_options supplies_options data_collection_options instruction_options"
    ),
    "packages.container": f"{PACKAGING} container_options",
    "packages.infill": f"{PACKAGING} infill_options",
}
"""Paths of products that lead to packaging: what its kinds have in common (2.3), and the options of each."""


def needed(path: str) -> str:
    """What must be selected for the objects at a path to be reached: at each parent, just the next reference."""
    names = path.split(".")
    parents = [(".".join(names[:depth]), names[depth]) for depth in range(1, len(names))]
    return "&".join([f"fields={names[0]}", *(f"fields:{parent}={name}" for parent, name in parents if parent in PATHS)])


def fields_of(path: str, group: str) -> set[str]:
    """The fields that a group stands for. What an order owns comes with a selection of its own."""
    kind = KINDS[PATHS[path]]
    groups = {"basic": kind.basic, "all": ONLY_PACKAGING.get(path, " ".join(kind.fields)).split()}
    return set(groups[group]) - ({*CONDITIONAL} if path == "order" else set())


def things_of(page: Page, kind: str) -> list[Page]:
    """The objects of a kind, wherever they stand."""
    if kind not in INLINE:
        return [
            thing
            for name in (PRODUCT_KINDS if kind == "Product" else (kind,))
            for thing in page["included"].get(name, ())
        ]
    packages = [package for shipment in page["collection"] for package in shipment["packages"]]
    return packages if kind == "ShipmentPackage" else [item for package in packages for item in package["items"]]


@deferred
def shows(response: Response, service: Service, path: str, group: str) -> None:
    """Of the objects at the path these fields and no others; a few may be nowhere in so little data."""
    of_parents = {"type", "id", *(("parent_retailer",) if path.endswith("parent_retailer") else ())}
    expected = fields_of(path, group) - of_parents
    shown = set().union(*things_of(response.json(), PATHS[path])) - of_parents
    assert shown <= expected
    assert len(shown) >= 0.8 * len(expected)


CASES = [
    *(listing("facts", f"fields:{path}=all", has_status(200)) for path in PATHS_IN_THE_FACTS.split()),
    *(listing("4.5", f"fields:{path}={','.join(KINDS[kind].values)}", has_status(200)) for path, kind in PATHS.items()),
    *(listing("4.5", f"fields:{path}=basic,nothing", refused(f"fields:{path}")) for path in PATHS),
    *(
        listing("4.5", f"fields:retailer={value}", refused("fields:retailer"))
        for value in ("", "nothing", "All", "basic,nothing", "all,", "*")
    ),
    *(
        listing("4.5", f"fields:{FIRST_PATHS[kind]}=basic", refused(f"fields:{FIRST_PATHS[kind]}"))
        for kind, values in LISTED.items()
        if "basic" not in values.split()
    ),
    *(
        listing("4.5", f"{needed(path)}&fields:{path}={group}&limit=120", shows(path, group))
        for path, kind in PATHS.items()
        for group in ("basic", "all")
        if group in KINDS[kind].values
    ),
    *(
        listing(
            "4.5",
            "&".join(f"fields:{path}=all" for path, other in PATHS.items() if other != kind) + "&limit=30",
            gives(lambda page, kind=kind: not things_of(page, kind)),
        )
        for kind in FIRST_PATHS
        if kind not in INLINE
    ),
    listing(
        "4.5",
        "limit=50",
        gives(
            lambda page: (
                not page["included"] and set().union(*page["collection"]) == {"type", "id", *KINDS["Shipment"].basic}
            )
        ),
    ),
    listing("4.5", "fields=status&fields:order=all", gives(lambda page: page["included"] == {})),
    listing("4.5", "fields:order.items=all", gives(lambda page: page["included"] == {})),
    listing(
        "4.5",
        "fields:retailer=basic&fields:retailer.parent_retailer=all&limit=600",
        gives(lambda page: not any("legal_name" in retailer for retailer in page["included"]["Retailer"])),
    ),
    listing(
        "2.5",
        "fields=order&fields:order=all&limit=120",
        gives(lambda page: not any(order.keys() & {*CONDITIONAL} for order in page["included"]["Order"])),
    ),
]
