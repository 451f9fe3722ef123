"""The order of a family with its items (specification 2.5)."""

from dataclasses import dataclass, field
from typing import Any

from wms_sandbox import identities, texts
from wms_sandbox.dice import Dice
from wms_sandbox.heads import DELIVERED, LATE, PACKED, Head
from wms_sandbox.identities import reference
from wms_sandbox.kinds import names
from wms_sandbox.measures import custom_fields, money, piece, weight
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
    skus: list[str]
    products: list[dict[str, Any] | None]
    items: list[dict[str, Any]]
    owned: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def order_part(dice: Dice, head: Head) -> OrderPart:
    """Return the order with everything it owns."""
    cities = texts.ABROAD if head.carrier == texts.ABROAD_CARRIER else texts.DOMESTIC
    if head.products:
        products: list[dict[str, Any] | None] = [reference(each.kind, each.id) for each in head.products]
        skus = [each.sku for each in head.products]
    else:
        count = max(1 + dice.weighted((28, 30, 20, 15, 7)), len(head.packages), *head.packages)
        positions = [_product_position(dice, head) for _ in range(min(count, ORDER_ITEMS))]
        products = [_product(dice, position) for position in positions]
        skus = [identities.sku(position, is_odd=dice.is_odd) for position in positions]
    items = [_item(dice, head, k, skus[k], products[k]) for k in range(len(products))]
    part = OrderPart({}, skus, products, items)
    part.owned = {
        "items": items,
        "shipping_address": [address(dice, 0, cities)],
        "original_address": [address(dice, 1, cities)] if dice.chance(0.06) else [],
        "address_candidates": [candidate(dice, k) for k in range(dice.weighted((90, 4, 4, 2)))],
        "instructions": [instruction(dice, k) for k in range(dice.weighted((88, 8, 4)))],
    }
    part.order = _order(dice, head, part)
    part.owned["status_history"] = history(dice, head)  # last, because it has more at a later stage
    return part


def _product_position(dice: Dice, head: Head) -> int:
    """Return the position of a product of the merchant; few odd ones are packaging."""
    if dice.oddly(0.04):
        return identities.PRODUCTS + dice.whole(0, 5 * identities.PACKAGINGS - 1)
    return head.merchant + identities.MERCHANTS * dice.low_first(identities.PRODUCTS // identities.MERCHANTS)


def _product(dice: Dice, position: int) -> dict[str, Any] | None:
    if dice.oddly(0.005):
        return reference("Product", identities.NOWHERE + position)
    return None if dice.oddly(0.01) else identities.product_reference(position)


def _item(dice: Dice, head: Head, k: int, sku: str, product: dict[str, Any] | None) -> dict[str, Any]:
    """Return an order item with its quantities at the stage of the head; few are shipped a piece short."""
    wanted: float = dice.pick((0.5, 1.5, 2.25)) if dice.oddly(0.07) else 1 + dice.low_first(5)
    sent = wanted - 1 if wanted > 1 and dice.chance(0.02) else wanted
    is_shipped, is_canceled = head.ends("shipped"), head.ends("canceled")
    waits = head.stage == LATE and head.trouble in ("backordered", "" if k else "partial_backorder")
    item: dict[str, Any] = {
        "type": "OrderItem",
        "id": number(f"oi{k}"),
        "sku": sku,
        "order_item_ref": f"line-{k + 1}",
        "product": product,
        "qty_ordered": wanted,
        "qty_assigned": wanted,
        "qty_allocated": 0 if waits else wanted,
        "qty_backordered": 1 if dice.oddly(0.25) else wanted if waits else 0,
        "qty_processing": 0,
        "qty_picked": wanted if head.stage >= PACKED and not is_canceled else 0,
        "qty_shipped": 0 if dice.oddly(0.5) or not is_shipped else sent,
        "qty_cancel_requested": 0,
        "qty_canceled": 1 if dice.oddly(0.25) else wanted if is_canceled else 0,
        "row_weight": weight(dice, wanted * piece(sku)),
    }
    dice.roughen(item, _PAIR)
    return item


def _order(dice: Dice, head: Head, part: OrderPart) -> dict[str, Any]:
    order = _identity(dice, head, part) | _handling(dice, head, part)
    dice.roughen(order, _KEPT)
    if head.retailer_id is not None and "retailer" in order and not dice.oddly(0.1):
        order["retailer"] = reference("Retailer", head.retailer_id)
    return order


def _identity(dice: Dice, head: Head, part: OrderPart) -> dict[str, Any]:
    carrier, service, *_ = texts.CARRIERS[head.carrier]
    brand = identities.brand_id(head.merchant + identities.MERCHANTS * dice.whole(0, 1))
    shipments = ["osid0", "osid1"][: len(head.endings)]
    return {
        "type": "Order",
        "id": number("oid0"),
        "unique_id": text("ouid"),
        "order_ref": f"#{text('ouid')}" + (f"/{dice.pick(('A', 'é', '€'))}" if dice.is_odd else ""),
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
        "custom_greeting": dice.remark() if dice.chance(0.1) else None,
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
    is_shipped = not dice.oddly(0.4) and head.ends("shipped")
    return {
        "weight": weight(
            dice, sum((item.get("qty_ordered") or 0) * piece(item.get("sku") or "") for item in part.items)
        ),
        "total_item_count": sum(item.get("qty_ordered") or 0 for item in part.items),
        "submitted_by": dice.pick(("api", "jörg", 'Ops "Team"')),
        "submitted_by_type": dice.pick(("user", "integration")),
        "backorder_policy": dice.pick(("allow", "forbid")),
        "source": dice.pick(("shopify", "edi", "csv")),
        "customer_note": dice.remark() if dice.chance(0.15) else None,
        "batch_tag": f"wave-{text('orev')}",
        "desired_delivery_date": text("odate") if dice.chance(0.3) else None,
        "can_fulfill": dice.chance(0.9),
        "can_fulfill_at": text("o2") + "Z",
        "is_address_modified": dice.chance(0.05),
        "is_address_modified_auto": dice.chance(0.05),
        "hold_until_time": text("o3") + "Z" if dice.oddly(0.05) else None,
        "tpb_group": _group(dice) if dice.chance(0.15) else None,
        "retailer": None,
        "retailer_ship_to_location": location(head),
        "mark_for_location": location(head) if dice.chance(0.2) else None,
        "customs_value": money(dice, 900) if dice.chance(0.3) else None,
        "reason_for_export": dice.pick(("sale", "gift", "sample")) if dice.chance(0.1) else None,
        "generate_sscc": dice.pick(([], [], ["carton"], ["carton", "pallet"])),
        "shipped_at": text("o3") + "Z" if is_shipped else None,
        "delivered_at": text("o4") + ".999Z" if is_shipped and head.stage == DELIVERED else None,
        "shipping_description": texts.CARRIERS[head.carrier][2],
        "carrier": dice.pick(("UPS®", "FedEx", "n/a")),
        "allocation_options": dice.pick(
            ({}, {}, {"strategy": "fifo", "lots": ["A", "B"], "nested": {"deep": [1, {}]}})
        ),
        "automation_data": dice.pick(({}, {}, {"rule": "r1", "score": 0.75, "tags": [], "note": dice.remark()})),
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


def location(head: Head) -> dict[str, Any] | None:
    """Return a reference to the location of the retailer (see `identities.location_retailer`); None without one."""
    position = ((head.retailer_id or 0) - identities.retailer_id(0)) // 3 * 43 % identities.LOCATIONS
    made = reference("RetailerShipToLocation", identities.location_id(position))
    return None if head.retailer_id is None else made
