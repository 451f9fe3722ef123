"""Products and packaging items (specification 2.3 and 4.3), which share one endpoint and differ by ``type``.

A reference by natural key has two fields here, and a row fills one of them: the key or the id (``allow_for_brands``,
``allow_for_brand_ids``). Fields that only the service sets (ids, times, units) are left out. The specification does not
show which fields are required; here the fields that identify an item are required.

The specification does not show the shape of some packaging options. Those that are flags by their names accept
booleans; other text is sent unchanged, with a warning.
"""

from __future__ import annotations

from typing import Annotated, Required

from pydantic import with_config
from typing_extensions import TypedDict

from wms_sync.master_data.fields import barcode, code, hs_code, listed, one_of, refers, refers_by_id
from wms_sync.master_data.json_columns import extensions, product_fields
from wms_sync.master_data.kind import (
    CLOSED,
    Country,
    Dimensions,
    Flag,
    FlagOrText,
    Integer,
    Kind,
    MerchantMethod,
    Money,
    Quantity,
    Text,
    Texts,
    Weight,
)

Code = Annotated[str, code()]
HsCode = Annotated[str, hs_code()]
Barcode = Annotated[str, barcode()]
Barcodes = Annotated[list[str], listed(barcode())]

ITEM_TYPES = (
    "Product",
    "PackagingContainer",
    "PackagingSupplies",
    "PackagingDataCollection",
    "PackagingInstruction",
    "PackagingInfill",
)

_SHOWN_ONLY = "Undocumented in requests; may be refused or ignored."


class Item(TypedDict, total=False):
    """The fields that products and packaging items share (2.3). A row without a type is a product."""

    type: Annotated[str, one_of(ITEM_TYPES, f"{', '.join(ITEM_TYPES)}, or empty for Product")]
    sku: Required[Code]
    name: Required[Text]
    is_enabled: Flag
    merchant: Annotated[
        tuple[str, ...],
        refers("Merchant", "merchant_code", by="code of a merchant", ids="merchant_id", doubt=_SHOWN_ONLY),
    ]
    merchant_id: Annotated[
        tuple[str, ...], refers_by_id("Merchant", "merchant_id", field="merchant", doubt=_SHOWN_ONLY)
    ]


class Inventory(TypedDict, total=False):
    """How stock of a product is handled."""

    backorders: Flag
    dynamic_allocation: Flag
    virtual_inventory: Text


class Export(TypedDict, total=False):
    """Data for customs."""

    description: Text
    customs_value: Money
    country_of_manufacture: Country
    hs_base_code: HsCode
    hs_country_extension: Annotated[list[dict[str, str]], extensions()]


class RegulatedGoods(TypedDict, total=False):
    """Data for carriers of dangerous goods."""

    regulation: Annotated[tuple[str, ...], refers_by_id("Regulation", "regulation_id")]
    technical_name: Text
    additional_information: Text
    net_weight: Weight
    container_type: Text
    container_meets_hazmat_specs: Flag
    regulation_units: Integer


class Packaging(TypedDict, total=False):
    """How a product is packed."""

    require_packaging: Flag
    require_weight_check: Flag
    require_confirmation_per_item: Flag
    unit_quantity: Integer
    bulk_quantity: Integer
    max_per_package: Integer
    is_ship_separately: Flag
    ship_separately_tag: Text
    can_tip: Flag
    can_contain_other_items: Flag
    is_handling_surcharge: Flag


@with_config(CLOSED)
class Product(Item, total=False):
    """A sellable item."""

    vendor_sku: Code
    manufacturer_part_number: Code
    external_id: Code
    barcodes: Barcodes
    is_available: Flag
    is_visible: Flag
    goods_type: Text
    lot_type: Annotated[tuple[str, ...], refers_by_id("LotType", "lot_type_id")]
    weight: Weight
    dimensions: Dimensions
    volume: Weight
    inventory: Inventory
    export: Export
    regulated_goods: RegulatedGoods
    packaging: Packaging
    custom_fields: Annotated[list[dict[str, object]], product_fields()]


class _Options(TypedDict, total=False):
    """Options of every packaging kind."""

    associated_products: Annotated[
        tuple[str, ...],
        refers("Product", "associated_product_skus", many=True, by="SKU of a product", ids="associated_product_ids"),
    ]
    associated_product_ids: Annotated[
        tuple[str, ...],
        refers_by_id("Product", "associated_product_ids", many=True, field="associated_products"),
    ]
    allow_for_brands: Annotated[
        tuple[str, ...],
        refers("Merchant", "allow_for_brand_codes", many=True, by="code of a merchant", ids="allow_for_brand_ids"),
    ]
    allow_for_brand_ids: Annotated[
        tuple[str, ...], refers_by_id("Merchant", "allow_for_brand_ids", many=True, field="allow_for_brands")
    ]
    disallow_for_brands: Annotated[
        tuple[str, ...],
        refers(
            "Merchant", "disallow_for_brand_codes", many=True, by="code of a merchant", ids="disallow_for_brand_ids"
        ),
    ]
    disallow_for_brand_ids: Annotated[
        tuple[str, ...], refers_by_id("Merchant", "disallow_for_brand_ids", many=True, field="disallow_for_brands")
    ]
    billing_amount: Money


class _Coded(TypedDict, total=False):
    barcodes: Barcode


class _Stocked(TypedDict, total=False):
    weight: Weight
    manage_stock: FlagOrText


class _Routed(TypedDict, total=False):
    allow_for_shipping_methods: Texts


class _Placed(TypedDict, total=False):
    allow_for_warehouses: Annotated[
        tuple[str, ...],
        refers(
            "Warehouse",
            "allow_for_warehouses",
            many=True,
            by="name or abbreviation of a warehouse",
            ids="allow_for_warehouse_ids",
        ),
    ]
    allow_for_warehouse_ids: Annotated[
        tuple[str, ...], refers_by_id("Warehouse", "allow_for_warehouse_ids", many=True, field="allow_for_warehouses")
    ]
    packaging_handling_surcharge: FlagOrText


class _Confirmed(TypedDict, total=False):
    disable_confirm_button: FlagOrText
    apply_unless_container_meets_hazmat: FlagOrText


class _Applied(_Options, _Routed, _Confirmed, total=False):
    """Options of items that rules add to a package. ``require_scan_timing`` is a single value, even with a ``|``."""

    apply_to_goods_type: Text
    never_apply_to_goods_type: Text
    apply_only_above_weight: Quantity
    one_per: Text
    require_scan_timing: Text
    require_packaging_type: Text
    apply_to_region: Text
    apply_to_multi_sku_package: FlagOrText


class ContainerOptions(_Options, _Coded, _Stocked, _Routed, _Placed, total=False):
    """Options of a PackagingContainer."""

    dimensions: Dimensions
    volume: Weight
    satisfies_overbox: FlagOrText
    use_for_bin_packing: Text
    weight_capacity: Quantity
    container_style: Text


class SuppliesOptions(_Applied, _Coded, _Stocked, _Placed, total=False):
    """Options of PackagingSupplies."""


class DataCollectionOptions(_Applied, total=False):
    """Options of a PackagingDataCollection."""

    collect_data_pattern: Text
    is_collected_data_unique: FlagOrText


class InstructionOptions(_Applied, _Coded, total=False):
    """Options of a PackagingInstruction."""


class InfillOptions(_Options, _Coded, _Stocked, _Confirmed, total=False):
    """Options of a PackagingInfill."""

    is_confirmation_required: FlagOrText
    infill_horizontal: Quantity
    infill_vertical: Quantity
    infill_priority: Integer


@with_config(CLOSED)
class PackagingContainer(Item, total=False):
    """A box or bag."""

    container_options: ContainerOptions


@with_config(CLOSED)
class PackagingSupplies(Item, total=False):
    """Supplies that a package uses up."""

    supplies_options: SuppliesOptions


@with_config(CLOSED)
class PackagingDataCollection(Item, total=False):
    """Data that is recorded about a package."""

    data_collection_options: DataCollectionOptions


@with_config(CLOSED)
class PackagingInstruction(Item, total=False):
    """An instruction for the packer."""

    instruction_options: InstructionOptions


@with_config(CLOSED)
class PackagingInfill(Item, total=False):
    """Material that fills a package."""

    infill_options: InfillOptions


@with_config(CLOSED)
class AnyItem(Product, total=False):
    """A row of an unknown type. Its other cells are checked anyway."""

    container_options: ContainerOptions
    supplies_options: SuppliesOptions
    data_collection_options: DataCollectionOptions
    instruction_options: InstructionOptions
    infill_options: InfillOptions


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
    is_unique=False,
    endpoint="/v1/inventory/products",
    wrapped_in="resource",
    bodies={
        "Product": Product,
        "PackagingContainer": PackagingContainer,
        "PackagingSupplies": PackagingSupplies,
        "PackagingDataCollection": PackagingDataCollection,
        "PackagingInstruction": PackagingInstruction,
        "PackagingInfill": PackagingInfill,
    },
    body_of_unknown_type=AnyItem,
    read_only=frozenset({"id", "created_at", "updated_at"}),
    not_sendable=dict.fromkeys(("weight.unit", "dimensions.unit", "volume.unit"), _NO_UNIT),
    aliases=_VENDOR_COLUMNS,
    not_carried=_NOT_CARRIED,
    query="shown/products.sql",
    merchant_method=MerchantMethod("product.search", "sku", ("product_id", "id"), types=("Packaging", "Product")),
)
