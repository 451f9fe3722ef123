"""The options objects of the five packaging kinds (specification 2.3): which fields each has, and values for them."""

from collections.abc import Callable
from typing import Any

from wms_sandbox import texts
from wms_sandbox.dice import Dice
from wms_sandbox.kinds import names

OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "PackagingContainer": (
        "container_options",
        names(
            "barcodes weight dimensions volume manage_stock associated_products allow_for_brands "
            "disallow_for_brands billing_amount allow_for_warehouses allow_for_shipping_methods "
            "satisfies_overbox use_for_bin_packing weight_capacity container_style "
            "packaging_handling_surcharge"
        ),
    ),
    "PackagingSupplies": (
        "supplies_options",
        names(
            "barcodes weight manage_stock associated_products allow_for_brands disallow_for_brands "
            "billing_amount allow_for_warehouses allow_for_shipping_methods packaging_handling_surcharge "
            "apply_to_goods_type never_apply_to_goods_type apply_only_above_weight one_per "
            "require_scan_timing disable_confirm_button require_packaging_type apply_to_region "
            "apply_unless_container_meets_hazmat apply_to_multi_sku_package"
        ),
    ),
    "PackagingDataCollection": (
        "data_collection_options",
        names(
            "associated_products allow_for_brands disallow_for_brands billing_amount "
            "allow_for_shipping_methods apply_to_goods_type never_apply_to_goods_type "
            "apply_only_above_weight one_per require_scan_timing disable_confirm_button "
            "require_packaging_type apply_unless_container_meets_hazmat apply_to_multi_sku_package "
            "collect_data_pattern apply_to_region is_collected_data_unique"
        ),
    ),
    "PackagingInstruction": (
        "instruction_options",
        names(
            "barcodes associated_products allow_for_brands disallow_for_brands billing_amount "
            "allow_for_shipping_methods apply_to_goods_type never_apply_to_goods_type "
            "apply_only_above_weight one_per require_scan_timing disable_confirm_button "
            "require_packaging_type apply_to_region apply_unless_container_meets_hazmat "
            "apply_to_multi_sku_package"
        ),
    ),
    "PackagingInfill": (
        "infill_options",
        names(
            "barcodes weight manage_stock associated_products allow_for_brands disallow_for_brands "
            "billing_amount disable_confirm_button apply_unless_container_meets_hazmat "
            "is_confirmation_required infill_horizontal infill_vertical infill_priority"
        ),
    ),
}

_METHODS = [f"{carrier[0]}_{carrier[1]}" for carrier in texts.CARRIERS]


def option_object(dice: Dice, kind: str) -> dict[str, Any]:
    """Return the options of one packaging item under their own name, such as `{"infill_options": {...}}`."""
    name, fields = OPTIONS[kind]
    options = {field: _MAKERS.get(field, _flag)(dice) for field in fields}
    dice.roughen(options, frozenset())
    return {name: options}


def _flag(dice: Dice) -> object:
    return dice.chance(0.5)


def _references(kind: str, start: int) -> Callable[[Dice], object]:
    return lambda dice: [{"type": kind, "id": start + dice.whole(0, 5)} for _ in range(dice.whole(0, 2))]


def _measure(unit: str, high: float) -> Callable[[Dice], object]:
    return lambda dice: {"value": dice.decimal(0, high, 2), "unit": unit}


def _one_of(*choices: object) -> Callable[[Dice], object]:
    return lambda dice: dice.pick(choices)


_MAKERS: dict[str, Callable[[Dice], object]] = {
    "barcodes": _one_of("0012345678905", "", "A-1|B-2"),
    "weight": _measure("lb", 4),
    "volume": _measure("in^3", 3000),
    "dimensions": lambda dice: {"length": dice.whole(4, 30), "width": dice.whole(4, 20), "height": 2.5, "unit": "in"},
    "associated_products": _references("Product", 2_147_483_000),
    "allow_for_brands": _references("Merchant", 11),
    "disallow_for_brands": _references("Merchant", 17),
    "allow_for_warehouses": _references("Warehouse", 1),
    "billing_amount": lambda dice: {"amount": dice.decimal(0, 5, 4), "currency": "USD"},
    "allow_for_shipping_methods": lambda dice: _METHODS[: dice.whole(0, 3)],
    "use_for_bin_packing": _one_of("yes", "no"),
    "weight_capacity": _measure("lb", 70),
    "apply_only_above_weight": _measure("lb", 50),
    "infill_horizontal": _measure("in", 4),
    "infill_vertical": _measure("in", 4),
    "container_style": _one_of("rigid_box", "poly_mailer"),
    "apply_to_goods_type": _one_of("any", "HAZMAT"),
    "never_apply_to_goods_type": _one_of("ORM_D", ""),
    "one_per": _one_of("order", "package"),
    "require_scan_timing": _one_of("after_product_scan|on_full", "on_full"),
    "require_packaging_type": _one_of("overbox", "any"),
    "apply_to_region": _one_of("US-CA", "any"),
    "collect_data_pattern": _one_of(r"^\d{3}-[A-Z]+\\$", "/^SN[0-9]+$/"),
    "infill_priority": lambda dice: dice.whole(1, 9),
}
