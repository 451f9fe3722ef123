"""The allowed bodies of creates (specification 2.1 to 2.3, 4.1 to 4.3, 8), as JSON Schema 2020-12.

Read-only fields (ids, times, `is_deleted`) are not properties of a body and are refused like unknown ones. Choices for
gaps in the specification are constants here: the required fields of retailers and products, and that both refuse
unknown properties like location tags.
"""

from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.options import OPTIONS
from wms_sandbox.shapes import (
    COUNTRY,
    CUSTOM_FIELDS,
    DIMENSIONS,
    FLAG,
    INTEGER,
    MEASURE,
    MEASURE_WITH_UNIT,
    MONEY,
    PRODUCT_CUSTOM_FIELDS,
    PRODUCT_REFERENCE,
    TEXT,
    Schema,
    closed,
    listing,
    one_of,
    reference_to,
    text,
    whole,
)

RETAILER_REQUIRED = ("code", "name")
PRODUCT_REQUIRED = ("type", "sku", "name")

FAMILIES = ("black", "blue", "brown", "gray", "green", "orange", "purple", "red", "yellow")
PALETTE = tuple(f"{family}{shade}" for family in FAMILIES for shade in range(1, 6))

_LOCATION_TAG = closed(
    {
        "name": text(230, least=1),
        "description": {"type": ["string", "null"], "maxLength": 255},
        "color": one_of(*PALETTE),
        "sort_order": INTEGER | {"minimum": -2_147_483_648, "maximum": 2_147_483_647},
    },
    required=("name", "color"),
)

_RETAILER = closed(
    {
        "type": one_of("Retailer"),
        "code": text(64, least=1),
        "name": text(255, least=1),
        "status": one_of("active", "archived"),
        "fulfillment_model": one_of("wholesale", "drop_ship", "mixed"),
        "parent_retailer": reference_to("Retailer"),
        "legal_name": text(255),
        "dba": text(255),
        "default_duties_payor": one_of("shipper", "recipient", "third_party"),
        "default_shipping_method": text(255) | {"pattern": "^[^_]+_[A-Z0-9]"},
        "allowed_shipping_methods": listing(TEXT),
        "routing_guide_notes": text(65_535),
        "custom_fields": CUSTOM_FIELDS,
    },
    required=RETAILER_REQUIRED,
)

_SOME_TEXT = TEXT | {"minLength": 1}
_NAMED: dict[str, Schema] = {"sku": _SOME_TEXT, "name": _SOME_TEXT, "is_enabled": FLAG}
_OWNED: dict[str, Schema] = {"merchant": reference_to("Merchant")}

_SOLD: dict[str, Schema] = {
    "vendor_sku": TEXT,
    "manufacturer_part_number": TEXT,
    "external_id": TEXT,
    "barcodes": listing(TEXT),
    "is_available": FLAG,
    "is_visible": FLAG,
    "goods_type": TEXT,
    "lot_type": reference_to("LotType"),
    "weight": MEASURE,
    "dimensions": DIMENSIONS,
    "volume": MEASURE,
    "inventory": closed({"backorders": FLAG, "dynamic_allocation": FLAG, "virtual_inventory": TEXT}),
    "export": closed(
        {
            "description": TEXT,
            "customs_value": MONEY,
            "country_of_manufacture": COUNTRY,
            "hs_base_code": TEXT,
            "hs_country_extension": listing(whole({"country_id": TEXT, "extension": TEXT})),
        }
    ),
    "regulated_goods": closed(
        {
            "regulation": reference_to("Regulation"),
            "technical_name": TEXT,
            "additional_information": TEXT,
            "net_weight": MEASURE,
            "container_type": TEXT,
            "container_meets_hazmat_specs": FLAG,
            "regulation_units": INTEGER,
        }
    ),
    "packaging": closed(
        {
            "require_packaging": FLAG,
            "require_weight_check": FLAG,
            "require_confirmation_per_item": FLAG,
            "unit_quantity": INTEGER,
            "bulk_quantity": INTEGER,
            "max_per_package": INTEGER,
            "is_ship_separately": FLAG,
            "ship_separately_tag": TEXT,
            "can_tip": FLAG,
            "can_contain_other_items": FLAG,
            "is_handling_surcharge": FLAG,
        }
    ),
    "custom_fields": PRODUCT_CUSTOM_FIELDS,
}

_WORDS_OR_FLAG: Schema = {"type": ["boolean", "string"]}
"""Options whose shape the specification does not show."""

_OPTION_SHAPES: dict[str, Schema] = {
    "associated_products": listing(PRODUCT_REFERENCE),
    "allow_for_brands": listing(reference_to("Merchant")),
    "disallow_for_brands": listing(reference_to("Merchant")),
    "allow_for_warehouses": listing(reference_to("Warehouse")),
    "allow_for_shipping_methods": listing(TEXT),
    "billing_amount": MONEY,
    "weight": MEASURE,
    "volume": MEASURE,
    "dimensions": DIMENSIONS,
    "barcodes": TEXT,
    "infill_priority": INTEGER,
    **dict.fromkeys(
        ("weight_capacity", "apply_only_above_weight", "infill_horizontal", "infill_vertical"), MEASURE_WITH_UNIT
    ),
    **dict.fromkeys(
        (
            "use_for_bin_packing",
            "container_style",
            "require_packaging_type",
            "one_per",
            "require_scan_timing",
            "apply_to_goods_type",
            "never_apply_to_goods_type",
            "apply_to_region",
            "collect_data_pattern",
        ),
        TEXT,
    ),
}


def _product(kind: str) -> Schema:
    properties = {"type": one_of(kind), **_NAMED, **(_SOLD if kind == "Product" else _options(kind)), **_OWNED}
    return closed(properties, required=PRODUCT_REQUIRED)


def _options(kind: str) -> dict[str, Schema]:
    name, fields = OPTIONS[kind]
    return {name: closed({field: _OPTION_SHAPES.get(field, _WORDS_OR_FLAG) for field in fields})}


def _if_type(kind: str, then: Schema) -> Schema:
    return {"if": {"properties": {"type": {"const": kind}}, "required": ["type"]}, "then": then}


_RESOURCE: Schema = {
    "type": "object",
    "properties": {"type": one_of(*PRODUCT_KINDS)},
    "required": ["type"],
    "allOf": [_if_type(kind, _product(kind)) for kind in PRODUCT_KINDS],
}

DEFINITIONS = {"LocationTag": _LOCATION_TAG, "Retailer": _RETAILER, "Product": whole({"resource": _RESOURCE})}
"""The body of each create, by what it creates."""
