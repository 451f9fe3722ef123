"""Products and packaging items (specification 2.3), all six kinds."""

from typing import Any

from wms_sandbox import measures, texts
from wms_sandbox.dice import Dice
from wms_sandbox.identities import (
    LOT_TYPES,
    MERCHANTS,
    REGULATIONS,
    merchant_id,
    product_id,
    product_kind,
    reference,
    sku,
)
from wms_sandbox.measures import dimensions, money, stamp, title, volume, weight
from wms_sandbox.options import option_object


def product(dice: Dice, position: int) -> dict[str, Any]:
    """Return the product or packaging item at a position."""
    kind = product_kind(position)
    shared: dict[str, Any] = {
        "type": kind,
        "id": product_id(position),
        "sku": sku(position, is_odd=dice.is_odd),
        "name": title(dice),
        "is_enabled": dice.chance(0.95),
    }
    own = _sold_product(dice, position) if kind == "Product" else option_object(dice, kind)
    ending = {
        "merchant": reference("Merchant", merchant_id(position % MERCHANTS)),
        "created_at": stamp(dice),
        "updated_at": stamp(dice, 2024, 2025),
    }
    return shared | own | ending


def _sold_product(dice: Dice, position: int) -> dict[str, Any]:
    is_regulated = dice.chance(0.1)
    return {
        "vendor_sku": f"V{position:07}",
        "manufacturer_part_number": dice.pick(("MPN/1", "00-7", "")),
        "external_id": str(10**15 + position),
        "barcodes": [f"{dice.whole(0, 10**12):013}" for _ in range(dice.whole(0, 2))],
        "is_available": dice.chance(0.9),
        "is_visible": dice.chance(0.9),
        "goods_type": dice.pick(texts.GOODS_TYPES) if is_regulated else "NORMAL",
        "lot_type": reference("LotType", dice.whole(1, LOT_TYPES)) if dice.chance(0.3) else None,
        "weight": weight(dice, measures.piece(sku(position, is_odd=dice.is_odd))),
        "dimensions": dimensions(dice),
        "volume": volume(dice),
        "inventory": {
            "backorders": dice.chance(0.5),
            "dynamic_allocation": dice.chance(0.5),
            "virtual_inventory": dice.pick(("none", "optimistic", "realistic", "pessimistic")),
        },
        "export": _export(dice),
        "regulated_goods": _regulated_goods(dice) if is_regulated else None,
        "packaging": _packaging(dice),
        "custom_fields": _product_custom_fields(dice),
    }


def _export(dice: Dice) -> dict[str, Any]:
    extensions = [{"country_id": country, "extension": f"{dice.whole(0, 9999):04}"} for country in texts.COUNTRIES[:3]]
    return {
        "description": title(dice),
        "customs_value": money(dice, 90),
        "country_of_manufacture": dice.pick(texts.COUNTRIES),
        "hs_base_code": f"{dice.whole(10_000, 999_999):06}",
        "hs_country_extension": extensions[: dice.whole(0, 3)],
    }


def _regulated_goods(dice: Dice) -> dict[str, Any]:
    return {
        "regulation": reference("Regulation", dice.whole(1, REGULATIONS)),
        "technical_name": "Lithium ion batteries, UN3481",
        "additional_information": dice.remark(),
        "net_weight": weight(dice, dice.decimal(0.1, 3, 2)),
        "container_type": dice.pick(("box", "drum")),
        "container_meets_hazmat_specs": dice.chance(0.5),
        "regulation_units": dice.whole(1, 12),
    }


def _packaging(dice: Dice) -> dict[str, Any]:
    flags = (
        "require_packaging",
        "require_weight_check",
        "require_confirmation_per_item",
        "is_ship_separately",
        "can_tip",
        "can_contain_other_items",
        "is_handling_surcharge",
    )
    counts = {"unit_quantity": dice.whole(1, 12), "bulk_quantity": dice.whole(1, 144), "max_per_package": None}
    return {flag: dice.chance(0.3) for flag in flags} | counts | {"ship_separately_tag": dice.pick(("glass", "", None))}


def _product_custom_fields(dice: Dice) -> list[dict[str, Any]]:
    values: tuple[Any, ...] = (True, 7, "x\ny", 1.25, None, ["a", "b"], {"id": 3, "label": "três"})
    fields: list[dict[str, Any]] = []
    for k in range(dice.whole(0, 3)):
        entry = {"code": f"attr_{k}", "value": dice.pick(values)}
        fields.append(entry | {"label": f"Label {k} ✓"} if dice.chance(0.4) else entry)
    return fields
