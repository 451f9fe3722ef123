"""Bodies of creates (2.1 to 2.3): the least that is taken, everything that may be sent, and every option."""

from typing import Any

from wms_sandbox.app import LOCATION_TAGS, PRODUCTS, RETAILERS

Body = dict[str, Any]

MISSING = object()
MOMENT = {"created_at": "2025-06-01T00:00:00Z", "updated_at": "2025-06-01T00:00:00Z"}
MERCHANT, WAREHOUSE = {"type": "Merchant", "id": 11}, {"type": "Warehouse", "id": 1}
PARENT = {"type": "Retailer", "id": 101}
MONEY = {"amount": 1.25, "currency": "USD"}
WITH_UNIT, WITHOUT_UNIT = {"value": 2.5, "unit": "lb"}, {"value": 2.5}
LOWEST, HIGHEST = -2_147_483_648, 2_147_483_647
ALWAYS = ["type", "id", "name", "description", "color", "sort_order", "is_deleted"]
LEAST: dict[str, Body] = {
    LOCATION_TAGS: {"name": "Cold", "color": "blue3"},
    RETAILERS: {"code": "ACME", "name": "Acme Stores"},
    PRODUCTS: {"type": "Product", "sku": "SKU-1", "name": "Thing"},
}
"""A body that is taken, by endpoint. That of a product is wrapped in ``resource``."""

WHOLE_PRODUCT: dict[str, Any] = {
    "type": "Product",
    "sku": "SKU-1",
    "name": "Mug",
    "is_enabled": True,
    "vendor_sku": "V1",
    "manufacturer_part_number": "M1",
    "external_id": "E1",
    "barcodes": ["0012345678905"],
    "is_available": True,
    "is_visible": False,
    "goods_type": "NORMAL",
    "lot_type": {"type": "LotType", "id": 1},
    "weight": {"value": 1.5},
    "dimensions": {"length": 4, "width": 3.5, "height": 2},
    "volume": {"value": 28},
    "inventory": {"backorders": True, "dynamic_allocation": False, "virtual_inventory": "optimistic"},
    "export": {
        "description": "A mug",
        "customs_value": MONEY,
        "country_of_manufacture": "PT",
        "hs_base_code": "691110",
        "hs_country_extension": [{"country_id": "US", "extension": "0010"}],
    },
    "regulated_goods": {
        "regulation": {"type": "Regulation", "id": 90},
        "technical_name": "Lithium",
        "additional_information": "",
        "net_weight": {"value": 0.1},
        "container_type": "box",
        "container_meets_hazmat_specs": True,
        "regulation_units": 2,
    },
    "packaging": {
        "require_packaging": True,
        "require_weight_check": True,
        "require_confirmation_per_item": True,
        "unit_quantity": 1,
        "bulk_quantity": 12,
        "max_per_package": 6,
        "is_ship_separately": True,
        "ship_separately_tag": "glass",
        "can_tip": True,
        "can_contain_other_items": True,
        "is_handling_surcharge": True,
    },
    "custom_fields": [{"code": "color", "value": {"type": "x", "id": 5}, "label": "Red"}, {"code": "n", "value": None}],
    "merchant": MERCHANT,
}

OPTION_VALUES: dict[str, Any] = {
    "associated_products": [{"type": "Product", "id": 2_147_483_000}],
    "allow_for_brands": [MERCHANT],
    "disallow_for_brands": [],
    "allow_for_warehouses": [WAREHOUSE],
    "allow_for_shipping_methods": ["ups_GROUND"],
    "billing_amount": MONEY,
    "barcodes": "0012345678905",
    "weight": {"value": 1},
    "volume": {"value": 1},
    "dimensions": {"length": 1, "width": 1, "height": 1},
    "infill_priority": 3,
    **dict.fromkeys(("weight_capacity", "apply_only_above_weight", "infill_horizontal", "infill_vertical"), WITH_UNIT),
    "use_for_bin_packing": "yes",
    "container_style": "rigid_box",
    "require_packaging_type": "overbox",
    "one_per": "order",
    "require_scan_timing": "after_product_scan|on_full",
    "apply_to_goods_type": "any",
    "never_apply_to_goods_type": "any",
    "apply_to_region": "US-CA",
    "collect_data_pattern": "^[0-9]+$",
}
"""Those that are not here are flags."""

WRONG_IN_AN_OPTION: list[tuple[str, Any, str]] = [
    # option of a container, a wrong value, the place in it that is named
    ("associated_products", [MERCHANT], "0.type"),
    ("allow_for_brands", [{"type": "Brand", "id": 2000}], "0.type"),
    ("allow_for_warehouses", [1], "0"),
    ("weight_capacity", WITHOUT_UNIT, "unit"),
    ("volume", {}, "value"),
    ("dimensions", {"length": 1, "width": 1}, "height"),
]

WHOLE_RETAILER: dict[str, Any] = {
    "type": "Retailer",
    "code": "WHOLE",
    "name": "Whole & Sons",
    "status": "active",
    "fulfillment_model": "mixed",
    "parent_retailer": PARENT,
    "legal_name": "Whole Holdings, LLC",
    "dba": "Whole",
    "default_duties_payor": "third_party",
    "default_shipping_method": "ups_GROUND",
    "allowed_shipping_methods": ["ups_GROUND", "fedex_2DAY"],
    "routing_guide_notes": "Ring the bell.\nTwice.",
    "custom_fields": {
        "is_vip": {"value": True},
        "limit": {"value": 40},
        "note": {"value": "x"},
        "tier": {"id": 1, "label": "Gold"},
        "days": [{"id": 1, "label": "Mon"}, {"id": "2", "label": "Tue"}],
        "none": [],
        "deposit": {"amount": 12.5, "currency": "USD"},
    },
}
