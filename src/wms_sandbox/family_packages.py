"""Packages of a shipment (specification 2.4). They are inline objects without a type, and mostly without an id."""

from dataclasses import dataclass
from typing import Any

from wms_sandbox import texts
from wms_sandbox.dice import Dice
from wms_sandbox.galleries import GalleryPart, gallery_part
from wms_sandbox.identities import packaging_reference, reference
from wms_sandbox.measures import money, piece, title, volume, weight
from wms_sandbox.slots import number, text

BOX_POUNDS = 0.5


@dataclass
class PackagePart:
    """A package with everything inside it. `items` of `package` are complete; the gallery is separate."""

    package: dict[str, Any]
    gallery: GalleryPart | None


def package_part(dice: Dice, k: int, items: list[dict[str, Any]], carrier: int) -> PackagePart:
    """Return the package at position k (from 0) of a shipment, with these items."""
    gallery = gallery_part(dice, k + 1) if dice.chance(0.06) else None
    package: dict[str, Any] = {
        "items": [_item(dice, item, carrier) for item in items],
        "packaging": [_packaging(dice) for _ in range(dice.weighted((30, 55, 15)))],
        "collected_data": [_collected(dice, dice.pick(items)) for _ in range(dice.weighted((80, 15, 5))) if items],
        "gallery": gallery and reference("Gallery", gallery.gallery["id"]),
        "created_at": text("s2") + "Z",
        "updated_at": text("s3") + dice.pick(("Z", "Z", "Z", "Z", ".5Z")),
    } | _optional(dice, k, carrier, BOX_POUNDS + sum(item["quantity"] * piece(item["sku"]) for item in items))
    dice.roughen(package, frozenset(("items", "packaging", "collected_data", "gallery")))
    if dice.chance(0.2):
        package = {"type": "ShipmentPackage", "id": number(f"pkg{k}")} | package
    return PackagePart(package, gallery)


def _optional(dice: Dice, k: int, carrier: int, pounds: float) -> dict[str, Any]:
    """Return the optional fields of a package; of its weight and that by its dimensions, the larger one is billed."""
    prefix, dimensional = texts.CARRIERS[carrier][4], pounds * dice.decimal(0.6, 1.3, 2)
    has_alternative, is_priced = dice.chance(0.25), not dice.oddly(0.6)
    return {
        "tracking_ref": prefix + text(f"trk{k}"),
        "alt_tracking_number": f"ALT {text(f'alt{k}')}%" if has_alternative else None,
        "alt_tracking_description": dice.pick(("Return label", 'Pro "number"')) if has_alternative else None,
        "billable_weight": weight(dice, max(pounds, dimensional)) if is_priced else None,
        "dimensional_weight": weight(dice, dimensional) if is_priced else None,
        "dimensional_weight_divisor": dice.pick((139, 166, 138.4)),
        "total_item_volume": volume(dice) if is_priced else None,
        "total_void_percent": dice.decimal(0, 99 if dice.is_odd else 45, 2),
        "container_style": dice.pick(("rigid_box", "poly_mailer", "")),
        "num_cartons": dice.pick((1, 1, 1, 4)),
        "sscc": f"00{dice.whole(10**16, 10**17)}{k}" if dice.chance(0.3 if dice.is_odd else 0.97) else None,
        "manifest_courier_code": dice.pick(("ups", "fedex", None)),
        "container": packaging_reference(dice, "PackagingContainer"),
        "infill": packaging_reference(dice, "PackagingInfill") if dice.chance(0.3) else None,
    }


def _item(dice: Dice, item: dict[str, Any], carrier: int) -> dict[str, Any]:
    """Return a package item; half of them use `order_item_quantity`, half `order_item_qty`."""
    is_abroad = dice.chance(0.3) if dice.is_odd else carrier == texts.ABROAD_CARRIER
    content: dict[str, Any] = {
        "sku": item["sku"],
        "name": title(dice),
        "quantity": dice.whole(1, 4) if dice.is_odd else item["quantity"],
        "weight": weight(dice, piece(item["sku"])),
        "hazmat_unit_weight": weight(dice, dice.decimal(0.1, 2, 2)) if dice.chance(0.1) else None,
        "customs_value": money(dice, 100) if is_abroad else None,
        "order_item_id": item["order_item"]["id"],
        "order_item_sku": item["sku"],
        dice.pick(("order_item_quantity", "order_item_qty")): item["quantity"],
        "shipment_item_id": item["id"],
        "total_customs_value": money(dice, 400) if is_abroad else None,
    }
    dice.roughen(content, frozenset(("quantity",)))
    return content


def _packaging(dice: Dice) -> dict[str, Any]:
    kind = dice.pick(("PackagingContainer", "PackagingSupplies", "PackagingInstruction", "PackagingDataCollection"))
    product = None if dice.oddly(0.03) else packaging_reference(dice, kind)
    return {"product": product, "quantity": dice.pick((1, 1, 2, None if dice.is_odd else 1))}


def _collected(dice: Dice, item: dict[str, Any]) -> dict[str, Any]:
    collected: dict[str, Any] = {
        "order_item_id": item["order_item"]["id"],
        "label": dice.pick(("Serial", "Série n°", "Lot/“batch”")),
        "value": dice.pick(("SN-000123", "0042", dice.remark())),
    }
    dice.roughen(collected, frozenset())
    return collected
