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
from wms_sandbox.family_orders import OrderPart, location, order_part
from wms_sandbox.family_packages import BOX_POUNDS, PackagePart, package_part
from wms_sandbox.galleries import GalleryPart, gallery_part
from wms_sandbox.heads import MOST_PACKAGES, Head
from wms_sandbox.identities import reference
from wms_sandbox.kinds import names
from wms_sandbox.measures import piece, weight
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
    """One shipment. It may have up to MOST_PACKAGES packages, with the `packed` items; the store knows how many."""

    shipment: dict[str, Any]
    items: list[dict[str, Any]]
    packing_solution: dict[str, Any] | None
    gallery: GalleryPart | None
    packed: list[list[dict[str, Any]]]
    dice_key: tuple[object, ...]
    head: Head
    made: list[PackagePart] = field(default_factory=list)

    def packages(self, shown: int) -> list[PackagePart]:
        """Return the first `shown` packages, made on demand, since most are never requested."""
        made = self.made  # another sandbox may be at it too
        more = [
            package_part(Dice(*self.dice_key, k, is_odd=self.head.is_odd), k, self.packed[k], self.head.carrier)
            for k in range(len(made), shown)
        ]
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
def make_family(seed: int, head: Head) -> Family:
    """Return the family with a head; it is the same each time.

    No chance depends on the stage, so that a family is the same at each one, but for what the stage changes.
    """
    dice = Dice(seed, "family", head.number, is_odd=head.is_odd)
    writes_ascii, leaves_out_nulls = dice.chance(0.3), dice.chance(0.3)
    family = Family(order_part(dice, head), [], writes_ascii, leaves_out_nulls)
    for part in range(len(head.statuses)):
        family.shipments.append(_shipment_part(seed, head, part, family.order))
    return family


def _shipment_part(seed: int, head: Head, part: int, order: OrderPart) -> ShipmentPart:
    dice = Dice(seed, "shipment", head.number, part, is_odd=head.is_odd)
    items = _items(dice, head, part, order)
    solution = _packing_solution(dice, items) if dice.chance(0.35) else None
    gallery = gallery_part(dice, 0) if dice.chance(0.06) else None
    shipment = _shipment(dice, head, order, part, sum(item["quantity"] * piece(item["sku"]) for item in items))
    shipment["items"] = [{"type": "ShipmentItem", "id": item["id"], "product": item["product"]} for item in items]
    shipment["packing_solution"] = solution and reference(solution["type"], solution["id"])
    shipment["gallery"] = gallery and reference("Gallery", gallery.gallery["id"])
    dice.roughen(shipment, _KEPT | {"packing_solution", "gallery"})
    most = max(head.packages[part], 1)
    packed = [[dict(item) for item in items[k::most]] for k in range(MOST_PACKAGES)]
    for item in items:
        dice.roughen(item, _ITEM_KEPT | {"product"} if head.products else _ITEM_KEPT)
    _match_products(shipment, items)
    key = (seed, "package", head.number, part)
    return ShipmentPart(shipment, items, solution, gallery, packed, key, head)


def _match_products(shipment: dict[str, Any], items: list[dict[str, Any]]) -> None:
    """Make the product reference in the shipment agree with the full object, also if chance removed the product."""
    for short, full in zip(shipment["items"], items, strict=True):
        short["product"] = full.get("product")


def _items(dice: Dice, head: Head, part: int, order: OrderPart) -> list[dict[str, Any]]:
    """Return items for those of the order that are in the shipment, with the same quantities.

    Odd ones are for most order items, or all, with any quantity.
    """
    is_voided = head.endings[part] == "voided"
    items: list[dict[str, Any]] = []
    for k, ordered in enumerate(order.items):
        is_elsewhere = head.endings == ("shipped", "shipped") and k % 2 != part and not dice.is_odd
        if is_elsewhere or (len(order.items) > 1 and not head.products and dice.oddly(0.08)):
            continue
        quantity = dice.whole(1, 6) if dice.is_odd else ordered["qty_ordered"]
        items.append(
            {
                "type": "ShipmentItem",
                "id": number(f"item{k}"),
                "sku": order.skus[k],
                "product": order.products[k],
                "quantity": quantity,
                "qty_shipped": dice.pick((0, quantity)) if dice.is_odd else 0 if is_voided else ordered["qty_shipped"],
                "qty_picked": quantity if dice.is_odd else ordered["qty_picked"],
                "qty_canceled": 0 if dice.is_odd else ordered["qty_canceled"],
                "qty_cancel_requested": dice.pick((0, 0, 1)) if dice.is_odd else 0,
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
    return [{"location": None if dice.oddly(0.03) else location, "quantity": quantity}]


def _shipment(dice: Dice, head: Head, order: OrderPart, part: int, content: float) -> dict[str, Any]:
    """Return the shipment of a content in pounds; its cost, once it has a label, follows from the carrier's tariff."""
    base, per_pound, *_ = texts.TARIFFS[head.carrier]
    cost = round((base + per_pound * content) * dice.decimal(0.9, 1.1, 3), 2)
    has_cost = dice.chance(0.99) and head.shown(part) > 0
    group = order.order.get("tpb_group") if dice.chance(0.97) else None
    carrier, service, name, scac, _ = texts.CARRIERS[head.carrier]
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
        "item_weight": weight(dice, content),
        "shipped_weight": weight(dice, content + BOX_POUNDS),
        "total_weight": weight(dice, content + BOX_POUNDS),
        "max_package_weight": weight(dice, content + BOX_POUNDS),
        "items": [],
        "packages": [],
        "packing_solution": None,
        "gallery": None,
        "picking_class_id": dice.pick(("1", "2", "007")),
        "is_cutoff_date_exception": dice.chance(0.1),
        "is_manually_processed": dice.chance(0.1),
        "label_print_target": dice.pick(("Zebra 1", "desk\\zebra 2", "")),
        "scac": scac,
        "carrier_shipping_cost": dice.pick((0, 7)) if dice.oddly(0.4) else cost if has_cost else None,
        "is_international": dice.chance(0.1) if dice.is_odd else head.carrier == texts.ABROAD_CARRIER,
        "is_documents_required": dice.chance(0.05),
        "is_electronic_customs": dice.chance(0.05),
        "infill_product_id": str(dice.whole(1, 500)) if dice.chance(0.2) else None,
        "packing_solution_providers": dice.pick(([], ["boxify"], ["boxify", "manual ✍"])),
        "tpb_group": group and f"Group {group['id']}",
        "retailer": None if head.retailer_id is None else reference("Retailer", head.retailer_id),
        "retailer_ship_to_location": location(head),
        "mark_for_location": location(head) if dice.chance(0.3) else None,
        "created_at": number("created"),
        "updated_at": number("updated"),
        "packed_at": number("packed"),
    }


def _packing_solution(dice: Dice, items: list[dict[str, Any]]) -> dict[str, Any]:
    containers = [_container(dice, items) for _ in range(dice.weighted((5, 70, 25)))]
    return {"type": "ShipmentPackingSolution", "id": number("psol0"), "containers": containers}


def _container(dice: Dice, items: list[dict[str, Any]]) -> dict[str, Any]:
    container: dict[str, Any] = {
        "type": "ShipmentPackingSolutionContainer",
        "weight": weight(dice, dice.decimal(0.5, 20, 2)),
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
        "weight": weight(dice, piece(item["sku"])),
    }
    dice.roughen(content, frozenset(("type",)))
    return content
