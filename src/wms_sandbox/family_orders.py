"""The order of a family with its items (specification 2.5)."""

from dataclasses import dataclass, field
from typing import Any

from wms_sandbox import identities, texts
from wms_sandbox.dice import Dice
from wms_sandbox.heads import Head
from wms_sandbox.identities import reference
from wms_sandbox.kinds import names
from wms_sandbox.measures import custom_fields, money, weight
from wms_sandbox.order_belongings import address, candidate, history, instruction
from wms_sandbox.slots import ORDER_ITEMS, number, text

_KEPT = frozenset(
    names(
        "type id unique_id state status created_at updated_at items shipments status_history "
        "address_candidates instructions shipping_address original_address merchant batch_tag"
    )
)
_PAIR = frozenset(("type", "id"))


@dataclass
class OrderPart:
    """An order. `owned` holds what belongs to it alone, by the name of the reference: items, status_history ..."""

    order: dict[str, Any]
    carrier: int
    skus: list[str]
    products: list[dict[str, Any] | None]
    items: list[dict[str, Any]]
    owned: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def order_part(dice: Dice, head: Head) -> OrderPart:
    """Return the order with everything it owns."""
    carrier = dice.low_first(len(texts.CARRIERS))
    if head.products:
        products: list[dict[str, Any] | None] = [reference(each.kind, each.id) for each in head.products]
        skus = [each.sku for each in head.products]
    else:
        count = 1 + dice.weighted((28, 30, 20, 15, 7))
        positions = [_product_position(dice) for _ in range(min(count, ORDER_ITEMS))]
        products = [_product(dice, position) for position in positions]
        skus = [identities.sku(position) for position in positions]
    items = [_item(dice, k, skus[k], products[k]) for k in range(len(products))]
    part = OrderPart({}, carrier, skus, products, items)
    part.owned = {
        "items": items,
        "shipping_address": [address(dice, 0)],
        "original_address": [address(dice, 1)] if dice.chance(0.06) else [],
        "address_candidates": [candidate(dice, k) for k in range(dice.weighted((90, 4, 4, 2)))],
        "instructions": [instruction(dice, k) for k in range(dice.weighted((88, 8, 4)))],
        "status_history": history(dice),
    }
    part.order = _order(dice, head, part)
    return part


def _product_position(dice: Dice) -> int:
    if dice.chance(0.04):
        return identities.PRODUCTS + dice.whole(0, 5 * identities.PACKAGINGS - 1)
    return dice.low_first(identities.PRODUCTS)


def _product(dice: Dice, position: int) -> dict[str, Any] | None:
    if dice.chance(0.005):
        return reference("Product", identities.NOWHERE + position)
    return None if dice.chance(0.01) else identities.product_reference(position)


def _item(dice: Dice, k: int, sku: str, product: dict[str, Any] | None) -> dict[str, Any]:
    ordered: float = dice.whole(1, 12) if dice.chance(0.93) else dice.pick((0.5, 1.5, 2.25))
    item: dict[str, Any] = {
        "type": "OrderItem",
        "id": number(f"oi{k}"),
        "sku": sku,
        "order_item_ref": f"line-{k + 1}",
        "product": product,
        "qty_ordered": ordered,
        "qty_assigned": ordered,
        "qty_allocated": ordered,
        "qty_backordered": dice.pick((0, 0, 0, 1)),
        "qty_processing": 0,
        "qty_picked": ordered,
        "qty_shipped": dice.pick((0, ordered)),
        "qty_cancel_requested": 0,
        "qty_canceled": dice.pick((0, 0, 0, 1)),
        "row_weight": weight(dice, 60),
    }
    dice.roughen(item, _PAIR)
    return item


def _order(dice: Dice, head: Head, part: OrderPart) -> dict[str, Any]:
    order = _identity(dice, head, part) | _handling(dice, head, part)
    dice.roughen(order, _KEPT)
    if head.retailer_id is not None and "retailer" in order and dice.chance(0.9):
        order["retailer"] = reference("Retailer", head.retailer_id)
    return order


def _identity(dice: Dice, head: Head, part: OrderPart) -> dict[str, Any]:
    carrier, service, *_ = texts.CARRIERS[part.carrier]
    brand = identities.brand_id(dice.low_first(identities.BRANDS))
    shipments = ["osid0", "osid1"] if head.is_pair else ["osid0"]
    return {
        "type": "Order",
        "id": number("oid0"),
        "unique_id": text("ouid"),
        "order_ref": f"#{text('ouid')}/{dice.pick(('A', 'é', '€'))}",
        "state": text("ostate"),
        "status": text("ostatus"),
        "brand": reference("Brand", brand) if dice.chance(0.7) else None,
        "merchant": reference("Merchant", identities.merchant_id(head.merchant)),
        "carrier_code": carrier,
        "shipping_method": f"{carrier}_{service}",
        "signature_required": dice.pick(("none", "direct", "adult")),
        "is_saturday_delivery": dice.chance(0.05),
        "is_overbox_required": dice.chance(0.05),
        "priority": dice.whole(-5, 99),
        "requested_ship_date": text("odate"),
        "is_declared_value_service": dice.chance(0.1),
        "declared_value": money(dice, 900) if dice.chance(0.2) else None,
        "shipping_address": _first_reference(part.owned["shipping_address"]),
        "items": _references(part.owned["items"]),
        "shipments": [reference("Shipment", number(name)) for name in shipments],
        "custom_greeting": dice.pick(texts.UGLY) if dice.chance(0.1) else None,
        "status_history": [],
        "other_shipping_options": {"virtual_excluded_services": dice.pick(([], ["ups_GROUND", "/^fedex_.*$/"]))},
        "duties_payor": _duties(dice),
        "created_at": text("ocreated") + "Z",
        "updated_at": text("oupdated") + "Z",
        "completed_at": text("o3") + "Z" if head.order_state == 2 else None,
        "custom_fields": custom_fields(dice),
    }


def _duties(dice: Dice) -> dict[str, Any] | None:
    payor = dice.pick(("shipper", "recipient", "third_party"))
    group = dice.whole(1, identities.BILLING_GROUPS) if payor == "third_party" else None
    return {"payor": payor, "tpb_group_id": group} if dice.chance(0.5) else None


def _handling(dice: Dice, head: Head, part: OrderPart) -> dict[str, Any]:
    has_location = head.retailer_id is not None
    return {
        "weight": weight(dice, 80),
        "total_item_count": dice.whole(1, 30),
        "submitted_by": dice.pick(("api", "jörg", 'Ops "Team"')),
        "submitted_by_type": dice.pick(("user", "integration")),
        "backorder_policy": dice.pick(("allow", "forbid")),
        "source": dice.pick(("shopify", "edi", "csv")),
        "customer_note": dice.pick(texts.UGLY) if dice.chance(0.15) else None,
        "batch_tag": f"wave-{text('orev')}",
        "desired_delivery_date": text("odate") if dice.chance(0.3) else None,
        "can_fulfill": dice.chance(0.9),
        "can_fulfill_at": text("o2") + "Z",
        "is_address_modified": dice.chance(0.05),
        "is_address_modified_auto": dice.chance(0.05),
        "hold_until_time": text("o3") + "Z" if dice.chance(0.05) else None,
        "tpb_group": _group(dice) if dice.chance(0.15) else None,
        "retailer": None,
        "retailer_ship_to_location": _location(dice) if has_location else None,
        "mark_for_location": _location(dice) if has_location and dice.chance(0.2) else None,
        "customs_value": money(dice, 900) if dice.chance(0.3) else None,
        "reason_for_export": dice.pick(("sale", "gift", "sample")) if dice.chance(0.1) else None,
        "generate_sscc": dice.pick(([], [], ["carton"], ["carton", "pallet"])),
        "shipped_at": text("o3") + "Z" if dice.chance(0.6) else None,
        "delivered_at": text("o3") + ".999Z" if dice.chance(0.3) else None,
        "shipping_description": texts.CARRIERS[part.carrier][2],
        "carrier": dice.pick(("UPS®", "FedEx", "n/a")),
        "allocation_options": dice.pick(
            ({}, {}, {"strategy": "fifo", "lots": ["A", "B"], "nested": {"deep": [1, {}]}})
        ),
        "automation_data": dice.pick(
            ({}, {}, {"rule": "r1", "score": 0.75, "tags": [], "note": dice.pick(texts.UGLY)})
        ),
        "original_address": _first_reference(part.owned["original_address"]),
        "address_candidates": _references(part.owned["address_candidates"]),
        "instructions": _references(part.owned["instructions"]),
    }


def _references(things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [reference(thing["type"], thing["id"]) for thing in things]


def _first_reference(things: list[dict[str, Any]]) -> dict[str, Any] | None:
    return _references(things)[0] if things else None


def _group(dice: Dice) -> dict[str, Any]:
    return reference("ThirdPartyBillingGroup", dice.whole(1, identities.BILLING_GROUPS))


def _location(dice: Dice) -> dict[str, Any]:
    return reference("RetailerShipToLocation", identities.location_id(dice.low_first(identities.LOCATIONS)))
