"""The objects' field tables (specification 2.2 to 2.5) and the fields that can be selected (4.5). Data only.

`basic` fields are shown if nothing, or `basic`, is requested; `optional` fields come only if requested by name or by
`all`. `type` and `id` always come. `offered` are the values that the selection parameter accepts: exactly the list of
4.5 if it lists the kind; otherwise (`listed=False`) `basic`, `all` and the whole field table.

Choices for gaps in the specification: only fields that it marks optional are optional, plus `items` of a Gallery (4.5
lists it apart from `basic`) and `address_id` and `order_id`, which only 4.5 names. `user` of a status history selects
`requester`. Products offer only `all`, `created_at`, `updated_at` (2.3): those two are optional, the rest always comes.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    """One kind of object."""

    name: str
    basic: tuple[str, ...]
    optional: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    listed: bool = True
    always: bool = False
    renamed: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def fields(self) -> tuple[str, ...]:
        """Return all fields, as `all` shows them."""
        return self.basic + self.optional

    @property
    def values(self) -> tuple[str, ...]:
        """Return the values that the field selection parameter of this kind accepts."""
        own = () if self.listed else ("type", "id")
        return self.offered or ("basic", "all", *own, *self.fields)


def names(text: str) -> tuple[str, ...]:
    """Return the words of a text: long lists of names are easier to read without quotes and commas."""
    return tuple(text.split())


_PRODUCT_BASIC = names(
    "sku name is_enabled vendor_sku manufacturer_part_number external_id barcodes is_available is_visible goods_type "
    "lot_type weight dimensions volume inventory export regulated_goods packaging custom_fields merchant "
    "container_options supplies_options data_collection_options instruction_options infill_options"
)
_PACKAGE_OPTIONAL = names(
    "tracking_ref alt_tracking_number alt_tracking_description billable_weight dimensional_weight "
    "dimensional_weight_divisor total_item_volume total_void_percent container_style num_cartons sscc "
    "manifest_courier_code container infill"
)
_ADDRESS = names(
    "first_name last_name company street city region postcode country telephone email classification is_valid"
)

_KINDS = (
    Kind(
        "Shipment",
        names(
            "unique_id external_id status shipping_carrier_code shipping_method shipping_method_name "
            "shipping_service_code shipping_service_name warehouse order shipping_account target_ship_date "
            "item_weight shipped_weight total_weight max_package_weight items packages packing_solution gallery "
            "picking_class_id is_cutoff_date_exception is_manually_processed label_print_target scac "
            "carrier_shipping_cost is_international is_documents_required is_electronic_customs infill_product_id "
            "packing_solution_providers tpb_group retailer retailer_ship_to_location mark_for_location "
            "created_at updated_at packed_at"
        ),
        listed=False,
    ),
    Kind(
        "ShipmentItem",
        names("sku product quantity qty_shipped qty_picked qty_canceled qty_cancel_requested order_item reservations"),
        listed=False,
    ),
    Kind("ShipmentPackage", names("items packaging collected_data gallery created_at updated_at"), _PACKAGE_OPTIONAL),
    Kind(
        "ShipmentPackageItem",
        names("sku quantity"),
        names(
            "name weight hazmat_unit_weight customs_value order_item_id order_item_sku order_item_quantity "
            "order_item_qty shipment_item_id total_customs_value"
        ),
        names(
            "all sku name quantity weight hazmat_unit_weight customs_value order_item_id order_item_sku "
            "order_item_quantity"
        ),
        renamed={"order_item_quantity": ("order_item_quantity", "order_item_qty")},
    ),
    Kind("ShipmentPackingSolution", names("containers"), listed=False),
    Kind("Gallery", names("photo_count updated_at"), names("items"), names("basic all items")),
    Kind(
        "GalleryItem",
        names("url thumbnail_url caption taken_at device_info media_info created_at"),
        offered=names("all url thumbnail_url caption taken_at device_info media_info created_at"),
    ),
    Kind("Brand", names("code name is_active is_deleted sort_order")),
    Kind("Merchant", names("code name status created_at updated_at brands default_brand custom_fields")),
    Kind(
        "Order",
        names(
            "unique_id order_ref state status brand merchant carrier_code shipping_method signature_required "
            "is_saturday_delivery is_overbox_required priority requested_ship_date is_declared_value_service "
            "declared_value shipping_address items shipments custom_greeting status_history other_shipping_options "
            "duties_payor created_at updated_at completed_at custom_fields weight total_item_count submitted_by "
            "submitted_by_type backorder_policy source customer_note batch_tag desired_delivery_date can_fulfill "
            "can_fulfill_at is_address_modified is_address_modified_auto hold_until_time tpb_group retailer "
            "retailer_ship_to_location mark_for_location customs_value reason_for_export generate_sscc shipped_at "
            "delivered_at shipping_description carrier allocation_options automation_data original_address "
            "address_candidates instructions"
        ),
        listed=False,
    ),
    Kind("OrderAddress", _ADDRESS, offered=("all", *_ADDRESS)),
    Kind(
        "OrderItem",
        names(
            "sku order_item_ref product qty_ordered qty_assigned qty_allocated qty_backordered qty_processing "
            "qty_picked qty_shipped qty_cancel_requested qty_canceled row_weight"
        ),
        listed=False,
    ),
    Kind(
        "OrderStatusHistory",
        names("status comment notify_merchant requester script_id created_at"),
        offered=names("all status comment notify_merchant user script_id created_at"),
        renamed={"user": ("requester",)},
    ),
    Kind(
        "OrderAddressCandidate",
        names("street city region_code postal_code country_code classification"),
        names("address_id"),
        names("all address_id street city region_code postal_code country_code classification"),
    ),
    Kind(
        "OrderInstruction",
        names("note file_name presentation print_target print_orientation copies_printed"),
        names("order_id"),
    ),
    Kind("ThirdPartyBillingGroup", names("label status"), offered=names("all label status")),
    Kind("Warehouse", names("name abbreviation is_active"), offered=names("basic all id name is_active abbreviation")),
    Kind(
        "Retailer",
        names("code name status fulfillment_model"),
        names(
            "parent_retailer legal_name dba default_duties_payor default_shipping_method allowed_shipping_methods "
            "routing_guide_notes custom_fields created_at updated_at"
        ),
    ),
    Kind(
        "RetailerShipToLocation",
        names(
            "code qualifier label location_type company street city region_id region postcode country_id telephone "
            "email is_default status retailer created_at updated_at"
        ),
    ),
    Kind("Product", _PRODUCT_BASIC, names("created_at updated_at"), names("all created_at updated_at"), always=True),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}

PRODUCT_KINDS = (
    "Product",
    "PackagingContainer",
    "PackagingSupplies",
    "PackagingDataCollection",
    "PackagingInstruction",
    "PackagingInfill",
)

PATHS: dict[str, str] = {
    "warehouse": "Warehouse",
    "items": "ShipmentItem",
    "items.product": "Product",
    "packages": "ShipmentPackage",
    "packages.items": "ShipmentPackageItem",
    "packages.packaging.product": "Product",
    "packages.container": "Product",
    "packages.infill": "Product",
    "packages.gallery": "Gallery",
    "packages.gallery.items": "GalleryItem",
    "packing_solution": "ShipmentPackingSolution",
    "gallery": "Gallery",
    "gallery.items": "GalleryItem",
    "retailer": "Retailer",
    "retailer.parent_retailer": "Retailer",
    "retailer_ship_to_location": "RetailerShipToLocation",
    "retailer_ship_to_location.retailer": "Retailer",
    "mark_for_location": "RetailerShipToLocation",
    "mark_for_location.retailer": "Retailer",
    "order": "Order",
    "order.items": "OrderItem",
    "order.items.product": "Product",
    "order.brand": "Brand",
    "order.merchant": "Merchant",
    "order.merchant.brands": "Brand",
    "order.merchant.default_brand": "Brand",
    "order.shipping_address": "OrderAddress",
    "order.original_address": "OrderAddress",
    "order.address_candidates": "OrderAddressCandidate",
    "order.status_history": "OrderStatusHistory",
    "order.instructions": "OrderInstruction",
    "order.tpb_group": "ThirdPartyBillingGroup",
    "order.retailer": "Retailer",
    "order.retailer.parent_retailer": "Retailer",
    "order.retailer_ship_to_location": "RetailerShipToLocation",
    "order.retailer_ship_to_location.retailer": "Retailer",
    "order.mark_for_location": "RetailerShipToLocation",
    "order.mark_for_location.retailer": "Retailer",
}
"""The path of each reference, starting at the shipment, and the kind it points to."""

CONDITIONAL = ("shipping_address", "original_address", "address_candidates", "status_history", "instructions")
"""Fields of an Order that are absent unless their own path is selected."""

INCLUDED_ORDER = names(
    "ShipmentItem ShipmentPackingSolution Gallery GalleryItem Order OrderItem OrderAddress "
    "OrderAddressCandidate OrderStatusHistory OrderInstruction ThirdPartyBillingGroup Brand Merchant "
    "Retailer RetailerShipToLocation Warehouse Product PackagingContainer PackagingSupplies "
    "PackagingDataCollection PackagingInstruction PackagingInfill"
)
"""The order of the kinds inside `included`."""
