"""The request bodies of the three creates, as the specification has them (2.1 to 2.3, 4.1 to 4.3).

Each field is annotated with the rule of its cell (``rules``). Fields are optional unless ``Required``; a group such as
``Money`` is complete or absent. A reference is two fields here, of which a row fills one: the natural key and the id
(``allow_for_brands``, ``allow_for_brand_ids``). What the service alone sets (ids, times, units of products) is not
here. Which fields of a retailer or a product are required is not shown; asked for is what no record can be told apart
without.

Flags among the packaging options whose shape is not shown are taken as booleans by their names; another text is sent as
it is, with a warning. What no column can say is said in the column ``resource_json``.
"""

from __future__ import annotations

from typing import Annotated, Required

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from wms_sync.master_data.fields.custom_fields import product_fields, retailer_fields
from wms_sync.master_data.fields.rules import (
    FAMILIES,
    INT32,
    INT64,
    PALETTE,
    barcode,
    code,
    extensions,
    flag,
    flag_or_text,
    hs_code,
    letters,
    listed,
    measure,
    number,
    one_of,
    refers,
    refers_by_id,
    shipping_method,
    tag_name,
    text,
    whole,
)

Text = Annotated[str, text()]
Text255 = Annotated[str, text(255)]
Code = Annotated[str, code()]
HsCode = Annotated[str, hs_code()]
Barcode = Annotated[str, barcode()]
Barcodes = Annotated[list[str], listed(barcode())]
Texts = Annotated[list[str], listed(text())]
Flag = Annotated[bool, flag()]
FlagOrText = Annotated[bool | str, flag_or_text()]
Integer = Annotated[int, whole(INT64)]
Number = Annotated[float, number()]
Measure = Annotated[float, measure()]
Currency = Annotated[str, letters(3, "USD", "currency code")]
Country = Annotated[str, letters(2, "US", "country code")]

ITEM_TYPES = (
    "Product",
    "PackagingContainer",
    "PackagingSupplies",
    "PackagingDataCollection",
    "PackagingInstruction",
    "PackagingInfill",
)

_SHOWN_ONLY = "The specification shows a product's merchant in answers only; the service may refuse or ignore it."

_CLOSED = ConfigDict(extra="forbid")


class Money(TypedDict):
    """``{amount, currency}``."""

    amount: Number
    currency: Currency


class Weight(TypedDict):
    """A weight or volume as a request has it: without its unit."""

    value: Measure


class Quantity(TypedDict):
    """A measure with its unit, among the packaging options."""

    value: Measure
    unit: Text


class Dimensions(TypedDict):
    """Three lengths as a request has them: without their unit."""

    length: Measure
    width: Measure
    height: Measure


@with_config(_CLOSED)
class LocationTag(TypedDict, total=False):
    """Section 4.1."""

    name: Required[Annotated[str, tag_name(230)]]
    description: Text255
    color: Required[
        Annotated[str, one_of(PALETTE, f"{', '.join(FAMILIES)}, each with a shade from 1 to 5, such as black1")]
    ]
    sort_order: Annotated[int, whole(INT32)]


@with_config(_CLOSED)
class Retailer(TypedDict, total=False):
    """Sections 2.2 and 4.2."""

    type: Annotated[str, one_of(("Retailer",))]
    code: Required[Annotated[str, code(64)]]
    name: Required[Text255]
    status: Annotated[str, one_of(("active", "archived"))]
    fulfillment_model: Annotated[str, one_of(("wholesale", "drop_ship", "mixed"))]
    parent_retailer: Annotated[
        tuple[str, ...],
        refers(
            "Retailer",
            "parent_retailer_code",
            by="code of a retailer that is not archived",
            ids="parent_retailer_id",
        ),
    ]
    parent_retailer_id: Annotated[
        tuple[str, ...], refers_by_id("Retailer", "parent_retailer_id", field="parent_retailer")
    ]
    legal_name: Text255
    dba: Text255
    default_duties_payor: Annotated[str, one_of(("shipper", "recipient", "third_party"))]
    default_shipping_method: Annotated[str, shipping_method(255)]
    allowed_shipping_methods: Texts
    routing_guide_notes: Annotated[str, text(65535)]
    custom_fields: Annotated[dict[str, object], retailer_fields()]


class Item(TypedDict, total=False):
    """What products and packaging items share (2.3); without a type it is a product."""

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
    """What customs ask for."""

    description: Text
    customs_value: Money
    country_of_manufacture: Country
    hs_base_code: HsCode
    hs_country_extension: Annotated[list[dict[str, str]], extensions()]


class RegulatedGoods(TypedDict, total=False):
    """What carriers ask for of dangerous goods."""

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


@with_config(_CLOSED)
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
    """Options of what is added to a package by rule; ``require_scan_timing`` may hold a ``|`` and is one text."""

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


@with_config(_CLOSED)
class PackagingContainer(Item, total=False):
    """A box or bag."""

    container_options: ContainerOptions


@with_config(_CLOSED)
class PackagingSupplies(Item, total=False):
    """Something that is used up for a package."""

    supplies_options: SuppliesOptions


@with_config(_CLOSED)
class PackagingDataCollection(Item, total=False):
    """Something that is noted of a package."""

    data_collection_options: DataCollectionOptions


@with_config(_CLOSED)
class PackagingInstruction(Item, total=False):
    """Something that the packer is told."""

    instruction_options: InstructionOptions


@with_config(_CLOSED)
class PackagingInfill(Item, total=False):
    """Something that fills a package."""

    infill_options: InfillOptions


@with_config(_CLOSED)
class AnyItem(Product, total=False):
    """A row whose type is not known: its other cells are checked all the same."""

    container_options: ContainerOptions
    supplies_options: SuppliesOptions
    data_collection_options: DataCollectionOptions
    instruction_options: InstructionOptions
    infill_options: InfillOptions
