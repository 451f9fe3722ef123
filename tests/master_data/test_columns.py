import pytest

from wms_sync.master_data.kind import columns_of, nearest
from wms_sync.master_data.kinds import LOCATION_TAGS, PRODUCTS, RETAILERS

OPTIONS = {
    "PackagingContainer": (
        "container_options",
        "barcodes weight dimensions volume manage_stock associated_products allow_for_brands disallow_for_brands "
        "billing_amount allow_for_warehouses allow_for_shipping_methods satisfies_overbox use_for_bin_packing "
        "weight_capacity container_style packaging_handling_surcharge",
    ),
    "PackagingSupplies": (
        "supplies_options",
        "barcodes weight manage_stock associated_products allow_for_brands disallow_for_brands billing_amount "
        "allow_for_warehouses allow_for_shipping_methods packaging_handling_surcharge apply_to_goods_type "
        "never_apply_to_goods_type apply_only_above_weight one_per require_scan_timing disable_confirm_button "
        "require_packaging_type apply_to_region apply_unless_container_meets_hazmat apply_to_multi_sku_package",
    ),
    "PackagingDataCollection": (
        "data_collection_options",
        "associated_products allow_for_brands disallow_for_brands billing_amount allow_for_shipping_methods "
        "apply_to_goods_type never_apply_to_goods_type apply_only_above_weight one_per require_scan_timing "
        "disable_confirm_button require_packaging_type apply_unless_container_meets_hazmat apply_to_multi_sku_package "
        "collect_data_pattern apply_to_region is_collected_data_unique",
    ),
    "PackagingInstruction": (
        "instruction_options",
        "barcodes associated_products allow_for_brands disallow_for_brands billing_amount allow_for_shipping_methods "
        "apply_to_goods_type never_apply_to_goods_type apply_only_above_weight one_per require_scan_timing "
        "disable_confirm_button require_packaging_type apply_to_region apply_unless_container_meets_hazmat "
        "apply_to_multi_sku_package",
    ),
    "PackagingInfill": (
        "infill_options",
        "barcodes weight manage_stock associated_products allow_for_brands disallow_for_brands billing_amount "
        "disable_confirm_button apply_unless_container_meets_hazmat is_confirmation_required infill_horizontal "
        "infill_vertical infill_priority",
    ),
}
"""The table of the specification (2.3)."""
PRODUCT = (
    "type sku name is_enabled vendor_sku manufacturer_part_number external_id barcodes is_available is_visible "
    "merchant goods_type lot_type weight dimensions volume inventory export regulated_goods packaging custom_fields"
)


def fields(type_: str, depth: int = 0) -> set[str]:
    return {column.path[depth] for column in columns_of(PRODUCTS) if type_ in column.types and len(column.path) > depth}


@pytest.mark.parametrize(
    ("kind", "specified", "required"),
    [
        (LOCATION_TAGS, "name description color sort_order", "name color"),
        (
            RETAILERS,
            "type code name status fulfillment_model parent_retailer_code parent_retailer_id legal_name dba "
            "default_duties_payor default_shipping_method allowed_shipping_methods routing_guide_notes custom_fields "
            "custom_fields.<code>",
            "code name",
        ),
        (PRODUCTS, None, "sku name"),
    ],
)
def test_a_kind_has_the_specified_columns(kind, specified, required):
    columns = columns_of(kind)
    assert specified is None or [column.name for column in columns] == specified.split()
    assert [column.name for column in columns if column.required] == required.split()
    assert all(column.cell.type and column.cell.rule and column.types for column in columns), "each is explained"


def test_a_product_has_the_fields_of_the_specification():
    assert fields("Product") == {*PRODUCT.split()}
    for type_, (options, named) in OPTIONS.items():
        assert fields(type_) == {"type", "sku", "name", "is_enabled", "merchant", options}
        assert fields(type_, depth=1) == {*named.split()}, type_


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        (LOCATION_TAGS, "colour", "color"),
        (LOCATION_TAGS, "sortorder", "sort_order"),
        (RETAILERS, "parent_retailer", "parent_retailer_code"),
        (RETAILERS, "fulfilment_model", "fulfillment_model"),
        (PRODUCTS, "country_of_manufactur", "export.country_of_manufacture"),
        (PRODUCTS, "weight_capacity", "container_options.weight_capacity.value"),
        (PRODUCTS, "customs_value", "export.customs_value.amount"),
        (PRODUCTS, "lot_type", "lot_type_id"),
        (LOCATION_TAGS, "qqqq", None),
    ],
)
def test_the_name_that_was_probably_meant(kind, name, meant):
    assert nearest(kind, name) == meant
