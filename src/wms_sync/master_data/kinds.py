"""The kinds of master data: retailers (specification 2.2 and 4.2), products, location tags (2.1 and 4.1).

The specification does not say which fields of a retailer are required; here the fields that identify a retailer are
required. Commands and reports show the kinds in the order of ``KINDS``. The name of a file in the folder of master data
begins with its kind and ends with ``.csv``, in any case: ``retailers.csv``, ``Products 2026-03.csv``,
``location_tags-new.csv``. The same is true of a file of rejected rows, so it can be put into the folder unchanged.
Subfolders are not read.

Products and packaging items (2.3 and 4.3) share one endpoint and differ by ``type``.
Fields that only the service sets (ids, times, units) are left out. The specification does not show which fields are
required; here the fields that identify an item are required.

The specification does not show the shape of some packaging options. Those that are flags by their names accept
booleans; other text is sent unchanged, with a warning.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from wms_sync.errors import SettingsError
from wms_sync.json_values import INT64
from wms_sync.master_data.fields import (
    FAMILIES,
    INT32,
    PALETTE,
    barcode,
    extensions,
    flag,
    flag_or_text,
    letters,
    listed,
    one_of,
    refers,
    refers_by_id,
    shipping_method,
    tag_name,
    text,
    whole,
    without_html,
)
from wms_sync.master_data.json_columns import product_fields, retailer_fields
from wms_sync.master_data.kind import DIMENSIONS, MONEY, QUANTITY, WEIGHT, Fields, Kind, MerchantMethod
from wms_sync.master_data.suspicions import CODE, HS_CODE, METHODS, NAME
from wms_sync.settings import Settings

_TYPES = (
    "Product",
    "PackagingContainer",
    "PackagingSupplies",
    "PackagingDataCollection",
    "PackagingInstruction",
    "PackagingInfill",
)

_ITEM: Fields = {
    "type": one_of(_TYPES, f"{', '.join(_TYPES)}, or empty for Product"),
    "sku": text(holds=CODE),
    "name": text(holds=NAME),
    "is_enabled": flag(),
    **refers(
        "merchant",
        "Merchant",
        key="merchant_code",
        ids="merchant_id",
        by="code of a merchant",
        doubt="Undocumented in requests; may be refused or ignored.",
    ),
}
"""The fields that products and packaging items share. A row without a type is a product."""

_PRODUCT: Fields = {
    **_ITEM,
    "vendor_sku": text(holds=CODE),
    "manufacturer_part_number": text(holds=CODE),
    "external_id": text(holds=CODE),
    "barcodes": listed(barcode()),
    "is_available": flag(),
    "is_visible": flag(),
    "goods_type": text(),
    "lot_type_id": refers_by_id("lot_type", "LotType"),
    "weight": WEIGHT,
    "dimensions": DIMENSIONS,
    "volume": WEIGHT,
    "inventory": {
        "backorders": flag(),
        "dynamic_allocation": flag(),
        "virtual_inventory": text(),
    },
    "export": {
        "description": text(),
        "customs_value": MONEY,
        "country_of_manufacture": letters(2, "US", "country code"),
        "hs_base_code": text(holds=HS_CODE),
        "hs_country_extension": extensions(),
    },
    "regulated_goods": {
        "regulation_id": refers_by_id("regulation", "Regulation"),
        "technical_name": text(),
        "additional_information": text(),
        "net_weight": WEIGHT,
        "container_type": text(),
        "container_meets_hazmat_specs": flag(),
        "regulation_units": whole(INT64),
    },
    "packaging": {
        "require_packaging": flag(),
        "require_weight_check": flag(),
        "require_confirmation_per_item": flag(),
        "unit_quantity": whole(INT64),
        "bulk_quantity": whole(INT64),
        "max_per_package": whole(INT64),
        "is_ship_separately": flag(),
        "ship_separately_tag": text(),
        "can_tip": flag(),
        "can_contain_other_items": flag(),
        "is_handling_surcharge": flag(),
    },
    "custom_fields": product_fields(),
}

_OPTIONS: Fields = {
    **refers(
        "associated_products",
        "Product",
        key="associated_product_skus",
        ids="associated_product_ids",
        by="SKU of a product",
        many=True,
    ),
    **refers(
        "allow_for_brands",
        "Merchant",
        key="allow_for_brand_codes",
        ids="allow_for_brand_ids",
        by="code of a merchant",
        many=True,
    ),
    **refers(
        "disallow_for_brands",
        "Merchant",
        key="disallow_for_brand_codes",
        ids="disallow_for_brand_ids",
        by="code of a merchant",
        many=True,
    ),
    "billing_amount": MONEY,
}
"""Options of every packaging kind."""

_CODED: Fields = {"barcodes": barcode()}
_STOCKED: Fields = {"weight": WEIGHT, "manage_stock": flag_or_text()}
_ROUTED: Fields = {"allow_for_shipping_methods": listed(text(holds=METHODS))}
_PLACED: Fields = {
    **refers(
        "allow_for_warehouses",
        "Warehouse",
        key="allow_for_warehouses",
        ids="allow_for_warehouse_ids",
        by="name or abbreviation of a warehouse",
        many=True,
    ),
    "packaging_handling_surcharge": flag_or_text(),
}
_CONFIRMED: Fields = {
    "disable_confirm_button": flag_or_text(),
    "apply_unless_container_meets_hazmat": flag_or_text(),
}
_APPLIED: Fields = {
    **_OPTIONS,
    **_ROUTED,
    **_CONFIRMED,
    "apply_to_goods_type": text(),
    "never_apply_to_goods_type": text(),
    "apply_only_above_weight": QUANTITY,
    "one_per": text(),
    "require_scan_timing": text(),
    "require_packaging_type": text(),
    "apply_to_region": text(),
    "apply_to_multi_sku_package": flag_or_text(),
}
"""Options of items that rules add to a package. ``require_scan_timing`` is a single value, even with a ``|``."""

_CONTAINER: Fields = {
    **_OPTIONS,
    **_CODED,
    **_STOCKED,
    **_ROUTED,
    **_PLACED,
    "dimensions": DIMENSIONS,
    "volume": WEIGHT,
    "satisfies_overbox": flag_or_text(),
    "use_for_bin_packing": text(),
    "weight_capacity": QUANTITY,
    "container_style": text(),
}
_DATA_COLLECTION: Fields = {**_APPLIED, "collect_data_pattern": text(), "is_collected_data_unique": flag_or_text()}
_INFILL: Fields = {
    **_OPTIONS,
    **_CODED,
    **_STOCKED,
    **_CONFIRMED,
    "is_confirmation_required": flag_or_text(),
    "infill_horizontal": QUANTITY,
    "infill_vertical": QUANTITY,
    "infill_priority": whole(INT64),
}

_NO_UNIT = (
    "Cannot be sent: a create has no units, and the service uses its own, which its answers show (lb, in, in^3). "
    "Convert the values if needed, and remove the column."
)

_VENDOR_COLUMNS = {
    "barcode": "barcodes",
    "weight": "weight.value",
    "length": "dimensions.length",
    "width": "dimensions.width",
    "height": "dimensions.height",
    "country_of_manufacture": "export.country_of_manufacture",
    "hts_base_code": "export.hs_base_code",
    "hts_country_code": "export.hs_country_extension",
    "requires_packaging": "packaging.require_packaging",
    "can_contain_other_items": "packaging.can_contain_other_items",
    "unit_qty": "packaging.unit_quantity",
}
"""Our names for those of the vendor's columns that differ; ``sku``, ``name`` and ``goods_type`` are the same."""

_NOT_CARRIED = (
    "allowed_container_styles",
    "valid_containers",
    "disallowed_containers",
    "special_supplies",
    "special_other",
)
"""The vendor's columns that have no field in the create endpoint."""

PRODUCTS = Kind(
    name="products",
    type="Product",
    key="sku",
    required=frozenset({"sku", "name"}),
    is_unique=False,
    endpoint="/v1/inventory/products",
    wrapped_in="resource",
    lists_custom_fields=True,
    bodies={
        "Product": _PRODUCT,
        "PackagingContainer": {**_ITEM, "container_options": _CONTAINER},
        "PackagingSupplies": {**_ITEM, "supplies_options": {**_APPLIED, **_CODED, **_STOCKED, **_PLACED}},
        "PackagingDataCollection": {**_ITEM, "data_collection_options": _DATA_COLLECTION},
        "PackagingInstruction": {**_ITEM, "instruction_options": {**_APPLIED, **_CODED}},
        "PackagingInfill": {**_ITEM, "infill_options": _INFILL},
    },
    read_only=frozenset({"id", "created_at", "updated_at"}),
    not_sendable=dict.fromkeys(("weight.unit", "dimensions.unit", "volume.unit"), _NO_UNIT),
    aliases=_VENDOR_COLUMNS,
    not_carried=_NOT_CARRIED,
    query="objects/products.sql",
    merchant_method=MerchantMethod("product.search", "sku", ("product_id", "id"), types=("Packaging", "Product")),
)
_RETAILER: Fields = {
    "type": one_of(("Retailer",)),
    "code": text(64, CODE),
    "name": text(255, NAME),
    "status": one_of(("active", "archived")),
    "fulfillment_model": one_of(("wholesale", "drop_ship", "mixed")),
    **refers(
        "parent_retailer",
        "Retailer",
        key="parent_retailer_code",
        ids="parent_retailer_id",
        by="code of a retailer that is not archived",
    ),
    "legal_name": text(255, NAME),
    "dba": text(255, NAME),
    "default_duties_payor": one_of(("shipper", "recipient", "third_party")),
    "default_shipping_method": shipping_method(255),
    "allowed_shipping_methods": listed(text(holds=METHODS)),
    "routing_guide_notes": text(65535),
    "custom_fields": retailer_fields(),
}
"""The fields of a retailer (sections 2.2 and 4.2)."""

RETAILERS = Kind(
    name="retailers",
    type="Retailer",
    key="code",
    required=frozenset({"code", "name"}),
    is_unique=True,
    endpoint="/v1/shipping/retailers",
    bodies={"Retailer": _RETAILER},
    read_only=frozenset({"id", "created_at", "updated_at"}),
    inactive="archived",
    query="objects/retailers.sql",
    merchant_method=MerchantMethod("retailer.list", "code", ("retailer_id", "id")),
)

_LOCATION_TAG: Fields = {
    "name": tag_name(230),
    "description": text(255),
    "color": one_of(PALETTE, f"{', '.join(FAMILIES)}, each with a shade from 1 to 5, such as black1"),
    "sort_order": whole(INT32),
}
"""The fields of a location tag (section 4.1)."""

LOCATION_TAGS = Kind(
    name="location-tags",
    type="LocationTag",
    key="name",
    required=frozenset({"name", "color"}),
    is_unique=True,
    endpoint="/v1/inventory/location-tags",
    bodies={"LocationTag": _LOCATION_TAG},
    read_only=frozenset({"id", "type", "is_deleted", "created_at", "updated_at"}),
    as_stored=without_html,
)

KINDS = (LOCATION_TAGS, RETAILERS, PRODUCTS)
NAMES = tuple(kind.name for kind in KINDS)
IN_SHIPMENTS = tuple(kind.name for kind in KINDS if kind.query is not None)
"""The names of the kinds that shipments refer to."""
SETTLE_SECONDS = 10.0
"""A file that was modified within this many seconds may still be incomplete."""
UPLOAD_SECONDS = 600.0
"""The same for a file whose last line has no line break: its upload may have paused."""
SAMPLES = Path(__file__).with_name("samples")
"""A folder with one sample file per kind. Each has every column; references are to objects of the sandbox."""
_BY_NAME = {kind.name: kind for kind in KINDS}


def kind_named(name: str) -> Kind:
    """Return the kind with this name, as in commands and the ledger. Raise ``KeyError`` if there is none."""
    return _BY_NAME[name]


def folder_of(settings: Settings) -> Path:
    """Return the folder of master data. Raise ``SettingsError`` if it is not set or is not a folder."""
    folder = settings.master_data_dir
    if folder is None:
        raise SettingsError(
            "WMS_MASTER_DATA_DIR is not set, so there are no files to read. Set it to the folder of your CSV files, "
            "or push one file with `wms-sync push`."
        )
    if not folder.is_dir():
        raise SettingsError(
            f"WMS_MASTER_DATA_DIR is {folder}, which is not a folder. Create it, or correct the setting."
        )
    return folder


def files_of(folder: Path, kind: Kind | None) -> tuple[Path, ...]:
    """Return the files of this kind, or those of no kind, in the order of pushing, which is by name."""
    try:
        return tuple(sorted(path for path in folder.iterdir() if kind_of(path) is kind and path.is_file()))
    except OSError as error:
        raise SettingsError(
            f"WMS_MASTER_DATA_DIR is {folder}, which cannot be read ({error.strerror}). Check its permissions."
        ) from None


def kind_of(path: Path) -> Kind | None:
    """Return the kind of a file whose name begins with it and ends with ``.csv``; otherwise None."""
    name = path.name.casefold().replace("_", "-")
    named = [kind for kind in KINDS if name.startswith(kind.name) and name.endswith(".csv")]
    return max(named, key=lambda kind: len(kind.name), default=None)


def is_arriving(path: Path) -> bool:
    """Return whether the upload of a file may not have ended."""
    age = time.time() - path.stat().st_mtime
    return 0 <= age < SETTLE_SECONDS or (0 <= age < UPLOAD_SECONDS and not _ends_with_a_line(path))


def _ends_with_a_line(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 2, 0))
            return bool(set(file.read()) & set(b"\r\n"))  # two bytes, for UTF-16
    except OSError:
        return True  # the run says why the file cannot be read
