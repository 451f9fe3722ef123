"""Families: a shipment, or two that share an order, with everything that belongs to it, as dicts with marks.

The marks stand for numbers and times (`slots`). A family is a function of the seed and its number and is made on
demand; the latest ones are cached. It is complete: every field of every object is there, except where chance made it
null or left it out. `compiled` selects fields and `templates` serialises.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from wms_sandbox import identities, measures, texts
from wms_sandbox.dice import Dice
from wms_sandbox.family_orders import OrderPart, order_part
from wms_sandbox.family_packages import PackagePart, package_part
from wms_sandbox.galleries import GalleryPart, gallery_part
from wms_sandbox.heads import Head
from wms_sandbox.identities import reference
from wms_sandbox.kinds import names
from wms_sandbox.measures import weight
from wms_sandbox.slots import number, text

_KEPT = frozenset(
    names(
        "type id unique_id status created_at updated_at packed_at items packages order retailer "
        "packing_solution_providers"
    )
)
_KEPT_FAMILIES = 150
"""Few, because they are large as dicts."""
_ITEM_KEPT = frozenset(("type", "id", "order_item", "reservations"))


@dataclass
class ShipmentPart:
    """One shipment. It may have up to MOST_PACKAGES packages; the store knows how many it has now."""

    shipment: dict[str, Any]
    items: list[dict[str, Any]]
    packing_solution: dict[str, Any] | None
    gallery: GalleryPart | None
    packed: list[dict[str, Any]]
    dice_key: tuple[object, ...]
    made: list[PackagePart] = field(default_factory=list)

    def packages(self, shown: int) -> list[PackagePart]:
        """Return the first `shown` packages, made on demand, since most are never requested."""
        made = self.made  # another sandbox may be at it too
        more = [package_part(Dice(*self.dice_key, k), k, self.packed) for k in range(len(made), shown)]
        self.made = made = [*made, *more]
        return made[:shown]


@dataclass
class Family:
    """An order with its shipments, and how its JSON is written."""

    order: OrderPart
    shipments: list[ShipmentPart] = field(default_factory=list)
    writes_ascii: bool = False
    leaves_out_nulls: bool = False


@lru_cache(_KEPT_FAMILIES)
def make_family(seed: int, index: int, head: Head) -> Family:
    """Return the family with a number and head; it is the same each time."""
    dice = Dice(seed, "family", index)
    family = Family(order_part(dice, head), writes_ascii=dice.chance(0.3), leaves_out_nulls=dice.chance(0.3))
    for part in range(len(head.statuses)):
        family.shipments.append(_shipment_part(seed, index, head, part, family.order))
    return family


def _shipment_part(seed: int, index: int, head: Head, part: int, order: OrderPart) -> ShipmentPart:
    dice = Dice(seed, "shipment", index, part)
    items = _items(dice, order, leaves_out=not head.products)
    solution = _packing_solution(dice, items) if dice.chance(0.35) else None
    gallery = gallery_part(dice, 0) if dice.chance(0.06) else None
    shipment = _shipment(dice, head, order)
    shipment["items"] = [{"type": "ShipmentItem", "id": item["id"], "product": item["product"]} for item in items]
    shipment["packing_solution"] = solution and reference(solution["type"], solution["id"])
    shipment["gallery"] = gallery and reference("Gallery", gallery.gallery["id"])
    dice.roughen(shipment, _KEPT | {"packing_solution", "gallery"})
    pristine = [dict(item) for item in items]
    for item in items:
        dice.roughen(item, _ITEM_KEPT | {"product"} if head.products else _ITEM_KEPT)
    _match_products(shipment, items)
    key = (seed, "package", index, part)
    return ShipmentPart(shipment, items, solution, gallery, pristine, key)


def _match_products(shipment: dict[str, Any], items: list[dict[str, Any]]) -> None:
    """Make the product reference in the shipment agree with the full object, also if chance removed the product."""
    for short, full in zip(shipment["items"], items, strict=True):
        short["product"] = full.get("product")


def _items(dice: Dice, order: OrderPart, *, leaves_out: bool) -> list[dict[str, Any]]:
    """Return items for most order items, or all; the second shipment of an order carries part of the rest."""
    items: list[dict[str, Any]] = []
    for k, ordered in enumerate(order.items):
        if leaves_out and len(order.items) > 1 and dice.chance(0.08):
            continue
        quantity = dice.whole(1, 6)
        items.append(
            {
                "type": "ShipmentItem",
                "id": number(f"item{k}"),
                "sku": order.skus[k],
                "product": order.products[k],
                "quantity": quantity,
                "qty_shipped": dice.pick((0, quantity)),
                "qty_picked": quantity,
                "qty_canceled": 0,
                "qty_cancel_requested": dice.pick((0, 0, 1)),
                "order_item": reference("OrderItem", ordered["id"]),
                "reservations": _reservations(dice, quantity),
            }
        )
    return items


def _reservations(dice: Dice, quantity: int) -> list[dict[str, Any]]:
    if dice.chance(0.55):
        return []
    location = reference("Location", dice.whole(1, 60_000))
    if quantity > 1 and dice.chance(0.2):
        other = reference("Location", dice.whole(1, 60_000))
        return [{"location": location, "quantity": 1}, {"location": other, "quantity": quantity - 1}]
    return [{"location": None if dice.chance(0.03) else location, "quantity": quantity}]


def _shipment(dice: Dice, head: Head, order: OrderPart) -> dict[str, Any]:
    carrier, service, name, scac, _ = texts.CARRIERS[order.carrier]
    has_location = head.retailer_id is not None
    return {
        "type": "Shipment",
        "id": number("sid"),
        "unique_id": text("uid"),
        "external_id": f"ext/{text('sid')}",
        "status": text("status"),
        "shipping_carrier_code": carrier,
        "shipping_method": f"{carrier}_{service}",
        "shipping_method_name": name,
        "shipping_service_code": service,
        "shipping_service_name": name.split(" ", 1)[-1],
        "warehouse": reference("Warehouse", 1 + dice.low_first(identities.WAREHOUSES)),
        "order": reference("Order", number("oid0")),
        "shipping_account": reference("ShippingAccount", dice.whole(1, 30)),
        "target_ship_date": text("tdate"),
        "item_weight": weight(dice, 30),
        "shipped_weight": weight(dice, 33),
        "total_weight": weight(dice, 33),
        "max_package_weight": weight(dice, 30),
        "items": [],
        "packages": [],
        "packing_solution": None,
        "gallery": None,
        "picking_class_id": dice.pick(("1", "2", "007")),
        "is_cutoff_date_exception": dice.chance(0.1),
        "is_manually_processed": dice.chance(0.1),
        "label_print_target": dice.pick(("Zebra 1", "desk\\zebra 2", "")),
        "scac": scac,
        "carrier_shipping_cost": dice.pick((0, 7, dice.decimal(1, 80, 2), dice.decimal(1, 80, 4))),
        "is_international": dice.chance(0.1),
        "is_documents_required": dice.chance(0.05),
        "is_electronic_customs": dice.chance(0.05),
        "infill_product_id": str(dice.whole(1, 500)) if dice.chance(0.2) else None,
        "packing_solution_providers": dice.pick(([], ["boxify"], ["boxify", "manual ✍"])),
        "tpb_group": f"Group {dice.whole(1, 9)}" if dice.chance(0.2) else None,
        "retailer": None if head.retailer_id is None else reference("Retailer", head.retailer_id),
        "retailer_ship_to_location": _location(dice) if has_location else None,
        "mark_for_location": _location(dice) if has_location and dice.chance(0.3) else None,
        "created_at": number("created"),
        "updated_at": number("updated"),
        "packed_at": number("packed"),
    }


def _location(dice: Dice) -> dict[str, Any]:
    return reference("RetailerShipToLocation", identities.location_id(dice.low_first(identities.LOCATIONS)))


def _packing_solution(dice: Dice, items: list[dict[str, Any]]) -> dict[str, Any]:
    containers = [_container(dice, items) for _ in range(dice.weighted((5, 70, 25)))]
    return {"type": "ShipmentPackingSolution", "id": number("psol0"), "containers": containers}


def _container(dice: Dice, items: list[dict[str, Any]]) -> dict[str, Any]:
    container: dict[str, Any] = {
        "type": "ShipmentPackingSolutionContainer",
        "weight": weight(dice, 20),
        "dimensions": measures.dimensions(dice),
        "volume": measures.volume(dice),
        "void_percent": dice.decimal(0, 100, 2),
        "regulation_type": dice.pick(("NORMAL", "HAZMAT")),
        "items": [_container_item(dice, dice.pick(items)) for _ in range(dice.whole(0, 2)) if items],
    }
    dice.roughen(container, frozenset(("type", "items")))
    return container


def _container_item(dice: Dice, item: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {
        "type": "ShipmentPackingSolutionContainerItem",
        "sku": item["sku"],
        "quantity": item["quantity"],
        "order_item_id": item["order_item"]["id"],
        "order_item_sku": item["sku"],
        "order_item_qty": item["quantity"],
        "shipment_item_id": item["id"],
        "weight": weight(dice, 5),
    }
    dice.roughen(content, frozenset(("type",)))
    return content
